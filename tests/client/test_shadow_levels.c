/*
 * Limits in shadow among nested limits, over memory and over a real server: the limits that enforce
 * decide as if the others were not there, those in shadow are one decision that begins when work
 * starts, and a policy may change which of them enforce while work waits.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "client/client.h"
#include "scheduler/queue.h"

#include "client/calls.h"
#include "client/stores.h"

#define JOBS 100
#define MS   1000

#define LIMITS(team, domain, gate, door, mail, send, vendor)                                       \
    "limits:\n"                                                                                    \
    "  - {name: user, rules: [{rate: 800/day, burst: 800}], within: team}\n"                       \
    "  - {name: team, mode: " team ", rules: [{rate: 1/day, burst: 9}], within: domain}\n"         \
    "  - {name: domain, mode: " domain ", rules: [{rate: 800/day, burst: 800}], within: whole}\n"  \
    "  - {name: whole, rules: [{rate: 5/s}]}\n"                                                    \
    "  - {name: job, rules: [{rate: 90/day, burst: 90}], within: gate}\n"                          \
    "  - {name: gate, mode: " gate ", rules: [{rate: 1/day}], within: door}\n"                     \
    "  - {name: door, mode: " door ", rules: [{rate: 90/day, burst: 90}]}\n"                       \
    "  - {name: work, mode: shadow, concurrency: 1, within: place}\n"                              \
    "  - {name: place, mode: shadow, concurrency: 2}\n"                                            \
    "  - {name: call, within: vendor, mode: shadow, rules: [\n"                                    \
    "      {rate: 200/day, counts: output, burst: 200},\n"                                         \
    "      {rate: 90/day, counts: images, burst: 90}]}\n"                                          \
    "  - {name: vendor, mode: " vendor ", rules: [\n"                                              \
    "      {rate: 5000/day, counts: input, burst: 5000},\n"                                        \
    "      {rate: 800/day, counts: output, burst: 800}]}\n"                                        \
    "  - {name: mail, mode: " mail ", rules: [{rate: 5/day, burst: 5}], within: send}\n"           \
    "  - {name: send, mode: " send ", rules: [{rate: 50/s}, {rate: 800/day, burst: 800}]}\n"       \
    "  - {name: room, concurrency: 1, within: house}\n"                                            \
    "  - {name: house, mode: " mail ", concurrency: 1}\n"

#define E "enforce"
#define S "shadow"

static const char *const texts[] = {
    LIMITS(S, S, S, E, S, E, S), /* what the tests begin with */
    LIMITS(S, S, E, E, S, E, S), /* the gate enforces */
    LIMITS(S, S, S, S, S, E, S), /* gate and door are in shadow */
    LIMITS(E, S, S, E, E, E, S), /* the team and mail enforce */
    LIMITS(S, S, S, E, S, S, E), /* mail and send are in shadow, and the vendor enforces */
};
enum { AT_FIRST, GATE_ENFORCES, BOTH_IN_SHADOW, INNER_ENFORCE, OTHERS_ENFORCE, POLICIES };
static int kinds[] = {MEMORY, REDIS};
static takt_policy *policies[POLICIES];
static uv_timer_t alive; /* shadow waiters keep no loop alive: it is the test that waits for them */
static seen jobs[JOBS];

#define EACH_STORE(test)                                                                           \
    ParameterizedTestParameters(shadow_levels, test)                                               \
    {                                                                                              \
        return cr_make_param_array(int, kinds, 2);                                                 \
    }                                                                                              \
    ParameterizedTest(const int *kind, shadow_levels, test, .timeout = 60)

static void never(uv_timer_t *timer)
{
    (void)timer;
}

static void begin(int kind)
{
    takt_options options = {.store_timeout_us = 20000 * MS, .on_event = note_event};
    takt_error error = {0};

    options.store = open_store(kind);
    cr_assert_eq(uv_loop_init(&loop), 0);
    uv_timer_init(&loop, &alive);
    uv_timer_start(&alive, never, 3600 * 1000, 0);
    for (int i = 0; i < POLICIES; i++)
        cr_assert_eq(takt_policy_parse(&policies[i], "p", texts[i], strlen(texts[i]), &error), 0,
                     "%s", error.text);
    cr_assert_eq(takt_open(&client, &loop, policies[AT_FIRST], &options, &error), 0, "%s",
                 error.text);
}

