/*
 * Gaps: which slots are kept when TAT passes over them, which of them a claim gets, and when they
 * are forgotten.
 */
#include "core/gaps.h"

#include "core/books.h"
#include "core/ledger_text.h"

static book b;

static void set_up(void)
{
    open_book(&b, limit_of(50, SECOND, 1));
}

TestSuite(gaps, .init = set_up);

/* A token taken so late after NOW. */
static void take_at(int64_t at_us)
{
    takt_gaps_pass_over(&b.ledger, NOW, NOW + at_us);
    takt_numbers_commit(b.ledger.numbers, &b.ledger.state, NOW + at_us, takt_amounts_of_cost(1));
}

/* The slots that are left, in milliseconds after NOW. */
static void check(const int64_t *slots, int count)
{
    cr_assert_eq(takt_gaps_room(&b.ledger, 0, TAKT_EXACT_MAX), count);
    for (int i = 0; i < count; i++)
        cr_assert_eq(takt_gaps_due(&b.ledger, 0, i + 1) - NOW, slots[i] * MS, "slot %d", i);
    cr_assert_eq(takt_gaps_due(&b.ledger, 0, count + 1), TAKT_NEVER);
}

Test(gaps, slots_that_are_passed_over_are_kept)
{
    take_at(100 * MS);
    check((int64_t[]){0, 20, 40, 60, 80}, 5);
    take_at(165 * MS); /* TAT is at 120 */
    check((int64_t[]){0, 20, 40, 60, 80, 120, 140}, 7);
    take_at(185 * MS);
    check((int64_t[]){0, 20, 40, 60, 80, 120, 140}, 7);
}

Test(gaps, a_gap_is_used_once)
{
    take_at(100 * MS);
    takt_gaps_take(&b.ledger, NOW, NOW + 40 * MS);
    check((int64_t[]){0, 20, 60, 80}, 4);
    takt_gaps_take(&b.ledger, NOW, NOW);
    takt_gaps_take(&b.ledger, NOW, NOW + 80 * MS);
    check((int64_t[]){20, 60}, 2);
    cr_assert_eq(takt_gaps_room(&b.ledger, NOW + 21 * MS, NOW + 60 * MS), 1);
    cr_assert_eq(takt_gaps_room(&b.ledger, NOW + 20 * MS, NOW + 59 * MS), 1);
    cr_assert_eq(takt_gaps_due(&b.ledger, NOW + 21 * MS, 1), NOW + 60 * MS);
}

Test(gaps, while_slots_are_put_off_gaps_are_whole_intervals)
{
    take_at(100 * MS);
    cr_assert_eq(takt_gaps_next(&b.ledger, NOW, NOW + 1), NOW + 20 * MS);
    cr_assert_eq(takt_gaps_next(&b.ledger, NOW, NOW + 80 * MS), NOW + 80 * MS);
    cr_assert_eq(takt_gaps_next(&b.ledger, NOW, NOW + 80 * MS + 1), TAKT_NEVER);
}

Test(gaps, otherwise_they_are_wherever_a_slot_fits)
{
    take_at(105 * MS);
    b.ledger.gaps.unused_us = NOW + DAY;
    cr_assert_eq(takt_gaps_next(&b.ledger, NOW, NOW - 1), NOW);
    cr_assert_eq(takt_gaps_next(&b.ledger, NOW, NOW + 33 * MS), NOW + 33 * MS);
    cr_assert_eq(takt_gaps_next(&b.ledger, NOW, NOW + 85 * MS), NOW + 85 * MS);
    cr_assert_eq(takt_gaps_next(&b.ledger, NOW, NOW + 85 * MS + 1), TAKT_NEVER);
    takt_gaps_take(&b.ledger, NOW, NOW + 33 * MS);
    check((int64_t[]){0, 53, 73}, 3);
    cr_assert_eq(takt_gaps_next(&b.ledger, NOW, NOW + 13 * MS), NOW + 13 * MS);
    cr_assert_eq(takt_gaps_next(&b.ledger, NOW, NOW + 13 * MS + 1), NOW + 53 * MS);
    takt_gaps_take(&b.ledger, NOW, NOW + 85 * MS);
    check((int64_t[]){0, 53}, 2);
}

