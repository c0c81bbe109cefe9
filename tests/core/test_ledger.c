/*
 * What time alone changes in a ledger, also if its clock jumps, and whose numbers it has.
 */
#include "core/ledger.h"

#include "core/books.h"

Test(ledger, the_silent_are_dropped_after_three_keepalives)
{
    static const struct {
        int64_t at_us;
        int line;
    } rows[] = {{5999 * MS, 12}, {6 * SECOND, 12}, {6 * SECOND + 1, 2}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static book b;
        takt_standing standing;
        open_book(&b, limit_of(1, MINUTE, 1));
        say(&b, 0, 1, 5, 1, 5);
        for (int64_t at_us = 0; at_us < rows[i].at_us; at_us += SECOND)
            say(&b, at_us, 2, 5, 1, 1);
        takt_ledger_peek(&b.ledger, NOW + rows[i].at_us, &standing);
        cr_assert_eq(line_digits(&b), rows[i].line, "row %zu: %d in line", i, line_digits(&b));
        cr_assert_eq(standing.workers, rows[i].line == 12 ? 2 : 1);
    }
}

/* After a jump of the clock, work continues within seconds, at the rate. */
Test(ledger, a_clock_that_jumps_costs_seconds_and_mints_nothing)
{
    static const int64_t jumps_us[] = {-HOUR, -DAY, -20 * SECOND, HOUR, DAY, 365 * DAY};
    for (size_t i = 0; i < COUNT(jumps_us); i++) {
        static book b;
        open_book(&b, limit_of(10, SECOND, 20));
        work_alone(&b, 1, 0, 10 * SECOND);
        takt_place before = b.line[0];
        int slots = b.slot_count;
        int64_t at_us = 10 * SECOND + jumps_us[i];
        b.slot_count = 0; /* by the new clock from here on */
        say(&b, at_us, 1, 5, 1, 1000);
        cr_assert_leq(b.award.claim_again_at_us, NOW + at_us + SECOND, "jump %zu", i);
        cr_assert_leq(place_of(&b, 1, 5)->expires_at_us, NOW + at_us + 6 * SECOND);
        work_alone(&b, 1, at_us + 50 * MS, at_us + 20 * SECOND);
        check_never_over(&b);
        cr_assert_geq(b.slot_count, 190, "jump %zu: %d slots in 20 s", i, b.slot_count);
        if (jumps_us[i] < 0)
            cr_assert_leq(b.slot_count, 204, "jump %zu: %d slots, a fresh burst", i, b.slot_count);
        cr_assert_geq(slots, 10 * 10);
        cr_assert_eq(before.worker, 1);
    }
}

Test(ledger, those_of_another_clock_expire_by_this_one)
{
    static book b;

    open_book(&b, limit_of(10, SECOND, 1));
    say(&b, HOUR, 1, 5, 1, 50);
    say(&b, 0, 2, 5, 1, 50); /* the clock went back an hour; 1 has died */
    cr_assert_eq(line_digits(&b), 12);
    say(&b, SECOND, 2, 5, 1, 50);
    say(&b, 5 * SECOND, 2, 5, 1, 50);
    say(&b, 6 * SECOND + 1, 2, 5, 1, 50);
    cr_assert_eq(line_digits(&b), 2);
}

/* What a ledger gives a second time was further ahead in its workers' hands than they believe. */
Test(ledger, what_a_jump_gives_anew_was_dropped_before)
{
    static const int64_t lookaheads_us[] = {250 * MS, TAKT_LOOKAHEAD_MAX_US};

    for (size_t i = 0; i < COUNT(lookaheads_us); i++) {
        int64_t believed_us = lookaheads_us[i] + TAKT_LOOKAHEAD_MAX_US / 2, anew = 0;
        for (int64_t back_us = 5 * SECOND; back_us < 40 * SECOND; back_us += 50 * MS) {
            static book b;
            takt_numbers limit = limit_of(100, SECOND, 20);
            limit.lookahead_us = lookaheads_us[i];
            open_book(&b, limit);
            say(&b, 0, 1, 5, 1, 10000);
            say(&b, -back_us, 1, 5, 1, 10000);
            if (b.award.next_slot_at_us > NOW + lookaheads_us[i]) /* behind the slots given
                                                                   * before */
                continue;
            cr_assert_gt(back_us, believed_us, "back by %" PRId64, back_us);
            anew++;
        }
        cr_assert_gt(anew, 0);
    }
}

Test(ledger, newer_numbers_are_taken_over_and_older_ones_are_told)
{
    static const struct {
        int64_t revision, tokens; /* of the caller's policy; the ledger's are 5 and 10/s */
        bool adopted, outdated;
    } rows[] = {{5, 10, false, false}, {5, 20, false, true}, {6, 20, true, false},
                {4, 20, false, true},  {0, 20, false, true}, {4, 10, false, true}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static book b;
        takt_numbers other = limit_of(rows[i].tokens, SECOND, 1);
        int64_t retry_us;
        open_book(&b, limit_of(10, SECOND, 1));
        b.limit.revision = 5;
        other.revision = rows[i].revision;
        cr_assert(takt_ledger_try(&b.ledger, NOW, 1, TAKT_NO_MORE, &retry_us));
        takt_ledger_adopt(&b.ledger, &other, NOW);
        cr_assert_not(takt_ledger_try(&b.ledger, NOW, 1, TAKT_NO_MORE, &retry_us));
        cr_assert_eq(retry_us - NOW, rows[i].adopted ? 50 * MS : 100 * MS, "row %zu: %" PRId64, i,
                     retry_us - NOW);
        b.award.outdated = true;
        takt_ledger_tell_newer(&b.ledger, 0, &other, &b.award);
        cr_assert_eq(b.award.outdated, rows[i].outdated, "row %zu", i);
        if (rows[i].outdated)
            cr_assert_eq(b.award.newer[0].rules[0].limit, 10, "row %zu", i);
    }
}
