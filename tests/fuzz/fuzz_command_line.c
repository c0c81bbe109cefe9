/*
 * Any words as the rates of a command line (--rate 10/s --burst 5 ...) and as the numbers of a
 * simulation, a line each: they are refused, or they are a limit that can be described, checked and
 * reckoned with, and numbers within their bounds.
 */
#include "fuzz.h"

#include <takt/policy.h>
#include <takt/standing.h>

#include "common/options.h"
#include "policy/limit_text.h"
#include "refusal.h"
#include "simulate/simulate.h"

#define WORDS_MAX 24

static void check_rule(const takt_rule_text *text, const takt_rule *rule)
{
    int64_t tokens = 0, period_us = 0;

    require(takt_parse_rate(text->rate, &tokens, &period_us, NULL) == 0);
    require(rule->limit == tokens && rule->period_us == period_us);
    require(rule->limit >= 1 && rule->period_us >= 1 && rule->algorithm != NULL);
}

/* As in takt_cli_make_policy. */
static void check_limit(const takt_cli_settings *settings)
{
    takt_limit_text text = {.name = "fuzz",
                            .rules = settings->rules,
                            .rule_count = settings->rule_count,
                            .concurrency = settings->concurrency,
                            .lease = settings->lease,
                            .on_store_failure = settings->on_store_failure,
                            .mode = settings->mode};
    takt_policy *policy;
    takt_limit limit;
    takt_error error = {0};
    char described[256];
    int code;

    require(takt_policy_new(&policy, NULL) == 0);
    code = takt_policy_add(policy, &text, &error);
    require((takt_limit_read(&text, &limit, NULL) == 0) == (code == 0));
    if (code == 0) {
        require(takt_policy_check(policy, NULL) == 0);
        require(takt_policy_describe(policy, "fuzz", described, sizeof described) == 0);
        require(limit.numbers.rule_count == (int)settings->rule_count);
        require(takt_numbers_capacity(&limit.numbers, TAKT_UNIT_TOKENS, NULL) >= 1);
        for (unsigned i = 0; i < settings->rule_count; i++)
            check_rule(&settings->rules[i], &limit.numbers.rules[i]);
    } else {
        require(error.code == code && error.text[0] != '\0');
    }
    takt_policy_free(policy);
}

static void check_rates(int argc, char **argv)
{
    takt_cli_settings settings = {0};
    int failed =
        argp_parse(&takt_cli_rate_argp, argc, argv,
                   ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &settings);

    if (!fuzz_was_refused() && failed == 0 && takt_cli_is_ad_hoc(&settings))
        check_limit(&settings);
}

static void check_numbers(const char *word)
{
    takt_cli_simulate_plan plan = {.bulk = {.cost_min = 1, .cost_max = 1}};
    const takt_amount_span *amount = &plan.bulk.amounts[0];
    int64_t min_us, max_us;
    int32_t weights[TAKT_SIM_PRIORITIES];
    takt_outage outage = {0};
    takt_crash crash = {0};

    takt_cli_read_span(NULL, "--job-time", word, &min_us, &max_us);
    require(fuzz_was_refused() || (min_us >= 0 && min_us <= max_us));
    takt_cli_read_cost(NULL, word, &plan);
    require(fuzz_was_refused() ||
            (plan.bulk.cost_min >= 1 && plan.bulk.cost_min <= plan.bulk.cost_max &&
             plan.bulk.cost_max <= TAKT_COST_MAX &&
             (!amount->unit ||
              (amount->min >= 1 && amount->min <= amount->max && amount->max <= TAKT_COST_MAX))));
    takt_cli_read_weights(NULL, word, weights);
    if (!fuzz_was_refused())
        for (int i = 0; i < TAKT_SIM_PRIORITIES; i++)
            require(weights[i] >= 0 && weights[i] <= 1000000);
    takt_cli_read_outage(NULL, word, &outage);
    require(fuzz_was_refused() || (outage.at_us >= 0 && outage.for_us >= 0));
    takt_cli_read_crash(NULL, word, &crash);
    require(fuzz_was_refused() || (crash.workers >= 1 && crash.workers <= TAKT_SIM_WORKERS_MAX &&
                                   crash.at_us >= 0 && crash.for_us >= 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *words[WORDS_MAX + 2] = {fuzz_copy("takt", 4)}, *argv[WORDS_MAX + 2] = {0};
    int count = 1;

    while (size > 0 && count <= WORDS_MAX)
        words[count++] = fuzz_cut(&data, &size, '\n');
    memcpy(argv, words, sizeof argv); /* which argp may sort */
    check_rates(count, argv);
    for (int i = 0; i < count; i++) {
        check_numbers(words[i]);
        free(words[i]);
    }
    return 0;
}
