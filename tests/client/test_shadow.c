/*
 * Limits in shadow through the public interface, over memory and over a real server: no work waits,
 * the ledger sees every shadow waiter, and the counts are those of an enforced limit.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <takt/takt.h>
#include <uv.h>

#include "client/noted.h"
#include "store/redis/server.h"

static uv_loop_t loop;
static uv_timer_t alive; /* shadow waiters keep no loop alive: it is the test that waits for them */
static takt_policy *policy;
static takt_client *client, *other;
static struct server server;
static bool on_server;
static int lost, fallbacks, told_lost;

static void never(uv_timer_t *timer)
{
    (void)timer;
}

static void wait_for_event(void)
{
    uv_ref((uv_handle_t *)&alive);
    uv_run(&loop, UV_RUN_ONCE);
    uv_unref((uv_handle_t *)&alive);
}

static void note_event(takt_client *of, const takt_event *event, void *data)
{
    (void)of;
    (void)data;
    lost += event->type == TAKT_EVENT_STORE_LOST;
    fallbacks += event->type == TAKT_EVENT_FALLBACK;
    told_lost += event->type == TAKT_EVENT_PERMIT_LOST;
}

static void add(takt_limit_text limit, const char *rate, const char *burst, const char *algorithm)
{
    takt_rule_text rule = {.rate = rate, .burst = burst, .algorithm = algorithm};
    takt_error error;

    limit.rules = rate ? &rule : NULL;
    limit.rule_count = rate != NULL;
    if (!limit.mode)
        limit.mode = "shadow";
    cr_assert_eq(takt_policy_add(policy, &limit, &error), 0, "%s", error.text);
}

/* A limit in shadow that counts two units. */
static void add_units(void)
{
    const takt_rule_text rules[] = {
        {.rate = "1000/18000day", .algorithm = "fixed-window", .counts = "tokens"},
        {.rate = "100/18000day", .algorithm = "fixed-window", .counts = "images"}};
    const takt_limit_text limit = {
        .name = "units", .mode = "shadow", .rules = rules, .rule_count = 2};
    takt_error error;

    cr_assert_eq(takt_policy_add(policy, &limit, &error), 0, "%s", error.text);
}

static void open_on(const char *store)
{
    takt_options options = {.store = store, .on_event = note_event, .store_timeout_us = 60000000};
    takt_error error;

    cr_assert_eq(uv_loop_init(&loop), 0);
    uv_timer_init(&loop, &alive);
    uv_timer_start(&alive, never, 3600 * 1000, 0);
    uv_unref((uv_handle_t *)&alive);
    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    add((takt_limit_text){.name = "hourly"}, "1/h", NULL, NULL);
    add((takt_limit_text){.name = "small", .max_waiting = "2"}, "1/h", NULL, NULL);
    add((takt_limit_text){.name = "window"}, "10/18000day", NULL, "fixed-window");
    add_units();
    add((takt_limit_text){.name = "one", .concurrency = "1"}, NULL, NULL, NULL);
    add((takt_limit_text){.name = "in-enforced", .within = "enforced"}, "1/h", NULL, NULL);
    add((takt_limit_text){.name = "enforced", .mode = "enforce"}, "1/h", "2", NULL);
    add((takt_limit_text){.name = "enforced-in", .mode = "enforce", .within = "hourly"}, "1/h", "2",
        NULL);
    add((takt_limit_text){.name = "both", .within = "hourly"}, "1/h", "2", NULL);
    add((takt_limit_text){.name = "closed", .on_store_failure = "closed"}, "1/h", NULL, NULL);
    add((takt_limit_text){.name = "open", .on_store_failure = "open"}, "1/h", NULL, NULL);
    cr_assert_eq(takt_open(&client, &loop, policy, &options, &error), 0, "%s", error.text);
}

static void close_all(void)
{
    takt_close(client, NULL, NULL);
    uv_close((uv_handle_t *)&alive, NULL);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(uv_loop_close(&loop), 0, "a handle was left open");
    takt_policy_free(policy);
    if (on_server)
        server_stop(&server);
    on_server = false;
}

static void open_server(void)
{
    server_start(&server, NULL);
    on_server = true;
    open_on(server.url);
}

static void acquire_cost(seen *job, const char *limit, int32_t cost)
{
    takt_request request = TAKT_REQUEST(limit);

    request.cost = cost;
    *job = (seen){.permit.data = job, .call.data = job};
    cr_assert_eq(takt_acquire(client, &job->permit, &request, note), 0);
    cr_assert_eq(job->calls, 0, "never inside the call");
}

