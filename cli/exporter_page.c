/*
 * exporter_page.c: see exporter.h. One row of the table below a metric family.
 */
#include <stdlib.h>

#include "exporter.h"
#include "kit/openmetrics.h"

#define SECOND  1e6
#define UNKNOWN 1000000000 /* a concurrency that the ledger does not tell */

/* Each gives one value of a row; false: it has none. */

static bool rate_of(const takt_cli_row *row, double *value)
{
    *value = row->rate;
    return row->rate >= 0;
}

static bool quota_of(const takt_cli_row *row, double *value)
{
    *value = row->quota_tokens > 0 ? (double)row->quota_tokens * SECOND / (double)row->quota_us : 0;
    return row->quota_tokens > 0;
}

static bool remaining_of(const takt_cli_row *row, double *value)
{
    *value = (double)row->standing.remaining;
    return true;
}

static bool waiting_of(const takt_cli_row *row, double *value)
{
    *value = (double)row->standing.waiting;
    return true;
}

static bool workers_of(const takt_cli_row *row, double *value)
{
    *value = (double)row->standing.workers;
    return true;
}

static bool held_of(const takt_cli_row *row, double *value)
{
    *value = (double)row->standing.held;
    return row->standing.concurrency > 0;
}

static bool permits_of(const takt_cli_row *row, double *value)
{
    *value = (double)row->standing.concurrency;
    return row->standing.concurrency > 0 && row->standing.concurrency < UNKNOWN;
}

static bool blocked_of(const takt_cli_row *row, double *value)
{
    int64_t left_us = row->standing.blocked_until_us - row->standing.now_us;

    *value = left_us > 0 ? (double)left_us / SECOND : 0;
    return true;
}

static bool percent_of(const takt_cli_row *row, double *value)
{
    *value = (double)row->standing.rate_percent;
    return true;
}

static bool backlog_of(const takt_cli_row *row, double *value)
{
    double quota;

    if (!quota_of(row, &quota) || row->standing.rate_percent <= 0)
        return false;
    *value = (double)row->standing.waiting * 100 / (quota * (double)row->standing.rate_percent);
    return true;
}

static const struct family {
    const char *name, *unit, *help;
    bool (*value)(const takt_cli_row *row, double *value);
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
};

static bool is_known(const takt_cli_row *row)
{
    return row->seen && row->status >= 0;
}

static void write_family(FILE *out, const struct family *family, const takt_cli_rows *rows)
{
    double value;

    takt_openmetrics_head(out, family->name, "gauge", family->unit, family->help);
    for (size_t i = 0; i < rows->count; i++) {
        const takt_cli_row *row = rows->all[i];
        if (!is_known(row) || !family->value(row, &value))
            continue;
        fprintf(out, "%s{", family->name);
        takt_openmetrics_label(out, "limit", row->target.limit);
        putc(',', out);
        takt_openmetrics_label(out, "key", row->target.key ? row->target.key : "");
        fprintf(out, "} %.15g\n", value);
    }
}

static void write_gauge(FILE *out, const char *name, const char *help, double value)
{
    takt_openmetrics_head(out, name, "gauge", NULL, help);
    fprintf(out, "%s %.15g\n", name, value);
}

/* Whether the store answered the last looks, and the last list. */
static bool is_up(const takt_cli_watch *watch)
{
    const takt_cli_rows *rows = &watch->rows;
    bool is_answered = rows->count == 0;

    if (watch->lister.code != 0 && watch->lister.code != TAKT_E_STORE_ACCESS)
        return false;
    for (size_t i = 0; i < rows->count; i++) {
        is_answered = is_answered || is_known(rows->all[i]);
        if (rows->all[i]->status < 0 && rows->all[i]->status != TAKT_E_NO_LIMIT)
            return false;
    }
    return is_answered;
}

char *takt_cli_exporter_text(const takt_cli_watch *watch, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);

    if (!out)
        return NULL;
    takt_openmetrics_head(out, "takt_exporter", "info", NULL, "Version of takt.");
    fputs("takt_exporter_info{", out);
    takt_openmetrics_label(out, "version", takt_version());
    fputs("} 1\n", out);
    write_gauge(out, "takt_up", "1: the store answers; otherwise 0.", is_up(watch));
    write_gauge(out, "takt_limits_left_out",
                "Limits and keys in use that are not among these, because they are too many.",
                (double)watch->lister.hidden);
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        write_family(out, &families[i], &watch->rows);
    fputs("# EOF\n", out);
    bool bad = ferror(out);
    if (fclose(out) != 0 || bad) {
        free(text);
        return NULL;
    }
    return text;
}
