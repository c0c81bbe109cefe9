/*
 * Claims whose slots keep the rules of inner limits: blocks, what is held back, parking, turns of
 * workers in inner lines, and fleets of workers that claim when their awards say.
 */
#include "core/inner.h"

#include <stdio.h>

#include "core/books.h"
#include "core/gaps.h"
#include "core/tenants.h"

#define INNER_MAX 100
#define SUBS_MAX  400
#define PLACES    24

/* The waiters of one worker for one subject. */
typedef struct sub {
    uint64_t worker;
    char tenant[8];
    int inner;   /* -1: it has none */
    int between; /* of the ledger between that and the outermost one; -1: there is none */
    int64_t count, again_us, starts;
    int64_t far_us; /* its claims come so much later than others */
} sub;

static book b;
static takt_ledger inner[INNER_MAX];
static takt_place inner_lines[INNER_MAX][PLACES];
static takt_tenant inner_tenants[INNER_MAX][PLACES];
static takt_numbers inner_limit;
static sub subs[SUBS_MAX];
static int sub_count;
static taken slots[INNER_MAX][4000];
static int slot_counts[INNER_MAX];
static int64_t claims;

static void set_up(takt_numbers outer, takt_numbers limit)
{
    open_book(&b, outer);
    inner_limit = limit;
    sub_count = 0;
    claims = 0;
    memset(slot_counts, 0, sizeof slot_counts);
    for (int i = 0; i < INNER_MAX; i++) {
        inner[i] = (takt_ledger){.line = inner_lines[i],
                                 .line_capacity = PLACES,
                                 .tenants = inner_tenants[i],
                                 .tenant_capacity = PLACES};
        takt_ledger_init(&inner[i], &inner_limit, NOW);
    }
}

static sub *add(uint64_t worker, int inner_at, int64_t count, int64_t first_us)
{
    sub *added = &subs[sub_count++];

    *added = (sub){
        .worker = worker, .inner = inner_at, .between = -1, .count = count, .again_us = first_us};
    snprintf(added->tenant, sizeof added->tenant, "k%d", inner_at);
    return added;
}

static void note(sub *claimer)
{
    for (int i = 0; i < b.award.run_count; i++)
        for (int64_t j = 0; j < b.award.runs[i].count; j++) {
            int64_t slot_us = takt_run_slot(&b.award.runs[i], j);
            if (claimer->inner >= 0)
                slots[claimer->inner][slot_counts[claimer->inner]++] = (taken){slot_us, 1};
            claimer->count--;
            claimer->starts++;
        }
}

static void claim(sub *claimer, int64_t at_us)
{
    takt_ledger *levels[] = {claimer->inner >= 0 ? &inner[claimer->inner] : NULL,
                             claimer->between >= 0 ? &inner[claimer->between] : NULL};
    takt_claim claim = {.worker = takt_tenant_worker(claimer->worker, claimer->tenant),
                        .client = claimer->worker,
                        .seq = ++b.seq,
                        .waiting = claimer->count,
                        .tenant = claimer->tenant,
                        .tenant_weight = 1,
                        .want_count = claimer->count > 0};

    claim.wants[0] =
        (takt_want){.count = claimer->count, .latest_us = TAKT_NEVER, .cost = 1, .priority = 5};
    b.ledger.inner = levels;
    b.ledger.inner_count = (claimer->inner >= 0) + (claimer->between >= 0);
    send_claim(&b, at_us, &claim);
    b.ledger.inner_count = 0;
    claims++;
    note(claimer);
    claimer->again_us = claimer->count == 0 || b.award.claim_again_at_us == TAKT_NEVER
                            ? TAKT_NEVER
                            : takt_max(b.award.claim_again_at_us - NOW, at_us + MS);
}

/* Each subject claims when its award says, a millisecond or so later. */
static void run_until(int64_t until_us)
{
    for (;;) {
        sub *next = &subs[0];
        for (int i = 1; i < sub_count; i++)
            if (subs[i].again_us < next->again_us)
                next = &subs[i];
        if (next->again_us > until_us)
            return;
        claim(next, next->again_us + next->far_us + (claims * 7919) % 2000);
    }
}

