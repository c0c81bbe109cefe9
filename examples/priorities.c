/* Two kinds of mail share one limit: newsletters in bulk, and urgent mails. Urgent mails go first
 * in the whole fleet, and are useless after ten seconds. */
#include <stdio.h>
#include <takt/takt.h>
#include <uv.h>

static void start(takt_permit *permit, int status)
{
    const char *mail = permit->data;

    if (status == TAKT_E_DEADLINE) /* comes as soon as it is certain */
        printf("%s: too late, in %lld ms there would be a slot\n", mail,
               (long long)permit->retry_after_us / 1000);
    else
        printf("%s: %s\n", mail, status == 0 ? "sent" : takt_strerror(status));
    takt_release(permit);
}

int main(void)
{
    takt_permit newsletters[5] = {{0}}, password = {0};
    takt_request bulk = TAKT_REQUEST("mail"), urgent = TAKT_REQUEST("mail");
    takt_policy *policy;
    takt_client *client;
    takt_error error;

    if (takt_policy_load(&policy, "takt.yaml", &error) < 0 ||
        takt_check_request(policy, &bulk, &error) < 0 || /* has the policy its limit? */
        takt_open(&client, uv_default_loop(), policy, NULL, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    bulk.priority = TAKT_PRIORITY_MAX; /* 9 goes last */
    for (int i = 0; i < 5; i++) {
        newsletters[i].data = "newsletter";
        takt_acquire(client, &newsletters[i], &bulk, start);
    }
    urgent.priority = 0; /* goes first, though it is asked for last */
    urgent.max_wait_us = 10000000;
    password.data = "new password";
    takt_acquire(client, &password, &urgent, start);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    takt_close(client, NULL, NULL);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    takt_policy_free(policy);
    return 0;
}
