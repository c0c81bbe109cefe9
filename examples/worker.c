#include <stdio.h>
#include <takt/takt.h>
#include <uv.h>

static void start(takt_permit *permit, int status) /* called when the slot is due */
{
    puts(status == 0 ? "a job starts" : takt_strerror(status));
    takt_release(permit); /* when the job is done */
}

int main(void)
{
    static takt_permit permits[100]; /* your memory: put one into each job */
    takt_policy *policy;
    takt_client *client;
    takt_error error;

    if (takt_policy_load(&policy, "takt.yaml", &error) < 0 ||
        takt_open(&client, uv_default_loop(), policy, NULL, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    for (int i = 0, code; i < 100; i++) /* returns at once; fails if the request is wrong */
        if ((code = takt_acquire(client, &permits[i], &TAKT_REQUEST("mail"), start)) < 0)
            return fprintf(stderr, "mail: %s\n", takt_strerror(code)), 1;
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT); /* until no permit waits */
}
