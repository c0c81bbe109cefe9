/*
 * Claims whose slots keep the rules of inner limits: rates, blocks, what is held back, parking, and
 * fleets of workers that claim when their awards say.
 */
#include "core/inner.h"

#include "core/ledger_text.h"
#include "core/line.h"
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

/* Others take each slot a lookahead ahead.  So a domain that claims later has a later slot. */
Test(inner, a_claim_is_prompt_where_its_domain_is_scarce_and_others_take_the_rest)
{
    set_up(limit_of(50, SECOND, 1), limit_of(5, SECOND, 1));
    add(1, 0, 1000000, 0);
    add(2, -1, 1000000, 0);
    claim(&subs[0], 0);
    cr_expect_not(b.award.prompt, "nobody else waits");
    claim(&subs[1], 0);
    cr_expect_not(b.award.prompt, "its turn decides, not its domain");
    claim(&subs[0], 100 * MS);
    cr_expect(b.award.prompt);
    subs[1].count = 20; /* two lookaheads have more slots */
    claim(&subs[1], 110 * MS);
    claim(&subs[0], 300 * MS);
    cr_expect_not(b.award.prompt, "the others leave slots");
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

/* ---- slots before a key is due ----------------------------------------------------------------
 */

static const takt_place *place_in_line(const sub *of)
{
    return place_of(&b, takt_tenant_worker(of->worker, of->tenant), 5);
}

/* Key 0 of 50/s and other work, which stands in line already, of 200/s. */
static void set_up_scarce(int64_t rate)
{
    set_up(limit_of(rate, SECOND, 1), limit_of(rate / 4, SECOND, 1));
    add(2, -1, 1000000, 0);
    add(1, 0, 1000000, 0);
    add(3, 0, 1000000, 0);
    claim(&subs[0], 0);
}

Test(inner, a_place_says_when_its_key_is_due)
{
    char text[4096], again[4096];
    takt_place line[8];
    takt_tenant tenants[32];
    takt_ledger read = {
        .line = line, .line_capacity = 8, .tenants = tenants, .tenant_capacity = 32};
    takt_numbers kept;
    size_t size;

    set_up_scarce(200);
    claim(&subs[1], 200 * MS);
    cr_assert_gt(place_in_line(&subs[1])->due_in_us, 0);
    cr_assert_leq(place_in_line(&subs[1])->due_in_us, 2 * 250 * MS);
    cr_assert_eq(place_in_line(&subs[0])->due_in_us, 0, "no inner limit holds it up");
    size = takt_ledger_encode(&b.ledger, text, sizeof text);
    cr_assert_not_null(memchr(text, '+', size));
    cr_assert_eq(takt_ledger_decode(&read, b.ledger.numbers, &kept, NOW + 200 * MS, text, size), 0);
    cr_assert_eq(takt_ledger_encode(&read, again, sizeof again), size);
    cr_assert_eq(memcmp(text, again, size), 0);
}

Test(inner, all_places_of_a_key_learn_when_it_is_due)
{
    int64_t due_us;

    set_up_scarce(200);
    claim(&subs[1], 200 * MS);
    due_us = place_in_line(&subs[1])->due_in_us;
    cr_assert_gt(due_us, 0);
    claim(&subs[2], 420 * MS);
    cr_assert_gt(subs[2].starts, 0);
    cr_assert_gt(place_in_line(&subs[1])->due_in_us, due_us);
    cr_assert_eq(place_in_line(&subs[1])->due_in_us, place_in_line(&subs[2])->due_in_us + 220 * MS);
}

Test(inner, no_slot_is_left_to_a_key_before_it_is_due)
{
    const takt_place *place;

    set_up_scarce(200);
    claim(&subs[1], 200 * MS);
    place = place_in_line(&subs[1]);
    cr_assert_eq(takt_line_usable(place, TAKT_UNIT_TOKENS), 0);
    takt_ledger_tidy(&b.ledger, NOW + 240 * MS);
    cr_assert_gt(takt_line_usable(place, TAKT_UNIT_TOKENS), 0);
    cr_assert_lt(takt_line_usable(place, TAKT_UNIT_TOKENS), place->wanting);
    takt_ledger_tidy(&b.ledger, NOW + 200 * MS + place->due_in_us);
    place = place_in_line(&subs[1]);
    cr_assert_eq(place->due_in_us, 0);
    cr_assert_eq(takt_line_usable(place, TAKT_UNIT_TOKENS), place->wanting);
}

/* A lookahead has three slots. */
Test(inner, few_slots_are_left_as_they_are)
{
    set_up_scarce(12);
    claim(&subs[1], 200 * MS);
    cr_assert_eq(place_in_line(&subs[1])->due_in_us, 0);
}

Test(inner, a_key_that_gives_its_part_is_not_scarce)
{
    set_up(limit_of(200, SECOND, 1), limit_of(200, SECOND, 1));
    add(2, -1, 1000000, 0);
    add(1, 0, 1000000, 0);
    claim(&subs[0], 0);
    claim(&subs[1], 200 * MS);
    cr_assert_eq(place_in_line(&subs[1])->due_in_us, 0);
}

/* Slots of 120/s are 10 ms apart there. */
Test(inner, on_whole_intervals_a_faster_key_is_scarce_too)
{
    for (int used = 0; used < 2; used++) {
        set_up(limit_of(200, SECOND, 1), limit_of(120, SECOND, 1));
        add(2, -1, 1000000, 0);
        add(1, 0, 1000000, 0);
        claim(&subs[0], 0);
        b.ledger.gaps.unused_us = used ? 0 : NOW + HOUR;
        claim(&subs[1], 200 * MS);
        cr_assert_eq(place_in_line(&subs[1])->due_in_us > 0, used == 1);
    }
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
