/*
 * main.c: takt-call: makes the HTTP calls that jobs describe, each when its slot is due. request.c
 * builds the request, answer.c reads the answer, result.c writes the result; this file decides how
 * a job ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include <takt/http.h>

#include "away.h"
#include "call.h"
#include "fail.h"
#include "learn.h"
#include "options.h"
#include "outcome.h"
#include "settle.h"

#define CONNECTIONS_MAX 256
#define PAUSE_MAX_US    INT64_C(86400000000) /* one day: a longer Retry-After is cut to it */
#define SHOWN_SIZE      240

struct takt_caller {
    takt_caller_options options;
    takt_transfers *transfers;
    takt_caller_call *running;
    takt_caller_away away;
    takt_caller_unsettled unsettled;
};

static void free_call(takt_caller_call *call)
{
    takt_caller_forget_headers(call);
    takt_caller_secrets_forget(&call->secrets);
    takt_caller_answer_free(&call->answer);
    free(call->url);
    free(call->json);
    if (call->previous)
        call->previous->next = call->next;
    else
        call->caller->running = call->next;
    if (call->next)
        call->next->previous = call->previous;
    free(call);
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* How long a Retry-After asks to wait; 0: no field, or an unreadable one. An answer without a Date
 * counts as made now. */
static int64_t pause_of(const takt_caller_answer *answer)
{
    char now[ANSWER_FIELD_SIZE];
    time_t seconds = time(NULL);
    struct tm parts;
    int64_t pause_us = 0;

    strftime(now, sizeof(now), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&seconds, &parts));
    if (answer->retry_after[0])
        (void)takt_http_retry_after(answer->retry_after, answer->date[0] ? answer->date : now,
                                    &pause_us);
    return pause_us < PAUSE_MAX_US ? pause_us : PAUSE_MAX_US;
}

/* "answered 404: "no such thing"" */
static void say_answer(const takt_caller_call *call, long status, char why[TAKT_JOB_WHY_SIZE])
{
    char shown[SHOWN_SIZE];

    takt_caller_answer_show(&call->answer, shown, sizeof(shown));
    snprintf(why, TAKT_JOB_WHY_SIZE, "answered %ld%s%s", status, shown[0] ? ": " : "", shown);
}

static void end_done(const takt_caller_call *call, json_t *result)
{
    if (result)
        takt_job_done(call->job, result);
    else
        takt_job_retry(call->job, 0, "no memory for its result");
}

static void end_by_status(takt_caller_call *call, long status)
{
    takt_job *job = call->job;
    int64_t pause_us = pause_of(&call->answer);
    takt_caller_outcome outcome =
        takt_caller_outcome_of(status, takt_caller_spec_expects(&call->spec, status), pause_us > 0);
    char why[TAKT_JOB_WHY_SIZE];

    if (outcome != TAKT_CALLER_OUTCOME_DONE)
        say_answer(call, status, why);
    switch (outcome) {
    case TAKT_CALLER_OUTCOME_DONE:
        end_done(call,
                 takt_caller_result(call, &call->caller->options, status, takt_job_attempt(job)));
        break;
    case TAKT_CALLER_OUTCOME_PENALIZE:
        takt_job_penalize(job, pause_us, "answered 429");
        takt_job_retry(job, pause_us, why);
        break;
    case TAKT_CALLER_OUTCOME_BLOCK:
        takt_job_block(job, pause_us, "answered 503");
        takt_job_retry(job, pause_us, why);
        break;
    case TAKT_CALLER_OUTCOME_RETRY:
        takt_job_retry(job, pause_us, why);
        break;
    case TAKT_CALLER_OUTCOME_DEAD:
        takt_job_dead(job, why);
        break;
    }
}

static int64_t now_us(void)
{
    return (int64_t)(uv_hrtime() / 1000);
}

/* Whether no connection to the job's host could be made, so that nothing was sent. When the call's
 * own timeout ended first, that timeout may have been too short. */
