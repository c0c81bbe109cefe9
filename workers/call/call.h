/*
 * call.h: one call under way, and what the command line says of all.
 */
#ifndef TAKT_WORKERS_CALL_CALL_H
#define TAKT_WORKERS_CALL_CALL_H

#include <uv.h>

#include "answer.h"
#include "jobs/frame/job.h"
#include "redirect.h"
#include "secrets.h"
#include "spec.h"
#include "transfer/transfer.h"

#define CALL_KEPT_MAX 64 /* names of --result-headers */

typedef struct call_options {
    int64_t timeout_us, connect_us;
    int64_t outage_us; /* so long a host that is away costs no attempts */
    redirect_rule redirects;
    size_t response_max;
    const char *ca;
    secrets_allowed secrets;
    bool with_body, with_headers;
    char *kept[CALL_KEPT_MAX]; /* the headers of a result by name; kept_count 0: all */
    int kept_count;
} call_options;

typedef struct caller caller;

typedef struct call {
    struct call *next, *previous; /* of those that run */
    caller *caller;
    job *job;
    call_spec spec;
    CURL *handle;
    struct curl_slist *headers;
    const char *method; /* of this request: a redirect may change it */
    char *url;          /* where a redirect has led to; NULL: the job's own */
    char *json;         /* the body, where it is JSON */
    bool without_body;  /* a redirect has dropped it */
    bool is_abroad;     /* a redirect has led to somebody else */
    int redirects;
    secret *secrets;
    answer answer;
    uint64_t began_ns, sent_ns;
} call;

/* request.c: sets the handle up for the next request; 0, or TAKT_E_INVALID and why. */
int call_prepare(call *call, const call_options *options, takt_error *error);

/* What curl may be asked of it. */
void call_forget_headers(call *call);

/* result.c: what it gave, as the results have it; NULL: no memory. */
json_t *call_result(const call *call, const call_options *options, long status, unsigned attempt);

#endif
