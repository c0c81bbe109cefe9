/*
 * Which slots are open to places whose key gives no token yet.
 */
#include "core/due.h"

#include "core/line.h"
#include "core/scarce.h"

TestSuite(due);

Test(due, no_slot_is_left_to_a_key_before_it_is_due)
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

/* They are due at one instant, so they have one key: what is open is for the first ones in line. */
Test(due, places_of_a_key_share_what_is_open)
{
    static const int64_t wanting[] = {3, 100, 100};

    set_up(limit_of(200, SECOND, 1), limit_of(50, SECOND, 1));
    for (int i = 0; i < 3; i++) {
        takt_place *place = &b.line[takt_line_add(&b.ledger, (uint64_t)i + 1, 5)];
        place->wanting = place->waiting = wanting[i];
        place->need = 1;
        place->due_in_us = 100 * MS;
        place->expires_at_us = NOW + TAKT_SILENT_US;
    }
    takt_due_open(&b.ledger, NOW);
    cr_expect_eq(b.line[0].open.of[TAKT_UNIT_TOKENS], 31, "30 in 150 ms, and one at once");
    cr_expect_eq(b.line[1].open.of[TAKT_UNIT_TOKENS], 28);
    cr_expect_eq(b.line[2].open.of[TAKT_UNIT_TOKENS], 0);
    b.line[1].due_in_us = 240 * MS;
    takt_due_open(&b.ledger, NOW);
    cr_expect_eq(b.line[1].open.of[TAKT_UNIT_TOKENS], 3, "of another key");
    cr_expect_eq(b.line[2].open.of[TAKT_UNIT_TOKENS], 28);
    takt_due_open(&b.ledger, NOW + 100 * MS);
    cr_expect_eq(b.line[0].due_in_us, 0, "it is due");
    cr_expect_eq(b.line[1].due_in_us, 240 * MS);
}
