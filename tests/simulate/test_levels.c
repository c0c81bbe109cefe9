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
    cr_expect_str_eq(takt_levels_name(inner, 0), "domain");
    cr_expect_str_eq(takt_levels_name(inner, 1), "server");
    cr_expect_str_eq(takt_levels_name(inner, 2), "server");
    cr_expect_str_eq(takt_levels_name(inner, 3), "world");
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

/* Rules of all levels that name one unit count one amount; a cost without a name is the first. */
Test(levels, units)
{
    static const struct {
        const char *outer, *inner;
        const char *units[TAKT_AMOUNTS_MAX];
        int of[2], defaults[2]; /* the units of the inner and the outer rule */
    } rows[] = {
        {"counts: tokens", "counts: tokens", {"tokens"}, {0, 0}, {0}},
        {"counts: tokens", "counts: requests", {"tokens"}, {1, 0}, {0}},
        {"counts: requests", "counts: tokens", {"tokens"}, {0, 1}, {0}},
        {"counts: tokens", "counts: bytes", {"bytes", "tokens"}, {0, 2}, {0}},
        {"burst: 1", "counts: bytes", {"", "bytes"}, {2, 0}, {0}},
        {"counts: bytes", "burst: 1", {"", "bytes"}, {0, 2}, {0}},
        {"counts: b, default_amount: 2",
         "counts: a, default_amount: 3",
         {"a", "b"},
         {0, 2},
         {3, 2}},
        {"counts: a, default_amount: 2", "counts: a, default_amount: 3", {"a"}, {0, 0}, {0}},
        {"counts: a", "counts: a, default_amount: 3", {"a"}, {0, 0}, {0}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[300];
        takt_limit joined;
        snprintf(text, sizeof text,
                 "limits:\n  - {name: o, rules: [{rate: 1/s, %s}]}\n"
                 "  - {name: i, within: o, rules: [{rate: 1/s, %s}]}\n",
                 rows[i].outer, rows[i].inner);
        cr_assert_eq(takt_levels_join(&joined, parse(text, "i"), NULL), 0, "row %zu", i);
        cr_expect_str_eq(joined.unit, rows[i].units[0], "row %zu", i);
        cr_expect_str_eq(joined.more_units[0], rows[i].units[1] ? rows[i].units[1] : "", "row %zu",
                         i);
        for (int rule = 0; rule < 2; rule++)
            cr_expect_eq((int)joined.numbers.rules[rule].unit, rows[i].of[rule], "row %zu, %d", i,
                         rule);
        cr_expect_eq(joined.default_amount, rows[i].defaults[0], "row %zu", i);
        cr_expect_eq(joined.more_defaults.of[0], rows[i].defaults[1], "row %zu", i);
        takt_policy_free(policy);
    }
}

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
