/*
 * Turns in the lines of inner ledgers: of workers with one key, of one that is parked, silent or
 * leaves, and of keys within a ledger between.
 */
#include "core/inner_line.h"

#include "core/line.h"
#include "core/subs.h"
#include "core/tenant_name.h"

/* Workers 1 to count have work of one key; the claims of the first ones always come first. */
static void add_workers_of_a_key(int count)
{
    for (int i = 0; i < count; i++)
        add((uint64_t)i + 1, 0, 1000000, 0)->far_us = i * 2 * MS;
}

TestSuite(inner_line);

Test(inner_line, workers_of_one_key_take_turns)
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

Test(inner_line, a_worker_that_is_alone_keeps_the_rules_alone)
{
    set_up(limit_of(50, SECOND, 50), limit_of(5, SECOND, 5));
    add_workers_of_a_key(1);
    claim(&subs[0], 0);
    cr_assert_eq(b.given, 5 + 1, "the burst, and what the lookahead has");
    cr_assert_eq(inner[0].line_count, 1);
}

Test(inner_line, a_parked_worker_keeps_its_turn)
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

/* Subjects without an inner limit. */
static void add_others(int count)
{
    for (int i = 0; i < count; i++)
        snprintf(add(100 + (uint64_t)i, -1, 1000000, 0)->tenant, sizeof subs->tenant, "o%c",
                 'a' + i);
}

/* How often, in a few seconds, one of the key's two workers does not stand in the outermost line.
 */
static int count_absent(void)
{
    int absent = 0;

    for (int64_t at_us = 8 * SECOND; at_us < 14 * SECOND; at_us += SECOND / 4) {
        run_until(at_us);
        for (uint64_t worker = 1; worker <= 2; worker++)
            absent += takt_line_find(&b.ledger, takt_tenant_worker(worker, "k0"), 5) < 0;
    }
    return absent;
}

/* Each of 21 subjects has a turn in 2.1 s. */
Test(inner_line, a_place_whose_turn_outside_comes_later_mostly_stays_there)
{
    set_up(limit_of(10, SECOND, 1), limit_of(1, SECOND, 1));
    add_workers_of_a_key(2);
    add_others(20);
    cr_expect_leq(count_absent(), 12, "a quarter of the time, or less");
    check_all();
    cr_expect_geq(count_between(0, 4 * SECOND, 14 * SECOND), 4);
    cr_expect_leq(count_between(0, 4 * SECOND, 14 * SECOND), 5);
}

Test(inner_line, a_place_that_its_inner_rules_hold_up_longer_leaves_it)
{
    set_up(limit_of(10, SECOND, 1), limit_of(1, 5 * SECOND, 1));
    add_workers_of_a_key(2);
    add_others(20);
    cr_expect_geq(count_absent(), 24, "half of the time, or more");
    check_all();
    cr_expect_geq(b.slot_count, 138, "the others have the slots");
}

Test(inner_line, a_silent_worker_is_passed_over)
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

Test(inner_line, a_worker_that_leaves_leaves_the_inner_line)
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
Test(inner_line, keys_within_a_ledger_between_take_turns)
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
Test(inner_line, a_line_of_workers_that_pass_one_level_is_left_as_it_is)
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

/* ---- tenants of the innermost limit ---------------------------------------------------------- */

/* Work of the key k0 for a tenant: one worker more has it. */
static sub *add_tenant(uint64_t worker, const char *tenant, int32_t weight)
{
    sub *added = add(worker, 0, 1000000, 0);

    added->inside = tenant;
    added->inner_weight = weight;
    return added;
}

static void add_two_tenants(void)
{
    for (uint64_t worker = 1; worker <= 3; worker++)
        add_tenant(worker, "a", 3);
    add_tenant(4, "b", 1);
}

static void check_three_to_one(int all)
{
    int of_a = (int)(subs[0].starts + subs[1].starts + subs[2].starts);

    check_all();
    cr_assert_geq(of_a + subs[3].starts, all * 98 / 100);
    cr_assert(abs(of_a - 3 * (int)subs[3].starts) <= all / 50, "%d and %d", of_a,
              (int)subs[3].starts);
}

Test(inner_line, tenants_share_a_key_by_their_weights)
{
    set_up(limit_of(50, SECOND, 1), limit_of(10, SECOND, 1));
    add_two_tenants();
    run_until(40 * SECOND);
    check_three_to_one(400);
}

/* The line of the outermost ledger decides, where their subject is one tenant. */
Test(inner_line, tenants_share_the_turns_of_their_subject)
{
    set_up(limit_of(20, SECOND, 1), limit_of(50, SECOND, 1));
    add_two_tenants();
    run_until(40 * SECOND);
    check_three_to_one(800);
    cr_expect_eq(b.ledger.tenant_count, 1);
    cr_expect_eq(inner[0].tenant_count, 2);
}

/* Claims of other subjects find the place whose turn it is. */
Test(inner_line, the_places_of_a_subject_stand_in_the_order_of_its_tenants)
{
    takt_place *line;
    int at;

    set_up(limit_of(20, SECOND, 1), limit_of(50, SECOND, 1));
    add_two_tenants();
    for (int round = 1; round < 40; round++) {
        run_until(round * SECOND / 8);
        line = b.ledger.line;
        at = takt_line_find(&inner[0], line[0].worker, 5);
        cr_assert_geq(at, 0);
        for (int i = 0; i < inner[0].tenant_count; i++)
            cr_assert_geq(inner[0].tenants[i].tag,
                          inner[0].tenants[inner[0].line[at].tenant - 1].tag);
        for (int i = 1; i < b.ledger.line_count; i++)
            cr_assert_lt(line[i - 1].turn, line[i].turn);
    }
}

Test(inner_line, a_tenant_for_which_there_is_no_space_is_given_nothing)
{
    static char names[PLACES + 1][8];

    set_up(limit_of(50, SECOND, 50), limit_of(50, SECOND, 50));
    for (int i = 0; i <= PLACES; i++) {
        snprintf(names[i], sizeof names[i], "t%d", i);
        add_tenant(1, names[i], 1);
    }
    for (int i = 0; i < PLACES; i++) {
        claim(&subs[i], 0);
        cr_assert(!b.award.parked);
    }
    claim(&subs[PLACES], 0);
    cr_expect_eq(b.given, 0);
    cr_expect(b.award.parked);
    cr_expect_eq(b.award.in_line, 0);
    cr_expect_eq(b.award.claim_again_at_us, NOW + TAKT_KEEPALIVE_US);
}

/* Tenant a has work of both keys, and b of one.  Both limits have `fair`. */
Test(inner_line, a_place_does_not_wait_for_tenants_that_wait_for_it_outside)
{
    int of_a;

    set_up(limit_of(20, SECOND, 1), limit_of(50, SECOND, 1));
    for (int i = 0; i < 3; i++) {
        sub *added = add((uint64_t)i + 1, i == 1 ? 1 : 0, 1000000, 0);
        strcpy(added->tenant, i < 2 ? "a" : "b");
        added->inside = added->tenant;
        added->inner_weight = 1;
        added->alike = true;
    }
    run_until(40 * SECOND);
    check_all();
    of_a = (int)(subs[0].starts + subs[1].starts);
    cr_assert_geq(of_a + subs[2].starts, 780);
    cr_assert_leq(abs(of_a - (int)subs[2].starts), 16);
}