static bool is_host_away(const takt_caller_call *call, CURLcode result)
{
    const takt_caller_options *options = &call->caller->options;
    int64_t timeout_us = call->spec.timeout_us ? call->spec.timeout_us : options->timeout_us;
    curl_off_t sent_at_us = 0;

    if (call->redirects > 0)
        return false;
    curl_easy_getinfo(call->handle, CURLINFO_PRETRANSFER_TIME_T, &sent_at_us);
    return result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST ||
           result == CURLE_COULDNT_RESOLVE_PROXY ||
           (result == CURLE_OPERATION_TIMEDOUT && sent_at_us == 0 &&
            options->connect_us < timeout_us);
}

static takt_caller_away_target target_of(const takt_job *job, const char *url)
{
    const takt_job_head *head = takt_job_head_of(job);

    return (takt_caller_away_target){head->limit, head->key ? head->key : "", url};
}

/* The host is away, which is not the job's fault. The job waits until the end of the pause, and so
 * does its limit and key, unless other jobs of them go to other hosts. */
static void wait_for_host(takt_job *job, const takt_caller_away_host *host, int64_t pause_us,
                          const char *why)
{
    takt_job_settle(job, NULL, 0);
    if (!host->is_one_of_many)
        takt_job_block(job, pause_us, why);
    takt_job_postpone(job, pause_us, why);
}

/* Attempts count only after a long outage, so that the job ends at some time. */
static void end_away(const takt_caller_call *call, const char *why)
{
    takt_caller *caller = call->caller;
    takt_caller_away_target target = target_of(call->job, call->spec.url);
    bool known = takt_caller_away_find(&caller->away, &target);
    takt_caller_away_host *host = takt_caller_away_add(&caller->away, &target);
    int64_t pause_us = 0;

    if (host && !known)
        takt_worker_say("%s: %s", host->name, why);
    if (host)
        pause_us = takt_outage_note(&host->outage, (int64_t)(call->began_ns / 1000), now_us());
    if (host && takt_outage_is_within(&host->outage, caller->options.outage_us, now_us())) {
        wait_for_host(call->job, host, pause_us, why);
        return;
    }
    takt_job_settle(call->job, NULL, 0);
    takt_job_retry(call->job, 0, why);
}

/* True: the job's host is in a pause, and the job was postponed. */
static bool leaves_alone(takt_caller *caller, takt_job *job)
{
    const char *url = json_string_value(json_object_get(takt_job_fields(job), "url"));
    takt_caller_away_target target = target_of(job, url ? url : "");
    const takt_caller_away_host *host = takt_caller_away_find(&caller->away, &target);
    int64_t left_us = host ? takt_outage_left(&host->outage, now_us()) : 0;

    if (left_us == 0 || !takt_outage_is_within(&host->outage, caller->options.outage_us, now_us()))
        return false;
    wait_for_host(job, host, left_us, "its host is unreachable");
    return true;
}

/* Whether all addresses of the host were refused as not public. */
static bool is_host_private(const takt_caller_call *call, CURLcode result)
{
    return result == CURLE_COULDNT_CONNECT && call->is_private && !call->is_open;
}

/* A host with a private address needs an entry on the command line, so the job is dead. */
static void end_private(const takt_caller_call *call)
{
    char why[TAKT_JOB_WHY_SIZE];
    takt_caller_origin to;

    if (!takt_caller_origin_of(call->url ? call->url : call->spec.url, &to))
        strcpy(to.host, "the host");
    snprintf(why, sizeof(why),
             "url: %s has a private address; add it to --hosts if jobs may call it", to.host);
    if (call->redirects == 0)
        takt_job_settle(call->job, NULL, 0);
    takt_job_dead(call->job, why);
}

/* The answer is missing or incomplete. */
static void end_by_failure(const takt_caller_call *call, CURLcode result)
{
    char why[TAKT_JOB_WHY_SIZE];

    /* the URL's protocol was checked before, so the error is about the answer */
    snprintf(why, sizeof(why), "no answer: %s",
             result == CURLE_UNSUPPORTED_PROTOCOL ? "the answer is not HTTP"
                                                  : curl_easy_strerror(result));
    if (result == CURLE_URL_MALFORMAT)
        takt_job_dead(call->job, why);
    else if (is_host_private(call, result))
        end_private(call);
    else if (is_host_away(call, result))
        end_away(call, why);
    else
        takt_job_retry(call->job, 0, why);
}

