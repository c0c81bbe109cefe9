/*
 * spec.c: see spec.h.
 */
#include "spec.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <takt/policy.h>

#include "fail.h"
#include "kit/text.h"
#include "secrets.h"

#define HEADERS_MAX      100
#define HEADERS_SIZE_MAX (64 * 1024) /* bytes of all headers, before secrets are filled in */
#define SHOWN_SIZE       96
#define ORIGIN_SIZE      256

static const char *show(const char *text, size_t size, char shown[SHOWN_SIZE])
{
    return takt_quote_bytes(text, size, shown, SHOWN_SIZE);
}

/* NULL: the field is missing or null. */
static const json_t *field_of(const json_t *fields, const char *name)
{
    const json_t *field = json_object_get(fields, name);

    return json_is_null(field) ? NULL : field;
}

static int read_method(const json_t *field, takt_caller_spec *spec, takt_error *error)
{
    static const char *const methods[] = {"GET",   "HEAD",   "POST",   "PUT",
                                          "PATCH", "DELETE", "OPTIONS"};
    const char *word = field ? json_string_value(field) : "GET";

    for (size_t i = 0; word && i < sizeof(methods) / sizeof(methods[0]); i++)
        if (strcmp(word, methods[i]) == 0) {
            spec->method = methods[i];
            return 0;
        }
    return takt_caller_fail(error, "method: write GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS");
}

/* libcurl takes the x of http:x, http:/x and http:///x for the host. */
static bool has_host(const char *text)
{
    const char *rest = strchr(text, ':');

    return rest && strncmp(rest, "://", 3) == 0 && rest[3] != '/';
}

static int check_url_parts(const char *text, takt_caller_origin *origin, takt_error *error)
{
    if (!takt_caller_origin_of(text, origin))
        return takt_caller_fail(error, "url: cannot be read; write it like https://host/path");
    if (!takt_caller_origin_is_http(origin))
        return takt_caller_fail(error,
                                "url: write http:// or https://; other schemes are not supported");
    if (!has_host(text))
        return takt_caller_fail(error, "url: has no host; write it like https://host/path");
    if (origin->has_user)
        return takt_caller_fail(error,
                                "url: has a user or a password, which logs would show; write a "
                                "header like \"Authorization\": \"Basic ${env:NAME}\"");
    return 0;
}

static int check_host(const takt_caller_origin *origin, const char *hosts, takt_error *error)
{
    switch (takt_caller_hosts_judge(hosts, origin->host, origin->port)) {
    case TAKT_CALLER_HOSTS_PRIVATE:
        return takt_caller_fail(error,
                                "url: %s is a private address; add it to --hosts if jobs may call "
                                "it",
                                origin->host);
    case TAKT_CALLER_HOSTS_UNLISTED:
        return takt_caller_fail(error, "url: --hosts does not list %s; add it if jobs may call it",
                                origin->host);
    case TAKT_CALLER_HOSTS_LISTED:
    case TAKT_CALLER_HOSTS_PUBLIC:
        break;
    }
    return 0;
}

/* The size of everything before the path, which decides about the host. 0: not a simple URL, as in
 * http:///host/, where libcurl looks for the host after the third slash. */
static size_t origin_size(const char *url)
{
    const char *host = strstr(url, "://");
    size_t size = host ? strcspn(host + 3, "/?#") : 0;

    return size > 0 ? (size_t)(host + 3 - url) + size : 0;
}

/* Parsing a URL takes as long as all other checks together, and most jobs call the same origin as
 * the job before. */
static int read_origin(const char *text, takt_caller_origin *origin, takt_error *error)
{
    static char last[ORIGIN_SIZE];
    static takt_caller_origin last_origin;
    size_t size = origin_size(text);
    bool is_short = size > 0 && size < sizeof(last);

    if (is_short && strncmp(last, text, size) == 0 && last[size] == '\0') {
        *origin = last_origin;
        return 0;
    }
    int code = check_url_parts(text, origin, error);
    if (code == 0 && is_short) {
        memcpy(last, text, size);
        last[size] = '\0';
        last_origin = *origin;
    }
    return code;
}

static int check_url(const json_t *field, const char *hosts, takt_caller_origin *origin,
                     takt_error *error)
{
    const char *text = json_string_value(field);
    size_t size = json_string_length(field);
    int code;

    if (!text)
        return takt_caller_fail(error,
                                "url: a job needs one; write \"url\": \"https://host/path\"");
    if (size > CALL_URL_MAX)
        return takt_caller_fail(error, "url: has %zu bytes; write at most %d", size, CALL_URL_MAX);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] <= 0x20 || (unsigned char)text[i] >= 0x7f)
            return takt_caller_fail(error,
                                    "url: byte %zu is a blank, a control character or not ASCII; "
                                    "write it as %%%02X",
                                    i + 1, (unsigned char)text[i]);
    if (strstr(text, "${"))
        return takt_caller_fail(error, "url: secrets are allowed in headers only; move it there");
    code = read_origin(text, origin, error);
    return code == 0 ? check_host(origin, hosts, error) : code;
}

