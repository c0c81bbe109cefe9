/*
 * The line: its order by priority, then turn; the changes that time brings; stale statements.
 */
#include "core/line.h"

#include "core/books.h"
#include "core/worth.h"

static book b;

static void set_up(void)
{
    open_book(&b, limit_of(10, SECOND, 1));
}

TestSuite(line, .init = set_up);

/* A worker is in line from then on, and is to claim again at that time. */
static void stand(uint64_t worker, int8_t priority, int64_t again_us)
{
    takt_place *place = &b.line[takt_line_add(&b.ledger, worker, priority)];

    place->seq = 10;
    place->again_at_us = NOW + again_us;
    place->expires_at_us = NOW + TAKT_SILENT_US;
}

Test(line, priority_first_then_turn)
{
    cr_assert_eq(takt_line_find(&b.ledger, 1, 5), -1);
    stand(1, 5, 0);
    stand(2, 5, 0);
    stand(3, 0, 0);
    stand(4, 9, 0);
    stand(5, 5, 0);
    stand(1, 0, 0);
    cr_assert_eq(line_digits(&b), 311254);
    cr_assert_eq(takt_line_find(&b.ledger, 1, 0), 1);
    cr_assert_eq(takt_line_find(&b.ledger, 1, 5), 2);
    cr_assert_eq(takt_line_find(&b.ledger, 2, 0), -1, "another's, and another priority's");
    for (int i = 1; i < b.ledger.line_count; i++)
        if (b.line[i - 1].priority == b.line[i].priority)
            cr_assert_lt(b.line[i - 1].turn, b.line[i].turn);
    cr_assert_eq(b.ledger.turn, 6);
}

Test(line, who_leaves_leaves_no_gap)
{
    for (uint64_t worker = 1; worker <= 4; worker++)
        stand(worker, 5, 0);
    takt_line_remove(&b.ledger, 1);
    cr_assert_eq(line_digits(&b), 134);
    takt_line_remove(&b.ledger, 2);
    cr_assert_eq(line_digits(&b), 13);
    takt_line_remove(&b.ledger, 0);
    takt_line_remove(&b.ledger, 0);
    cr_assert_eq(b.ledger.line_count, 0);
    stand(7, 5, 0);
    cr_assert_eq(b.line[0].turn, 5, "no turn is given twice");
}

#define USUAL (TAKT_WORTH_STEP / 3) /* a share of three places */

/* 1 had a turn that was worth nearly three. */
Test(line, others_take_the_turns_that_a_place_owes)
{
    for (uint64_t worker = 1; worker <= 3; worker++)
        stand(worker, 5, 0);
    takt_line_end_turn(&b.ledger, 0, 3 * USUAL - 10, USUAL);
    cr_assert_eq(line_digits(&b), 231);
    cr_assert_eq(b.line[2].turn, 1 + 3 * USUAL - 10);
    cr_assert(takt_line_owes(&b.ledger, 5));
    cr_assert(!takt_line_owes(&b.ledger, 4));
    takt_line_end_turn(&b.ledger, 0, USUAL, USUAL);
    cr_assert_eq(line_digits(&b), 321, "it goes before the one that owes");
    cr_assert_eq(b.line[1].turn, 2 + USUAL);
    takt_line_end_turn(&b.ledger, 0, 1, USUAL);
    cr_assert_eq(line_digits(&b), 231);
    cr_assert_eq(b.line[1].turn, 3 + USUAL, "after a small turn it is the last of them as well");
    takt_line_end_turn(&b.ledger, 0, USUAL, USUAL);
    cr_assert_eq(line_digits(&b), 321);
    takt_line_end_turn(&b.ledger, 0, USUAL, USUAL);
    cr_assert_eq(line_digits(&b), 231);
    takt_line_end_turn(&b.ledger, 0, USUAL, USUAL);
    cr_assert_eq(line_digits(&b), 312, "the number of the one that owed is reached");
    cr_assert(!takt_line_owes(&b.ledger, 5));
    cr_assert_eq(b.ledger.turn, 2 + 3 * USUAL);
    stand(4, 5, 0);
    cr_assert_eq(line_digits(&b), 3124);
    cr_assert_eq(b.line[3].turn, 3 + 3 * USUAL);
}

Test(line, a_newcomer_goes_before_one_that_owes_turns)
{
    stand(1, 5, 0);
    stand(2, 5, 0);
    takt_line_end_turn(&b.ledger, 0, 5 * TAKT_WORTH_STEP, TAKT_WORTH_STEP);
    stand(3, 5, 0);
    stand(4, 6, 0);
    cr_assert_eq(line_digits(&b), 2314);
    cr_assert_eq(b.line[1].turn, 2 + USUAL, "it counts as one that has had a share");
    cr_assert_eq(b.line[3].turn, 2 + USUAL + 1, "nobody of its priority owes any");
}

/* When those before it have left, the numbers go on from its own. */
Test(line, the_first_in_line_owes_no_more)
{
    stand(1, 5, 0);
    stand(2, 5, 0);
    takt_line_end_turn(&b.ledger, 0, 1000, 1);
    takt_line_remove(&b.ledger, 0);
    takt_line_end_turn(&b.ledger, 0, 1, 1);
    stand(2, 5, 0);
    cr_assert_eq(line_digits(&b), 12);
    cr_assert_gt(b.line[0].turn, 1000);
}

