/*
 * Nested work: the names and numbers of its queues, what its claims say, what becomes of it while
 * the store is lost, and with a new policy.
 */
#include "scheduler/nest.h"

#include "core/tenants.h"
#include "scheduler/loss.h"
#include "scheduler/nested.h"
#include "scheduler/order.h"
#include "scheduler/renew.h"
#include "scheduler/renew_queue.h"
#include "scheduler/turns.h"

TestSuite(nest, .init = set_up, .fini = close_scheduler);

/* ---- units and numbers ----------------------------------------------------------------------- */

Test(nest, newer_numbers_do_not_count_the_units_of_inner_limits)
{
    takt_queue *queue = add("d", 0);
    takt_permit permit = {.cost = 1, .more = {{4000}}};
    takt_limit newer = server;

    count_units(&newer, "input", "images");
    newer.numbers.revision = 1;
    queue->numbers = &newer.numbers;
    cr_expect(takt_queue_can_give(queue, &permit));
    cr_expect_eq(takt_queue_stated(queue), &server.numbers, "or the ledger would count images");
    permit.cost = 4000;
    cr_expect_not(takt_queue_can_give(queue, &permit));
    queue->numbers = &server.numbers;
}

Test(nest, numbered_amounts_need_no_names)
{
    static const char name[] = "server\0mx\0\0domain\0d\0"
                               "1123";
    takt_chain chain = numbered();
    takt_chain_units units;
    takt_queue *queue;

    strcpy(domain.unit, "images");
    cr_expect(takt_chain_is_nested(&chain));
    cr_assert(takt_chain_number(&chain, &units));
    cr_expect_eq(units.maps[0].shift[0], 1);
    queue = takt_registry_nested(&s, &chain, NULL, 1);
    cr_expect(takt_unit_map_same(queue->nest->inner[0].units, chain.maps[0]));
    cr_expect_eq(takt_registry_named(&s, name, sizeof name - 1), queue);
}

static const takt_limit *newer_server, *newer_domain;

static const takt_limit *find_newer(const void *data, const takt_limit *limit, const char *key)
{
    (void)data, (void)key;
    return strcmp(limit->name, "server") == 0 ? newer_server : newer_domain;
}

static int32_t weigh(const void *data, const takt_limit *limit, const char *tenant, int32_t weight)
{
    (void)data;
    (void)limit;
    (void)tenant;
    (void)weight;
    return 1;
}

/* Nothing that waits moves: no limit joins. */
static void renew(const takt_limit *(*find)(const void *, const takt_limit *, const char *))
{
    const takt_successor to = {.find = find, .weigh = weigh};

    takt_renew_policy(&s, &to);
}

Test(nest, numbered_work_keeps_its_limits_if_new_ones_count_other_units)
{
    takt_chain chain = numbered();
    takt_queue *queue = takt_registry_nested(&s, &chain, NULL, 1);
    takt_limit newer = server, inner = domain;

    count_units(&newer, "tokens", "images");
    newer_server = &newer;
    newer_domain = &inner;
    renew(find_newer);
    cr_expect_eq(queue->limit, &server);
    newer.numbers.rule_count = 1;
    renew(find_newer);
    cr_expect_eq(queue->limit, &newer);
    cr_expect_eq(queue->nest->inner[0].limit, &inner);
    newer_server = &server;
    newer_domain = &domain;
    renew(find_newer);
}

Test(nest, waiters_keep_the_units_that_they_stated)
{
    takt_chain chain = chain_of(&domain, (const char *const[]){"d", "mx"});
    takt_queue *before, *after;

    strcpy(server.unit, "input");
    strcpy(domain.unit, "input");
    before = takt_registry_nested(&s, &chain, NULL, 1);
    strcpy(domain.unit, "output");
    cr_expect_not(takt_nest_continues(before->nest, &chain));
    after = takt_registry_nested(&s, &chain, NULL, 1);
    cr_expect_neq(before, after, "amounts of other units wait in another queue");
    cr_expect_neq(takt_nest_worker(before, 7), takt_nest_worker(after, 7));
    cr_expect(takt_nest_continues(after->nest, &chain));
}

/* One ledger of "d" has holders and places of both. */
Test(nest, a_worker_has_a_number_for_each_outer_key)
{
    takt_chain first = chain_of(&domain, (const char *const[]){"d", "mx1"}),
               second = chain_of(&domain, (const char *const[]){"d", "mx2"});
    takt_queue *one = takt_registry_nested(&s, &first, NULL, 1),
               *other = takt_registry_nested(&s, &second, NULL, 1);

    cr_expect_neq(takt_nest_worker(one, 7), takt_nest_worker(other, 7));
}

