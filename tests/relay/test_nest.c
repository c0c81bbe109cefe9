/*
 * Nested limits in programs behind an agent: all levels are decided at once, as the agent's store
 * can, for the work of all programs together.
 */
#include "base/fail.h"
#include "policy/overrides.h"
#include "programs.h"
#include "scheduler/registry.h"
#include "store/agent/message.h"
#include "store/redis/cluster.h"

#define JOBS 120
#define MS   1000

static const char text[] =
    "limits:\n"
    "  - {name: domain, rules: [{rate: 50/s}], within: smtp}\n"
    "  - {name: smtp, rules: [{rate: 500/s}]}\n"
    "  - {name: free, rules: [{rate: 10/s, burst: 1000}], within: smtp}\n"
    "  - {name: site, concurrency: 2, within: all}\n"
    "  - {name: all, concurrency: 3, lease: 20s}\n"
    "  - {name: mailbox, rules: [{rate: 1000/s}], within: fair}\n"
    "  - {name: fair, rules: [{rate: 500/s}], lookahead: 10ms, fair: tenant, weights: {a: 3}}\n"
    "  - {name: seat, rules: [{rate: 500/s}], fair: tenant, weights: {a: 3}, within: hall}\n"
    "  - {name: hall, rules: [{rate: 1000/s}]}\n"
    "  - {name: desk, rules: [{rate: 500/s}], fair: tenant, weights: {a: 3}, within: fair}\n"
    "  - {name: late, rules: [{rate: 1/h}], within: smtp}\n"
    "  - {name: shut, rules: [{rate: 50/s}], within: smtp, on_store_failure: closed}\n"
    "  - {name: box, rules: [{rate: 1/h}], max_waiting: 2, within: smtp}\n"
    "  - {name: oldest, rules: [{rate: 1/h}], max_waiting: 2, when_full: drop-oldest, within: "
    "smtp}\n"
    "  - {name: lowest, rules: [{rate: 1/h}], max_waiting: 2, when_full: drop-lowest, within: "
    "smtp}\n"
    "  - {name: leak, rules: [{rate: 1/h, algorithm: leaky-bucket, queue: 2}], within: smtp}\n";

/* Keys of the outer limit and of the inner one have numbers of their own. */
static const char plans_text[] = "limits:\n"
                                 "  - name: room\n"
                                 "    rules: [{rate: 1000/s}]\n"
                                 "    concurrency: 1\n"
                                 "    within: account\n"
                                 "    overrides: [{key: slow, rules: [{rate: 200/s}]}]\n"
                                 "  - name: account\n"
                                 "    rules: [{rate: 500/s}]\n"
                                 "    overrides: [{key: gold, rules: [{rate: 2000/s}]}]\n";

/* The next policy: the site is in no other limit, the others in one more. */
static const char next_text[] = "revision: 2\n"
                                "limits:\n"
                                "  - {name: late, rules: [{rate: 1000/s}], within: smtp}\n"
                                "  - {name: domain, rules: [{rate: 50/s}], within: smtp}\n"
                                "  - {name: smtp, rules: [{rate: 500/s}], within: host}\n"
                                "  - {name: host, rules: [{rate: 25/s}]}\n"
                                "  - {name: site, concurrency: 2}\n"
                                "  - {name: all, concurrency: 3, lease: 20s}\n";

/* The team and the domain are in shadow. */
static const char shadow_text[] =
    "limits:\n"
    "  - {name: user, rules: [{rate: 800/day, burst: 800}], within: team}\n"
    "  - {name: team, mode: shadow, rules: [{rate: 1/day, burst: 5}], within: smtp}\n"
    "  - {name: smtp, rules: [{rate: 50/s}], within: domain}\n"
    "  - {name: domain, mode: shadow, rules: [{rate: 800/day, burst: 800}]}\n";

static job slow[JOBS], fast[JOBS];

#define EACH_STORE(test) EACH_STORE_OF(relay_nest, test)
#define IN_MEMORY(test)  Test(relay_nest, test, .timeout = 90)

static void begin(int kind)
{
    begin_with(kind, text);
}

/* Programs in turn. */
static void ask_all(const char *limit, const char *key, job *jobs, int count)
{
    for (int i = 0; i < count; i++)
        ask(i % PROGRAMS, limit, key, &jobs[i]);
}

static int compare_slots(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, two = *(const int64_t *)b;

    return (one > two) - (one < two);
}

/* The slots of granted work, in order, are so far apart at least. */
static void expect_apart(const job *jobs, int count, int64_t least_us)
{
    int64_t slots[JOBS];

    for (int i = 0; i < count; i++) {
        cr_assert_eq(jobs[i].status, 0, "job %d: %d", i, jobs[i].status);
        slots[i] = jobs[i].permit.slot_at_us;
    }
    qsort(slots, (size_t)count, sizeof *slots, compare_slots);
    for (int i = 1; i < count; i++)
        cr_expect_geq(slots[i] - slots[i - 1], least_us, "slot %d: %lld", i,
                      (long long)(slots[i] - slots[i - 1]));
}

static int64_t left_of(const char *limit, const char *key)
{
    takt_call call = {0};

    finish(takt_peek(clients[0], &call, limit, key, take_answer));
    return told.remaining;
}

static const takt_queue *queue_at_agent(const char *limit, const char *key)
{
    char name[64];
    int size = snprintf(name, sizeof name, "smtp%c%c%c%s%c%s", 0, 0, 0, limit, 0, key);

    return takt_registry_named(&agent.client->scheduler, name, (size_t)size);
}

/* ---- rules ----------------------------------------------------------------------------------- */

EACH_STORE(programs_wait_in_one_line_of_all_levels)
{
    static const char name[] = "smtp\0\0\0domain\0a.example";
    const takt_queue *queue;

    begin(*kind);
    ask_all("domain", "a.example", slow, 30);
    cr_expect_str_eq(slow[0].permit.queue->limit->name, "smtp");
    run_until(3);
    queue = takt_registry_named(&agent.client->scheduler, name, sizeof name - 1);
    cr_assert_not_null(queue);
    cr_expect_eq(queue->weight, PROGRAMS);
    cr_expect_str_eq(queue->turn->tenant, "a.example");
    run_until(30);
    expect_apart(slow, 30, 20 * MS);
    end(*kind);
}

