/*
 * spec.h: what a job of takt-call says: the request that is to be made, and which answers are good.
 *
 *     {"id": "c-1", "limit": "vendor", "method": "POST", "url": "https://api.example.com/things",
 *      "headers": {"Authorization": "Bearer ${env:TAKT_SECRET_KEY}"}, "json": {"name": "x"},
 *      "timeout": "10s", "expect": [200, "202-204"]}
 *
 * Whatever could break out of its place in a request is refused here: line ends, NULs, other
 * schemes.  So are hosts and secrets that the command line does not allow.
 */
#ifndef TAKT_WORKERS_CALL_SPEC_H
#define TAKT_WORKERS_CALL_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>
#include <takt/error.h>

#include "allowed.h"
#include "origin.h"

#define CALL_URL_MAX     8192
#define CALL_EXPECT_MAX  16
#define CALL_TIMEOUT_MAX INT64_C(3600000000) /* an hour */

typedef struct takt_caller_status_range {
    int from, to;
} takt_caller_status_range;

/* The strings are those of the job's fields. */
typedef struct takt_caller_spec {
    const char *method, *url;
    const json_t *headers; /* an object; NULL */
    const char *body;      /* NULL: none */
    size_t body_size;
    const json_t *json; /* the body as JSON; NULL */
    int64_t timeout_us; /* 0: the worker's */
    takt_caller_status_range expect[CALL_EXPECT_MAX];
    int expect_count;
} takt_caller_spec;

/* 0, or TAKT_E_INVALID and which field is wrong.  `checked`: this very job was read before, and
 * found good; what costs most is not looked at again. */
int takt_caller_spec_read(const json_t *fields, const takt_caller_allowed *allowed, bool checked,
                          takt_caller_spec *spec, takt_error *error);

bool takt_caller_spec_expects(const takt_caller_spec *spec, long status);

/* Whether a header may be called so. */
bool takt_caller_spec_is_name(const char *name, size_t size);

/* POST and PATCH: done twice, they may do it twice. */
bool takt_caller_spec_is_idempotent(const takt_caller_spec *spec);

/* Whether the job has a header, whatever its case. */
bool takt_caller_spec_has_header(const takt_caller_spec *spec, const char *name);

#endif
