/*
 * GCRA under its other two names: what each makes of the burst, and that a ledger goes from one to
 * another with all that it remembers.
 */
#include "rules/promises.h"

static int prepare(takt_rule *rule, takt_error *error)
{
    return takt_rule_prepare(rule, error);
}

Test(token_bucket, holds_a_period_where_nothing_is_said)
{
    static const struct {
        const takt_algorithm *algorithm;
        int64_t given, burst, at_once, next_us;
    } rows[] = {
        {&takt_gcra, 0, 1, 1, 600 * MS},
        {&takt_gcra, 7, 7, 7, 600 * MS},
        {&takt_token_bucket, 0, 100, 100, 600 * MS},
        {&takt_token_bucket, 7, 7, 7, 600 * MS},
        {&takt_leaky_bucket, 0, 1, 1, 600 * MS},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_rule rule = {.algorithm = rows[i].algorithm,
                          .limit = 100,
                          .period_us = MINUTE,
                          .burst = rows[i].given};
        takt_error error;
        kept k;
        cr_assert_eq(prepare(&rule, &error), 0, "row %zu: %s", i, error.text);
        keep(&k, rule, NOW);
        cr_expect_eq(k.rule.burst, rows[i].burst, "row %zu", i);
        cr_expect_eq(k.rule.algorithm->capacity(&k.rule), rows[i].burst, "row %zu", i);
        for (int64_t n = 0; n < rows[i].at_once; n++)
            cr_assert_eq(take_from(&k, NOW, 1), NOW, "row %zu, token %" PRId64, i, n);
        cr_expect_eq(take_from(&k, NOW, 1), NOW + rows[i].next_us, "row %zu", i);
        let_go(&k);
    }
}

Test(token_bucket, refuses_what_a_bucket_cannot_hold)
{
    takt_rule leaky = {
        .algorithm = &takt_leaky_bucket, .limit = 5, .period_us = SECOND, .burst = 1};
    takt_rule large = {.algorithm = &takt_token_bucket,
                       .limit = 100,
                       .period_us = TAKT_SPAN_MAX_US,
                       .headroom_bp = 100};
    takt_error error;

    cr_assert_eq(prepare(&leaky, &error), TAKT_E_POLICY);
    cr_expect_str_eq(error.text, "burst: leaky-bucket takes none; remove it, or write "
                                 "algorithm: gcra or token-bucket");
    cr_assert_eq(prepare(&large, &error), TAKT_E_POLICY);
    cr_expect_eq(strncmp(error.text, "burst: ", 7), 0, "%s", error.text);
}

/* The state is the same, so none of these changes gives or takes a token. */
Test(token_bucket, names_change_and_the_state_stays)
{
    const takt_algorithm *algorithms[] = {&takt_gcra, &takt_token_bucket, &takt_leaky_bucket};

    for (int from = 0; from < 3; from++)
        for (int to = 0; to < 3; to++) {
            takt_numbers before = {.rule_count = 1}, after = {.rule_count = 1, .revision = 1};
            takt_rules_state state;
            before.rules[0] = rule_by(algorithms[from], 10, SECOND);
            after.rules[0] = rule_by(algorithms[to], 10, SECOND);
            takt_numbers_begin(&state, NULL);
            takt_numbers_rest(&before, &state, NOW);
            takt_numbers_commit(&before, &state, NOW, takt_amounts_of_cost(1));
            takt_numbers_convert(&before, &after, &state, NOW);
            cr_expect_eq(state.rules[0].gcra.tat.us, NOW + 100 * MS, "%d to %d", from, to);
        }
}
