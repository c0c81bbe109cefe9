/*
 * call.h: one call under way, and the options that all calls share.
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
    int64_t outage_us; /* attempts do not count while a host has been away for less than this */
    takt_caller_redirect_rule redirects;
    size_t response_max;
    const char *ca;
    takt_caller_allowed allowed;
    const char *settle; /* where answers state the cost (pointer.h); NULL: nowhere */
    bool with_body, with_headers;
    bool dry_run;
    char *kept[CALL_KEPT_MAX]; /* headers that a result keeps; kept_count 0: all */
    int kept_count;
} takt_caller_options;

typedef struct takt_caller takt_caller;

typedef struct takt_caller_call {
    struct takt_caller_call *next, *previous; /* the list of running calls */
    takt_caller *caller;
    takt_job *job;
    takt_caller_spec spec;
    CURL *handle;
    struct curl_slist *headers;
    const char *method; /* of this request: a redirect may change it */
    char *url;          /* NULL: the job's URL; else the target of the last redirect */
    char *json;         /* the body, if it is JSON */
    bool without_body;  /* a redirect has dropped it */
    bool is_abroad;     /* a redirect has left the job's host */
    const char *hosts;  /* the allowed hosts, checked for each connection's address */
    bool is_private;    /* an address of the host is not public and was refused */
    bool is_open;       /* another address was accepted */
    int redirects;
    takt_caller_secret *secrets;
    takt_caller_answer answer;
    uint64_t began_ns, sent_ns;
} takt_caller_call;

/* request.c: prepares the handle for the next request. 0, or TAKT_E_INVALID and why. */
int takt_caller_prepare(takt_caller_call *call, const takt_caller_options *options,
                        takt_error *error);

/* Overwrites and frees the header lines given to libcurl. */
void takt_caller_forget_headers(takt_caller_call *call);

/* result.c: the result of a call. NULL: no memory. */
json_t *takt_caller_result(const takt_caller_call *call, const takt_caller_options *options,
                           long status, unsigned attempt);

/* The result of a call that was only prepared: what would be sent where. NULL: no memory. */
json_t *takt_caller_result_dry(const takt_caller_call *call);

#endif