static takt_shadow shadow_of(const char *limit)
{
    takt_shadow shadow;

    cr_assert_eq(takt_get_shadow(clients[0], limit, &shadow), 0);
    return shadow;
}

/* The agent has one line for the levels that enforce, and one for those in shadow. */
EACH_STORE(levels_in_shadow_are_one_decision_too)
{
    if (*kind == REDIS)
        server_start(&server, NULL);
    open_with(shadow_text, *kind == REDIS ? server.url : "memory:");
    for (int i = 0; i < 7; i++)
        ask(0, "user", NULL, &slow[i]);
    cr_expect_str_eq(slow[0].permit.queue->limit->name, "smtp");
    cr_assert_eq(slow[0].permit.queue->nest->count, 1);
    run_until(7);
    expect_apart(slow, 7, 20 * MS);
    while (shadow_of("team").waiting > 2 || shadow_of("team").acquires < 7)
        left_of("team", NULL);
    cr_expect_eq(shadow_of("domain").waiting, 2);
    cr_expect_eq(left_of("team", NULL), 0);
    cr_expect_eq(left_of("domain", NULL), 795, "what waits for the team has taken nothing here");
    end(*kind);
}

/* Neither the time without slots nor the pace of the outer limit is caught up by the inner one. */
EACH_STORE(a_block_of_the_outer_limit_gives_the_inner_one_no_burst)
{
    takt_call call = {0};
    int64_t blocked_at_us, ends_at_us;

    begin(*kind);
    ask_all("domain", "a.example", slow, 40);
    ask_all("domain", "b.example", fast, 40);
    run_until(10);
    finish(takt_block(clients[1], &call, "smtp", NULL, 400 * MS, NULL, take_answer));
    ends_at_us = told.blocked_until_us;
    blocked_at_us = told.now_us;
    run_until(80);
    expect_apart(slow, 40, 20 * MS);
    expect_apart(fast, 40, 20 * MS);
    for (int i = 0; i < 40; i++)
        cr_expect(slow[i].permit.slot_at_us <= blocked_at_us + 250 * MS ||
                  slow[i].permit.slot_at_us >= ends_at_us);
    end(*kind);
}

EACH_STORE(a_block_of_an_inner_key_holds_up_that_key_until_it_ends)
{
    takt_call call = {0};
    int64_t ended_at_us;

    begin(*kind);
    finish(takt_block(clients[2], &call, "domain", "a.example", INT64_C(3600000000), NULL,
                      take_answer));
    ask_all("domain", "a.example", slow, 6);
    ask_all("domain", "b.example", fast, 6);
    run_until(6);
    cr_expect_eq(slow[0].calls, 0);
    expect_apart(fast, 6, 20 * MS);
    finish(takt_unblock(clients[1], &call, "domain", "a.example", take_answer));
    ended_at_us = told.now_us;
    run_until(12);
    expect_apart(slow, 6, 20 * MS);
    for (int i = 0; i < 6; i++)
        cr_expect_geq(slow[i].permit.slot_at_us, ended_at_us);
    end(*kind);
}

/* A worker has 32 keys of one outer limit in line at most, and those of the agent are parked. */
EACH_STORE(many_keys_that_cannot_start_hold_up_no_other)
{
    takt_call call = {0};
    char key[8];

    begin(*kind);
    for (int i = 0; i < 40; i++) {
        snprintf(key, sizeof key, "k%d", i);
        finish(
            takt_block(clients[0], &call, "domain", key, INT64_C(3600000000), NULL, take_answer));
        ask(0, "domain", key, &slow[i]);
    }
    look_around();
    ask(0, "domain", "free.example", &fast[0]);
    wait_for(&fast[0]);
    cr_expect_eq(callbacks, 1);
    finish(takt_unblock(clients[1], &call, "domain", "k39", take_answer));
    wait_for(&slow[39]);
    cr_expect_eq(callbacks, 2);
    end(*kind);
}

IN_MEMORY(the_priorities_of_all_programs_count)
{
    static job urgent;
    takt_request request = TAKT_REQUEST("domain");
    int later = 0;

    begin(MEMORY);
    request.key = "a.example";
    request.priority = 0;
    ask_all("domain", "a.example", slow, JOBS);
    run_until(2);
    urgent.permit.data = &urgent;
    cr_assert_eq(takt_acquire(clients[1], &urgent.permit, &request, note), 0);
    wait_for(&urgent);
    run_until(JOBS + 1);
    for (int i = 0; i < JOBS; i++)
        later += slow[i].permit.slot_at_us > urgent.permit.slot_at_us;
    cr_expect_geq(later, JOBS - 40, "%d", later);
    end(MEMORY);
}

/* Those that wait by the agent's own commands. */
IN_MEMORY(processes_count_in_the_queue_of_their_chain)
{
    takt_process *processes[PROGRAMS];
    takt_request request = TAKT_REQUEST("late");
    takt_permit permits[2] = {{.data = &slow[0]}, {.data = &slow[1]}};
    takt_error error;

    begin(MEMORY);
    agent_policy = parse(text);
    cr_assert_eq(takt_reload(agent.client, agent_policy, &error), 0, "%s", error.text);
    request.key = "k";
    for (int i = 0; i < PROGRAMS; i++)
        processes[i] = takt_process_enter(agent.client, &processes[i], &request);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(takt_acquire(agent.client, &permits[i], &request, note), 0);
    run_until(1);
    cr_expect_eq(permits[1].queue->weight, PROGRAMS);
    cr_expect_eq(permits[1].queue, queue_at_agent("late", "k"));
    for (int i = 0; i < PROGRAMS; i++)
        takt_process_leave(processes[i]);
    cr_expect_eq(permits[1].queue->weight, 0);
    for (int i = 0; i < 2; i++)
        takt_release(&permits[i]);
    end(MEMORY);
}

