/*
 * Nested limits in programs behind an agent whose levels count different units, or differ in
 * when_full: one decision for all levels, also if the agent and the programs are of different
 * versions, and if their policies are.
 */
#include "programs.h"
#include "scheduler/registry.h"
#include "store/agent/message.h"

static const char text[] =
    "limits:\n"
    "  - name: team\n"
    "    rules:\n"
    "      - {rate: 1/h, burst: 1000, counts: output}\n"
    "      - {rate: 1/h, burst: 100, counts: images}\n"
    "    within: model\n"
    "  - name: model\n"
    "    rules:\n"
    "      - {rate: 1/h, burst: 10000, counts: input}\n"
    "      - {rate: 1/h, burst: 2000, counts: output}\n"
    "  - {name: box, rules: [{rate: 1000/s}], max_waiting: 1, when_full: drop-oldest, within: "
    "all}\n"
    "  - {name: late, rules: [{rate: 1000/s}], max_waiting: 2, within: free}\n"
    "  - {name: all, rules: [{rate: 100/s}], max_waiting: 3}\n"
    "  - {name: free, rules: [{rate: 100/s}]}\n";

/* The names of queues: output and images are the second and the third one of a team's amounts. */
static const char team_name[] = "model\0\0\0team\0k\0"
                                "1223";

static job jobs[12];

#define EACH_STORE(test) EACH_STORE_OF(relay_levels, test)
#define IN_MEMORY(test)  Test(relay_levels, test, .timeout = 90)

/* Work of a team that reads, writes and draws so much. */
static void ask_amounts(int program, int input, int output, int images, job *of)
{
    takt_request request = TAKT_REQUEST("team");

    request.key = "k";
    request.amounts[0] = (takt_amount){"input", input};
    request.amounts[1] = (takt_amount){"output", output};
    request.amounts[2] = (takt_amount){"images", images};
    of->permit.data = of;
    of->calls = 0;
    cr_assert_eq(takt_acquire(clients[program], &of->permit, &request, note), 0);
}

static void peek(const char *limit, const char *key)
{
    takt_call call = {0};

    finish(takt_peek(clients[0], &call, limit, key, take_answer));
}

/* What a rule of a limit has left. */
static int64_t left_of(const char *limit, const char *key, int rule)
{
    peek(limit, key);
    return told.rules[rule].remaining;
}

static void expect_left(int64_t input, int64_t output, int64_t team_output, int64_t team_images)
{
    cr_expect_eq(left_of("model", NULL, 0), input, "%lld", (long long)told.rules[0].remaining);
    cr_expect_str_eq(told.rules[0].unit, "input");
    cr_expect_eq(told.rules[1].remaining, output, "%lld", (long long)told.rules[1].remaining);
    cr_expect_eq(left_of("team", "k", 0), team_output, "%lld", (long long)told.rules[0].remaining);
    cr_expect_str_eq(told.rules[0].unit, "output");
    cr_expect_eq(told.rules[1].remaining, team_images, "%lld", (long long)told.rules[1].remaining);
}

static const takt_queue *team_at_agent(void)
{
    return takt_registry_named(&agent.client->scheduler, team_name, sizeof team_name - 1);
}

static void block(const char *limit)
{
    takt_call call = {0};

    finish(takt_block(clients[0], &call, limit, NULL, INT64_C(3600000000), NULL, take_answer));
}

/* ---- units ----------------------------------------------------------------------------------- */

EACH_STORE(each_level_takes_the_amounts_of_its_own_units)
{
    begin_with(*kind, text);
    for (int i = 0; i < 3; i++)
        ask_amounts(i, 300, 20, 1, &jobs[i]);
    cr_expect_str_eq(jobs[0].permit.queue->limit->name, "model");
    run_until(3);
    for (int i = 0; i < 3; i++)
        cr_expect(jobs[i].status == 0 && jobs[i].permit.slot_at_us > 0);
    cr_expect_not_null(team_at_agent());
    expect_left(10000 - 900, 2000 - 60, 1000 - 60, 100 - 3);
    end(*kind);
}

/* Not even the amounts that one level gives are given, as long as another one has none. */
EACH_STORE(work_waits_for_the_unit_that_is_used_up)
{
    begin_with(*kind, text);
    ask_amounts(0, 10, 10, 100, &jobs[0]);
    wait_for(&jobs[0]);
    ask_amounts(1, 10, 10, 1, &jobs[1]);
    ask(2, "late", "k", &jobs[2]);
    wait_for(&jobs[2]);
    look_around();
    cr_expect_eq(jobs[1].calls, 0);
    expect_left(10000 - 10, 2000 - 10, 1000 - 10, 0);
    end(*kind);
}

