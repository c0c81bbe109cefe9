/*
 * Programs whose store is the agent of their host: all operations of a client through an agent.
 */
#include "client/client.h"
#include "policy/policy.h"
#include "stand_in.h"
#include "store/agent/message.h"
#include "store/store.h"

#define PROGRAMS 3

static uv_loop_t loop;
static stand_in agent;
static takt_policy *policy;
static takt_client *clients[PROGRAMS];
static unsigned events[PROGRAMS];
static char store_lost[TAKT_ERROR_TEXT_SIZE];
static int closed;

typedef struct job {
    takt_permit permit;
    int calls, status;
    int64_t order;
} job;

static int64_t order;
static takt_policy *agent_policy; /* another one of the agent; NULL: none */

static void note(takt_permit *permit, int status)
{
    job *done = permit->data;

    done->calls++;
    done->status = status;
    done->order = ++order;
}

static void on_event(takt_client *client, const takt_event *event, void *data)
{
    (void)client;
    events[(takt_client **)data - clients] |= 1U << event->type;
    if (event->type == TAKT_EVENT_STORE_LOST)
        snprintf(store_lost, sizeof store_lost, "%s", event->text);
}

static void add(takt_limit_text limit, const char *rate, const char *burst)
{
    takt_rule_text rule = {.rate = rate, .burst = burst};
    takt_error error;

    if (rate != NULL) {
        limit.rules = &rule;
        limit.rule_count = 1;
    }
    cr_assert_eq(takt_policy_add(policy, &limit, &error), 0, "%s", error.text);
}

/* A limit that counts requests and two units. */
static void add_units(void)
{
    const takt_rule_text rules[] = {
        {.rate = "100/h", .burst = "100", .counts = "requests"},
        {.rate = "100000/s", .burst = "1000", .counts = "tokens"},
        {.rate = "500/h", .burst = "500", .counts = "images", .default_amount = "2"}};
    const takt_limit_text limits[] = {
        {.name = "model", .rules = rules, .rule_count = 3},
        {.name = "held", .rules = rules, .rule_count = 3, .concurrency = "2"}};
    takt_error error;

    for (int i = 0; i < 2; i++)
        cr_assert_eq(takt_policy_add(policy, &limits[i], &error), 0, "%s", error.text);
}

static void open_client(int program)
{
    takt_options options = {.store = agent.url, .on_event = on_event, .data = &clients[program]};
    takt_error error;

    cr_assert_eq(takt_open(&clients[program], &loop, policy, &options, &error), 0, "%s",
                 error.text);
}

static void begin(void)
{
    cr_assert_eq(uv_loop_init(&loop), 0);
    stand_in_open(&agent, &loop, "memory:");
    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    add((takt_limit_text){.name = "fast"}, "200/s", "1");
    add((takt_limit_text){.name = "free"}, "1000000/s", "1000000");
    add((takt_limit_text){.name = "hourly"}, "1/h", "1");
    add((takt_limit_text){.name = "small", .max_waiting = "2"}, "1/h", "1");
    add((takt_limit_text){.name = "two", .concurrency = "2"}, NULL, NULL);
    add((takt_limit_text){.name = "outer", .concurrency = "1"}, NULL, NULL);
    add((takt_limit_text){.name = "bounded", .concurrency = "1", .max_waiting = "2"}, NULL, NULL);
    add((takt_limit_text){.name = "inner", .within = "outer"}, "1000/s", "5");
    add((takt_limit_text){.name = "shadow", .mode = "shadow"}, "1/h", "1");
    add(
        (takt_limit_text){
            .name = "fair", .lookahead = "10ms", .fair = "tenant", .weights = "{a: 3}"},
        "1000/s", "1");
    add((takt_limit_text){.name = "permits", .concurrency = "2", .fair = "tenant"}, NULL, NULL);
    add_units();
    for (int program = 0; program < PROGRAMS; program++)
        open_client(program);
}

static void count_closed(void *data)
{
    (void)data;
    closed++;
}

static void close_client(int program)
{
    int before = closed;

    takt_close(clients[program], count_closed, NULL);
    clients[program] = NULL;
    while (closed == before)
        uv_run(&loop, UV_RUN_ONCE);
}

static void end(void)
{
    for (int program = 0; program < PROGRAMS; program++)
        if (clients[program])
            close_client(program);
    stand_in_close(&agent);
    cr_assert_eq(uv_loop_close(&loop), 0);
    takt_policy_free(policy);
    takt_policy_free(agent_policy);
}

TestSuite(relay, .init = begin, .fini = end, .timeout = 30);

static void ask(int program, const char *limit, const char *key, job *of)
{
    takt_request request = TAKT_REQUEST(limit);

    request.key = key;
    of->permit.data = of;
    cr_assert_eq(takt_acquire(clients[program], &of->permit, &request, note), 0);
}

