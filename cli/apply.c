/*
 * `takt apply`: puts a policy file into the store, for all workers that follow it, and shows the
 * changes, limit by limit.
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include <takt/doctor.h>
#include <takt/stored_policy.h>

#include "commands.h"
#include "common/json.h"
#include "common/session.h"
#include "kit/message.h"
#include "kit/outer_limit.h"

enum { KEY_DRY_RUN = 0x200 };

typedef struct cli_apply {
    takt_cli_settings *settings;
    bool dry_run;
    takt_policy *policy;
    takt_stored_policy *stored; /* the policy in the store */
    int width;                  /* of the limits' names */
    unsigned shown;
} cli_apply;

static error_t parse(int key, char *word, struct argp_state *state)
{
    cli_apply *apply = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = apply->settings;
        state->child_inputs[1] = apply->settings;
        return 0;
    case KEY_DRY_RUN:
        apply->dry_run = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one file at a time");
        apply->settings->file = word;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"dry-run", KEY_DRY_RUN, 0, 0, "Show what would change, and change nothing", 1},
    {0},
};
static const struct argp_child children[] = {
    {&takt_cli_json_argp, 0, NULL, 0}, {&takt_cli_location_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "[FILE]",
    "Puts the limits of a policy file into its store and namespace. Workers whose own file says "
    "`policy: store` use them within two seconds, without a restart."
    "\vExit status: 0; with --dry-run 1 if something would change; 64 wrong command line, 69 store "
    "unusable, 75 somebody else applied another policy meanwhile, 78 policy unusable.\n\n"
    "Examples:\n"
    "  takt apply --dry-run takt.yaml\n"
    "  takt apply takt.yaml -s redis://ops@redis.internal",
    children,
    NULL,
    NULL,
};

static const char *word_of(const takt_difference *difference)
{
    return !difference->from ? "added" : !difference->to ? "removed" : "changed";
}

static void measure(void *data, const takt_difference *difference)
{
    cli_apply *apply = data;
    int size = (int)strlen(difference->limit);

    apply->width = size > apply->width ? size : apply->width;
}

static void print_line(void *data, const takt_difference *difference)
{
    const cli_apply *apply = data;

    printf("%-*s  %-7s  ", apply->width, difference->limit, word_of(difference));
    if (difference->from && difference->to)
        printf("%s -> %s\n", difference->from, difference->to);
    else
        printf("%s\n", difference->from ? difference->from : difference->to);
}

static void print_object(void *data, const takt_difference *difference)
{
    cli_apply *apply = data;

    printf(apply->shown++ > 0 ? ",{" : "{");
    takt_cli_json_field("limit", difference->limit);
    putchar(',');
    takt_cli_json_field("change", word_of(difference));
    putchar(',');
    takt_cli_json_field("from", difference->from);
    putchar(',');
    takt_cli_json_field("to", difference->to);
    putchar('}');
}

static void print_json(cli_apply *apply, int64_t version)
{
    putchar('{');
    takt_cli_json_field("namespace", takt_policy_namespace(apply->policy));
    printf(",\"version\":%lld,\"was\":%lld,\"dry_run\":%s,\"differences\":[", (long long)version,
           (long long)apply->stored->version, apply->dry_run ? "true" : "false");
    takt_policy_compare(apply->stored->policy, apply->policy, print_object, apply);
    printf("]}\n");
}

static void print_lines(cli_apply *apply, int64_t version)
{
    const takt_stored_policy *stored = apply->stored;

    if (stored->version > 0 && !stored->policy)
        takt_message("%s", stored->trouble.text);
    takt_policy_compare(stored->policy, apply->policy, measure, apply);
    if (takt_policy_compare(stored->policy, apply->policy, print_line, apply) == 0)
        printf("no limit changes\n");
    if (apply->dry_run)
        return;
    printf(version == stored->version
               ? "version %lld in the namespace \"%s\" already has this text\n"
               : "version %lld in the namespace \"%s\": workers that follow "
                 "it use it within two seconds\n",
           (long long)version, takt_policy_namespace(apply->policy));
}

/* 0, or the exit status after a message. */
static int put(cli_apply *apply, const takt_options *client_options, int64_t *version)
{
    takt_error error = {0};
    int code = apply->dry_run ? takt_stored_policy_check(apply->stored, apply->policy, &error)
                              : takt_stored_policy_apply(apply->stored, apply->policy, NULL,
                                                         client_options, version, &error);

    return code ? takt_cli_refuse_store(apply->settings, code, &error) : 0;
}

/* A private store: no other worker can follow its policy. */
static bool is_in_memory(const cli_apply *apply, const char *store)
{
    store = store ? store : takt_policy_store(apply->policy);
    return store && strncmp(store, "memory:", 7) == 0;
}

static void on_finding(void *data, const takt_finding *finding)
{
    if (finding->level == TAKT_FINDING_ERROR && strcmp(finding->subject, "namespace") == 0) {
        takt_message("%s", finding->text);
        *(int *)data = EX_CONFIG;
    }
}

/* A cluster may refuse the work of all workers that use this policy: 0, or the exit status after a
 * message. What else the store lacks, the calls tell. */
static int check_namespace(const cli_apply *apply, const char *store)
{
    takt_doctor_options wanted = {.name_space = takt_policy_namespace(apply->policy), .nested = 1};
    int status = 0;

    store = store ? store : takt_policy_store(apply->policy);
    if (store && (strncmp(store, "redis", 5) == 0 || strncmp(store, "unix:", 5) == 0) &&
        takt_has_nested_limits(apply->policy))
        takt_doctor(store, &wanted, on_finding, &status);
    return status;
}

static int go(cli_apply *apply)
{
    takt_options client_options = {.store = takt_cli_store(apply->settings),
                                   .store_timeout_us = TAKT_CLI_TIMEOUT_US};
    takt_error error = {0};
    int code, status;
    int64_t version;

    if (is_in_memory(apply, client_options.store)) {
        takt_message("a memory store is gone when this command ends; name a file (\"file:\") or a "
                     "server (\"redis://HOST\") with --store");
        return EX_USAGE;
    }
    code = takt_stored_policy_read(&apply->stored, apply->policy, &client_options, &error);
    if (code)
        return takt_cli_refuse_store(apply->settings, code, &error);
    version = apply->stored->version;
    status = check_namespace(apply, client_options.store);
    if (status)
        return status;
    status = put(apply, &client_options, &version);
    if (status)
        return status;
    if (apply->settings->json)
        print_json(apply, version);
    else
        print_lines(apply, version);
    status = takt_message_end_output();
    if (status || !apply->dry_run)
        return status;
    return takt_policy_compare(apply->stored->policy, apply->policy, NULL, NULL) > 0;
}

int takt_cli_apply(int argc, char **argv, takt_cli_settings *settings)
{
    cli_apply apply = {.settings = settings};

    takt_cli_parse(&argp, argc, argv, false, &apply);
    int status = takt_cli_load_policy(&apply.policy, settings);
    if (status)
        return status;
    takt_cli_warn(apply.policy);
    status = go(&apply);
    takt_stored_policy_free(apply.stored);
    takt_policy_free(apply.policy);
    return status;
}
