/*
 * Three levels with keys, over memory and Redis: each key of each level has a ledger, one permit
 * holds all of them, and every way to end gives all of them back.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>
#include <takt/takt.h>
#include <uv.h>

#include "client/stores.h"
#include "scheduler/queue.h"

#define LEVELS 3

enum { RELEASED, CANCELLED, TOO_LATE, CLOSED, ENDS };

static const char *const names[LEVELS] = {"job", "team", "vendor"};
static const char *const keys[LEVELS] = {"a", "red", "eu"};

static uv_loop_t loop;
static takt_policy *policy;
static takt_client *worker, *other;
static int callbacks, last_status;

static void open_world(int kind)
{
    static const char text[] =
        "limits:\n"
        "  - {name: job, concurrency: 1, within: team}\n"
        "  - {name: team, concurrency: 1, within: vendor}\n"
        "  - {name: vendor, concurrency: 1, within: seen}\n"
        "  - {name: seen, rules: [{rate: 1000000/s, burst: 1000}], mode: shadow}\n"
        "  - {name: small, rules: [{rate: 1/h, burst: 5}], within: large}\n"
        "  - {name: large, rules: [{rate: 1/h, burst: 9}]}\n"
        "  - {name: account, concurrency: 1, within: domain}\n"
        "  - {name: domain, concurrency: 2, within: mails}\n"
        "  - {name: mails, rules: [{rate: 1000/s, burst: 9}]}\n"
        "  - {name: wide, rules: [{rate: 1/day, burst: 100}], within: scarce}\n"
        "  - {name: scarce, rules: [{rate: 1/day, burst: 1}]}\n"
        "  - {name: last, rules: [{rate: 1/day, burst: 1}], within: vast}\n"
        "  - {name: vast, rules: [{rate: 1/day, burst: 100}]}\n";
    takt_options options = {.store = open_store(kind), .store_timeout_us = 60000000};
    takt_error error;

    uv_loop_init(&loop);
    cr_assert_eq(takt_policy_parse(&policy, "test", text, strlen(text), &error), 0, "%s",
                 error.text);
    cr_assert_eq(takt_open(&worker, &loop, policy, &options, &error), 0, "%s", error.text);
    cr_assert_eq(takt_open(&other, &loop, policy, &options, &error), 0, "%s", error.text);
    callbacks = 0;
}

static void close_world(int kind)
{
    takt_close(worker, NULL, NULL);
    takt_close(other, NULL, NULL);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(uv_loop_close(&loop), 0, "a handle was left open");
    takt_policy_free(policy);
    close_store(kind);
}

static void note(takt_permit *permit, int status)
{
    (void)permit;
    callbacks++;
    last_status = status;
}

static void hear(int count)
{
    while (callbacks < count)
        uv_run(&loop, UV_RUN_ONCE);
}

static takt_standing standing;

static void note_standing(takt_call *call, int status, const takt_standing *told)
{
    cr_assert(status == 0 || status == TAKT_E_NO_SLOT, "%s", takt_strerror(status));
    if (told)
        standing = *told;
    last_status = status;
    *(bool *)call->data = true;
}

static void look(const char *limit, const char *key)
{
    bool answered = false;
    takt_call call = {.data = &answered};

    cr_assert_eq(takt_peek(other, &call, limit, key, note_standing), 0);
    while (!answered)
        uv_run(&loop, UV_RUN_ONCE);
}

static void await_held(const char *limit, const char *key, int64_t held)
{
    do
        look(limit, key);
    while (standing.held != held);
}

/* With keys that are the caller's during the call only. */
static int acquire(takt_client *client, takt_permit *permit, int first, int64_t max_wait_us)
{
    char texts[LEVELS][8];
    takt_request request = TAKT_REQUEST(names[first]);
    int code;

    for (int i = 0; i < LEVELS; i++)
        strcpy(texts[i], keys[i]);
    request.key = texts[first];
    for (int i = first + 1; i < LEVELS; i++)
        request.within_keys[i - first - 1] = texts[i];
    request.max_wait_us = max_wait_us;
    code = takt_acquire(client, permit, &request, note);
    memset(texts, 'x', sizeof texts);
    return code;
}

