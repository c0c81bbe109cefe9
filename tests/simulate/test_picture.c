/*
 * The picture is whole, has a band for each simulation, carries no script, and ends where writing
 * fails.
 */
#include "limits.h"
#include "simulate/draw/picture.h"
#include "text.h"

static takt_simulation *simulation_of(int32_t workers)
{
    static const takt_rule_text rules[] = {{.rate = "100/s"}, {0}};
    static const takt_outage outage = {1000000, 500000};
    static const takt_crash crash = {2000000, 0, 1};
    test_policy made = make_limit(rules, NULL);
    takt_simulation *simulation;
    takt_bulk bulk;

    takt_bulk_init(&bulk, 500);
    bulk.workers = workers;
    bulk.outages = &outage;
    bulk.crashes = &crash;
    bulk.outage_count = bulk.crash_count = 1;
    bulk.weights[0] = 1;
    cr_assert_eq(takt_simulation_run(&simulation, made.limit, NULL, &bulk, NULL), 0);
    takt_policy_free(made.policy);
    return simulation;
}

Test(picture, has_a_band_for_each_simulation)
{
    takt_simulation *simulations[] = {simulation_of(3), simulation_of(301)};
    test_text kept = {.calls_left = -1};

    cr_assert_eq(takt_simulation_svg((const takt_simulation *const *)simulations, 2, "this & that",
                                     keep_text, &kept),
                 0);
    cr_expect_eq(strncmp(kept.text, "<svg xmlns=", 11), 0);
    cr_expect_str_eq(kept.text + kept.size - 7, "</svg>\n");
    cr_expect_eq(count_of(&kept, "this &amp; that"), 2, "as its title and above it");
    cr_expect_eq(count_of(&kept, ">Starts per worker<"), 2);
    cr_expect_eq(count_of(&kept, ">workers, 3 to a bar<"), 1);
    cr_expect_eq(count_of(&kept, ">Tokens started per second<"), 2);
    cr_expect_eq(count_of(&kept, ">outage<"), 2);
    cr_expect_eq(count_of(&kept, "prefers-color-scheme:dark"), 1);
    cr_expect_eq(count_of(&kept, "<script") + count_of(&kept, "href"), 0);
    takt_simulation_free(simulations[0]);
    takt_simulation_free(simulations[1]);
    free(kept.text);
}

Test(picture, ends_where_writing_fails)
{
    takt_simulation *simulation = simulation_of(3);
    test_text kept = {.calls_left = 20};

    cr_expect_eq(takt_simulation_svg((const takt_simulation *const *)&simulation, 1, "title",
                                     keep_text, &kept),
                 -7);
    cr_expect_eq(takt_simulation_svg((const takt_simulation *const *)&simulation, 0, "title",
                                     keep_text, &kept),
                 TAKT_E_INVALID);
    cr_expect_eq(takt_simulation_svg((const takt_simulation *const *)&simulation,
                                     TAKT_SIMULATIONS_MAX + 1, "title", keep_text, &kept),
                 TAKT_E_INVALID);
    takt_simulation_free(simulation);
    free(kept.text);
}
