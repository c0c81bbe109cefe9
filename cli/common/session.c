/*
 * From settings to an open client: finds policy and store, and reports errors by a message and an
 * exit status.
 */
#include "session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <takt/stored_policy.h>

#include "kit/exit_status.h"
#include "kit/message.h"

/* An empty variable is as good as none. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

const char *takt_cli_store(const takt_cli_settings *settings)
{
    return settings->store ? settings->store : variable("TAKT_STORE");
}

/* NULL: there is none. */
static const char *policy_path(const takt_cli_settings *settings)
{
    return takt_policy_file(settings->file ? settings->file : settings->policy);
}

bool takt_cli_has_policy(const takt_cli_settings *settings)
{
    return policy_path(settings) != NULL;
}

/* `otherwise`: what else gives a limit to the command. */
static int load_policy(takt_policy **policy, const takt_cli_settings *settings,
                       const char *otherwise)
{
    takt_error error = {0};
    const char *path = policy_path(settings);

    if (!path) {
        takt_message("there is no policy: write ./takt.yaml, or name a file with --policy or "
                     "$TAKT_POLICY%s",
                     otherwise);
        return EX_CONFIG;
    }
    int status = takt_policy_file_load(policy, path, &error);
    if (status)
        takt_message("%s", error.text);
    return status;
}

int takt_cli_load_policy(takt_policy **policy, const takt_cli_settings *settings)
{
    return load_policy(policy, settings, "");
}

int takt_cli_make_policy(takt_policy **policy, const takt_cli_settings *settings,
                         const takt_cli_target *target)
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
    if (takt_policy_new(&made, &error) != 0) {
        takt_message("%s", error.text);
        return EX_OSERR;
    }
    if (takt_policy_add(made, &limit, &error) != 0) {
        takt_message("the limit of this command line: %s", error.text);
        takt_policy_free(made);
        return error.code == TAKT_E_NOMEM ? EX_OSERR : EX_USAGE;
    }
    *policy = made;
    return 0;
}

static void measure_limit(void *data, const takt_difference *difference)
{
    int *width = data, size = (int)strlen(difference->limit);

    *width = size > *width ? size : *width;
}

static void print_limit(void *data, const takt_difference *difference)
{
    const int *width = data;

    printf("%-*s  %s\n", *width, difference->limit, difference->to);
}

void takt_cli_print_limits(const takt_policy *policy)
{
    int width = 0;

    takt_policy_compare(NULL, policy, measure_limit, &width);
    takt_policy_compare(NULL, policy, print_limit, &width);
}

static void say_warning(void *data, const char *limit, const char *text)
{
    (void)data;
    takt_message("warning: %s: %s", limit, text);
}

void takt_cli_warn(const takt_policy *policy)
{
    takt_policy_warn(policy, say_warning, NULL);
}

int takt_cli_refuse_limit(const takt_policy *policy, const char *name)
{
    char list[512] = "", shown[TAKT_QUOTE_SIZE];
    takt_suggestion meant;
    size_t count = takt_policy_count(policy), used = 0;

    takt_suggest_begin(&meant, name);
    for (size_t i = 0; i < count; i++) {
        const char *other = takt_policy_name(policy, i);
        takt_suggest_offer(&meant, other);
        if (used + strlen(other) + 8 < sizeof(list))
            used += (size_t)sprintf(list + used, "%s%s", used ? ", " : "", other);
        else if (used + 5 < sizeof(list) && list[used - 1] != '.')
            used += (size_t)sprintf(list + used, ", ...");
    }
    takt_quote(name, shown);
    if (meant.best)
        takt_message("there is no limit %s; did you mean \"%s\"? There are: %s", shown, meant.best,
                     list);
    else
        takt_message("there is no limit %s; there are: %s", shown, count ? list : "none");
    return EX_USAGE;
}

