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
    cr_expect_eq(count_of(&kept, ">Tokens in the last second<"), 2);
    cr_expect_eq(count_of(&kept, ">store away<"), 2);
    cr_expect_eq(count_of(&kept, ">quota 100/s<"), 2);
    cr_expect_eq(count_of(&kept, "prefers-color-scheme:dark"), 1);
    cr_expect_eq(count_of(&kept, "<script") + count_of(&kept, "href"), 0);
    takt_simulation_free(simulations[0]);
    takt_simulation_free(simulations[1]);
    free(kept.text);
}

/* Where a text begins and ends, in tenths of a pixel; letters are taken to be narrow. */
typedef struct extent {
    int left, right, y;
} extent;

static int number_after(const char *tag, const char *name)
{
    const char *at = strstr(tag, name);

    return at ? atoi(at + strlen(name)) : -1;
}

/* Characters of UTF-8 up to the next tag. */
static int letters_in(const char *text)
{
    int count = 0;

    for (; *text != '<'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

static size_t texts_in(const char *svg, extent *found, size_t most)
{
    size_t count = 0;

    for (const char *at = svg; (at = strstr(at, "<text ")) && count < most; at++) {
        const char *text = strchr(at, '>') + 1;
        bool title = strstr(at, "'title'") && strstr(at, "'title'") < text;
        bool ends = strstr(at, " e'") && strstr(at, " e'") < text;
        bool middle = strstr(at, " m'") && strstr(at, " m'") < text;
        int width = letters_in(text) * (title ? 105 : 60), x = number_after(at, " x='");
        int left = ends ? x - width : middle ? x - width / 2 : x;
        found[count++] = (extent){left, left + width, number_after(at, " y='")};
    }
    return count;
}

/* Titles, names and tables are as long as people make them. */
Test(picture, no_text_covers_another)
{
    static const takt_rule_text rules[] = {{.rate = "100/s", .burst = "100"},
                                           {.rate = "100000/h", .algorithm = "fixed-window"},
                                           {.rate = "700000000/day", .algorithm = "sliding-log"},
                                           {.rate = "5000/min", .counts = "requests"},
                                           {0}};
    static extent texts[1000];
    test_policy made = make_limit(rules, NULL);
    takt_simulation *simulation;
    test_text kept = {.calls_left = -1};
    takt_bulk bulk;
    size_t count;

    takt_bulk_init(&bulk, 5000);
    bulk.workers = 7;
    bulk.start_us = INT64_C(1795458000000000);
    cr_assert_eq(takt_simulation_run(&simulation, made.limit, NULL, &bulk, NULL), 0);
    cr_assert_eq(takt_simulation_svg((const takt_simulation *const *)&simulation, 1,
                                     "5000 jobs at 100/s burst 100, 100000/h fixed-window guard "
                                     "50ms, 700000000/day sliding-log, 5000/min requests take 50 s",
                                     keep_text, &kept),
                 0);
    count = texts_in(kept.text, texts, 1000);
    cr_assert_gt(count, 60);
    for (size_t i = 0; i < count; i++) {
        cr_expect(texts[i].left >= 0 && texts[i].right <= 9600, "text %zu is cut: %d to %d", i,
                  texts[i].left, texts[i].right);
        for (size_t j = 0; j < i; j++)
            cr_expect(abs(texts[i].y - texts[j].y) > 100 || texts[i].left >= texts[j].right ||
                          texts[j].left >= texts[i].right,
                      "texts %zu and %zu overlap at %d", j, i, texts[i].y);
    }
    cr_expect_eq(count_of(&kept, ">Tokens in the last day<"), 1);
    cr_expect_eq(count_of(&kept, ">Tokens in the window of one hour<"), 1);
    cr_expect_eq(count_of(&kept, ">Requests in the last minute<"), 1);
    cr_expect_eq(count_of(&kept, ">23 Nov 2026, UTC<"), 5);
    cr_expect_eq(count_of(&kept, "nan") + count_of(&kept, "NaN"), 0);
    takt_simulation_free(simulation);
    takt_policy_free(made.policy);
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
