/*
 * A claim's turns: what a place gets of its wants, in which order, and how long its turn lasts.
 */
#include "core/claim_serve.h"

#include "core/weights.h"

TestSuite(claim_serve);

Test(claim_serve, what_follows_a_large_cost_waits_for_it)
{
    static book b;
    takt_claim claim = {.worker = 1, .seq = 9, .waiting = 7, .want_count = 3};

    open_book(&b, limit_of(10, SECOND, 10));
    say(&b, 0, 1, 5, 1, 7);
    claim.wants[0] = (takt_want){1, TAKT_NEVER, 2, 5, {{0}}};
    claim.wants[1] = (takt_want){1, TAKT_NEVER, 9, 5, {{0}}};
    claim.wants[2] = (takt_want){5, TAKT_NEVER, 1, 5, {{0}}};
    send_claim(&b, 0, &claim);
    cr_assert_eq(b.given, 1, "the two; not the nine, and so not the ones");
    cr_assert_eq(place_of(&b, 1, 5)->need, 9);
    claim.seq++;
    claim.waiting = 6;
    claim.want_count = 2;
    memmove(&claim.wants[0], &claim.wants[1], 2 * sizeof claim.wants[0]);
    send_claim(&b, b.award.claim_again_at_us - NOW, &claim);
    cr_assert_eq(b.given, 1, "the nine, when it was said");
    cr_assert_eq(b.slots[b.slot_count - 1].cost, 9);
    check_never_over(&b);
}

Test(claim_serve, a_large_cost_is_not_starved_by_a_stream_of_small_ones)
{
    static book b;
    int64_t again_us[4] = {0}, served_us = -1;

    open_book(&b, limit_of(10, SECOND, 10));
    for (int64_t at_us = 0; at_us < MINUTE && served_us < 0; at_us += 5 * MS) {
        for (int worker = 1; worker <= 3; worker++) {
            if (at_us < again_us[worker])
                continue;
            say(&b, at_us, (uint64_t)worker, 5, worker == 1 ? 10 : 1, worker == 1 ? 1 : 1000);
            again_us[worker] = b.award.claim_again_at_us - NOW;
            if (worker == 1 && b.given > 0)
                served_us = b.first_us;
        }
        if (at_us == 0)
            again_us[1] = SECOND; /* it comes later than the others */
    }
    cr_assert(served_us >= 0 && served_us < 4 * SECOND, "served at %" PRId64, served_us);
    check_never_over(&b);
}

Test(claim_serve, deadlines_are_never_awarded_late)
{
    static const struct {
        int64_t latest_us;
        int64_t given, later_given; /* of four with a deadline; of four behind them without */
    } rows[] = {{-1, 0, 3},       {0, 1, 2},        {99 * MS, 1, 2},
                {100 * MS, 2, 1}, {200 * MS, 3, 0}, {SECOND, 3, 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static book b;
        takt_claim claim = {.worker = 1, .seq = 1, .waiting = 8, .want_count = 2};
        open_book(&b, limit_of(10, SECOND, 1));
        claim.wants[0] = (takt_want){4, NOW + rows[i].latest_us, 1, 5, {{0}}};
        claim.wants[1] = (takt_want){4, TAKT_NEVER, 1, 5, {{0}}};
        send_claim(&b, 0, &claim);
        cr_assert_eq(b.given, rows[i].given + rows[i].later_given, "row %zu: %" PRId64, i, b.given);
        open_book(&b, limit_of(10, SECOND, 1));
        claim.waiting = 4;
        claim.want_count = 1;
        send_claim(&b, 0, &claim);
        cr_assert_eq(b.given, rows[i].given, "row %zu: %" PRId64, i, b.given);
        for (int64_t j = 0; j < b.given; j++)
            cr_assert_leq(b.slots[j].slot_us, NOW + rows[i].latest_us, "row %zu", i);
    }
}

/* A turn that was cut short continues, and no slot stays unused meanwhile. */
Test(claim_serve, a_turn_lasts_until_all_its_shares_are_taken)
{
    static book b;
    takt_want many = {100, TAKT_NEVER, 1, 5, {{0}}};

    open_book(&b, limit_of(40, SECOND, 1)); /* ten in a lookahead */
    takt_numbers_exhaust(&b.limit, &b.ledger.state, NOW);
    claim_for(&b, 0, 0, 30, many, 0);
    cr_assert_eq(b.given, 11, "alone, its weight does not matter");
    claim_for(&b, 0, 1, 10, many, 0);
    claim_for(&b, 100 * MS, 0, 30, many, 0);
    cr_assert_eq(b.given, 4);
    cr_assert_eq(line_digits(&b), 12, "it stays in front");
    cr_assert_eq(place_of(&b, 1, 5)->left, 26);
    claim_for(&b, 200 * MS, 1, 10, many, 0);
    cr_assert_eq(b.given, 0, "the next four are left to the first");
    claim_for(&b, 200 * MS, 0, 30, many, 0);
    claim_for(&b, 450 * MS, 0, 30, many, 0);
    cr_assert_eq(place_of(&b, 1, 5)->left, 12);
    claim_for(&b, 700 * MS, 0, 30, many, 0);
    claim_for(&b, 950 * MS, 0, 30, many, 0);
    cr_assert_eq(b.given, 2, "the last two of thirty");
    cr_assert_eq(line_digits(&b), 21);
    cr_assert_eq(place_of(&b, 1, 5)->left, 0);
    claim_for(&b, 950 * MS, 1, 10, many, 0);
    cr_assert_eq(b.given, 8);
    check_never_over(&b);
}
