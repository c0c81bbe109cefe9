/*
 * Nested work: which work it is, what its claims say, when a queue is parked, what becomes of it
 * while the store is lost, and with a new policy.
 */
#include "scheduler/nest.h"

#include "core/tenants.h"
#include "scheduler/loss.h"
#include "scheduler/order.h"
#include "scheduler/renew.h"
#include "scheduler/renew_queue.h"
#include "scheduler/rigs.h"
#include "scheduler/turns.h"

#define QUEUES_MAX 48
#define EACH       4 /* waiters of each queue */

static takt_limit server, domain, user; /* the outermost, within it, within that */
static takt_scheduler s;
static takt_queue *queues[QUEUES_MAX];
static takt_permit permits[QUEUES_MAX][EACH];
static int queue_count;
/* of the last pass: who claimed, what the claims said, and who started */
static int claimed[QUEUES_MAX], claims;
static takt_claim said[QUEUES_MAX];
static char started[QUEUES_MAX * EACH + 1];

static takt_limit named(const char *name, int64_t tokens, const takt_limit *within)
{
    takt_limit limit = limit_named(tokens, SECOND, 1);

    strcpy(limit.name, name);
    limit.within = within;
    return limit;
}

static void set_up(void)
{
    server = named("server", 10, NULL);
    domain = named("domain", 5, &server);
    user = named("user", 2, &domain);
    queue_count = 0;
    memset(queues, 0, sizeof queues);
    memset(permits, 0, sizeof permits);
    cr_assert_eq(takt_registry_init(&s, 7, 1, NULL), 0);
}

static void run(int64_t at_us);

static void tear_down(void)
{
    takt_scheduler_leave_all(&s, TAKT_E_CANCELED);
    run(1000 * SECOND);
    takt_registry_close(&s);
}

TestSuite(nest, .init = set_up, .fini = tear_down);

static takt_chain chain_of(const takt_limit *innermost, const char *const *keys)
{
    takt_chain chain = {.count = 0};

    for (const takt_limit *at = innermost; at; at = at->within) {
        chain.limits[chain.count] = at;
        chain.keys[chain.count] = keys[chain.count];
        chain.costs[chain.count++] = 1;
    }
    return chain;
}

static int8_t priority = 5; /* of those that come */

static void wait_in(int at, int waiters)
{
    for (int i = 0; i < waiters; i++) {
        permits[at][i] =
            (takt_permit){.cost = 1, .priority = priority, .deadline_at_us = TAKT_NEVER};
        takt_waiter_acquire(&s, queues[at], &permits[at][i]);
    }
}

/* Waiters of a domain, in a queue of the server's. */
static takt_queue *add(const char *key, int waiters)
{
    takt_chain chain = chain_of(&domain, (const char *const[]){key, "mx"});
    int at = queue_count++;

    queues[at] = takt_registry_nested(&s, &chain, NULL, 1);
    cr_assert_not_null(queues[at]);
    wait_in(at, waiters);
    return queues[at];
}

static int number_of(const takt_queue *queue)
{
    int at = 0;

    while (queues[at] != queue)
        at++;
    return at;
}

static void run(int64_t at_us)
{
    takt_permit *permit;
    takt_queue *queue;
    takt_claim claim;
    size_t size = 0;

    takt_scheduler_run(&s, NOW + at_us);
    for (claims = 0; (queue = takt_claims_next(&s, NOW + at_us, &claim)); claims++) {
        claimed[claims] = number_of(queue);
        said[claims] = claim;
    }
    while ((permit = takt_scheduler_next_fired(&s)))
        if (permit->status == 0)
            started[size++] = (char)('a' + number_of(permit->queue));
    started[size] = '\0';
}

static int64_t next_pass(void)
{
    return takt_scheduler_pass_at(&s) - NOW;
}

static bool has_claimed(int at)
{
    for (int i = 0; i < claims; i++)
        if (claimed[i] == at)
            return true;
    return false;
}

static void answer_to(int at, const takt_award *award, int64_t at_us)
{
    takt_scheduler_award(&s, queues[at], award, NOW + at_us, NOW + at_us);
}

/* Nothing can start before that by the inner limits, or the queue stands in line. */
static void put_off(int at, int64_t at_us, int64_t until_us, bool parked)
{
    takt_award award = award_of(at_us, until_us, 0, 0, 1);

    award.claim_again_at_us = NOW + until_us;
    award.in_line = parked ? 0 : 1U << 5;
    award.parked = parked;
    award.workers = 1;
    award.least_urgent = 5;
    answer_to(at, &award, at_us);
}

/* ---- which work is nested -------------------------------------------------------------------- */

static bool is_nested(void)
{
    takt_chain chain = chain_of(&user, (const char *const[]){"u", "d", "mx"});

    return takt_chain_is_nested(&chain);
}

