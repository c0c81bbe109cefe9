/*
 * Nested limits through the public interface, on stores that decide about all levels at once: each
 * rule of each level holds for all slots, also after a block; slow work gets its slots beside fast
 * work; and what gives up has taken nothing.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <signal.h>
#include <stdlib.h>

#include "client/client.h"
#include "scheduler/queue.h"
#include "store/redis/cluster.h"

#include "client/calls.h"
#include "client/stores.h"

#define JOBS 240
#define MS   1000

static const char text[] = "limits:\n"
                           "  - {name: domain, rules: [{rate: 50/s}], within: smtp}\n"
                           "  - {name: smtp, rules: [{rate: 500/s}]}\n"
                           "  - {name: free, rules: [{rate: 10/s, burst: 1000}], within: smtp}\n"
                           "  - {name: day, rules: [{rate: 800/day, burst: 800}], within: whole}\n"
                           "  - {name: whole, rules: [{rate: 5/s}]}\n"
                           "  - {name: user, rules: [{rate: 800/day, burst: 800}], within: plan}\n"
                           "  - {name: plan, rules: [{rate: 1/day}], within: whole,\n"
                           "     overrides: [{key: vip, unlimited: true}]}\n"
                           "  - {name: single, concurrency: 1, within: region}\n"
                           "  - {name: region, concurrency: 5}\n"
                           "  - {name: solo, rules: [{rate: 50/day, burst: 50}], within: gate}\n"
                           "  - {name: gate, rules: [{rate: 1/day}],\n"
                           "     overrides: [{key: vip, unlimited: true}]}\n"
                           "  - {name: team, within: vendor, rules: [\n"
                           "      {rate: 200/day, counts: output, burst: 200},\n"
                           "      {rate: 90/day, counts: images, burst: 90}]}\n"
                           "  - {name: vendor, rules: [\n"
                           "      {rate: 5000/day, counts: input, burst: 5000},\n"
                           "      {rate: 800/day, counts: output, burst: 800}]}\n";

enum { CLUSTER = REDIS + 1, KINDS };
static int kinds[] = {MEMORY, STORE_FILE, REDIS, CLUSTER};
static struct cluster cluster;
static takt_client *other;
static seen slow[JOBS], fast[JOBS];

#define EACH_OF(count, test)                                                                       \
    ParameterizedTestParameters(nest, test)                                                        \
    {                                                                                              \
        return cr_make_param_array(int, kinds, count);                                             \
    }                                                                                              \
    ParameterizedTest(const int *kind, nest, test, .timeout = 150)

#define EACH_STORE(test)             EACH_OF(CLUSTER, test)
#define EACH_STORE_AND_CLUSTER(test) EACH_OF(KINDS, test)

static void open_at(const char *url, const char *name_space)
{
    takt_options options = {.store = url,
                            .name_space = name_space,
                            .store_timeout_us = 20000 * MS,
                            .on_event = note_event};
    takt_error error = {0};

    cr_assert_eq(uv_loop_init(&loop), 0);
    cr_assert_eq(takt_policy_parse(&policy, "p", text, strlen(text), &error), 0, "%s", error.text);
    cr_assert_eq(takt_open(&client, &loop, policy, &options, &error), 0, "%s", error.text);
    cr_assert_eq(takt_open(&other, &loop, policy, &options, &error), 0, "%s", error.text);
}

static void begin(int kind)
{
    if (kind == CLUSTER) {
        cluster_start(&cluster, false, NULL);
        open_at(cluster.url, "{nest}");
    } else {
        open_at(open_store(kind), NULL);
    }
}

static void end(int kind)
{
    takt_close(other, NULL, NULL);
    close_client();
    if (kind == CLUSTER)
        cluster_stop(&cluster);
    else
        close_store(kind);
}

static void acquire_many(takt_client *of, seen *jobs, int count, const char *limit, const char *key,
                         int64_t max_wait_us)
{
    takt_request request = TAKT_REQUEST(limit);

    request.key = key;
    request.max_wait_us = max_wait_us;
    for (int i = 0; i < count; i++) {
        jobs[i].permit.data = &jobs[i];
        cr_assert_eq(takt_acquire(of, &jobs[i].permit, &request, note), 0);
    }
}

static void expect_apart(const seen *jobs, int count, int64_t least_us)
{
    for (int i = 1; i < count; i++)
        cr_expect_geq(jobs[i].permit.slot_at_us - jobs[i - 1].permit.slot_at_us, least_us, "job %d",
                      i);
}

static takt_standing standing_of(const char *limit, const char *key)
{
    takt_call call = {0};

    run_call(takt_peek(client, &call, limit, key, note_call));
    return last.standing;
}

EACH_STORE_AND_CLUSTER(work_waits_in_one_line)
{
    begin(*kind);
    acquire_many(client, slow, 3, "domain", "a.example", 0);
    cr_expect_str_eq(slow[0].permit.queue->limit->name, "smtp");
    run_until(3);
    expect_apart(slow, 3, 20 * MS);
    acquire_many(client, fast, 30, "domain", "a.example", 0);
    run_until(4);
    cr_expect_geq(standing_of("domain", "a.example").waiting, 1);
    cr_expect_geq(standing_of("smtp", NULL).waiting, 1);
    cr_expect_str_eq(fast[29].permit.queue->turn->tenant, "a.example");
    run_until(33);
    end(*kind);
}

/* Neither the time without slots nor the server's own pace is caught up by the domain. */
EACH_STORE(a_block_of_the_outer_limit_gives_the_inner_one_no_burst)
{
    takt_call call = {0};
    int64_t blocked_at_us, ends_at_us;
    int count = 40;

    begin(*kind);
    acquire_many(client, slow, count, "domain", "a.example", 0);
    run_until(5);
    run_call(takt_block(other, &call, "smtp", NULL, 400 * MS, NULL, note_call));
    cr_assert_eq(last.status, 0);
    ends_at_us = last.standing.blocked_until_us;
    blocked_at_us = last.standing.now_us;
    run_until(count);
    expect_apart(slow, count, 20 * MS);
    for (int i = 0; i < count; i++)
        cr_expect(slow[i].permit.slot_at_us <= blocked_at_us + 250 * MS ||
                  slow[i].permit.slot_at_us >= ends_at_us);
    cr_expect_geq(slow[count - 1].permit.slot_at_us, ends_at_us);
    end(*kind);
}

