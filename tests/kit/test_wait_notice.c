/*
 * The notice about a long wait: its text, and when it appears.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "kit/wait_notice.h"
#include "kit/wall_clock.h"

static char text[TAKT_WAIT_NOTICE_SIZE];

/* ---- the wording ----------------------------------------------------------------------------- */

Test(wait_notice, says_position_and_time)
{
    static const struct {
        int64_t retry_after_us, rate_percent, position, cost, tokens, period_us;
        const char *expected;
    } rows[] = {
        {90000, 100, 121, 1, 10, 1000000, "position 121, about 12 s"},
        {12000000, 100, 1, 1, 10, 1000000, "position 1, about 12 s"},
        {0, 50, 121, 1, 10, 1000000, "position 121, about 24 s"},
        {0, 100, 61, 2, 10, 1000000, "position 61, about 12 s"},
        {0, 100, 1, 1, 10, 1000000, "position 1"},
        {7200000000, 100, 2, 1, 800, 86400000000, "position 2, about 2 h"},
        {0, 100, 7, 1, 0, 0, "position 7"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_standing standing = {.now_us = 1000000,
                                  .retry_after_us = rows[i].retry_after_us,
                                  .rate_percent = rows[i].rate_percent};
        cr_expect_str_eq(takt_wait_notice_text(&standing, rows[i].position, rows[i].cost,
                                               rows[i].tokens, rows[i].period_us, text),
                         rows[i].expected, "row %zu: %s", i, text);
    }
}

Test(wait_notice, says_what_is_in_the_way)
{
    char moment[TAKT_WALL_CLOCK_TEXT_SIZE], expected[TAKT_WAIT_NOTICE_SIZE];
    takt_standing standing = {.now_us = 1000000,
                              .blocked_until_us = 2000000,
                              .rate_percent = 100,
                              .concurrency = 3,
                              .held = 3};

    snprintf(expected, sizeof expected, "blocked until %s", takt_wall_clock_text(2000000, moment));
    cr_expect_str_eq(takt_wait_notice_text(&standing, 4, 1, 10, 1000000, text), expected);
    strcpy(standing.reason, "maintenance");
    strcat(expected, ": maintenance");
    cr_expect_str_eq(takt_wait_notice_text(&standing, 4, 1, 10, 1000000, text), expected);
    standing.now_us = 2000000;
    cr_expect_str_eq(takt_wait_notice_text(&standing, 4, 1, 10, 1000000, text),
                     "3 of 3 permits held, position 4");
    standing.held = 2;
    cr_expect_str_eq(takt_wait_notice_text(&standing, 4, 1, 10, 1000000, text),
                     "position 4, about 300 ms");
}

/* ---- when ------------------------------------------------------------------------------------ */

static uv_loop_t loop;
static takt_policy *policy;
static takt_client *client;
static takt_permit first, permits[3];
static takt_wait_notice notice;

static void set_up(void)
{
    takt_rule_text rule = {.rate = "1/h"};
    takt_limit_text limit = {.name = "slow", .rules = &rule, .rule_count = 1};
    takt_options options = {.store = "memory:"};
    takt_error error = {0};

    notice = (takt_wait_notice){0};
    cr_assert_eq(uv_loop_init(&loop), 0);
    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    cr_assert_eq(takt_policy_add(policy, &limit, &error), 0, "%s", error.text);
    cr_assert_eq(takt_open(&client, &loop, policy, &options, &error), 0, "%s", error.text);
}

static void tear_down(void)
{
    takt_close(client, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_eq(uv_loop_close(&loop), 0);
    takt_policy_free(policy);
}

static void on_permit(takt_permit *permit, int status)
{
    (void)permit;
    (void)status;
}

static void wait_for_slow(takt_permit *permit)
{
    takt_request request = TAKT_REQUEST("slow");

    cr_assert_eq(takt_acquire(client, permit, &request, on_permit), 0);
}

static const char *tick(int64_t count, uint64_t starts, bool lost, uint64_t now_ms)
{
    takt_request request = TAKT_REQUEST("slow");
    takt_wait_notice_waiter waiter = {&request, count};

    return takt_wait_notice_tick(&notice, client, count > 0 ? &waiter : NULL, starts, lost, now_ms);
}

static void answer(void)
{
    cr_assert(notice.looking, "the store is asked");
    while (notice.looking)
        uv_run(&loop, UV_RUN_ONCE);
}

TestSuite(wait_notice_of_a_client, .init = set_up, .fini = tear_down);

Test(wait_notice_of_a_client, comes_after_two_seconds)
{
    wait_for_slow(&first); /* takes what there is */
    while (first.slot_at_us == 0)
        uv_run(&loop, UV_RUN_ONCE);
    for (int i = 0; i < 3; i++)
        wait_for_slow(&permits[i]);
    cr_expect_str_eq(tick(3, 1, false, 100), "");
    cr_expect_str_eq(tick(3, 1, false, 2099), "");
    cr_expect_not(notice.looking, "a short wait asks nothing of the store");
    cr_expect_str_eq(tick(3, 1, false, 2100), "");
    answer();
    cr_expect_str_eq(tick(3, 1, false, 2200), "position 1, about 59 min");
    cr_expect_not(notice.looking, "it asks once a second");
    tick(3, 1, false, 3100);
    answer();
    cr_expect_str_eq(tick(3, 2, false, 3200), "", "something has started");
    cr_expect_str_eq(tick(0, 2, false, 9000), "", "nothing waits");
    cr_expect_str_eq(tick(3, 2, false, 9001), "", "the wait begins now");
    cr_expect_str_eq(tick(3, 2, true, 11000), "");
    cr_expect_str_eq(tick(3, 2, true, 11001), TAKT_WAIT_NOTICE_STORE);
    for (int i = 0; i < 3; i++)
        takt_release(&permits[i]);
    takt_release(&first);
}

/* Of nested limits it names the outer one that holds the work up, which its own ledger does not
 * show. */
Test(wait_notice_of_a_client, names_an_outer_limit_that_is_blocked)
{
    takt_rule_text rule = {.rate = "1/s"};
    takt_limit_text inner = {.name = "in", .rules = &rule, .rule_count = 1, .within = "between"};
    takt_limit_text between = {.name = "between", .rules = &rule, .rule_count = 1, .within = "out"};
    takt_limit_text outer = {.name = "out", .rules = &rule, .rule_count = 1};
    takt_request request = TAKT_REQUEST("in");
    takt_wait_notice_waiter waiter = {&request, 1};
    takt_policy *nested;

    request.key = "a";
    request.within_keys[1] = "eu";
    cr_assert_eq(takt_policy_new(&nested, NULL), 0);
    cr_assert_eq(takt_policy_add(nested, &inner, NULL), 0);
    cr_assert_eq(takt_policy_add(nested, &between, NULL), 0);
    cr_assert_eq(takt_policy_add(nested, &outer, NULL), 0);
    cr_assert_eq(takt_reload(client, nested, NULL), 0);
    cr_assert_eq(takt_block(client, NULL, "out", "eu", 3600 * INT64_C(1000000), "repair", NULL), 0);
    cr_assert_eq(takt_acquire(client, &first, &request, on_permit), 0);
    takt_wait_notice_tick(&notice, client, &waiter, 0, false, 100);
    takt_wait_notice_tick(&notice, client, &waiter, 0, false, 2100);
    answer();
    cr_expect_eq(strncmp(notice.text, "out: blocked until ", 19), 0, "%s", notice.text);
    cr_expect_not_null(strstr(notice.text, ": repair"), "%s", notice.text);
    cr_assert_eq(takt_unblock(client, NULL, "out", "eu", NULL), 0);
    takt_wait_notice_tick(&notice, client, &waiter, 0, false, 3100);
    answer();
    cr_expect_eq(strncmp(notice.text, "position 1", 10), 0, "%s", notice.text);
    takt_release(&first);
    takt_close(client, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    takt_policy_free(nested);
    cr_assert_eq(takt_open(&client, &loop, policy, &(takt_options){.store = "memory:"}, NULL), 0);
}

/* Of three of this process's the position is that of the first; of one that came last, the third,
 * until tokens are taken. */
Test(wait_notice_of_a_client, moves_up_as_tokens_are_taken)
{
    takt_standing standing = {.waiting = 3, .rate_percent = 100, .watched_since_us = 5};

    tick(1, 0, false, 0);
    tick(1, 0, false, 2000);
    answer();
    notice.position = 0;
    notice.call.callback(&notice.call, 0, &standing);
    cr_expect_str_eq(notice.text, "position 3, about 2 h");
    standing.taken = 1;
    standing.waiting = 5; /* others have come behind it */
    notice.call.callback(&notice.call, 0, &standing);
    cr_expect_eq(notice.position, 2);
    standing.watched_since_us = 9; /* the count began again */
    standing.taken = 0;
    notice.call.callback(&notice.call, 0, &standing);
    cr_expect_eq(notice.position, 2);
    standing.taken = 4; /* more than stood before it: others cost more */
    notice.call.callback(&notice.call, 0, &standing);
    cr_expect_eq(notice.position, 1);
}