Test(nest, what_one_claim_cannot_decide_is_not_nested)
{
    takt_chain alone = chain_of(&server, (const char *const[]){"mx"});

    cr_expect(is_nested());
    cr_expect_not(takt_chain_is_nested(&alone));
    for (int i = 0; i < 3; i++) {
        takt_limit *limits[] = {&user, &domain, &server};
        bool between = i == 1;
        takt_limit kept = *limits[i];
        limits[i]->mode = TAKT_MODE_SHADOW;
        cr_expect_not(is_nested(), "level %d in shadow", i);
        *limits[i] = kept;
        limits[i]->access = TAKT_ACCESS_UNLIMITED;
        cr_expect_not(is_nested(), "level %d is unlimited", i);
        *limits[i] = kept;
        limits[i]->numbers.concurrency = 3;
        cr_expect(is_nested(), "level %d has permits", i);
        *limits[i] = kept;
        limits[i]->numbers.max_waiting = 3;
        cr_expect(is_nested(), "level %d bounds its waiters", i);
        *limits[i] = kept;
        limits[i]->fair = TAKT_FAIR_TENANT;
        cr_expect_eq(is_nested(), !between, "level %d has tenants", i);
        *limits[i] = kept;
    }
}

Test(nest, levels_in_shadow_are_one_decision_as_well)
{
    user.mode = domain.mode = server.mode = TAKT_MODE_SHADOW;
    cr_expect(is_nested());
    domain.mode = TAKT_MODE_ENFORCE;
    cr_expect_not(is_nested());
}

Test(nest, levels_with_bounds_may_differ_in_who_leaves)
{
    user.numbers.max_waiting = 3;
    server.numbers.max_waiting = 5;
    server.numbers.when_full = TAKT_WHEN_FULL_DROP_OLDEST;
    cr_expect(is_nested());
}

static takt_permit taken_of(const takt_chain *chain)
{
    takt_permit permit = {.cost = 0};

    cr_assert(takt_chain_take(chain, &permit.cost, &permit.more));
    return permit;
}

static void count_units(takt_limit *limit, const char *first, const char *second)
{
    limit->numbers.rule_count = 2;
    limit->numbers.rules[1] = limit->numbers.rules[0];
    limit->numbers.rules[1].unit = TAKT_UNIT_MORE;
    strcpy(limit->unit, first);
    strcpy(limit->more_units[0], second);
}

Test(nest, the_cost_is_that_of_a_level_that_counts_it)
{
    takt_chain chain = chain_of(&user, (const char *const[]){"u", "d", "mx"});

    chain.costs[0] = chain.costs[2] = 3;
    chain.costs[1] = 2;
    domain.numbers.rules[0].unit = TAKT_UNIT_REQUESTS;
    cr_expect(takt_chain_is_nested(&chain), "the domain counts none");
    cr_expect_eq(taken_of(&chain).cost, 3);
    server.numbers.rules[0].unit = TAKT_UNIT_REQUESTS;
    chain.costs[2] = 1;
    cr_expect(takt_chain_is_nested(&chain));
    cr_expect_eq(taken_of(&chain).cost, 3, "the user's level counts it");
}

Test(nest, units_have_the_numbers_of_the_outermost_limit)
{
    takt_chain chain = chain_of(&user, (const char *const[]){"u", "d", "mx"});
    takt_chain_units units;
    takt_permit permit;

    count_units(&server, "input", "output");
    count_units(&domain, "output", "images");
    strcpy(user.unit, "input");
    chain.costs[0] = chain.costs[2] = 100;
    chain.costs[1] = chain.more[2].of[0] = 20;
    chain.more[1].of[0] = 3;
    cr_expect(takt_chain_is_nested(&chain));
    cr_assert(takt_chain_number(&chain, &units));
    cr_expect(takt_unit_map_is_plain(units.maps[0]));
    cr_expect_eq(units.maps[1].shift[0], 1, "output is the second amount");
    cr_expect_eq(units.maps[1].shift[1], 1, "images are the third one");
    permit = taken_of(&chain);
    cr_expect_eq(permit.cost, 100);
    cr_expect_eq(permit.more.of[0], 20);
    cr_expect_eq(permit.more.of[1], 3);
    cr_expect_eq(permit.more.of[2], 0);
}

Test(nest, a_unit_with_other_defaults_is_another_one)
{
    takt_chain chain = chain_of(&domain, (const char *const[]){"d", "mx"});
    takt_chain_units units;

    strcpy(server.unit, "tokens");
    strcpy(domain.unit, "tokens");
    server.default_amount = 5;
    cr_assert(takt_chain_number(&chain, &units));
    cr_expect(takt_unit_map_is_plain(units.maps[0]), "a request states it: the domain has none");
    domain.default_amount = 7;
    cr_assert(takt_chain_number(&chain, &units));
    cr_expect_eq(units.maps[0].shift[0], 1);
}

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