static void end_too_big(takt_caller_call *call, long status)
{
    char why[TAKT_JOB_WHY_SIZE], said[32];

    if (status > 0 && !takt_caller_spec_expects(&call->spec, status)) {
        end_by_status(call, status);
        return;
    }
    snprintf(said, sizeof(said), status > 0 ? "answered %ld" : "answered", status);
    snprintf(why, sizeof(why), "%s with more than %zu bytes, or with more than %d bytes of headers",
             said, call->caller->options.response_max, ANSWER_HEADERS_MAX);
    takt_job_dead(call->job, why);
}

static void learn_from(const takt_caller_call *call, long status)
{
    takt_caller_vendor_word words[VENDOR_WORDS_MAX];
    int count;

    if (status == 429 || (status == 503 && call->answer.retry_after[0]))
        return; /* the message in `why` says more */
    count = takt_caller_vendor_fields_tell(&call->answer.vendor,
                                           takt_caller_answer_date(&call->answer), words);
    takt_caller_learn(call->job, words, count, (int64_t)(uv_hrtime() - call->sent_ns) / 1000);
}

static void note_reached(const takt_caller_call *call)
{
    takt_caller_away_target target = target_of(call->job, call->spec.url);

    takt_caller_away_reached(&call->caller->away, &target);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void on_done(CURL *handle, CURLcode result, void *data);

static void begin(takt_caller_call *call)
{
    takt_error error = {0};

    if (takt_caller_prepare(call, &call->caller->options, &error) != 0) {
        takt_transfers_put(call->caller->transfers, call->handle);
        takt_job_retry(call->job, 0, error.text);
        free_call(call);
    } else if (call->caller->options.dry_run) {
        takt_transfers_put(call->caller->transfers, call->handle);
        end_done(call, takt_caller_result_dry(call));
        free_call(call);
    } else if (!takt_transfers_start(call->caller->transfers, call->handle, on_done, call)) {
        takt_transfers_put(call->caller->transfers, call->handle);
        takt_job_retry(call->job, 0, "no memory");
        free_call(call);
    }
}

/* Follows a redirect: true. Else this answer is the last one, and *why may say why its redirect is
 * not followed. */
static bool follow(takt_caller_call *call, long status, const char **why)
{
    const takt_caller_options *options = &call->caller->options;
    const char *from = call->url ? call->url : call->spec.url, *method;
    char *to = NULL;

    curl_easy_getinfo(call->handle, CURLINFO_REDIRECT_URL, &to);
    if (!to)
        return false;
    *why = "too many redirects";
    if (call->redirects++ == REDIRECTS_MAX)
        return false;
    switch (takt_caller_redirect_judge(options->redirects, options->allowed.hosts, from, to, why)) {
    case REDIRECT_REFUSED:
        return false;
    case REDIRECT_ABROAD:
        call->is_abroad = true; /* for the rest of the call */
        break;
    case REDIRECT_HOME:
        break;
    }
    to = strdup(to);
    method = takt_caller_redirect_method(status, call->method);
    if (!to)
        return false;
    if (method) {
        call->method = method;
        call->without_body = true;
    }
    free(call->url);
    call->url = to;
    takt_transfers_put(call->caller->transfers, call->handle);
    call->handle = takt_transfers_take(call->caller->transfers); /* the same handle, reset */
    begin(call);
    return true;
}

static void on_done(CURL *handle, CURLcode result, void *data)
{
    takt_caller_call *call = data;
    const char *refused = NULL;
    char why[TAKT_JOB_WHY_SIZE];
    long status = 0;

    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    if (result == CURLE_OK && takt_caller_redirect_is_one(status) &&
        !takt_caller_spec_expects(&call->spec, status) && follow(call, status, &refused))
        return;
    takt_caller_answer_blot(&call->answer, call->secrets);
    if (!is_host_away(call, result))
        note_reached(call);
    bool too_big =
        call->answer.too_big || takt_caller_answer_has_long_line(&call->answer, handle, result);
    if (result == CURLE_OK && !refused && !too_big)
        takt_caller_settle(&call->caller->unsettled, call, &call->caller->options, status);
    if (result == CURLE_OK && !call->is_abroad) /* the vendor's count has the real cost already */
        learn_from(call, status);
    if (refused) {
        snprintf(why, sizeof(why), "answered %ld, %s", status, refused);
        takt_job_dead(call->job, why);
    } else if (too_big) {
        end_too_big(call, status);
    } else if (result != CURLE_OK) {
        end_by_failure(call, result);
    } else {
        end_by_status(call, status);
    }
    takt_transfers_put(call->caller->transfers, handle);
    free_call(call);
}

static void start(void *self, takt_job *job)
{
    takt_caller *caller = self;
    takt_error error = {0};
    takt_caller_call *made;

    if (leaves_alone(caller, job))
        return;
    made = calloc(1, sizeof(*made));
    if (!made) {
        takt_job_retry(job, 0, "no memory");
        return;
    }
    made->handle = takt_transfers_take(caller->transfers);
    if (!made->handle || takt_caller_spec_read(takt_job_fields(job), &caller->options.allowed, true,
                                               &made->spec, &error) != 0) {
        if (made->handle)
            takt_transfers_put(caller->transfers, made->handle);
        takt_job_retry(job, 0, error.text[0] ? error.text : "no memory");
        free(made);
        return;
    }
    made->caller = caller;
    made->job = job;
    made->method = made->spec.method;
    made->began_ns = made->sent_ns = uv_hrtime();
    made->answer.body_max = caller->options.response_max;
    made->answer.keep_headers = caller->options.with_headers;
    if (!caller->options.dry_run)
        takt_caller_vendor_fields_open(&made->answer.vendor, takt_get_policy(takt_job_client(job)),
                                       takt_job_head_of(job)->limit);
    made->next = caller->running;
    if (made->next)
        made->next->previous = made;
    caller->running = made;
    begin(made);
}

/* ---- the worker ------------------------------------------------------------------------------ */

static int open_caller(void *self, uv_loop_t *loop, const takt_policy *policy)
{
    takt_caller *caller = self;
    takt_error error = {0};

    (void)policy;
    if (takt_transfers_open(&caller->transfers, loop, CONNECTIONS_MAX, &error) == 0)
        return 0;
    takt_worker_say("%s", error.text);
    return EX_OSERR;
}

static const char *rehearses(const void *self)
{
    const takt_caller *caller = self;

    return caller->options.dry_run ? "--dry-run" : NULL;
}

static int check(void *self, json_t *fields, takt_job_head *head, takt_error *error)
{
    const takt_caller *caller = self;
    takt_caller_spec spec;
    int code = takt_caller_spec_read(fields, &caller->options.allowed, false, &spec, error);

    if (code == 0 && spec.settle_count > 0 && !spec.settle[0].unit && head->amounts[1].unit)
        return takt_caller_fail(error, "settle: it states one amount, and cost has several; write "
                                       "{\"UNIT\": \"POINTER\"}, leave settle out, or write one "
                                       "amount");
    return code;
}

static void close_caller(void *self)
{
    takt_caller *caller = self;

    takt_transfers_close(caller->transfers);
    for (takt_caller_call *at = caller->running, *next; at; at = next) {
        next = at->next;
        free_call(at);
    }
    takt_caller_away_free(&caller->away);
}

int main(int argc, char **argv)
{
    takt_caller caller = {0};
    takt_job_kind call = {.name = "takt-call",
                          .summary =
                              "Makes the HTTP calls that jobs describe, each when its slot is due.",
                          .options = &takt_caller_options_argp,
                          .self = &caller,
                          .rehearses = rehearses,
                          .open = open_caller,
                          .check = check,
                          .start = start,
                          .close = close_caller};

    takt_caller_options_begin(&caller.options);
    int status = takt_worker_main(argc, argv, &call);
    takt_caller_options_end(&caller.options);
    return status;
}