Test(gaps, a_gap_that_is_a_microsecond_too_short_is_none)
{
    open_book(&b, limit_of(3, SECOND, 1));
    take_at(333333);
    check(NULL, 0);
    open_book(&b, limit_of(3, SECOND, 1));
    take_at(333334);
    check((int64_t[]){0}, 1);
}

Test(gaps, a_rule_of_several_slots_in_a_microsecond_has_none)
{
    open_book(&b, limit_of(2000000, SECOND, 1));
    take_at(1);
    check(NULL, 0);
}

Test(gaps, where_no_run_is_free_slots_are_lost_and_none_is_made)
{
    int64_t before;

    for (int i = 1; i <= TAKT_GAPS_MAX + 3; i++)
        take_at(i * 100 * MS);
    cr_assert_eq(b.ledger.gaps.count, TAKT_GAPS_MAX);
    before = takt_gaps_room(&b.ledger, 0, TAKT_EXACT_MAX);
    takt_gaps_take(&b.ledger, NOW, NOW + 40 * MS); /* in the middle of the first run */
    cr_assert_eq(takt_gaps_room(&b.ledger, 0, TAKT_EXACT_MAX), before - 3);
}

Test(gaps, thirds_of_a_microsecond_are_kept)
{
    open_book(&b, limit_of(3, SECOND, 1));
    take_at(1100 * MS);
    cr_assert_eq(takt_gaps_due(&b.ledger, 0, 2) - NOW, 333334);
    cr_assert_eq(takt_gaps_due(&b.ledger, 0, 3) - NOW, 666667);
    cr_assert_eq(takt_gaps_due(&b.ledger, NOW + 333334, 1) - NOW, 333334);
    cr_assert_eq(takt_gaps_due(&b.ledger, NOW + 333335, 1) - NOW, 666667);
    takt_gaps_take(&b.ledger, NOW, NOW + 333334);
    cr_assert_eq(takt_gaps_due(&b.ledger, NOW, 2) - NOW, 666667);
}

Test(gaps, past_ones_are_dropped)
{
    take_at(100 * MS);
    takt_gaps_tidy(&b.ledger, NOW + 40 * MS);
    check((int64_t[]){40, 60, 80}, 3);
    takt_gaps_tidy(&b.ledger, NOW + 81 * MS);
    check(NULL, 0);
}

Test(gaps, a_whole_interval_is_behind_TAT_or_now)
{
    cr_assert_eq(takt_gaps_whole(&b.ledger, NOW, NOW), NOW);
    cr_assert_eq(takt_gaps_whole(&b.ledger, NOW, NOW + 1), NOW + 20 * MS);
    cr_assert_eq(takt_gaps_whole(&b.ledger, NOW, NOW + 40 * MS), NOW + 40 * MS);
    take_at(5 * MS); /* TAT is at 25 */
    cr_assert_eq(takt_gaps_whole(&b.ledger, NOW, NOW + 10 * MS), NOW + 10 * MS, "no slot is lost");
    cr_assert_eq(takt_gaps_whole(&b.ledger, NOW, NOW + 50 * MS), NOW + 65 * MS);
    cr_assert_eq(takt_gaps_whole(&b.ledger, NOW + 30 * MS, NOW + 50 * MS), NOW + 50 * MS);
    open_book(&b, limit_of(3, SECOND, 1));
    cr_assert_eq(takt_gaps_whole(&b.ledger, NOW, NOW + 333333), NOW + 333334);
    cr_assert_eq(takt_gaps_whole(&b.ledger, NOW, NOW + 900 * MS), NOW + SECOND);
}

