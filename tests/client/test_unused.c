/*
 * A cancelled waiter is not charged, over each store: its slot is available to others.
 */
#include <string.h>
#include <takt/takt.h>
#include <uv.h>

#include "store/places.h"

#define SECOND INT64_C(1000000)

#define EACH_STORE(test)                                                                           \
    ParameterizedTestParameters(unused, test)                                                      \
    {                                                                                              \
        return kinds();                                                                            \
    }                                                                                              \
    ParameterizedTest(int *kind, unused, test, .timeout = 50)

static uv_loop_t loop;
static takt_policy *policy;
static takt_client *worker, *other;
static struct place place;
static int callbacks;

static void open_world(int kind)
{
    static const char text[] =
        "limits:\n"
        "  - {name: bucket, rules: [{rate: 2/day, burst: 2}]}\n"
        "  - {name: window, rules: [{rate: 2/day, algorithm: fixed-window}]}\n"
        "  - {name: sliding, rules: [{rate: 2/day, algorithm: sliding-window}]}\n"
        "  - {name: log, rules: [{rate: 2/day, algorithm: sliding-log}]}\n"
        "  - {name: held, rules: [{rate: 2/day, burst: 2}], concurrency: 2}\n"
        "  - {name: ahead, rules: [{rate: 1/9s}], lookahead: 10s}\n";
    takt_options options = {.store = place.url, .store_timeout_us = 60000000};
    takt_error error;

    find_place(&place, kind);
    uv_loop_init(&loop);
    cr_assert_eq(takt_policy_parse(&policy, "test", text, strlen(text), &error), 0, "%s",
                 error.text);
    cr_assert_eq(takt_open(&worker, &loop, policy, &options, &error), 0, "%s", error.text);
    cr_assert_eq(takt_open(&other, &loop, policy, &options, &error), 0, "%s", error.text);
    callbacks = 0;
}

static void close_world(void)
{
    takt_close(worker, NULL, NULL);
    takt_close(other, NULL, NULL);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(uv_loop_close(&loop), 0, "a handle was left open");
    takt_policy_free(policy);
    leave_place(&place);
}

static void hear(int count)
{
    while (callbacks < count)
        uv_run(&loop, UV_RUN_ONCE);
}

static takt_standing standing;

static void note_standing(takt_call *call, int status, const takt_standing *told)
{
    cr_assert_eq(status, 0, "%s", takt_strerror(status));
    standing = *told;
    *(bool *)call->data = true;
}

static void look(const char *limit)
{
    bool answered = false;
    takt_call call = {.data = &answered};

    cr_assert_eq(takt_peek(other, &call, limit, NULL, note_standing), 0);
    while (!answered)
        uv_run(&loop, UV_RUN_ONCE);
}

/* Only the first of the two slots "ahead" counts, once the store has its claim. */
static void expect_one_ahead(int64_t slot_us)
{
    int64_t next_us;

    do {
        look("ahead");
        next_us = standing.now_us + standing.retry_after_us;
    } while (next_us > slot_us + 9 * SECOND && standing.now_us < slot_us + 9 * SECOND);
    cr_assert(next_us == slot_us + 9 * SECOND || standing.retry_after_us == 0,
              "the next slot is %lld us after the first", (long long)(next_us - slot_us));
}

static void note(takt_permit *permit, int status)
{
    (void)permit;
    (void)status;
    callbacks++;
}

static void release_other(takt_permit *permit, int status)
{
    cr_assert_eq(status, 0);
    takt_release(permit->data);
    takt_release(permit);
    callbacks++;
}

static void cancel_other(takt_permit *permit, int status)
{
    cr_assert_eq(status, 0);
    cr_assert_eq(takt_cancel(permit->data), 0);
    callbacks++;
}

static void close_worker(takt_permit *permit, int status)
{
    (void)permit;
    cr_assert_eq(status, 0);
    takt_close(worker, NULL, NULL);
    worker = NULL;
    callbacks++;
}

/* Two wait, and are given their slots together; then the first one's callback comes. */
static void acquire_two(takt_permit permits[2], const char *limit, takt_acquire_cb first)
{
    takt_request request = TAKT_REQUEST(limit);

    permits[0].data = &permits[1];
    cr_assert_eq(takt_acquire(worker, &permits[0], &request, first), 0);
    cr_assert_eq(takt_acquire(worker, &permits[1], &request, note), 0);
}

EACH_STORE(a_slot_whose_callback_does_not_come_is_there_for_others)
{
    static const char *const limits[] = {"bucket", "window", "sliding", "log", "held"};

    open_world(*kind);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        takt_permit permits[2] = {0};
        acquire_two(permits, limits[i], release_other);
        hear((int)i + 1);
        do
            look(limits[i]);
        while (standing.remaining == 0);
    }
    cr_assert_eq(callbacks, 5);
    close_world();
}

EACH_STORE(a_slot_to_come_is_there_for_others_when_it_is_cancelled)
{
    takt_permit permits[2] = {0};

    open_world(*kind);
    acquire_two(permits, "ahead", cancel_other);
    hear(2);
    expect_one_ahead(permits[0].slot_at_us);
    close_world();
}

EACH_STORE(a_client_that_closes_hands_back_what_it_has)
{
    takt_permit permits[2] = {0};

    open_world(*kind);
    acquire_two(permits, "ahead", close_worker);
    hear(2);
    expect_one_ahead(permits[0].slot_at_us);
    close_world();
}
