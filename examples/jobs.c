/* A job worker: each line of standard input is a job, done in a thread. All workers of the fleet
 * together do two at a time. After SIGTERM running jobs end, and waiting ones are left. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <takt/takt.h>
#include <uv.h>

typedef struct job {
    takt_permit permit;
    uv_work_t work;
    char name[100];
} job;

static job jobs[1000];
static int job_count;

static void work(uv_work_t *request) /* on a thread of libuv: it may take as long as it likes */
{
    job *mine = request->data;
    /* The number only grows: what the job writes to can refuse one that was overtaken. */
    printf("%s: report written, permit %lld\n", mine->name, (long long)mine->permit.fence);
}

static void worked(uv_work_t *request, int status)
{
    job *mine = request->data;

    if (status != 0 || !takt_is_held(&mine->permit)) /* held up for longer than the lease */
        printf("%s: another worker may have done it too\n", mine->name);
    takt_release(&mine->permit); /* the next in line starts, on any host */
}

static void start(takt_permit *permit, int status)
{
    job *mine = permit->data;

    mine->work.data = mine;
    if (status == 0)
        uv_queue_work(uv_default_loop(), &mine->work, work, worked);
    else
        printf("%s: left: %s\n", mine->name, takt_strerror(status));
}

static void stop(uv_signal_t *handle, int number)
{
    (void)handle;
    (void)number;
    for (int i = 0; i < job_count; i++)
        takt_cancel(&jobs[i].permit); /* only those that wait */
}

int main(void)
{
    takt_request request = TAKT_REQUEST("reports");
    uv_signal_t handle;
    takt_policy *policy;
    takt_client *client;
    takt_error error;

    if (takt_policy_load(&policy, "takt.yaml", &error) < 0 ||
        takt_check_request(policy, &request, &error) < 0 || /* has the policy its limit? */
        takt_open(&client, uv_default_loop(), policy, NULL, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    setvbuf(stdout, NULL, _IOLBF, 0); /* each line appears at once */
    uv_signal_init(uv_default_loop(), &handle);
    uv_signal_start(&handle, stop, SIGTERM);
    uv_unref((uv_handle_t *)&handle); /* the loop ends after the last job */
    while (job_count < 1000 && fgets(jobs[job_count].name, 100, stdin)) {
        job *next = &jobs[job_count++];
        next->name[strcspn(next->name, "\n")] = '\0';
        next->permit.data = next;
        takt_acquire(client, &next->permit, &request, start);
    }
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    takt_close(client, NULL, NULL); /* leaves the line: no worker waits for us */
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    takt_policy_free(policy);
    return 0;
}