static void check_all(void)
{
    check_never_over(&b);
    for (int i = 0; i < INNER_MAX; i++)
        cr_assert_eq(broken_promise(&inner_limit.rules[0], slots[i], slot_counts[i]), -1,
                     "inner limit %d", i);
}

/* The slots of a subject in a time after NOW. */
static int count_between(int inner_at, int64_t from_us, int64_t till_us)
{
    int count = 0;

    for (int i = 0; i < slot_counts[inner_at]; i++)
        count += slots[inner_at][i].slot_us >= NOW + from_us &&
                 slots[inner_at][i].slot_us < NOW + till_us;
    return count;
}

TestSuite(inner);

Test(inner, a_domain_has_its_rate_beside_others)
{
    set_up(limit_of(50, SECOND, 1), limit_of(5, SECOND, 1));
    add(1, 0, 1000000, 500 * MS);
    add(2, -1, 1000000, 0);
    run_until(12 * SECOND);
    check_all();
    cr_assert_eq(count_between(0, SECOND, 11 * SECOND), 50);
    cr_assert_eq(subs[0].starts + subs[1].starts, b.slot_count);
    cr_assert_geq(b.slot_count, 50 * 12, "the whole rate is used");
}

Test(inner, after_a_block_a_domain_has_its_rate_at_once)
{
    set_up(limit_of(50, SECOND, 1), limit_of(5, SECOND, 1));
    add(1, 0, 1000000, 500 * MS);
    add(2, -1, 1000000, 0);
    run_until(2 * SECOND);
    takt_ledger_block(&b.ledger, NOW + 2 * SECOND, 8 * SECOND, NULL);
    b.slot_count = slot_counts[0] = 0; /* workers drop what they have */
    run_until(16 * SECOND);
    check_all();
    cr_assert_geq(count_between(0, 10 * SECOND, 16 * SECOND), 29, "of 30");
    cr_assert_geq(b.slot_count, 50 * 6, "the whole rate is used");
}

/* Two paced rules have no gaps. */
Test(inner, without_gaps_a_domain_has_most_of_its_rate)
{
    takt_numbers outer = limit_of(50, SECOND, 1);

    outer.rules[outer.rule_count++] = limit_of(1000000, DAY, 1000000).rules[0];
    set_up(outer, limit_of(5, SECOND, 1));
    add(1, 0, 1000000, 500 * MS);
    add(2, -1, 1000000, 0);
    run_until(12 * SECOND);
    check_all();
    cr_assert_geq(count_between(0, SECOND, 11 * SECOND), 40, "of 50");
    cr_assert_geq(b.slot_count, 50 * 12, "the whole rate is used");
}

Test(inner, domains_with_less_than_the_rate_each_have_theirs)
{
    set_up(limit_of(50, SECOND, 1), limit_of(5, SECOND, 1));
    for (int i = 0; i < 9; i++)
        add((uint64_t)(1 + i % 3), i, 1000000, i * 3 * MS);
    run_until(12 * SECOND);
    check_all();
    for (int i = 0; i < 9; i++)
        cr_assert_eq(count_between(i, SECOND, 11 * SECOND), 50, "domain %d", i);
}

/* 100 accounts, each on a third of 8 workers or on one more. */
Test(inner, accounts_share_the_outer_limit_evenly)
{
    int low = INT32_MAX, high = 0;

    set_up(limit_of(100, SECOND, 1), limit_of(5, SECOND, 1));
    for (int i = 0; i < 100; i++)
        for (int worker = 0; worker < 8; worker++)
            if ((i + worker) % 3 == 0 || worker == i % 8)
                add((uint64_t)worker + 1, i, 1000000, (i * 37 + worker * 11) % 50 * MS);
    run_until(22 * SECOND);
    check_all();
    for (int i = 0; i < 100; i++) {
        int count = count_between(i, SECOND, 21 * SECOND);
        low = count < low ? count : low;
        high = count > high ? count : high;
    }
    cr_assert_geq(b.slot_count, 100 * 22, "the whole rate is used");
    cr_assert_leq(high - low, 3, "%d to %d slots in 20 s", low, high);
}