/* So many gaps pass, one after the other. */
static void pass_unused(int count)
{
    take_at(count * 20 * MS);
    takt_gaps_tidy(&b.ledger, NOW + count * 20 * MS);
}

Test(gaps, gaps_that_pass_unused_are_of_no_use_for_a_while)
{
    int64_t enough = 32 * b.limit.lookahead_us, again_us = NOW + 200 * MS + enough;

    pass_unused(2); /* each counts for a second, of eight */
    cr_assert(takt_gaps_are_used(&b.ledger, NOW + 40 * MS));
    pass_unused(10);
    cr_assert(!takt_gaps_are_used(&b.ledger, NOW + 200 * MS));
    cr_assert_eq(b.ledger.gaps.unused_us, again_us + 2 * enough);
    pass_unused(100);
    cr_assert_eq(b.ledger.gaps.unused_us, again_us + 2 * enough, "meanwhile none counts");
    takt_gaps_tidy(&b.ledger, again_us - 1);
    cr_assert(!takt_gaps_are_used(&b.ledger, again_us - 1));
    takt_gaps_tidy(&b.ledger, again_us);
    cr_assert_eq(b.ledger.gaps.unused_us, 0, "it begins anew");
}

Test(gaps, after_a_clock_was_set_back_unused_gaps_count_no_longer_than_usual)
{
    int64_t enough = 32 * b.limit.lookahead_us;

    b.ledger.gaps.unused_us = NOW + 100 * enough;
    takt_gaps_tidy(&b.ledger, NOW);
    cr_assert_eq(b.ledger.gaps.unused_us, NOW + 3 * enough);
    b.ledger.gaps.unused_us = NOW + enough;
    takt_gaps_tidy(&b.ledger, NOW);
    cr_assert_eq(b.ledger.gaps.unused_us, NOW + enough);
    takt_gaps_tidy(&b.ledger, NOW + enough);
    cr_assert_eq(b.ledger.gaps.unused_us, 0);
}

Test(gaps, two_that_are_used_make_up_for_one)
{
    int64_t unused_us;

    take_at(100 * MS);
    takt_gaps_tidy(&b.ledger, NOW + 1);
    unused_us = b.ledger.gaps.unused_us;
    cr_assert_gt(unused_us, NOW + SECOND);
    takt_gaps_take(&b.ledger, NOW + 1, NOW + 20 * MS);
    cr_assert_leq(b.ledger.gaps.unused_us, unused_us - SECOND / 2);
    takt_gaps_take(&b.ledger, NOW + 1, NOW + 40 * MS);
    cr_assert_eq(b.ledger.gaps.unused_us, 0);
    b.ledger.gaps.unused_us = unused_us = NOW + 20 * SECOND;
    takt_gaps_take(&b.ledger, NOW + 1, NOW + 60 * MS);
    cr_assert_eq(b.ledger.gaps.unused_us, unused_us, "while they are of no use none counts");
}

Test(gaps, a_rule_that_is_set_back_or_replaced_has_none)
{
    takt_numbers newer = limit_of(60, SECOND, 1);

    newer.revision = 1;
    take_at(100 * MS);
    takt_ledger_reset(&b.ledger, NOW + 10 * MS);
    takt_gaps_tidy(&b.ledger, NOW + 10 * MS);
    check(NULL, 0);
    take_at(200 * MS);
    b.ledger.gaps.unused_us = NOW + SECOND;
    takt_ledger_adopt(&b.ledger, &newer, NOW + 20 * MS);
    check(NULL, 0);
    cr_assert_eq(b.ledger.gaps.unused_us, 0);
}

