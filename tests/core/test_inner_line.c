/*
 * Turns in the lines of inner ledgers: of workers with one key, of one that is parked, silent or
 * leaves, and of keys within a ledger between.
 */
#include "core/inner_line.h"

#include "core/subs.h"
#include "core/tenant_name.h"

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

static int64_t starts_of(int keys)
{
    int64_t starts = 0;

    for (int i = 0; i < keys; i++)
        starts += slot_counts[i];
    return starts;
}

/* Slots of 20/s are whole intervals of 100/s apart, and those between them are for the others. */
Test(inner_line, the_only_worker_has_long_turns_with_slots_on_whole_intervals)
{
    set_up(limit_of(100, SECOND, 1), limit_of(20, SECOND, 1));
    for (int i = 0; i < 3; i++)
        add(1, i, 1000000, 0);
    run_until(20 * SECOND);
    check_all();
    cr_assert_geq(starts_of(3), 1200);
    cr_assert_leq(claims * 2, starts_of(3));
}

/* With long turns each slot of one key would put off those of the other: 70/s of 100/s were used.
 */
Test(inner_line, it_has_single_slots_otherwise)
{
    static takt_numbers second;

    set_up(limit_of(100, SECOND, 1), limit_of(70, SECOND, 1));
    second = limit_of(30, SECOND, 1);
    takt_ledger_init(&inner[1], &second, NOW);
    add(1, 0, 1000000, 0);
    add(1, 1, 1000000, 0);
    run_until(20 * SECOND);
    cr_assert_geq(starts_of(2), 1500, "%lld", (long long)starts_of(2));
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
