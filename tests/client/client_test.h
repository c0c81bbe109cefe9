/*
 * What the tests of the client share: a loop, a client on a memory store with the limits below, and
 * permits that record their callbacks.
 */
#ifndef TAKT_TESTS_CLIENT_TEST_H
#define TAKT_TESTS_CLIENT_TEST_H

#include <criterion/criterion.h>
#include <string.h>
#include <takt/takt.h>
#include <uv.h>

static uv_loop_t loop;
static takt_policy *policy;
static takt_client *client;
static int events_seen;      /* bit of each event's type */
static char event_text[512]; /* of the last one */

/* A permit and the order in which callbacks came. */
typedef struct seen {
    takt_permit permit;
    int calls;
    int status;
    int order;
    int64_t at_us; /* monotonic */
} seen;

static int order;

static int64_t now_us(void)
{
    return (int64_t)(uv_hrtime() / 1000);
}

static void note(takt_permit *permit, int status)
{
    seen *job = permit->data;

    job->calls++;
    job->status = status;
    job->order = ++order;
    job->at_us = now_us();
}

static void add_fair_limit(const char *name, const char *rate, const char *burst,
                           const char *within, const char *max_waiting, const char *fair)
{
    takt_rule_text rule = {.rate = rate, .burst = burst};
    takt_limit_text limit = {.name = name,
                             .rules = &rule,
                             .rule_count = 1,
                             .within = within,
                             .max_waiting = max_waiting,
                             .fair = fair};
    takt_error error;

    cr_assert_eq(takt_policy_add(policy, &limit, &error), 0, "%s", error.text);
}

static void add_limit(const char *name, const char *rate, const char *burst, const char *within,
                      const char *max_waiting)
{
    add_fair_limit(name, rate, burst, within, max_waiting, NULL);
}

static void note_event(takt_client *of, const takt_event *event, void *data)
{
    (void)of;
    (void)data;
    cr_assert_not_null(event->text);
    snprintf(event_text, sizeof event_text, "%s", event->text);
    events_seen |= 1 << event->type;
}

static void open_client_on(const char *store)
{
    takt_options options = {.store = store, .on_event = note_event};
    takt_error error;

    cr_assert_eq(uv_loop_init(&loop), 0);
    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    add_limit("free", "1000000/s", "1000000", NULL, NULL);
    add_limit("fast", "1000/s", "1", NULL, NULL);
    add_limit("hourly", "1/h", "1", NULL, NULL);
    add_limit("pair", "1/h", "2", NULL, NULL);
    add_limit("small", "1/h", "1", NULL, "2");
    add_limit("inner", "1000/s", "5", "outer", NULL);
    add_limit("outer", "1/h", "2", NULL, NULL);
    add_limit("narrow", "1/h", "2", "wide", NULL);
    add_limit("wide", "1/h", "7", NULL, NULL);
    cr_assert_eq(takt_open(&client, &loop, policy, &options, &error), 0, "%s", error.text);
}

static inline void open_client(void)
{
    open_client_on("memory:");
}

static inline void close_client(void)
{
    takt_close(client, NULL, NULL);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(uv_loop_close(&loop), 0, "a handle was left open");
    takt_policy_free(policy);
}

static inline int acquire(seen *job, takt_request request)
{
    job->permit.data = job;
    return takt_acquire(client, &job->permit, &request, note);
}

/* Runs the loop until that many callbacks have come in all. */
static void run_until(int callbacks)
{
    while (order < callbacks)
        uv_run(&loop, UV_RUN_ONCE);
}

#endif
