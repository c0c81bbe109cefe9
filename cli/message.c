/*
 * How messages begin, and how moments are written.  What is said, and when, is left to the
 * commands.
 */
#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

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

int takt_cli_end_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    takt_cli_say("cannot write to standard output: %s", strerror(errno));
    return EX_IOERR;
}
