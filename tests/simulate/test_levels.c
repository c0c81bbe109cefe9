/*
 * A limit and those that it is within, simulated as one.
 */
#include <stdio.h>

#include "limits.h"
#include "simulate/levels.h"

static takt_policy *policy;

static const takt_limit *parse(const char *text, const char *name)
{
    takt_error error = {0};

    cr_assert_eq(takt_policy_parse(&policy, "p", text, strlen(text), &error), 0, "%s", error.text);
    return takt_policy_limit(policy, name);
}

Test(levels, all_rules_and_the_fewest_permits)
{
    const takt_limit *inner =
        parse("limits:\n"
              "  - {name: world, concurrency: 9, lease: 9s, rules: [{rate: 7/s}]}\n"
              "  - {name: seen, mode: shadow, within: world, rules: [{rate: 1/d}]}\n"
              "  - {name: server, concurrency: 3, lease: 5s, within: seen,\n"
              "     rules: [{rate: 5/s}, {rate: 50/h}]}\n"
              "  - {name: domain, concurrency: 4, within: server, priority: 2,\n"
              "     rules: [{rate: 1/s}]}\n",
              "domain");
    takt_limit joined;

    cr_assert_eq(takt_levels_join(&joined, inner, NULL), 0);
    cr_assert_eq(joined.numbers.rule_count, 4, "those of the limit in shadow do not count");
    cr_expect_eq(joined.numbers.rules[0].limit, 1);
    cr_expect_eq(joined.numbers.rules[1].limit, 5);
    cr_expect_eq(joined.numbers.rules[2].limit, 50);
    cr_expect_eq(joined.numbers.rules[3].limit, 7);
    cr_expect_eq(joined.numbers.concurrency, 3);
    cr_expect_eq(joined.numbers.lease_us, 5000000);
    cr_expect_eq(joined.priority, 2);
    cr_expect_null(joined.within);
    takt_policy_free(policy);
}

Test(levels, more_rules_than_one_limit_has)
{
    const takt_limit *inner = parse(
        "limits:\n"
        "  - {name: a, rules: [{rate: 1/s}, {rate: 2/s}, {rate: 3/s}, {rate: 4/s}, {rate: 5/s}]}\n"
        "  - {name: b, within: a, rules: [{rate: 1/s}, {rate: 2/s}, {rate: 3/s}, {rate: 4/s}]}\n",
        "b");
    takt_limit joined;
    takt_simulation *simulation;
    takt_error error = {0};
    takt_bulk bulk;

    takt_bulk_init(&bulk, 10);
    cr_expect_eq(takt_levels_join(&joined, inner, &error), TAKT_E_POLICY);
    cr_expect_str_eq(error.text, "limit \"b\" and those that it is within have more than 8 rules; "
                                 "simulate one of them");
    cr_expect_eq(takt_simulation_run(&simulation, inner, NULL, &bulk, &error), TAKT_E_POLICY);
    takt_policy_free(policy);
}

/* A job has one cost, which all levels have to count. */
Test(levels, different_units)
{
    static const char *const rows[][3] = {
        {"{rate: 1/s, counts: tokens}", "{rate: 1/s, counts: tokens}", NULL},
        {"{rate: 1/s, counts: tokens}", "{rate: 1/s, counts: requests}", NULL},
        {"{rate: 1/s, counts: requests}", "{rate: 1/s, counts: tokens}", NULL},
        {"{rate: 1/s, counts: tokens}", "{rate: 1/s, counts: bytes}",
         "limit \"b\" counts bytes, and \"a\", which it is within, tokens; a simulated job has one "
         "cost: simulate one of them"},
        {"{rate: 1/s}", "{rate: 1/s, counts: bytes}",
         "limit \"b\" counts bytes, and \"a\", which it is within, a cost; a simulated job has one "
         "cost: simulate one of them"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[300];
        takt_limit joined;
        takt_error error = {0};
        snprintf(text, sizeof text,
                 "limits:\n  - {name: a, rules: [%s]}\n  - {name: b, within: a, rules: [%s]}\n",
                 rows[i][0], rows[i][1]);
        int code = takt_levels_join(&joined, parse(text, "b"), &error);
        cr_expect_eq(code, rows[i][2] ? TAKT_E_POLICY : 0, "row %zu", i);
        cr_expect_str_eq(error.text, rows[i][2] ? rows[i][2] : "", "row %zu", i);
        takt_policy_free(policy);
    }
}

/* The pace of the narrowest level holds. */
Test(levels, a_job_keeps_all_of_them)
{
    const takt_limit *inner = parse("limits:\n"
                                    "  - {name: server, rules: [{rate: 2/s}]}\n"
                                    "  - {name: domain, within: server, rules: [{rate: 5/s}]}\n",
                                    "domain");
    takt_simulation *simulation;
    takt_bulk bulk;

    takt_bulk_init(&bulk, 101);
    cr_assert_eq(takt_simulation_run(&simulation, inner, NULL, &bulk, NULL), 0);
    cr_expect_eq(takt_simulation_figures(simulation)->rule_count, 2);
    cr_expect_geq(takt_simulation_figures(simulation)->duration_us, 50000000);
    cr_expect_lt(takt_simulation_figures(simulation)->duration_us, 51000000);
    takt_simulation_free(simulation);
    takt_policy_free(policy);
}