static int kinds[] = {MEMORY, REDIS};

#define EACH_STORE(test)                                                                           \
    ParameterizedTestParameters(levels, test)                                                      \
    {                                                                                              \
        return cr_make_param_array(int, kinds, sizeof kinds / sizeof kinds[0]);                    \
    }                                                                                              \
    ParameterizedTest(const int *kind, levels, test, .timeout = 150)

EACH_STORE(each_key_of_each_level_has_a_ledger_of_its_own)
{
    takt_permit permit = {0};

    open_world(*kind);
    cr_assert_eq(acquire(worker, &permit, 0, 0), 0);
    hear(1);
    cr_assert_eq(last_status, 0);
    for (int i = 0; i < LEVELS; i++) {
        look(names[i], keys[i]);
        cr_assert_eq(standing.held, 1, "level %d", i);
        look(names[i], NULL);
        cr_assert_eq(standing.held, 0, "level %d as a whole", i);
    }
    takt_release(&permit);
    for (int i = 0; i < LEVELS; i++)
        await_held(names[i], keys[i], 0);
    close_world(*kind);
}

static void end_in(int how, takt_permit *permit, int heard)
{
    static const int statuses[ENDS] = {0, TAKT_E_CANCELED, TAKT_E_DEADLINE, TAKT_E_CANCELED};

    if (how == RELEASED)
        takt_release(permit);
    else if (how == CANCELLED)
        cr_assert_eq(takt_cancel(permit), 0);
    else if (how == CLOSED)
        takt_close(worker, NULL, NULL);
    if (how != RELEASED) {
        hear(heard + 1);
        cr_assert_eq(last_status, statuses[how], "%s", takt_strerror(last_status));
    }
}

/* Another client holds the permit of one level: a waiter for it holds none of any level. */
EACH_STORE(who_ends_in_any_stage_gives_all_back)
{
    for (int stage = 0; stage < LEVELS; stage++)
        for (int how = 0; how < ENDS; how++) {
            takt_permit waits = {0}, holds = {0};
            open_world(*kind);
            cr_assert_eq(acquire(other, &holds, stage, 0), 0);
            hear(1);
            cr_assert_eq(acquire(worker, &waits, 0, how == TOO_LATE ? 300000 : 0), 0);
            do
                look(names[stage], keys[stage]);
            while (standing.waiting == 0 && how != TOO_LATE);
            end_in(how, &waits, 1);
            for (int i = 0; i < stage; i++)
                await_held(names[i], keys[i], 0);
            look(names[stage], keys[stage]);
            cr_assert_eq(standing.held, 1, "stage %d, end %d: that is the other's", stage, how);
            cr_assert_eq(callbacks, how == RELEASED ? 1 : 2);
            takt_release(&holds);
            for (int i = 0; i < LEVELS; i++)
                await_held(names[i], keys[i], 0);
            if (how == CLOSED)
                worker = NULL;
            close_world(*kind);
        }
}

/* A permit that waits at an inner level continues to the keys of its request. */
EACH_STORE(who_has_waited_inside_goes_on)
{
    takt_permit first = {0}, second = {0};

    open_world(*kind);
    cr_assert_eq(acquire(other, &first, 0, 0), 0);
    hear(1);
    cr_assert_eq(acquire(worker, &second, 0, 0), 0);
    takt_release(&first);
    hear(2);
    cr_assert_eq(last_status, 0);
    for (int i = 0; i < LEVELS; i++) {
        look(names[i], keys[i]);
        cr_assert_eq(standing.held, 1, "level %d", i);
    }
    takt_release(&second);
    close_world(*kind);
}

static void acquire_account(takt_client *client, takt_permit *permit, const char *account)
{
    takt_request request = TAKT_REQUEST("account");

    request.key = account;
    request.within_keys[0] = "d";
    cr_assert_eq(takt_acquire(client, permit, &request, note), 0);
}

/* One claim decides about all levels, so work that waits for a permit of its account holds no
 * permit of the domain.  Work of another account goes before it, and a release wakes it. */