/* So much is left of each rule, but for a part of a token. */
static bool is_left(int64_t input, int64_t output, int64_t team_output, int64_t team_images)
{
    return left_of("model", NULL, 0) >= input - 1 && told.rules[1].remaining >= output - 1 &&
           left_of("team", "k", 0) >= team_output - 1 && told.rules[1].remaining >= team_images - 1;
}

/* The slot of cancelled work arrives when less work waits.  That takes it, and its own one goes
 * back. */
EACH_STORE(a_slot_that_is_not_used_goes_back_to_each_level_in_its_units)
{
    begin_with(*kind, text);
    ask(0, "free", NULL, &jobs[2]);
    wait_for(&jobs[2]);
    agent.holds = true;
    ask_amounts(0, 300, 20, 10, &jobs[0]);
    while (!team_at_agent() || takt_relays_waiting(agent.relays, NULL, NULL) > 0)
        uv_run(&loop, UV_RUN_ONCE);
    takt_release(&jobs[0].permit);
    stand_in_send_held(&agent);
    ask_amounts(0, 30, 10, 5, &jobs[1]);
    wait_for(&jobs[1]);
    while (!is_left(10000 - 300, 2000 - 20, 1000 - 20, 100 - 10))
        continue;
    cr_expect_leq(told.rules[1].remaining, 100 - 10);
    end(*kind);
}

/* The agent's policy is newer.  In the place of a team's images it counts another unit of the
 * model, of which the programs state no amount. */
IN_MEMORY(newer_limits_of_the_agent_apply_unless_they_count_a_unit_in_the_place_of_another)
{
    static const char other[] = "revision: 2\n"
                                "limits:\n"
                                "  - name: model\n"
                                "    rules:\n"
                                "      - {rate: 1/h, burst: 9000, counts: input}\n"
                                "      - {rate: 1/h, burst: 2000, counts: output}\n"
                                "      - {rate: 1/h, burst: 50, counts: video}\n";
    static const char same[] = "revision: 3\n"
                               "limits:\n"
                               "  - name: model\n"
                               "    rules:\n"
                               "      - {rate: 1/h, burst: 8000, counts: input}\n"
                               "      - {rate: 1/h, burst: 2000, counts: output}\n";
    takt_error error;

    begin_with(MEMORY, text);
    agent_policy = parse(other);
    cr_assert_eq(takt_reload(agent.client, agent_policy, &error), 0, "%s", error.text);
    ask_amounts(0, 10, 10, 100, &jobs[0]);
    wait_for(&jobs[0]);
    cr_expect_eq(team_at_agent()->limit->numbers.rule_count, 2);
    cr_expect_eq(team_at_agent()->limit->numbers.rules[0].burst, 10000);
    next_policy = parse(same);
    cr_assert_eq(takt_reload(agent.client, next_policy, &error), 0, "%s", error.text);
    ask_amounts(1, 10, 10, 1, &jobs[1]);
    while (team_at_agent()->limit->numbers.rules[0].burst != 8000)
        uv_run(&loop, UV_RUN_ONCE);
    end(MEMORY);
}

static void wait_for_burst(int64_t burst)
{
    while (!team_at_agent() || team_at_agent()->limit->numbers.rules[0].burst != burst)
        uv_run(&loop, UV_RUN_ONCE);
}

/* A policy no longer counts the images that a waiter has stated.  The one after it counts another
 * unit in their place, and then one that counts them again. */
IN_MEMORY(amounts_stay_those_of_their_units_with_one_policy_after_another)
{
    static const char *const policies[] = {
        "revision: 2\n"
        "limits:\n"
        "  - {name: team, rules: [{rate: 1/h, burst: 1000, counts: output}], within: model}\n"
        "  - name: model\n"
        "    rules:\n"
        "      - {rate: 1/h, burst: 9000, counts: input}\n"
        "      - {rate: 1/h, burst: 2000, counts: output}\n",
        "revision: 3\n"
        "limits:\n"
        "  - {name: team, rules: [{rate: 1/h, burst: 1000, counts: output}], within: model}\n"
        "  - name: model\n"
        "    rules:\n"
        "      - {rate: 1/h, burst: 8000, counts: input}\n"
        "      - {rate: 1/h, burst: 2000, counts: output}\n"
        "      - {rate: 1/h, burst: 50, counts: video}\n",
        "revision: 4\n"
        "limits:\n"
        "  - name: team\n"
        "    rules:\n"
        "      - {rate: 1/h, burst: 1000, counts: output}\n"
        "      - {rate: 1/h, burst: 90, counts: images}\n"
        "    within: model\n"
        "  - name: model\n"
        "    rules:\n"
        "      - {rate: 1/h, burst: 7000, counts: input}\n"
        "      - {rate: 1/h, burst: 2000, counts: output}\n"};
    takt_policy *last;
    takt_error error;

    begin_with(MEMORY, text);
    agent_policy = parse(policies[0]);
    cr_assert_eq(takt_reload(agent.client, agent_policy, &error), 0, "%s", error.text);
    block("model");
    ask_amounts(0, 10, 10, 90, &jobs[0]);
    wait_for_burst(9000);
    next_policy = parse(policies[1]);
    cr_assert_eq(takt_reload(agent.client, next_policy, &error), 0, "%s", error.text);
    cr_expect_eq(team_at_agent()->limit->numbers.rules[0].burst, 9000);
    last = parse(policies[2]);
    cr_assert_eq(takt_reload(agent.client, last, &error), 0, "%s", error.text);
    cr_expect_eq(team_at_agent()->limit->numbers.rules[0].burst, 7000);
    end(MEMORY);
    takt_policy_free(last);
}