/* The turns themselves are the ledger's. */
IN_MEMORY(tenants_have_their_names_and_weights_at_the_agent)
{
    static const char names[][sizeof "fair\0\0a\0mailbox\0x"] = {"fair\0\0a\0mailbox\0x",
                                                                 "fair\0\0b\0mailbox\0x"};

    begin(MEMORY);
    for (int i = 0; i < 40; i++)
        ask_for(i % PROGRAMS, "mailbox", "x", i % 2 ? "a" : "b", &slow[i]);
    run_until(2);
    for (int i = 0; i < 2; i++) {
        const takt_queue *queue =
            takt_registry_named(&agent.client->scheduler, names[i], sizeof names[i] - 1);
        cr_assert_not_null(queue);
        cr_expect_str_eq(queue->turn->tenant, i == 0 ? "a" : "b");
        cr_expect_eq(queue->turn->weight, i == 0 ? 3 : 1);
    }
    run_until(40);
    expect_apart(slow, 40, 2 * MS);
    end(MEMORY);
}

/* Whose tenants those of an inner limit are follows from the program's policy. */
IN_MEMORY(tenants_of_inner_limits_are_known_at_the_agent)
{
    static const struct {
        const char *limit, *name;
        size_t size;
        takt_inside inside;
        const char *subject;
    } rows[] = {
        {"seat", "hall\0\0a\0seat\0x", 14, TAKT_INSIDE_WITHIN, "x"},
        {"desk", "fair\0\0a\0desk\0x", 14, TAKT_INSIDE_ALIKE, "a"},
    };

    begin(MEMORY);
    for (int row = 0; row < 2; row++) {
        const takt_queue *queue;
        for (int i = 0; i < 20; i++)
            ask_for(i % PROGRAMS, rows[row].limit, "x", i % 2 ? "a" : "b", &slow[20 * row + i]);
        run_until(20 * row + 2);
        queue = takt_registry_named(&agent.client->scheduler, rows[row].name, rows[row].size);
        cr_assert_not_null(queue, "%s", rows[row].limit);
        cr_expect_eq(queue->nest->inside, rows[row].inside);
        cr_expect_str_eq(queue->nest->tenant, "a");
        cr_expect_eq(queue->nest->weight, 3);
        cr_expect_str_eq(queue->turn->tenant, rows[row].subject);
        run_until(20 * row + 20);
    }
    for (int i = 0; i < 40; i++)
        cr_expect_eq(slow[i].status, 0);
    for (int i = 0; i < PROGRAMS; i++)
        cr_expect_eq(events[i], 0, "each message is understood");
    end(MEMORY);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* So many wait at the agent, and an award has counted them. */
static void wait_until_counted(const char *limit, const char *key, int64_t count)
{
    const takt_queue *queue;

    while (!(queue = queue_at_agent(limit, key)) || queue->waiters.total != count ||
           queue->waiters.counted != count)
        uv_run(&loop, UV_RUN_ONCE);
}

static void ask_urgently(int program, const char *limit, int priority, job *of)
{
    takt_request request = TAKT_REQUEST(limit);

    request.key = "k";
    request.priority = priority;
    of->permit.data = of;
    of->calls = 0;
    cr_assert_eq(takt_acquire(clients[program], &of->permit, &request, note), 0);
}

static void expect_full(const job *of)
{
    wait_for(of);
    cr_expect_eq(of->status, TAKT_E_FULL, "%d", of->status);
}

static void expect_waiting(const job *jobs, int from, int to)
{
    look_around();
    for (int i = from; i < to; i++)
        cr_expect_eq(jobs[i].calls, 0, "job %d: %d", i, jobs[i].status);
}

/* The first one starts, the next two wait, each in another program. */
static void fill(const char *limit)
{
    for (int i = 0; i < 3; i++) {
        ask(i, limit, "k", &slow[i]);
        if (i == 0)
            wait_for(&slow[0]);
        else
            wait_until_counted(limit, "k", i);
    }
}

EACH_STORE(newcomers_over_the_bound_of_an_inner_key_fail)
{
    static const char *const limits[] = {"box", "leak"};

    begin(*kind);
    for (int limit = 0; limit < 2; limit++) {
        fill(limits[limit]);
        for (int i = 3; i < 6; i++) {
            ask(i % PROGRAMS, limits[limit], "k", &slow[i]);
            expect_full(&slow[i]);
        }
        expect_waiting(slow, 1, 3);
        ask(0, limits[limit], "other", &fast[0]);
        ask(0, limits[limit], "other", &fast[1]);
        wait_for(&fast[0]);
        wait_until_counted(limits[limit], "other", 1);
        takt_release(&slow[1].permit);
        wait_until_counted(limits[limit], "k", 1);
        ask(0, limits[limit], "k", &slow[3]);
        wait_until_counted(limits[limit], "k", 2);
        ask(1, limits[limit], "k", &slow[4]);
        expect_full(&slow[4]);
        expect_waiting(slow, 2, 4);
        cr_expect_eq(fast[1].calls, 0);
        for (int i = 0; i < 6; i++)
            takt_release(&slow[i].permit);
        for (int i = 0; i < 2; i++)
            takt_release(&fast[i].permit);
    }
    end(*kind);
}

/* Many come at once, in all programs and in two classes. */
EACH_STORE(of_many_newcomers_as_many_wait_as_may)
{
    int full = 0;

    begin(*kind);
    ask(0, "box", "k", &slow[0]);
    wait_for(&slow[0]);
    for (int i = 1; i < 60; i++)
        ask_urgently(i % PROGRAMS, "box", i % 2, &slow[i]);
    run_until(1 + 57);
    look_around();
    for (int i = 1; i < 60; i++)
        full += slow[i].calls == 1 && slow[i].status == TAKT_E_FULL;
    cr_expect_eq(full, 57, "%d", full);
    cr_expect_eq(callbacks, 1 + 57);
    cr_expect_eq(takt_relays_waiting(agent.relays, NULL, NULL), 2);
    end(*kind);
}

/* It is that of the program whose turn is next. */
EACH_STORE(the_oldest_of_all_programs_is_dropped)
{
    begin(*kind);
    fill("oldest");
    for (int i = 3; i < 8; i++) {
        ask(i % PROGRAMS, "oldest", "k", &slow[i]);
        expect_full(&slow[i - 2]);
        wait_until_counted("oldest", "k", 2);
        expect_waiting(slow, i - 1, i + 1);
    }
    end(*kind);
}

EACH_STORE(the_least_urgent_of_all_programs_is_dropped)
{
    begin(*kind);
    fill("lowest");
    ask_urgently(0, "lowest", 0, &slow[3]);
    expect_full(&slow[2]);
    wait_until_counted("lowest", "k", 2);
    ask(2, "lowest", "k", &slow[4]);
    expect_full(&slow[4]);
    wait_until_counted("lowest", "k", 2);
    ask_urgently(2, "lowest", 1, &slow[5]);
    expect_full(&slow[1]);
    wait_until_counted("lowest", "k", 2);
    cr_expect_eq(slow[3].calls + slow[5].calls, 0);
    end(*kind);
}

/* Newcomers that are stated before a program has learned that others were refused. */
IN_MEMORY(refusals_that_cross_newcomers_count_once)
{
    begin(MEMORY);
    ask_urgently(2, "lowest", 1, &slow[0]);
    wait_for(&slow[0]);
    for (int i = 1; i < 3; i++) {
        ask_urgently(0, "lowest", 4, &slow[i]);
        wait_until_counted("lowest", "k", i);
    }
    agent.holds = true;
    ask_urgently(1, "lowest", 0, &slow[3]);
    while (takt_relays_waiting(agent.relays, NULL, NULL) != 2 ||
           queue_at_agent("lowest", "k")->waiters.count[0] != 1)
        uv_run(&loop, UV_RUN_ONCE);
    ask_urgently(0, "lowest", 0, &slow[4]); /* and slow[2] must leave */
    for (int i = 0; i < 20; i++)
        look_around();
    stand_in_send_held(&agent);
    expect_full(&slow[1]);
    expect_full(&slow[2]);
    wait_until_counted("lowest", "k", 2);
    expect_waiting(slow, 3, 5);
    cr_expect_eq(queue_at_agent("lowest", "k")->waiters.count[0], 2);
    end(MEMORY);
}

/* The program's policy has a bound, that of the agent has none. */
IN_MEMORY(a_policy_of_the_agent_without_the_bound_refuses_nothing)
{
    static const char unbounded[] = "limits: [{name: box, rules: [{rate: 1/h}]}]\n";
    takt_error error;

    begin(MEMORY);
    agent_policy = parse(unbounded);
    cr_assert_eq(takt_reload(agent.client, agent_policy, &error), 0, "%s", error.text);
    for (int i = 0; i < 12; i++) {
        ask(i % PROGRAMS, "box", "k", &slow[i]);
        while (i > 0 && takt_relays_waiting(agent.relays, NULL, NULL) < (size_t)i)
            uv_run(&loop, UV_RUN_ONCE);
        if (i == 0)
            wait_for(&slow[0]);
    }
    expect_waiting(slow, 1, 12);
    for (int i = 0; i < PROGRAMS; i++)
        cr_expect_eq(events[i], 0);
    end(MEMORY);
}

/* The agent's next policy bounds an inner limit: waiters that were there stay, others fail.  The
 * programs' policies know of no bound. */
EACH_STORE(a_bound_of_the_agents_next_policy_refuses_newcomers)
{
    static const char bounded[] = "limits: [{name: late, rules: [{rate: 1/h}], max_waiting: 3}]\n";
    takt_error error;

    begin(*kind);
    agent_policy = parse(bounded);
    ask_all("late", "k", slow, 5);
    run_until(1);
    look_around();
    cr_assert_eq(takt_reload(agent.client, agent_policy, &error), 0, "%s", error.text);
    wait_until_counted("late", "k", 4);
    cr_expect_eq(callbacks, 1);
    for (int i = 0; i < 5; i++) {
        if (slow[i].calls == 0)
            continue;
        ask(i % PROGRAMS, "late", "k", &fast[0]);
        expect_full(&fast[0]);
    }
    cr_expect_eq(callbacks, 2);
    for (int i = 0, left = 2; i < 5 && left > 0; i++)
        if (slow[i].calls == 0) {
            takt_release(&slow[i].permit);
            left--;
        }
    wait_until_counted("late", "k", 2);
    ask(0, "late", "k", &fast[1]);
    wait_until_counted("late", "k", 3);
    ask(1, "late", "k", &fast[2]);
    expect_full(&fast[2]);
    cr_expect_eq(fast[1].calls, 0);
    end(*kind);
}

/* ---- permits --------------------------------------------------------------------------------- */

EACH_STORE(permits_of_all_levels_come_and_go_together)
{
    begin(*kind);
    for (int i = 0; i < 4; i++)
        ask(i % 2, "site", "a", &slow[i]);
    run_until(2);
    look_around();
    cr_expect_eq(callbacks, 2, "two of the site");
    cr_expect_eq(takt_relays_held(agent.relays), 2);
    for (int i = 0; i < 2; i++)
        ask(2, "site", "b", &fast[i]);
    run_until(3);
    look_around();
    cr_expect_eq(fast[0].calls + fast[1].calls, 1, "three of all: what waits holds none");
    for (int i = 0; i < 4; i++)
        if (slow[i].calls > 0) {
            cr_expect(takt_is_held(&slow[i].permit));
            cr_expect_gt(slow[i].permit.fence, 0);
        }
    close_client(2); /* it holds one and waits for another */
    cr_expect_eq(callbacks, 4, "cancelled");
    for (int i = 0; i < 4; i++)
        if (slow[i].calls > 0)
            takt_release(&slow[i].permit);
    run_until(6);
    for (int i = 0; i < 4; i++)
        cr_expect(slow[i].calls == 1 && slow[i].status == 0);
    for (int i = 0; i < 4; i++)
        takt_release(&slow[i].permit);
    while (takt_relays_held(agent.relays) > 0)
        uv_run(&loop, UV_RUN_ONCE);
    end(*kind);
}

/* Each of many jobs holds its permits for some turns of the loop. */
EACH_STORE(never_more_permits_are_held_than_a_level_has)
{
    static const char *const keys[] = {"a", "b", "c"};
    int held_at[JOBS] = {0}, done = 0, turn = 0, all = 0;

    begin(*kind);
    for (int i = 0; i < 24; i++)
        ask(i % PROGRAMS, "site", keys[i / 2 % 3], &slow[i]);
    for (; done < 24; turn++) {
        int of[3] = {0};
        uv_run(&loop, all > 0 ? UV_RUN_NOWAIT : UV_RUN_ONCE);
        all = 0;
        for (int i = 0; i < 24; i++) {
            if (slow[i].calls == 0 || held_at[i] < 0)
                continue;
            held_at[i] = held_at[i] ? held_at[i] : turn + 1;
            all++;
            of[i / 2 % 3]++;
            if (turn < held_at[i] + 5)
                continue;
            takt_release(&slow[i].permit);
            held_at[i] = -1;
            done++;
        }
        cr_assert(all <= 3 && of[0] <= 2 && of[1] <= 2 && of[2] <= 2, "%d: %d %d %d", all, of[0],
                  of[1], of[2]);
    }
    end(*kind);
}

IN_MEMORY(with_the_agent_the_permits_of_all_levels_are_lost)
{
    begin(MEMORY);
    ask(0, "site", "a", &slow[0]);
    wait_for(&slow[0]);
    ask(1, "site", "a", &slow[1]);
    ask(1, "site", "a", &slow[2]);
    wait_for(&slow[1]);
    takt_release(&slow[1].permit);
    wait_for(&slow[2]);
    takt_release(&slow[2].permit);
    stand_in_stop_listening(&agent);
    ask(1, "domain", "a.example", &fast[0]);
    while (!(events[1] & 1U << TAKT_EVENT_STORE_LOST))
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect_eq(fast[0].calls, 0);
    ask(2, "shut", NULL, &fast[1]);
    wait_for(&fast[1]);
    cr_expect(takt_is_of_store(fast[1].status), "the strictest level decides: %d", fast[1].status);
    stand_in_listen(&agent);
    wait_for(&fast[0]);
    cr_expect_eq(fast[0].status, 0);
    while (!(events[0] & 1U << TAKT_EVENT_PERMIT_LOST))
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect_not(takt_is_held(&slow[0].permit));
    for (int i = 0; i < 3; i++) {
        ask(i, "site", i < 2 ? "a" : "b", &slow[3 + i]);
        wait_for(&slow[3 + i]);
        cr_expect_eq(slow[3 + i].status, 0);
        cr_expect_gt(slow[3 + i].permit.fence, slow[0].permit.fence);
    }
    for (int i = 0; i < 6; i++)
        takt_release(&slow[i].permit);
    end(MEMORY);
}

/* ---- tries ----------------------------------------------------------------------------------- */

/* The policy of the programs: tokens of one limit are words, of the other they are mails. */
static const char tries_text[] =
    "limits:\n"
    "  - {name: words, rules: [{rate: 100/day, burst: 100, counts: words}], within: mails}\n"
    "  - {name: mails, rules: [{rate: 3/day, burst: 3, counts: mails}]}\n"
    "  - {name: chair, concurrency: 2, within: table}\n"
    "  - {name: table, concurrency: 1, lease: 20s}\n";

static struct {
    int calls, granted, refused;
    takt_standing told[2];
    char units[2][32];
} tried;

static void note_try(takt_call *call, int status, const takt_standing *standing)
{
    int at = status == 0 ? 0 : 1;

    (void)call;
    tried.calls++;
    tried.granted += status == 0;
    tried.refused += status == TAKT_E_NO_SLOT;
    cr_assert_not_null(standing, "%d", status);
    tried.told[at] = *standing;
    if (standing->rule_count > 0) /* the name lives as long as the callback */
        snprintf(tried.units[at], sizeof tried.units[at], "%s", standing->rules[0].unit);
}

/* Two programs try at once. */
static void try_both(const takt_request *request, takt_permit permits[2])
{
    static takt_call calls[2];

    memset(&tried, 0, sizeof tried);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(takt_try_acquire(clients[i], &calls[i], &permits[i], request, note_try), 0);
    while (tried.calls < 2)
        uv_run(&loop, UV_RUN_ONCE);
}

/* A program's try is one call, and so is what the agent asks its store. */
EACH_STORE(a_try_of_all_levels_is_one_decision)
{
    static takt_permit permits[4];
    takt_request request = TAKT_REQUEST("words");
    takt_stats before, after;

    begin_with(*kind, tries_text);
    request.key = "a";
    request.amounts[0] = (takt_amount){"words", 40};
    request.amounts[1] = (takt_amount){"mails", 2};
    takt_get_stats(agent.client, &before);
    try_both(&request, permits);
    takt_get_stats(agent.client, &after);
    cr_expect_eq(after.store_calls - before.store_calls, 2, "one for each program");
    cr_expect_eq(tried.granted, 1);
    cr_expect_eq(tried.refused, 1);
    cr_expect_str_eq(tried.units[0], "mails");
    cr_expect_eq(tried.told[0].remaining, 1, "the limit with the least left");
    cr_expect_str_eq(tried.units[1], "mails");
    cr_expect_eq(tried.told[1].limit, 3);
    cr_expect_gt(tried.told[1].retry_after_us, 0);
    cr_expect_eq(left_of("words", "a"), 60, "the refusal is free");
    request.amounts[0].amount = 61;
    request.amounts[1].amount = 1;
    try_both(&request, permits + 2);
    cr_expect_eq(tried.refused, 2);
    cr_expect_str_eq(tried.units[1], "words", "the inner limit refuses");
    cr_expect_eq(left_of("mails", NULL), 1);
    for (int i = 0; i < 4; i++)
        takt_release(&permits[i]);
    end(*kind);
}

/* What a try got of all levels is held until its release. */
EACH_STORE(a_try_holds_the_permits_of_all_levels)
{
    static takt_permit permits[2];
    takt_request request = TAKT_REQUEST("chair");

    begin_with(*kind, tries_text);
    request.key = "a";
    try_both(&request, permits);
    cr_expect_eq(tried.granted, 1, "the table has one");
    cr_expect_eq(takt_relays_held(agent.relays), 1);
    (void)left_of("chair", "a");
    cr_expect_eq(told.held, 1);
    (void)left_of("table", NULL);
    cr_expect_eq(told.held, 1);
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(takt_is_held(&permits[i]), permits[i].fence > 0);
        takt_release(&permits[i]);
    }
    do
        (void)left_of("chair", "a");
    while (told.held > 0);
    (void)left_of("table", NULL);
    cr_expect_eq(told.held, 0);
    end(*kind);
}

