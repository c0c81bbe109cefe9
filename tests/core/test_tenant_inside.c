/*
 * Turns inside turns: tenants of an innermost limit share the turns of their key by their weights.
 */
#include "core/tenant_inside.h"

#include "core/line.h"
#include "core/subs.h"

TestSuite(tenant_inside);

static void add_two_tenants(void)
{
    for (uint64_t worker = 1; worker <= 3; worker++)
        add_tenant(worker, "a", 3);
    add_tenant(4, "b", 1);
}

static void check_three_to_one(int all)
{
    int of_a = (int)(subs[0].starts + subs[1].starts + subs[2].starts);

    check_all();
    cr_assert_geq(of_a + subs[3].starts, all * 98 / 100);
    cr_assert(abs(of_a - 3 * (int)subs[3].starts) <= all / 50, "%d and %d", of_a,
              (int)subs[3].starts);
}

Test(tenant_inside, tenants_share_a_key_by_their_weights)
{
    set_up(limit_of(50, SECOND, 1), limit_of(10, SECOND, 1));
    add_two_tenants();
    run_until(40 * SECOND);
    check_three_to_one(400);
}

/* The line of the outermost ledger decides, where their subject is one tenant. */
Test(tenant_inside, tenants_share_the_turns_of_their_subject)
{
    set_up(limit_of(20, SECOND, 1), limit_of(50, SECOND, 1));
    add_two_tenants();
    run_until(40 * SECOND);
    check_three_to_one(800);
    cr_expect_eq(b.ledger.tenant_count, 1);
    cr_expect_eq(inner[0].tenant_count, 2);
}

/* Claims of other subjects find the place whose turn it is. */
Test(tenant_inside, the_places_of_a_subject_stand_in_the_order_of_its_tenants)
{
    takt_place *line;
    int at;

    set_up(limit_of(20, SECOND, 1), limit_of(50, SECOND, 1));
    add_two_tenants();
    for (int round = 1; round < 40; round++) {
        run_until(round * SECOND / 8);
        line = b.ledger.line;
        at = takt_line_find(&inner[0], line[0].worker, 5);
        cr_assert_geq(at, 0);
        for (int i = 0; i < inner[0].tenant_count; i++)
            cr_assert_geq(inner[0].tenants[i].tag,
                          inner[0].tenants[inner[0].line[at].tenant - 1].tag);
        for (int i = 1; i < b.ledger.line_count; i++)
            cr_assert_lt(line[i - 1].turn, line[i].turn);
    }
}