Test(nest, five_units_are_too_many)
{
    takt_chain chain = chain_of(&user, (const char *const[]){"u", "d", "mx"});

    count_units(&server, "a", "b");
    count_units(&domain, "c", "d");
    strcpy(user.unit, "d");
    cr_expect(takt_chain_is_nested(&chain));
    strcpy(user.unit, "e");
    cr_expect_not(takt_chain_is_nested(&chain));
}

/* An agent knows a program's amounts by their places: of the domain's first unit it has the second
 * one. */
static takt_chain numbered(void)
{
    takt_chain chain = chain_of(&domain, (const char *const[]){"d", "mx"});

    chain.numbered = true;
    cr_assert(takt_unit_map_read(&chain.maps[0], "1123"));
    takt_chain_state(&chain);
    return chain;
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

Test(nest, limits_of_an_agent_count_no_unit_in_the_place_of_another_one)
{
    takt_chain chain = numbered();
    takt_limit newer = server, inner = domain;

    chain.limits[0] = &inner;
    chain.limits[1] = &newer;
    cr_expect(takt_chain_follows(&chain));
    count_units(&newer, "tokens", "images");
    cr_expect_not(takt_chain_follows(&chain), "the domain's unit has that place");
    newer.numbers.rules[1].unit = TAKT_UNIT_MORE + 1;
    cr_expect(takt_chain_follows(&chain), "a request takes 1 of it");
    chain.limits[1] = &server;
    count_units(&inner, "images", "tokens");
    cr_expect_not(takt_chain_follows(&chain), "and its first one has it");
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

Test(nest, numbered_work_keeps_its_limits_if_new_ones_count_other_units)
{
    takt_chain chain = numbered();
    takt_queue *queue = takt_registry_nested(&s, &chain, NULL, 1);
    takt_limit newer = server, inner = domain;

    count_units(&newer, "tokens", "images");
    newer_server = &newer;
    newer_domain = &inner;
    takt_renew_policy(&s, find_newer, weigh, NULL);
    cr_expect_eq(queue->limit, &server);
    newer.numbers.rule_count = 1;
    takt_renew_policy(&s, find_newer, weigh, NULL);
    cr_expect_eq(queue->limit, &newer);
    cr_expect_eq(queue->nest->inner[0].limit, &inner);
    newer_server = &server;
    newer_domain = &domain;
    takt_renew_policy(&s, find_newer, weigh, NULL);
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
    cr_expect_eq(said[0].client, 7);
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
    cr_expect_eq(takt_nest_next(&s, &domain, "a", NULL), queues[0]);
    cr_expect_null(takt_nest_next(&s, &domain, "a", queues[0]));
    cr_expect_eq(takt_nest_next(&s, &bulk, "a", NULL), queues[1]);
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

static takt_queue *add_inside(const char *key, const char *tenant)
{
    takt_chain chain = chain_of(&domain, (const char *const[]){key, "mx"});
    int at = queue_count++;

    chain.inside = takt_chain_inside(&chain);
    queues[at] = takt_registry_nested(&s, &chain, tenant, 3);
    wait_in(at, 1);
    return queues[at];
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

/* A policy is refused that has a limit between others with `fair`, and none outside; limits that
 * were within others under another policy may still be such. */
Test(nest, a_limit_between_has_tenants_only_with_the_outermost)
{
    takt_limit innermost = named("mailbox", 1, &domain);
    takt_chain chain = chain_of(&innermost, (const char *const[]){"ann", "a", "mx"});

    domain.fair = TAKT_FAIR_TENANT;
    cr_expect(!takt_chain_is_nested(&chain));
    server.fair = TAKT_FAIR_TENANT;
    cr_expect(takt_chain_is_nested(&chain));
}

/* Ten tenants of one key, and one of another, which comes last: it is the second in turn. */
Test(nest, subjects_take_turns_before_their_tenants)
{
    const takt_link *standing;
    char name[8];

    domain.fair = TAKT_FAIR_TENANT;
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "t%d", i);
        add_inside("a", name);
    }
    run(0);
    takt_queue *other = add_inside("b", "t0");
    run(0);
    standing = &other->turn->of->standing[5];
    cr_expect_eq(TAKT_HOLDER(standing->next->next, takt_turn, link)->queue, other);
}

/* A subject may have thousands of tenants: for its next round nothing looks through those of all of
 * them, as for the one that seems to be last. */
Test(nest, a_subject_has_its_last_round_at_hand)
{
    takt_queue *other;
    char name[8];

    domain.fair = TAKT_FAIR_TENANT;
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "t%d", i);
        add_inside("a", name);
    }
    run(0);
    cr_expect_eq(queues[39]->turn->round, queues[0]->turn->round + 39);
    queues[3]->turn->round += 1000;
    run(0);
    other = add_inside("a", "late");
    run(0);
    cr_expect_eq(other->turn->round, queues[39]->turn->round + 1);
    queues[3]->turn->round -= 1000;
    other = add_inside("b", "t0");
    run(0);
    cr_expect_eq(other->turn->round, queues[0]->turn->round, "another subject");
    cr_expect_not(other->turn->stands);
    for (int i = 0; i < 2; i++) { /* two places: the next one in turn comes, then t32 */
        takt_waiter_leave(&s, &permits[i][0], 0);
        run(0);
        cr_expect(i == 0 ? other->turn->stands : queues[32]->turn->stands);
        cr_expect_eq(queues[33]->turn->stands, false);
    }
}