/* ---- what goes back -------------------------------------------------------------------------- */

static const takt_store_kind *agent_kind;
static char payer[TAKT_TENANT_SIZE_MAX + 1]; /* of the outermost limit */

static void note_settled(takt_store *store, takt_store_call *call)
{
    if (call->op == TAKT_OP_SETTLE && strcmp(call->limit->name, "smtp") == 0)
        strcpy(payer, call->tenant ? call->tenant : "nobody");
    agent_kind->submit(store, call);
}

IN_MEMORY(work_is_settled_on_every_level)
{
    takt_request request = TAKT_REQUEST("free");
    takt_store_kind spy;

    begin(MEMORY);
    agent_kind = agent.client->store->kind;
    spy = *agent_kind;
    spy.submit = note_settled;
    agent.client->store->kind = &spy;
    request.key = "k";
    request.cost = 300;
    slow[0].permit.data = &slow[0];
    cr_assert_eq(takt_acquire(clients[0], &slow[0].permit, &request, note), TAKT_E_COST,
                 "the outer rule has no burst");
    request.cost = 1;
    cr_assert_eq(takt_acquire(clients[0], &slow[0].permit, &request, note), 0);
    wait_for(&slow[0]);
    cr_assert_eq(takt_settle(&slow[0].permit, &request, &(takt_amount){NULL, 200}, 1), 0);
    while (left_of("free", "k") > 810)
        continue;
    cr_expect_geq(left_of("free", "k"), 800);
    cr_expect_str_eq(payer, "k", "the inner key, in the outermost line");
    agent.client->store->kind = agent_kind;
    end(MEMORY);
}