static void end(int kind)
{
    uv_close((uv_handle_t *)&alive, NULL);
    close_client();
    for (int i = 0; i < POLICIES; i++)
        takt_policy_free(policies[i]);
    close_store(kind);
}

static void acquire_many(seen *of, int count, const char *limit, int64_t max_wait_us)
{
    takt_request request = TAKT_REQUEST(limit);

    request.max_wait_us = max_wait_us;
    for (int i = 0; i < count; i++)
        cr_assert_eq(acquire(&of[i], request), 0);
}

static takt_standing standing_of(const char *limit)
{
    takt_call call = {0};

    run_call(takt_peek(client, &call, limit, NULL, note_call));
    return last.standing;
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
        uv_run(&loop, UV_RUN_ONCE);
}

static void until_left(const char *limit, int64_t remaining)
{
    while (standing_of(limit).remaining != remaining)
        continue;
}

/* What gives up has taken nothing, of no level: the user's and the whole's slot is one. */
EACH_STORE(levels_around_those_in_shadow_are_one_decision)
{
    int started = 0;

    begin(*kind);
    acquire_many(jobs, 60, "user", 900 * MS);
    cr_assert_not_null(jobs[0].permit.queue->nest);
    cr_expect_eq(jobs[0].permit.queue->nest->count, 1);
    cr_expect_str_eq(jobs[0].permit.queue->limit->name, "whole");
    run_until(60);
    for (int i = 0; i < 60; i++) {
        started += jobs[i].status == 0;
        cr_expect(jobs[i].status == 0 || jobs[i].status == TAKT_E_DEADLINE);
    }
    cr_expect_leq(started, 6);
    until_granted("team", started);
    /* slots may have passed while the machine was busy: of 900 ms there are six */
    while (standing_of("user").remaining < 800 - 6)
        continue;
    cr_expect_eq(told("team").acquires, started, "only work that started is measured");
    cr_expect_eq(told("domain").acquires, started);
    cr_expect_eq(standing_of("team").remaining, 9 - started);
    cr_expect_eq(standing_of("domain").remaining, 800 - started);
    end(*kind);
}

/* The team has nine tokens, so the tenth shadow waiter takes none of the domain. */
EACH_STORE(levels_in_shadow_are_one_decision)
{
    begin(*kind);
    acquire_many(jobs, 12, "user", 0);
    run_until(12);
    until_granted("team", 9);
    while (told("team").waiting < 3)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect_eq(granted("domain"), 9);
    cr_expect_eq(told("domain").waiting, 3);
    cr_expect_eq(standing_of("domain").remaining, 791);
    cr_expect_geq(standing_of("team").waiting, 1);
    for (int i = 1; i < 12; i++)
        cr_expect_geq(jobs[i].permit.slot_at_us - jobs[i - 1].permit.slot_at_us, 200 * MS);
    end(*kind);
}

/* Those that enforce take back by the work's slot, those in shadow by that of its shadow waiter. */
EACH_STORE(every_level_takes_back_what_work_has_not_used)
{
    takt_request request = TAKT_REQUEST("user");

    begin(*kind);
    request.cost = 1;
    cr_assert_eq(acquire(&jobs[0], request), 0);
    run_until(1);
    until_granted("team", 1);
    cr_expect_eq(takt_settle(&jobs[0].permit, &request, NULL, 0), 0, "not begun");
    until_left("user", 800);
    until_left("team", 9);
    until_left("domain", 800);
    request = TAKT_REQUEST("job");
    request.cost = 1;
    cr_assert_eq(acquire(&jobs[1], request), 0);
    run_until(2);
    until_granted("gate", 1);
    cr_expect_eq(takt_settle(&jobs[1].permit, &request, TAKT_USED(0)), 0);
    until_left("job", 90);
    until_left("gate", 1);
    until_left("door", 90);
    end(*kind);
}

static void until_both_left(const char *limit, int64_t first, int64_t second)
{
    takt_standing standing;

    do
        standing = standing_of(limit);
    while (standing.rules[0].remaining != first || standing.rules[1].remaining != second);
}

static takt_request call_of_three(void)
{
    takt_request request = TAKT_REQUEST("call");

    request.amounts[0] = (takt_amount){"input", 700};
    request.amounts[1] = (takt_amount){"output", 30};
    request.amounts[2] = (takt_amount){"images", 4};
    return request;
}

