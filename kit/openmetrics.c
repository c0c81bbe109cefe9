/*
 * openmetrics.c: see openmetrics.h.
 */
#include "kit/openmetrics.h"

#include <inttypes.h>
#include <string.h>

#include "kit/text.h"

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
    size_t left = strlen(value), count;
    uint32_t character;

    fprintf(out, "%s=\"", name);
    for (; left > 0; value += count, left -= count) {
        count = takt_utf8_decode(value, left, &character);
        if (count == 0) {
            fprintf(out, "\\\\x%02x", (unsigned char)*value);
            count = 1;
        } else if (*value == '\n') {
            fputs("\\n", out);
        } else if (*value == '"' || *value == '\\') {
            fprintf(out, "\\%c", *value);
        } else {
            fwrite(value, 1, count, out);
        }
    }
    putc('"', out);
}

void takt_openmetrics_seconds(FILE *out, int64_t value_us)
{
    fprintf(out, "%" PRId64 ".%06d", value_us / SECOND_US, (int)(value_us % SECOND_US));
}
