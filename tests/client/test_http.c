/*
 * A standing as HTTP fields.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include <takt/http.h>

#include "rules/rule.h"

static takt_policy *policy;

static void load(void)
{
    static const char text[] = "limits:\n"
                               "  - name: api\n"
                               "    rules: [{rate: 100/min, burst: 10}]\n"
                               "  - name: quick\n"
                               "    rules: [{rate: 3/250ms}]\n"
                               "  - name: both\n"
                               "    rules: [{rate: 5/s}, {rate: 800/day}]\n"
                               "  - name: llm\n"
                               "    concurrency: 20\n"
                               "    rules: [{rate: 500/min, counts: requests}, {rate: 200000/min, "
                               "burst: 8000, counts: tokens}]\n"
                               "  - name: inner\n"
                               "    within: both\n"
                               "    rules: [{rate: 5/s}, {rate: 9/min}]\n";
    takt_error error;

    cr_assert_eq(takt_policy_parse(&policy, "test", text, strlen(text), &error), 0, "%s",
                 error.text);
}

static void drop(void)
{
    takt_policy_free(policy);
}

static void check(const char *limit, int status, takt_standing standing, const char *expected)
{
    char text[TAKT_HTTP_FIELDS_SIZE];
    int size = takt_http_fields(policy, limit, NULL, status, &standing, TAKT_HTTP_RESET_SECONDS,
                                text, sizeof text);

    cr_assert_str_eq(text, expected, "%s", text);
    cr_assert_eq(size, (int)strlen(expected));
    for (size_t room = 0; room <= strlen(expected); room++)
        cr_assert_eq(takt_http_fields(policy, limit, NULL, status, &standing,
                                      TAKT_HTTP_RESET_SECONDS, text, room),
                     TAKT_E_INVALID);
}

TestSuite(http, .init = load, .fini = drop);

Test(http, one_rule)
{
    check("api", 0, (takt_standing){.limit = 10, .remaining = 9, .reset_after_us = 600000},
          "X-RateLimit-Limit: 10\r\nX-RateLimit-Remaining: 9\r\nX-RateLimit-Reset: 1\r\n"
          "RateLimit-Policy: \"api\";q=100;w=60\r\nRateLimit: \"api\";r=9;t=1\r\n");
    check("quick", 0, (takt_standing){.limit = 1},
          "X-RateLimit-Limit: 1\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 0\r\n"
          "RateLimit-Policy: \"quick\";q=3\r\nRateLimit: \"quick\";r=0;t=0\r\n");
}

Test(http, refused)
{
    takt_standing standing = {
        .limit = 10, .reset_after_us = 6000001, .retry_after_us = 1000001, .remaining = 0};

    check("api", TAKT_E_NO_SLOT, standing,
          "Retry-After: 2\r\nX-RateLimit-Limit: 10\r\nX-RateLimit-Remaining: 0\r\n"
          "X-RateLimit-Reset: 7\r\n"
          "RateLimit-Policy: \"api\";q=100;w=60\r\nRateLimit: \"api\";r=0;t=7\r\n");
    standing.retry_after_us = TAKT_NEVER;
    check("api", TAKT_E_NO_SLOT, standing,
          "X-RateLimit-Limit: 10\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 7\r\n"
          "RateLimit-Policy: \"api\";q=100;w=60\r\nRateLimit: \"api\";r=0;t=7\r\n");
}

Test(http, several_rules)
{
    check("both", 0, (takt_standing){.limit = 1, .remaining = 1},
          "X-RateLimit-Limit: 1\r\nX-RateLimit-Remaining: 1\r\nX-RateLimit-Reset: 0\r\n"
          "RateLimit-Policy: \"both\";q=1, \"both-1\";q=5;w=1, \"both-2\";q=800;w=86400\r\n"
          "RateLimit: \"both\";r=1;t=0\r\n");
}

/* Each rule has its remaining amount, in its unit. */
Test(http, what_each_rule_has_left)
{
    takt_standing standing = {
        .limit = 8000,
        .remaining = 0,
        .reset_after_us = 60000000,
        .rule_count = 2,
        .rules = {{"requests", 1, 0, 120000}, {"tokens", 8000, 7200, 59000001}}};

    check("llm", 0, standing,
          "X-RateLimit-Limit: 8000\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 60\r\n"
          "RateLimit-Policy: \"llm\";q=8000;qu=\"tokens\", \"llm-1\";q=500;w=60, "
          "\"llm-2\";q=200000;qu=\"tokens\";w=60, "
          "\"llm-permits\";q=20;qu=\"concurrent-requests\"\r\n"
          "RateLimit: \"llm\";r=0;t=60, \"llm-1\";r=0;t=1, \"llm-2\";r=7200;t=60\r\n");
    standing.rule_count = 1; /* of other rules than the policy's */
    check("llm", 0, standing,
          "X-RateLimit-Limit: 8000\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 60\r\n"
          "RateLimit-Policy: \"llm\";q=8000;qu=\"tokens\", \"llm-1\";q=500;w=60, "
          "\"llm-2\";q=200000;qu=\"tokens\";w=60, "
          "\"llm-permits\";q=20;qu=\"concurrent-requests\"\r\n"
          "RateLimit: \"llm\";r=0;t=60\r\n");
}