/* The levels number their units differently; the first report comes before the slot is there. */
EACH_STORE(what_work_has_used_waits_for_the_slot)
{
    const takt_amount used[] = {{"output", 10}, {"images", 1}};
    takt_request request = call_of_three();

    begin(*kind);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(acquire(&jobs[i], request), 0);
        run_until(i + 1);
        if (i > 0)
            until_granted("call", i + 1);
        cr_expect_eq(takt_settle(&jobs[i].permit, &request, used, 2), 0);
        until_granted("vendor", i + 1);
        until_both_left("call", 200 - (i + 1) * 10, 90 - (i + 1));
        until_both_left("vendor", 5000 - (i + 1) * 700, 800 - (i + 1) * 10);
    }
    end(*kind);
}

/* What the client sends to its store. */
static const takt_store_kind *kind_of_store;
static takt_store_kind spy;

static void spy_on(void (*submit)(takt_store *store, takt_store_call *call))
{
    kind_of_store = client->store->kind;
    spy = *kind_of_store;
    spy.submit = submit;
    client->store->kind = &spy;
}

static void spy_off(void)
{
    client->store->kind = kind_of_store;
}

static int settled;

static void count_settled(takt_store *store, takt_store_call *call)
{
    settled += call->op == TAKT_OP_SETTLE;
    kind_of_store->submit(store, call);
}

/* The vendor does not count images. */
EACH_STORE(a_level_of_which_work_has_used_what_it_took_is_not_asked)
{
    const takt_amount used[] = {{"images", 1}};
    takt_request request = call_of_three();

    begin(*kind);
    spy_on(count_settled);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(acquire(&jobs[i], request), 0);
        run_until(i + 1);
        if (i > 0)
            until_granted("call", i + 1);
        cr_expect_eq(takt_settle(&jobs[i].permit, &request, used, 1), 0);
        until_granted("call", i + 1);
        until_both_left("call", 200 - (i + 1) * 30, 90 - (i + 1));
        cr_expect_eq(settled, i + 1, "%d", settled);
    }
    spy_off();
    end(*kind);
}

EACH_STORE(permits_of_levels_in_shadow_are_held_as_long_as_the_work_runs)
{
    begin(*kind);
    acquire_many(jobs, 2, "work", 0);
    run_until(2);
    until_granted("work", 1);
    cr_expect_eq(granted("place"), 1, "the second one waits for both");
    cr_expect_eq(standing_of("place").held, 1);
    takt_release(&jobs[0].permit);
    until_granted("work", 2);
    cr_expect_eq(standing_of("place").held, 1);
    takt_release(&jobs[1].permit);
    while (standing_of("place").held + standing_of("work").held > 0)
        continue;
    end(*kind);
}

/* A try takes from the limits that enforce first: where one refuses, no shadow is asked.  Those of
 * each mode are one call, and one in shadow that refuses refuses for the others, too. */
EACH_STORE(tries_ask_the_levels_in_shadow_last)
{
    takt_call call = {0};
    static takt_permit permits[12];
    takt_stats before, after;

    begin(*kind);
    takt_get_stats(client, &before);
    run_call(takt_try_acquire(client, &call, &permits[0], &TAKT_REQUEST("user"), note_call));
    takt_get_stats(client, &after);
    cr_assert_eq(last.status, 0);
    cr_expect_eq(after.store_calls - before.store_calls, 2);
    cr_expect_eq(permits[0].slot_at_us, last.standing.now_us);
    run_call(takt_try_acquire(client, &call, &permits[1], &TAKT_REQUEST("user"), note_call));
    cr_assert_eq(last.status, TAKT_E_NO_SLOT);
    cr_expect_eq(told("team").tries, 1);
    cr_expect_eq(told("domain").tries, 1);
    cr_expect_eq(standing_of("user").remaining, 799);
    cr_expect_eq(standing_of("team").remaining, 8);
    run_call(takt_try_acquire(client, &call, &permits[2], &TAKT_REQUEST("work"), note_call));
    cr_assert_eq(last.status, 0);
    cr_expect_eq(permits[2].slot_at_us, 0, "limits in shadow alone");
    cr_expect_eq(standing_of("work").held, 1);
    cr_expect_eq(standing_of("place").held, 1, "its shadow waiter holds both");
    run_call(takt_try_acquire(client, &call, &permits[3], &TAKT_REQUEST("work"), note_call));
    cr_assert_eq(last.status, 0, "there is one place");
    cr_expect_eq(told("work").tries, 2);
    cr_expect_eq(told("work").tries_refused, 1);
    cr_expect_eq(told("place").tries_refused, 1);
    cr_expect_eq(standing_of("work").held, 1, "refused, and nothing is held");
    takt_release(&permits[3]);
    takt_release(&permits[2]);
    while (standing_of("place").held + standing_of("work").held > 0)
        continue;
    end(*kind);
}

