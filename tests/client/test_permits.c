/*
 * Permits between clients, over every kind of store: never more than there are, handed over by
 * wake-ups, given back however their holder ends.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>
#include <takt/takt.h>
#include <unistd.h>
#include <uv.h>

#include "client/client.h"
#include "client/stores.h"

#define CLIENTS 3
#define HANDOVERS                                                                                  \
    100 /* without wake-ups each would take a keepalive, and the test's time be over */

typedef struct job {
    takt_permit permit;
    struct actor *actor;
    bool holds;
} job;

/* A client that works all the time. */
typedef struct actor {
    takt_client *client;
    uv_timer_t work; /* its one job's */
    job job;
    int64_t last_fence;
} actor;

static uv_loop_t loop;
static takt_policy *policy;
static actor actors[CLIENTS];
static int kind, waiting, held, max_held, granted, lost;
static int64_t highest_fence;

static void open_policy(void)
{
    static const char text[] = "limits:\n"
                               "  - name: one\n"
                               "    concurrency: 1\n"
                               "  - name: two\n"
                               "    concurrency: 2\n"
                               "  - name: paced\n"
                               "    concurrency: 2\n"
                               "    rules: [{rate: 1000/s, burst: 2}]\n"
                               "  - name: inner\n"
                               "    concurrency: 2\n"
                               "    within: one\n"
                               "  - name: short\n"
                               "    concurrency: 2\n"
                               "    lease: 1s\n";
    takt_error error;

    cr_assert_eq(takt_policy_parse(&policy, "test", text, strlen(text), &error), 0, "%s",
                 error.text);
}

static void on_event(takt_client *client, const takt_event *event, void *data)
{
    (void)client;
    (void)data;
    lost += event->type == TAKT_EVENT_PERMIT_LOST;
}

static void open_world(int of_kind)
{
    const char *url = open_store(of_kind);
    takt_error error;

    kind = of_kind;
    uv_loop_init(&loop);
    open_policy();
    for (int i = 0; i < CLIENTS; i++) {
        takt_options options = {.store = url, .store_timeout_us = 60000000, .on_event = on_event};
        cr_assert_eq(takt_open(&actors[i].client, &loop, policy, &options, &error), 0, "%s",
                     error.text);
        uv_timer_init(&loop, &actors[i].work);
        actors[i].work.data = &actors[i];
        actors[i].job.actor = &actors[i];
        actors[i].job.permit.data = &actors[i].job;
    }
}

static void close_world(void)
{
    for (int i = 0; i < CLIENTS; i++) {
        takt_close(actors[i].client, NULL, NULL);
        uv_close((uv_handle_t *)&actors[i].work, NULL);
    }
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(uv_loop_close(&loop), 0, "a handle was left open");
    takt_policy_free(policy);
    close_store(kind);
}

static void ask(actor *self, const char *limit);

static const char *asked_for;

static void done(uv_timer_t *timer)
{
    actor *self = timer->data;

    held--;
    cr_assert(takt_is_held(&self->job.permit));
    takt_release(&self->job.permit);
    cr_assert_not(takt_is_held(&self->job.permit));
    if (granted < HANDOVERS)
        ask(self, asked_for);
}

static void begin(takt_permit *permit, int status)
{
    actor *self = ((job *)permit->data)->actor;

    cr_assert_eq(status, 0, "%s", takt_strerror(status));
    waiting--;
    granted++;
    held++;
    max_held = held > max_held ? held : max_held;
    cr_assert_gt(permit->fence, self->last_fence);
    self->last_fence = permit->fence;
    highest_fence = permit->fence > highest_fence ? permit->fence : highest_fence;
    uv_timer_start(&self->work, done, 1, 0);
}

static void ask(actor *self, const char *limit)
{
    takt_request request = TAKT_REQUEST(limit);

    asked_for = limit;
    waiting++;
    cr_assert_eq(takt_acquire(self->client, &self->job.permit, &request, begin), 0);
}

static takt_standing standing;

static void note_standing(takt_call *call, int status, const takt_standing *told)
{
    cr_assert_eq(status, 0);
    standing = *told;
    *(bool *)call->data = true;
}

static void look(int i, const char *limit)
{
    bool answered = false;
    takt_call call = {.data = &answered};

    cr_assert_eq(takt_peek(actors[i].client, &call, limit, NULL, note_standing), 0);
    while (!answered)
        uv_run(&loop, UV_RUN_ONCE);
}

static int kinds[] = {MEMORY, STORE_FILE, REDIS};

