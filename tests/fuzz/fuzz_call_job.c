/*
 * Any text as a job of takt-call, whose first byte chooses the allowed hosts: it is refused with a
 * message, or no part of it leaves its place in the request, the request goes to an allowed host,
 * and it reads back the same.
 */
#include "fuzz.h"

#include "call/hosts.h"
#include "call/pointer.h"
#include "call/spec.h"
#include "jobs/frame/job_parse.h"

#define ELSEWHERE "{\"id\":\"1\",\"limit\":\"l\",\"url\":\"https://elsewhere.example/x\"}"

static takt_caller_allowed allowed;

static void check_text(const char *text, size_t max)
{
    require(strlen(text) >= 1 && strlen(text) <= max);
    for (; *text; text++)
        require((unsigned char)*text >= 0x20 && *text != 0x7f);
}

static void check_head(const takt_job_head *head)
{
    check_text(head->id, TAKT_JOB_ID_MAX);
    check_text(head->idempotency_key, TAKT_JOB_ID_MAX);
    check_text(head->limit, TAKT_NAME_SIZE_MAX);
    if (head->key)
        check_text(head->key, TAKT_KEY_SIZE_MAX);
    if (head->tenant)
        check_text(head->tenant, TAKT_TENANT_SIZE_MAX);
    require(head->cost >= 1 && head->cost <= TAKT_COST_MAX);
    require(head->priority >= TAKT_PRIORITY_POLICY && head->priority <= TAKT_PRIORITY_MAX);
    require(head->deadline_us >= 0);
}

static void check_url(const char *url)
{
    takt_caller_origin origin;
    takt_caller_hosts_verdict verdict;

    require(strlen(url) <= CALL_URL_MAX && strstr(url, "${") == NULL);
    for (const char *at = url; *at; at++)
        require(*at > ' ' && *at < 0x7f);
    require(takt_caller_origin_of(url, &origin) && takt_caller_origin_is_http(&origin));
    require(!origin.has_user && origin.host[0] != '\0' && origin.port > 0);
    verdict = takt_caller_hosts_judge(allowed.hosts, origin.host, origin.port);
    require(verdict == (allowed.hosts ? TAKT_CALLER_HOSTS_LISTED : TAKT_CALLER_HOSTS_PUBLIC));
}

static void check_value(const json_t *value)
{
    const char *text = json_string_value(value);

    require(text != NULL);
    for (size_t i = 0; i < json_string_length(value); i++)
        require(((unsigned char)text[i] >= 0x20 || text[i] == '\t') && text[i] != 0x7f);
    require(strstr(text, "${file:") == NULL);
}

static void check_headers(const takt_caller_spec *spec)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)spec->headers, name, value)
    {
        require(takt_caller_spec_is_name(name, strlen(name)));
        require(strcasecmp(name, "host") != 0 && strcasecmp(name, "content-length") != 0);
        require(strcasecmp(name, "transfer-encoding") != 0);
        require(takt_caller_spec_has_header(spec, name));
        if (!json_is_array(value))
            check_value(value);
        for (size_t i = 0; i < json_array_size(value); i++)
            check_value(json_array_get(value, i));
    }
}

static void check_spec(const takt_caller_spec *spec)
{
    check_url(spec->url);
    check_headers(spec);
    require(strspn(spec->method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(spec->method));
    require(!spec->body || !spec->json);
    require(spec->timeout_us == 0 ||
            (spec->timeout_us >= 1000 && spec->timeout_us <= CALL_TIMEOUT_MAX));
    require(spec->expect_count >= 1 && spec->expect_count <= CALL_EXPECT_MAX);
    for (int i = 0; i < spec->expect_count; i++) {
        require(spec->expect[i].from >= 100 && spec->expect[i].to <= 599);
        require(spec->expect[i].from <= spec->expect[i].to);
        require(takt_caller_spec_expects(spec, spec->expect[i].to));
    }
    require(spec->settle_count >= 0 && spec->settle_count <= TAKT_AMOUNTS_MAX);
    for (int i = 0; i < spec->settle_count; i++)
        require(takt_caller_pointer_check(spec->settle[i].pointer) == NULL);
    require(!takt_caller_spec_expects(spec, 99) && !takt_caller_spec_expects(spec, 600));
}

/* Another job's URL is read, and its parts are remembered then. */
static void read_elsewhere(void)
{
    static const takt_caller_allowed all = {0};
    takt_caller_spec spec;
    takt_job_head head;
    json_t *fields;

    require(takt_job_parse(ELSEWHERE, strlen(ELSEWHERE), NULL, &fields, &head, NULL) == 0);
    require(takt_caller_spec_read(fields, &all, false, &spec, &(takt_error){0}) == 0);
    json_decref(fields);
}

static void check_job(const json_t *fields)
{
    takt_caller_spec spec, again;
    takt_error error = {0}, error_again = {0};
    int code = takt_caller_spec_read(fields, &allowed, false, &spec, &error);

    require(takt_caller_spec_read(fields, &allowed, false, &again, &error_again) == code);
    require(strcmp(error.text, error_again.text) == 0);
    read_elsewhere();
    error_again = (takt_error){0};
    require(takt_caller_spec_read(fields, &allowed, false, &again, &error_again) == code);
    require(strcmp(error.text, error_again.text) == 0);
    if (code != 0) {
        require(code == TAKT_E_INVALID && error.code == code && error.text[0] != '\0');
        return;
    }
    check_spec(&spec);
    require(takt_caller_spec_read(fields, &allowed, true, &again, NULL) == 0);
    require(again.method == spec.method && again.url == spec.url && again.body == spec.body);
    require(again.settle_count == spec.settle_count);
    require(again.timeout_us == spec.timeout_us && again.expect_count == spec.expect_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const hosts[] = {NULL, "example.com,*.example.org:8080,127.0.0.1,[::1]"};
    takt_job_head head;
    takt_error error = {0};
    json_t *fields;
    char *text;

    if (size == 0)
        return 0;
    allowed.hosts = hosts[*data & 1];
    text = fuzz_copy(data + 1, size - 1);
    if (takt_job_parse(text, size - 1, *data & 2 ? "limit" : NULL, &fields, &head, &error) == 0) {
        check_head(&head);
        check_job(fields);
        json_decref(fields);
    } else {
        require(error.code == TAKT_E_INVALID && error.text[0] != '\0');
    }
    free(text);
    return 0;
}