static void (*told_the_try)(takt_store_call *call);

static void without_memory(takt_store_call *call)
{
    call->status = TAKT_E_NOMEM;
    told_the_try(call);
}

static void forget_those_in_shadow(takt_store *store, takt_store_call *call)
{
    if (call->op == TAKT_OP_TRY && call->limit->mode == TAKT_MODE_SHADOW) {
        told_the_try = call->done;
        call->done = without_memory;
    }
    kind_of_store->submit(store, call);
}

/* Without memory for the call to the limits in shadow the others decide alone, and keep what they
 * gave. */
Test(shadow_levels, a_try_passes_those_in_shadow_without_an_answer)
{
    static takt_permit permits[2];
    takt_call call = {0};

    begin(MEMORY);
    spy_on(forget_those_in_shadow);
    run_call(takt_try_acquire(client, &call, &permits[0], &TAKT_REQUEST("user"), note_call));
    cr_assert_eq(last.status, 0);
    cr_expect_eq(last.standing.remaining, 0, "of the whole, which enforces");
    cr_expect_eq(permits[0].slot_at_us, last.standing.now_us);
    cr_expect_eq(standing_of("user").remaining, 799);
    cr_expect_eq(told("team").tries, 0);
    run_call(takt_try_acquire(client, &call, &permits[1], &TAKT_REQUEST("work"), note_call));
    cr_assert_eq(last.status, 0, "none enforces");
    cr_expect_not(last.answered);
    cr_expect_eq(permits[1].slot_at_us, 0);
    takt_release(&permits[0]);
    takt_release(&permits[1]);
    spy_off();
    end(MEMORY);
}

static void reload(int which)
{
    takt_error error = {0};

    cr_assert_eq(takt_reload(client, policies[which], &error), 0, "%s", error.text);
}

static void until_it_waits_at(const seen *job, const char *limit)
{
    while (strcmp(job->permit.queue->limit->name, limit) != 0)
        uv_run(&loop, UV_RUN_ONCE);
}

/* The gate gives one token a day.  Work that comes under the new policy waits for all three in one
 * decision; back in shadow, the gate holds up nothing. */
EACH_STORE(a_policy_makes_a_level_enforce_while_work_waits)
{
    takt_call call = {0};

    begin(*kind);
    run_call(takt_block(client, &call, "door", NULL, 300 * MS, NULL, note_call));
    acquire_many(jobs, 2, "job", 0);
    reload(GATE_ENFORCES);
    acquire_many(&jobs[2], 1, "job", 0);
    cr_expect_eq(jobs[2].permit.queue->nest->count, 2);
    run_until(1);
    cr_expect_eq(told("gate").acquires, 0, "it was to pass the gate itself");
    while (standing_of("gate").waiting < 1)
        continue;
    reload(AT_FIRST);
    run_until(3);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(jobs[i].status, 0, "job %d", i);
    cr_expect_eq(told("gate").acquires, 2, "those that were held up");
    until_left("job", 87);
    end(*kind);
}

EACH_STORE(a_policy_puts_the_level_into_shadow_that_holds_up_work)
{
    begin(*kind);
    reload(GATE_ENFORCES);
    acquire_many(jobs, 3, "job", 0);
    run_until(1);
    cr_expect_eq(jobs[1].permit.queue->nest->count, 2);
    reload(AT_FIRST);
    run_until(3);
    cr_expect_eq(told("gate").acquires, 2);
    cr_expect_eq(told("door").acquires, 0);
    reload(GATE_ENFORCES);
    acquire_many(&jobs[3], 1, "job", 0);
    reload(BOTH_IN_SHADOW);
    run_until(4);
    cr_expect_eq(told("gate").acquires, 3);
    end(*kind);
}

