/*
 * say.c: what a worker says that is no event of its jobs: to its report, and where there is none to
 * standard error.
 */
#include <stdarg.h>
#include <stdio.h>

#include "kit/message.h"
#include "worker.h"

static takt_report *listener; /* one for all: whoever speaks has no worker at hand */

void takt_worker_say_to(takt_report *report)
{
    listener = report;
}

void takt_worker_say(const char *format, ...)
{
    char text[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (listener)
        takt_report_say(listener, "message", text);
    else
        takt_message("%s", text);
}