/* Copies a followed policy, because the client replaces its own at any time. */
static int copy_policy(takt_policy **copy, const takt_policy *policy)
{
    takt_error error = {0};
    char revision[24];
    size_t size;
    const char *text = takt_policy_text(policy, &size);

    snprintf(revision, sizeof(revision), "%lld", (long long)takt_policy_revision(policy));
    if (takt_policy_parse(copy, "the stored policy", text, size, &error) == 0) {
        if (takt_policy_set_revision(*copy, revision, &error) == 0)
            return 0;
        takt_policy_free(*copy);
    }
    takt_message("%s", error.text);
    return error.code == TAKT_E_NOMEM ? EX_OSERR : EX_CONFIG;
}

static int note_policy(takt_cli_session *session)
{
    takt_policy *copy;
    int status = copy_policy(&copy, takt_get_policy(session->client));

    if (status)
        return status;
    takt_policy_free(session->policy);
    session->policy = copy;
    return 0;
}

static void on_client_event(takt_client *client, const takt_event *event, void *data)
{
    takt_cli_session *session = data;

    if (event->type == TAKT_EVENT_POLICY && session->client == client)
        (void)note_policy(session); /* reports failures; the last copy stays in use */
    if (event->type == TAKT_EVENT_STORE_LOST)
        session->store_lost = true;
    else if (event->type == TAKT_EVENT_STORE_BACK)
        session->store_lost = false;
    if (session->on_event)
        session->on_event(session->data, event->text);
    else
        takt_message("%s", event->text);
}

int takt_cli_refuse_store(const takt_cli_settings *settings, int code, const takt_error *error)
{
    takt_message("%s", error->text[0] ? error->text : takt_strerror(code));
    if (code == TAKT_E_STORE_URL && takt_cli_store(settings))
        return EX_USAGE;
    return takt_exit_status(code);
}

int takt_cli_load_limits(takt_policy **policy, const takt_cli_settings *settings)
{
    takt_options options = {.store = takt_cli_store(settings),
                            .store_timeout_us = TAKT_CLI_TIMEOUT_US};
    takt_error error = {0};
    takt_policy *follower;
    takt_stored_policy *stored;
    int status = takt_cli_load_policy(&follower, settings), code;

    if (status || !takt_policy_follows(follower)) {
        if (!status)
            *policy = follower;
        return status;
    }
    code = takt_stored_policy_read(&stored, follower, &options, &error);
    takt_policy_free(follower);
    if (code)
        return takt_cli_refuse_store(settings, code, &error);
    if (!stored->policy)
        takt_message("%s", stored->version ? stored->trouble.text : TAKT_CLI_NO_POLICY);
    status = stored->policy ? copy_policy(policy, stored->policy) : EX_CONFIG;
    takt_stored_policy_free(stored);
    return status;
}

static int open_client(takt_cli_session *session, const takt_cli_settings *settings)
{
    takt_error error = {0};
    const char *url = takt_cli_store(settings);
    takt_options options = {.store = url,
                            .store_timeout_us = session->store_timeout_us,
                            .on_event = on_client_event,
                            .data = session};

    int failed = takt_open(&session->client, &session->loop, session->policy, &options, &error);
    if (!failed)
        return 0;
    return takt_cli_refuse_store(settings, failed, &error);
}

static int refuse_unless_there(const takt_cli_session *session, const takt_cli_target *target)
{
    return !target || takt_policy_has(session->policy, target->limit)
               ? 0
               : takt_cli_refuse_limit(session->policy, target->limit);
}

int takt_cli_open(takt_cli_session *session, const takt_cli_settings *settings,
                  const takt_cli_target *target)
{
    int status = takt_cli_is_ad_hoc(settings)
                     ? takt_cli_make_policy(&session->policy, settings, target)
                     : load_policy(&session->policy, settings, ", or give a --rate");
    return status ? status : takt_cli_open_by(session, settings, session->policy, target);
}

