/*
 * result.c: the result of a call, one line of the results file.
 */
#include <string.h>

#include "call.h"

static json_t *kept_headers(const takt_caller_call *call, const takt_caller_options *options)
{
    if (options->kept_count == 0)
        return json_incref(call->answer.headers);
    json_t *kept = json_object();
    for (int i = 0; i < options->kept_count; i++) {
        json_t *value = json_object_get(call->answer.headers, options->kept[i]);
        if (value)
            json_object_set_nocheck(kept, options->kept[i], value);
    }
    return kept;
}

static bool add(json_t *result, const char *name, json_t *value)
{
    return json_object_set_new_nocheck(result, name, value) == 0;
}

json_t *takt_caller_result(const takt_caller_call *call, const takt_caller_options *options,
                           long status, unsigned attempt)
{
    int64_t took_us = (int64_t)(uv_hrtime() - call->began_ns) / 1000;
    json_t *result = json_object();

    if (add(result, "status", json_integer(status)) &&
        add(result, "took_s", json_real((double)took_us / 1e6)) &&
        add(result, "attempt", json_integer(attempt)) &&
        (!options->with_headers || add(result, "headers", kept_headers(call, options))) &&
        (!options->with_body || add(result, "body", takt_caller_answer_body(&call->answer))))
        return result;
    json_decref(result);
    return NULL;
}

json_t *takt_caller_result_dry(const takt_caller_call *call)
{
    const takt_caller_spec *spec = &call->spec;
    const char *body = call->json ? call->json : spec->body;
    size_t size = call->json ? strlen(call->json) : spec->body_size;
    json_t *result = json_object();

    if (add(result, "reply", json_string("dry run")) &&
        add(result, "method", json_string(call->method)) &&
        add(result, "url", json_string(spec->url)) &&
        add(result, "body_bytes", json_integer(body ? (json_int_t)size : 0)))
        return result;
    json_decref(result);
    return NULL;
}
