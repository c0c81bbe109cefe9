/*
 * The page holds the picture and a table with a column for each simulation, and needs nothing from
 * elsewhere.
 */
#include "limits.h"
#include "text.h"

Test(html, is_one_page_with_picture_and_table)
{
    static const takt_rule_text rules[] = {{.rate = "100/s"}, {.rate = "5000/min"}, {0}};
    test_policy made = make_limit(rules, NULL);
    takt_simulation *simulations[2];
    test_text kept = {.calls_left = -1};
    takt_bulk bulk;

    takt_bulk_init(&bulk, 300);
    bulk.weights[2] = 1;
    for (int i = 0; i < 2; i++)
        cr_assert_eq(takt_simulation_run(&simulations[i], made.limit, NULL, &bulk, NULL), 0);
    cr_assert_eq(takt_simulation_html((const takt_simulation *const *)simulations, 2, "<this>",
                                      keep_text, &kept),
                 0);
    cr_expect_eq(strncmp(kept.text, "<!doctype html>", 15), 0);
    cr_expect_eq(count_of(&kept, "<title>&lt;this&gt;</title>"), 1);
    cr_expect_eq(count_of(&kept, "<h1>&lt;this&gt;</h1>"), 1);
    cr_expect_eq(count_of(&kept, "<svg "), 8, "two rules, waits and workers, of each");
    cr_expect_eq(count_of(&kept, "<th>gcra</th>"), 2);
    cr_expect_eq(count_of(&kept, "<tr><td>jobs done</td><td>300</td><td>300</td></tr>"), 1);
    cr_expect_eq(count_of(&kept, "<tr><td>of priority 2</td>"), 1);
    cr_expect_eq(count_of(&kept, "<tr><td>busiest minute (quota 5000/min)</td>"), 1);
    cr_expect_eq(count_of(&kept, "<script") + count_of(&kept, "href=") + count_of(&kept, "src="),
                 0);
    for (int i = 0; i < 2; i++)
        takt_simulation_free(simulations[i]);
    takt_policy_free(made.policy);
    free(kept.text);
}
