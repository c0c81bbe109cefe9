/*
 * What a line must contain to be a job, and the messages about other lines.
 */
#include <criterion/criterion.h>

#include "jobs/frame/job_parse.h"
#include "jobs/sources/source.h"
#include "jobs/text/instant.h"
#include "memory/failing.h"

static const struct {
    const char *text;
    const char *words; /* of the refusal; NULL: it is good */
} lines[] = {
    {"{\"id\":\"1\",\"limit\":\"a\"}", NULL},
    {"{\"id\":\"1\",\"limit\":\"a\",\"key\":null,\"cost\":null}", NULL},
    {"{\"id\":\"\xc3\xa9\",\"limit\":\"a\",\"key\":\"k\",\"cost\":3,\"priority\":9}", NULL},
    {"{\"id\":\"1\"}", "limit: a job needs one"},
    {"{\"limit\":\"a\"}", "id: a job needs one"},
    {"{\"id\":\"\",\"limit\":\"a\"}", "id: it has 0 bytes"},
    {"{\"id\":17,\"limit\":\"a\"}", "id: it must be a string"},
    {"{\"id\":\"a\\nb\",\"limit\":\"a\"}", "id: it has a control character"},
    {"{\"id\":\"1\",\"limit\":7}", "limit: it must be a string"},
    {"{\"id\":\"1\",\"limit\":\"a\",\"key\":[]}", "key: it must be a string"},
    {"{\"id\":\"1\",\"limit\":\"a\",\"key\":\"\"}", "key: it has 0 bytes"},
    {"{\"id\":\"1\",\"limit\":\"a\",\"tenant\":\"a\\tb\"}", "tenant: it has a control character"},
    {"{\"id\":\"1\",\"limit\":\"a\",\"tenant\":5}", "tenant: it must be a string"},
    {"{\"id\":\"a\\u0000b\",\"limit\":\"a\"}", "it has the character \\u0000, at byte "},
    {"{\"a\\u0000b\":\"1\"}", "it has the character \\u0000, at byte "},
    {"{\"id\":\"1\",\"limit\":\"a\",\"cost\":0}", "cost: it must be a whole number from 1"},
    {"{\"id\":\"1\",\"limit\":\"a\",\"cost\":1.5}", "cost: it must be a whole number"},
    {"{\"id\":\"1\",\"limit\":\"a\",\"cost\":\"2\"}", "without quotes"},
    {"{\"id\":\"1\",\"limit\":\"a\",\"priority\":10}",
     "priority: it must be a whole number from 0"},
    {"{\"id\":\"1\",\"limit\":\"a\",\"deadline\":5}", "deadline: it must be a string"},
    {"{\"id\":\"1\",\"limit\":\"a\",\"deadline\":\"soon\"}", "deadline: \"soon\" is not a time"},
    {"{\"id\":\"1\",\"limit\":\"a\",\"id\":\"2\"}", "not JSON"},
    {"{\"id\":\"\xff\",\"limit\":\"a\"}", "not JSON"},
    {"[1]", "not an object"},
    {"\"x\"", "not JSON"},
    {"{", "not JSON"},
    {"{} {}", "not JSON"},
};

Test(job, lines)
{
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        json_t *fields = NULL;
        takt_job_head head;
        takt_error error = {0};
        int code =
            takt_job_parse(lines[i].text, strlen(lines[i].text), NULL, &fields, &head, &error);
        cr_assert_eq(code, lines[i].words ? TAKT_E_INVALID : 0, "%s: %s", lines[i].text,
                     error.text);
        if (lines[i].words)
            cr_assert(strstr(error.text, lines[i].words), "%s: %s", lines[i].text, error.text);
        json_decref(fields);
    }
}

Test(job, head)
{
    const char *text = "{\"id\":\"m\",\"key\":\"k\",\"cost\":7,\"priority\":0,"
                       "\"deadline\":\"1970-01-02T00:00:00.5Z\",\"idempotency_key\":\"i\"}";
    json_t *fields;
    takt_job_head head;

    cr_assert_eq(takt_job_parse(text, strlen(text), "mail", &fields, &head, NULL), 0);
    cr_assert_str_eq(head.id, "m");
    cr_assert_str_eq(head.limit, "mail");
    cr_assert_str_eq(head.key, "k");
    cr_assert_str_eq(head.idempotency_key, "i");
    cr_assert_eq(head.cost, 7);
    cr_assert_eq(head.priority, 0);
    cr_assert_eq(head.deadline_us, INT64_C(86400500000));
    json_decref(fields);
}

