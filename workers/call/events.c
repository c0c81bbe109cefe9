/*
 * events.c: see events.h.
 */
#include "events.h"

#include <string.h>
#include <strings.h>

#define TYPE "text/event-stream"
#define MARK "\xef\xbb\xbf" /* a byte order mark may come first */

bool takt_caller_events_is_type(const char *type)
{
    size_t size = strlen(TYPE);

    return strncasecmp(type, TYPE, size) == 0 && strchr("; \t", type[size]) != NULL;
}

void takt_caller_events_open(takt_caller_events *events, const char *text, size_t size)
{
    *events = (takt_caller_events){.at = text, .end = text + size};
    if (size >= strlen(MARK) && memcmp(text, MARK, strlen(MARK)) == 0)
        events->at += strlen(MARK);
}

/* Steps over one line, which ends with CR LF, LF or CR. Returns its size without that. */
static size_t read_line(takt_caller_events *events)
{
    const char *from = events->at;

    while (events->at < events->end && *events->at != '\n' && *events->at != '\r')
        events->at++;
    size_t size = (size_t)(events->at - from);
    if (events->at + 1 < events->end && memcmp(events->at, "\r\n", 2) == 0)
        events->at++;
    if (events->at < events->end)
        events->at++;
    return size;
}

/* Adds a line "data: VALUE" or "data" to the event. False: another line. */
static bool add_data(takt_buffer *data, const char *line, size_t size, bool is_first)
{
    if (size < 4 || memcmp(line, "data", 4) != 0 || (size > 4 && line[4] != ':'))
        return false;
    size_t skipped = size > 4 ? 5 : 4;
    if (size > skipped && line[skipped] == ' ')
        skipped++;
    if (!is_first)
        takt_buffer_char(data, '\n');
    takt_buffer_put(data, line + skipped, size - skipped);
    return true;
}

bool takt_caller_events_next(takt_caller_events *events)
{
    bool has_data = false;

    takt_buffer_clear(&events->data);
    while (events->at < events->end) {
        const char *line = events->at;
        size_t size = read_line(events);
        if (size > 0)
            has_data |= add_data(&events->data, line, size, !has_data);
        else if (has_data)
            break;
    }
    return has_data && !events->data.failed;
}

void takt_caller_events_close(takt_caller_events *events)
{
    takt_buffer_free(&events->data);
}
