/*
 * Clients over a real server that goes away and comes back: what each on_store_failure does to
 * waiters, new acquires and tries, with nested limits, and which events are reported.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <takt/takt.h>
#include <uv.h>

#include "client/noted.h"
#include "store/redis/server.h"

static uv_loop_t loop;
static takt_policy *policy;
static takt_client *client;
static struct server server;
static int lost, back, fallbacks;
static char fallback_of[256];   /* the limits, in the order of their events */
static takt_policy *go_over_to; /* when a fallback event comes */

static void note_event(takt_client *of, const takt_event *event, void *data)
{
    (void)data;
    lost += event->type == TAKT_EVENT_STORE_LOST;
    back += event->type == TAKT_EVENT_STORE_BACK;
    if (event->type != TAKT_EVENT_FALLBACK) {
        cr_expect_null(event->limit);
        return;
    }
    fallbacks++;
    cr_expect_not_null(strstr(event->text, event->limit));
    strcat(strcat(fallback_of, event->limit), " ");
    if (go_over_to)
        cr_expect_eq(takt_reload(of, go_over_to, NULL), 0);
}

static void add_limit(const char *name, const char *rate, const char *within, const char *mode)
{
    takt_rule_text rule = {.rate = rate};
    takt_limit_text limit = {
        .name = name, .rules = &rule, .rule_count = 1, .within = within, .on_store_failure = mode};
    takt_error error;

    cr_assert_eq(takt_policy_add(policy, &limit, &error), 0, "%s", error.text);
}

static void set_up(void)
{
    takt_options options = {.store_timeout_us = 60000000, .on_event = note_event};
    takt_limit_text held = {.name = "held", .concurrency = "1"};
    takt_error error;

    server_start(&server, NULL);
    options.store = server.url;
    cr_assert_eq(uv_loop_init(&loop), 0);
    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    add_limit("wait", "1/h", NULL, NULL);
    add_limit("closed", "1/h", NULL, "closed");
    add_limit("open", "1/h", NULL, "open");
    add_limit("share", "1000/s", NULL, "share");
    add_limit("open-in-closed", "1000/s", "closed", "open");
    add_limit("open-in-open", "1000/s", "open", "open");
    add_limit("open-in-wait", "1000/s", "wait", "open");
    cr_assert_eq(takt_policy_add(policy, &held, &error), 0, "%s", error.text);
    cr_assert_eq(takt_open(&client, &loop, policy, &options, &error), 0, "%s", error.text);
}

static void tear_down(void)
{
    takt_close(client, NULL, NULL);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(uv_loop_close(&loop), 0, "a handle was left open");
    takt_policy_free(policy);
    server_stop(&server);
}

TestSuite(store_failure, .init = set_up, .fini = tear_down);

static void acquire_key(seen *job, const char *limit, const char *key)
{
    takt_request request = TAKT_REQUEST(limit);

    request.key = key;
    *job = (seen){.permit.data = job};
    cr_assert_eq(takt_acquire(client, &job->permit, &request, note), 0);
}

static void acquire(seen *job, const char *limit)
{
    acquire_key(job, limit, NULL);
}

static int try(seen *job, const char *limit)
{
    takt_request request = TAKT_REQUEST(limit);

    *job = (seen){.call.data = job};
    cr_assert_eq(takt_try_acquire(client, &job->call, &job->permit, &request, note_call), 0);
    while (job->calls == 0)
        uv_run(&loop, UV_RUN_ONCE);
    return job->status;
}

static void run_until(const int *number, int min)
{
    while (*number < min)
        uv_run(&loop, UV_RUN_ONCE);
}

/* The first token of the hour is gone: new work waits. */
static void use_up(const char *limit)
{
    seen job;

    acquire(&job, limit);
    run_until(&job.calls, 1);
    cr_assert_eq(job.status, 0);
    takt_release(&job.permit);
}

/* Kills the server and returns when it is known here. */
static void lose(void)
{
    seen job;

    server_kill(&server, SIGKILL);
    acquire(&job, "wait");
    run_until(&lost, 1);
    takt_release(&job.permit);
}

static bool is_store_error(int status)
{
    return status <= TAKT_E_STORE && status >= TAKT_E_STORE_FORMAT;
}