/* Headers that set where a request ends and whom it is for: libcurl and this worker write them. */
static bool is_ours(const char *name)
{
    static const char *const ours[] = {"connection", "content-length", "host",    "keep-alive",
                                       "te",         "trailer",        "upgrade", "expect"};

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (strcasecmp(name, ours[i]) == 0)
            return true;
    return strncasecmp(name, "transfer-", 9) == 0 || strncasecmp(name, "proxy-", 6) == 0;
}

/* A byte of a token (RFC 9110). */
static bool is_token(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || (byte && strchr("!#$%&'*+-.^_`|~", byte));
}

bool takt_caller_spec_is_name(const char *name, size_t size)
{
    size_t i = 0;

    while (i < size && is_token(name[i]))
        i++;
    return size > 0 && i == size;
}

static int check_name(const char *name, size_t size, takt_error *error)
{
    char shown[SHOWN_SIZE];

    if (size > 256 || !takt_caller_spec_is_name(name, size))
        return takt_caller_fail(error,
                                "headers: %s is not a header name; write letters, digits and -",
                                show(name, size, shown));
    if (is_ours(name))
        return takt_caller_fail(error, "headers: %s is set by takt-call itself; leave it out",
                                show(name, size, shown));
    return 0;
}

/* Checks one value. The message does not show the value, which may be a secret. */
static int check_value(const char *name, const json_t *field, const takt_caller_allowed *allowed,
                       const takt_caller_origin *to, size_t *all_size, takt_error *error)
{
    const char *value = json_string_value(field);
    size_t size = json_string_length(field);

    if (!value)
        return takt_caller_fail(error, "headers.%s: write a string, or a list of strings", name);
    for (size_t i = 0; i < size; i++)
        if (((unsigned char)value[i] < 0x20 && value[i] != '\t') || value[i] == 0x7f)
            return takt_caller_fail(
                error,
                "headers.%s: byte %zu is a control character, such as a newline; leave it out",
                name, i + 1);
    *all_size += size;
    if (takt_caller_secrets_check(allowed, to, value, error) != 0)
        return takt_caller_fail_in(error, "headers.%s: ", name);
    return 0;
}

static int check_header(const char *name, const json_t *field, const takt_caller_allowed *allowed,
                        const takt_caller_origin *to, size_t *all_size, takt_error *error)
{
    int code = check_name(name, strlen(name), error);

    if (code == 0 && !json_is_array(field))
        return check_value(name, field, allowed, to, all_size, error);
    for (size_t i = 0; code == 0 && i < json_array_size(field); i++)
        code = check_value(name, json_array_get(field, i), allowed, to, all_size, error);
    return code;
}

static int check_headers(const json_t *field, const takt_caller_allowed *allowed,
                         const takt_caller_origin *to, takt_error *error)
{
    const char *name;
    json_t *value;
    size_t count = 0, size = 0;

    if (!json_is_object(field))
        return takt_caller_fail(error,
                                "headers: write an object, like {\"Accept\": \"text/plain\"}");
    json_object_foreach((json_t *)field, name, value)
    {
        int code = check_header(name, value, allowed, to, &size, error);
        if (code != 0)
            return code;
        size += strlen(name);
        count += json_is_array(value) ? json_array_size(value) : 1;
    }
    if (count > HEADERS_MAX || size > HEADERS_SIZE_MAX)
        return takt_caller_fail(error,
                                "headers: there are %zu of %zu bytes in all; write at most %d, of "
                                "%d bytes",
                                count, size, HEADERS_MAX, HEADERS_SIZE_MAX);
    return 0;
}

static int read_body(const json_t *fields, takt_caller_spec *spec, takt_error *error)
{
    const json_t *body = field_of(fields, "body");

    spec->json = field_of(fields, "json");
    if (!body)
        return 0;
    if (spec->json)
        return takt_caller_fail(error, "body: there is a \"json\" as well; write one of the two");
    if (!json_is_string(body))
        return takt_caller_fail(error,
                                "body: write a string; anything else belongs under \"json\"");
    spec->body = json_string_value(body);
    spec->body_size = json_string_length(body);
    return 0;
}

static int read_timeout(const json_t *field, takt_caller_spec *spec, takt_error *error)
{
    const char *text = field ? json_string_value(field) : NULL;

    if (!field)
        return 0;
    if (!text)
        return takt_caller_fail(error, "timeout: write a string, like \"30s\"");
    if (takt_parse_duration(text, &spec->timeout_us, error) != 0)
        return takt_caller_fail_in(error, "timeout: ");
    if (spec->timeout_us < 1000 || spec->timeout_us > CALL_TIMEOUT_MAX)
        return takt_caller_fail(error, "timeout: write 1ms to 1h");
    return 0;
}

static bool is_status(json_int_t number)
{
    return number >= 100 && number <= 599;
}

