/* A service in front of a limit: each request is served now or refused, with the state of the limit
 * in HTTP's rate limit fields.  Here requests are words of the command line, each the key of a
 * client: `example-api ann bob ann`. */
#include <stdio.h>
#include <takt/http.h>
#include <takt/takt.h>
#include <uv.h>

typedef struct request {
    takt_call call; /* your memory, until the answer */
    takt_permit permit;
    const char *who;
} request;

static takt_policy *policy;
static takt_client *client;
static int unanswered;

static void respond(takt_call *call, int status, const takt_standing *standing)
{
    request *asked = call->data;
    char fields[TAKT_HTTP_FIELDS_SIZE] = "";

    if (standing) /* the store has answered */
        takt_http_fields(policy, "api", asked->who, status, standing, TAKT_HTTP_RESET_SECONDS,
                         fields, sizeof fields);
    printf("%s: HTTP/1.1 %s\r\n%s\r\n", asked->who,
           status == 0                ? "200 OK"
           : status == TAKT_E_NO_SLOT ? "429 Too Many Requests"
                                      : "503 Service Unavailable",
           fields);
    takt_release(&asked->permit); /* when the request has been served; here that is at once */
    if (--unanswered == 0)
        takt_close(client, NULL, NULL);
}

int main(int argc, char **argv)
{
    static request requests[100];
    takt_error error;

    if (takt_policy_load(&policy, "takt.yaml", &error) < 0 ||
        takt_open(&client, uv_default_loop(), policy, NULL, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    for (int i = 0; i < argc - 1 && i < 100; i++) {
        takt_request wanted = TAKT_REQUEST("api");
        requests[i].who = wanted.key = argv[i + 1];
        requests[i].call.data = &requests[i];
        if (takt_try_acquire(client, &requests[i].call, &requests[i].permit, &wanted, respond) == 0)
            unanswered++;
    }
    if (unanswered == 0)
        takt_close(client, NULL, NULL);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    takt_policy_free(policy);
    return 0;
}