/* All queues of a ledger: the work of the server alone, and nested work. */
Test(nest, a_ledger_has_plain_and_nested_queues)
{
    takt_queue *plain = takt_registry_queue(&s, &server, "mx"), *at = NULL;
    int count = 0;

    add("a", 0);
    add("b", 0);
    takt_registry_queue(&s, &server, "other");
    while ((at = takt_registry_next(&s, &server, "mx", at)))
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

/* ---- parking --------------------------------------------------------------------------------- */

Test(nest, a_parked_queue_leaves_its_place_and_comes_back)
{
    for (int i = 0; i <= TAKT_TURNS_IN_LINE; i++) {
        char key[8];
        snprintf(key, sizeof key, "%d", i);
        add(key, 1);
    }
    run(0);
    cr_assert_eq(claims, TAKT_TURNS_IN_LINE);
    for (int i = 0; i < claims; i++)
        put_off(i, 0, 10 * SECOND, i == 0);
    run(0);
    cr_assert_eq(claims, 1);
    cr_expect_eq(claimed[0], TAKT_TURNS_IN_LINE, "it has the place");
    put_off(TAKT_TURNS_IN_LINE, 0, 4 * SECOND, true);
    permits[0][1] = permits[0][0];
    takt_waiter_acquire(&s, queues[0], &permits[0][1]);
    run(SECOND);
    cr_expect_eq(claims, 0, "not even for new waiters");
    run(4 * SECOND + 10 * MS); /* two clocks drift apart */
    cr_expect(!has_claimed(0) && has_claimed(TAKT_TURNS_IN_LINE));
    for (int i = 1; i <= TAKT_TURNS_IN_LINE; i++)
        put_off(i, 4 * SECOND + 10 * MS, 20 * SECOND, true);
    run(5 * SECOND);
    cr_expect_eq(claims, 0);
    run(10 * SECOND + 10 * MS);
    cr_expect_eq(claims, 1, "its time has come");
    cr_expect_eq(claimed[0], 0);
}

/* Its inner limits have let none start: only what they say can change that. */
/* The next pass is then; two clocks drift apart. */
static void expect_pass_at(int64_t at_us)
{
    cr_assert_geq(next_pass(), at_us);
    cr_assert_leq(next_pass(), at_us + 5 * MS);
}

Test(nest, a_queue_waits_with_its_claim_for_others_of_its_worker)
{
    int64_t patience_us = server.numbers.lookahead_us / 4;

    add("a", EACH);
    add("b", EACH);
    add("c", EACH);
    run(0);
    put_off(0, 0, 300 * MS, false);
    put_off(1, 0, 340 * MS, false);
    put_off(2, 0, 500 * MS, false);
    run(0);
    cr_expect_eq(claims, 0);
    expect_pass_at(300 * MS + patience_us);
    run(next_pass());
    cr_expect_eq(claims, 2);
    cr_expect(has_claimed(0) && has_claimed(1));
    put_off(0, 400 * MS, 900 * MS, false);
    put_off(1, 400 * MS, 900 * MS, false);
    run(400 * MS);
    expect_pass_at(500 * MS + patience_us);
}

Test(nest, a_queue_that_is_to_claim_soon_waits_no_longer_than_that)
{
    add("a", EACH);
    add("b", EACH);
    run(0);
    put_off(0, 0, 10 * MS, false);
    put_off(1, 0, 500 * MS, false);
    run(0);
    expect_pass_at(20 * MS);
}

/* Its turn has given a queue so many slots, and it is to claim again. */
static void serve(int at, int64_t at_us, int64_t slots, int64_t again_us)
{
    takt_award award = award_of(at_us, at_us + MS, MS, slots, 1);

    award.claim_again_at_us = NOW + again_us;
    award.in_line = 1U << 5;
    award.least_urgent = 5;
    answer_to(at, &award, at_us);
}

/* The only slot of a turn is due a whole lookahead after the time of its claim. */
Test(nest, a_queue_whose_turn_is_one_slot_waits_longer_for_others)
{
    int64_t patience_us = server.numbers.lookahead_us * 4 / 5;

    server = named("server", 100, NULL);
    add("a", EACH);
    add("b", EACH);
    run(0);
    put_off(1, 0, 990 * MS, false);
    serve(0, 0, 1, 400 * MS);
    run(10 * MS);
    cr_expect_str_eq(started, "a");
    expect_pass_at(400 * MS + patience_us);
    run(next_pass());
    cr_expect_eq(claims, 1);
    put_off(0, 600 * MS, 800 * MS, false);
    run(600 * MS);
    expect_pass_at(800 * MS + patience_us);
    run(next_pass());
    cr_expect(claims == 2 && has_claimed(1), "also where it was given nothing meanwhile");
    put_off(1, 1010 * MS, 3 * SECOND, false);
    serve(0, 1010 * MS, 2, 1400 * MS);
    run(1020 * MS);
    expect_pass_at(1400 * MS + server.numbers.lookahead_us / 4);
}

Test(nest, an_inner_limit_with_a_shorter_lookahead_has_its_slots_sooner)
{
    server = named("server", 100, NULL);
    domain.numbers.lookahead_us = 200 * MS;
    add("a", EACH);
    add("b", EACH);
    run(0);
    put_off(1, 0, 900 * MS, false);
    serve(0, 0, 1, 400 * MS);
    run(10 * MS);
    expect_pass_at(560 * MS);
}

/* A slot that a claim leaves may be the only one for a while. */
static void expect_usual_patience(void)
{
    add("a", EACH);
    add("b", EACH);
    run(0);
    put_off(1, 0, 900 * MS, false);
    serve(0, 0, 1, 400 * MS);
    run(10 * MS);
    expect_pass_at(400 * MS + server.numbers.lookahead_us / 4);
}

Test(nest, where_slots_are_rare_a_queue_waits_no_longer_for_others)
{
    server = named("server", 30, NULL);
    expect_usual_patience();
}

Test(nest, where_tenants_take_turns_a_queue_waits_no_longer_for_others)
{
    server = named("server", 100, NULL);
    server.fair = TAKT_FAIR_TENANT;
    expect_usual_patience();
}

/* One slow answer may come of many claims at once, and says nothing of the next one. */
Test(nest, slow_answers_leave_less_time_to_wait_for_others)
{
    takt_award award = award_of(0, 500 * MS, 0, 0, 1);

    add("a", EACH);
    add("b", EACH);
    run(0);
    put_off(1, 0, 900 * MS, false);
    award.claim_again_at_us = NOW + 500 * MS;
    award.in_line = 1U << 5;
    takt_scheduler_award(&s, queues[0], &award, NOW, NOW);
    run(0);
    expect_pass_at(500 * MS + server.numbers.lookahead_us / 4);
    takt_scheduler_award(&s, queues[0], &award, NOW, NOW + 100 * MS);
    run(100 * MS);
    cr_expect_geq(next_pass(), 500 * MS + server.numbers.lookahead_us / 4);
    takt_scheduler_award(&s, queues[0], &award, NOW, NOW + 100 * MS);
    run(100 * MS);
    cr_expect_leq(next_pass(), 501 * MS + server.numbers.lookahead_us / 2 - 100 * MS);
    cr_expect_gt(next_pass(), 500 * MS);
}

Test(nest, a_queue_that_is_alone_waits_for_no_others)
{
    add("a", EACH);
    run(0);
    put_off(0, 0, 300 * MS, false);
    run(0);
    expect_pass_at(300 * MS);
}

/* ---- places that others wait for ------------------------------------------------------------- */

static void add_many(int count)
{
    for (int i = 0; i < count; i++) {
        char key[] = "key 00";
        key[4] = (char)('0' + i / 10);
        key[5] = (char)('0' + i % 10);
        add(key, EACH);
    }
}

static void expect_stated(int64_t waiting)
{
    cr_assert_eq(claims, TAKT_TURNS_IN_LINE);
    for (int i = 0; i < claims; i++) {
        cr_expect_eq(said[i].waiting, waiting);
        cr_expect_eq(said[i].wants[0].count, waiting);
    }
}

/* Its place is gone when it was served, and another queue claims for its own. */
Test(nest, a_queue_whose_place_others_wait_for_states_one_turn)
{
    takt_award award = award_of(0, 100 * MS, 0, 1, 1);

    add_many(TAKT_TURNS_IN_LINE + 1);
    run(0);
    expect_stated(1);
    award.least_urgent = 5;
    answer_to(0, &award, 0);
    run(0);
    cr_expect_eq(claims, 1, "none to leave the line");
    cr_expect_eq(claimed[0], TAKT_TURNS_IN_LINE);
}

Test(nest, a_turn_has_what_a_lookahead_has_or_what_is_given_at_once)
{
    server = named("server", 400, NULL);
    add_many(TAKT_TURNS_IN_LINE + 1);
    run(0);
    expect_stated(takt_min(EACH, (100 + TAKT_TURNS_IN_LINE - 1) / TAKT_TURNS_IN_LINE));
}

Test(nest, a_burst_is_shared_in_one_turn)
{
    server.numbers.rules[0].burst = 70;
    cr_assert_eq(takt_rule_prepare(&server.numbers.rules[0], NULL), 0);
    add_many(TAKT_TURNS_IN_LINE + 1);
    run(0);
    expect_stated(3);
}

Test(nest, a_queue_whose_place_nobody_waits_for_states_all)
{
    add_many(TAKT_TURNS_IN_LINE);
    run(0);
    expect_stated(EACH);
}

/* The ledger would give the rest of its turn to less urgent work. */
Test(nest, an_urgent_queue_states_all_while_less_urgent_ones_wait)
{
    add_many(TAKT_TURNS_IN_LINE);
    priority = 0;
    add("urgent", EACH);
    run(0);
    for (int i = 0; i < claims; i++)
        if (claimed[i] == TAKT_TURNS_IN_LINE) {
            cr_expect_eq(said[i].waiting, EACH);
            return;
        }
    cr_assert_fail("it has pushed another one aside");
}

/* Its queues have their places at the agent, which has to know all waiters. */
Test(nest, behind_an_agent_a_queue_states_all)
{
    s.relayed = true;
    add_many(TAKT_TURNS_IN_LINE);
    run(0);
    expect_stated(EACH);
}

/* Waiters that a claim does not state are not counted. */
Test(nest, with_a_bound_a_queue_states_all)
{
    domain.numbers.max_waiting = 100;
    add_many(TAKT_TURNS_IN_LINE + 1);
    run(0);
    expect_stated(EACH);
}

/* A release wakes workers by what they want. */
Test(nest, with_permits_a_queue_states_all)
{
    domain.numbers.concurrency = 2;
    domain.numbers.lease_us = TAKT_LEASE_US;
    add_many(TAKT_TURNS_IN_LINE + 1);
    run(0);
    expect_stated(EACH);
}

/* A tenant's turn is larger than that of one of its queues. */
Test(nest, with_tenants_a_queue_states_all)
{
    server.fair = TAKT_FAIR_TENANT;
    add_many(TAKT_TURNS_IN_LINE + 1);
    run(0);
    expect_stated(EACH);
}

Test(nest, a_change_of_an_inner_ledger_ends_parking)
{
    add("a", 1);
    run(0);
    put_off(0, 0, 10 * SECOND, true);
    run(0);
    takt_claims_hint(&s, queues[0]);
    run(SECOND);
    cr_expect_eq(claims, 0, "a hint of the outermost ledger says nothing of the inner ones");
    takt_order_unpark(&s, queues[0]);
    takt_claims_hint(&s, queues[0]);
    run(SECOND);
    cr_expect_eq(claims, 1);
    put_off(0, SECOND, 20 * SECOND, true);
    takt_scheduler_blocked(&s, queues[0], NOW + 5 * SECOND);
    run(2 * SECOND);
    cr_expect_eq(claims, 0);
    takt_scheduler_blocked(&s, queues[0], 0);
    run(3 * SECOND);
    cr_expect_eq(claims, 1, "a block may have been what held it up");
}

/* Its place is in the lines of its inner limits. */
Test(nest, a_queue_that_was_parked_says_that_its_waiters_are_gone)
{
    add("a", 1);
    run(0);
    put_off(0, 0, 10 * SECOND, true);
    run(0);
    takt_order_unpark(&s, queues[0]);
    takt_waiter_leave(&s, &permits[0][0], 0);
    run(0);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].waiting, 0);
    put_off(0, 0, 0, false);
    run(SECOND);
    cr_expect_eq(claims, 1, "it stands in the outermost line now");
    answer_to(0, &(takt_award){.now_us = NOW + SECOND}, SECOND);
    run(2 * SECOND);
    cr_expect_eq(claims, 0);
}

