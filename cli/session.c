/*
 * From settings to an open client: which policy, which store, and with which exit status it is told
 * that something is wrong with them.
 */
#include "session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "message.h"

/* An empty variable is as good as none. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

const char *takt_cli_store(const cli_settings *settings)
{
    return settings->store ? settings->store : variable("TAKT_STORE");
}

/* Where the policy is; NULL: there is none. */
static const char *policy_path(const cli_settings *settings)
{
    const char *path = settings->policy ? settings->policy : variable("TAKT_POLICY");

    return path || access("takt.yaml", F_OK) != 0 ? path : "takt.yaml";
}

bool takt_cli_has_policy(const cli_settings *settings)
{
    return policy_path(settings) != NULL;
}

int takt_cli_load_policy(takt_policy **policy, const cli_settings *settings)
{
    takt_error error = {0};
    const char *path = policy_path(settings);

    if (!path) {
        takt_cli_say("there is no policy: write ./takt.yaml, name a file with --policy or "
                     "$TAKT_POLICY, or give a "
                     "--rate");
        return EX_CONFIG;
    }
    if (takt_policy_load(policy, path, &error) == 0) {
        if (takt_policy_check(*policy, &error) == 0)
            return 0;
        takt_policy_free(*policy);
    }
    takt_cli_say("%s", error.text);
    return error.code == TAKT_E_NOMEM ? EX_OSERR : EX_CONFIG;
}

int takt_cli_make_policy(takt_policy **policy, const cli_settings *settings,
                         const cli_target *target)
{
    takt_error error = {0};
    takt_limit_text limit = {.name = target->limit,
                             .rules = settings->rules,
                             .rule_count = settings->rule_count,
                             .concurrency = settings->concurrency,
                             .lease = settings->lease,
                             .on_store_failure = settings->on_store_failure,
                             .mode = settings->mode};
    takt_policy *made;
    if (takt_policy_new(&made) != 0) {
        takt_cli_say("%s", takt_strerror(TAKT_E_NOMEM));
        return EX_OSERR;
    }
    if (takt_policy_add(made, &limit, &error) != 0) {
        takt_cli_say("the limit of this command line: %s", error.text);
        takt_policy_free(made);
        return error.code == TAKT_E_NOMEM ? EX_OSERR : EX_USAGE;
    }
    *policy = made;
    return 0;
}

int takt_cli_refuse_limit(const takt_policy *policy, const char *name)
{
    char list[512] = "", shown[TAKT_CLI_SHOWN_SIZE];
    const char *meant = NULL;
    size_t count = takt_policy_count(policy), used = 0;

    for (size_t i = 0; i < count; i++) {
        const char *other = takt_policy_name(policy, i);
        if (!meant && takt_cli_resembles(name, other))
            meant = other;
        if (used + strlen(other) + 8 < sizeof(list))
            used += (size_t)sprintf(list + used, "%s%s", used ? ", " : "", other);
        else if (used + 5 < sizeof(list) && list[used - 1] != '.')
            used += (size_t)sprintf(list + used, ", ...");
    }
    takt_cli_shown(name, strlen(name), shown);
    if (meant)
        takt_cli_say("there is no limit %s; did you mean \"%s\"? There are: %s", shown, meant,
                     list);
    else
        takt_cli_say("there is no limit %s; there are: %s", shown, count ? list : "none");
    return EX_USAGE;
}

static void on_client_event(takt_client *client, const takt_event *event, void *data)
{
    cli_session *session = data;

    (void)client;
    if (event->type == TAKT_EVENT_STORE_LOST)
        session->store_lost = true;
    else if (event->type == TAKT_EVENT_STORE_BACK)
        session->store_lost = false;
    if (session->on_event)
        session->on_event(session->data, event->text);
    else
        takt_cli_say("%s", event->text);
}

