/*
 * events.h: the data of server-sent events, the answers of Content-Type text/event-stream.
 *
 *     event: delta
 *     data: {"text": "a",
 *     data:  "usage": {"total_tokens": 12}}
 *                                             an empty line ends the event
 */
#ifndef TAKT_WORKERS_CALL_EVENTS_H
#define TAKT_WORKERS_CALL_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "jobs/text/buffer.h"

typedef struct takt_caller_events {
    const char *at, *end; /* what is not read yet */
    takt_buffer data;     /* of the event that was read last */
} takt_caller_events;

/* Whether a Content-Type is that of events. */
bool takt_caller_events_is_type(const char *type);

/* `text` must stay as it is until takt_caller_events_close. */
void takt_caller_events_open(takt_caller_events *events, const char *text, size_t size);

/* Reads the next event that has data; its lines of data are joined by line ends. The end of the
 * text ends the last event. False: there are no more events, or there is no memory. */
bool takt_caller_events_next(takt_caller_events *events);

void takt_caller_events_close(takt_caller_events *events);

#endif