EACH_STORE(work_that_is_cancelled_or_released_leaves_no_shadow)
{
    takt_call call = {0};

    begin(*kind);
    run_call(takt_block(client, &call, "door", NULL, 3600000 * (int64_t)MS, NULL, note_call));
    acquire_many(jobs, 2, "job", 0);
    until_it_waits_at(&jobs[0], "door");
    cr_expect_eq(takt_cancel(&jobs[0].permit), 0);
    takt_release(&jobs[1].permit);
    run_until(1);
    cr_expect_eq(jobs[0].status, TAKT_E_CANCELED);
    cr_expect_eq(told("gate").acquires, 0);
    until_left("job", 90);
    end(*kind);
}

/* ---- a policy changes the modes while work waits: it waits as new work does ------------------ */

static void count_started(int count, int *started, int status)
{
    run_until(count);
    *started = 0;
    for (int i = 0; i < count; i++) {
        *started += jobs[i].status == 0;
        cr_expect(jobs[i].status == 0 || jobs[i].status == status, "%d: %d", i, jobs[i].status);
    }
}

static void until_second_left(const char *limit, int64_t remaining)
{
    while (standing_of(limit).rules[1].remaining != remaining)
        continue;
}

/* Mail gives five tokens, so the others give up: they have taken nothing of what is around it. */
EACH_STORE(a_level_that_enforces_now_is_decided_with_the_others)
{
    int started;

    begin(*kind);
    acquire_many(jobs, JOBS, "mail", 1500 * MS);
    cr_expect_null(jobs[0].permit.queue->nest, "it waits for one limit");
    reload(INNER_ENFORCE);
    for (int i = 0; i < JOBS; i++) {
        cr_assert_not_null(jobs[i].permit.queue->nest);
        cr_expect_eq(jobs[i].permit.queue, jobs[0].permit.queue);
        cr_expect_null(jobs[i].permit.shadow_queue);
    }
    count_started(JOBS, &started, TAKT_E_DEADLINE);
    cr_expect(started >= 1 && started <= 5, "%d", started);
    for (int i = 1; i < started; i++) {
        cr_expect_gt(jobs[i].order, jobs[i - 1].order, "the first come first");
        cr_expect_geq(jobs[i].permit.slot_at_us - jobs[i - 1].permit.slot_at_us, 20 * MS);
    }
    until_left("mail", 5 - started);
    until_second_left("send", 800 - started);
    cr_expect_eq(told("mail").acquires, 0, "it was never in shadow for work that started");
    end(*kind);
}

/* One of two limits in shadow enforces now; the other one stays in shadow. */
EACH_STORE(a_part_of_the_levels_in_shadow_enforces_now)
{
    int started;

    begin(*kind);
    acquire_many(jobs, 60, "user", 3000 * MS);
    reload(INNER_ENFORCE);
    cr_expect_eq(jobs[59].permit.queue->nest->count, 2);
    cr_expect_str_eq(jobs[59].permit.queue->nest->inner[1].limit->name, "team");
    cr_expect_str_eq(jobs[59].permit.shadow_queue->limit->name, "domain");
    count_started(60, &started, TAKT_E_DEADLINE);
    cr_expect(started >= 1 && started <= 9, "%d", started);
    until_left("team", 9 - started);
    until_left("user", 800 - started);
    until_granted("domain", started);
    cr_expect_eq(told("domain").acquires, started);
    cr_expect_eq(told("team").acquires, 0);
    end(*kind);
}

static void note_and_reload(takt_permit *permit, int status)
{
    note(permit, status);
    reload(GATE_ENFORCES);
}

/* The slots of all three are due in one pass; the first callback makes the gate enforce.  Its one
 * token goes to the next job, or to the shadow waiter of the first one. */
EACH_STORE(work_whose_callback_is_due_waits_for_a_level_that_enforces_now)
{
    int started;

    begin(*kind);
    jobs[0].permit.data = &jobs[0];
    cr_assert_eq(takt_acquire(client, &jobs[0].permit, &TAKT_REQUEST("job"), note_and_reload), 0);
    acquire_many(&jobs[1], 2, "job", 0);
    run_until(1);
    for (int i = 1; i < 3; i++)
        cr_expect_eq(jobs[i].permit.queue->nest->count, 2);
    while (order < 2 && granted("gate") < 1)
        uv_run(&loop, UV_RUN_ONCE);
    started = order;
    for (int i = 1; i < 3; i++)
        cr_expect_eq(takt_cancel(&jobs[i].permit), i < started ? TAKT_E_INVALID : 0);
    run_until(3);
    until_left("job", 90 - started);
    until_left("door", 90 - started);
    cr_expect_eq(told("gate").acquires, 1, "that of the first one");
    end(*kind);
}

