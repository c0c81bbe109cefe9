/*
 * Tenants of lines inside lines do not wait for each other.
 */
#include "core/pass_over.h"

#include "core/line.h"
#include "core/subs.h"

TestSuite(pass_over);

/* Tenant a has work of both keys, and b of one.  Both limits have `fair`. */
Test(pass_over, a_place_does_not_wait_for_tenants_that_wait_for_it_outside)
{
    int of_a;

    set_up(limit_of(20, SECOND, 1), limit_of(50, SECOND, 1));
    for (int i = 0; i < 3; i++) {
        sub *added = add((uint64_t)i + 1, i == 1 ? 1 : 0, 1000000, 0);
        strcpy(added->tenant, i < 2 ? "a" : "b");
        added->inside = added->tenant;
        added->inner_weight = 1;
        added->alike = true;
    }
    run_until(40 * SECOND);
    check_all();
    of_a = (int)(subs[0].starts + subs[1].starts);
    cr_assert_geq(of_a + subs[2].starts, 780);
    cr_assert_leq(abs(of_a - (int)subs[2].starts), 16);
}

/* The place of k1 goes first, and was told to claim much later. */
Test(pass_over, a_slot_that_was_free_for_a_lookahead_is_left_to_nobody)
{
    sub *first, *second;

    set_up(limit_of(2, SECOND, 1), limit_of(50, SECOND, 1));
    first = add(1, 0, 10, 0);
    second = add(2, 1, 10, 0);
    claim(first, 0);
    claim(second, 1 * MS);
    claim(first, 300 * MS);
    cr_assert_eq(first->starts, 2);
    for (int i = 0; i < b.ledger.line_count; i++)
        if (b.ledger.line[i].process == second->worker)
            b.ledger.line[i].again_at_us = NOW + 5 * SECOND;
    claim(first, 1240 * MS);
    cr_assert_eq(first->starts, 2);
    claim(first, 1260 * MS);
    cr_assert_eq(first->starts, 3);
    for (int i = 0; i < b.ledger.line_count; i++)
        cr_expect_not(b.ledger.line[i].behind);
    /* the other one keeps its turn */
    claim(first, 1600 * MS);
    claim(second, 1601 * MS);
    cr_assert_eq(first->starts, 3);
    cr_assert_eq(second->starts, 1);
}