Test(inner, a_block_of_either_level_holds_and_ends_without_a_burst)
{
    set_up(limit_of(50, SECOND, 50), limit_of(5, SECOND, 5));
    add(1, 0, 1000000, 0);
    add(2, -1, 1000000, 0);
    run_until(2 * SECOND);
    takt_ledger_block(&b.ledger, NOW + 2 * SECOND, 8 * SECOND, NULL);
    b.slot_count = slot_counts[0] = 0; /* workers drop what they have */
    run_until(15 * SECOND);
    cr_assert_eq(count_between(0, 0, 10 * SECOND), 0);
    cr_assert_leq(count_between(0, 10 * SECOND, 11 * SECOND), 10);
    check_all();
    takt_ledger_block(&inner[0], NOW + 15 * SECOND, 2 * SECOND, NULL);
    slot_counts[0] = 0;
    claim(&subs[0], 15 * SECOND);
    cr_assert_eq(b.award.blocked_until_us, NOW + 17 * SECOND);
    cr_assert_geq(b.award.next_slot_at_us, NOW + 17 * SECOND);
    run_until(20 * SECOND);
    cr_assert_eq(count_between(0, 0, 17 * SECOND), 0);
    cr_assert_gt(count_between(0, 17 * SECOND, 20 * SECOND), 10);
}

Test(inner, an_exhausted_inner_limit_does_not_stand_in_line)
{
    set_up(limit_of(1, SECOND, 1), limit_of(2, DAY, 2));
    add(1, 0, 100, 0);
    add(2, -1, 1000, 0);
    run_until(4 * SECOND);
    cr_assert_eq(slot_counts[0], 2);
    claim(&subs[0], 5 * SECOND);
    cr_assert(b.award.parked);
    cr_assert_eq(b.award.in_line, 0);
    cr_assert_gt(b.award.claim_again_at_us, NOW + 12 * HOUR - SECOND - MINUTE);
    cr_assert_eq(b.award.workers, 1);
    run_until(20 * SECOND);
    check_all();
    cr_assert_geq(b.slot_count, 20, "the other work has what is left");
}

Test(inner, work_that_leaves_has_taken_nothing)
{
    set_up(limit_of(1, SECOND, 1), limit_of(800, DAY, 800));
    add(1, 0, 100, 0);
    run_until(5 * SECOND);
    cr_assert_leq(slot_counts[0], 7);
    cr_assert_geq(slot_counts[0], 5);
    cr_assert_eq(takt_numbers_room(&inner_limit, &inner[0].state, NOW, NOW).of[TAKT_UNIT_TOKENS],
                 800 - slot_counts[0]);
}

Test(inner, a_cost_that_an_inner_limit_never_gives_is_not_waited_for)
{
    set_up(limit_of(50, SECOND, 50), limit_of(5, SECOND, 5));
    {
        takt_ledger *levels[] = {&inner[0]};
        takt_claim dear = {.worker = 9, .seq = 1, .waiting = 1, .tenant = "a", .want_count = 1};
        dear.wants[0] = (takt_want){.count = 1, .latest_us = TAKT_NEVER, .cost = 6, .priority = 5};
        b.ledger.inner = levels;
        b.ledger.inner_count = 1;
        send_claim(&b, 0, &dear);
    }
    cr_assert_eq(b.given, 0);
    cr_assert_eq(b.ledger.line_count, 0);
}

Test(inner, held_back_waiters_are_told_in_the_text_and_count_as_waiting)
{
    set_up(limit_of(50, SECOND, 1), limit_of(5, SECOND, 1));
    add(1, 0, 10, 0);
    claim(&subs[0], 0);
    cr_assert_eq(b.award.waiting, subs[0].count);
    cr_assert_eq(b.ledger.line_count, 1);
    cr_assert_eq(b.line[0].waiting - b.line[0].held_back, 1, "the next slots are 200 ms apart");
}

/* ---- turns in inner lines -------------------------------------------------------------------- */

/* Workers 1 to count have work of one key; the claims of the first ones always come first. */
static void add_workers_of_a_key(int count)
{
    for (int i = 0; i < count; i++)
        add((uint64_t)i + 1, 0, 1000000, 0)->far_us = i * 2 * MS;
}

