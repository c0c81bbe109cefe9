/*
 * The contents of every award: fencing numbers, workers to wake, and the ledger's state.
 */
#include "core/award.h"

#include "core/books.h"
#include "core/holders.h"
#include "core/line.h"

static book b;

static void open_permits(int64_t concurrency)
{
    open_book(&b, (takt_numbers){.lookahead_us = 250 * MS,
                                 .concurrency = concurrency,
                                 .lease_us = 30 * SECOND});
}

/* A worker that waits, with or without a permit. */
static takt_place *stand(uint64_t worker, int8_t priority, bool lacking)
{
    takt_place *place = &b.line[takt_line_add(&b.ledger, worker, priority)];

    place->seq = 1;
    place->wanting = place->need = place->waiting = place->weight = 1;
    place->expires_at_us = NOW + SECOND;
    place->lacking = lacking;
    return place;
}

static void hold(uint64_t worker, int64_t count)
{
    takt_claim claim = {.worker = worker, .seq = 1};

    takt_holders_give(&b.ledger, NOW, &claim, count);
}

/* The answer to a worker that holds so many and was given so many more in two runs. */
static void end_award(int64_t at_us, uint64_t worker, int64_t holding, int64_t given)
{
    takt_claim claim = {.worker = worker, .seq = 2, .holding = holding};

    takt_award_begin(&b.ledger, NOW + at_us, &claim, &b.award);
    b.award.holding = holding;
    b.award.run_count = given > 1 ? 2 : (int)given;
    b.award.runs[0] = (takt_run){.count = 1};
    b.award.runs[1] = (takt_run){.count = given - 1};
    takt_award_end(&b.ledger, NOW + at_us, &claim, &b.award);
}

/* The woken as decimal digits, in order. */
static int64_t woken(void)
{
    int64_t digits = 0;

    for (int i = 0; i < b.award.wake_count; i++)
        digits = digits * 10 + (int64_t)b.award.wakes[i];
    return digits;
}

Test(award, begins_with_nothing)
{
    takt_claim claim = {.worker = 1, .seq = 5};

    open_permits(2);
    memset(&b.award, 0x5a, sizeof b.award);
    b.ledger.blocked_until_us = NOW + SECOND;
    takt_award_begin(&b.ledger, NOW + 7, &claim, &b.award);
    cr_assert_eq(b.award.now_us, NOW + 7);
    cr_assert_eq(b.award.claim_again_at_us, TAKT_NEVER);
    cr_assert_eq(b.award.blocked_until_us, NOW + SECOND);
    cr_assert_eq(b.award.least_urgent, -1);
    cr_assert(b.award.refused == 0 && b.award.in_line == 0 && b.award.run_count == 0);
    cr_assert(b.award.holding == 0 && b.award.fence == 0 && b.award.reuses == 0);
    cr_assert_eq(b.award.wake_count, 0);
    cr_assert_not(b.award.stale);
}

Test(award, stale_by_the_line_or_by_what_is_held)
{
    takt_claim claim = {.worker = 1, .seq = 1};

    open_permits(2);
    stand(1, 5, true);
    takt_award_begin(&b.ledger, NOW, &claim, &b.award);
    cr_assert(b.award.stale);
    claim.worker = 2;
    takt_award_begin(&b.ledger, NOW, &claim, &b.award);
    cr_assert_not(b.award.stale);
    hold(2, 1);
    takt_award_begin(&b.ledger, NOW, &claim, &b.award);
    cr_assert(b.award.stale);
    claim.seq = 2;
    takt_award_begin(&b.ledger, NOW, &claim, &b.award);
    cr_assert_not(b.award.stale);
}

/* Numbers follow the clock and never repeat, also when the clock stops or goes back. */
Test(award, numbers_for_what_is_given_and_for_what_may_be_handed_on)
{
    static const struct {
        int64_t at_us, holding, given;
        int64_t fence, last; /* after NOW */
    } rows[] = {
        {0, 0, 3, 0, 2 + TAKT_REUSES},
        {10 * SECOND, 0, 1, 10 * SECOND, 10 * SECOND + TAKT_REUSES},
        {10 * SECOND, 1, 0, 10 * SECOND + TAKT_REUSES + 1, 10 * SECOND + 2 * TAKT_REUSES},
        {10 * SECOND - 1, 0, 2, 10 * SECOND + 2 * TAKT_REUSES + 1,
         10 * SECOND + 3 * TAKT_REUSES + 2},
        {20 * SECOND, 0, 0, -NOW, 10 * SECOND + 3 * TAKT_REUSES + 2}, /* nothing to number */
    };

    open_permits(5);
    for (size_t i = 0; i < COUNT(rows); i++) {
        end_award(rows[i].at_us, 1, rows[i].holding, rows[i].given);
        cr_assert_eq(b.award.holding, rows[i].holding + rows[i].given, "row %zu", i);
        cr_assert_eq(b.award.fence - NOW, rows[i].fence, "row %zu: %" PRId64, i,
                     b.award.fence - NOW);
        cr_assert_eq(b.award.reuses, rows[i].fence < 0 ? 0 : TAKT_REUSES, "row %zu", i);
        cr_assert_eq(b.ledger.fence - NOW, rows[i].last, "row %zu: %" PRId64, i,
                     b.ledger.fence - NOW);
    }
    add_rule(&b.limit, 10, SECOND, 1);
    end_award(30 * SECOND, 1, 0, 2);
    cr_assert_eq(b.award.reuses, 0, "a rule has a say in who is next");
    cr_assert_eq(b.ledger.fence, NOW + 30 * SECOND + 1);
}

