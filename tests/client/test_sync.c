/*
 * The blocking form, from several threads.
 */
#include <criterion/criterion.h>
#include <takt/sync.h>
#include <uv.h>

static takt_policy *policy;
static takt_sync *sync_;

static void add_limit(const char *name, const char *rate, const char *burst)
{
    takt_rule_text rule = {.rate = rate, .burst = burst};
    takt_limit_text limit = {.name = name, .rules = &rule, .rule_count = 1};

    cr_assert_eq(takt_policy_add(policy, &limit, NULL), 0);
}

static void add_shadow(void)
{
    takt_rule_text rule = {.rate = "1/h"};
    takt_limit_text limit = {.name = "shadow", .rules = &rule, .rule_count = 1, .mode = "shadow"};

    cr_assert_eq(takt_policy_add(policy, &limit, NULL), 0);
}

static void open_sync(void)
{
    takt_options options = {.store = "memory:"};
    takt_error error;

    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    add_limit("fast", "2000/s", "1");
    add_limit("hourly", "1/h", "1");
    add_shadow();
    cr_assert_eq(takt_sync_open(&sync_, policy, &options, &error), 0, "%s", error.text);
}

static void close_sync(void)
{
    takt_sync_close(sync_);
    takt_policy_free(policy);
}

TestSuite(sync, .init = open_sync, .fini = close_sync);

Test(sync, another_policy)
{
    static const char text[] =
        "revision: 1\nlimits:\n  - {name: hourly, rules: [{rate: 2000/s}]}\n";
    takt_request request = TAKT_REQUEST("hourly"), gone = TAKT_REQUEST("fast");
    takt_permit permit = {0};
    takt_policy *next;

    cr_assert_eq(takt_policy_parse(&next, "p", text, sizeof text - 1, NULL), 0);
    cr_expect_eq(takt_sync_reload(sync_, NULL, NULL), TAKT_E_INVALID);
    cr_assert_eq(takt_sync_reload(sync_, next, NULL), 0);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(takt_sync_acquire(sync_, &permit, &request), 0);
        cr_expect_eq(takt_sync_acquire(sync_, &permit, &request), TAKT_E_BUSY);
        takt_sync_release(sync_, &permit);
    }
    cr_expect_eq(takt_sync_acquire(sync_, &permit, &gone), TAKT_E_NO_LIMIT);
    takt_sync_close(sync_);
    takt_policy_free(next);
    takt_policy_free(policy);
    open_sync();
}

#define THREADS 8
#define EACH    25

static int64_t slots[THREADS][EACH];