/* A block of one domain concerns no other one. */
EACH_STORE(a_block_of_the_inner_limit_holds_up_its_key_alone)
{
    takt_call call = {0};
    int64_t ends_at_us;

    begin(*kind);
    acquire_many(client, slow, 100, "domain", "a.example", 0);
    acquire_many(client, fast, 10, "domain", "b.example", 0);
    run_until(4);
    run_call(takt_block(client, &call, "domain", "a.example", 1000 * MS, NULL, note_call));
    ends_at_us = last.standing.blocked_until_us;
    run_until(110);
    cr_expect_geq(slow[99].permit.slot_at_us, ends_at_us);
    cr_expect_lt(fast[9].permit.slot_at_us, ends_at_us);
    expect_apart(slow, 100, 20 * MS);
    expect_apart(fast, 10, 20 * MS);
    end(*kind);
}

/* Another client unblocks the limit: its hint wakes the queue, which is parked for longer. */
EACH_STORE_AND_CLUSTER(an_unblocked_inner_limit_goes_on_at_once)
{
    takt_call call = {0};

    begin(*kind);
    run_call(takt_block(other, &call, "domain", "a.example", INT64_C(3600000000), NULL, note_call));
    acquire_many(client, slow, 5, "domain", "a.example", 0);
    acquire_many(client, fast, 5, "domain", "b.example", 0);
    run_until(5);
    while (slow[0].permit.queue->awarded.parked_until_us == 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert_eq(slow[0].calls, 0);
    run_call(takt_unblock(other, &call, "domain", "a.example", note_call));
    run_until(10);
    end(*kind);
}

/* Slow work came after much fast work of another key. */
EACH_STORE(slow_work_keeps_its_pace_beside_fast_work)
{
    int before = 0;

    begin(*kind);
    acquire_many(client, fast, JOBS, "free", "b.example", 0);
    acquire_many(client, slow, 60, "domain", "a.example", 0);
    run_until(JOBS + 60);
    expect_apart(slow, 60, 20 * MS);
    for (int i = 0; i < 60; i++)
        before += slow[i].permit.slot_at_us < fast[JOBS - 1].permit.slot_at_us;
    cr_expect_geq(before, 3, "%d of its slots: it waits behind the fast work", before);
    end(*kind);
}

/* Slots in hand that pass while the machine is busy have taken what they cost (unused.h). */
static void expect_taken(const char *limit, const char *key, int granted, int slots)
{
    int64_t remaining = standing_of(limit, key).remaining;

    cr_expect_leq(granted, slots);
    cr_expect(remaining >= 800 - slots && remaining <= 800 - granted, "%lld, %d granted",
              (long long)remaining, granted);
}

/* Within 900 ms there are six slots. */
EACH_STORE(who_gives_up_has_taken_nothing_of_the_inner_limit)
{
    int count = 100, granted = 0;

    begin(*kind);
    acquire_many(client, slow, count, "day", NULL, 900 * MS);
    run_until(count);
    for (int i = 0; i < count; i++) {
        granted += slow[i].status == 0;
        cr_expect(slow[i].status == 0 || slow[i].status == TAKT_E_DEADLINE);
    }
    while (client->calls.in_flight > 0 || client->claims_in_flight > 0)
        uv_run(&loop, UV_RUN_ONCE);
    expect_taken("day", NULL, granted, 6);
    end(*kind);
}

/* Slots in hand go back to every level.  Of the inner rule the time of a lookahead stays
 * (unused.h): two tokens and a part. */
EACH_STORE(what_is_cancelled_is_handed_back_to_every_level)
{
    begin(*kind);
    acquire_many(client, fast, 200, "free", "a", 0);
    run_until(20);
    for (int i = 0; i < 200; i++)
        if (fast[i].calls == 0)
            takt_release(&fast[i].permit);
    do
        uv_run(&loop, UV_RUN_ONCE);
    while (client->calls.in_flight > 0 || client->claims_in_flight > 0);
    cr_expect_geq(standing_of("free", "a").remaining, 1000 - order - 3);
    end(*kind);
}

/* The levels around it decide together: what gives up has taken nothing. */
EACH_STORE(an_unlimited_level_takes_no_part)
{
    takt_request request = TAKT_REQUEST("user");
    int count = 100, granted = 0;

    request.key = "u";
    request.within_keys[0] = "vip";
    request.max_wait_us = 900 * MS;
    begin(*kind);
    for (int i = 0; i < count; i++) {
        slow[i].permit.data = &slow[i];
        cr_assert_eq(takt_acquire(client, &slow[i].permit, &request, note), 0);
    }
    run_until(count);
    for (int i = 0; i < count; i++)
        granted += slow[i].status == 0;
    while (client->calls.in_flight > 0 || client->claims_in_flight > 0)
        uv_run(&loop, UV_RUN_ONCE);
    expect_taken("user", "u", granted, 6);
    cr_expect_eq(standing_of("plan", "vip").remaining, 1, "no ledger is asked");
    end(*kind);
}

/* Of two levels one is left, whose slot is known: it takes back what work has not used. */
EACH_STORE(the_level_beside_an_unlimited_one_decides_alone)
{
    takt_request request = TAKT_REQUEST("solo");

    request.cost = 9;
    request.within_keys[0] = "vip";
    begin(*kind);
    slow[0].permit.data = &slow[0];
    cr_assert_eq(takt_acquire(client, &slow[0].permit, &request, note), 0);
    run_until(1);
    cr_expect_eq(slow[0].status, 0);
    cr_expect_eq(standing_of("solo", NULL).remaining, 41);
    cr_expect_eq(takt_settle(&slow[0].permit, &request, TAKT_USED(4)), 0);
    while (client->calls.in_flight > 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect_eq(standing_of("solo", NULL).remaining, 46);
    end(*kind);
}

static void expect_left(const char *limit, const char *key, int64_t first, int64_t second)
{
    takt_standing standing = standing_of(limit, key);

    cr_assert_eq(standing.rule_count, 2);
    cr_expect_eq(standing.rules[0].remaining, first, "%s: %s", limit, standing.rules[0].unit);
    cr_expect_eq(standing.rules[1].remaining, second, "%s: %s", limit, standing.rules[1].unit);
}

/* The levels number their units differently, and the team counts one that the vendor does not. */
EACH_STORE(each_level_takes_the_amounts_of_its_own_units)
{
    takt_request request = TAKT_REQUEST("team");
    const takt_amount used[] = {{"output", 50}, {"images", 1}};

    request.key = "a";
    request.amounts[0] = (takt_amount){"input", 700};
    request.amounts[1] = (takt_amount){"output", 30};
    request.amounts[2] = (takt_amount){"images", 4};
    begin(*kind);
    slow[0].permit.data = &slow[0];
    slow[1].permit.data = &slow[1];
    cr_assert_eq(takt_acquire(client, &slow[0].permit, &request, note), 0);
    run_until(1);
    cr_expect_eq(slow[0].status, 0);
    expect_left("team", "a", 170, 86);
    expect_left("vendor", NULL, 4300, 770);
    cr_expect_eq(takt_settle(&slow[0].permit, &request, used, 2), 0);
    while (client->calls.in_flight > 0)
        uv_run(&loop, UV_RUN_ONCE);
    expect_left("team", "a", 150, 89);
    expect_left("vendor", NULL, 4300, 750);
    request.amounts[1].amount = 151;
    request.max_wait_us = 900 * MS;
    cr_assert_eq(takt_acquire(client, &slow[1].permit, &request, note), 0);
    run_until(2);
    cr_expect_eq(slow[1].status, TAKT_E_DEADLINE, "the team has 150 left");
    expect_left("vendor", NULL, 4300, 750);
    end(*kind);
}

static void acquire_single(seen *job, const char *outer_key)
{
    takt_request request = TAKT_REQUEST("single");

    request.key = "a";
    request.within_keys[0] = outer_key;
    job->permit.data = job;
    cr_assert_eq(takt_acquire(client, &job->permit, &request, note), 0);
}

/* One client has a queue for each outer key, and one permit of the inner key for both. */
EACH_STORE_AND_CLUSTER(an_inner_key_has_its_permits_within_all_outer_keys)
{
    begin(*kind);
    acquire_single(&slow[0], "north");
    run_until(1);
    acquire_single(&slow[1], "south");
    do
        uv_run(&loop, UV_RUN_ONCE);
    while (client->claims_in_flight > 0);
    cr_expect_eq(slow[1].calls, 0, "two hold one permit");
    takt_release(&slow[0].permit);
    run_until(2);
    cr_expect_eq(slow[1].status, 0);
    takt_release(&slow[1].permit);
    end(*kind);
}

/* ---- a newer policy of another worker -------------------------------------------------------- */

#define OUTER "  - {name: outer, rules: [{rate: 1000000/s, burst: 1000}]}\n"

static const char old_text[] =
    "limits:\n"
    "  - {name: inner, rules: [{rate: 1000000/s, burst: 1000}], within: outer}\n" OUTER;
static takt_policy *old_policy, *new_policy;

/* `client` gets the old policy, and `other` a new one. */
static void begin_with_policies(int kind, const char *new_text)
{
    takt_error error;

    begin(kind);
    cr_assert_eq(takt_policy_parse(&old_policy, "old", old_text, strlen(old_text), &error), 0);
    cr_assert_eq(takt_policy_parse(&new_policy, "new", new_text, strlen(new_text), &error), 0, "%s",
                 error.text);
    cr_assert_eq(takt_reload(client, old_policy, &error), 0);
    cr_assert_eq(takt_reload(other, new_policy, &error), 0);
}

static void end_with_policies(int kind)
{
    end(kind);
    takt_policy_free(old_policy);
    takt_policy_free(new_policy);
}

static const char permits_text[] =
    "revision: 2\nlimits:\n"
    "  - {name: inner, concurrency: 2, lease: 1day, within: outer}\n" OUTER;

static void expect_held(const char *limit, int64_t held)
{
    while (standing_of(limit, "k").held != held)
        continue;
}

/* Otherwise the permit would be lost until its lease ends. */
EACH_STORE_AND_CLUSTER(who_has_older_numbers_returns_permits_of_an_inner_limit)
{
    begin_with_policies(*kind, permits_text);
    acquire_many(other, fast, 1, "inner", "k", 0);
    run_until(1);
    acquire_many(client, slow, 1, "inner", "k", 0);
    run_until(2);
    cr_expect_eq(slow[0].status, 0);
    cr_expect_gt(slow[0].permit.fence, fast[0].permit.fence);
    acquire_many(other, &fast[1], 1, "inner", "k", 0);
    acquire_many(client, &slow[1], 1, "inner", "k", 0);
    expect_held("inner", 2);
    cr_expect(takt_is_held(&slow[0].permit));
    cr_expect_eq(fast[1].calls + slow[1].calls, 0, "there are two");
    takt_release(&slow[0].permit);
    run_until(3);
    takt_release(&fast[0].permit);
    run_until(4);
    takt_release(&fast[1].permit);
    takt_release(&slow[1].permit);
    expect_held("inner", 0);
    end_with_policies(*kind);
}

static int try_of(takt_client *of, takt_permit *permit)
{
    takt_request request = TAKT_REQUEST("inner");
    takt_call call = {0};

    request.key = "k";
    run_call(takt_try_acquire(of, &call, permit, &request, note_call));
    return last.status;
}

EACH_STORE_AND_CLUSTER(tries_of_who_has_older_numbers_get_permits_of_an_inner_limit)
{
    takt_permit holder = {0}, permits[2] = {{0}};

    begin_with_policies(*kind, permits_text);
    cr_assert_eq(try_of(other, &holder), 0);
    while (try_of(client, &permits[0]) != 0)
        cr_assert_eq(last.status, TAKT_E_NO_SLOT);
    cr_expect_gt(permits[0].fence, holder.fence);
    expect_held("inner", 2);
    cr_expect_eq(try_of(client, &permits[1]), TAKT_E_NO_SLOT, "there are two");
    takt_release(&permits[0]);
    expect_held("inner", 1);
    cr_expect_eq(try_of(client, &permits[1]), 0);
    takt_release(&permits[1]);
    takt_release(&holder);
    expect_held("inner", 0);
    end_with_policies(*kind);
}

static void acquire_cost(seen *job, int32_t cost)
{
    takt_request request = TAKT_REQUEST("inner");

    request.key = "k";
    request.cost = cost;
    job->permit.data = job;
    cr_assert_eq(takt_acquire(client, &job->permit, &request, note), 0);
}

/* Otherwise it would wait for ever. */
EACH_STORE_AND_CLUSTER(a_cost_that_newer_numbers_of_an_inner_limit_never_give_is_refused)
{
    begin_with_policies(*kind, "revision: 2\nlimits:\n"
                               "  - {name: inner, rules: [{rate: 1/day, burst: 5}],\n"
                               "     within: outer}\n" OUTER);
    acquire_many(other, fast, 1, "inner", "k", 0);
    run_until(1);
    for (int i = 0; i < 2; i++) { /* the second one is refused without a claim */
        acquire_cost(&slow[i], 6);
        run_until(i + 2);
        cr_expect_eq(slow[i].status, TAKT_E_COST);
    }
    acquire_cost(&slow[2], 4);
    run_until(4);
    cr_expect_eq(slow[2].status, 0);
    end_with_policies(*kind);
}

#define KEYS 30

/* One job of each of many keys; "k7" and so on. */
static void acquire_each(seen *jobs)
{
    char key[8];

    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "k%d", i);
        acquire_many(client, &jobs[i], 1, "domain", key, 0);
    }
}

