/*
 * A forecast comes true: slots taken in it one by one are those of a state of its own, also after
 * the last one was given back, and the original ledger does not change.
 */
#include <criterion/criterion.h>

#include "base/random.h"
#include "seed.h"
#include "simulate/forecast.h"

#define SECOND INT64_C(1000000)

static const takt_amounts one = {{1, 1, 1, 1, 1}};

static const char *const algorithms[] = {"gcra", "fixed-window", "sliding-window", "sliding-log"};

typedef struct state {
    takt_memory_pages pages;
    takt_rules_state rules;
} state;

static void begin(state *made, const takt_numbers *limit)
{
    takt_memory_pages_init(&made->pages);
    takt_numbers_begin(&made->rules, &made->pages.pages);
    takt_numbers_rest(limit, &made->rules, 0);
}

static void check(const char *algorithm, uint64_t *random)
{
    takt_numbers limit = {.rule_count = 1};
    takt_ledger ledger = {.numbers = &limit};
    takt_memory_pages pages;
    takt_forecast forecast;
    state exact;
    int64_t now_us = 100 * SECOND, retry_at_us, last_us = 0;

    limit.rules[0] = (takt_rule){
        .algorithm = takt_algorithm_named(algorithm), .limit = 700, .period_us = 10 * SECOND};
    cr_assert_eq(takt_rule_prepare(&limit.rules[0], NULL), 0);
    takt_memory_pages_init(&pages);
    ledger.pages = &pages.pages;
    takt_ledger_init(&ledger, &limit, 0);
    begin(&exact, &limit);
    takt_forecast_init(&forecast, &limit);
    for (int i = 0; i < 600; i++, now_us += takt_random_below(random, 40000))
        if (takt_ledger_try(&ledger, now_us, 1, TAKT_NO_MORE, &retry_at_us)) {
            takt_memory_pages_end(&pages, true);
            takt_numbers_commit(&limit, &exact.rules, now_us, takt_amounts_of_cost(1));
            last_us = now_us;
        }
    takt_forecast_begin(&forecast, &ledger, &pages);
    for (int i = 0; i < 3000; i++) {
        int64_t slot_us = takt_forecast_slot(&forecast, now_us, one);
        int64_t exact_us = takt_numbers_earliest(
            &limit, &exact.rules, now_us > last_us ? now_us : last_us, takt_amounts_of_cost(1));
        cr_assert_eq(slot_us, exact_us, "%s, waiter %d: %lld, not %lld", algorithm, i,
                     (long long)slot_us, (long long)exact_us);
        takt_forecast_take(&forecast, slot_us, one, 5);
        if (takt_random_below(random, 3) == 0) {
            cr_assert(takt_forecast_undo(&forecast));
            cr_expect_eq(forecast.last_us > now_us ? forecast.last_us : now_us,
                         last_us > now_us ? last_us : now_us);
            continue;
        }
        takt_numbers_commit(&limit, &exact.rules, exact_us, takt_amounts_of_cost(1));
        last_us = exact_us;
        now_us += takt_random_below(random, 20000);
    }
    cr_expect_eq(forecast.pages.pages.trouble, TAKT_PAGES_FINE);
    takt_forecast_close(&forecast);
    takt_memory_pages_close(&exact.pages);
    takt_memory_pages_close(&pages);
}

Test(forecast, comes_true)
{
    uint64_t random = test_seed(1);

    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        for (int round = 0; round < 5; round++)
            check(algorithms[i], &random);
}

Test(forecast, only_the_last_can_be_given_back)
{
    takt_numbers limit = {.rule_count = 1};
    takt_ledger ledger = {.numbers = &limit};
    takt_memory_pages pages;
    takt_forecast forecast;

    limit.rules[0] =
        (takt_rule){.algorithm = takt_algorithm_named("gcra"), .limit = 1, .period_us = SECOND};
    cr_assert_eq(takt_rule_prepare(&limit.rules[0], NULL), 0);
    takt_memory_pages_init(&pages);
    ledger.pages = &pages.pages;
    takt_ledger_init(&ledger, &limit, 0);
    takt_forecast_init(&forecast, &limit);
    takt_forecast_begin(&forecast, &ledger, &pages);
    cr_expect_not(takt_forecast_undo(&forecast), "nothing was taken");
    cr_expect_not(forecast.valid);
    takt_forecast_begin(&forecast, &ledger, &pages);
    takt_forecast_take(&forecast, takt_forecast_slot(&forecast, 0, one), one, 3);
    takt_forecast_take(&forecast, takt_forecast_slot(&forecast, 0, one), one, 4);
    cr_expect_eq(forecast.last_us, SECOND);
    cr_expect(takt_forecast_undo(&forecast));
    cr_expect_eq(forecast.last_us, 0);
    cr_expect_eq(forecast.last_priority, 3);
    cr_expect_not(takt_forecast_undo(&forecast), "what was before that is not known");
    takt_forecast_close(&forecast);
    takt_memory_pages_close(&pages);
}