/* Of the inner rule the time of a lookahead stays (unused.h): two tokens and a part. */
EACH_STORE(what_is_cancelled_is_handed_back_to_every_level)
{
    int taken = 0;

    begin(*kind);
    ask_all("free", "k", slow, JOBS);
    run_until(20);
    for (int i = 0; i < JOBS; i++)
        takt_release(&slow[i].permit);
    taken = callbacks;
    while (left_of("free", "k") < 1000 - taken - 3)
        continue;
    cr_expect_leq(left_of("free", "k"), 1000 - taken + 20);
    end(*kind);
}

/* ---- overrides ------------------------------------------------------------------------------- */

#define PLANS 4

static const char *const rooms[] = {"slow", "fast"}, *const accounts[] = {"gold", "tin"};

/* Work of one of the four pairs of keys. */
static void ask_plan(int program, int plan, job *of)
{
    takt_request request = TAKT_REQUEST("room");

    request.key = rooms[plan / 2];
    request.within_keys[0] = accounts[plan % 2];
    of->permit.data = of;
    of->calls = 0;
    cr_assert_eq(takt_acquire(clients[program], &of->permit, &request, note), 0);
}

static void expect_numbers(const char *limit, const char *key, const takt_numbers *used)
{
    const takt_limit *wanted = takt_overrides_for(takt_policy_find(policy, limit), key);

    cr_expect(takt_numbers_same(used, &wanted->numbers), "%s:%s", limit, key);
}

