/* Work whose cost is known only afterwards: a language model counts tokens, at most a thousand for
 * a prompt and its answer, and mostly fewer. The program acquires the maximum and returns the
 * rest. Prompts are words of the command line: example-settle 'who are you' hello */
#include <stdio.h>
#include <string.h>
#include <takt/sync.h>

/* Stands for the model: returns the number of tokens that it has counted. */
static int64_t ask_model(const char *prompt)
{
    return 10 * (int64_t)strlen(prompt);
}

static void answer(takt_sync *sync, const char *prompt)
{
    takt_request request = TAKT_REQUEST("model");
    takt_permit permit = {0};
    takt_amount used = {"tokens", 0};
    int status;

    request.amounts[0] = (takt_amount){"tokens", 1000};
    status = takt_sync_acquire(sync, &permit, &request); /* until there are so many */
    if (status != 0) {
        printf("%s: %s\n", prompt, takt_strerror(status));
        return;
    }
    used.amount = ask_model(prompt);
    takt_sync_settle(sync, &permit, &request, &used, 1); /* with the same limit and key */
    takt_sync_release(sync, &permit);
    printf("%s: %lld tokens\n", prompt, (long long)used.amount);
}

int main(int argc, char **argv)
{
    takt_standing standing;
    takt_policy *policy;
    takt_sync *sync;
    takt_error error;

    if (takt_policy_load(&policy, "takt.yaml", &error) < 0 ||
        takt_sync_open(&sync, policy, NULL, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    for (int i = 1; i < argc; i++)
        answer(sync, argv[i]);
    if (takt_sync_peek(sync, "model", NULL, &standing) == 0)
        printf("%lld of %lld tokens are left of this minute\n", (long long)standing.remaining,
               (long long)standing.limit);
    takt_sync_close(sync);
    takt_policy_free(policy);
    return 0;
}