Test(gaps, only_one_paced_rule_has_gaps)
{
    takt_error error;

    cr_assert_eq(takt_gaps_rule(&b.limit), 0);
    b.limit.rules[1] = b.limit.rules[0];
    b.limit.rule_count = 2;
    cr_assert_eq(takt_gaps_rule(&b.limit), -1);
    b.limit.rules[0] = (takt_rule){
        .algorithm = takt_algorithm_named("fixed-window"), .limit = 800, .period_us = DAY};
    cr_assert_eq(takt_rule_prepare(&b.limit.rules[0], &error), 0);
    cr_assert_eq(takt_gaps_rule(&b.limit), 1);
    b.ledger.state.brake = b.limit.rules[1];
    cr_assert(!takt_gaps_are_kept(&b.ledger));
}

Test(gaps, a_block_leaves_them_to_a_rule_without_a_burst)
{
    takt_ledger_block(&b.ledger, NOW, SECOND, NULL);
    cr_assert_gt(b.ledger.state.brake.tokens, 0);
    cr_assert(takt_gaps_are_kept(&b.ledger));
    b.ledger.brake.percent = 50;
    cr_assert(!takt_gaps_are_kept(&b.ledger), "a penalty");
    open_book(&b, limit_of(50, SECOND, 2));
    takt_ledger_block(&b.ledger, NOW, SECOND, NULL);
    cr_assert(!takt_gaps_are_kept(&b.ledger), "a burst");
}

Test(gaps, they_are_a_part_of_the_text)
{
    char text[4000];
    size_t size;
    book other;

    take_at(100 * MS);
    take_at(200 * MS);
    size = takt_ledger_encode(&b.ledger, text, sizeof text);
    text[size] = '\0';
    cr_assert(strstr(text, ";v1763692800000000,0,100000,1763692800120000,0,80000"), "%s", text);
    open_book(&other, b.limit);
    cr_assert_eq(takt_ledger_decode(&other.ledger, &b.limit, &other.limit, NOW, text, size), 0);
    cr_assert_eq(takt_gaps_room(&other.ledger, 0, TAKT_EXACT_MAX), 9);
}

Test(gaps, while_work_waits_the_unused_ones_are_a_part_of_the_text)
{
    static const char told[] = "g1/20000*1 1763692800000000;t9;v+1763692801000000;"
                               "w1,5,5,3,18,2,9,1763692800100000,1763692806000000";
    char text[4000];
    size_t size;

    cr_assert_eq(takt_ledger_decode(&b.ledger, &b.limit, &b.limit, NOW, told, sizeof told - 1), 0);
    cr_assert_eq(b.ledger.gaps.unused_us, NOW + SECOND);
    size = takt_ledger_encode(&b.ledger, text, sizeof text);
    text[size] = '\0';
    cr_assert_str_eq(text, told);
    b.ledger.line_count = 0;
    size = takt_ledger_encode(&b.ledger, text, sizeof text);
    text[size] = '\0';
    cr_assert_str_eq(text, "g1/20000*1 1763692800000000");
}

Test(gaps, a_malformed_part_is_damage)
{
    static const char *const texts[] = {"g1/20000*1 1763692800000000;v",
                                        "g1/20000*1 1763692800000000;v5",
                                        "g1/20000*1 1763692800000000;v5,0",
                                        "g1/20000*1 1763692800000000;v5,1,3",
                                        "g1/20000*1 1763692800000000;v5,0,0",
                                        "g1/20000*1 1763692800000000;v5,0,19999",
                                        "f5/1000000 1763692800000000,0;v5,0,20000",
                                        "g1/20000*1 1763692800000000;v+",
                                        "g1/20000*1 1763692800000000;v+0",
                                        "g1/20000*1 1763692800000000;v+9,5",
                                        "g1/20000*1 1763692800000000;v5,0,20000+",
                                        "g1/20000*1 1763692800000000;v+5+6",
                                        "f5/1000000 1763692800000000,0;v+5"};

    for (size_t i = 0; i < COUNT(texts); i++)
        cr_assert_eq(
            takt_ledger_decode(&b.ledger, &b.limit, &b.limit, NOW, texts[i], strlen(texts[i])), -1,
            "%s", texts[i]);
}
