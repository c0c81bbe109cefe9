/*
 * call.h: one call under way, and what the command line says of all.
 */
#ifndef TAKT_WORKERS_CALL_CALL_H
#define TAKT_WORKERS_CALL_CALL_H

#include <takt/worker.h>
#include <uv.h>

#include "allowed.h"
#include "answer.h"
#include "redirect.h"
#include "secrets.h"
#include "spec.h"
#include "transfer/transfer.h"

#define CALL_KEPT_MAX 64 /* names of --result-headers */

typedef struct takt_caller_options {
    int64_t timeout_us, connect_us;
    int64_t outage_us; /* so long a host that is away costs no attempts */
    takt_caller_redirect_rule redirects;
    size_t response_max;
    const char *ca;
    takt_caller_allowed allowed;
    bool with_body, with_headers;
    char *kept[CALL_KEPT_MAX]; /* the headers of a result by name; kept_count 0: all */
    int kept_count;
} takt_caller_options;

typedef struct takt_caller takt_caller;

typedef struct takt_caller_call {
    struct takt_caller_call *next, *previous; /* of those that run */
    takt_caller *caller;
    takt_job *job;
    takt_caller_spec spec;
    CURL *handle;
    struct curl_slist *headers;
    const char *method; /* of this request: a redirect may change it */
    char *url;          /* where a redirect has led to; NULL: the job's own */
    char *json;         /* the body, where it is JSON */
    bool without_body;  /* a redirect has dropped it */
    bool is_abroad;     /* a redirect has led to somebody else */
    const char *hosts;  /* those that may be called, for addresses of connections */
    bool is_private;    /* an address of the host was refused; others may be called */
    bool is_open;       /* ... and one was not */
    int redirects;
    takt_caller_secret *secrets;
    takt_caller_answer answer;
    uint64_t began_ns, sent_ns;
} takt_caller_call;

/* request.c: sets the handle up for the next request; 0, or TAKT_E_INVALID and why. */
int takt_caller_prepare(takt_caller_call *call, const takt_caller_options *options,
                        takt_error *error);

/* What curl may be asked of it. */
void takt_caller_forget_headers(takt_caller_call *call);

/* result.c: what it gave, as the results have it; NULL: no memory. */
json_t *takt_caller_result(const takt_caller_call *call, const takt_caller_options *options,
                           long status, unsigned attempt);

#endif