static int open_client(cli_session *session, const cli_settings *settings)
{
    takt_error error = {0};
    const char *url = takt_cli_store(settings);
    takt_options options = {.store = url, .on_event = on_client_event, .data = session};

    int failed = takt_open(&session->client, &session->loop, session->policy, &options, &error);
    if (!failed)
        return 0;
    takt_cli_say("%s", error.text[0] ? error.text : takt_strerror(failed));
    if (failed == TAKT_E_STORE_URL)
        return url ? EX_USAGE : EX_CONFIG;
    if (failed == TAKT_E_POLICY)
        return EX_CONFIG;
    return failed <= TAKT_E_STORE && failed >= TAKT_E_STORE_FORMAT ? EX_UNAVAILABLE : EX_OSERR;
}

int takt_cli_open(cli_session *session, const cli_settings *settings, const cli_target *target)
{
    int status = takt_cli_is_ad_hoc(settings)
                     ? takt_cli_make_policy(&session->policy, settings, target)
                     : takt_cli_load_policy(&session->policy, settings);
    if (status)
        return status;
    if (!takt_policy_has(session->policy, target->limit)) {
        status = takt_cli_refuse_limit(session->policy, target->limit);
        goto free_policy;
    }
    int failed = uv_loop_init(&session->loop);
    if (failed) {
        takt_cli_say("cannot wait for events: %s", uv_strerror(failed));
        status = EX_OSERR;
        goto free_policy;
    }
    status = open_client(session, settings);
    if (status == 0)
        return 0;
    uv_run(&session->loop, UV_RUN_DEFAULT);
    uv_loop_close(&session->loop);
free_policy:
    takt_policy_free(session->policy);
    session->policy = NULL;
    return status;
}

static void forget_client(void *data)
{
    ((cli_session *)data)->client = NULL;
}

void takt_cli_close(cli_session *session)
{
    if (session->client)
        takt_close(session->client, forget_client, session);
    uv_run(&session->loop, UV_RUN_DEFAULT);
    uv_loop_close(&session->loop);
    takt_policy_free(session->policy);
    session->policy = NULL;
}

void takt_cli_tell_fence(const takt_permit *permit)
{
    char number[24];

    snprintf(number, sizeof(number), "%" PRId64, permit->fence);
    if (permit->fence > 0)
        setenv("TAKT_FENCE", number, 1);
    else
        unsetenv("TAKT_FENCE");
}

int takt_cli_request(const cli_session *session, const cli_target *target, const cli_wish *wish,
                     takt_request *request)
{
    takt_error error = {0};

    *request = TAKT_REQUEST(target->limit);
    request->key = target->key;
    request->cost = wish->cost;
    request->priority = wish->priority;
    memcpy(request->within_keys, wish->within_keys, sizeof(request->within_keys));
    if (takt_check_request(session->policy, request, &error) != TAKT_E_INVALID)
        return 0; /* the acquire tells the rest */
    takt_cli_say("%s", error.text);
    return EX_USAGE;
}

int takt_cli_refusal(const cli_session *session, const cli_target *target, int code, int32_t cost)
{
    char rules[256] = "?", shown[TAKT_CLI_SHOWN_SIZE];

    takt_cli_shown(target->text, strlen(target->text), shown);
    switch (code) {
    case TAKT_E_COST:
        takt_policy_describe(session->policy, target->limit, rules, sizeof(rules));
        takt_cli_say("a cost of %d is more than %s (%s) can ever give at once", (int)cost,
                     target->limit, rules);
        return EX_USAGE;
    case TAKT_E_INVALID:
    case TAKT_E_NO_LIMIT:
        takt_cli_say("%s: %s", shown, takt_strerror(code));
        return EX_USAGE;
    case TAKT_E_FULL:
    case TAKT_E_NO_SLOT:
    case TAKT_E_DEADLINE:
        takt_cli_say("%s: %s", shown, takt_strerror(code));
        return session->store_lost ? EX_UNAVAILABLE : EX_TEMPFAIL;
    default:
        takt_cli_say("%s: %s", shown, takt_strerror(code));
        return code <= TAKT_E_STORE && code >= TAKT_E_STORE_FORMAT ? EX_UNAVAILABLE : EX_OSERR;
    }
}