/* A hint may be lost. */
Test(nest, parking_has_an_end)
{
    add("a", 1);
    run(0);
    put_off(0, 0, 3600 * SECOND, true);
    run(0);
    run(60 * SECOND);
    cr_expect_eq(claims, 1);
}

Test(nest, more_urgent_waiters_are_not_parked)
{
    add("a", 1);
    run(0);
    put_off(0, 0, 10 * SECOND, true);
    permits[0][1] = (takt_permit){.cost = 1, .priority = 1, .deadline_at_us = TAKT_NEVER};
    takt_waiter_acquire(&s, queues[0], &permits[0][1]);
    run(SECOND);
    cr_expect_eq(claims, 1);
}

/* The lines of its inner limits have places of them. */
Test(nest, a_parked_queue_whose_waiters_are_gone_claims_once_more)
{
    takt_award nothing = award_of(SECOND, 0, 0, 0, 1);
    uint64_t worker;

    add("a", 2);
    run(0);
    worker = said[0].worker;
    put_off(0, 0, 10 * SECOND, true);
    takt_waiter_leave(&s, &permits[0][0], 0);
    run(SECOND);
    cr_expect_eq(claims, 0, "the other one waits");
    takt_waiter_leave(&s, &permits[0][1], 0);
    run(SECOND);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].worker, worker);
    cr_expect_str_eq(said[0].tenant, "a");
    cr_expect_eq(said[0].waiting, 0);
    cr_expect_eq(said[0].want_count, 0);
    answer_to(0, &nothing, SECOND);
    run(SECOND);
    cr_expect_eq(claims, 0, "no place is left");
    cr_expect_eq(takt_scheduler_pass_at(&s), TAKT_NEVER);
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
    permits[0][1] = (takt_permit){.cost = 1, .priority = 5, .deadline_at_us = TAKT_NEVER};
    takt_waiter_acquire(&s, queues[0], &permits[0][1]);
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
    takt_renew_policy(&s, find, weigh, NULL);
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
    takt_renew_policy(&s, find, weigh, NULL);
    cr_expect_eq(queues[0]->limit, &server, "it cannot be nested under the new one");
    cr_expect_eq(queues[0]->nest->inner[0].limit, &domain);
    cr_expect(takt_renew_is_used(&s, is_old, NULL));
}