static void acquire(seen *job, const char *limit)
{
    acquire_cost(job, limit, 1);
}

static void turn(void)
{
    uv_run(&loop, UV_RUN_NOWAIT);
}

/* Acquires, and its callback comes in the very next pass, before the store can have answered. */
static void starts_at_once(seen *job, const char *limit)
{
    acquire(job, limit);
    turn();
    cr_assert_eq(job->calls, 1, "%s", limit);
    cr_assert_eq(job->status, 0);
    cr_assert_eq(job->permit.slot_at_us, 0);
}

static takt_shadow told(const char *limit)
{
    takt_shadow shadow;

    cr_assert_eq(takt_get_shadow(client, limit, &shadow), 0);
    cr_assert_eq(shadow.acquires, shadow.at_once + shadow.waited + shadow.refused + shadow.waiting +
                                      shadow.unmeasured);
    return shadow;
}

static int64_t granted(const char *limit)
{
    return told(limit).at_once + told(limit).waited;
}

static void until_granted(const char *limit, int64_t count)
{
    while (granted(limit) < count)
        wait_for_event();
}

static takt_standing peek(takt_client *by, const char *limit)
{
    seen look = {.call.data = &look};

    cr_assert_eq(takt_peek(by, &look.call, limit, NULL, note_call), 0);
    while (look.calls == 0)
        wait_for_event();
    cr_assert_eq(look.status, 0);
    return look.standing;
}

static int try(seen *job, const char *limit, int32_t cost)
{
    takt_request request = TAKT_REQUEST(limit);

    request.cost = cost;
    *job = (seen){.call.data = job};
    cr_assert_eq(takt_try_acquire(client, &job->call, &job->permit, &request, note_call), 0);
    while (job->calls == 0)
        wait_for_event();
    return job->status;
}

static void on_each_store(void (*test)(void))
{
    open_on("memory:");
    test();
    close_all();
    open_server();
    test();
    close_all();
}

static void many(void)
{
    static seen jobs[10];

    for (int i = 0; i < 10; i++)
        starts_at_once(&jobs[i], "hourly");
    until_granted("hourly", 1);
    cr_assert_eq(told("hourly").acquires, 10);
    cr_assert_eq(told("hourly").waiting, 9);
    cr_assert_gt(peek(client, "hourly").waiting, 0, "the ledger sees shadow_waiters");
    cr_assert_eq(peek(client, "hourly").remaining, 0);
    for (int i = 0; i < 10; i++)
        takt_release(&jobs[i].permit);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0, "shadow_waiters keep no loop alive");
    cr_assert_eq(told("hourly").waiting, 9, "work that is done was work all the same");
}

Test(shadow, nothing_waits_for_it)
{
    on_each_store(many);
}

static void full(void)
{
    static seen jobs[5];

    for (int i = 0; i < 5; i++)
        starts_at_once(&jobs[i], "small");
    while (told("small").refused < 2)
        wait_for_event();
    cr_assert_eq(told("small").refused_full, 2);
    acquire_cost(&jobs[0], "small", 5); /* the program ends before the limit would have granted
                                         * it */
    turn();
    cr_assert_eq(jobs[0].status, 0);
    cr_assert_eq(told("small").refused, 3);
}

Test(shadow, refusals_are_counted)
{
    on_each_store(full);
}

static void permits(void)
{
    static seen jobs[2], tried;

    starts_at_once(&jobs[0], "one");
    starts_at_once(&jobs[1], "one");
    cr_assert_eq(jobs[0].permit.fence, 0);
    cr_assert_eq(takt_is_held(&jobs[1].permit), 1);
    until_granted("one", 1);
    cr_assert_eq(peek(client, "one").held, 1);
    takt_release(&jobs[0].permit);
    until_granted("one", 2);
    takt_release(&jobs[1].permit);
    while (peek(client, "one").held > 0)
        continue;
    cr_assert_eq(try(&tried, "one", 1), 0);
    cr_assert_eq(peek(client, "one").held, 1, "a try's shadow_waiter holds as well");
    cr_assert_eq(try(&jobs[1], "one", 1), 0, "and the next one is let pass");
    cr_assert_eq(told("one").tries, 2);
    cr_assert_eq(told("one").tries_refused, 1);
    takt_release(&tried.permit);
    takt_release(&jobs[1].permit);
    while (peek(client, "one").held > 0)
        continue;
    cr_assert_eq(told_lost, 0);
}

Test(shadow, ghosts_hold_permits)
{
    on_each_store(permits);
}