/* ---- claims ---------------------------------------------------------------------------------- */

Test(nest, a_claim_names_its_subject)
{
    takt_queue *a = add("a.example", 2), *b = add("b.example", 1);

    cr_expect_eq(a->limit, &server);
    cr_expect_str_eq(a->key, "mx");
    cr_assert_eq(a->nest->count, 1);
    cr_expect_eq(a->nest->inner[0].limit, &domain);
    cr_expect_str_eq(a->nest->inner[0].key, "a.example");
    run(0);
    cr_assert_eq(claims, 2);
    cr_expect_str_eq(said[0].tenant, "a.example");
    cr_expect_eq(said[0].tenant_weight, 1);
    cr_expect_eq(said[0].waiting, 2);
    cr_expect_eq(said[0].process, 7);
    cr_expect_str_eq(said[1].tenant, "b.example");
    cr_expect_neq(said[0].worker, said[1].worker);
    cr_expect_neq(said[0].worker, 7);
    cr_expect_eq(add("b.example", 0), b, "the same subject");
}

/* An inner limit as a whole, several levels, and more than a tenant's name can have. */
Test(nest, subjects_have_readable_names)
{
    char longest[TAKT_KEY_SIZE_MAX + 1];
    takt_chain whole = chain_of(&domain, (const char *const[]){"", "mx"}),
               deep = chain_of(&user, (const char *const[]){"ann", "a.example", ""}),
               all = chain_of(&user, (const char *const[]){longest, longest, longest});
    takt_queue *last;

    memset(longest, 'k', TAKT_KEY_SIZE_MAX);
    longest[TAKT_KEY_SIZE_MAX] = '\0';
    cr_expect_str_eq(takt_registry_nested(&s, &whole, NULL, 1)->turn->tenant, "domain");
    cr_expect_str_eq(takt_registry_nested(&s, &deep, NULL, 1)->turn->tenant, "ann/a.example");
    last = takt_registry_nested(&s, &all, NULL, 1);
    cr_expect_eq(strlen(last->turn->tenant), 17);
    cr_expect_str_eq(last->nest->inner[1].key, longest);
    cr_expect_str_eq(last->key, longest);
    longest[0] = 'x';
    cr_expect_str_neq(takt_registry_nested(&s, &all, NULL, 1)->turn->tenant, last->turn->tenant);
}

/* The keys of two inner limits may be equal: each has queues and claims of its own. */
Test(nest, equal_keys_of_other_limits_are_other_queues)
{
    static takt_limit bulk;
    bulk = named("bulk", 1, &server);
    takt_chain other = chain_of(&bulk, (const char *const[]){"a", "mx"});

    add("a", 1);
    queues[queue_count] = takt_registry_nested(&s, &other, NULL, 1);
    cr_assert_neq(queues[0], queues[1]);
    wait_in(queue_count++, 1);
    run(0);
    cr_assert_eq(claims, 2);
    cr_expect_neq(said[0].worker, said[1].worker);
    cr_expect_eq(takt_nest_next(&s, domain.name, "a", NULL), queues[0]);
    cr_expect_null(takt_nest_next(&s, domain.name, "a", queues[0]));
    cr_expect_eq(takt_nest_next(&s, bulk.name, "a", NULL), queues[1]);
}

Test(nest, tenants_of_the_outermost_limit_take_its_turns)
{
    takt_chain chain = chain_of(&domain, (const char *const[]){"a", "mx"});

    server.fair = TAKT_FAIR_TENANT;
    for (int i = 0; i < 3; i++) {
        queues[i] = takt_registry_nested(&s, &chain, i == 0 ? "acme" : i == 1 ? "beta" : "", 3);
        wait_in(i, 1);
    }
    queue_count = 3;
    run(0);
    cr_assert_eq(claims, 3);
    cr_expect_str_eq(said[0].tenant, "acme");
    cr_expect_eq(said[0].tenant_weight, 3);
    cr_expect_str_eq(said[1].tenant, "beta");
    cr_expect_str_eq(said[2].tenant, "");
    for (int i = 1; i < 3; i++)
        cr_expect_neq(said[0].worker, said[i].worker);
}

/* Of processes behind an agent.  A tenant's places may be of different keys, and those of a subject
 * are of one. */
