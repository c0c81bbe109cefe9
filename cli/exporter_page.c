/*
 * exporter_page.c: see exporter.h.
 */
#include <stdlib.h>

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
    fputs("# EOF\n", out);
    bool bad = ferror(out);
    if (fclose(out) != 0 || bad) {
        free(text);
        return NULL;
    }
    return text;
}