static void tries(void)
{
    seen job;

    for (int i = 0; i < 3; i++) {
        cr_assert_eq(try(&job, "hourly", 1), 0);
        cr_assert(job.stood);
        cr_assert_eq(job.standing.remaining, 0);
        takt_release(&job.permit);
    }
    cr_assert_gt(job.standing.retry_after_us, 0, "what enforcing would have said");
    cr_assert_eq(told("hourly").tries, 3);
    cr_assert_eq(told("hourly").tries_refused, 2);
    cr_assert_eq(told("hourly").acquires, 0);
    cr_assert_eq(try(&job, "hourly", 99), 0);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(try(&job, "in-enforced", 1), i < 2 ? 0 : TAKT_E_NO_SLOT);
        takt_release(&job.permit);
    }
    cr_assert_eq(told("in-enforced").tries_refused, 1, "it was not asked for the third");
    for (int i = 0; i < 3; i++)
        cr_assert_eq(try(&job, "enforced-in", 1), i < 2 ? 0 : TAKT_E_NO_SLOT);
}

Test(shadow, a_try_is_always_granted)
{
    on_each_store(tries);
}

static void levels(void)
{
    static seen jobs[3], more[3], all[2];

    for (int i = 0; i < 3; i++)
        acquire(&jobs[i], "in-enforced");
    while (jobs[1].calls == 0)
        wait_for_event();
    until_granted("in-enforced", 1);
    cr_assert_eq(jobs[2].calls, 0, "the enforced one is out of tokens");
    cr_assert_gt(jobs[1].permit.slot_at_us, 0, "and its slot is told");
    cr_assert_eq(told("in-enforced").acquires, 2, "work that has not started is not measured");
    cr_assert_eq(told("in-enforced").waiting, 1);
    takt_release(&jobs[2].permit);

    for (int i = 0; i < 3; i++)
        acquire(&more[i], "enforced-in");
    while (more[1].calls == 0)
        wait_for_event();
    until_granted("hourly", 1);
    cr_assert_eq(told("hourly").acquires, 2);
    cr_assert_eq(more[2].calls, 0);
    cr_assert_eq(takt_cancel(&more[2].permit), 0);
    while (more[2].calls == 0)
        wait_for_event();
    cr_assert_eq(more[2].status, TAKT_E_CANCELED);

    starts_at_once(&all[0], "both");
    cr_assert_eq(told("both").waiting, 1, "it waits for both");
    cr_assert_eq(told("hourly").acquires, 3);
    cr_assert_eq(told("hourly").waiting, 2);
    cr_assert_eq(peek(client, "both").remaining, 2, "and has taken nothing inside");
}

Test(shadow, limits_in_one_another)
{
    on_each_store(levels);
}

static void settled(void)
{
    takt_request request = TAKT_REQUEST("window");
    static seen early, late;

    acquire_cost(&early, "window", 6);
    turn();
    cr_assert_eq(takt_settle(&early.permit, &request, TAKT_USED(2)), 0,
                 "its shadow_waiter waits still");
    cr_assert_eq(takt_settle(&early.permit, &request, TAKT_USED(2)), TAKT_E_INVALID, "once");
    takt_release(&early.permit);
    until_granted("window", 1);
    while (peek(client, "window").remaining != 8)
        continue;
    acquire_cost(&late, "window", 6);
    until_granted("window", 2);
    cr_assert_eq(takt_settle(&late.permit, &request, TAKT_USED(1)), 0,
                 "its shadow_waiter has its slot");
    while (peek(client, "window").remaining != 7)
        continue;
    acquire_cost(&late, "window", 1);
    turn();
    cr_assert_eq(takt_settle(&late.permit, &request, TAKT_USED(3)), 0, "more than was asked for");
    until_granted("window", 3);
    while (peek(client, "window").remaining != 4)
        continue;
}

Test(shadow, real_costs_are_settled)
{
    on_each_store(settled);
}

static void acquire_units(seen *job, takt_request *request, int64_t tokens, int64_t images)
{
    *request = TAKT_REQUEST("units");
    request->amounts[0] = (takt_amount){"images", images};
    request->amounts[1] = (takt_amount){"tokens", tokens};
    *job = (seen){.permit.data = job, .call.data = job};
    cr_assert_eq(takt_acquire(client, &job->permit, request, note), 0);
    turn();
    cr_assert_eq(job->calls, 1);
}

static void wait_left(int64_t tokens, int64_t images)
{
    takt_standing standing;

    do {
        standing = peek(client, "units");
    } while (standing.rules[0].remaining != tokens || standing.rules[1].remaining != images);
}