Test(nest, only_places_of_subjects_count_all_processes)
{
    takt_chain chain = chain_of(&domain, (const char *const[]){"a", "mx"});

    add("b", 1)->weight = 7;
    queues[1] = takt_registry_nested(&s, &chain, "acme", 1);
    queues[1]->weight = 7;
    wait_in(1, 1);
    queue_count = 2;
    run(0);
    cr_assert_eq(claims, 2);
    cr_expect_eq(said[0].weight, 7);
    cr_expect_eq(said[1].weight, 1);
}

static takt_queue *add_inside(const char *key, const char *tenant)
{
    takt_chain chain = chain_of(&domain, (const char *const[]){key, "mx"});
    int at = queue_count++;

    chain.inside = takt_chain_inside(&chain);
    queues[at] = takt_registry_nested(&s, &chain, tenant, 3);
    wait_in(at, 1);
    return queues[at];
}

/* So many tenants of the key "a". */
static void add_tenants(int count)
{
    char name[16];

    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "t%d", i);
        add_inside("a", name);
    }
}

Test(nest, tenants_of_the_innermost_limit_alone_take_turns_within_those_of_their_subject)
{
    domain.fair = TAKT_FAIR_TENANT;
    add_inside("a", "acme");
    add_inside("a", "beta");
    run(0);
    cr_assert_eq(claims, 2);
    for (int i = 0; i < 2; i++) {
        cr_expect_str_eq(said[i].tenant, "a", "the subject");
        cr_expect_eq(said[i].tenant_weight, 1);
        cr_expect_str_eq(said[i].inner_tenant, i == 0 ? "acme" : "beta");
        cr_expect_eq(said[i].inner_weight, 3);
        cr_expect(said[i].within_turns);
    }
    cr_expect_neq(said[0].worker, said[1].worker);
}

Test(nest, both_lines_have_the_tenants_if_both_limits_have_fair)
{
    domain.fair = server.fair = TAKT_FAIR_TENANT;
    add_inside("a", "acme");
    run(0);
    cr_assert_eq(claims, 1);
    cr_expect_str_eq(said[0].tenant, "acme");
    cr_expect_str_eq(said[0].inner_tenant, "acme");
    cr_expect_eq(said[0].inner_weight, 3);
    cr_expect(!said[0].within_turns);
}

/* Ten tenants of one key, and one of another, which comes last: only one of the ten goes before it.
 */
Test(nest, subjects_take_turns_before_their_tenants)
{
    domain.fair = TAKT_FAIR_TENANT;
    add_tenants(10);
    run(0);
    takt_queue *other = add_inside("b", "t0");
    run(0);
    cr_expect_eq(takt_turns_first(other->turn->of, 5), queues[0]->turn);
    takt_waiter_leave(&s, &permits[0][0], 0);
    run(0);
    cr_expect_eq(takt_turns_first(other->turn->of, 5), other->turn);
}

/* A subject may have thousands of tenants: for its next turn nothing looks through those of all of
 * them, as for the one that seems to be last. */
Test(nest, a_subject_has_its_last_turn_at_hand)
{
    takt_queue *other;

    domain.fair = TAKT_FAIR_TENANT;
    add_tenants(40);
    run(0);
    cr_expect_eq(queues[39]->turn->tag, queues[0]->turn->tag + 39 * TAKT_TENANT_STEP);
    queues[3]->turn->tag += 1000 * TAKT_TENANT_STEP;
    run(0);
    other = add_inside("a", "late");
    run(0);
    cr_expect_eq(other->turn->tag, queues[39]->turn->tag + TAKT_TENANT_STEP);
    queues[3]->turn->tag -= 1000 * TAKT_TENANT_STEP;
    other = add_inside("b", "t0");
    run(0);
    cr_expect_eq(other->turn->tag, queues[0]->turn->tag, "another subject");
    cr_expect_not(other->turn->stands);
    for (int i = 0; i < 2; i++) { /* two places: the next one in turn comes, then t32 */
        takt_waiter_leave(&s, &permits[i][0], 0);
        run(0);
        cr_expect(i == 0 ? other->turn->stands : queues[32]->turn->stands);
        cr_expect_eq(queues[33]->turn->stands, false);
    }
}