EACH_STORE(who_waits_inside_holds_nothing)
{
    takt_permit first = {0}, second = {0}, third = {0};

    open_world(*kind);
    acquire_account(other, &first, "a");
    hear(1);
    acquire_account(worker, &second, "a");
    do
        look("account", "a");
    while (standing.waiting == 0);
    cr_assert_eq(standing.held, 1);
    look("domain", "d");
    cr_assert_eq(standing.held, 1);
    acquire_account(worker, &third, "b");
    hear(2);
    cr_assert_eq(last_status, 0);
    cr_assert_eq(third.slot_at_us > 0 && second.slot_at_us == 0, true, "the other account");
    look("domain", "d");
    cr_assert_eq(standing.held, 2);
    takt_release(&first);
    hear(3);
    cr_assert_eq(last_status, 0);
    cr_assert_gt(second.fence, first.fence, "that of the account");
    takt_release(&second);
    takt_release(&third);
    await_held("account", "a", 0);
    await_held("account", "b", 0);
    await_held("domain", "d", 0);
    close_world(*kind);
}

EACH_STORE(tries_and_settles_go_by_the_keys)
{
    takt_request request = TAKT_REQUEST("small");
    takt_permit permit = {0};
    bool answered = false;
    takt_call call = {.data = &answered};

    open_world(*kind);
    request.key = "a";
    request.within_keys[0] = "eu";
    cr_assert_eq(takt_try_acquire(worker, &call, &permit, &request, note_standing), 0);
    while (!answered)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert_eq(last_status, 0);
    look("large", "eu");
    cr_assert_eq(standing.remaining, 8);
    look("large", NULL);
    cr_assert_eq(standing.remaining, 9);
    cr_assert_eq(takt_settle(&permit, &request, TAKT_USED(3)), 0);
    do
        look("large", "eu");
    while (standing.remaining == 8);
    cr_assert_eq(standing.remaining, 6);
    look("large", NULL);
    cr_assert_eq(standing.remaining, 9);
    takt_release(&permit);
    close_world(*kind);
}

static int refused;
static takt_standing told;

static void note_try(takt_call *call, int status, const takt_standing *answer)
{
    *(bool *)call->data = true;
    refused += status == TAKT_E_NO_SLOT;
    if (status == TAKT_E_NO_SLOT)
        told = *answer;
}

/* Two workers try at once.  Returns how many of them are given it. */
static int try_both(const takt_request *request, takt_permit permits[2])
{
    takt_client *clients[] = {worker, other};
    bool answered[2] = {false};
    takt_call calls[2] = {{.data = &answered[0]}, {.data = &answered[1]}};

    refused = 0;
    for (int i = 0; i < 2; i++)
        cr_assert_eq(takt_try_acquire(clients[i], &calls[i], &permits[i], request, note_try), 0);
    while (!answered[0] || !answered[1])
        uv_run(&loop, UV_RUN_ONCE);
    return 2 - refused;
}

/* One level has a single token left: whoever does not get it takes nothing of the other one. */
EACH_STORE(two_tries_at_once_lose_nothing)
{
    static const char *const limits[] = {"wide", "last"}, *const others[] = {"wide", "vast"};

    open_world(*kind);
    for (int round = 0; round < 20; round++) {
        takt_request request = TAKT_REQUEST(limits[round % 2]);
        takt_permit permits[2] = {{0}, {0}};
        char key[8];
        snprintf(key, sizeof key, "%d", round);
        request.key = request.within_keys[0] = key;
        cr_assert_eq(try_both(&request, permits), 1, "round %d", round);
        cr_expect_eq(told.limit, 1, "round %d: the scarce limit refuses", round);
        cr_expect_gt(told.retry_after_us, INT64_C(86000000000), "round %d", round);
        look(others[round % 2], key);
        cr_expect_eq(standing.remaining, 99, "round %d: %lld are left", round,
                     (long long)standing.remaining);
        takt_release(&permits[0]);
        takt_release(&permits[1]);
    }
    close_world(*kind);
}

