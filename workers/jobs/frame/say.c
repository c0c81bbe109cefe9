/*
 * say.c: what a worker says that is no event of its jobs: to its report, and where there is none to
 * standard error.
 */
#include <stdarg.h>
#include <stdio.h>

#include "worker.h"

/* Who speaks has no worker at hand, so there is one for all. */
static const char *name = "worker";
static takt_report *listener;

void takt_worker_say_as(const char *program)
{
    name = program;
}

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
        fprintf(stderr, "%s: %s\n", name, text);
}