/* Of 40 tenants of one key 32 stand in line, and 8 wait for a place. */
Test(nest, the_tenants_of_a_key_in_line_have_their_turns_before_its_others)
{
    takt_queue *other;

    domain.fair = TAKT_FAIR_TENANT;
    add_tenants(40);
    other = add_inside("b", "t0");
    run(0);
    cr_assert_not(other->turn->stands);
    takt_order_told(queues[5], 500 * TAKT_TENANT_STEP); /* the tag of all that have this key */
    takt_order_told(other, 510 * TAKT_TENANT_STEP);
    takt_waiter_leave(&s, &permits[0][0], 0);
    run(0);
    cr_expect(other->turn->stands, "510 is less than 500 and a start of each of 31");
    cr_expect_not(queues[32]->turn->stands);
    takt_waiter_leave(&s, &permits[1][0], 0);
    run(0);
    cr_expect(queues[32]->turn->stands);
    cr_expect_eq(queues[32]->turn->tag, (500 + 31) * TAKT_TENANT_STEP);
    cr_expect_null(takt_registry_turn(&s, server.name, "mx", "a", NULL),
                   "nobody looks at them all");
    takt_order_told(queues[7], 600 * TAKT_TENANT_STEP);
    takt_order_told(other, 3000 * TAKT_TENANT_STEP);
    takt_waiter_leave(&s, &permits[8][0], 0);
    run(0);
    cr_expect(queues[33]->turn->stands);
    cr_expect_eq(queues[33]->turn->tag, (600 + 30 * 100) * TAKT_TENANT_STEP, "by its last start");
    for (int i = 2; i < 40; i++) {
        cr_expect_neq(queues[39]->turn->subject->told[5], 0);
        takt_waiter_leave(&s, &permits[i][0], 0);
        takt_order_review(&s, queues[i]);
    }
    cr_expect_eq(queues[39]->turn->subject->told[5], 0, "when it comes back, tags may be lower");
}

/* All queues of a ledger: the work of the server alone, and nested work. */
Test(nest, a_ledger_has_plain_and_nested_queues)
{
    takt_queue *plain = takt_registry_queue(&s, &server, "mx"), *at = NULL;
    int count = 0;

    add("a", 0);
    add("b", 0);
    takt_registry_queue(&s, &server, "other");
    while ((at = takt_registry_next(&s, server.name, "mx", at)))
        count++;
    cr_expect_eq(count, 3);
    cr_assert_not_null(plain->turn, "it takes turns with the others");
    cr_expect_eq(plain->turn->of, queues[0]->turn->of);
    queues[queue_count++] = plain;
    wait_in(2, 1);
    run(0);
    cr_assert_eq(claims, 1);
    cr_expect_null(said[0].tenant, "but it has no tenant");
    cr_expect_eq(said[0].tenant_weight, 1);
    cr_expect_eq(said[0].worker, 7);
}

/* Its ledger has no space for one more tenant, and it takes no turns here. */
Test(nest, a_plain_queue_among_too_many_tenants_waits_as_it_was_told)
{
    int64_t told_us;

    queues[queue_count++] = takt_registry_queue(&s, &server, "mx");
    cr_assert_null(queues[0]->turn);
    wait_in(0, 1);
    run(0);
    cr_assert_eq(claims, 1);
    put_off(0, 0, TAKT_KEEPALIVE_US, true);
    run(0);
    cr_expect_eq(claims, 0);
    wait_as(0, 1, 5);
    run(SECOND);
    cr_expect_eq(claims, 0, "not even for new waiters");
    told_us = next_pass();
    cr_assert(told_us >= TAKT_KEEPALIVE_US && told_us <= TAKT_KEEPALIVE_US + 10 * MS);
    run(told_us - 1);
    cr_expect_eq(claims, 0);
    run(told_us);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].waiting, 2);
}

/* ---- deadlines ------------------------------------------------------------------------------- */

/* The inner limit gives two in a second, the outermost ten. */
Test(nest, who_comes_too_late_by_an_inner_limit_fails_at_once)
{
    takt_award award = award_of(0, 0, 0, 1, 1);

    domain.numbers = limit_named(2, SECOND, 1).numbers;
    add("a", 0);
    for (int i = 0; i < EACH; i++) {
        permits[0][i] = (takt_permit){.cost = 1, .priority = 5, .deadline_at_us = NOW + 1100 * MS};
        takt_waiter_acquire(&s, queues[0], &permits[0][i]);
    }
    run(0);
    award.next_slot_at_us = NOW + 500 * MS;
    award.in_line = 1U << 5;
    award.claim_again_at_us = NOW + 400 * MS;
    answer_to(0, &award, 0);
    run(0);
    cr_expect_str_eq(started, "a");
    cr_expect_eq(queues[0]->waiters.total, 2, "at 500 ms and at 1 s");
    cr_expect_eq(permits[0][3].status, TAKT_E_DEADLINE);
}

