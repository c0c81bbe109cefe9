/*
 * request.c: builds the libcurl request of a job.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "fail.h"

#define HEADER_SIZE_MAX (128 * 1024)

/* The header lines are overwritten, since they may contain secrets. */
void takt_caller_forget_headers(takt_caller_call *call)
{
    for (struct curl_slist *at = call->headers; at; at = at->next)
        explicit_bzero(at->data, strlen(at->data));
    curl_slist_free_all(call->headers);
    call->headers = NULL;
}

static int add_line(takt_caller_call *call, const char *line, takt_error *error)
{
    struct curl_slist *longer = curl_slist_append(call->headers, line);

    if (!longer)
        return takt_caller_fail(error, "no memory");
    call->headers = longer;
    return 0;
}

/* "Name: value"; libcurl wants "Name;" for an empty value. */
static int add_header(takt_caller_call *call, const char *name, const char *value,
                      takt_error *error)
{
    size_t size = strlen(name) + strlen(value) + 3;
    char *line = size <= HEADER_SIZE_MAX ? malloc(size) : NULL;

    if (!line)
        return takt_caller_fail(error, "no memory");
    stpcpy(stpcpy(stpcpy(line, name), *value ? ": " : ";"), value);
    int code = add_line(call, line, error);
    takt_caller_secrets_wipe(line);
    return code;
}

/* After a redirect only the first host gets secrets, and only if they are allowed there: the port
 * may differ. */
static bool may_have_secret(const takt_caller_call *call, const takt_caller_allowed *allowed,
                            const char *value)
{
    takt_caller_origin to;
    takt_error ignored = {0};

    return !call->is_abroad && takt_caller_origin_of(call->url, &to) &&
           takt_caller_secrets_check(allowed, &to, value, &ignored) == 0;
}

static int add_field(takt_caller_call *call, const takt_caller_allowed *allowed, const char *name,
                     const json_t *value, takt_error *error)
{
    if (call->url && takt_caller_secrets_is_named(json_string_value(value)) &&
        !may_have_secret(call, allowed, json_string_value(value)))
        return 0;
    char *filled = takt_caller_secrets_fill(json_string_value(value), &call->secrets, error);

    if (!filled)
        return error->text[0] ? takt_caller_fail_in(error, "headers.%s: ", name)
                              : takt_caller_fail(error, "no memory");
    int code = add_header(call, name, filled, error);
    takt_caller_secrets_wipe(filled);
    return code;
}

static int add_all(takt_caller_call *call, const takt_caller_allowed *allowed, takt_error *error)
{
    const char *name;
    json_t *value;
    int code = 0;

    json_object_foreach((json_t *)call->spec.headers, name, value)
    {
        if ((call->is_abroad && !takt_caller_redirect_is_for_all(name)) ||
            (call->without_body && strncasecmp(name, "content-", 8) == 0))
            continue;
        if (!json_is_array(value))
            code = add_field(call, allowed, name, value, error);
        for (size_t i = 0; code == 0 && i < json_array_size(value); i++)
            code = add_field(call, allowed, name, json_array_get(value, i), error);
        if (code != 0)
            return code;
    }
    return 0;
}

/* Adds headers that a job does not give, and removes those that libcurl would add to a body. */
static int add_ours(takt_caller_call *call, takt_error *error)
{
    const takt_caller_spec *spec = &call->spec;
    bool has_body = (spec->body || spec->json) && !call->without_body;
    int code = 0;

    if (!takt_caller_spec_has_header(spec, "user-agent"))
        curl_easy_setopt(call->handle, CURLOPT_USERAGENT, "takt-call");
    if (has_body || strcmp(call->method, "POST") == 0)
        code = add_line(call, "Expect:", error);
    if (code == 0 && spec->json && has_body && !takt_caller_spec_has_header(spec, "content-type"))
        code = add_header(call, "Content-Type", "application/json", error);
    else if (code == 0 && !takt_caller_spec_has_header(spec, "content-type") && call->headers)
        code = add_line(call, "Content-Type:", error);
    if (code == 0 && !takt_caller_spec_is_idempotent(spec) && !call->is_abroad &&
        !takt_caller_spec_has_header(spec, "idempotency-key"))
        code = add_header(call, "Idempotency-Key", takt_job_head_of(call->job)->idempotency_key,
                          error);
    return code;
}