static void work(void *data)
{
    int64_t *mine = data;
    takt_request request = TAKT_REQUEST("fast");

    for (int i = 0; i < EACH; i++) {
        takt_permit permit = {.data = &request};
        cr_assert_eq(takt_sync_acquire(sync_, &permit, &request), 0);
        cr_assert_eq(permit.data, &request, "the caller's data is left as it was");
        mine[i] = permit.slot_at_us;
        takt_sync_release(sync_, &permit);
        takt_sync_release(sync_, &permit);
    }
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

Test(sync, threads_share_one_beat)
{
    uv_thread_t threads[THREADS];
    int64_t *all = &slots[0][0];

    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(uv_thread_create(&threads[i], work, slots[i]), 0);
    for (int i = 0; i < THREADS; i++)
        uv_thread_join(&threads[i]);
    qsort(all, THREADS * EACH, sizeof *all, by_value);
    for (int i = 1; i < THREADS * EACH; i++)
        cr_assert_geq(all[i] - all[i - 1], 500);
}

Test(sync, other_calls_return_their_answers)
{
    takt_request request = TAKT_REQUEST("hourly");
    takt_standing standing;
    takt_permit permit = {0};

    cr_assert_eq(takt_sync_watch(sync_, "hourly", NULL, 60000000, NULL), 0);
    cr_assert_eq(takt_sync_watch(sync_, "hourly", NULL, 0, NULL), TAKT_E_INVALID);
    cr_assert_eq(takt_sync_try_acquire(sync_, &permit, &request, &standing), 0);
    cr_assert_eq(standing.remaining, 0);
    cr_assert_eq(standing.taken, 1);
    takt_sync_release(sync_, &permit);
    cr_assert_eq(takt_sync_try_acquire(sync_, &permit, &request, NULL), TAKT_E_NO_SLOT);
    cr_assert_eq(takt_sync_block(sync_, "hourly", NULL, 1000000, "why", &standing), 0);
    cr_assert_gt(standing.blocked_until_us, 0);
    cr_assert_str_eq(standing.reason, "why");
    cr_assert_eq(takt_sync_penalize(sync_, "hourly", NULL, 2000000, "429", &standing), 0);
    cr_assert_str_eq(standing.reason, "429");
    cr_assert_eq(takt_sync_unblock(sync_, "hourly", NULL, &standing), 0);
    cr_assert_eq(standing.blocked_until_us, 0);
    cr_assert_eq(takt_sync_reset(sync_, "hourly", NULL, &standing), 0);
    cr_assert_eq(standing.remaining, 1);
    cr_assert_eq(takt_sync_lower(sync_, "hourly", NULL, NULL, 0, &standing), 0);
    cr_assert_eq(standing.remaining, 0);
    cr_assert_eq(takt_sync_reset(sync_, "hourly", NULL, &standing), 0);
    cr_assert_eq(takt_sync_peek(sync_, "unknown", NULL, &standing), TAKT_E_NO_LIMIT);
    cr_assert_eq(takt_sync_acquire(sync_, NULL, &request), TAKT_E_INVALID);
    cr_assert_eq(takt_sync_try_acquire(sync_, &permit, &request, NULL), 0);
    cr_assert_eq(takt_sync_settle(sync_, &permit, &request, NULL, 0), 0);
    cr_assert_eq(takt_sync_settle(sync_, &permit, &request, NULL, 0), TAKT_E_INVALID, "once");
    cr_assert_eq(takt_sync_peek(sync_, "hourly", NULL, &standing), 0);
    cr_assert_eq(standing.remaining, 1, "given back");
    takt_sync_release(sync_, &permit);
}

static uv_sem_t waits;

static void wait_for_an_hour(void *data)
{
    takt_request request = TAKT_REQUEST("hourly");
    takt_permit permit = {0};

    uv_sem_post(&waits);
    *(int *)data = takt_sync_acquire(sync_, &permit, &request);
}

Test(sync, close_wakes_who_waits)
{
    takt_request request = TAKT_REQUEST("hourly");
    takt_standing standing = {0};
    takt_permit permit = {0};
    uv_thread_t thread;
    int status = 0;

    uv_sem_init(&waits, 0);
    cr_assert_eq(takt_sync_try_acquire(sync_, &permit, &request, NULL), 0);
    cr_assert_eq(uv_thread_create(&thread, wait_for_an_hour, &status), 0);
    uv_sem_wait(&waits);
    while (standing.waiting == 0) /* until it is in line */
        cr_assert_eq(takt_sync_peek(sync_, "hourly", NULL, &standing), 0);
    takt_sync_close(sync_);
    uv_thread_join(&thread);
    cr_assert_eq(status, TAKT_E_CANCELED);
    uv_sem_destroy(&waits);
    takt_policy_free(policy);
    open_sync();
}

static takt_permit wanted;
static int outcome;

static void want(void *data)
{
    takt_request request = TAKT_REQUEST("hourly");

    (void)data;
    outcome = takt_sync_acquire(sync_, &wanted, &request);
}

/* Dropped without a word, the thread would wait for ever, and close for the thread. */
Test(sync, a_release_by_another_thread_ends_the_wait)
{
    takt_request request = TAKT_REQUEST("hourly");
    takt_permit first = {0};
    takt_standing standing = {0};
    uv_thread_t thread;

    cr_assert_eq(takt_sync_acquire(sync_, &first, &request), 0);
    cr_assert_eq(uv_thread_create(&thread, want, NULL), 0);
    while (standing.waiting == 0)
        cr_assert_eq(takt_sync_peek(sync_, "hourly", NULL, &standing), 0);
    takt_sync_release(sync_, &wanted);
    uv_thread_join(&thread);
    cr_assert_eq(outcome, TAKT_E_CANCELED);
}

/* While waiters of other workers are reported. */
static void want_as_well(void *data)
{
    takt_request request = TAKT_REQUEST("hourly");
    int *told = data;

    request.max_wait_us = 1;
    *told = takt_sync_acquire(sync_, &wanted, &request);
    uv_sem_post(&waits);
    while (*told == TAKT_E_BUSY)
        *told = takt_sync_acquire(sync_, &wanted, &request);
}

Test(sync, a_permit_in_use_answers_to_who_waits_for_it, .timeout = 280)
{
    takt_request request = TAKT_REQUEST("hourly");
    takt_permit first = {0};
    uv_thread_t waiter, other;
    int told;

    uv_sem_init(&waits, 0);
    cr_assert_eq(takt_sync_acquire(sync_, &first, &request), 0);
    for (int i = 0; i < 200; i++) {
        takt_stats stats = {0};
        cr_assert_eq(uv_thread_create(&waiter, want, NULL), 0);
        while (stats.waiting == 0)
            cr_assert_eq(takt_sync_get_stats(sync_, &stats), 0);
        cr_assert_eq(uv_thread_create(&other, want_as_well, &told), 0);
        uv_sem_wait(&waits);
        takt_sync_release(sync_, &wanted);
        uv_thread_join(&waiter);
        uv_thread_join(&other);
        cr_assert_eq(outcome, TAKT_E_CANCELED);
        cr_assert(told == TAKT_E_DEADLINE || told == TAKT_E_CANCELED, "%s", takt_strerror(told));
    }
    uv_sem_destroy(&waits);
}

Test(sync, what_is_held_and_what_was_done)
{
    takt_request request = TAKT_REQUEST("hourly");
    takt_permit permit = {0};
    takt_stats stats = {0};

    cr_assert_eq(takt_sync_is_held(sync_, &permit), 0);
    cr_assert_eq(takt_sync_acquire(sync_, &permit, &request), 0);
    cr_assert_eq(takt_sync_is_held(sync_, &permit), 1);
    takt_sync_release(sync_, &permit);
    cr_assert_eq(takt_sync_is_held(sync_, &permit), 0);
    cr_assert_eq(takt_sync_is_held(sync_, NULL), 0);
    cr_assert_eq(takt_sync_get_stats(sync_, &stats), 0);
    cr_assert_eq(stats.acquires, 1);
    cr_assert_eq(stats.grants, 1);
    cr_assert_eq(takt_sync_get_stats(sync_, NULL), TAKT_E_INVALID);
}

Test(sync, a_limit_in_shadow_holds_no_thread_up)
{
    takt_request request = TAKT_REQUEST("shadow");
    takt_shadow shadow = {0};

    for (int i = 0; i < 5; i++) {
        takt_permit permit = {0};
        cr_assert_eq(takt_sync_acquire(sync_, &permit, &request), 0);
        takt_sync_release(sync_, &permit);
    }
    while (shadow.at_once + shadow.waited == 0) /* a machine that is held up has waited */
        cr_assert_eq(takt_sync_get_shadow(sync_, "shadow", &shadow), 0);
    cr_assert_eq(shadow.acquires, 5);
    cr_assert_eq(shadow.waiting, 4);
    cr_assert_eq(takt_sync_get_shadow(sync_, "none", &shadow), TAKT_E_NO_LIMIT);
    cr_assert_eq(takt_sync_get_shadow(sync_, NULL, &shadow), TAKT_E_INVALID);
}
