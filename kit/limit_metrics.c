/*
 * limit_metrics.c: see limit_metrics.h. One row of the table below a metric family.
 */
#include "kit/limit_metrics.h"

#include "kit/openmetrics.h"

#define SECOND  1e6
#define UNKNOWN 1000000000 /* a concurrency that the ledger does not tell */

/* Each gives one value; false: there is none. */

static bool rate_of(const takt_limit_facts *facts, double *value)
{
    *value = facts->rate;
    return facts->rate >= 0;
}

static bool quota_of(const takt_limit_facts *facts, double *value)
{
    *value = facts->quota_tokens > 0
                 ? (double)facts->quota_tokens * SECOND / (double)facts->quota_us
                 : 0;
    return facts->quota_tokens > 0;
}

static bool remaining_of(const takt_limit_facts *facts, double *value)
{
    *value = (double)facts->standing->remaining;
    return true;
}

static bool waiting_of(const takt_limit_facts *facts, double *value)
{
    *value = (double)facts->standing->waiting;
    return true;
}

static bool workers_of(const takt_limit_facts *facts, double *value)
{
    *value = (double)facts->standing->workers;
    return true;
}

static bool held_of(const takt_limit_facts *facts, double *value)
{
    *value = (double)facts->standing->held;
    return facts->standing->concurrency > 0;
}

static bool permits_of(const takt_limit_facts *facts, double *value)
{
    *value = (double)facts->standing->concurrency;
    return facts->standing->concurrency > 0 && facts->standing->concurrency < UNKNOWN;
}

static bool blocked_of(const takt_limit_facts *facts, double *value)
{
    int64_t left_us = facts->standing->blocked_until_us - facts->standing->now_us;

    *value = left_us > 0 ? (double)left_us / SECOND : 0;
    return true;
}

static bool percent_of(const takt_limit_facts *facts, double *value)
{
    *value = (double)facts->standing->rate_percent;
    return true;
}

static bool backlog_of(const takt_limit_facts *facts, double *value)
{
    double quota;

    if (!quota_of(facts, &quota) || facts->standing->rate_percent <= 0)
        return false;
    *value =
        (double)facts->standing->waiting * 100 / (quota * (double)facts->standing->rate_percent);
    return true;
}

static bool help_of(const takt_limit_facts *facts, double *value)
{
    *value = facts->standing->waiting == 0 &&
             facts->standing->blocked_until_us <= facts->standing->now_us;
    return true;
}

static const struct family {
    const char *name, *unit, *help;
    bool (*value)(const takt_limit_facts *facts, double *value);
} families[] = {
    {"takt_limit_rate", NULL, "Tokens a second that the fleet takes at present.", rate_of},
    {"takt_limit_quota", NULL, "Tokens a second that the first rule allows.", quota_of},
    {"takt_limit_remaining", NULL, "Tokens that could be taken now.", remaining_of},
    {"takt_limit_waiting", NULL, "Jobs of the fleet that wait.", waiting_of},
    {"takt_limit_workers", NULL, "Workers in which jobs wait.", workers_of},
    {"takt_limit_held", NULL, "Permits that are held.", held_of},
    {"takt_limit_permits", NULL, "Permits that can be held at once.", permits_of},
    {"takt_limit_blocked_seconds", "seconds", "How long nothing starts; 0: not blocked.",
     blocked_of},
    {"takt_limit_rate_percent", NULL, "Part of the first rule's rate that penalties leave.",
     percent_of},
    {"takt_limit_backlog_seconds", "seconds",
     "How long the waiting jobs take at the quota, at one token each.", backlog_of},
    {"takt_more_workers_help", NULL,
     "0: jobs wait for the quota, or it is blocked, so that more workers would only wait too; else "
     "1.",
     help_of},
};

void takt_limit_metrics_write(FILE *out, size_t count,
                              bool (*facts)(const void *data, size_t index,
                                            takt_limit_facts *facts),
                              const void *data)
{
    takt_limit_facts at;
    double value;

    for (size_t family = 0; family < sizeof(families) / sizeof(families[0]); family++) {
        takt_openmetrics_head(out, families[family].name, "gauge", families[family].unit,
                              families[family].help);
        for (size_t i = 0; i < count; i++) {
            if (!facts(data, i, &at) || !families[family].value(&at, &value))
                continue;
            fprintf(out, "%s{", families[family].name);
            takt_openmetrics_label(out, "limit", at.limit);
            putc(',', out);
            takt_openmetrics_label(out, "key", at.key ? at.key : "");
            fprintf(out, "} %.15g\n", value);
        }
    }
}