static int64_t scripts_run(void)
{
    const char *found = strstr(server_say(&server, "INFO commandstats"), "cmdstat_evalsha:calls=");

    return found ? strtoll(strchr(found, '=') + 1, NULL, 10) : 0;
}

static void wait_for_claims(void)
{
    while (client->claims_in_flight > 0)
        uv_run(&loop, UV_RUN_ONCE);
}

/* The connection is there, and the server knows the script. */
static void begin_with_keys(void)
{
    begin(REDIS);
    for (int i = 1; i <= 2; i++) {
        acquire_each(&slow[i * KEYS]);
        run_until(i * KEYS);
        wait_for_claims();
    }
    server_say(&server, "CONFIG RESETSTAT");
}

Test(nest_redis, claims_of_many_keys_run_in_one_script, .timeout = 150)
{
    begin_with_keys();
    acquire_each(slow);
    run_until(3 * KEYS);
    wait_for_claims();
    cr_expect_leq(scripts_run(), KEYS / 4, "%d", (int)scripts_run());
    server_say(&server, "SCRIPT FLUSH");
    acquire_each(fast);
    run_until(4 * KEYS);
    wait_for_claims();
    for (int i = 0; i < KEYS; i++) {
        cr_expect(slow[i].status == 0 && fast[i].status == 0);
        cr_expect_geq(fast[i].permit.slot_at_us - slow[i].permit.slot_at_us, 20 * MS);
    }
    end(REDIS);
}