Test(inner, workers_of_one_key_take_turns)
{
    set_up(limit_of(50, SECOND, 1), limit_of(5, SECOND, 1));
    add_workers_of_a_key(4);
    run_until(20 * SECOND);
    check_all();
    cr_assert_geq(slot_counts[0], 100);
    for (int i = 0; i < 4; i++)
        cr_assert(subs[i].starts >= 24 && subs[i].starts <= 27, "worker %d has %d", i + 1,
                  (int)subs[i].starts);
}

Test(inner, a_worker_that_is_alone_keeps_the_rules_alone)
{
    set_up(limit_of(50, SECOND, 50), limit_of(5, SECOND, 5));
    add_workers_of_a_key(1);
    claim(&subs[0], 0);
    cr_assert_eq(b.given, 5 + 1, "the burst, and what the lookahead has");
    cr_assert_eq(inner[0].line_count, 1);
}

Test(inner, a_parked_worker_keeps_its_turn)
{
    set_up(limit_of(50, SECOND, 1), limit_of(1, MINUTE, 1));
    add_workers_of_a_key(2);
    claim(&subs[0], 0);
    claim(&subs[1], MS);
    cr_assert(b.award.parked);
    cr_assert_eq(inner[0].line_count, 2);
    cr_assert_eq(inner[0].line[0].worker, takt_tenant_worker(1, "k0"));
    cr_assert_eq(inner[0].line[0].again_at_us, NOW + 30 * SECOND, "it looks again after a while");
    claim(&subs[0], 30 * SECOND);
    claim(&subs[1], 30 * SECOND + MS);
    claim(&subs[1], 60 * SECOND - 200 * MS); /* before the first one */
    cr_assert_eq(b.given, 0);
    claim(&subs[0], 60 * SECOND - 100 * MS);
    cr_assert_eq(b.given, 1);
}

Test(inner, a_silent_worker_is_passed_over)
{
    set_up(limit_of(50, SECOND, 1), limit_of(5, SECOND, 1));
    add_workers_of_a_key(4);
    run_until(5 * SECOND);
    subs[1].again_us = TAKT_NEVER; /* it dies */
    run_until(15 * SECOND);
    check_all();
    cr_assert_geq(count_between(0, 6 * SECOND, 15 * SECOND), 44);
    cr_assert_eq(inner[0].line_count, 3);
}

Test(inner, a_worker_that_leaves_leaves_the_inner_line)
{
    set_up(limit_of(50, SECOND, 1), limit_of(1, MINUTE, 1));
    add_workers_of_a_key(2);
    run_until(SECOND);
    cr_assert_eq(inner[0].line_count, 2);
    subs[1].count = 0;
    claim(&subs[1], 2 * SECOND);
    cr_assert_eq(inner[0].line_count, 1);
    cr_assert_eq(inner[0].line[0].worker, takt_tenant_worker(1, "k0"));
}

/* Of a ledger between, one key has five workers and another key has one. */
Test(inner, keys_within_a_ledger_between_take_turns)
{
    set_up(limit_of(50, SECOND, 1), limit_of(10, SECOND, 1));
    add_workers_of_a_key(5);
    add(6, 1, 1000000, 0);
    for (int i = 0; i < 6; i++)
        subs[i].between = 2;
    run_until(20 * SECOND);
    cr_assert_geq(b.slot_count, 199);
    cr_assert(slot_counts[1] >= 98 && slot_counts[1] <= 102, "it has %d", slot_counts[1]);
    cr_assert_eq(inner[2].tenant_count, 2);
}

/* Such workers do not have tenants in that line. */
Test(inner, a_line_of_workers_that_pass_one_level_is_left_as_it_is)
{
    takt_claim plain = {.worker = 9, .seq = 1, .waiting = 5, .want_count = 1};
    takt_award award;

    set_up(limit_of(50, SECOND, 1), limit_of(5, SECOND, 1));
    plain.wants[0] = (takt_want){.count = 5, .latest_us = TAKT_NEVER, .cost = 1, .priority = 5};
    takt_ledger_claim(&inner[0], NOW, &plain, &award);
    cr_assert_eq(inner[0].line_count, 1);
    add_workers_of_a_key(1);
    claim(&subs[0], MS);
    cr_assert_eq(inner[0].line_count, 1);
    cr_assert_eq(inner[0].tenant_count, 0);
    cr_assert_eq(inner[0].line[0].worker, 9);
}
