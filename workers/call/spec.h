/*
 * spec.h: what a job of takt-call says: the request, and which answers are good.
 *
 *     {"id": "c-1", "limit": "vendor", "method": "POST", "url": "https://api.example.com/things",
 *      "headers": {"Authorization": "Bearer ${env:TAKT_SECRET_KEY}"}, "json": {"name": "x"},
 *      "timeout": "10s", "expect": [200, "202-204"], "settle": "/usage/total_tokens"}
 *
 * Values that could break out of their place in a request are refused: line ends, NULs, other
 * schemes. Hosts and secrets that the command line does not allow are refused, too.
 */
#ifndef TAKT_WORKERS_CALL_SPEC_H
#define TAKT_WORKERS_CALL_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>
#include <takt/takt.h>

#include "allowed.h"
#include "origin.h"
#include "pointer.h"

#define CALL_URL_MAX     8192
#define CALL_EXPECT_MAX  16
#define CALL_TIMEOUT_MAX INT64_C(3600000000) /* one hour */

typedef struct takt_caller_status_range {
    int from, to;
} takt_caller_status_range;

/* The strings belong to the job's fields. */
typedef struct takt_caller_spec {
    const char *method, *url;
    const json_t *headers; /* an object; NULL: none */
    const char *body;      /* NULL: none */
    size_t body_size;
    const json_t *json; /* the body as JSON; NULL: none */
    int64_t timeout_us; /* 0: the worker's default */
    takt_caller_status_range expect[CALL_EXPECT_MAX];
    int expect_count;
    takt_caller_unit_pointer settle[TAKT_AMOUNTS_MAX]; /* where the answer states what was used */
    int settle_count; /* 0: the limit or the command line says where */
} takt_caller_spec;

/* 0, or TAKT_E_INVALID and the wrong field. `checked`: this job was read before and found good, so
 * the costly checks are skipped. */
int takt_caller_spec_read(const json_t *fields, const takt_caller_allowed *allowed, bool checked,
                          takt_caller_spec *spec, takt_error *error);

bool takt_caller_spec_expects(const takt_caller_spec *spec, long status);

/* Whether this is a valid header name. */
bool takt_caller_spec_is_name(const char *name, size_t size);

/* False for POST and PATCH, which may take effect twice when repeated. */
bool takt_caller_spec_is_idempotent(const takt_caller_spec *spec);

/* Whether the job has a header of this name; case is ignored. */
bool takt_caller_spec_has_header(const takt_caller_spec *spec, const char *name);

#endif
