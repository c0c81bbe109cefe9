/*
 * Numbers as a person reads them, and other people's text made harmless.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "simulate/draw/format.h"

#define SECOND INT64_C(1000000)

Test(format, counts_ratios_and_periods)
{
    char text[TAKT_FORMAT_SIZE];

    cr_expect_str_eq(takt_format_count(0, text), "0");
    cr_expect_str_eq(takt_format_count(999, text), "999");
    cr_expect_str_eq(takt_format_count(1000, text), "1\xe2\x80\x89"
                                                    "000");
    cr_expect_str_eq(takt_format_count(12345678, text), "12\xe2\x80\x89"
                                                        "345\xe2\x80\x89"
                                                        "678");
    cr_expect_str_eq(takt_format_ratio(1, 3, 3, text), "0.333");
    cr_expect_str_eq(takt_format_ratio(2, 3, 3, text), "0.667");
    cr_expect_str_eq(takt_format_ratio(7, 2, 0, text), "4");
    cr_expect_str_eq(takt_format_ratio(7, 0, 2, text), "-");
    cr_expect_str_eq(takt_format_ratio(INT64_MAX / 4, 1, 3, text), "2305843009213693951.000");
    cr_expect_str_eq(takt_format_period(SECOND, text), "second");
    cr_expect_str_eq(takt_format_period(90 * SECOND, text), "90 s");
    cr_expect_str_eq(takt_format_period(86400 * SECOND, text), "day");
    cr_expect_str_eq(takt_format_period(250000, text), "250 ms");
}

typedef struct kept {
    char text[256];
    int calls_left;
} kept;

static int keep(const char *text, size_t size, void *data)
{
    kept *all = data;

    if (all->calls_left-- == 0)
        return -7;
    strncat(all->text, text, size);
    return 0;
}

Test(format, texts_of_others_are_harmless)
{
    kept all = {.calls_left = 100};
    takt_page page = {keep, &all, 0};

    takt_page_put_text(&page, "<a href=\"x\">&\x01\n</a>");
    cr_expect_str_eq(all.text, "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;");
    cr_expect_eq(page.status, 0);
}

Test(format, nothing_is_written_after_a_failure)
{
    kept all = {.calls_left = 1};
    takt_page page = {keep, &all, 0};

    takt_page_put(&page, "%d", 1);
    takt_page_put(&page, "%d", 2);
    takt_page_put_raw(&page, "3");
    takt_page_put_text(&page, "4");
    cr_expect_str_eq(all.text, "1");
    cr_expect_eq(page.status, -7);
    cr_expect_eq(all.calls_left, -1, "asked once more only");
}