/* 200, or "200-204". */
static bool read_range(const json_t *field, takt_caller_status_range *range)
{
    const char *text = json_string_value(field);
    int length = 0;

    if (json_is_integer(field) && is_status(json_integer_value(field))) {
        range->from = range->to = (int)json_integer_value(field);
        return true;
    }
    return text && strspn(text, "0123456789-") == strlen(text) && strlen(text) == 7 &&
           sscanf(text, "%3d-%3d%n", &range->from, &range->to, &length) == 2 && length == 7 &&
           is_status(range->from) && is_status(range->to) && range->from <= range->to;
}

static int read_expect(const json_t *field, takt_caller_spec *spec, takt_error *error)
{
    size_t count = json_is_array(field) ? json_array_size(field) : 1;
    bool good = count >= 1 && count <= CALL_EXPECT_MAX;

    spec->expect_count = 0;
    if (!field) {
        spec->expect[spec->expect_count++] = (takt_caller_status_range){200, 299};
        return 0;
    }
    for (size_t i = 0; good && i < count; i++)
        good = read_range(json_is_array(field) ? json_array_get(field, i) : field,
                          &spec->expect[spec->expect_count++]);
    if (!good)
        return takt_caller_fail(error,
                                "expect: write a status, a range like \"200-204\", or a list of 1 "
                                "to %d of them",
                                CALL_EXPECT_MAX);
    return 0;
}

/* Adds a pointer: where the answer states the amount of a unit; NULL: of the one that is stated. */
static int read_from(const char *unit, const json_t *field, takt_caller_spec *spec,
                     takt_error *error)
{
    const char *pointer = json_string_value(field), *wrong;
    const char *dot = unit ? "." : "", *name = unit ? unit : "";

    if (!pointer)
        return takt_caller_fail(
            error, "settle%s%s: write a JSON pointer, like \"/usage/total_tokens\"%s", dot, name,
            unit ? "" : ", or one for each unit, like {\"tokens\": \"/usage\"}");
    wrong = takt_caller_pointer_check(pointer);
    if (wrong)
        return takt_caller_fail(error, "settle%s%s: %s", dot, name, wrong);
    spec->settle[spec->settle_count++] = (takt_caller_unit_pointer){unit, pointer};
    return 0;
}

static int read_settle(const json_t *field, takt_caller_spec *spec, takt_error *error)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    char shown[SHOWN_SIZE];
    const char *unit;
    json_t *pointer;
    int code = 0;

    if (!field)
        return 0;
    if (!json_is_object(field))
        return read_from(NULL, field, spec, error);
    if (json_object_size(field) == 0 || json_object_size(field) > TAKT_AMOUNTS_MAX)
        return takt_caller_fail(error,
                                "settle: name 1 to %d units, like {\"tokens\": "
                                "\"/usage/total_tokens\"}",
                                TAKT_AMOUNTS_MAX);
    json_object_foreach((json_t *)field, unit, pointer)
    {
        if (strspn(unit, allowed) != strlen(unit) || strcmp(unit, "requests") == 0 ||
            strlen(unit) > TAKT_UNIT_SIZE_MAX)
            return takt_caller_fail(error,
                                    "settle: %s is no unit that an answer states; write one that "
                                    "the limit counts, like \"tokens\"",
                                    show(unit, strlen(unit), shown));
        code = read_from(unit, pointer, spec, error);
        if (code != 0)
            break;
    }
    return code;
}

int takt_caller_spec_read(const json_t *fields, const takt_caller_allowed *allowed, bool checked,
                          takt_caller_spec *spec, takt_error *error)
{
    const json_t *url = field_of(fields, "url");
    takt_caller_origin to;
    int code;

    *spec =
        (takt_caller_spec){.headers = field_of(fields, "headers"), .url = json_string_value(url)};
    if ((code = read_method(field_of(fields, "method"), spec, error)) != 0 ||
        (!checked && (code = check_url(url, allowed->hosts, &to, error)) != 0) ||
        (spec->headers && !checked &&
         (code = check_headers(spec->headers, allowed, &to, error)) != 0) ||
        (code = read_body(fields, spec, error)) != 0 ||
        (code = read_timeout(field_of(fields, "timeout"), spec, error)) != 0 ||
        (code = read_expect(field_of(fields, "expect"), spec, error)) != 0 ||
        (code = read_settle(field_of(fields, "settle"), spec, error)) != 0)
        return code;
    return 0;
}

bool takt_caller_spec_expects(const takt_caller_spec *spec, long status)
{
    for (int i = 0; i < spec->expect_count; i++)
        if (status >= spec->expect[i].from && status <= spec->expect[i].to)
            return true;
    return false;
}

bool takt_caller_spec_is_idempotent(const takt_caller_spec *spec)
{
    return strcmp(spec->method, "POST") != 0 && strcmp(spec->method, "PATCH") != 0;
}

bool takt_caller_spec_has_header(const takt_caller_spec *spec, const char *name)
{
    const char *other;
    json_t *value;

    json_object_foreach((json_t *)spec->headers, other, value)
    {
        if (strcasecmp(other, name) == 0)
            return true;
    }
    return false;
}
