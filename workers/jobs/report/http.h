/*
 * http.h: as much of HTTP/1.1 as probes and scrapers speak: one request without a body, one
 * answer, and the connection ends.
 */
#ifndef TAKT_WORKERS_REPORT_HTTP_H
#define TAKT_WORKERS_REPORT_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#define TAKT_STATUS_HTTP_REQUEST_MAX 4096 /* bytes of a request with all its fields */
#define TAKT_STATUS_HTTP_PATH_SIZE   64

typedef struct takt_status_request {
    bool head_only;
    bool names_other_host; /* a Host field says another one than this host's loopback */
    char path[TAKT_STATUS_HTTP_PATH_SIZE]; /* without a query */
} takt_status_request;

/*
 * Reads what has come so far: 200 and *request, 0 where more has to come, or the status to refuse
 * it with: 400, 405, 431, 505.
 */
int takt_status_http_read(const char *text, size_t size, takt_status_request *request);

/* Writes an answer's head with its empty line; how long it is. */
size_t takt_status_http_write_head(char *text, size_t text_size, int status, const char *type,
                                   size_t body_size);

const char *takt_status_http_reason(int status);

#endif