static void ask_for(int program, const char *limit, const char *tenant, job *of)
{
    takt_request request = TAKT_REQUEST(limit);

    request.tenant = tenant;
    of->permit.data = of;
    cr_assert_eq(takt_acquire(clients[program], &of->permit, &request, note), 0);
}

static void wait_for(const job *of)
{
    while (of->calls == 0)
        uv_run(&loop, UV_RUN_ONCE);
}

static void wait_all(const job *jobs, int count)
{
    for (int i = 0; i < count; i++)
        wait_for(&jobs[i]);
}

static int compare_slots(const void *a, const void *b)
{
    int64_t one = ((const job *)a)->permit.slot_at_us, two = ((const job *)b)->permit.slot_at_us;

    return (one > two) - (one < two);
}

Test(relay, programs_share_one_rate_exactly_and_no_slot_is_early)
{
    static job jobs[40]; /* the slots of one lookahead: a machine that is busy leaves none out */
    takt_stats stats;

    for (int i = 0; i < 40; i++)
        ask(i % PROGRAMS, "fast", NULL, &jobs[i]);
    wait_all(jobs, 40);
    qsort(jobs, 40, sizeof *jobs, compare_slots);
    for (int i = 0; i < 40; i++) {
        cr_assert_eq(jobs[i].status, 0);
        cr_assert(i == 0 || jobs[i].permit.slot_at_us >= jobs[i - 1].permit.slot_at_us + 5000);
    }
    cr_expect_eq(jobs[39].permit.slot_at_us - jobs[0].permit.slot_at_us, 39 * 5000,
                 "no slot was left out");
    takt_get_stats(agent.client, &stats);
    cr_expect_leq(stats.store_calls, 12, "%lld calls to the store", (long long)stats.store_calls);
}

