/*
 * status_page.c: see status_page.h.
 */
#include "status_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/openmetrics.h"
#include "kit/status_http.h"
#include "metrics.h"

/* One line of text. */
static char *text_of_readiness(const takt_figures *figures)
{
    const takt_report_trouble *trouble = takt_figures_first_trouble(figures);
    char *text = NULL;
    int size;

    if (figures->phase != TAKT_REPORT_WORKING)
        size = asprintf(&text, "not ready: %s\n",
                        figures->phase == TAKT_REPORT_STARTING ? "starting" : "draining");
    else if (trouble)
        size = asprintf(&text, "not ready: %s: %s\n", trouble->who, trouble->text);
    else
        size = asprintf(&text, "ready\n");
    return size < 0 ? NULL : text;
}

static char *text_of_refusal(int code)
{
    char *text;

    return asprintf(&text, "%d %s: ask GET or HEAD of /live, /ready or /metrics\n", code,
                    takt_status_http_reason(code)) < 0
               ? NULL
               : text;
}

char *takt_status_page(const takt_figures *figures, const char *path, int *code, size_t *size,
                       const char **type)
{
    char *text;

    *type = "text/plain; charset=utf-8";
    if (*code == 200 && strcmp(path, "/metrics") == 0) {
        *type = TAKT_OPENMETRICS_TYPE;
        return takt_metrics_text(figures, size);
    }
    if (*code == 200 && strcmp(path, "/live") == 0) {
        text = strdup("live\n");
    } else if (*code == 200 && strcmp(path, "/ready") == 0) {
        text = text_of_readiness(figures);
        *code = takt_figures_is_ready(figures) ? 200 : 503;
    } else {
        *code = *code == 200 ? 404 : *code;
        text = text_of_refusal(*code);
    }
    *size = text ? strlen(text) : 0;
    return text;
}