/* ---- bounds of inner limits ------------------------------------------------------------------ */

static void answer_parked(int64_t refused, bool crowded, bool unlisted, int64_t at_us)
{
    takt_award award = {.claim_again_at_us = NOW + 30 * SECOND,
                        .parked = true,
                        .refused = refused,
                        .crowded = crowded,
                        .unlisted = unlisted,
                        .least_urgent = -1};

    answer_to(0, &award, at_us);
}

Test(nest, a_parked_queue_states_newcomers_of_a_crowded_key_at_once)
{
    domain.numbers.max_waiting = 10;
    add("a", 2);
    run(0);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].newcomers, 2);
    answer_parked(0, true, false, 0);
    run(SECOND);
    cr_expect_eq(claims, 0);
    permits[0][2] = (takt_permit){.cost = 1, .priority = 5, .deadline_at_us = TAKT_NEVER};
    takt_waiter_acquire(&s, queues[0], &permits[0][2]);
    run(SECOND);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].waiting, 3);
    cr_expect_eq(said[0].newcomers, 1);
    answer_parked(1, true, false, SECOND);
    run(SECOND);
    cr_expect_eq(permits[0][2].status, TAKT_E_FULL);
    cr_expect_eq(queues[0]->waiters.total, 2);
}

/* Where there is room, they have time until a keepalive. */
Test(nest, a_parked_queue_states_its_newcomers_at_its_keepalive)
{
    domain.numbers.max_waiting = 10;
    add("a", 2);
    run(0);
    answer_parked(0, false, false, 0);
    permits[0][2] = (takt_permit){.cost = 1, .priority = 5, .deadline_at_us = TAKT_NEVER};
    takt_waiter_acquire(&s, queues[0], &permits[0][2]);
    run(MS);
    cr_expect_eq(claims, 0);
    cr_expect_eq(next_pass(), TAKT_KEEPALIVE_US);
    run(TAKT_KEEPALIVE_US);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].newcomers, 1);
}