Test(job, an_empty_tenant_is_none)
{
    const char *text = "{\"id\":\"1\",\"limit\":\"a\",\"tenant\":\"\"}";
    json_t *fields;
    takt_job_head head;
    takt_error error = {0};

    cr_assert_eq(takt_job_parse(text, strlen(text), NULL, &fields, &head, &error), 0, "%s",
                 error.text);
    cr_assert_null(head.tenant);
    json_decref(fields);
}

Test(job, defaults)
{
    const char *text = "{\"id\":\"m\",\"limit\":\"own\"}";
    json_t *fields;
    takt_job_head head;

    cr_assert_eq(takt_job_parse(text, strlen(text), "mail", &fields, &head, NULL), 0);
    cr_assert_str_eq(head.limit, "own");
    cr_assert_str_eq(head.idempotency_key, "m");
    cr_assert_null(head.key);
    cr_assert_eq(head.cost, 1);
    cr_assert_eq(head.priority, TAKT_PRIORITY_POLICY);
    cr_assert_eq(head.deadline_us, 0);
    json_decref(fields);
}

Test(job, too_long)
{
    char *text = malloc(TAKT_JOB_SOURCE_TEXT_MAX + 1);
    json_t *fields;
    takt_job_head head;
    takt_error error;

    memset(text, ' ', TAKT_JOB_SOURCE_TEXT_MAX + 1);
    cr_assert_eq(takt_job_parse(text, TAKT_JOB_SOURCE_TEXT_MAX + 1, "a", &fields, &head, &error),
                 TAKT_E_INVALID);
    cr_assert(strstr(error.text, "1048577 bytes"), "%s", error.text);
    free(text);
}

Test(job, instants)
{
    static const struct {
        const char *text;
        int64_t at_us; /* 0: it is none */
    } instants[] = {
        {"1970-01-01T00:00:01Z", 1000000},
        {"2026-11-22T12:00:00Z", INT64_C(1795348800000000)},
        {"2026-11-22T13:00:00+01:00", INT64_C(1795348800000000)},
        {"2026-11-22 06:30:00-05:30", INT64_C(1795348800000000)},
        {"2024-02-29T00:00:00.000001999Z", INT64_C(1709164800000001)},
        {"2000-03-01T00:00:00z", INT64_C(951868800000000)},
        {"1970-01-01T00:00:00Z", 0},
        {"2026-02-29T00:00:00Z", 0},
        {"2026-13-01T00:00:00Z", 0},
        {"2026-11-22T24:00:00Z", 0},
        {"2026-11-22T12:00:00", 0},
        {"2026-11-22T12:00:00.Z", 0},
        {"2026-11-22T12:00:00+1:00", 0},
        {"2026-11-22T12:00:00Zx", 0},
        {"2026-11-22", 0},
        {"", 0},
    };

    for (size_t i = 0; i < sizeof(instants) / sizeof(instants[0]); i++) {
        int64_t at_us = 0;
        cr_assert_eq(takt_instant_read(instants[i].text, &at_us), instants[i].at_us != 0, "%s",
                     instants[i].text);
        cr_assert_eq(at_us, instants[i].at_us, "%s: %lld", instants[i].text, (long long)at_us);
    }
}

/* A lack of memory is no error of the line, for which the job would be dead.  jansson asserts where
 * later allocations fail. */
Test(job_parse, without_memory_a_good_line_is_not_refused)
{
    static const char text[] = "{\"id\":\"1\",\"limit\":\"a\"}";
    takt_job_head head;
    takt_error error = {0};
    json_t *fields;
    int code;

    failing_start(1, false);
    code = takt_job_parse(text, strlen(text), NULL, &fields, &head, &error);
    failing_stop();
    cr_assert(failing_struck());
    cr_expect_eq(code, TAKT_E_NOMEM, "%s", error.text);
    cr_assert_eq(takt_job_parse(text, strlen(text), NULL, &fields, &head, &error), 0);
    json_decref(fields);
    cr_expect_eq(takt_job_parse("{", 1, NULL, &fields, &head, &error), TAKT_E_INVALID);
}
