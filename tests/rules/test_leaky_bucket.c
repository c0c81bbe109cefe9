/*
 * What only the leaky bucket has: one token per emission interval and never two at once, however
 * long it was idle, and a queue. The refusal of waiters beyond the queue is tested with the ledger
 * and the policy.
 */
#include "rules/promises.h"

Test(leaky_bucket, drains_one_by_one_after_any_silence)
{
    static const struct {
        int64_t arrives_us, slot_us; /* after NOW; 100 a minute */
    } rows[] = {
        {0, 0},
        {0, 600 * MS}, /* not round() = 1 s */
        {0, 1200 * MS},
        {1300 * MS, 1800 * MS},
        {DAY, DAY}, /* nothing was saved up */
        {DAY, DAY + 600 * MS},
        {DAY + 1000 * MS, DAY + 1200 * MS},
    };
    kept k;

    keep(&k, rule_by(&takt_leaky_bucket, 100, MINUTE), NOW);
    for (size_t i = 0; i < COUNT(rows); i++)
        cr_expect_eq(take_from(&k, NOW + rows[i].arrives_us, 1), NOW + rows[i].slot_us, "row %zu",
                     i);
    let_go(&k);
}

Test(leaky_bucket, never_gives_two_at_once)
{
    takt_rule rule = rule_by(&takt_leaky_bucket, 100, MINUTE);
    kept k;

    keep(&k, rule, NOW);
    cr_expect_eq(rule.algorithm->capacity(&rule), 1);
    cr_expect_eq(rule.algorithm->earliest(&rule, &k.state, NOW, 2), TAKT_NEVER);
    cr_expect_eq(rule.algorithm->room(&rule, &k.state, NOW + DAY, NOW + DAY), 1);
    let_go(&k);
}

Test(leaky_bucket, alone_takes_a_queue)
{
    takt_error error;

    for (int i = 0; takt_algorithm_at(i); i++) {
        const takt_algorithm *algorithm = takt_algorithm_at(i);
        takt_rule rule = {.algorithm = algorithm, .limit = 100, .period_us = MINUTE, .queue = 1000};
        int status = takt_rule_prepare(&rule, &error);
        if (algorithm == &takt_leaky_bucket)
            cr_expect_eq(status, 0, "%s", error.text);
        else
            cr_expect_eq(status, TAKT_E_POLICY, "%s", algorithm->name);
    }
    cr_expect_eq(rule_by(&takt_leaky_bucket, 100, MINUTE).queue, 0, "no bound where none is said");
}