static void count_turn(uv_timer_t *timer)
{
    --*(int *)timer->data;
}

static void forget(uv_handle_t *timer)
{
    timer->data = NULL;
}

/* Turns of the loop, five milliseconds or more between two. */
static void turn_slowly(int turns)
{
    uv_timer_t timer = {.data = &turns};

    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, count_turn, 5, 5);
    while (turns > 0)
        uv_run(&loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&timer, forget);
    while (timer.data)
        uv_run(&loop, UV_RUN_NOWAIT);
}

/* A distant server gets the next claims before it has answered. */
Test(nest_redis, whole_scripts_of_claims_do_not_wait_for_each_other, .timeout = 150)
{
    begin_with_keys();
    kill(server.process, SIGSTOP);
    acquire_each(slow);
    turn_slowly(60);
    kill(server.process, SIGCONT);
    cr_expect_eq(scripts_run(), KEYS / TAKT_BATCH_MAX, "%d: no answer was read",
                 (int)scripts_run());
    run_until(3 * KEYS);
    cr_expect_eq(events_seen, 0);
    end(REDIS);
}

/* What the server refuses for one key concerns no other one. */
Test(nest_redis, a_claim_that_fails_leaves_the_others_of_its_script, .timeout = 150)
{
    begin_with_keys();
    server_say(&server, "DEL takt:{default/domain/k7}");
    server_say(&server, "RPUSH takt:{default/domain/k7} x");
    acquire_each(fast);
    run_until(3 * KEYS - 1);
    cr_expect_eq(fast[7].calls, 0);
    for (int i = 0; i < KEYS; i++)
        cr_expect(i == 7 || fast[i].status == 0);
    server_say(&server, "DEL takt:{default/domain/k7}");
    run_until(3 * KEYS);
    end(REDIS);
}

