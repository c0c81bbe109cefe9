/*
 * message.c: see message.h.
 */
#include "kit/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

static const char *program = "takt";

void takt_message_set_name(const char *name)
{
    program = name;
}

const char *takt_message_name(void)
{
    return program;
}

void takt_message(const char *format, ...)
{
    char text[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", program, text);
}

int takt_message_end_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    takt_message("cannot write to standard output: %s", strerror(errno));
    return EX_IOERR;
}
