/*
 * timeline.c: the last events of a run, kept to explain a failure.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "checker.h"

#define EVENTS     80
#define EVENT_SIZE 240

static char events[EVENTS][EVENT_SIZE];
static unsigned next;

bool timeline_kept;

void timeline_clear(void)
{
    for (unsigned i = 0; i < EVENTS; i++)
        events[i][0] = '\0';
    next = 0;
}

void timeline_note(const takt_fleet *fleet, const char *format, ...)
{
    char *event = events[next % EVENTS];
    va_list arguments;
    int size;

    if (!timeline_kept)
        return;
    next++;
    size = snprintf(event, EVENT_SIZE, "%12.6f ", (double)(fleet->now_us - fleet->began_us) / 1e6);
    va_start(arguments, format);
    vsnprintf(event + size, (size_t)(EVENT_SIZE - size), format, arguments);
    va_end(arguments);
}

void timeline_print(void)
{
    for (unsigned i = 0; i < EVENTS; i++)
        if (events[(next + i) % EVENTS][0] != '\0')
            printf("  %s\n", events[(next + i) % EVENTS]);
}