/* libcurl reads the body without a copy. */
static int set_body(takt_caller_call *call, takt_error *error)
{
    const takt_caller_spec *spec = &call->spec;
    const char *body = spec->body;
    size_t size = spec->body_size;

    if (spec->json && !call->json)
        call->json = json_dumps(spec->json, JSON_COMPACT | JSON_ENCODE_ANY);
    if (spec->json && !call->json)
        return takt_caller_fail(error, "no memory");
    if (spec->json) {
        body = call->json;
        size = strlen(body);
    }
    if (call->without_body)
        body = NULL;
    if (!body && strcmp(call->method, "POST") == 0)
        body = "";
    if (body) {
        curl_easy_setopt(call->handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
        curl_easy_setopt(call->handle, CURLOPT_POSTFIELDS, body);
    }
    return 0;
}

static void set_method(const takt_caller_call *call)
{
    if (strcmp(call->method, "HEAD") == 0)
        curl_easy_setopt(call->handle, CURLOPT_NOBODY, 1L);
    else
        curl_easy_setopt(call->handle, CURLOPT_CUSTOMREQUEST, call->method);
}

static const char *url_of(const takt_caller_call *call)
{
    return call->url ? call->url : call->spec.url;
}

/* A listed host may have any address. A proxy resolves names itself, and this address is the
 * proxy's. */
static bool allows_address(const struct sockaddr *address, void *data)
{
    takt_caller_call *call = data;
    takt_caller_origin to;
    bool is_known = takt_caller_origin_of(url_of(call), &to);

    if (is_known &&
        (takt_caller_origin_is_proxied(&to) ||
         takt_caller_hosts_judge(call->hosts, to.host, to.port) == TAKT_CALLER_HOSTS_LISTED ||
         takt_caller_hosts_allow(call->hosts, address))) {
        call->is_open = true;
        return true;
    }
    call->is_private = true;
    return false;
}

static void set_bounds(const takt_caller_call *call, const takt_caller_options *options)
{
    int64_t timeout_us = call->spec.timeout_us ? call->spec.timeout_us : options->timeout_us;
    int64_t left_us = timeout_us - (int64_t)(call->sent_ns - call->began_ns) / 1000;

    curl_easy_setopt(call->handle, CURLOPT_TIMEOUT_MS, (long)(left_us > 1000 ? left_us / 1000 : 1));
    curl_easy_setopt(call->handle, CURLOPT_CONNECTTIMEOUT_MS, (long)(options->connect_us / 1000));
    curl_easy_setopt(call->handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(call->handle, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    if (options->ca)
        curl_easy_setopt(call->handle, CURLOPT_CAINFO, options->ca);
}

int takt_caller_prepare(takt_caller_call *call, const takt_caller_options *options,
                        takt_error *error)
{
    int code;

    takt_caller_forget_headers(call);
    if ((code = add_all(call, &options->allowed, error)) != 0 ||
        (code = add_ours(call, error)) != 0 || (code = set_body(call, error)) != 0)
        return code;
    call->sent_ns = uv_hrtime();
    curl_easy_setopt(call->handle, CURLOPT_URL, url_of(call));
    curl_easy_setopt(call->handle, CURLOPT_HTTPHEADER, call->headers);
    set_method(call);
    set_bounds(call, options);
    call->hosts = options->allowed.hosts;
    call->is_private = call->is_open = false;
    takt_transfers_ask(call->handle, allows_address, call);
    takt_caller_answer_await(&call->answer, call->handle);
    return 0;
}
