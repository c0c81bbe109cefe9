/*
 * Urgent work gets a slot that another client's less urgent work has in hand, over each store.
 */
#include <string.h>
#include <takt/takt.h>
#include <uv.h>

#include "store/places.h"

#define SECOND  INT64_C(1000000)
#define WAITERS 200

static uv_loop_t loop;
static takt_permit waiters[WAITERS], urgent;
static int64_t now_us, waiting;
static bool answered;

static void note_standing(takt_call *call, int status, const takt_standing *standing)
{
    (void)call;
    cr_assert_eq(status, 0, "%s", takt_strerror(status));
    now_us = standing->now_us;
    waiting = standing->waiting;
    answered = true;
}

static void look(takt_client *client)
{
    takt_call call = {.data = NULL};

    answered = false;
    cr_assert_eq(takt_peek(client, &call, "ahead", NULL, note_standing), 0);
    while (!answered)
        uv_run(&loop, UV_RUN_ONCE);
}

static void ignore(takt_permit *permit, int status)
{
    (void)permit;
    (void)status;
}

static void note(takt_permit *permit, int status)
{
    (void)permit;
    cr_assert_eq(status, 0);
    answered = true;
}

/* How long after its request its slot is. A worker is asked for slots once in a lookahead. */
static int64_t ask_urgently(takt_client *client)
{
    takt_request request = TAKT_REQUEST("ahead");

    look(client);
    answered = false;
    request.priority = 0;
    cr_assert_eq(takt_acquire(client, &urgent, &request, note), 0);
    while (!answered)
        uv_run(&loop, UV_RUN_ONCE);
    takt_release(&urgent);
    return urgent.slot_at_us - now_us;
}

ParameterizedTestParameters(urgent, gets_a_slot_that_another_worker_has_in_hand)
{
    return kinds();
}

ParameterizedTest(int *kind, urgent, gets_a_slot_that_another_worker_has_in_hand, .timeout = 120)
{
    static const char text[] = "limits: [{name: ahead, rules: [{rate: 4/s}], lookahead: 10s}]\n";
    takt_options options = {.store_timeout_us = 60000000};
    takt_request request = TAKT_REQUEST("ahead");
    takt_client *worker, *other;
    takt_policy *policy;
    struct place place;
    int64_t after_us = INT64_MAX;

    find_place(&place, *kind);
    options.store = place.url;
    uv_loop_init(&loop);
    cr_assert_eq(takt_policy_parse(&policy, "test", text, strlen(text), NULL), 0);
    cr_assert_eq(takt_open(&worker, &loop, policy, &options, NULL), 0);
    cr_assert_eq(takt_open(&other, &loop, policy, &options, NULL), 0);
    request.priority = 9;
    for (int i = 0; i < WAITERS; i++)
        cr_assert_eq(takt_acquire(worker, &waiters[i], &request, ignore), 0);
    do
        look(other);
    while (waiting == 0);
    /* the worker does not listen yet, or a busy machine answers too late for an offer */
    for (int tries = 0; after_us > 5 * SECOND && tries < 4; tries++)
        after_us = ask_urgently(other);
    cr_assert_leq(after_us, 5 * SECOND, "the slots of ten seconds are in the worker's hand");
    takt_close(worker, NULL, NULL);
    takt_close(other, NULL, NULL);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(uv_loop_close(&loop), 0, "a handle was left open");
    takt_policy_free(policy);
    leave_place(&place);
}
