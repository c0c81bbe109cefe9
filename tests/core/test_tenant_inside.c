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

/* Whether the places of one tenant of a key stand in both lines in the same order.  Those for which
 * others do not wait inside go last. */
static bool are_in_order(const takt_ledger *key)
{
    const takt_place *line = b.ledger.line;

    for (int i = 0; i < b.ledger.line_count; i++)
        for (int j = 0; j < i; j++) {
            int before = takt_line_find(key, line[j].worker, 5);
            int after = takt_line_find(key, line[i].worker, 5);
            if (before > after && after >= 0 && !key->line[after].aside &&
                key->line[before].tenant == key->line[after].tenant)
                return false;
        }
    return true;
}

static void add_slow_tenant(int key, int tenant, int worker)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    sub *added = add((uint64_t)worker + 1, key, 1000000, 0);

    added->inside = names[tenant];
    added->inner_weight = 1 + tenant % 2;
}

/* Where a lookahead has less than a token, those of one tenant leave the outermost line and come
 * back to its end. */
Test(tenant_inside, the_places_of_a_tenant_stand_in_one_order)
{
    set_up(limit_of(3, SECOND, 1), limit_of(2, SECOND, 1));
    for (int key = 0; key < 2; key++)
        for (int tenant = 0; tenant < 5; tenant++) {
            add_slow_tenant(key, tenant, (tenant + key) % 2);
            if (tenant % 2 == key)
                add_slow_tenant(key, tenant, (tenant + key + 1) % 2);
        }
    for (int round = 1; round < 240; round++) {
        sub *claimer = &subs[round % sub_count];
        run_until(round * SECOND / 4);
        claim(claimer, round * SECOND / 4 + 3 * MS);
        cr_assert(are_in_order(&inner[claimer->inner]), "round %d", round);
    }
    check_all();
}