Test(store_failure, who_waits_when_the_store_is_lost)
{
    seen jobs[3], waits, shares;

    use_up("closed");
    use_up("open");
    use_up("wait");
    use_up("share"); /* with how many it shares */
    acquire(&jobs[0], "closed");
    acquire(&jobs[1], "closed");
    acquire(&jobs[2], "open");
    acquire(&waits, "wait");
    while (uv_run(&loop, UV_RUN_NOWAIT) && fallbacks == 0 && jobs[0].calls == 0) {
        takt_stats stats;
        takt_get_stats(client, &stats);
        if (stats.waiting == 4 && stats.store_calls >= 7)
            break;
    }
    lose();
    acquire(&shares, "share");
    for (int i = 0; i < 3; i++)
        run_until(&jobs[i].calls, 1);
    cr_assert(is_store_error(jobs[0].status) && is_store_error(jobs[1].status));
    cr_assert_eq(jobs[2].status, 0);
    run_until(&shares.calls, 1);
    cr_assert_eq(shares.status, 0);
    cr_assert_gt(shares.permit.slot_at_us, jobs[2].permit.slot_at_us);
    cr_assert_eq(waits.calls, 0);
    cr_assert_eq(lost, 1);
    cr_assert_eq(fallbacks, 3, "%s", fallback_of);
    takt_release(&waits.permit);
}

Test(store_failure, who_comes_while_it_is_lost)
{
    seen job;

    lose();
    for (int i = 0; i < 50; i++) {
        acquire(&job, "closed");
        run_until(&job.calls, 1);
        cr_assert(is_store_error(job.status));
        acquire(&job, "open");
        run_until(&job.calls, 1);
        cr_assert_eq(job.status, 0);
        takt_release(&job.permit);
        acquire_key(&job, "open", i % 2 ? "odd" : "even");
        run_until(&job.calls, 1);
        cr_assert_eq(job.status, 0);
        takt_release(&job.permit);
    }
    cr_assert_str_eq(fallback_of, "closed open ", "once for each limit");
}

Test(store_failure, limits_within_others_go_each_by_its_own)
{
    seen closed, open, waits;

    lose();
    acquire(&closed, "open-in-closed");
    acquire(&open, "open-in-open");
    acquire(&waits, "open-in-wait");
    run_until(&closed.calls, 1);
    run_until(&open.calls, 1);
    cr_assert(is_store_error(closed.status), "the outer limit lets nothing start");
    cr_assert_eq(open.status, 0);
    cr_assert_eq(waits.calls, 0);
    takt_release(&waits.permit);
    takt_release(&open.permit);
}

static int64_t store_calls(void)
{
    takt_stats stats;

    takt_get_stats(client, &stats);
    return stats.store_calls;
}

/* Whether telling what a job has cost asks anything of its ledger. */
static bool settles(seen *job, const char *limit, int64_t actual)
{
    takt_request request = TAKT_REQUEST(limit);
    int64_t before = store_calls();

    cr_assert_eq(takt_settle(&job->permit, &request, TAKT_USED(actual)), 0);
    cr_assert_eq(takt_settle(&job->permit, &request, TAKT_USED(actual)), TAKT_E_INVALID, "once");
    return store_calls() > before;
}

/* What no ledger was charged for is not given back. */
Test(store_failure, who_was_granted_without_the_store_gives_nothing_back)
{
    seen job;

    use_up("share");
    lose();
    for (int actual = 0; actual <= 2; actual++) {
        acquire(&job, "open");
        run_until(&job.calls, 1);
        cr_assert_eq(settles(&job, "open", actual), actual > 1);
        acquire(&job, "share");
        run_until(&job.calls, 1);
        cr_assert_eq(settles(&job, "share", actual), actual > 1);
        acquire(&job, "open-in-open");
        run_until(&job.calls, 1);
        cr_assert_eq(settles(&job, "open-in-open", actual), actual > 1);
        cr_assert_eq(try(&job, "open"), 0);
        cr_assert_eq(settles(&job, "open", actual), actual > 1);
    }
}

/* Earlier grants do not count. */
Test(store_failure, a_permit_that_is_used_again_is_charged_again)
{
    takt_request request = TAKT_REQUEST("open");
    seen job, waits;

    lose();
    acquire(&job, "open");
    run_until(&job.calls, 1);
    takt_release(&job.permit);
    server_restart(&server, NULL);
    acquire(&waits, "wait");
    run_until(&waits.calls, 1);
    cr_assert_eq(takt_acquire(client, &job.permit, &request, note), 0);
    run_until(&job.calls, 2);
    cr_assert(settles(&job, "open", 0));
}

/* Nothing reports how they end but that the store is lost, and they do not pile up. */
Test(store_failure, detached_calls)
{
    takt_options options = {.store = server.url, .store_timeout_us = 50000, .on_event = note_event};

    takt_close(client, NULL, NULL);
    cr_assert_eq(takt_open(&client, &loop, policy, &options, NULL), 0);
    server_kill(&server, SIGKILL);
    for (int i = 0; i < TAKT_DETACHED_MAX; i++)
        cr_assert_eq(takt_penalize(client, NULL, "wait", NULL, 1, NULL, NULL), 0);
    cr_assert_eq(takt_penalize(client, NULL, "wait", NULL, 1, NULL, NULL), TAKT_E_BUSY);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_expect_eq(lost, 1);
    server_restart(&server, NULL);
    while (back == 0) {
        cr_assert_eq(takt_penalize(client, NULL, "wait", NULL, 1, NULL, NULL), 0);
        uv_run(&loop, UV_RUN_DEFAULT);
    }
}

