/*
 * What turns are worth: by the time in which the rules give them, of the unit that takes longest.
 */
#include "core/worth.h"

#include "core/books.h"
#include "core/line.h"

#define LOOKAHEAD_US INT64_C(250000)

static book b;

/* 4000 tokens and 100 requests a second. */
static void set_up(void)
{
    takt_numbers limit = limit_of(4000, SECOND, 8000);

    add_rule(&limit, 100, SECOND, 50);
    limit.rules[1].unit = TAKT_UNIT_REQUESTS;
    limit.lookahead_us = LOOKAHEAD_US;
    open_book(&b, limit);
}

TestSuite(worth, .init = set_up);

static takt_place *stand(uint64_t worker, int64_t need)
{
    takt_place *place = &b.ledger.line[takt_line_add(&b.ledger, worker, 5)];

    place->need = place->wanting = need;
    place->waiting = 1;
    place->expires_at_us = NOW + TAKT_SILENT_US;
    return place;
}

Test(worth, a_turn_is_worth_the_unit_that_takes_longest)
{
    static const struct {
        int64_t tokens, requests, of_lookahead; /* parts of 16 */
    } rows[] = {{1000, 1, 16}, {250, 1, 4}, {250, 25, 16}, {6000, 2, 96}, {0, 5, 3}};
    takt_place *place = stand(1, 10);

    stand(2, 10);
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_worth_note(&b.ledger, place, (takt_amounts){{rows[i].tokens, rows[i].requests}});
        cr_expect_eq(place->moves,
                     rows[i].of_lookahead * TAKT_WORTH_STEP / 16 +
                         (rows[i].tokens == 0 ? TAKT_WORTH_STEP / 80 : 0),
                     "row %zu: %" PRId64, i, place->moves);
    }
}

Test(worth, a_usual_turn_is_a_share_or_the_least_need_of_all)
{
    takt_place *place = stand(1, 10);
    takt_amounts one = {{1, 1}};

    stand(2, 1000);
    takt_worth_note(&b.ledger, place, one);
    cr_expect_eq(place->usual, TAKT_WORTH_STEP / 2, "a share of two");
    place->need = 2000;
    takt_worth_note(&b.ledger, place, one);
    cr_expect_eq(place->usual, TAKT_WORTH_STEP, "the other one's need");
    place->need = 600;
    takt_worth_note(&b.ledger, place, one);
    cr_expect_eq(place->usual, TAKT_WORTH_STEP * 600 / 1000, "its own need");
    b.line[1].aside = true;
    takt_worth_note(&b.ledger, place, one);
    cr_expect_eq(place->usual, TAKT_WORTH_STEP, "all of it: nobody else is in turn");
}

/* Slow rules, and lookaheads of any length. */
Test(worth, numbers_have_bounds)
{
    takt_place *place = stand(1, 1);

    stand(2, 1);
    b.limit = limit_of(1, TAKT_SPAN_MAX_US, 1);
    b.limit.lookahead_us = 0;
    takt_worth_note(&b.ledger, place, (takt_amounts){{1000, 1}});
    cr_expect_eq(place->moves, TAKT_OWED_MAX);
    cr_expect_eq(place->usual, TAKT_OWED_MAX, "one token takes 50 years");
    b.limit = limit_of(1000000, SECOND, 1000);
    b.limit.lookahead_us = 10 * SECOND;
    takt_worth_note(&b.ledger, place, (takt_amounts){{1, 1}});
    cr_expect_eq(place->moves, 1, "at least");
}

Test(worth, a_quarter_of_what_others_have_before_it)
{
    takt_amounts ahead = takt_worth_before(&b.ledger, 4 * TAKT_WORTH_STEP, 2);

    cr_expect_eq(ahead.of[TAKT_UNIT_TOKENS], 2 * 1000);
    cr_expect_eq(ahead.of[TAKT_UNIT_REQUESTS], 2 * 25);
    ahead = takt_worth_before(&b.ledger, TAKT_OWED_MAX, 300);
    cr_expect_gt(ahead.of[TAKT_UNIT_TOKENS], 1000000, "more than anybody waits for");
}