/* No callback has come yet, so the work has not started. */
EACH_STORE(work_that_no_level_held_up_waits_for_those_that_enforce_now)
{
    int started;

    begin(*kind);
    reload(OTHERS_ENFORCE);
    acquire_many(jobs, 10, "mail", 1500 * MS);
    reload(INNER_ENFORCE);
    count_started(10, &started, TAKT_E_DEADLINE);
    cr_expect(started >= 1 && started <= 5, "%d", started);
    until_left("mail", 5 - started);
    until_second_left("send", 800 - started);
    cr_expect_eq(told("send").acquires, 0);
    end(*kind);
}

EACH_STORE(work_that_moves_keeps_its_place_and_its_deadline)
{
    static const int order_of[] = {3, 1, 4, 2, 5};
    takt_request request = TAKT_REQUEST("mail");
    takt_call call = {0};

    begin(*kind);
    run_call(takt_block(client, &call, "send", NULL, 3600000 * (int64_t)MS, NULL, note_call));
    for (int i = 0; i < 6; i++) {
        request.priority = i % 2 == 1 ? 2 : 5;
        request.max_wait_us = i == 5 ? 100 * MS : 0;
        cr_assert_eq(acquire(&jobs[i], request), 0);
    }
    reload(INNER_ENFORCE);
    run_until(1);
    cr_expect_eq(jobs[5].status, TAKT_E_DEADLINE);
    run_call(takt_unblock(client, &call, "send", NULL, note_call));
    run_until(6);
    for (int i = 0; i < 5; i++)
        cr_expect_eq(jobs[i].order, order_of[i] + 1, "job %d", i);
    end(*kind);
}

/* The gate gives one token at once. */
EACH_STORE(a_cost_that_a_level_never_gives_fails_once_it_enforces)
{
    takt_request request = TAKT_REQUEST("job");
    takt_call call = {0};

    begin(*kind);
    run_call(takt_block(client, &call, "door", NULL, 3600000 * (int64_t)MS, NULL, note_call));
    for (int i = 0; i < 2; i++) {
        request.cost = 2 - i;
        cr_assert_eq(acquire(&jobs[i], request), 0);
    }
    reload(GATE_ENFORCES);
    run_until(1);
    cr_expect_eq(jobs[0].status, TAKT_E_COST);
    cr_expect_eq(jobs[1].calls, 0);
    cr_expect_eq(standing_of("job").remaining, 90);
    end(*kind);
}

/* The levels number their units differently. */
EACH_STORE(what_work_takes_of_each_level_is_known_when_it_moves)
{
    takt_request request = call_of_three();
    takt_call call = {0};

    begin(*kind);
    reload(OTHERS_ENFORCE);
    run_call(takt_block(client, &call, "vendor", NULL, 3600000 * (int64_t)MS, NULL, note_call));
    for (int i = 0; i < 2; i++)
        cr_assert_eq(acquire(&jobs[i], request), 0);
    reload(AT_FIRST);
    run_until(2);
    run_call(takt_unblock(client, &call, "vendor", NULL, note_call));
    until_granted("call", 2);
    until_both_left("call", 200 - 60, 90 - 8);
    until_both_left("vendor", 5000 - 1400, 800 - 60);
    end(*kind);
}

/* It holds a permit of both; what waits moves to the queue of the room. */
EACH_STORE(a_permit_is_given_back_to_all_levels_that_it_was_taken_from)
{
    begin(*kind);
    reload(INNER_ENFORCE);
    acquire_many(jobs, 2, "room", 0);
    run_until(1);
    cr_expect_not_null(jobs[0].permit.queue->nest);
    reload(AT_FIRST);
    cr_expect_null(jobs[1].permit.queue->nest);
    cr_expect(takt_is_held(&jobs[0].permit));
    cr_expect_eq(standing_of("house").held, 1);
    takt_release(&jobs[0].permit);
    run_until(2);
    cr_expect_eq(jobs[1].status, 0);
    until_granted("house", 1);
    cr_expect_eq(standing_of("house").held, 1, "its shadow waiter's");
    takt_release(&jobs[1].permit);
    while (standing_of("room").held + standing_of("house").held > 0)
        continue;
    end(*kind);
}
