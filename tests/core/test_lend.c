/*
 * Which places say when their key is due, so that others use the slots before that.
 */
#include "core/lend.h"

#include "core/ledger_text.h"
#include "core/scarce.h"

TestSuite(lend);

Test(lend, a_place_says_when_its_key_is_due)
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

Test(lend, all_places_of_a_key_learn_when_it_is_due)
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

/* A lookahead has three slots. */
Test(lend, few_slots_are_left_as_they_are)
{
    set_up_scarce(12);
    claim(&subs[1], 200 * MS);
    cr_assert_eq(place_in_line(&subs[1])->due_in_us, 0);
}

Test(lend, a_key_that_gives_its_part_is_not_scarce)
{
    set_up(limit_of(200, SECOND, 1), limit_of(200, SECOND, 1));
    add(2, -1, 1000000, 0);
    add(1, 0, 1000000, 0);
    claim(&subs[0], 0);
    claim(&subs[1], 200 * MS);
    cr_assert_eq(place_in_line(&subs[1])->due_in_us, 0);
}

/* Slots of 120/s are 10 ms apart there. */
Test(lend, on_whole_intervals_a_faster_key_is_scarce_too)
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
