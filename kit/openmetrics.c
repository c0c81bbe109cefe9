/*
 * openmetrics.c: see openmetrics.h.
 */
#include "kit/openmetrics.h"

#include <inttypes.h>

#define SECOND_US 1000000

void takt_openmetrics_head(FILE *out, const char *name, const char *type, const char *unit,
                           const char *help)
{
    fprintf(out, "# TYPE %s %s\n", name, type);
    if (unit)
        fprintf(out, "# UNIT %s %s\n", name, unit);
    fprintf(out, "# HELP %s %s\n", name, help);
}

void takt_openmetrics_label(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s=\"", name);
    for (; *value; value++) {
        if (*value == '\n')
            fputs("\\n", out);
        else if (*value == '"' || *value == '\\')
            fprintf(out, "\\%c", *value);
        else
            putc(*value, out);
    }
    putc('"', out);
}

void takt_openmetrics_seconds(FILE *out, int64_t value_us)
{
    fprintf(out, "%" PRId64 ".%06d", value_us / SECOND_US, (int)(value_us % SECOND_US));
}