static void settled_units(void)
{
    const takt_amount both[] = {{"images", 3}, {"tokens", 90}}, images = {"images", 1};
    const takt_amount mixed[] = {{"images", 5}, {"tokens", 500}};
    takt_request request;
    static seen job;

    acquire_units(&job, &request, 400, 30);
    cr_assert_eq(takt_settle(&job.permit, &request, both, 2), 0, "its shadow waiter waits still");
    until_granted("units", 1);
    wait_left(910, 97);
    acquire_units(&job, &request, 100, 40);
    until_granted("units", 2);
    cr_assert_eq(takt_settle(&job.permit, &request, &images, 1), 0, "it has its slot");
    wait_left(810, 96);
    acquire_units(&job, &request, 100, 40);
    cr_assert_eq(takt_settle(&job.permit, &request, mixed, 2), 0, "less of one, more of the other");
    until_granted("units", 3);
    wait_left(310, 91);
    acquire_units(&job, &request, 200, 80);
    cr_assert_eq(takt_settle(&job.permit, &request, NULL, 0), 0, "not begun");
    until_granted("units", 4);
    wait_left(310, 91);
}

Test(shadow, real_amounts_of_all_units_are_settled)
{
    on_each_store(settled_units);
}

Test(shadow, given_up_before_the_callback)
{
    static seen job;

    open_on("memory:");
    acquire(&job, "hourly");
    takt_release(&job.permit);
    cr_assert_eq(takt_cancel(&job.permit), TAKT_E_INVALID);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(job.calls, 0);
    cr_assert_eq(told("hourly").acquires, 0);
    cr_assert_eq(peek(client, "hourly").remaining, 1);
    acquire(&job, "hourly");
    takt_close(client, NULL, NULL); /* the callback of a due permit comes */
    close_all();
    cr_assert_eq(job.calls, 1);
}

/* Workers in shadow and workers that enforce go by one ledger. */
Test(shadow, a_fleet_goes_over_worker_by_worker)
{
    takt_rule_text rule = {.rate = "1/h"};
    takt_limit_text text = {.name = "hourly", .rules = &rule, .rule_count = 1};
    takt_options opening = {.store = server.url, .store_timeout_us = 60000000};
    takt_request request = TAKT_REQUEST("hourly");
    takt_policy *enforcing;
    static seen job;
    seen tried = {.call.data = &tried};

    open_server();
    cr_assert_eq(takt_policy_new(&enforcing, NULL), 0);
    cr_assert_eq(takt_policy_add(enforcing, &text, NULL), 0);
    cr_assert_eq(takt_open(&other, &loop, enforcing, &opening, NULL), 0);
    starts_at_once(&job, "hourly");
    until_granted("hourly", 1);
    cr_assert_eq(takt_try_acquire(other, &tried.call, &tried.permit, &request, note_call), 0);
    while (tried.calls == 0)
        wait_for_event();
    cr_assert_eq(tried.status, TAKT_E_NO_SLOT, "the shadow_waiter has taken it");
    takt_close(other, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    takt_policy_free(enforcing);
    close_all();
}

Test(shadow, a_lost_store_delays_nothing)
{
    static const char *const limits[] = {"hourly", "closed", "open", "one", "both"};
    static seen jobs[5], tried;

    open_server();
    server_kill(&server, SIGKILL);
    for (int i = 0; i < 5; i++)
        starts_at_once(&jobs[i], limits[i]);
    while (lost == 0 || told("closed").refused == 0 || told("open").waiting > 0)
        wait_for_event();
    for (int i = 0; i < 5; i++) {
        takt_release(&jobs[i].permit);
        starts_at_once(&jobs[i], limits[i]);
    }
    cr_assert_eq(told("hourly").waiting, 4, "also of both");
    cr_assert_eq(try(&tried, "closed", 1), 0);
    cr_assert_not(tried.stood);
    cr_assert_eq(told("closed").tries_refused, 1);
    cr_assert_eq(fallbacks, 0, "nothing is held up that would have to be told of");
    server_restart(&server, NULL);
    until_granted("hourly", 1);
    close_all();
}

Test(shadow, arguments)
{
    takt_shadow shadow = {.acquires = 7};

    open_on("memory:");
    cr_assert_eq(takt_get_shadow(client, "none", &shadow), TAKT_E_NO_LIMIT);
    cr_assert_eq(takt_get_shadow(client, NULL, &shadow), TAKT_E_INVALID);
    cr_assert_eq(takt_get_shadow(NULL, "hourly", &shadow), TAKT_E_INVALID);
    cr_assert_eq(shadow.acquires, 7);
    cr_assert_eq(takt_get_shadow(client, "enforced", &shadow), 0);
    cr_assert_eq(shadow.acquires, 0);
    close_all();
}