/* ---- without the store ----------------------------------------------------------------------- */

Test(nest, the_strictest_limit_decides_without_the_store)
{
    static const struct {
        takt_on_store_failure outer, inner, expected;
    } rows[] = {
        {TAKT_ON_STORE_FAILURE_OPEN, TAKT_ON_STORE_FAILURE_OPEN, TAKT_ON_STORE_FAILURE_OPEN},
        {TAKT_ON_STORE_FAILURE_OPEN, TAKT_ON_STORE_FAILURE_SHARE, TAKT_ON_STORE_FAILURE_SHARE},
        {TAKT_ON_STORE_FAILURE_SHARE, TAKT_ON_STORE_FAILURE_OPEN, TAKT_ON_STORE_FAILURE_SHARE},
        {TAKT_ON_STORE_FAILURE_SHARE, TAKT_ON_STORE_FAILURE_WAIT, TAKT_ON_STORE_FAILURE_WAIT},
        {TAKT_ON_STORE_FAILURE_WAIT, TAKT_ON_STORE_FAILURE_OPEN, TAKT_ON_STORE_FAILURE_WAIT},
        {TAKT_ON_STORE_FAILURE_WAIT, TAKT_ON_STORE_FAILURE_CLOSED, TAKT_ON_STORE_FAILURE_CLOSED},
        {TAKT_ON_STORE_FAILURE_CLOSED, TAKT_ON_STORE_FAILURE_SHARE, TAKT_ON_STORE_FAILURE_CLOSED},
    };
    takt_queue *queue = add("a", 0);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        server.on_store_failure = rows[i].outer;
        domain.on_store_failure = rows[i].inner;
        cr_expect_eq(takt_loss_mode(queue), rows[i].expected, "row %zu", i);
    }
}

/* Runs without the store until that time; returns how many each queue started. */
static void run_alone(int64_t from_us, int64_t until_us, int starts[QUEUES_MAX])
{
    memset(starts, 0, QUEUES_MAX * sizeof *starts);
    for (int64_t at_us = from_us; at_us <= until_us; at_us = next_pass()) {
        run(at_us);
        for (const char *at = started; *at; at++)
            starts[*at - 'a']++;
        for (int i = 0; i < claims; i++)
            takt_scheduler_failed(&s, queues[claimed[i]], TAKT_E_STORE, NOW + at_us);
        cr_assert_gt(next_pass(), at_us);
    }
}

static void lose_store(int waiters)
{
    for (int i = 0; i < queue_count; i++)
        wait_in(i, waiters);
    run(0);
    for (int i = 0; i < claims; i++)
        put_off(claimed[i], 0, 0, false);
    run(0);
    for (int i = 0; i < claims; i++)
        takt_scheduler_failed(&s, queues[claimed[i]], TAKT_E_STORE, NOW);
}

/* The server's ten a second are for all; of a domain one starts in a second. */
Test(nest, each_level_has_its_pace_without_the_store)
{
    int starts[QUEUES_MAX];

    server.on_store_failure = domain.on_store_failure = TAKT_ON_STORE_FAILURE_SHARE;
    domain.numbers = limit_named(1, SECOND, 1).numbers;
    for (int i = 0; i < 3; i++)
        add((const char *const[]){"a", "b", "c"}[i], 0);
    lose_store(EACH);
    run_alone(0, 10 * SECOND, starts);
    for (int i = 0; i < 3; i++) {
        int64_t last_us = 0;
        cr_expect_eq(starts[i], EACH);
        for (int j = 0; j < EACH; j++) {
            cr_expect_geq(permits[i][j].slot_at_us - last_us, SECOND);
            last_us = permits[i][j].slot_at_us;
        }
    }
}