/* ---- when_full ------------------------------------------------------------------------------- */

static const takt_queue *queue_of(const char *outer, const char *limit, const char *key)
{
    char name[64];
    int size = snprintf(name, sizeof name, "%s%c%c%c%s%c%s", outer, 0, 0, 0, limit, 0, key);

    return takt_registry_named(&agent.client->scheduler, name, (size_t)size);
}

/* So many wait at the agent, and an award has counted them. */
static void wait_until_counted(const char *outer, const char *limit, const char *key, int64_t count)
{
    const takt_queue *queue;

    while (!(queue = queue_of(outer, limit, key)) || queue->waiters.total != count ||
           queue->waiters.counted != count)
        uv_run(&loop, UV_RUN_ONCE);
}

static void expect_full(const job *of)
{
    wait_for(of);
    cr_expect_eq(of->status, TAKT_E_FULL, "%d", of->status);
}

/* A waiter of each of three keys, then two newcomers of the first one. */
EACH_STORE(levels_that_refuse_decide_before_those_that_drop)
{
    static const char *const keys[] = {"a", "b", "c"};

    begin_with(*kind, text);
    block("all");
    for (int i = 0; i < 3; i++) {
        ask(0, "box", keys[i], &jobs[i]);
        wait_until_counted("all", "box", keys[i], 1);
    }
    cr_expect_str_eq(jobs[0].permit.queue->limit->name, "all");
    for (int i = 3; i < 5; i++)
        ask(0, "box", "a", &jobs[i]);
    expect_full(&jobs[3]);
    expect_full(&jobs[4]);
    wait_until_counted("all", "box", "a", 1);
    takt_release(&jobs[2].permit);
    do
        peek("all", NULL);
    while (told.waiting != 2);
    for (int i = 5; i < 7; i++) /* there is space for one, and its key drops */
        ask(0, "box", "a", &jobs[i]);
    expect_full(&jobs[0]);
    expect_full(&jobs[6]);
    wait_until_counted("all", "box", "a", 1);
    look_around();
    cr_expect_eq(jobs[1].calls + jobs[5].calls, 0);
    cr_expect_eq(callbacks, 4);
    end(*kind);
}

/* ... of which the programs' policies say another one. */
EACH_STORE(waiters_leave_in_the_way_of_the_policy_in_force)
{
    static const char drops[] = "revision: 2\n"
                                "limits: [{name: late, rules: [{rate: 1000/s}], max_waiting: 2, "
                                "when_full: drop-oldest}]\n";
    takt_error error;

    begin_with(*kind, text);
    agent_policy = parse(drops);
    cr_assert_eq(takt_reload(agent.client, agent_policy, &error), 0, "%s", error.text);
    block("free");
    for (int i = 0; i < 4; i++) {
        ask(0, "late", "k", &jobs[i]);
        if (i >= 2)
            expect_full(&jobs[i - 2]);
        wait_until_counted("free", "late", "k", i == 0 ? 1 : 2);
    }
    cr_expect_eq(jobs[2].calls + jobs[3].calls, 0);
    end(*kind);
}

/* ---- texts ----------------------------------------------------------------------------------- */

Test(relay_levels, waiters_leave_one_after_the_other_as_long_as_there_is_room)
{
    static const struct {
        const char *said, *kept;
    } cases[] = {{"0 ", "0 "},
                 {"3 ", "3 "},
                 {"2/1o ", "2/1o "},
                 {"1u/2u/1 ", "3u/1 "},
                 {"1/2o/1/2o ", "1/2o/1/2o "},
                 {"1/2o/1/2o/3o ", "1/2o/1/5o "},
                 {"1/2o/1/2o/3u ", "2/4o/3u "}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *said = cases[i].said;
        takt_reader reader = {said, said + strlen(said), false};
        takt_relay_leaves leaves = {.count = 0};
        char written[64] = "";
        takt_writer writer = {written, written + sizeof written - 1, false};
        takt_relay_read_leaves(&reader, &leaves);
        cr_assert(takt_read_done(&reader), "%s", said);
        takt_relay_write_leaves(&writer, &leaves);
        cr_expect_str_eq(written, cases[i].kept, "%s: %s", said, written);
    }
}