/* One that is served before its number is reached owes the rest as well. */
Test(line, what_is_owed_adds_up_to_a_bound)
{
    stand(1, 5, 0);
    stand(2, 5, 0);
    takt_line_end_turn(&b.ledger, 0, 1000, 100);
    takt_line_end_turn(&b.ledger, 1, 1000, 100);
    cr_assert_eq(line_digits(&b), 21);
    cr_assert_eq(b.line[1].turn, 1 + 1000 + 1000);
    takt_line_end_turn(&b.ledger, 1, 1, 100);
    cr_assert_eq(b.line[1].turn, 2002);
    cr_assert_eq(b.ledger.turn, 2);
    takt_line_end_turn(&b.ledger, 1, TAKT_OWED_MAX, 100);
    cr_assert_eq(b.line[1].turn, b.ledger.turn + TAKT_OWED_MAX);
}

Test(line, a_usual_turn_goes_to_the_end_where_nobody_owes)
{
    for (uint64_t worker = 1; worker <= 3; worker++)
        stand(worker, 5, 0);
    takt_line_end_turn(&b.ledger, 2, USUAL, USUAL);
    cr_assert_eq(b.line[2].turn, 4);
    takt_line_end_turn(&b.ledger, 0, 0, 0);
    cr_assert_eq(b.line[2].turn, 5);
}

Test(line, no_number_is_given_twice)
{
    for (uint64_t worker = 1; worker <= 3; worker++)
        stand(worker, 5, 0);
    takt_line_end_turn(&b.ledger, 0, 101, 50);  /* to 102 */
    takt_line_end_turn(&b.ledger, 0, 100, 100); /* 2 + 100 is taken */
    cr_assert_eq(line_digits(&b), 312);
    cr_assert_eq(b.line[1].turn, 102);
    cr_assert_eq(b.line[2].turn, 103);
    takt_line_set_aside(&b.ledger, &b.line[1]);
    stand(4, 5, 0);
    cr_assert_eq(b.line[3].turn, 104);
}

Test(line, the_silent_are_dropped)
{
    stand(1, 5, 0);
    stand(2, 5, 0);
    stand(3, 5, 0);
    b.line[1].expires_at_us += SECOND;
    takt_line_tidy(&b.ledger, NOW + TAKT_SILENT_US);
    cr_assert_eq(line_digits(&b), 123);
    takt_line_tidy(&b.ledger, NOW + TAKT_SILENT_US + 1);
    cr_assert_eq(line_digits(&b), 2);
}

/* A clock that was set back must not keep the dead for as long as it was ahead. */
Test(line, nobody_is_awaited_for_longer_than_that)
{
    stand(1, 5, 0);
    b.line[0].expires_at_us = NOW + DAY;
    takt_line_tidy(&b.ledger, NOW);
    cr_assert_eq(b.line[0].expires_at_us, NOW + TAKT_SILENT_US);
}

/* In each priority for itself: others behind the head are not late before they are the head. */
Test(line, late_heads_are_stepped_round)
{
    static const struct {
        int64_t at_us;
        const char *aside; /* of the line 12 34, by place */
    } rows[] = {{250 * MS, "...."},
                {250 * MS + 1, "a..."},
                {300 * MS + 1, "a..."}, /* the last one is late, and not the first */
                {350 * MS + 1, "a.aa"}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        set_up();
        stand(1, 0, 0);
        stand(2, 0, 300 * MS);
        stand(3, 5, 100 * MS);
        stand(4, 5, 50 * MS);
        takt_line_tidy(&b.ledger, NOW + rows[i].at_us);
        for (int at = 0; at < 4; at++)
            cr_assert_eq(b.line[at].aside, rows[i].aside[at] == 'a', "row %zu, place %d", i, at);
    }
    takt_line_tidy(&b.ledger, NOW + SECOND);
    for (int at = 0; at < 4; at++)
        cr_assert(b.line[at].aside, "place %d: all of them are late", at);
    cr_assert_eq(line_digits(&b), 1234, "and keep their turns");
}

Test(line, statements_that_are_old)
{
    static const struct {
        uint64_t worker;
        int64_t seq;
        bool stale;
    } rows[] = {{1, 9, true}, {1, 10, true}, {1, 11, false}, {2, 1, false}};

    stand(1, 5, 0);
    stand(3, 5, 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_claim claim = {.worker = rows[i].worker, .seq = rows[i].seq};
        cr_assert_eq(takt_line_is_stale(&b.ledger, &claim), rows[i].stale, "row %zu", i);
    }
}

Test(line, counts_waiters_and_workers)
{
    int64_t waiting, workers;

    takt_line_count(&b.ledger, &waiting, &workers);
    cr_assert(waiting == 0 && workers == 0);
    stand(1, 0, 0);
    stand(1, 5, 0);
    stand(2, 5, 0);
    for (int i = 0; i < 3; i++)
        b.line[i].waiting = 10 + i;
    b.line[0].foremost = b.line[2].foremost = true;
    takt_line_count(&b.ledger, &waiting, &workers);
    cr_assert_eq(waiting, 33);
    cr_assert_eq(workers, 2, "a worker of two priorities is one");
}
