/*
 * Claims whose slots keep the rules of inner limits: rates and blocks, of workers that claim when
 * their awards say.
 */
#include "core/inner.h"

#include "core/subs.h"

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

/* It has no slots that could be lost. */
Test(inner, beside_others_a_limit_of_permits_alone_gives_a_domain_its_rate)
{
    set_up((takt_numbers){.lookahead_us = 250 * MS, .concurrency = 1000, .lease_us = MINUTE},
           limit_of(5, SECOND, 1));
    add(1, 0, 1000000, 0);
    add(2, 1, 1000000, 0);
    run_until(12 * SECOND);
    cr_assert_eq(count_between(0, SECOND, 11 * SECOND), 50);
    cr_assert_eq(count_between(1, SECOND, 11 * SECOND), 50);
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

Test(inner, while_others_use_the_gaps_slots_lie_on_whole_intervals)
{
    set_up(limit_of(100, SECOND, 1), limit_of(60, SECOND, 1));
    add(1, 0, 1000000, 0);
    add(2, 1, 1000000, 0);
    run_until(21 * SECOND);
    check_all();
    for (int i = 0; i < 2; i++)
        cr_assert_geq(count_between(i, SECOND, 21 * SECOND), 999, "key %d of 1000", i);
}

Test(inner, otherwise_keys_have_their_rates)
{
    set_up(limit_of(100, SECOND, 1), limit_of(40, SECOND, 1));
    add(1, 0, 1000000, 0);
    add(2, 1, 1000000, 0);
    run_until(21 * SECOND);
    check_all();
    for (int i = 0; i < 2; i++)
        cr_assert_geq(count_between(i, SECOND, 21 * SECOND), 760, "key %d of 800", i);
}