/* A domain that its own pace holds up leaves the server's pace to others. */
Test(nest, who_is_paced_inside_leaves_the_turn_to_others)
{
    static takt_limit slow;
    slow = named("slow", 1, &server);
    takt_chain chain = chain_of(&slow, (const char *const[]){"s", "mx"});
    int starts[QUEUES_MAX];
    int64_t slots[2 * EACH];
    int count = 0;

    server.on_store_failure = domain.on_store_failure = slow.on_store_failure =
        TAKT_ON_STORE_FAILURE_SHARE;
    domain.numbers = server.numbers;
    queues[queue_count++] = takt_registry_nested(&s, &chain, NULL, 1);
    add("fast", 0);
    lose_store(EACH);
    run_alone(0, 10 * SECOND, starts);
    cr_expect_eq(starts[0], EACH);
    cr_expect_eq(starts[1], EACH);
    cr_expect_leq(permits[1][EACH - 1].slot_at_us - permits[1][0].slot_at_us, 3 * 200 * MS);
    cr_expect_geq(permits[0][EACH - 1].slot_at_us - permits[0][0].slot_at_us, 3 * SECOND);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < EACH; j++)
            slots[count++] = permits[i][j].slot_at_us;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            cr_expect_geq(llabs(slots[i] - slots[j]), 99 * MS, "the server's pace is one");
}

/* ---- a new policy ---------------------------------------------------------------------------- */

static takt_limit next_server, next_domain;

static const takt_limit *find(const void *data, const takt_limit *limit, const char *key)
{
    (void)data;
    (void)key;
    return strcmp(limit->name, "server") == 0   ? &next_server
           : strcmp(limit->name, "domain") == 0 ? &next_domain
                                                : NULL;
}

static bool is_old(const void *data, const takt_limit *limit)
{
    (void)data;
    return limit == &domain;
}

Test(nest, all_levels_follow_a_new_policy_or_none)
{
    takt_chain chain;

    next_server = named("server", 20, NULL);
    next_domain = named("domain", 8, &next_server);
    add("a", 1);
    run(0);
    put_off(0, 0, 10 * SECOND, true);
    renew(find);
    cr_expect_eq(queues[0]->limit, &next_server);
    cr_expect_eq(queues[0]->nest->inner[0].limit, &next_domain);
    cr_expect_not(takt_renew_is_used(&s, is_old, NULL));
    run(0);
    cr_expect_eq(claims, 1, "also one that was parked");
    server = next_server;
    domain = next_domain;
    domain.within = &server;
    chain = chain_of(&domain, (const char *const[]){"a", "mx"});
    takt_renew_nested(&s, queues[0], &chain);
    next_domain.mode = TAKT_MODE_SHADOW;
    renew(find);
    cr_expect_eq(queues[0]->limit, &server, "it cannot be nested under the new one");
    cr_expect_eq(queues[0]->nest->inner[0].limit, &domain);
    cr_expect(takt_renew_is_used(&s, is_old, NULL));
}

/* Work that can never start by the rules of an inner limit fails. */
Test(nest, who_can_never_start_inside_fails)
{
    next_server = named("server", 20, NULL);
    next_domain = named("domain", 8, &next_server);
    server.numbers = next_server.numbers = limit_named(10, SECOND, 5).numbers;
    domain.numbers = limit_named(10, SECOND, 5).numbers;
    add("a", 0);
    permits[0][0] = (takt_permit){.cost = 3, .priority = 5, .deadline_at_us = TAKT_NEVER};
    takt_waiter_acquire(&s, queues[0], &permits[0][0]);
    renew(find);
    run(0);
    cr_expect_eq(permits[0][0].status, TAKT_E_COST);
}

/* ---- newer numbers of an inner limit --------------------------------------------------------- */

/* The award to the claim under way tells these numbers of the domain. */
static void tell_domain(takt_numbers newer, int64_t revision)
{
    takt_award award = award_of(0, 0, 0, 0, 1);

    award.outdated = 2;
    award.newer[1] = newer;
    award.newer[1].revision = revision;
    answer_to(0, &award, 0);
}

Test(nest, newer_numbers_of_an_inner_limit_are_used_until_the_policy_has_caught_up)
{
    takt_numbers newer = domain.numbers;
    takt_inner *inner;

    next_server = server;
    next_domain = domain;
    next_domain.within = &next_server;
    next_domain.numbers.revision = 1;
    add("a", 1);
    inner = &queues[0]->nest->inner[0];
    run(0);
    cr_expect_not(takt_queue_has_permits(queues[0]));
    newer.concurrency = 2;
    newer.lease_us = SECOND;
    tell_domain(newer, 2);
    cr_expect_eq(takt_inner_stated(inner)->revision, 2);
    cr_expect(takt_queue_has_permits(queues[0]));
    cr_expect_eq(takt_queue_lease(queues[0]), SECOND);
    renew(find);
    cr_expect_eq(inner->numbers->revision, 2);
    next_domain.numbers.revision = 2;
    renew(find);
    cr_expect_eq(inner->numbers, &next_domain.numbers);
}
