/* Calls of three vendors with the policy of docs/vendors.md: a language model that counts requests
 * and tokens, a mail service that counts recipients, and a shop that states its remaining calls. */
#include <stdio.h>
#include <string.h>
#include <takt/http.h>
#include <takt/sync.h>

/* A vendor's answer.  These stand for HTTP calls. */
typedef struct answer {
    int status;
    int64_t used;            /* as the answer states it */
    const char *retry_after; /* with status 429 */
    int64_t used_calls, allowed_calls;
} answer;

static answer call(const char *limit)
{
    static int model_calls;
    if (strcmp(limit, "model") == 0 && model_calls++ == 0)
        return (answer){.status = 429, .retry_after = "1"};
    return (answer){.status = 200, .used = 830, .used_calls = 32, .allowed_calls = 40};
}

/* Makes a call in its slot, and passes the numbers of the answer on to takt. */
static int call_within(takt_sync *sync, takt_request *request)
{
    takt_permit permit = {0};
    answer got;
    int64_t pause_us;
    int status = takt_sync_acquire(sync, &permit, request);

    if (status != 0)
        return printf("%s: %s\n", request->limit, takt_strerror(status)), status;
    got = call(request->limit);
    if (got.status == 429 && takt_http_retry_after(got.retry_after, NULL, &pause_us) == 0)
        takt_sync_penalize(sync, request->limit, request->key, pause_us, "429", NULL);
    if (strcmp(request->limit, "model") == 0) /* the estimate is corrected */
        takt_sync_settle(sync, &permit, request, &(takt_amount){"tokens", got.used}, 1);
    if (strcmp(request->limit, "shop") == 0) /* others use this quota, too */
        takt_sync_lower(sync, request->limit, request->key, "requests",
                        got.allowed_calls - got.used_calls, NULL);
    takt_sync_release(sync, &permit);
    printf("%s: %d\n", request->limit, got.status);
    return got.status;
}

static void show(takt_sync *sync, const takt_request *of)
{
    takt_standing now = {0};

    takt_sync_peek(sync, of->limit, of->key, &now);
    for (int i = 0; i < now.rule_count; i++)
        printf("%s: %d %s left\n", of->limit, (int)now.rules[i].remaining, now.rules[i].unit);
}

int main(void)
{
    takt_request prompt = TAKT_REQUEST("model"), mail = TAKT_REQUEST("mail"),
                 order = TAKT_REQUEST("shop");
    takt_policy *policy;
    takt_sync *sync;
    takt_error error;

    if (takt_policy_load(&policy, "takt.yaml", &error) < 0 ||
        takt_sync_open(&sync, policy, NULL, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    prompt.amounts[0] = (takt_amount){"tokens", 1500}; /* an estimate */
    mail.amounts[0] = (takt_amount){"recipients", 50};
    order.key = "acme.example.com";
    while (call_within(sync, &prompt) == 429)
        ;
    call_within(sync, &mail);
    call_within(sync, &order);
    show(sync, &prompt);
    show(sync, &mail);
    show(sync, &order);
    takt_sync_close(sync);
    takt_policy_free(policy);
    return 0;
}