/* What remains may be that of the limit around it. */
Test(http, within)
{
    takt_standing standing = {.limit = 3, .remaining = 2, .rule_count = 2};

    check("inner", 0, standing,
          "X-RateLimit-Limit: 3\r\nX-RateLimit-Remaining: 2\r\nX-RateLimit-Reset: 0\r\n"
          "RateLimit-Policy: \"inner\";q=3, \"inner-1\";q=5;w=1, \"inner-2\";q=9;w=60\r\n"
          "RateLimit: \"inner\";r=2;t=0\r\n");
}

/* The longest fields have room. */
Test(http, the_longest)
{
    char limits[2400], name[65], text[TAKT_HTTP_FIELDS_SIZE];
    takt_standing standing = {.limit = 1000000000,
                              .remaining = 1000000000,
                              .reset_after_us = TAKT_SPAN_MAX_US,
                              .rule_count = 8};
    takt_policy *made;
    int used;

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    used = snprintf(limits, sizeof limits,
                    "limits:\n  - name: %s\n    concurrency: 1000000000\n    rules:\n", name);
    for (int i = 0; i < 8; i++) {
        standing.rules[i] = (takt_rule_standing){"", 1000000000, 1000000000, TAKT_SPAN_MAX_US};
        used += snprintf(
            limits + used, sizeof limits - (size_t)used,
            "      - {rate: 1000000000/1000000000s, counts: a123456789_123456789_123456789_}\n");
    }
    cr_assert_eq(takt_policy_parse(&made, "test", limits, (size_t)used, NULL), 0);
    cr_expect_gt(takt_http_fields(made, name, NULL, 0, &standing, TAKT_HTTP_RESET_RFC3339, text,
                                  sizeof text),
                 2048);
    takt_policy_free(made);
}

/* Rounded up, as seconds are. */
Test(http, forms_of_reset)
{
    static const struct {
        takt_http_reset reset;
        int64_t now_us, after_us;
        const char *words;
    } rows[] = {
        {TAKT_HTTP_RESET_SECONDS, INT64_C(1763692800000000), 9500000, "Reset: 10\r\n"},
        {TAKT_HTTP_RESET_UNIX_TIME, INT64_C(1763692800000000), 9500000, "Reset: 1763692810\r\n"},
        {TAKT_HTTP_RESET_UNIX_TIME, INT64_C(1763692800000001), 0, "Reset: 1763692801\r\n"},
        {TAKT_HTTP_RESET_RFC3339, INT64_C(1763692800000000), 9500000,
         "Reset: 2025-11-21T02:40:10Z\r\n"},
        {TAKT_HTTP_RESET_RFC3339, INT64_C(1798761599000001), 0, "Reset: 2027-01-01T00:00:00Z\r\n"},
    };
    char text[TAKT_HTTP_FIELDS_SIZE];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_standing standing = {
            .limit = 10, .now_us = rows[i].now_us, .reset_after_us = rows[i].after_us};
        cr_assert_gt(
            takt_http_fields(policy, "api", NULL, 0, &standing, rows[i].reset, text, sizeof text),
            0);
        cr_expect_not_null(strstr(text, rows[i].words), "row %zu: %s", i, text);
    }
}

Test(http, the_policy_is_that_of_the_key)
{
    static const char with_overrides[] = "limits:\n  - name: api\n    rules: [{rate: 5/s}]\n"
                                         "    overrides: [{key: gold, rules: [{rate: 90/min}]}]\n";
    takt_standing standing = {.limit = 1};
    char text[TAKT_HTTP_FIELDS_SIZE];
    takt_policy *made;

    cr_assert_eq(takt_policy_parse(&made, "test", with_overrides, sizeof with_overrides - 1, NULL),
                 0);
    takt_http_fields(made, "api", "gold", 0, &standing, TAKT_HTTP_RESET_SECONDS, text, sizeof text);
    cr_expect_not_null(strstr(text, "\"api\";q=90;w=60"), "%s", text);
    takt_http_fields(made, "api", "tin", 0, &standing, TAKT_HTTP_RESET_SECONDS, text, sizeof text);
    cr_expect_not_null(strstr(text, "\"api\";q=5;w=1"), "%s", text);
    takt_policy_free(made);
}

Test(http, what_cannot_be)
{
    takt_standing standing = {0};
    char text[TAKT_HTTP_FIELDS_SIZE] = "x";

    cr_assert_eq(takt_http_fields(policy, "nothing", NULL, 0, &standing, TAKT_HTTP_RESET_SECONDS,
                                  text, sizeof text),
                 TAKT_E_NO_LIMIT);
    cr_assert_str_empty(text);
    cr_assert_eq(
        takt_http_fields(policy, "api", NULL, 0, NULL, TAKT_HTTP_RESET_SECONDS, text, sizeof text),
        TAKT_E_INVALID);
}

