/* Threads that block: four of them share one limit, as many processes would. */
#include <stdio.h>
#include <takt/sync.h>
#include <uv.h>

static void work(void *data)
{
    takt_sync *sync = data;
    takt_request request = TAKT_REQUEST("mail");

    for (int i = 0; i < 25; i++) {
        takt_permit permit = {0};
        int status = takt_sync_acquire(sync, &permit, &request);
        printf("job: %s\n", status == 0 ? "go" : takt_strerror(status));
        takt_sync_release(sync, &permit);
    }
}

int main(void)
{
    uv_thread_t threads[4];
    takt_policy *policy;
    takt_sync *sync;
    takt_error error;

    if (takt_policy_load(&policy, "takt.yaml", &error) < 0 ||
        takt_sync_open(&sync, policy, NULL, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    for (int i = 0; i < 4; i++)
        uv_thread_create(&threads[i], work, sync);
    for (int i = 0; i < 4; i++)
        uv_thread_join(&threads[i]);
    takt_sync_close(sync);
    takt_policy_free(policy);
    return 0;
}
