/*
 * status_page.c: see status_page.h.
 */
#include "kit/status_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/openmetrics.h"
#include "kit/status_http.h"

static char *text_of_readiness(const char *trouble)
{
    char *text;
    int size = trouble ? asprintf(&text, "not ready: %s\n", trouble) : asprintf(&text, "ready\n");

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

char *takt_status_page(const char *path, const char *trouble,
                       char *(*metrics)(void *data, size_t *size), void *data, int *code,
                       size_t *size, const char **type)
{
    char *text;

    *type = "text/plain; charset=utf-8";
    if (*code == 200 && strcmp(path, "/metrics") == 0) {
        *type = TAKT_OPENMETRICS_TYPE;
        return metrics(data, size);
    }
    if (*code == 200 && strcmp(path, "/live") == 0) {
        text = strdup("live\n");
    } else if (*code == 200 && strcmp(path, "/ready") == 0) {
        text = text_of_readiness(trouble);
        *code = trouble ? 503 : 200;
    } else {
        *code = *code == 200 ? 404 : *code;
        text = text_of_refusal(*code);
    }
    *size = text ? strlen(text) : 0;
    return text;
}