/* Permits are taken from all levels or from none, with the number of the innermost. */
EACH_STORE(two_tries_at_once_share_the_permits_of_all_levels)
{
    takt_request request = TAKT_REQUEST("account");
    takt_permit permits[2] = {{0}, {0}};

    open_world(*kind);
    request.key = "a";
    request.within_keys[0] = "d";
    cr_assert_eq(try_both(&request, permits), 1, "the account has one permit");
    look("account", "a");
    cr_assert_eq(standing.held, 1);
    look("domain", "d");
    cr_assert_eq(standing.held, 1);
    cr_assert_neq(permits[0].hold, permits[1].hold, "one of them holds it, of all levels");
    cr_assert_gt(permits[0].fence + permits[1].fence, 0);
    takt_release(&permits[0]);
    takt_release(&permits[1]);
    await_held("account", "a", 0);
    await_held("domain", "d", 0);
    close_world(*kind);
}

/* The store decides about all levels in one call. */
EACH_STORE(a_try_of_several_levels_is_one_call)
{
    takt_request request = TAKT_REQUEST("wide");
    takt_permit permit = {0};
    bool answered = false;
    takt_call call = {.data = &answered};
    takt_stats before, after;

    open_world(*kind);
    takt_get_stats(worker, &before);
    cr_assert_eq(takt_try_acquire(worker, &call, &permit, &request, note_standing), 0);
    while (!answered)
        uv_run(&loop, UV_RUN_ONCE);
    takt_get_stats(worker, &after);
    cr_assert_eq(last_status, 0);
    cr_assert_eq(after.store_calls - before.store_calls, 1);
    takt_release(&permit);
    close_world(*kind);
}

/* They were all taken from at one instant, so each of them knows the slot. */
EACH_STORE(all_levels_take_back_what_a_try_has_not_used)
{
    takt_request request = TAKT_REQUEST("small");
    takt_permit permit = {0};
    bool answered = false;
    takt_call call = {.data = &answered};

    open_world(*kind);
    request.cost = 3;
    cr_assert_eq(takt_try_acquire(worker, &call, &permit, &request, note_standing), 0);
    while (!answered)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert_eq(last_status, 0);
    cr_assert_eq(standing.remaining, 2);
    cr_assert_eq(takt_settle(&permit, &request, TAKT_USED(1)), 0);
    do
        look("large", NULL); /* the last one that is settled */
    while (standing.remaining == 6);
    cr_expect_eq(standing.remaining, 8);
    look("small", NULL);
    cr_expect_eq(standing.remaining, 4);
    takt_release(&permit);
    close_world(*kind);
}

Test(levels, keys_that_no_limit_is_for_are_refused)
{
    static char long_key[TAKT_KEY_SIZE_MAX + 2];
    takt_request request = TAKT_REQUEST("domain");
    takt_error error;

    open_world(MEMORY);
    request.within_keys[0] = "eu";
    cr_assert_eq(takt_check_request(policy, &request, &error), 0);
    request.within_keys[1] = "more";
    cr_assert_eq(takt_check_request(policy, &request, &error), TAKT_E_INVALID);
    cr_assert_str_eq(error.text, "limit \"domain\": it is within 1 other limit, but --within-key "
                                 "(within_keys) has a key for outer limit 2; leave that out");
    request.limit = "account";
    request.within_keys[1] = "more";
    request.within_keys[2] = "still more";
    cr_assert_eq(takt_check_request(policy, &request, &error), TAKT_E_INVALID);
    cr_assert_not_null(strstr(error.text, "within 2 other limits, but"), "%s", error.text);
    request.limit = "mails";
    request.within_keys[1] = request.within_keys[2] = NULL;
    cr_assert_eq(takt_check_request(policy, &request, &error), TAKT_E_INVALID);
    cr_assert_str_eq(error.text, "limit \"mails\": it is within no other limit; leave out "
                                 "--within-key (within_keys)");
    request.limit = "team";
    memset(long_key, 'k', sizeof long_key - 1);
    request.within_keys[0] = long_key;
    cr_assert_eq(takt_check_request(policy, &request, &error), TAKT_E_INVALID);
    cr_assert_not_null(strstr(error.text, "more than 1024 bytes"), "%s", error.text);
    close_world(MEMORY);
}
