/*
 * status_http.h: the part of HTTP/1.1 that probes and scrapers need: one request without a body and
 * one answer per connection.
 */
#ifndef TAKT_KIT_STATUS_HTTP_H
#define TAKT_KIT_STATUS_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#define TAKT_STATUS_HTTP_REQUEST_MAX 4096 /* bytes of a request including its fields */
#define TAKT_STATUS_HTTP_PATH_SIZE   64

typedef struct takt_status_request {
    bool head_only;
    bool names_other_host;                 /* a Host field names another host than the loopback */
    char path[TAKT_STATUS_HTTP_PATH_SIZE]; /* without a query */
} takt_status_request;

/*
 * Reads the bytes received so far: 200 and *request, 0 if more bytes are needed, or the status of
 * the refusal: 400, 405, 431, 505.
 */
int takt_status_http_read(const char *text, size_t size, takt_status_request *request);

/* Writes the head of an answer including its empty line; returns its size. */
size_t takt_status_http_write_head(char *text, size_t text_size, int status, const char *type,
                                   size_t body_size);

const char *takt_status_http_reason(int status);

#endif
