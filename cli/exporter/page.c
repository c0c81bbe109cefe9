/*
 * page.c: see exporter.h.
 */
#include <stdlib.h>
#include <string.h>

#include "common/standing.h"
#include "exporter.h"
#include "kit/limit_metrics.h"
#include "kit/openmetrics.h"

static bool is_known(const takt_cli_row *row)
{
    return row->seen && row->status >= 0;
}

static bool facts_of(const void *data, size_t index, takt_limit_facts *facts)
{
    const takt_cli_rows *rows = data;
    const takt_cli_row *row = rows->all[index];

    *facts = (takt_limit_facts){row->target.limit, row->target.key,   &row->standing,
                                row->rate,         row->quota_tokens, row->quota_us};
    return is_known(row);
}

static void write_gauge(FILE *out, const char *name, const char *help, double value)
{
    takt_openmetrics_head(out, name, "gauge", NULL, help);
    fprintf(out, "%s %.15g\n", name, value);
}

static void write_labels(FILE *out, const char *name, const takt_cli_row *row)
{
    fprintf(out, "%s{", name);
    takt_openmetrics_label(out, "limit", row->target.limit);
    putc(',', out);
    takt_openmetrics_label(out, "key", row->target.key ? row->target.key : "");
}

/* ---- rules ----------------------------------------------------------------------------------- */

static double left_of(const takt_rule_standing *rule)
{
    return (double)rule->remaining;
}

static double most_of(const takt_rule_standing *rule)
{
    return (double)rule->limit;
}

static double reset_of(const takt_rule_standing *rule)
{
    return (double)rule->reset_after_us / 1e6;
}

static const struct rule_family {
    const char *name, *unit, *help;
    double (*value)(const takt_rule_standing *rule);
} rule_families[] = {
    {"takt_rule_remaining", NULL, "What the rule could give now, of its unit.", left_of},
    {"takt_rule_limit", NULL, "What the rule can give at one instant, of its unit.", most_of},
    {"takt_rule_reset_seconds", "seconds", "Until the rule is as if unused.", reset_of},
};

/* Of limits with several rules, or with one that counts something else than tokens. */
static bool has_rules(const takt_standing *standing)
{
    return standing->rule_count > 1 ||
           (standing->rule_count == 1 && strcmp(standing->rules[0].unit, "tokens") != 0);
}

static void write_rule_family(FILE *out, const takt_cli_rows *rows,
                              const struct rule_family *family)
{
    takt_openmetrics_head(out, family->name, "gauge", family->unit, family->help);
    for (size_t i = 0; i < rows->count; i++) {
        const takt_standing *standing = &rows->all[i]->standing;
        if (!is_known(rows->all[i]) || !has_rules(standing))
            continue;
        for (int at = 0; at < standing->rule_count; at++) {
            write_labels(out, family->name, rows->all[i]);
            fprintf(out, ",rule=\"%d\",", at + 1);
            takt_openmetrics_label(out, "unit", standing->rules[at].unit);
            fprintf(out, "} %.15g\n", family->value(&standing->rules[at]));
        }
    }
}

static void write_rules(FILE *out, const takt_cli_rows *rows)
{
    for (size_t i = 0; i < sizeof(rule_families) / sizeof(rule_families[0]); i++)
        write_rule_family(out, rows, &rule_families[i]);
}

/* ---- tenants --------------------------------------------------------------------------------- */

/* Labels of which there are too many slow a Prometheus down: of each limit and key only the tenants
 * with the most waiting jobs have samples. */
#define TENANTS_MAX 32

static double waiting_of(const takt_standing *standing, int tenant)
{
    return (double)standing->tenants[tenant].waiting;
}

static double wait_of(const takt_standing *standing, int tenant)
{
    return (double)takt_cli_standing_wait(standing, tenant) / 1e6;
}

static const struct family {
    const char *name, *unit, *help;
    double (*value)(const takt_standing *standing, int tenant);
} families[] = {
    {"takt_tenant_waiting", NULL, "Jobs of the tenant that wait.", waiting_of},
    {"takt_tenant_share", NULL, "Part of the slots that the tenant gets, 0 to 1.",
     takt_cli_standing_share},
    {"takt_tenant_oldest_wait_seconds", "seconds", "How long the tenant has had waiting jobs.",
     wait_of},
};

/* Whether at least TENANTS_MAX others have more waiting jobs. */
static bool is_left_out(const takt_standing *standing, int tenant)
{
    int before = 0;

    for (int i = 0; i < standing->tenant_count && before < TENANTS_MAX; i++)
        before += standing->tenants[i].waiting > standing->tenants[tenant].waiting ||
                  (standing->tenants[i].waiting == standing->tenants[tenant].waiting && i < tenant);
    return before == TENANTS_MAX;
}

static void write_family(FILE *out, const takt_cli_rows *rows, const struct family *family)
{
    takt_openmetrics_head(out, family->name, "gauge", family->unit, family->help);
    for (size_t i = 0; i < rows->count; i++) {
        const takt_standing *standing = &rows->all[i]->standing;
        for (int at = 0; is_known(rows->all[i]) && at < standing->tenant_count; at++) {
            if (is_left_out(standing, at))
                continue;
            write_labels(out, family->name, rows->all[i]);
            putc(',', out);
            takt_openmetrics_label(out, "tenant", standing->tenants[at].name);
            fprintf(out, "} %.15g\n", family->value(standing, at));
        }
    }
}

static void write_tenants(FILE *out, const takt_cli_rows *rows)
{
    takt_openmetrics_head(out, "takt_limit_tenants", "gauge", NULL,
                          "Tenants that have waiting jobs.");
    for (size_t i = 0; i < rows->count; i++) {
        if (!is_known(rows->all[i]) || !rows->all[i]->standing.tenants)
            continue;
        write_labels(out, "takt_limit_tenants", rows->all[i]);
        fprintf(out, "} %d\n", rows->all[i]->standing.tenant_count);
    }
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        write_family(out, rows, &families[i]);
}

/* ---- the page -------------------------------------------------------------------------------- */

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
    takt_limit_metrics_write(out, watch->rows.count, facts_of, &watch->rows);
    write_rules(out, &watch->rows);
    write_tenants(out, &watch->rows);
    fputs("# EOF\n", out);
    bool bad = ferror(out);
    if (fclose(out) != 0 || bad) {
        free(text);
        return NULL;
    }
    return text;
}
