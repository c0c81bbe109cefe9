/*
 * answer.h: reads the answer to a call within bounds and turns it into a job's result.
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
#define ANSWER_FIELD_SIZE  128         /* bytes of one of the header fields below */

typedef struct takt_caller_answer {
    size_t body_max; /* set by the caller */
    bool keep_headers;
    takt_buffer body;
    size_t header_size;
    json_t *headers; /* by name in lower case; NULL: none */
    bool too_big;
    /* "": the answer has no such field */
    char retry_after[ANSWER_FIELD_SIZE], date[ANSWER_FIELD_SIZE], type[ANSWER_FIELD_SIZE];
    takt_caller_vendor_fields vendor;
} takt_caller_answer;

/* Whether libcurl gave up with this result because a line of the head is longer than libcurl reads.
 * The answer is then too big. */
bool takt_caller_answer_has_long_line(takt_caller_answer *answer, CURL *handle, CURLcode result);

/* Tells libcurl to write into this answer; forgets the previous one. */
void takt_caller_answer_await(takt_caller_answer *answer, CURL *handle);

void takt_caller_answer_free(takt_caller_answer *answer);

/* The body as it stands in a result: a string, or {"base64": "..."}. NULL: no memory. */
json_t *takt_caller_answer_body(const takt_caller_answer *answer);

/* The first bytes of the body in one line of printable ASCII. */
void takt_caller_answer_show(const takt_caller_answer *answer, char *shown, size_t size);

/* Replaces every secret in the answer by asterisks. */
void takt_caller_answer_blot(takt_caller_answer *answer, const takt_caller_secret *secrets);

/* When the server gave the answer, in seconds of the epoch: its Date, else this host's clock. */
int64_t takt_caller_answer_date(const takt_caller_answer *answer);

#endif