/* The agent decides by the numbers of these keys. */
static void expect_plan(int plan)
{
    const char *room = rooms[plan / 2], *account = accounts[plan % 2];
    char name[64];
    int size = snprintf(name, sizeof name, "account%c%s%c%croom%c%s", 0, account, 0, 0, 0, room);
    const takt_queue *queue = takt_registry_named(&agent.client->scheduler, name, (size_t)size);

    cr_assert_not_null(queue, "%d", plan);
    expect_numbers("account", account, queue->numbers);
    expect_numbers("room", room, &queue->nest->inner[0].limit->numbers);
}

/* Each start brings claims of keys with other numbers. */
IN_MEMORY(numbers_of_keys_are_stated_once)
{
    open_with(plans_text, "memory:");
    for (int i = 0; i < 10 * PLANS; i++)
        ask_plan(0, i % PLANS, &slow[i]);
    for (int done = 0; done < 10 * PLANS;) {
        uv_run(&loop, UV_RUN_ONCE);
        for (int i = 0; i < 10 * PLANS; i++)
            if (slow[i].calls > 0 && takt_is_held(&slow[i].permit)) {
                takt_release(&slow[i].permit);
                expect_plan(i % PLANS);
                done++;
            }
    }
    cr_expect_eq(agent.limits, 4, "%d", agent.limits);
    cr_expect_eq(events[0], 0);
    close_all();
}

/* What is sent back tells nothing of numbers: another program waits by those of the key. */
IN_MEMORY(permits_that_cross_a_cancel_leave_the_numbers_of_the_key)
{
    open_with(plans_text, "memory:");
    for (int plan = 0; plan < PLANS; plan++) {
        ask_plan(0, plan, &slow[plan]);
        wait_for(&slow[plan]);
        takt_release(&slow[plan].permit);
    }
    while (takt_relays_held(agent.relays) > 0)
        uv_run(&loop, UV_RUN_ONCE);
    for (int plan = 0; plan < PLANS; plan += 3) {
        agent.holds = true;
        ask_plan(0, plan, &slow[plan]);
        while (takt_relays_held(agent.relays) == 0)
            uv_run(&loop, UV_RUN_ONCE);
        ask_plan(1, plan, &fast[plan]);
        takt_release(&slow[plan].permit);
        look_around();
        cr_expect_eq(takt_relays_held(agent.relays), 1, "the program may hold it");
        stand_in_send_held(&agent);
        wait_for(&fast[plan]);
        expect_plan(plan);
        takt_release(&fast[plan].permit);
        while (takt_relays_held(agent.relays) > 0)
            uv_run(&loop, UV_RUN_ONCE);
        cr_expect_eq(slow[plan].calls, 0);
    }
    close_all();
}