/* ---- a cluster ------------------------------------------------------------------------------- */

static void note_trouble(takt_client *of, const takt_event *event, void *told)
{
    note_event(of, event, NULL);
    if (event->type == TAKT_EVENT_STORE_LOST && strstr(event->text, "a namespace in braces"))
        *(bool *)told = true;
}

/* The keys of a chain are on different nodes there. */
Test(nest_cluster, a_plain_namespace_is_refused, .timeout = 150)
{
    bool told = false;
    takt_options options = {.on_event = note_trouble, .data = &told};

    cluster_start(&cluster, false, NULL);
    open_at(cluster.url, NULL);
    takt_close(other, NULL, NULL);
    options.store = cluster.url;
    cr_assert_eq(takt_open(&other, &loop, policy, &options, NULL), 0);
    acquire_many(other, slow, 5, "domain", "a.example", 0);
    acquire_many(other, fast, 1, "smtp", NULL, 0);
    while (!told)
        uv_run(&loop, UV_RUN_ONCE);
    run_until(1);
    cr_expect_eq(fast[0].status, 0, "a limit alone has its node");
    for (int i = 0; i < 5; i++)
        cr_expect_eq(slow[i].calls, 0, "it waits, as the policy says");
    end(CLUSTER);
}

/* A namespace in braces: one slot has all of its ledgers. */
static int slot_in_use(void)
{
    return cluster_slot(&cluster, "takt:{nest}/smtp/");
}