Test(store_failure, tries)
{
    seen job;

    lose();
    cr_assert(is_store_error(try(&job, "wait")) && !job.stood);
    cr_assert(is_store_error(try(&job, "closed")) && !job.stood);
    cr_assert_eq(try(&job, "open"), 0);
    cr_assert(job.stood && job.standing.limit == 1);
    cr_assert_eq(try(&job, "open-in-open"), 0);
    cr_assert(is_store_error(try(&job, "open-in-closed")));
    cr_assert(is_store_error(try(&job, "open-in-wait")));
    cr_assert(is_store_error(try(&job, "share")), "nothing is known of other workers");
    job = (seen){.call.data = &job};
    cr_assert_eq(takt_peek(client, &job.call, "open", NULL, note_call), 0);
    run_until(&job.calls, 1);
    cr_assert(is_store_error(job.status) && !job.stood, "a look is not answered here");
}

/* Which acquires find out when it is back; then the rule holds again. */
Test(store_failure, when_the_store_is_back_it_decides_again)
{
    seen job, again;

    lose();
    acquire(&job, "closed");
    run_until(&job.calls, 1);
    cr_assert(is_store_error(job.status));
    server_restart(&server, NULL);
    do {
        acquire(&job, "closed");
        run_until(&job.calls, 1);
    } while (job.status != 0);
    cr_assert_eq(back, 1);
    acquire(&again, "closed");
    while (back < 1 || uv_run(&loop, UV_RUN_NOWAIT) == 0) {
        takt_stats stats;
        takt_get_stats(client, &stats);
        if (stats.waiting == 1)
            break;
    }
    cr_assert_eq(again.calls, 0, "the hour's token is gone");
    server_kill(&server, SIGKILL);
    run_until(&again.calls, 1);
    cr_assert(is_store_error(again.status));
    cr_assert_eq(lost, 2);
    cr_assert_str_eq(fallback_of, "closed closed ", "once in each loss");
}

/* A program ends when it has no waiters, with and without its store. */
Test(store_failure, nothing_keeps_the_loop_alive)
{
    seen job;

    lose();
    acquire(&job, "closed");
    while (uv_run(&loop, UV_RUN_ONCE))
        continue;
    cr_assert_eq(job.calls, 1);
}

/* Nor do messages that a lost store cannot get: that a permit, which it may have granted, is no
 * longer wanted, or is released. */
Test(store_failure, no_permit_keeps_the_loop_alive)
{
    for (int granted = 0; granted < 2; granted++) {
        seen job;
        lost = 0;
        if (granted == 0)
            server_kill(&server, SIGKILL);
        acquire(&job, "held");
        while (granted == 0 ? lost == 0 : job.calls == 0)
            uv_run(&loop, UV_RUN_ONCE);
        if (granted == 1)
            server_kill(&server, SIGKILL);
        takt_release(&job.permit);
        while (uv_run(&loop, UV_RUN_ONCE))
            continue;
        server_restart(&server, NULL);
    }
}

/* A refusal is an answer, too. */
Test(store_failure, answers_are_counted_and_timed)
{
    takt_stats stats, later;
    seen job;
    uint64_t begin_ns = uv_hrtime();

    use_up("wait");
    cr_assert_eq(try(&job, "wait"), TAKT_E_NO_SLOT);
    takt_get_stats(client, &stats);
    cr_assert_eq(stats.store_answers, 2);
    cr_assert_gt(stats.store_us, 0);
    cr_assert_leq(stats.store_us, (int64_t)((uv_hrtime() - begin_ns) / 1000) + 1);
    lose();
    cr_assert(is_store_error(try(&job, "wait")));
    takt_get_stats(client, &later);
    cr_assert_gt(later.store_calls, stats.store_calls);
    cr_assert_eq(later.store_answers, stats.store_answers, "nothing was answered");
    cr_assert_eq(later.store_us, stats.store_us);
}

/* The event's callback may switch to another policy with fewer limits. */
Test(store_failure, a_reload_in_the_event)
{
    static const char text[] = "limits:\n  - {name: wait, rules: [{rate: 1/h}]}\n";
    seen first, second;
    takt_error error;

    cr_assert_eq(takt_policy_parse(&go_over_to, "p", text, strlen(text), &error), 0, "%s",
                 error.text);
    server_kill(&server, SIGKILL);
    acquire_key(&first, "open-in-open", NULL);
    acquire_key(&second, "closed", NULL);
    while (first.calls == 0 || second.calls == 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert_eq(takt_get_policy(client), go_over_to);
    takt_close(client, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    takt_policy_free(go_over_to);
    go_over_to = NULL;
    client = NULL;
}
