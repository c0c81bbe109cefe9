/*
 * result.c: what a call gave, as a line of the results has it.
 */
#include "call.h"

static json_t *kept_headers(const call *call, const call_options *options)
{
    json_t *kept;

    if (options->kept_count == 0)
        return json_incref(call->answer.headers);
    kept = json_object();
    for (int i = 0; i < options->kept_count; i++) {
        json_t *value = json_object_get(call->answer.headers, options->kept[i]);
        if (value)
            json_object_set(kept, options->kept[i], value);
    }
    return kept;
}

json_t *call_result(const call *call, const call_options *options, long status, unsigned attempt)
{
    uint64_t took_us = (uv_hrtime() - call->began_ns) / 1000;
    json_t *result = json_object();

    json_object_set_new_nocheck(result, "status", json_integer(status));
    json_object_set_new_nocheck(result, "took_s", json_real((double)took_us / 1e6));
    json_object_set_new_nocheck(result, "attempt", json_integer(attempt));
    if (options->with_headers)
        json_object_set_new_nocheck(result, "headers", kept_headers(call, options));
    if (options->with_body)
        json_object_set_new_nocheck(result, "body", answer_body(&call->answer));
    return result;
}
