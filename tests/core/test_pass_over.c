/*
 * Tenants of lines inside lines do not wait for each other.
 */
#include "core/pass_over.h"

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