Test(relay, an_acquire_is_one_message_and_waiting_sends_none)
{
    static job first, second;
    takt_stats stats;

    ask(0, "hourly", NULL, &first);
    wait_for(&first);
    ask(0, "hourly", NULL, &second);
    for (int i = 0; i < 100; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    takt_get_stats(agent.client, &stats);
    cr_expect_eq(stats.waiting, 1);
    cr_expect_leq(stats.store_calls, 4);
    takt_release(&second.permit);
    do {
        uv_run(&loop, UV_RUN_NOWAIT);
        takt_get_stats(agent.client, &stats);
    } while (stats.waiting > 0);
}

Test(relay, no_more_permits_than_allowed_are_held_and_the_end_of_a_program_frees_its_own)
{
    static job jobs[6];

    ask(0, "two", "k", &jobs[0]);
    ask(0, "two", "k", &jobs[1]);
    wait_all(jobs, 2);
    cr_expect_gt(jobs[0].permit.fence, 0);
    cr_expect_neq(jobs[0].permit.fence, jobs[1].permit.fence);
    cr_expect(takt_is_held(&jobs[0].permit));
    ask(1, "two", "k", &jobs[2]);
    ask(2, "two", "k", &jobs[3]);
    for (int i = 0; i < 200; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    cr_expect_eq(jobs[2].calls + jobs[3].calls, 0, "two are held");
    takt_release(&jobs[0].permit);
    while (jobs[2].calls + jobs[3].calls == 0)
        uv_run(&loop, UV_RUN_ONCE);
    for (int i = 0; i < 200; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    cr_expect_eq(jobs[2].calls + jobs[3].calls, 1);
    close_client(0); /* holds one still */
    wait_all(&jobs[2], 2);
    cr_expect_eq(jobs[2].status + jobs[3].status, 0);
    cr_expect_gt(jobs[2].permit.fence, jobs[0].permit.fence);
    takt_release(&jobs[2].permit);
    takt_release(&jobs[3].permit);
}

Test(relay, a_permit_that_crosses_a_cancel_is_free_again)
{
    static job canceled, next;

    ask(0, "fast", NULL, &canceled); /* it is connected */
    wait_for(&canceled);
    takt_release(&canceled.permit);
    canceled.calls = 0;
    agent.holds = true;
    ask(0, "outer", NULL, &canceled);
    while (takt_relays_held(agent.relays) == 0)
        uv_run(&loop, UV_RUN_ONCE);
    takt_release(&canceled.permit);
    for (int i = 0; i < 200; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    cr_expect_eq(takt_relays_held(agent.relays), 1, "the program may hold it");
    stand_in_send_held(&agent);
    ask(1, "outer", NULL, &next);
    wait_for(&next);
    cr_expect_eq(next.status, 0);
    cr_expect_eq(canceled.calls, 0);
    takt_release(&next.permit);
}

Test(relay, a_full_line_refuses_the_newest)
{
    static job jobs[5];
    int full = 0;

    ask(0, "small", NULL, &jobs[0]);
    wait_for(&jobs[0]);
    for (int i = 1; i < 5; i++)
        ask(i % PROGRAMS, "small", NULL, &jobs[i]);
    while (full < 2) {
        uv_run(&loop, UV_RUN_ONCE);
        full = 0;
        for (int i = 1; i < 5; i++)
            full += jobs[i].calls > 0 && jobs[i].status == TAKT_E_FULL;
    }
    for (int i = 0; i < 200; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    for (int i = full = 0; i < 5; i++)
        full += jobs[i].calls > 0 && i > 0;
    cr_expect_eq(full, 2);
    for (int i = 1; i < 5; i++)
        takt_release(&jobs[i].permit);
}

/* Nobody is refused, and each claim is answered. */
Test(relay, a_bound_that_the_agents_policy_has_not_is_not_in_force)
{
    static const char text[] = "limits: [{name: small, rules: [{rate: 1/h}]}]\n";
    static job jobs[6];
    takt_policy *unbounded;
    takt_error error;

    cr_assert_eq(takt_policy_parse(&unbounded, "p", text, strlen(text), &error), 0);
    cr_assert_eq(takt_reload(agent.client, unbounded, &error), 0, "%s", error.text);
    for (int i = 0; i < 6; i++) {
        ask(i % PROGRAMS, "small", NULL, &jobs[i]);
        if (i == 0)
            wait_for(&jobs[0]);
        while (takt_relays_waiting(agent.relays, NULL, NULL) < (size_t)i)
            uv_run(&loop, UV_RUN_ONCE);
    }
    cr_expect_eq(order, 1);
    for (int i = 0; i < PROGRAMS; i++)
        cr_expect_eq(events[i], 0);
    for (int i = 1; i < 6; i++)
        takt_release(&jobs[i].permit);
    agent_policy = unbounded;
}

Test(relay, a_permit_within_another_limit_holds_both)
{
    static job jobs[2];
    takt_request request = TAKT_REQUEST("inner");

    for (int i = 0; i < 2; i++) {
        jobs[i].permit.data = &jobs[i];
        cr_assert_eq(takt_acquire(clients[i], &jobs[i].permit, &request, note), 0);
    }
    while (jobs[0].calls + jobs[1].calls == 0)
        uv_run(&loop, UV_RUN_ONCE);
    for (int i = 0; i < 200; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    cr_expect_eq(jobs[0].calls + jobs[1].calls, 1);
    takt_release(jobs[0].calls ? &jobs[0].permit : &jobs[1].permit);
    wait_all(jobs, 2);
    takt_release(&jobs[0].permit);
    takt_release(&jobs[1].permit);
}

Test(relay, shadow_limits_deadlines_and_priorities_are_the_programs)
{
    static job shadow, late, low, high;
    takt_request request = TAKT_REQUEST("shadow");

    shadow.permit.data = &shadow;
    for (int i = 0; i < 2; i++) {
        shadow.calls = 0;
        cr_assert_eq(takt_acquire(clients[0], &shadow.permit, &request, note), 0);
        wait_for(&shadow);
        cr_expect_eq(shadow.status, 0);
        takt_release(&shadow.permit);
    }
    request = TAKT_REQUEST("hourly");
    ask(0, "hourly", "late", &late);
    wait_for(&late);
    late.calls = 0;
    request.key = "late";
    request.max_wait_us = 20000;
    takt_release(&late.permit);
    cr_assert_eq(takt_acquire(clients[0], &late.permit, &request, note), 0);
    wait_for(&late);
    cr_expect_eq(late.status, TAKT_E_DEADLINE);

    ask(0, "two", "p", &shadow);
    ask(0, "two", "p", &late);
    shadow.calls = late.calls = 0;
    wait_for(&shadow);
    wait_for(&late);
    request = TAKT_REQUEST("two");
    request.key = "p";
    request.priority = 7;
    low.permit.data = &low;
    cr_assert_eq(takt_acquire(clients[1], &low.permit, &request, note), 0);
    for (int i = 0; i < 100; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    request.priority = 1;
    high.permit.data = &high;
    cr_assert_eq(takt_acquire(clients[2], &high.permit, &request, note), 0);
    for (int i = 0; i < 100; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    takt_release(&shadow.permit);
    wait_for(&high);
    takt_release(&late.permit);
    wait_for(&low);
    cr_expect_lt(high.order, low.order);
    takt_release(&high.permit);
    takt_release(&low.permit);
}

static int call_status;
static takt_standing told;
static bool answered;

static void take_answer(takt_call *call, int status, const takt_standing *standing)
{
    (void)call;
    answered = true;
    call_status = status;
    told = standing ? *standing : (takt_standing){0};
}

static void wait_answer(void)
{
    while (!answered)
        uv_run(&loop, UV_RUN_ONCE);
    answered = false;
}

Test(relay, calls_reach_the_ledger_and_their_standing_comes_back)
{
    takt_call call = {0};
    takt_request request = TAKT_REQUEST("hourly");
    static takt_permit permit, second;

    request.key = "c";
    cr_assert_eq(takt_peek(clients[0], &call, "hourly", "c", take_answer), 0);
    wait_answer();
    cr_expect_eq(call_status, 0);
    cr_expect_eq(told.remaining, 1);
    cr_expect_eq(told.rule_count, 1);
    cr_expect_str_eq(told.rules[0].unit, "tokens");
    cr_assert_eq(takt_try_acquire(clients[0], &call, &permit, &request, take_answer), 0);
    wait_answer();
    cr_expect_eq(call_status, 0);
    cr_expect_gt(permit.slot_at_us, 0);
    cr_assert_eq(takt_try_acquire(clients[1], &call, &second, &request, take_answer), 0);
    wait_answer();
    cr_expect_eq(call_status, TAKT_E_NO_SLOT);
    cr_expect_gt(told.retry_after_us, 0);
    cr_assert_eq(takt_settle(&permit, &request, NULL, 0), 0); /* not begun: it comes back */
    do {
        cr_assert_eq(takt_peek(clients[1], &call, "hourly", "c", take_answer), 0);
        wait_answer();
    } while (told.remaining == 0);
    cr_assert_eq(takt_block(clients[1], &call, "hourly", "c", 60000000, "too many", take_answer),
                 0);
    wait_answer();
    cr_expect_gt(told.blocked_until_us, told.now_us);
    cr_expect_str_eq(told.reason, "too many");
    cr_assert_eq(takt_unblock(clients[2], &call, "hourly", "c", take_answer), 0);
    wait_answer();
    cr_expect_eq(told.blocked_until_us, 0);
    cr_assert_eq(takt_lower(clients[2], &call, "free", NULL, NULL, 5, take_answer), 0);
    wait_answer();
    cr_expect_leq(told.remaining, 10000);
    cr_assert_eq(takt_reset(clients[2], &call, "free", NULL, take_answer), 0);
    wait_answer();
    cr_expect_gt(told.remaining, 500000);
    cr_assert_eq(takt_penalize(clients[2], &call, "hourly", "c", 1000, NULL, take_answer), 0);
    wait_answer();
    cr_expect_eq(call_status, 0);
    takt_release(&permit);
}

Test(relay, a_try_holds_a_permit_until_its_release)
{
    takt_call call = {0};
    takt_request request = TAKT_REQUEST("outer");
    static takt_permit permit, second;

    cr_assert_eq(takt_try_acquire(clients[0], &call, &permit, &request, take_answer), 0);
    wait_answer();
    cr_assert_eq(call_status, 0);
    cr_expect_gt(permit.fence, 0);
    cr_expect(takt_is_held(&permit));
    cr_assert_eq(takt_try_acquire(clients[1], &call, &second, &request, take_answer), 0);
    wait_answer();
    cr_expect_eq(call_status, TAKT_E_NO_SLOT);
    takt_release(&permit);
    do {
        cr_assert_eq(takt_try_acquire(clients[1], &call, &second, &request, take_answer), 0);
        wait_answer();
    } while (call_status == TAKT_E_NO_SLOT);
    cr_expect_eq(call_status, 0);
    takt_release(&second);
}

/* With a bound the claim waits until the agent reports that its waiters were counted. */
Test(relay, a_permit_released_before_a_try_is_free_for_it)
{
    static const char *const limits[] = {"outer", "bounded"};
    static takt_permit again[2];
    static job first[2];
    takt_call call = {0};

    for (int i = 0; i < 2; i++) {
        takt_request request = TAKT_REQUEST(limits[i]);
        ask(0, limits[i], NULL, &first[i]);
        wait_for(&first[i]);
        takt_release(&first[i].permit);
        cr_assert_eq(takt_try_acquire(clients[0], &call, &again[i], &request, take_answer), 0);
        wait_answer();
        cr_expect_eq(call_status, 0);
        takt_release(&again[i]);
        do {
            cr_assert_eq(takt_peek(clients[1], &call, limits[i], NULL, take_answer), 0);
            wait_answer();
        } while (told.holders > 0);
    }
}

static int64_t left_of(const char *limit, int rule, const char *unit)
{
    takt_call call = {0};

    cr_assert_eq(takt_peek(clients[0], &call, limit, NULL, take_answer), 0);
    wait_answer();
    cr_assert_eq(told.rule_count, 3);
    cr_expect_str_eq(told.rules[rule].unit, unit);
    return told.rules[rule].remaining;
}

/* Waits until a call that nothing reports has reached the ledger. */
static void wait_left(const char *limit, int rule, const char *unit, int64_t left)
{
    while (left_of(limit, rule, unit) != left)
        continue;
}

Test(relay, amounts_of_several_units)
{
    static job jobs[10], cheap;
    takt_request request = TAKT_REQUEST("model"), other = TAKT_REQUEST("model");
    takt_call call = {0};

    request.amounts[0] = (takt_amount){"tokens", 1000};
    request.amounts[1] = (takt_amount){"images", 7};
    for (int i = 0; i < 10; i++) {
        jobs[i].permit.data = &jobs[i];
        cr_assert_eq(takt_acquire(clients[i % PROGRAMS], &jobs[i].permit, &request, note), 0);
    }
    other.amounts[0] = (takt_amount){"tokens", 1};
    cheap.permit.data = &cheap;
    cr_assert_eq(takt_acquire(clients[0], &cheap.permit, &other, note), 0);
    wait_all(jobs, 10);
    wait_for(&cheap);
    qsort(jobs, 10, sizeof *jobs, compare_slots);
    for (int i = 1; i < 10; i++)
        cr_expect_geq(jobs[i].permit.slot_at_us - jobs[i - 1].permit.slot_at_us, 9990,
                      "1000 tokens take 10 ms");
    cr_expect_eq(left_of("model", 0, "requests"), 100 - 11);
    cr_expect_eq(left_of("model", 2, "images"), 500 - 10 * 7 - 2, "one has taken the default");
    cr_assert_eq(takt_settle(&cheap.permit, &other, &(takt_amount){"images", 40}, 1), 0);
    wait_left("model", 2, "images", 500 - 10 * 7 - 40);
    cr_assert_eq(takt_lower(clients[1], &call, "model", NULL, "images", 9, take_answer), 0);
    wait_answer();
    cr_expect_eq(left_of("model", 2, "images"), 9);
    cr_expect_eq(left_of("model", 0, "requests"), 100 - 11);
}

Test(relay, tries_and_permits_of_several_units)
{
    takt_request request = TAKT_REQUEST("held");
    takt_call call = {0};
    static takt_permit permits[3];
    static job waiter;

    request.amounts[0] = (takt_amount){"tokens", 10};
    request.amounts[1] = (takt_amount){"images", 200};
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(takt_try_acquire(clients[i], &call, &permits[i], &request, take_answer), 0);
        wait_answer();
        cr_expect_eq(call_status, i < 2 ? 0 : TAKT_E_NO_SLOT);
    }
    cr_expect_eq(left_of("held", 2, "images"), 100);
    request.amounts[1].amount = 30;
    waiter.permit.data = &waiter;
    cr_assert_eq(takt_acquire(clients[2], &waiter.permit, &request, note), 0);
    takt_release(&permits[0]);
    wait_for(&waiter);
    cr_expect_eq(waiter.status, 0);
    cr_expect_gt(waiter.permit.fence, permits[1].fence);
    cr_expect_eq(left_of("held", 2, "images"), 70);
    cr_assert_eq(takt_settle(&waiter.permit, &request, NULL, 0), 0); /* not begun */
    wait_left("held", 2, "images", 100);
    request.amounts[1].amount = 101;
    cr_assert_eq(takt_try_acquire(clients[0], &call, &permits[2], &request, take_answer), 0);
    wait_answer();
    cr_expect_eq(call_status, TAKT_E_NO_SLOT);
    takt_release(&waiter.permit);
    takt_release(&permits[1]);
}

Test(relay, a_program_with_many_waiters_does_not_hold_up_one_with_few)
{
    static job many[400], few[3];

    for (int i = 0; i < 400; i++)
        ask(0, "fast", "f", &many[i]);
    wait_for(&many[0]);
    for (int i = 0; i < 3; i++)
        ask(1, "fast", "f", &few[i]);
    wait_all(few, 3);
    /* the 50 slots in hand may come due at once */
    cr_expect_leq(few[2].order, 80, "the last of the few was number %lld", (long long)few[2].order);
    for (int i = 0; i < 400; i++)
        takt_release(&many[i].permit);
}

/* How many of the jobs have slots in that span. */
static int slots_within(const job *jobs, int count, int64_t from_us, int64_t until_us)
{
    int found = 0;

    for (int i = 0; i < count; i++)
        found += jobs[i].permit.slot_at_us > from_us && jobs[i].permit.slot_at_us <= until_us;
    return found;
}

/* Two programs have work of one tenant, and one of them a little of another. */
Test(relay, tenants_take_turns_behind_the_agent)
{
    static job many[2][200], few[5];

    for (int program = 0; program < 2; program++)
        for (int i = 0; i < 200; i++)
            ask_for(program, "fair", "many", &many[program][i]);
    wait_for(&many[0][0]);
    for (int i = 0; i < 5; i++)
        ask_for(0, "fair", "few", &few[i]);
    wait_all(few, 5);
    wait_all(many[0], 200);
    wait_all(many[1], 200);
    for (int program = 0; program < 2; program++)
        cr_expect_leq(
            slots_within(many[program], 200, few[0].permit.slot_at_us, few[4].permit.slot_at_us),
            40, "in turns with the few, as far as the loop is on time");
}

Test(relay, weights_are_those_of_the_programs)
{
    static job heavy[150], light[150];

    for (int i = 0; i < 150; i++) {
        ask_for(0, "fair", "a", &heavy[i]);
        ask_for(1, "fair", NULL, &light[i]);
    }
    wait_all(heavy, 150);
    wait_all(light, 150);
    cr_expect_leq(slots_within(light, 150, 0, heavy[119].permit.slot_at_us), 80,
                  "a third of the 120, and some turns");
    cr_expect_geq(slots_within(light, 150, 0, heavy[119].permit.slot_at_us), 10);
}

/* The agent holds permits for each tenant of each program. */
/* ---- what a settled call says, at the agent's store --------------------------------------------
 */

static const takt_store_kind *agent_kind;
static char payer[TAKT_TENANT_SIZE_MAX + 1];
static takt_store_call settled;

static void note_settled(takt_store *store, takt_store_call *call)
{
    if (call->op == TAKT_OP_SETTLE) {
        settled = *call;
        strcpy(payer, call->tenant ? call->tenant : "nobody");
    }
    agent_kind->submit(store, call);
}

static void settle_for(const char *limit, const char *tenant, const char *expected)
{
    static job done;
    takt_request request = TAKT_REQUEST(limit);
    takt_amount used = {NULL, 25};

    request.tenant = tenant;
    request.priority = 3;
    done = (job){.permit.data = &done};
    payer[0] = '\0';
    cr_assert_eq(takt_acquire(clients[0], &done.permit, &request, note), 0);
    wait_for(&done);
    cr_assert_eq(takt_settle(&done.permit, &request, &used, 1), 0);
    takt_release(&done.permit);
    while (payer[0] == '\0')
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect_str_eq(payer, expected);
    cr_expect_eq(settled.actual - settled.cost, 24);
}

Test(relay, a_tenant_pays_for_what_its_work_has_used)
{
    takt_store_kind spy;

    agent_kind = agent.client->store->kind;
    spy = *agent_kind;
    spy.submit = note_settled;
    agent.client->store->kind = &spy;
    settle_for("fair", "a", "a");
    cr_expect_eq(settled.tenant_weight, 3);
    cr_expect_eq(settled.priority, 3);
    settle_for("free", "a", "nobody");
    settle_for("fair", "b", "b");
    cr_expect_eq(settled.tenant_weight, 1);
    agent.client->store->kind = agent_kind;
}

/* Reports to all programs that a waiter of a ledger is refused. */
static void report_refusal(const char *limit, const char *key, size_t key_size)
{
    static const char numbers[] = "0 0 0 0 0 0 0 1 0 0 0 ";
    const char *words[] = {"report", limit, key, numbers, ""};
    const size_t sizes[] = {6, strlen(limit), key_size, strlen(numbers), 0};
    takt_resp_out out = {0};

    cr_assert(takt_resp_command(&out, 5, words, sizes));
    for (stand_in_connection *at = agent.connections; at; at = at->next)
        stand_in_write(at, out.bytes, out.size);
    free(out.bytes);
}

/* A program sends back what has come for a ledger of which it wants nothing.  No statement can name
 * a ledger by a name that is too long or malformed, or one of limits that it has not stated: the
 * agent would end the connection. */
Test(relay, what_comes_for_no_ledger_is_not_sent_back)
{
    static const struct {
        const char *limit, *key;
        size_t size;
    } cases[] = {{"free", "k\0\0free", 7},
                 {"free", "k\0\0nowhere\0x", 12},
                 {"nowhere", "k", 1},
                 {"a-name-that-is-longer-than-the-name-of-any-limit-can-be-in-a-policy", "k", 1},
                 {"free", "k", 1}}; /* this one is */
    static job first, held, waiting, next;
    int wants;

    ask(0, "free", NULL, &first); /* it has stated the limit */
    wait_for(&first);
    ask(0, "outer", NULL, &held);
    wait_for(&held);
    ask(0, "outer", NULL, &waiting); /* so that it reads what comes */
    for (int turn = 0; turn < 50; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    wants = agent.wants;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        report_refusal(cases[i].limit, cases[i].key, cases[i].size);
    while (agent.wants == wants)
        uv_run(&loop, UV_RUN_ONCE);
    ask(0, "free", "other", &next);
    wait_for(&next);
    cr_expect_eq(next.status, 0);
    cr_expect_leq(agent.wants, wants + 3, "%d: that, the work and its end", agent.wants - wants);
    cr_expect_eq(events[0], 0, "%x", events[0]);
    takt_release(&waiting.permit);
    takt_release(&held.permit);
}

/* Without it this waiter would fail at its deadline. */
Test(relay, a_report_says_when_the_next_slot_is)
{
    static job first, late, patient;
    takt_request request = TAKT_REQUEST("small");

    ask(0, "small", NULL, &first);
    wait_for(&first);
    request.max_wait_us = INT64_C(7200000000);
    patient.permit.data = &patient;
    cr_assert_eq(takt_acquire(clients[1], &patient.permit, &request, note), 0);
    request.max_wait_us = INT64_C(600000000);
    late.permit.data = &late;
    cr_assert_eq(takt_acquire(clients[0], &late.permit, &request, note), 0);
    wait_for(&late);
    cr_expect_eq(late.status, TAKT_E_DEADLINE, "%d", late.status);
    cr_expect(late.permit.retry_after_us > INT64_C(3000000000) &&
                  late.permit.retry_after_us <= INT64_C(7200000000),
              "%lld", (long long)late.permit.retry_after_us);
    cr_expect_eq(patient.calls, 0);
    takt_release(&patient.permit);
}

Test(relay, tenants_hold_permits_and_try_for_them)
{
    static takt_permit permit;
    static job first, second;
    takt_call call = {0};
    takt_request request = TAKT_REQUEST("permits");

    request.tenant = "a";
    cr_assert_eq(takt_try_acquire(clients[0], &call, &permit, &request, take_answer), 0);
    wait_answer();
    cr_assert_eq(call_status, 0);
    ask_for(0, "permits", "b", &first);
    wait_for(&first);
    ask_for(1, "permits", "b", &second);
    takt_release(&permit);
    wait_for(&second);
    cr_expect(takt_is_held(&first.permit));
    cr_expect(takt_is_held(&second.permit));
    takt_release(&first.permit);
    takt_release(&second.permit);
}

Test(relay, programs_go_on_with_another_agent_and_know_what_they_have_lost)
{
    static job held, waiting, next;

    ask(0, "outer", NULL, &held);
    wait_for(&held);
    ask(1, "outer", NULL, &waiting);
    ask(2, "hourly", "x", &next);
    wait_for(&next);
    stand_in_stop_listening(&agent);
    while (!(events[1] & 1U << TAKT_EVENT_STORE_LOST))
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect_eq(waiting.calls, 0);
    stand_in_listen(&agent);
    wait_for(&waiting);
    cr_expect_eq(waiting.status, 0);
    cr_expect_gt(waiting.permit.fence, held.permit.fence);
    while (!(events[0] & 1U << TAKT_EVENT_PERMIT_LOST))
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect_not(takt_is_held(&held.permit));
    takt_release(&held.permit);
    takt_release(&waiting.permit);
}

Test(relay, where_no_agent_answers_the_error_says_how_to_start_one)
{
    static job waits;

    stand_in_stop_listening(&agent);
    ask(0, "fast", NULL, &waits);
    while (!(events[0] & 1U << TAKT_EVENT_STORE_LOST))
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(strstr(store_lost, "no agent answers at") != NULL, "%s", store_lost);
    cr_expect(strstr(store_lost, "takt-agent") != NULL, "%s", store_lost);
    stand_in_listen(&agent);
    wait_for(&waits);
    cr_expect_eq(waits.status, 0);
}

Test(relay, another_namespace_is_refused_with_words)
{
    takt_options options = {
        .store = agent.url, .name_space = "other", .on_event = on_event, .data = &clients[0]};
    takt_error error;
    static job waits;

    close_client(0);
    cr_assert_eq(takt_open(&clients[0], &loop, policy, &options, &error), 0);
    ask(0, "fast", NULL, &waits);
    while (!(events[0] & 1U << TAKT_EVENT_STORE_LOST))
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(strstr(store_lost, ": this agent serves the namespace \"default\", but the program's "
                                 "is \"other\"") != NULL,
              "%s", store_lost);
    cr_expect_null(strstr(store_lost, "no agent answers"), "%s", store_lost);
    takt_release(&waits.permit);
}

static int64_t waiting_at_agent(void)
{
    takt_stats stats;

    takt_get_stats(agent.client, &stats);
    return stats.waiting;
}

Test(relay, programs_release_what_they_hold_while_the_agent_drains)
{
    static job held, waits;
    static takt_permit tries;
    static takt_call call;
    takt_request request = TAKT_REQUEST("hourly");

    ask(0, "outer", NULL, &held);
    wait_for(&held);
    ask(1, "outer", NULL, &waits);
    while (waiting_at_agent() == 0)
        uv_run(&loop, UV_RUN_ONCE);
    takt_relays_drain(agent.relays);
    while (!(events[1] & 1U << TAKT_EVENT_STORE_LOST))
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(strstr(store_lost, "the agent is shutting down") != NULL, "%s", store_lost);
    cr_expect_eq(waits.calls, 0);
    cr_expect_eq(waiting_at_agent(), 0);
    cr_assert_eq(takt_try_acquire(clients[2], &call, &tries, &request, take_answer), 0);
    wait_answer();
    cr_expect_eq(call_status, TAKT_E_STORE);
    cr_expect_eq(takt_relays_held(agent.relays), 1);
    takt_release(&held.permit);
    while (takt_relays_held(agent.relays) > 0)
        uv_run(&loop, UV_RUN_ONCE);
    takt_release(&waits.permit);
}

/* A program that sends what no client of this library does. */
typedef struct raw {
    takt_relay *relay;
    int fails, answers;
} raw;

static void hear(void *data, const char *bytes, size_t size)
{
    raw *program = data;

    program->fails += size > 14 && memcmp(bytes, "*5\r\n$4\r\nfail\r\n", 14) == 0;
    program->answers += size > 16 && memcmp(bytes, "*5\r\n$6\r\nanswer\r\n", 16) == 0;
}

/* Sends a command of these words; NULL ends them. */
static int tell(raw *program, const char *const *words)
{
    size_t sizes[8];
    int count = 0;
    takt_error error;

    for (; words[count] != NULL; count++)
        sizes[count] = strlen(words[count]);
    return takt_relay_command(program->relay, count, words, sizes, &error);
}

#define TELL(program, ...) tell(program, (const char *const[]){"RELAY", __VA_ARGS__, NULL})

static void open_raw(raw *program, const char *limit)
{
    char version[12], numbers[TAKT_RELAY_TEXT_SIZE + 1];

    *program = (raw){0};
    cr_assert_eq(takt_relay_open(&program->relay, agent.relays, hear, program), 0);
    snprintf(version, sizeof version, "%d", TAKT_RELAY_VERSION);
    cr_assert_eq(TELL(program, "OPEN", version, "default"), 0);
    numbers[takt_relay_write_numbers(&takt_policy_find(policy, limit)->numbers, numbers)] = '\0';
    cr_assert_eq(TELL(program, "LIMIT", "1", limit, numbers), 0);
}

Test(relay, a_program_of_another_version_is_refused)
{
    const char *words[] = {"RELAY", "OPEN", "2", "default"};
    const size_t sizes[] = {5, 4, 1, 7};
    raw program = {0};
    takt_error error = {0};

    cr_assert_eq(takt_relay_open(&program.relay, agent.relays, hear, &program), 0);
    cr_expect_eq(takt_relay_command(program.relay, 4, words, sizes, &error), TAKT_E_INVALID);
    cr_expect_not_null(strstr(error.text, "update the older one"), "%s", error.text);
    cr_expect_eq(TELL(&program, "WANT", "1", "", "1 0 0 0 0 1 1 4 "), TAKT_E_INVALID);
    takt_relay_close(program.relay);
}

Test(relay, a_program_does_not_fill_the_memory_of_the_agent_with_waiters)
{
    raw program;

    open_raw(&program, "small");
    cr_expect_eq(TELL(&program, "WANT", "1", "", "1 0 0 0 0 1000001 1 4 "), 0);
    while (program.fails == 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect_eq(waiting_at_agent(), 0);
    cr_expect_eq(TELL(&program, "WANT", "1", "", "2 0 0 0 0 3000000000 1 4 "), TAKT_E_INVALID);
    takt_relay_close(program.relay);
}

Test(relay, a_program_with_many_calls_under_way_is_busy_until_they_are_answered)
{
    char number[12], peek[32];
    raw program;
    int sent = 0;

    open_raw(&program, "hourly");
    snprintf(peek, sizeof peek, "%d 0 0 0 0 0 ", TAKT_OP_PEEK);
    while (!takt_relay_is_busy(program.relay)) {
        snprintf(number, sizeof number, "%d", ++sent);
        cr_assert_eq(TELL(&program, "CALL", number, "1", "", peek, ""), 0);
        cr_assert_leq(sent, 1000);
    }
    cr_expect_eq(program.answers, 0);
    while (program.answers < sent)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect_not(takt_relay_is_busy(program.relay));
    cr_expect_not(takt_relay_is_busy(NULL));
    takt_relay_close(program.relay);
}

Test(relay, an_agent_has_no_parameters)
{
    takt_options options = {.store = "agent:/run/takt/agent.sock?timeout=5s"};
    takt_client *opened = NULL;
    takt_error error;

    cr_assert_eq(takt_open(&opened, &loop, policy, &options, &error), TAKT_E_STORE_URL);
    cr_expect(strstr(error.text, "\"?timeout=5s\": remove it") != NULL, "%s", error.text);
    cr_expect_null(opened);
}
