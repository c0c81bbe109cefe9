/*
 * Words for people: how messages begin, how foreign text is shown, how times are written, what a
 * misspelt word may have meant.  What is said, and when, is left to the commands.
 */
#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#define SHOWN_MAX 64 /* bytes of the text itself */
#define LONGEST   64 /* longer names resemble nothing */

static const char *name_of_program = "takt";

void takt_cli_set_name(const char *name)
{
    name_of_program = name;
}

const char *takt_cli_name(void)
{
    return name_of_program;
}

void takt_cli_say(const char *format, ...)
{
    char text[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", name_of_program, text);
}

const char *takt_cli_shown(const char *text, size_t size, char shown[TAKT_CLI_SHOWN_SIZE])
{
    char *at = shown;
    size_t count = size < SHOWN_MAX ? size : SHOWN_MAX;

    *at++ = '"';
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c >= 0x7f)
            at += sprintf(at, "\\x%02x", c);
        else
            *at++ = (char)c;
    }
    strcpy(at, count < size ? "...\"" : "\"");
    return shown;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters must be put in, left out, changed or swapped with their neighbour. */
static size_t slips_between(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];

    for (size_t j = 0; j <= b_size; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            row[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]), least(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b_size];
}

int takt_cli_resembles(const char *name, const char *other)
{
    size_t size = strlen(name), other_size = strlen(other);

    if (size > LONGEST || other_size > LONGEST)
        return 0;
    return slips_between(name, size, other, other_size) <= (size > 4 ? 2u : 1u);
}

/* "3 min 20 s", or "3 min" */
static void write_units(char *text, long long count, const char *unit, long long rest,
                        const char *rest_unit)
{
    int used = snprintf(text, TAKT_CLI_TIME_SIZE, "%lld %s", count, unit);
    if (rest > 0)
        snprintf(text + used, TAKT_CLI_TIME_SIZE - (size_t)used, " %lld %s", rest, rest_unit);
}

const char *takt_cli_span(int64_t span_us, char text[TAKT_CLI_TIME_SIZE])
{
    long long us = span_us, s = us / 1000000, min = s / 60, h = min / 60;

    if (us <= 0)
        strcpy(text, "0");
    else if (us < 1000)
        snprintf(text, TAKT_CLI_TIME_SIZE, "%lld us", us);
    else if (us < 1000000)
        snprintf(text, TAKT_CLI_TIME_SIZE, "%lld ms", us / 1000);
    else if (s < 60)
        snprintf(text, TAKT_CLI_TIME_SIZE, "%lld.%lld s", s, us / 100000 % 10);
    else if (min < 60)
        write_units(text, min, "min", s % 60, "s");
    else if (h < 48)
        write_units(text, h, "h", min % 60, "min");
    else
        write_units(text, h / 24, "days", h % 24, "h");
    return text;
}

const char *takt_cli_moment(int64_t at_us, char text[TAKT_CLI_TIME_SIZE])
{
    time_t at = (time_t)(at_us / 1000000), now = time(NULL);
    struct tm then, today;

    if (!localtime_r(&at, &then) || !localtime_r(&now, &today)) {
        strcpy(text, "?");
        return text;
    }
    bool same_day = then.tm_year == today.tm_year && then.tm_yday == today.tm_yday;
    strftime(text, TAKT_CLI_TIME_SIZE, same_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &then);
    return text;
}

int64_t takt_cli_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int takt_cli_end_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    takt_cli_say("cannot write to standard output: %s", strerror(errno));
    return EX_IOERR;
}
