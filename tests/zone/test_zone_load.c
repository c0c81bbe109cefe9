/*
 * Timezones of this host, compared with the C library's reading of the same files; and errors.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "seed.h"
#include "zone/zone_load.h"

#define SECOND   INT64_C(1000000)
#define END_S    INT64_C(4102444800) /* 2100-01-01 */
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const takt_zone *load(const char *name)
{
    const takt_zone *zone = NULL;
    takt_error error = {0};

    cr_assert_eq(takt_zone_load(name, &zone, &error), 0, "%s", error.text);
    return zone;
}

static const char *const names[] = {
    "UTC",
    "America/Los_Angeles",
    "Europe/Berlin",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Europe/Dublin",
    "Africa/Casablanca",
    "America/Sao_Paulo",
    "Pacific/Apia",
    "America/St_Johns",
    "Asia/Tehran",
    "Pacific/Chatham",
    "America/Nuuk",
    "Asia/Kolkata",
    "Africa/Cairo",
    "America/Havana",
};

Test(zone, offsets_are_the_c_librarys)
{
    uint64_t random = test_seed(1);

    for (size_t i = 0; i < COUNT(names); i++) {
        const takt_zone *zone = load(names[i]);
        setenv("TZ", names[i], 1);
        tzset();
        for (int n = 0; n < 3000; n++) {
            time_t at = takt_random_below(&random, END_S);
            struct tm local;
            localtime_r(&at, &local);
            cr_assert_eq(takt_zone_offset(zone, at * SECOND), local.tm_gmtoff * SECOND,
                         "%s at %lld", names[i], (long long)at);
        }
    }
}

/* The instants around each change, where a mistake of a second would show. */
Test(zone, changes_are_the_c_librarys_to_the_second)
{
    for (size_t i = 0; i < COUNT(names); i++) {
        const takt_zone *zone = load(names[i]);
        setenv("TZ", names[i], 1);
        tzset();
        for (int n = 1; n < zone->count && zone->changes[n].at_us < END_S * SECOND; n++)
            for (int64_t off = -1; off <= 1; off++) {
                time_t at = zone->changes[n].at_us / SECOND + off;
                struct tm local;
                localtime_r(&at, &local);
                cr_assert_eq(takt_zone_offset(zone, at * SECOND), local.tm_gmtoff * SECOND,
                             "%s at %lld", names[i], (long long)at);
            }
        cr_assert(zone->count < 2 || zone->changes[0].at_us < zone->changes[1].at_us);
    }
}

Test(zone, goes_on_up_to_2100)
{
    const takt_zone *zone = load("America/Los_Angeles");

    cr_assert_gt(zone->changes[zone->count - 1].at_us, (END_S - 90 * 86400) * SECOND);
    cr_assert_eq(takt_zone_next_change(zone, zone->changes[zone->count - 1].at_us), INT64_MAX);
    cr_assert_eq(takt_zone_next_change(zone, -1), 0);
    cr_assert_eq(takt_zone_next_change(zone, 0), zone->changes[1].at_us);
}

Test(zone, one_name_is_one_pointer)
{
    const takt_zone *zone = load("Europe/Berlin");

    cr_assert_eq(load("Europe/Berlin"), zone);
    cr_assert_eq(takt_zone_named("Europe/Berlin and more", strlen("Europe/Berlin")), zone);
    cr_assert_neq(load("Europe/Dublin"), zone);
    cr_assert_str_eq(zone->name, "Europe/Berlin");
    cr_assert_null(takt_zone_named("Europe/Nowhere", strlen("Europe/Nowhere")));
    cr_assert_null(takt_zone_named("Europe\0Berlin", 13));
    cr_assert_null(takt_zone_named("", 0));
}

Test(zone, refuses)
{
    static const struct {
        const char *name, *words;
    } rows[] = {
        {"", "\"\": is not the name of a timezone; write one like"},
        {"/etc/localtime", "\"/etc/localtime\": is not the name of a timezone"},
        {"../zoneinfo/UTC", "\"../zoneinfo/UTC\": is not the name"},
        {"America/../UTC", "\"America/../UTC\": is not the name"},
        {"America/", "\"America/\": is not the name"},
        {"America//Los_Angeles", "\"America//Los_Angeles\": is not the name"},
        {"America/Los Angeles", "\"America/Los Angeles\": is not the name"},
        {"tzdata.zi", "\"tzdata.zi\": is not the name"},
        {"A123456789A123456789A123456789A123456789A123456789A123456789ABCD",
         "\"A123456789A123456789A123456789A123456789A12345"},
        {"America/Los_Angles",
         "\"America/Los_Angles\": there is no such timezone in \"/usr/share/zoneinfo\"; write a"},
        {"PST8PDT,M3.2.0", "\"PST8PDT,M3.2.0\": is not the name"},
        {"America", "\"America\": there is no such timezone"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const takt_zone *zone = NULL;
        takt_error error = {0};
        cr_expect_eq(takt_zone_load(rows[i].name, &zone, &error), TAKT_E_POLICY, "row %zu", i);
        cr_expect_eq(strncmp(error.text, rows[i].words, strlen(rows[i].words)), 0, "row %zu: %s", i,
                     error.text);
        cr_expect_null(zone);
        cr_expect_eq(takt_zone_load(rows[i].name, &zone, NULL), TAKT_E_POLICY, "row %zu", i);
    }
}

static void write_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "w");

    cr_assert_not_null(file);
    for (size_t i = 0; i < size; i++)
        fputc('x', file);
    fclose(file);
}

Test(zone, looks_where_tzdir_says)
{
    char folder[] = "/tmp/takt-zone-XXXXXX", path[64];
    const takt_zone *zone = NULL;
    takt_error error = {0};

    cr_assert_not_null(mkdtemp(folder));
    setenv("TZDIR", folder, 1);
    cr_expect_eq(takt_zone_load("Mars/Utopia", &zone, &error), TAKT_E_POLICY);
    cr_expect(strstr(error.text, folder) != NULL, "%s", error.text);
    snprintf(path, sizeof path, "%s/Broken", folder);
    write_file(path, 100);
    cr_expect_eq(takt_zone_load("Broken", &zone, &error), TAKT_E_POLICY);
    cr_expect(strstr(error.text, "Broken\": is not a timezone file that can be used") != NULL, "%s",
              error.text);
    write_file(path, 70000);
    cr_expect_eq(takt_zone_load("Broken", &zone, &error), TAKT_E_POLICY);
    cr_expect(strstr(error.text, "it is too large") != NULL, "%s", error.text);
    unlink(path);
    rmdir(folder);
    cr_expect_eq(takt_zone_load("Mars/Utopia", &zone, &error), TAKT_E_POLICY);
    cr_expect(strstr(error.text, "install the package tzdata") != NULL, "%s", error.text);
    cr_expect_null(zone);
}
