/*
 * say.c: messages of a worker that are not about a job: they go to its report, or to standard error
 * if there is no report.
 */
#include <stdarg.h>
#include <stdio.h>

#include "kit/message.h"
#include "worker.h"

static takt_report *listener; /* global, since its users have no worker at hand */

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