/* ---- policies -------------------------------------------------------------------------------- */

IN_MEMORY(a_chain_changes_with_the_policy)
{
    takt_error error;

    begin(MEMORY);
    next_policy = parse(next_text);
    for (int i = 0; i < 3; i++)
        ask(0, "site", "a", &slow[i]);
    run_until(2);
    ask_all("domain", "a.example", fast, 60);
    run_until(5);
    for (int i = 0; i < PROGRAMS; i++)
        cr_assert_eq(takt_reload(clients[i], next_policy, &error), 0, "%s", error.text);
    for (int i = 60; i < 70; i++)
        ask(i % PROGRAMS, "domain", "a.example", &fast[i]);
    cr_expect_str_eq(fast[69].permit.queue->limit->name, "host");
    run_until(72);
    expect_apart(fast + 60, 10, 40 * MS);
    ask(1, "site", "a", &slow[3]); /* two are held still */
    look_around();
    cr_expect_eq(slow[2].calls + slow[3].calls, 0);
    for (int i = 0; i < 2; i++)
        takt_release(&slow[i].permit);
    wait_for(&slow[2]);
    wait_for(&slow[3]);
    for (int i = 2; i < 4; i++)
        takt_release(&slow[i].permit);
    end(MEMORY);
}

/* What waits for the agent is not stated anew, but its numbers are. */
IN_MEMORY(new_numbers_of_an_inner_limit_reach_the_agent)
{
    takt_error error;

    begin(MEMORY);
    next_policy = parse(next_text);
    ask_all("late", "k", slow, 6);
    run_until(1);
    look_around();
    cr_expect_eq(callbacks, 1);
    for (int i = 0; i < PROGRAMS; i++)
        cr_assert_eq(takt_reload(clients[i], next_policy, &error), 0, "%s", error.text);
    run_until(6);
    expect_apart(slow, 6, 1 * MS);
    end(MEMORY);
}

/* The agent's policy has only one of the limits. */
IN_MEMORY(the_numbers_of_the_agents_policy_count_if_they_are_newer)
{
    static const char late[] = "revision: 2\nlimits: [{name: late, rules: [{rate: 1000/s}]}]\n";
    takt_error error;

    begin(MEMORY);
    agent_policy = parse(late);
    ask_all("late", "k", slow, 6);
    run_until(1);
    look_around();
    cr_expect_eq(callbacks, 1);
    cr_assert_eq(takt_reload(agent.client, agent_policy, &error), 0, "%s", error.text);
    run_until(6);
    expect_apart(slow, 6, 1 * MS);
    end(MEMORY);
}

/* ---- the agent has newer numbers of an inner limit --------------------------------------------
 */

#define OUTER "  - {name: outer, rules: [{rate: 1000000/s, burst: 1000}]}\n"

static void begin_with_newer(int kind, const char *newer)
{
    takt_error error;

    begin_with(kind,
               "limits:\n"
               "  - {name: inner, rules: [{rate: 1000000/s, burst: 1000}], within: outer}\n" OUTER);
    agent_policy = parse(newer);
    cr_assert_eq(takt_reload(agent.client, agent_policy, &error), 0, "%s", error.text);
}

/* A job that holds a permit is not one of those that the other programs may start. */
EACH_STORE(programs_with_older_numbers_hold_permits_of_an_inner_limit)
{
    begin_with_newer(*kind,
                     "revision: 2\nlimits:\n"
                     "  - {name: inner, concurrency: 2, lease: 1day, within: outer}\n" OUTER);
    ask(0, "inner", "k", &slow[0]);
    ask(0, "inner", "k", &slow[1]);
    run_until(2);
    cr_expect_gt(slow[0].permit.fence, 0);
    ask(0, "inner", "k", &slow[2]);
    ask(1, "inner", "k", &fast[0]);
    look_around();
    cr_expect_eq(callbacks, 2, "there are two");
    (void)left_of("inner", "k");
    cr_expect_eq(told.held, 2);
    cr_expect(takt_is_held(&slow[0].permit) && takt_is_held(&slow[1].permit));
    takt_release(&slow[0].permit);
    run_until(3);
    takt_release(&slow[1].permit);
    run_until(4);
    takt_release(&slow[2].permit);
    takt_release(&fast[0].permit);
    do
        (void)left_of("inner", "k");
    while (told.held > 0);
    end(*kind);
}

EACH_STORE(programs_with_older_numbers_refuse_a_cost_that_an_inner_limit_never_gives)
{
    takt_request request = TAKT_REQUEST("inner");

    begin_with_newer(*kind,
                     "revision: 2\nlimits:\n"
                     "  - {name: inner, rules: [{rate: 1/day, burst: 5}], within: outer}\n" OUTER);
    request.key = "k";
    request.cost = 6;
    for (int i = 0; i < 2; i++) {
        slow[i].permit.data = &slow[i];
        cr_assert_eq(takt_acquire(clients[0], &slow[i].permit, &request, note), 0);
        run_until(i + 1);
        cr_expect_eq(slow[i].status, TAKT_E_COST);
    }
    end(*kind);
}

/* ---- a cluster with a plain namespace ---------------------------------------------------------
 */

/* Programs learn it from the agent, whose store refuses its claims. */
Test(relay_nest, behind_an_agent_of_a_cluster_a_plain_namespace_is_refused, .timeout = 90)
{
    static struct cluster cluster;

    cluster_start(&cluster, false, NULL);
    open_with(text, cluster.url);
    ask(0, "domain", "a.example", &slow[0]);
    ask(1, "shut", "b.example", &slow[1]);
    ask(2, "smtp", NULL, &slow[2]);
    wait_for(&slow[1]);
    cr_expect_eq(slow[1].status, TAKT_E_STORE_ACCESS, "%s", takt_strerror(slow[1].status));
    wait_for(&slow[2]);
    cr_expect_eq(slow[2].status, 0, "a limit alone has its node");
    cr_expect_eq(slow[0].calls, 0, "it waits, as its policy says");
    close_all();
    cluster_stop(&cluster);
}

