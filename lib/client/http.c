/*
 * http.c: see takt/http.h.
 */
#include <takt/http.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "core/limit.h"
#include "policy/overrides.h"
#include "policy/policy.h"
#include "policy/unit_text.h"

#define SECOND_US INT64_C(1000000)

/* Where the next field is written.  `size` becomes 0 when there is too little room. */
typedef struct fields {
    char *at;
    size_t size;
} fields;

__attribute__((format(printf, 2, 3))) static void put(fields *out, const char *format, ...)
{
    va_list values;
    int n;

    va_start(values, format);
    n = vsnprintf(out->at, out->size, format, values);
    va_end(values);
    if (n < 0 || (size_t)n >= out->size) {
        out->size = 0;
        return;
    }
    out->at += n;
    out->size -= (size_t)n;
}

static int64_t seconds(int64_t us)
{
    return takt_ceil_div(us, SECOND_US);
}

/* Writes a quota, its unit where that has a name ("": the limit's default, or requests), and its
 * window if that is whole seconds. */
static void put_quota(fields *out, int64_t quota, const char *unit, int64_t period_us)
{
    put(out, ";q=%" PRId64, quota);
    if (unit[0])
        put(out, ";qu=\"%s\"", unit);
    if (period_us > 0 && period_us % SECOND_US == 0)
        put(out, ";w=%" PRId64, period_us / SECOND_US);
}

/* Whether the fields have one item; a limit of several rules also has one for each rule. */
static bool is_plain(const takt_limit *limit)
{
    return limit->numbers.rule_count == 1 && limit->numbers.concurrency == 0;
}

static void put_policy(fields *out, const takt_limit *limit, const takt_standing *standing)
{
    bool plain = is_plain(limit);

    put(out, "RateLimit-Policy: \"%s\"", limit->name);
    put_quota(out, plain ? limit->numbers.rules[0].limit : standing->limit, limit->unit,
              plain ? limit->numbers.rules[0].period_us : 0);
    for (int i = 0; !plain && i < limit->numbers.rule_count; i++) {
        const takt_rule *rule = &limit->numbers.rules[i];
        put(out, ", \"%s-%d\"", limit->name, i + 1);
        put_quota(out, rule->limit,
                  rule->unit == TAKT_UNIT_REQUESTS ? "" : takt_unit_name_in(limit, rule->unit),
                  rule->period_us);
    }
    if (limit->numbers.concurrency > 0)
        put(out, ", \"%s-permits\";q=%" PRId64 ";qu=\"concurrent-requests\"", limit->name,
            limit->numbers.concurrency);
    put(out, "\r\n");
}

/* The standing of a limit within another one may be that of the other. */
static void put_left(fields *out, const takt_limit *limit, const takt_standing *standing)
{
    bool told =
        !is_plain(limit) && !limit->within && standing->rule_count == limit->numbers.rule_count;

    put(out, "RateLimit: \"%s\";r=%" PRId64 ";t=%" PRId64, limit->name, standing->remaining,
        seconds(standing->reset_after_us));
    for (int i = 0; told && i < standing->rule_count; i++)
        put(out, ", \"%s-%d\";r=%" PRId64 ";t=%" PRId64, limit->name, i + 1,
            standing->rules[i].remaining, seconds(standing->rules[i].reset_after_us));
    put(out, "\r\n");
}

static void put_reset(fields *out, const takt_standing *standing, takt_http_reset reset)
{
    time_t at_s = (time_t)seconds(standing->now_us + standing->reset_after_us);
    char instant[40];
    struct tm at;

    if (reset == TAKT_HTTP_RESET_UNIX_TIME)
        put(out, "X-RateLimit-Reset: %lld\r\n", (long long)at_s);
    else if (reset == TAKT_HTTP_RESET_RFC3339 && gmtime_r(&at_s, &at) &&
             strftime(instant, sizeof instant, "%Y-%m-%dT%H:%M:%SZ", &at) > 0)
        put(out, "X-RateLimit-Reset: %s\r\n", instant);
    else
        put(out, "X-RateLimit-Reset: %" PRId64 "\r\n", seconds(standing->reset_after_us));
}

int takt_http_fields(const takt_policy *policy, const char *limit, const char *key, int status,
                     const takt_standing *standing, takt_http_reset reset, char *text, size_t size)
{
    const takt_limit *found = policy && limit ? takt_policy_find(policy, limit) : NULL;
    fields out = {text, size};

    if (!text || size == 0)
        return TAKT_E_INVALID;
    text[0] = '\0';
    if (!found)
        return TAKT_E_NO_LIMIT;
    if (!standing)
        return TAKT_E_INVALID;
    if (status == TAKT_E_NO_SLOT && standing->retry_after_us != TAKT_NEVER)
        put(&out, "Retry-After: %" PRId64 "\r\n", seconds(standing->retry_after_us));
    put(&out, "X-RateLimit-Limit: %" PRId64 "\r\n", standing->limit);
    put(&out, "X-RateLimit-Remaining: %" PRId64 "\r\n", standing->remaining);
    put_reset(&out, standing, reset);
    found = takt_overrides_for(found, key ? key : "");
    put_policy(&out, found, standing);
    put_left(&out, found, standing);
    if (out.size == 0) {
        text[0] = '\0';
        return TAKT_E_INVALID;
    }
    return (int)(out.at - text);
}