/* Numbers of slots that are handed on stay near the clock, however many awards there are, so that a
 * ledger that was lost and restored later continues above them. */
Test(award, numbers_do_not_run_away_from_the_clock)
{
    int64_t last = 0, now = 0;

    open_permits(5);
    for (; now < TAKT_REUSES_AHEAD_US / TAKT_REUSES; now++) {
        end_award(now, 1, 0, 1);
        cr_assert_gt(b.award.fence, last);
        last = b.award.fence + b.award.reuses;
        cr_assert_eq(b.ledger.fence, last);
    }
    cr_assert(b.award.reuses > 0 && b.award.reuses < TAKT_REUSES, "the clock does not follow");
    end_award(now, 1, 2, 2);
    cr_assert_eq(b.award.reuses, 0);
    cr_assert_eq(b.award.fence, last + 1, "what is given has numbers all the same");
    end_award(now + 300, 1, 3, 0);
    cr_assert_eq(b.award.fence + b.award.reuses, NOW + now + 300 + TAKT_REUSES_AHEAD_US);
    last = b.ledger.fence;
    takt_ledger_init(&b.ledger, &b.limit, NOW);
    end_award(now + 300 + TAKT_REUSES_AHEAD_US, 1, 0, 1);
    cr_assert_gt(b.award.fence, last);
}

Test(award, nothing_of_permits_where_there_are_none)
{
    open_book(&b, limit_of(10, SECOND, 1));
    stand(2, 5, true);
    end_award(0, 1, 0, 2);
    cr_assert(b.award.fence == 0 && b.ledger.fence == 0 && b.award.reuses == 0);
    cr_assert_eq(b.award.wake_count, 0);
}

Test(award, as_many_are_woken_as_there_are_free_permits)
{
    static const int64_t wakes[] = {0, 1, 12, 123};

    for (int64_t free = 0; free < 4; free++) {
        open_permits(3);
        if (free < 3)
            hold(9, 3 - free);
        for (uint64_t worker = 1; worker <= 5; worker++)
            stand(worker, 5, true);
        end_award(0, 9, 3 - free, 0);
        cr_assert_eq(woken(), wakes[free], "%" PRId64 " free: %" PRId64, free, woken());
    }
}

/* A worker that claims by itself takes its permit without being woken; a worker that is late gets
 * none. */
Test(award, the_first_in_line_who_lack_one)
{
    open_permits(3);
    stand(2, 5, true)->aside = true;
    stand(3, 5, false);
    stand(4, 5, true);
    stand(5, 0, true);
    stand(6, 5, true);
    end_award(0, 1, 0, 0);
    cr_assert_eq(woken(), 54, "%" PRId64, woken());
}

/* Tokens that earlier workers may take by their next turn are not for the workers behind them. */
Test(award, nobody_is_woken_in_vain)
{
    static const struct {
        int64_t wanting, woken; /* by the first in line, which may have 4 of 8 */
    } rows[] = {{20, 1}, {4, 1}, {3, 12}, {1, 12}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        open_permits(8);
        hold(9, 4);
        stand(1, 5, true)->wanting = rows[i].wanting;
        stand(2, 5, true)->wanting = 20;
        end_award(0, 9, 4, 0);
        cr_assert_eq(woken(), rows[i].woken, "row %zu: %" PRId64, i, woken());
    }
    open_permits(8);
    hold(9, 4);
    stand(1, 0, true)->wanting = 4;
    stand(2, 5, true);
    end_award(0, 9, 4, 0);
    cr_assert_eq(woken(), 1, "nor behind who is more urgent");
}

Test(award, who_claims_knows)
{
    open_permits(2);
    stand(1, 5, true);
    stand(2, 5, true);
    end_award(0, 1, 0, 0);
    cr_assert_eq(woken(), 2);
}

Test(award, each_is_woken_once)
{
    open_permits(3);
    stand(2, 0, true);
    stand(2, 5, true);
    stand(3, 5, true);
    end_award(0, 1, 0, 0);
    cr_assert_eq(woken(), 23);
}

Test(award, a_crowd_is_not_woken_at_once)
{
    open_permits(50);
    for (uint64_t worker = 1; worker <= 40; worker++)
        stand(worker, 5, true);
    end_award(0, 99, 0, 0);
    cr_assert_eq(b.award.wake_count, TAKT_WAKES_MAX);
    cr_assert_eq(b.award.wakes[TAKT_WAKES_MAX - 1], TAKT_WAKES_MAX, "the first of them");
}

Test(award, how_the_ledger_stands)
{
    open_book(&b, limit_of(10, SECOND, 1));
    stand(1, 5, false)->foremost = true;
    stand(2, 5, false)->foremost = true;
    end_award(0, 3, 0, 0);
    cr_assert_eq(b.award.waiting, 2);
    cr_assert_eq(b.award.workers, 2);
    cr_assert_eq(b.award.next_slot_at_us, NOW);
    takt_numbers_commit(&b.limit, &b.ledger.state, NOW, takt_amounts_of_cost(1));
    end_award(0, 3, 0, 0);
    cr_assert_eq(b.award.next_slot_at_us, NOW + 100 * MS);
    b.ledger.blocked_until_us = NOW + 5 * SECOND;
    end_award(0, 3, 0, 0);
    cr_assert_eq(b.award.next_slot_at_us, NOW + 5 * SECOND, "not before the block ends");
}
