/*
 * openmetrics.c: see openmetrics.h.
 */
#include "kit/openmetrics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
        count = takt_text_decode(value, left, &character);
        if (count == 0) {
            fprintf(out, TAKT_STRAY_BYTE, (unsigned char)*value);
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

void takt_openmetrics_number(FILE *out, const char *name, bool is_counter, const char *help,
                             uint64_t number)
{
    takt_openmetrics_head(out, name, is_counter ? "counter" : "gauge", NULL, help);
    fprintf(out, "%s%s %" PRIu64 "\n", name, is_counter ? "_total" : "", number);
}

void takt_openmetrics_client(FILE *out, const takt_stats *acts)
{
    takt_openmetrics_number(out, "takt_acquires", true, "Permits requested.",
                            (uint64_t)acts->acquires);
    takt_openmetrics_number(out, "takt_grants", true, "Permits granted.", (uint64_t)acts->grants);
    takt_openmetrics_number(out, "takt_store_calls", true, "Calls sent to the store.",
                            (uint64_t)acts->store_calls);
    takt_openmetrics_head(out, "takt_store_call_seconds", "summary", "seconds",
                          "Duration of the calls that the store answered.");
    fprintf(out, "takt_store_call_seconds_count %" PRId64 "\ntakt_store_call_seconds_sum ",
            acts->store_answers);
    takt_openmetrics_seconds(out, acts->store_us);
    putc('\n', out);
}

static int write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t count = write(fd, text, size);
        if (count < 0 && errno != EINTR)
            return errno;
        if (count > 0) {
            text += count;
            size -= (size_t)count;
        }
    }
    return 0;
}

int takt_openmetrics_write_file(const char *path, const char *text, size_t size)
{
    char *fresh;

    if (asprintf(&fresh, "%s.%ld.new", path, (long)getpid()) < 0)
        return ENOMEM;
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    int failed = fd < 0 ? errno : write_all(fd, text, size);
    if (fd >= 0 && close(fd) != 0 && !failed)
        failed = errno;
    if (!failed && rename(fresh, path) != 0)
        failed = errno;
    if (failed && fd >= 0)
        unlink(fresh);
    free(fresh);
    return failed;
}