/* As many queues as may stand in line do so. */
static void fill_line(void)
{
    for (int i = 0; i < TAKT_TURNS_IN_LINE; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        add(key, 1);
    }
    run(0);
    cr_assert_eq(claims, TAKT_TURNS_IN_LINE);
    for (int i = 0; i < TAKT_TURNS_IN_LINE; i++)
        put_off(i, 0, 30 * SECOND, false);
}

/* The queue that is not in turn has no claim to tell it.  Of its four waiters one may start at
 * once, and another one within the lookahead. */
Test(nest, a_queue_out_of_turn_refuses_those_who_can_neither_start_nor_wait)
{
    domain.numbers.max_waiting = 1;
    fill_line();
    add("late", EACH);
    run(MS);
    cr_expect_eq(claims, 0);
    cr_expect_eq(queues[TAKT_TURNS_IN_LINE]->waiters.total, 3);
    cr_expect_eq(permits[TAKT_TURNS_IN_LINE][3].status, TAKT_E_FULL, "the last one");
    cr_expect_gt(server.numbers.lookahead_us, 0);
    cr_expect_eq(permits[TAKT_TURNS_IN_LINE][3].retry_after_us, server.numbers.lookahead_us);
    add("drops", EACH);
    domain.numbers.when_full = TAKT_WHEN_FULL_DROP_OLDEST;
    run(2 * MS);
    cr_expect_eq(queues[TAKT_TURNS_IN_LINE + 1]->waiters.total, EACH);
}

/* Of four waiters one may start at once and one may wait; the ledger decides which of them leave,
 * by numbers that may be newer. */
Test(nest, a_new_queue_with_a_place_in_line_asks_the_ledger_first)
{
    domain.numbers.max_waiting = 1;
    add("a", EACH);
    run(0);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].waiting, EACH);
    cr_expect_eq(said[0].newcomers, EACH);
}

