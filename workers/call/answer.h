/*
 * answer.h: what comes back of a call, within bounds, and as a result.
 */
#ifndef TAKT_WORKERS_CALL_ANSWER_H
#define TAKT_WORKERS_CALL_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include <curl/curl.h>
#include <jansson.h>

#include "jobs/text/buffer.h"
#include "secrets.h"
#include "vendor_fields.h"

#define ANSWER_HEADERS_MAX (64 * 1024) /* bytes of all header fields */
#define ANSWER_FIELD_SIZE  128         /* of those that are read here */

typedef struct answer {
    size_t body_max; /* set by the caller */
    bool keep_headers;
    text_buffer body;
    size_t header_size;
    json_t *headers; /* by name in lower case; NULL */
    bool too_big;
    char retry_after[ANSWER_FIELD_SIZE], date[ANSWER_FIELD_SIZE]; /* "": there is none */
    vendor_fields vendor;
} answer;

/* Tells curl to write there; forgets what was there before. */
void answer_await(answer *answer, CURL *handle);

void answer_free(answer *answer);

/* The body as a result has it: a string, or {"base64": "..."}; NULL: no memory. */
json_t *answer_body(const answer *answer);

/* The first bytes of the body in one line of printable ASCII. */
void answer_show(const answer *answer, char *shown, size_t size);

/* Blots secrets out of all of it. */
void answer_blot(answer *answer, const secret *secrets);

/* When it was given, in seconds of the epoch, by its own Date; else by this host's clock. */
int64_t answer_date(const answer *answer);

#endif