int takt_cli_open_by(takt_cli_session *session, const takt_cli_settings *settings,
                     takt_policy *policy, const takt_cli_target *target)
{
    bool follows = takt_policy_follows(policy);
    int status = 0;

    session->policy = policy;
    if (!follows && (status = refuse_unless_there(session, target)) != 0)
        goto free_policy;
    int failed = uv_loop_init(&session->loop);
    if (failed) {
        takt_message("cannot wait for events: %s", uv_strerror(failed));
        status = EX_OSERR;
        goto free_policy;
    }
    status = open_client(session, settings);
    if (status == 0 && follows) {
        status = note_policy(session);
        if (status == 0)
            status = refuse_unless_there(session, target);
        if (status)
            takt_cli_close(session);
        return status;
    }
    if (status == 0)
        return 0;
    uv_run(&session->loop, UV_RUN_DEFAULT);
    uv_loop_close(&session->loop);
free_policy:
    takt_policy_free(session->policy);
    session->policy = NULL;
    return status;
}

bool takt_cli_reread(takt_cli_session *session, const takt_cli_settings *settings,
                     const takt_cli_target *target, takt_error *error)
{
    return takt_policy_file_reread(&session->policy, &session->former, policy_path(settings),
                                   target->limit, session->client, error);
}

static void forget_client(void *data)
{
    ((takt_cli_session *)data)->client = NULL;
}

void takt_cli_close(takt_cli_session *session)
{
    if (session->client)
        takt_close(session->client, forget_client, session);
    uv_run(&session->loop, UV_RUN_DEFAULT);
    uv_loop_close(&session->loop);
    takt_former_policies_free(&session->former);
    takt_policy_free(session->policy);
    session->policy = NULL;
}

void takt_cli_export_fence(const takt_permit *permit)
{
    char number[24];

    snprintf(number, sizeof(number), "%" PRId64, permit->fence);
    if (permit->fence > 0)
        setenv("TAKT_FENCE", number, 1);
    else
        unsetenv("TAKT_FENCE");
}

int takt_cli_request(const takt_cli_session *session, const takt_cli_target *target,
                     const takt_cli_wish *wish, takt_request *request)
{
    takt_error error = {0};

    *request = TAKT_REQUEST(target->limit);
    request->key = target->key;
    request->cost = wish->cost;
    memcpy(request->amounts, wish->amounts, sizeof(request->amounts));
    request->priority = wish->priority;
    request->tenant = wish->tenant;
    memcpy(request->within_keys, wish->within_keys, sizeof(request->within_keys));
    if (takt_check_request(session->policy, request, &error) != TAKT_E_INVALID)
        return 0; /* the acquire reports the rest */
    takt_message("%s", error.text);
    return EX_USAGE;
}

int takt_cli_refusal(const takt_cli_session *session, const takt_cli_target *target, int code,
                     const takt_request *request)
{
    takt_error error = {0};
    char shown[TAKT_QUOTE_SIZE];

    takt_quote(target->text, shown);
    switch (code) {
    case TAKT_E_COST:
        if (request && takt_check_request(session->policy, request, &error) == TAKT_E_COST)
            takt_message("%s", error.text);
        else /* the store has newer rules */
            takt_message("%s: %s", shown, takt_strerror(code));
        return EX_USAGE;
    case TAKT_E_INVALID:
    case TAKT_E_NO_LIMIT:
        takt_message("%s: %s", shown, takt_strerror(code));
        return EX_USAGE;
    case TAKT_E_FULL:
    case TAKT_E_NO_SLOT:
    case TAKT_E_DEADLINE:
        if (session->store_lost && code == TAKT_E_DEADLINE)
            takt_message("%s: the store was unreachable in the time allowed for waiting", shown);
        else
            takt_message("%s: %s", shown, takt_strerror(code));
        return session->store_lost ? EX_UNAVAILABLE : EX_TEMPFAIL;
    default:
        takt_message("%s: %s", shown, takt_strerror(code));
        return takt_exit_status(code);
    }
}