/* Without the store nothing waits for a turn in line. */
Test(nest, a_new_queue_out_of_turn_refuses_nobody_without_the_store)
{
    server.on_store_failure = TAKT_ON_STORE_FAILURE_SHARE;
    domain.on_store_failure = TAKT_ON_STORE_FAILURE_OPEN;
    domain.numbers.max_waiting = 1;
    fill_line();
    takt_loss_begin(&s, queues[0]->server, TAKT_E_STORE, NOW);
    add("late", EACH);
    run(MS);
    cr_assert(takt_turns_hold_up(queues[TAKT_TURNS_IN_LINE]));
    cr_expect_eq(queues[TAKT_TURNS_IN_LINE]->waiters.total, EACH);
}

/* The domain has one start in an hour.  So all others are parked, and do not count for the bound of
 * the server. */
Test(nest, the_outermost_bound_is_not_that_of_work_out_of_its_line)
{
    server.numbers = limit_named(1, SECOND, 1).numbers;
    server.numbers.max_waiting = 1;
    domain.numbers = limit_named(1, 3600 * SECOND, 1).numbers;
    fill_line();
    add("late", EACH);
    run(MS);
    cr_expect_eq(claims, 0);
    cr_expect_eq(queues[TAKT_TURNS_IN_LINE]->waiters.total, EACH);
}

Test(nest, the_outermost_bound_is_not_that_of_a_parked_queue)
{
    server.numbers.max_waiting = 2;
    add("a", 2);
    run(0);
    answer_parked(0, false, false, 0);
    permits[0][2] = (takt_permit){.cost = 1, .priority = 5, .deadline_at_us = TAKT_NEVER};
    takt_waiter_acquire(&s, queues[0], &permits[0][2]);
    run(TAKT_KEEPALIVE_US);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].waiting, 3);
}

/* It may have lost waiters that its claim has stated. */
Test(nest, what_was_woken_during_its_claim_is_not_parked)
{
    domain.numbers.max_waiting = 10;
    domain.numbers.when_full = TAKT_WHEN_FULL_DROP_OLDEST;
    add("a", 2);
    run(0);
    takt_claims_wake_inner(&s, queues[0]);
    answer_parked(0, true, false, MS);
    run(10 * MS);
    cr_assert_eq(claims, 1);
    answer_parked(1, true, false, 11 * MS);
    run(12 * MS);
    cr_expect_eq(claims, 0);
    cr_expect_eq(permits[0][0].status, TAKT_E_FULL, "the oldest");
}

/* Two were counted, two have come: the newest is refused, and the oldest makes way for the other.
 */
Test(nest, who_leaves_is_as_the_award_says_if_the_levels_differ)
{
    takt_award award = {.claim_again_at_us = NOW + 30 * SECOND,
                        .parked = true,
                        .refused = 2,
                        .leave_count = 2,
                        .leaves = {{TAKT_WHEN_FULL_REFUSE, 1}, {TAKT_WHEN_FULL_DROP_OLDEST, 1}},
                        .least_urgent = -1};

    domain.numbers.max_waiting = 3;
    server.numbers.max_waiting = 2;
    server.numbers.when_full = TAKT_WHEN_FULL_DROP_OLDEST;
    add("a", 2);
    run(0);
    answer_parked(0, true, false, 0);
    for (int i = 2; i < 4; i++) {
        permits[0][i] = (takt_permit){.cost = 1, .priority = 5, .deadline_at_us = TAKT_NEVER};
        takt_waiter_acquire(&s, queues[0], &permits[0][i]);
    }
    run(SECOND);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].newcomers, 2, "the domain refuses");
    answer_to(0, &award, SECOND);
    run(SECOND);
    cr_expect_eq(permits[0][3].status, TAKT_E_FULL);
    cr_expect_eq(permits[0][0].status, TAKT_E_FULL);
    cr_expect_eq(queues[0]->waiters.total, 2);
}

/* By the lowest bound that refuses, though another one is lower. */
Test(nest, a_queue_that_fills_a_level_that_refuses_refuses_newcomers_itself)
{
    domain.numbers.max_waiting = 1;
    domain.numbers.when_full = TAKT_WHEN_FULL_DROP_OLDEST;
    server.numbers.max_waiting = 2;
    add("a", 2);
    run(0);
    put_off(0, 0, 30 * SECOND, false);
    permits[0][2] = (takt_permit){.cost = 1, .priority = 5, .deadline_at_us = TAKT_NEVER};
    takt_waiter_acquire(&s, queues[0], &permits[0][2]);
    run(SECOND);
    cr_expect_eq(permits[0][2].status, TAKT_E_FULL);
    cr_expect_eq(queues[0]->waiters.total, 2);
}

Test(nest, waiters_that_no_line_has_counted_stay_newcomers)
{
    domain.numbers.max_waiting = 10;
    add("a", 2);
    run(0);
    answer_parked(0, false, true, 0);
    run(MS);
    cr_expect_eq(claims, 0);
    run(30 * SECOND);
    cr_assert_eq(claims, 1);
    cr_expect_eq(said[0].newcomers, 2);
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
    takt_renew_policy(&s, find, weigh, NULL);
    run(0);
    cr_expect_eq(permits[0][0].status, TAKT_E_COST);
}