/* Header fields as vendors send them, and malformed ones. */
Test(http, retry_after)
{
#define DATE "Sun, 06 Nov 1994 08:49:37 GMT"
    static const struct {
        const char *value, *date;
        int64_t seconds; /* -1: it cannot be read */
    } rows[] = {
        {"0", NULL, 0},
        {"120", NULL, 120},
        {" 30\t", DATE, 30},
        {"1576800000", NULL, 1576800000},
        {"1576800001", NULL, 1576800000},
        {"99999999999999999999999999", NULL, 1576800000},
        {"99999999999999999999999999s", NULL, -1},
        {"", NULL, -1},
        {" ", NULL, -1},
        {"-1", NULL, -1},
        {"+1", NULL, -1},
        {"2.0", NULL, 2},
        {"1.001", DATE, 2},
        {"0.35", NULL, 1},
        {"1576800000.5", NULL, 1576800000},
        {"1.", NULL, -1},
        {".5", NULL, -1},
        {"1.5s", NULL, -1},
        {"1.5.0", NULL, -1},
        {"1 2", NULL, -1},
        {"30s", NULL, -1},
        {DATE, NULL, -1},
        {DATE, DATE, 0},
        {"Sun, 06 Nov 1994 08:50:07 GMT", DATE, 30},
        {" Mon, 07 Nov 1994 08:49:37 GMT ", DATE, 86400},
        {"Sun, 06 Nov 1994 08:49:36 GMT", DATE, 0},
        {"Tue, 29 Feb 2000 00:00:00 GMT", "Mon, 28 Feb 2000 00:00:00 GMT", 86400},
        {"Thu, 29 Feb 1900 00:00:00 GMT", DATE, -1},
        {"Mon, 06 Nov 1994 08:49:37 GMT", DATE, -1}, /* it was a Sunday */
        {"Thu, 31 Jun 1994 08:49:37 GMT", DATE, -1},
        {"Sun, 06 Nov 1994 24:49:37 GMT", DATE, -1},
        {"Sun, 06 Nov 1994 08:60:37 GMT", DATE, -1},
        {"Sun, 06 Nov 1994 08:49:37 UTC", DATE, -1},
        {"Sun, 6 Nov 1994 08:49:37 GMT", DATE, -1},
        {"Sun, 06 nov 1994 08:49:37 GMT", DATE, -1},
        {"Sunday, 06-Nov-94 08:50:07 GMT", DATE, 30},
        {"Sunday, 06-Nov-94 08:50:07 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", 30},
        {"Monday, 23-Nov-26 08:50:07 GMT", "Mon, 23 Nov 2026 08:50:06 GMT", 1},
        {"Friday, 01-Jan-00 00:00:01 GMT", "Thu, 31 Dec 2099 23:59:59 GMT", 2},
        {"Monday, 01-Jan-00 00:00:01 GMT", "Sun, 31 Dec 1899 23:59:59 GMT", 2},
        {"Monday, 06-Nov-94 08:49:37 GMT", DATE, -1},
        {"Thursday, 31-Jun-94 08:49:37 GMT", DATE, -1},
        {"Sun, 06-Nov-94 08:49:37 GMT", DATE, -1},
        {"Sunday, 6-Nov-94 08:49:37 GMT", DATE, -1},
        {"Sunday, 06-Nov-1994 08:49:37 GMT", DATE, -1},
        {"Sunday 06-Nov-94 08:49:37 GMT", DATE, -1},
        {", 06-Nov-94 08:49:37 GMT", DATE, -1},
        {"Sunday,", DATE, -1},
        {"Sun Nov  6 08:50:07 1994", DATE, 30},
        {"Sun Nov 06 08:50:07 1994", DATE, 30},
        {"Mon Nov 14 08:49:37 1994", DATE, 8 * 86400},
        {"Sun Nov 6 08:49:37 1994", DATE, -1},
        {"Sun Nov x6 08:49:37 1994", DATE, -1},
        {"Mon Nov  6 08:49:37 1994", DATE, -1},
        {"Sun Nov  6 08:49:37 94", DATE, -1},
        {DATE "x", DATE, -1},
        {DATE, "120", -1},
        {"Fri, 31 Dec 9999 23:59:59 GMT", DATE, 1576800000},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t for_us = -7;
        int code = takt_http_retry_after(rows[i].value, rows[i].date, &for_us);
        cr_expect_eq(code, rows[i].seconds < 0 ? TAKT_E_INVALID : 0, "row %zu", i);
        cr_expect_eq(for_us, rows[i].seconds < 0 ? -7 : rows[i].seconds * 1000000, "row %zu", i);
    }
    cr_expect_eq(takt_http_retry_after(NULL, NULL, &(int64_t){0}), TAKT_E_INVALID);
    cr_expect_eq(takt_http_retry_after("1", NULL, NULL), TAKT_E_INVALID);
}