#define EACH_STORE(test)                                                                           \
    ParameterizedTestParameters(permits, test)                                                     \
    {                                                                                              \
        return cr_make_param_array(int, kinds, sizeof kinds / sizeof kinds[0]);                    \
    }                                                                                              \
    ParameterizedTest(const int *of_kind, permits, test, .timeout = 150)

EACH_STORE(one_hands_over_to_the_next)
{
    open_world(*of_kind);
    for (int i = 0; i < CLIENTS; i++)
        ask(&actors[i], "one");
    while (waiting > 0 || held > 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert_eq(max_held, 1);
    cr_assert_eq(lost, 0);
    close_world();
}

EACH_STORE(never_more_than_there_are)
{
    open_world(*of_kind);
    for (int i = 0; i < CLIENTS; i++)
        ask(&actors[i], "paced");
    while (waiting > 0 || held > 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert_eq(max_held, 2, "%d in kind %d, %d granted", max_held, kind, granted);
    close_world();
}

/* A permit of the inner and of the outer limit, both given back. */
EACH_STORE(within)
{
    open_world(*of_kind);
    for (int i = 0; i < CLIENTS; i++)
        ask(&actors[i], "inner");
    while (waiting > 0 || held > 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert_eq(max_held, 1, "as many as the outer limit has");
    close_world();
}

static void keep(takt_permit *permit, int status)
{
    cr_assert_eq(status, 0);
    held++;
    (void)permit;
}

/* When the client of a holder is closed, the next waiter is served. */
EACH_STORE(a_client_that_closes_gives_back)
{
    takt_request request = TAKT_REQUEST("one");

    open_world(*of_kind);
    cr_assert_eq(takt_acquire(actors[0].client, &actors[0].job.permit, &request, keep), 0);
    while (held == 0)
        uv_run(&loop, UV_RUN_ONCE);
    look(1, "one");
    cr_assert_eq(standing.held, 1);
    cr_assert_eq(standing.holders, 1);
    cr_assert_eq(standing.concurrency, 1);
    cr_assert_eq(standing.remaining, 0);
    cr_assert_eq(takt_acquire(actors[1].client, &actors[1].job.permit, &request, keep), 0);
    takt_close(actors[0].client, NULL, NULL);
    actors[0].client = NULL;
    while (held == 1)
        uv_run(&loop, UV_RUN_ONCE);
    takt_release(&actors[1].job.permit);
    do
        look(2, "one");
    while (standing.held > 0);
    cr_assert_eq(standing.remaining, 1);
    close_world();
}

static int callbacks;

static void count(takt_permit *permit, int status)
{
    callbacks++;
    cr_assert_eq(status, TAKT_E_CANCELED);
    (void)permit;
}

/* What a waiter holds of the inner limit is free when it gives up the outer one. */
EACH_STORE(who_gives_up_gives_back)
{
    takt_request outer = TAKT_REQUEST("one"), inner = TAKT_REQUEST("inner");

    open_world(*of_kind);
    cr_assert_eq(takt_acquire(actors[0].client, &actors[0].job.permit, &outer, keep), 0);
    while (held == 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert_eq(takt_acquire(actors[1].client, &actors[1].job.permit, &inner, count), 0);
    do
        look(2, "one");
    while (standing.waiting == 0);
    look(2, "inner");
    cr_expect_eq(standing.held, 0, "it waits for both");
    cr_assert_eq(takt_cancel(&actors[1].job.permit), 0);
    do
        look(2, "one");
    while (standing.waiting > 0);
    cr_assert_eq(callbacks, 1);
    takt_release(&actors[0].job.permit);
    close_world();
}

static int starts, refusals;

/* The first one keeps the loop until its lease is over. */
static void hog(takt_permit *permit, int status)
{
    callbacks++;
    starts += status == 0;
    refusals += status == TAKT_E_LEASE;
    cr_assert_eq(takt_is_held(permit), status == 0);
    while (takt_is_held(permit))
        uv_sleep(1);
}

/* A waiter whose turn comes later does not use the other one's permit, and the first one gets its
 * event. */
EACH_STORE(a_callback_that_takes_longer_than_the_lease)
{
    takt_request request = TAKT_REQUEST("short");
    takt_permit first = {0}, second = {0};

    open_world(*of_kind);
    cr_assert_eq(takt_acquire(actors[0].client, &first, &request, hog), 0);
    cr_assert_eq(takt_acquire(actors[0].client, &second, &request, hog), 0);
    while (callbacks < 2 || lost < 1)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert_eq(starts, 1);
    cr_assert_eq(refusals, 1);
    cr_assert_eq(lost, 1);
    cr_assert_neq(first.slot_at_us, 0);
    cr_assert_eq(second.slot_at_us, 0, "there is nothing to settle");
    do
        look(1, "short");
    while (standing.held > 0);
    takt_release(&first);
    cr_assert_eq(takt_acquire(actors[1].client, &first, &request, keep), 0);
    while (held == 0)
        uv_run(&loop, UV_RUN_ONCE);
    takt_release(&first);
    close_world();
}

static void tried(takt_call *call, int status, const takt_standing *told)
{
    (void)call;
    cr_assert_eq(status, TAKT_E_LEASE);
    cr_assert_not_null(told);
    callbacks++;
}

/* An answer that is read after its lease grants nothing, and no permit leaks. */
EACH_STORE(a_try_that_is_answered_after_its_lease)
{
    takt_request request = TAKT_REQUEST("short");
    takt_permit permit = {0};
    takt_call call = {0};

    open_world(*of_kind);
    cr_assert_eq(takt_try_acquire(actors[0].client, &call, &permit, &request, tried), 0);
    uv_sleep(1000); /* the loop is kept for the whole lease */
    while (callbacks == 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert_not(takt_is_held(&permit));
    do
        look(1, "short");
    while (standing.held > 0);
    close_world();
}

static int verdict;

static void note_verdict(takt_call *call, int status, const takt_standing *told)
{
    (void)call;
    cr_assert_not_null(told);
    verdict = status;
    callbacks++;
}

static int try(takt_client *client, takt_permit *permit, const char *limit)
{
    takt_request request = TAKT_REQUEST(limit);
    takt_call call = {0};

    callbacks = 0;
    cr_assert_eq(takt_try_acquire(client, &call, permit, &request, note_verdict), 0);
    while (callbacks == 0)
        uv_run(&loop, UV_RUN_ONCE);
    return verdict;
}

/* A worker that only tries, with older numbers without permits: an answer tells it about them. */
EACH_STORE(who_only_tries_learns_newer_numbers)
{
    static const char old[] = "limits: [{name: two, rules: [{rate: 1000000/s, burst: 1000}]}]\n";
    static const char new[] = "revision: 2\nlimits: [{name: two, concurrency: 2}]\n";
    takt_permit permits[3] = {0}, holder = {0};
    takt_policy *policies[2];
    takt_error error;

    open_world(*of_kind);
    cr_assert_eq(takt_policy_parse(&policies[0], "old", old, strlen(old), &error), 0);
    cr_assert_eq(takt_policy_parse(&policies[1], "new", new, strlen(new), &error), 0);
    cr_assert_eq(takt_reload(actors[0].client, policies[0], &error), 0);
    cr_assert_eq(takt_reload(actors[1].client, policies[1], &error), 0);
    cr_assert_eq(try(actors[1].client, &holder, "two"), 0);
    while (try(actors[0].client, &permits[0], "two") != 0)
        cr_assert_eq(verdict, TAKT_E_NO_SLOT);
    cr_assert_gt(permits[0].fence, holder.fence);
    look(2, "two");
    cr_assert_eq(standing.held, 2);
    cr_assert_eq(try(actors[0].client, &permits[1], "two"), TAKT_E_NO_SLOT, "there are two");
    takt_release(&holder);
    do
        look(2, "two");
    while (standing.held > 1);
    cr_assert_eq(try(actors[0].client, &permits[2], "two"), 0);
    close_world();
    takt_policy_free(policies[0]);
    takt_policy_free(policies[1]);
}

static int turns;

static void count_turn(uv_check_t *check)
{
    (void)check;
    turns++;
}

static void again(takt_permit *permit, int status)
{
    takt_request request = TAKT_REQUEST("two");

    cr_assert_eq(status, 0);
    takt_release(permit);
    if (++granted < 1000)
        cr_assert_eq(takt_acquire(actors[0].client, permit, &request, again), 0);
}

/* Slots that are due at once do not need a turn of the loop each, and leave some to other
 * workers. */
Test(permits, jobs_in_a_row_share_turns_of_the_loop)
{
    takt_request request = TAKT_REQUEST("two");
    uv_check_t check;

    open_world(MEMORY);
    uv_check_init(&loop, &check);
    uv_check_start(&check, count_turn);
    cr_assert_eq(takt_acquire(actors[0].client, &actors[0].job.permit, &request, again), 0);
    while (granted < 1000)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert_gt(turns, 4, "%d", turns);
    cr_assert_lt(turns, 100, "%d", turns);
    uv_close((uv_handle_t *)&check, NULL);
    close_world();
}
