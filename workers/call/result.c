/*
 * result.c: what a call gave, as a line of the results has it.
 */
#include "call.h"

static void put_headers(const call *call, const call_options *options, json_text *line)
{
    json_t *kept = NULL;

    for (int i = 0; i < options->kept_count; i++) {
        json_t *value = json_object_get(call->answer.headers, options->kept[i]);
        kept = kept ? kept : json_object();
        if (value)
            json_object_set(kept, options->kept[i], value);
    }
    json_put(line, options->kept_count > 0 ? kept : call->answer.headers);
    json_decref(kept);
}

void call_put_result(const call *call, const call_options *options, long status, unsigned attempt,
                     json_text *line)
{
    json_put_name(line, "status");
    json_put_integer(line, status);
    json_put_name(line, "took_s");
    json_put_millionths(line, (int64_t)(uv_hrtime() - call->began_ns) / 1000);
    json_put_name(line, "attempt");
    json_put_integer(line, attempt);
    if (options->with_headers) {
        json_put_name(line, "headers");
        put_headers(call, options, line);
    }
    if (options->with_body) {
        json_put_name(line, "body");
        answer_put_body(&call->answer, line);
    }
}