/* The node has only some of the keys of a claim. */
static bool has_refused(int node)
{
    return strstr(server_say(&cluster.nodes[node], "INFO errorstats"), "TRYAGAIN") != NULL;
}

static void expect_granted(const seen *jobs, int count)
{
    for (int i = 0; i < count; i++)
        cr_expect(jobs[i].calls == 1 && jobs[i].status == 0);
}

/* While keys of a chain are on two nodes its claims wait. No rule of a level is broken. */
Test(nest_cluster, claims_wait_while_their_slot_moves, .timeout = 150)
{
    int slot, from, to;

    begin(CLUSTER);
    acquire_many(client, slow, 60, "domain", "a.example", 0);
    acquire_many(other, fast, 30, "domain", "b.example", 0);
    run_until(10);
    slot = slot_in_use();
    from = cluster_owner(&cluster, slot);
    to = (from + 1) % SHARDS;
    cluster_begin_move(&cluster, slot, from, to);
    cluster_move_key(&cluster, "takt:{nest}/smtp/", from, to);
    while (!has_refused(from))
        uv_run(&loop, UV_RUN_ONCE);
    cluster_move_keys(&cluster, slot, from, to);
    cluster_end_move(&cluster, slot, from, to);
    run_until(90);
    expect_granted(slow, 60);
    expect_granted(fast, 30);
    expect_apart(slow, 60, 20 * MS);
    expect_apart(fast, 30, 20 * MS);
    cr_expect_eq(events_seen, 0);
    end(CLUSTER);
}

/* A replica takes over by order, which loses nothing, and then its primary dies. */
Test(nest_cluster, work_goes_on_at_the_node_that_takes_over, .timeout = 150)
{
    int node;

    cluster_start(&cluster, true, NULL);
    open_at(cluster.url, "{nest}");
    acquire_many(client, slow, 60, "domain", "a.example", 0);
    acquire_many(other, fast, 30, "domain", "b.example", 0);
    run_until(10);
    cluster_await_replicas(&cluster);
    node = cluster_fail_over(&cluster, cluster_owner(&cluster, slot_in_use()));
    run_until(90);
    expect_granted(slow, 60);
    expect_granted(fast, 30);
    expect_apart(slow, 60, 20 * MS);
    expect_apart(fast, 30, 20 * MS);
    acquire_many(client, slow + 60, 60, "domain", "a.example", 0);
    run_until(100);
    cluster_await_replicas(&cluster);
    cluster_kill_and_promote(&cluster, node);
    run_until(150);
    expect_granted(slow + 60, 60);
    end(CLUSTER);
}
