/*
 * What a rule owes beyond its state, on windows of a minute: what it gives meanwhile, and how it
 * pays.
 */
#include "core/debt.h"

#include "rules/promises.h"

static kept k;

/* Ten a minute; at NOW a window begins. */
static void open_rule(void)
{
    keep(&k, rule_by(&takt_fixed_window, 10, MINUTE), NOW);
}

static void close_rule(void)
{
    let_go(&k);
}

TestSuite(debt, .init = open_rule, .fini = close_rule);

static int64_t owed(void)
{
    return takt_debt_of(&k.rule, &k.state);
}

Test(debt, what_is_left_is_taken_before_anything_is_owed)
{
    takt_debt_charge(&k.rule, &k.state, NOW, 4);
    cr_expect_eq(owed(), 0);
    cr_expect_eq(takt_debt_room(&k.rule, &k.state, NOW, NOW), 6);
    takt_debt_charge(&k.rule, &k.state, NOW, 8);
    cr_expect_eq(owed(), 2);
    cr_expect_eq(takt_debt_room(&k.rule, &k.state, NOW, NOW), 0);
    takt_debt_charge(&k.rule, &k.state, NOW, TAKT_RULE_LIMIT_MAX);
    cr_expect_eq(owed(), TAKT_RULE_LIMIT_MAX, "it has a bound");
}

/* The n-th token is the state's (owed + n)-th: of 15 owed ones five are in the second window. */
Test(debt, everything_comes_behind_it)
{
    static const struct {
        int64_t n, minutes;
    } rows[] = {{1, 2}, {5, 2}, {6, 3}, {10, 3}};

    takt_debt_charge(&k.rule, &k.state, NOW, 25);
    cr_assert_eq(owed(), 15);
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t at_us = NOW + rows[i].minutes * MINUTE, n = rows[i].n;
        cr_expect_eq(takt_debt_due_behind(&k.rule, &k.state, n), at_us, "%zu", i);
        cr_expect_eq(takt_debt_due(&k.rule, &k.state, NOW, n), at_us, "%zu", i);
        cr_expect_eq(takt_debt_earliest(&k.rule, &k.state, NOW, n), at_us, "%zu", i);
    }
    cr_expect_eq(takt_debt_due(&k.rule, &k.state, NOW + HOUR, 1), NOW + HOUR, "not before that");
    cr_expect_eq(takt_debt_earliest(&k.rule, &k.state, NOW, 11), TAKT_NEVER, "more than a window");
    cr_expect_eq(takt_debt_room(&k.rule, &k.state, NOW, NOW + MINUTE), 0);
    cr_expect_eq(takt_debt_room(&k.rule, &k.state, NOW, NOW + 2 * MINUTE), 5);
    cr_expect_eq(takt_debt_room(&k.rule, &k.state, NOW + 1, NOW), 0);
    cr_expect_geq(takt_debt_rest_at(&k.rule, &k.state), NOW + 3 * MINUTE);
}

Test(debt, is_paid_as_it_falls_due)
{
    takt_debt_charge(&k.rule, &k.state, NOW, 25);
    takt_debt_pay(&k.rule, &k.state, NOW + MINUTE - 1);
    cr_expect_eq(owed(), 15);
    takt_debt_pay(&k.rule, &k.state, NOW + MINUTE);
    cr_expect_eq(owed(), 5);
    cr_expect_eq(takt_debt_room(&k.rule, &k.state, NOW + MINUTE, NOW + MINUTE), 0);
    takt_debt_pay(&k.rule, &k.state, NOW + 2 * MINUTE);
    cr_expect_eq(owed(), 0);
    cr_expect_eq(takt_debt_room(&k.rule, &k.state, NOW + 2 * MINUTE, NOW + 2 * MINUTE), 5);
}

/* When a slot is looked for later than now, what falls due until then is paid first. */
Test(debt, is_paid_ahead)
{
    takt_debt_charge(&k.rule, &k.state, NOW, 35);
    takt_debt_pay_ahead(&k.rule, &k.state, NOW + MINUTE);
    cr_expect_eq(owed(), 15);
    takt_debt_pay_at(&k.rule, &k.state, NOW + 2 * MINUTE);
    cr_expect_eq(owed(), 5);
    takt_debt_pay_at(&k.rule, &k.state, NOW + 2 * MINUTE);
    cr_expect_eq(owed(), 5, "a window pays once");
}

/* Nobody asked for 50 minutes, which gave 500: one window may be lost. */
Test(debt, a_long_pause_pays_as_much)
{
    takt_debt_charge(&k.rule, &k.state, NOW, 1010);
    takt_debt_pay(&k.rule, &k.state, NOW + 50 * MINUTE);
    cr_expect(owed() >= 500 && owed() <= 510, "%" PRId64, owed());
    takt_debt_pay(&k.rule, &k.state, NOW + 300 * MINUTE);
    cr_expect_eq(owed(), 0);
    cr_expect_eq(takt_debt_room(&k.rule, &k.state, NOW + 300 * MINUTE, NOW + 300 * MINUTE), 10);
}

/* The debt of an algorithm that owes is in its state. */
Test(debt, is_not_added_to_that_of_a_state)
{
    let_go(&k);
    keep(&k, rule_by(&takt_gcra, 10, MINUTE), NOW);
    k.state.owed = 7;
    cr_expect_eq(owed(), 0);
    cr_expect_eq(takt_debt_earliest(&k.rule, &k.state, NOW, 1), NOW);
    takt_debt_pay(&k.rule, &k.state, NOW + HOUR);
    cr_expect_eq(k.state.owed, 7);
}