/* ---- statements that no client of this library makes ------------------------------------------
 */

static void hear_nothing(void *data, const char *bytes, size_t size)
{
    (void)data, (void)bytes, (void)size;
}

static int want(takt_relay *relay, const char *ids, const char *key, size_t size)
{
    const char *words[] = {"RELAY", "WANT", ids, key, "0 0 0 0 0 1 1 4 "};
    const size_t sizes[] = {5, 4, strlen(ids), size, 16};
    takt_error error;

    return takt_relay_command(relay, 5, words, sizes, &error);
}

#define WANT(relay, ids, key) want(relay, ids, key, sizeof key - 1)

IN_MEMORY(statements_of_nested_work_are_checked)
{
    static const char *const names[] = {"smtp", "domain", "bounded", "full"};
    takt_limit_text bounded = {.name = "bounded", .concurrency = "1", .max_waiting = "5"};
    takt_limit_text full = {.name = "full", .concurrency = "1"};
    char version[12], id[4], numbers[TAKT_RELAY_TEXT_SIZE + 1];
    takt_relay *relay;
    takt_error error;

    open_with(text, "memory:");
    cr_assert_eq(takt_policy_add(policy, &bounded, &error), 0);
    cr_assert_eq(takt_policy_add(policy, &full, &error), 0);
    cr_assert_eq(takt_relay_open(&relay, agent.relays, hear_nothing, NULL), 0);
    snprintf(version, sizeof version, "%d", TAKT_RELAY_VERSION);
    cr_assert_eq(takt_relay_command(relay, 4,
                                    (const char *const[]){"RELAY", "OPEN", version, "default"},
                                    (const size_t[]){5, 4, strlen(version), 7}, &error),
                 0);
    for (int i = 0; i < 4; i++) {
        const char *words[] = {"RELAY", "LIMIT", id, names[i], numbers};
        size_t sizes[] = {5, 5, 1, strlen(names[i]), 0};
        snprintf(id, sizeof id, "%d", i + 1);
        sizes[4] = takt_relay_write_numbers(&takt_policy_find(policy, names[i])->numbers, numbers);
        cr_assert_eq(takt_relay_command(relay, 5, words, sizes, &error), 0);
    }
    cr_expect_eq(WANT(relay, "1/2", "\0\0domain\0k"), 0);
    cr_expect_eq(WANT(relay, "1/2", "\0tenant\0domain\0k"), 0);
    cr_expect_eq(WANT(relay, "1/2", "\0\0domain\0"), 0, "a limit without a key");
    cr_expect_eq(WANT(relay, "1/4/2", "\0\0full\0k\0domain\0"), 0);
    cr_expect_eq(WANT(relay, "1", "\0"), TAKT_E_INVALID, "no tenant");
    cr_expect_eq(WANT(relay, "1", "\0\0"), TAKT_E_INVALID);
    cr_expect_eq(WANT(relay, "1/2", "\0\0domain"), TAKT_E_INVALID, "no key");
    cr_expect_eq(WANT(relay, "1/2/2", "\0\0domain\0k\0"), TAKT_E_INVALID);
    cr_expect_eq(WANT(relay, "1/2", "\0\0other\0k"), TAKT_E_INVALID, "another limit");
    cr_expect_eq(WANT(relay, "1/1", "\0\0smtp\0k"), TAKT_E_INVALID, "within itself");
    cr_expect_eq(WANT(relay, "1/2/2", "\0\0domain\0a\0domain\0b"), TAKT_E_INVALID);
    cr_expect_eq(WANT(relay, "1/3", "\0\0bounded\0k"), 0, "it bounds its waiters");
    cr_expect_eq(WANT(relay, "1/2/2/2/2", "\0\0a\0\0b\0\0c\0\0d\0"), TAKT_E_INVALID, "five levels");
    cr_expect_eq(WANT(relay, "1", "\0\0domain\0k"), TAKT_E_INVALID, "one level without an id");
    cr_expect_eq(WANT(relay, "1/2", "k"), TAKT_E_INVALID, "one more id than levels");
    cr_expect_eq(WANT(relay, "1/2/4", "\0\0full\0k\0domain\0"), TAKT_E_INVALID, "another order");
    cr_expect_eq(WANT(relay, "1/5", "\0\0domain\0k"), TAKT_E_INVALID, "an unknown id");
    cr_expect_eq(WANT(relay, "1/2/", "\0\0domain\0k"), TAKT_E_INVALID);
    cr_expect_eq(WANT(relay, "1 2", "\0\0domain\0k"), TAKT_E_INVALID);
    cr_expect_eq(WANT(relay, "1/2",
                      "\0\0domain\0k\0"
                      "1123"),
                 0, "places of its amounts");
    cr_expect_eq(WANT(relay, "1/2",
                      "\0\0domain\0k\0"
                      "0123"),
                 TAKT_E_INVALID, "not said");
    cr_expect_eq(WANT(relay, "1/2",
                      "\0\0domain\0k\0"
                      "4123"),
                 TAKT_E_INVALID, "no place");
    cr_expect_eq(WANT(relay, "1/2",
                      "\0\0domain\0k\0"
                      "112"),
                 TAKT_E_INVALID);
    cr_expect_eq(WANT(relay, "1/2",
                      "\0\0domain\0k\0"
                      "11231123"),
                 TAKT_E_INVALID, "one level");
    cr_expect_eq(WANT(relay, "1/4/2",
                      "\0\0full\0k\0domain\0\0"
                      "01231123"),
                 0);
    cr_expect_eq(WANT(relay, "1",
                      "\0t\0"
                      "1123"),
                 TAKT_E_INVALID, "no level inside");
    takt_relay_close(relay);
    close_all();
}
