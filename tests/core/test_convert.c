/*
 * The state of a ledger's rules when its policy changes: which new rule takes over from which old
 * one, and when one that finds none begins.
 */
#include "core/numbers.h"
#include "rules/promises.h"

static takt_numbers from, to;
static takt_rules_state state;
static int64_t now_us; /* when the policy changes */

static void set_up(void)
{
    from = to = (takt_numbers){.lookahead_us = TAKT_LOOKAHEAD_US};
    takt_numbers_begin(&state, NULL);
    now_us = NOW;
}

TestSuite(convert, .init = set_up);

static takt_rule *add(takt_numbers *numbers, const takt_algorithm *algorithm, int64_t limit,
                      int64_t period_us)
{
    takt_rule *rule = &numbers->rules[numbers->rule_count++];

    *rule = rule_by(algorithm, limit, period_us);
    return rule;
}

/* The i-th old rule has given so many. */
static void take(int i, int64_t tokens)
{
    from.rules[i].algorithm->commit(&from.rules[i], &state.rules[i], NOW, tokens);
}

/* What the i-th new rule has left now. */
static int64_t left(int i)
{
    return to.rules[i].algorithm->room(&to.rules[i], &state.rules[i], now_us, now_us);
}

static void convert(void)
{
    takt_numbers_convert(&from, &to, &state, now_us);
}

Test(convert, numbers_are_the_same_if_all_rules_are)
{
    add(&from, &takt_fixed_window, 10, MINUTE);
    add(&to, &takt_fixed_window, 10, MINUTE);
    cr_expect(takt_numbers_same(&from, &to));
    add(&from, &takt_gcra, 1, SECOND);
    cr_expect_not(takt_numbers_same(&from, &to));
    add(&to, &takt_gcra, 2, SECOND);
    cr_expect_not(takt_numbers_same(&from, &to));
    to.rules[1] = from.rules[1];
    cr_expect(takt_numbers_same(&from, &to));
    to.rules[1].unit = TAKT_UNIT_REQUESTS;
    cr_expect_not(takt_numbers_same(&from, &to));
}

Test(convert, a_rule_with_other_numbers_keeps_what_was_taken)
{
    add(&from, &takt_fixed_window, 10, MINUTE);
    add(&to, &takt_fixed_window, 20, MINUTE);
    takt_numbers_rest(&from, &state, NOW);
    take(0, 7);
    convert();
    cr_expect_eq(left(0), 13);
}

Test(convert, a_rule_takes_over_from_the_one_with_its_numbers)
{
    add(&from, &takt_fixed_window, 10, MINUTE);
    add(&from, &takt_fixed_window, 20, MINUTE);
    add(&to, &takt_fixed_window, 20, MINUTE);
    add(&to, &takt_fixed_window, 30, MINUTE);
    takt_numbers_rest(&from, &state, NOW);
    take(0, 7);
    take(1, 2);
    convert();
    cr_expect_eq(left(0), 18, "the second one's");
    cr_expect_eq(left(1), 23, "that of the first one, which is left");
}

Test(convert, each_rule_gives_its_state_once)
{
    add(&from, &takt_fixed_window, 10, MINUTE);
    add(&to, &takt_fixed_window, 20, MINUTE);
    add(&to, &takt_fixed_window, 30, MINUTE);
    takt_numbers_rest(&from, &state, NOW);
    take(0, 7);
    now_us += MINUTE / 2;
    convert();
    cr_expect_eq(left(0), 13);
    cr_expect_eq(left(1), 15, "the rest of the minute");
}

/* They have given what no state of the new rule can count. */
Test(convert, a_rule_without_a_predecessor_waits_for_those_that_go)
{
    static const struct {
        int64_t taken, period_us, pause_us;
        takt_unit unit;
    } rows[] = {
        {0, MINUTE, 0, TAKT_UNIT_TOKENS},
        {7, MINUTE / 2, MINUTE / 2, TAKT_UNIT_TOKENS},
        {7, HOUR, TAKT_PAUSE_MAX_US, TAKT_UNIT_TOKENS},
        {7, HOUR, TAKT_PAUSE_MAX_US, TAKT_UNIT_REQUESTS},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_amounts one = takt_amounts_of_cost(1);
        int64_t at_us;
        set_up();
        add(&from, rows[i].unit ? &takt_gcra : &takt_fixed_window, 10, rows[i].period_us);
        add(&to, &takt_gcra, 1, SECOND)->unit = rows[i].unit;
        takt_numbers_rest(&from, &state, NOW);
        for (int64_t j = 0; j < rows[i].taken; j++)
            from.rules[0].algorithm->commit(
                &from.rules[0], &state.rules[0],
                from.rules[0].algorithm->earliest(&from.rules[0], &state.rules[0], NOW, 1), 1);
        convert();
        at_us = takt_numbers_earliest(&to, &state, NOW, one);
        cr_expect_eq(at_us, NOW + rows[i].pause_us, "%zu: %" PRId64, i, at_us - NOW);
        takt_numbers_commit(&to, &state, at_us, one);
        cr_expect_eq(takt_numbers_earliest(&to, &state, at_us, one), at_us + SECOND, "%zu", i);
    }
}
