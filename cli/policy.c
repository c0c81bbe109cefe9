/*
 * `takt policy`: shows the stored policy: its limits, its text, or its history.
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include <takt/stored_policy.h>

#include "commands.h"
#include "common/json.h"
#include "common/session.h"
#include "kit/message.h"
#include "kit/wall_clock.h"

enum { KEY_HISTORY = 0x200, KEY_TEXT };

typedef struct cli_look {
    takt_cli_settings *settings;
    bool history, text;
} cli_look;

static error_t parse(int key, char *word, struct argp_state *state)
{
    cli_look *look = state->input;

    (void)word;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = look->settings;
        state->child_inputs[1] = look->settings;
        return 0;
    case KEY_HISTORY:
        look->history = true;
        return 0;
    case KEY_TEXT:
        look->text = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument: %s", word);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"history", KEY_HISTORY, 0, 0, "The last changes, the newest first: who, when, and what", 1},
    {"text", KEY_TEXT, 0, 0, "The policy as it was written, to be edited and applied again", 1},
    {0},
};
static const struct argp_child children[] = {
    {&takt_cli_json_argp, 0, NULL, 0}, {&takt_cli_location_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "",
    "Prints the limits of the policy in the store, one per line."
    "\vExit status: 0; 64 wrong command line, 69 store unusable, 78 no policy in the store, or one "
    "that this version cannot read.\n\n"
    "Examples:\n"
    "  takt policy\n"
    "  takt policy --history\n"
    "  takt policy --text > stored.yaml",
    children,
    NULL,
    NULL,
};

/* "version 8, revision 3, 412 bytes, 14:32:07, ann@host: mail changed" */
static void print_change(const takt_change *change)
{
    char moment[TAKT_WALL_CLOCK_TEXT_SIZE], who[TAKT_QUOTE_SIZE];

    printf("version %lld, revision %lld, %lld bytes, %s, %s: %s\n", (long long)change->version,
           (long long)change->revision, (long long)change->size,
           takt_wall_clock_text(change->at_us, moment), takt_quote(change->who, who), change->what);
}

static void print_json(const takt_stored_policy *stored)
{
    char rules[1024];

    printf("{\"version\":%lld,\"at_us\":%lld,\"limits\":[", (long long)stored->version,
           (long long)stored->at_us);
    for (size_t i = 0; stored->policy && i < takt_policy_count(stored->policy); i++) {
        const char *name = takt_policy_name(stored->policy, i);
        takt_policy_describe(stored->policy, name, rules, sizeof(rules));
        printf(i > 0 ? ",{" : "{");
        takt_cli_json_field("name", name);
        putchar(',');
        takt_cli_json_field("rules", rules);
        putchar('}');
    }
    printf("],\"history\":[");
    for (int i = 0; i < stored->change_count; i++) {
        const takt_change *change = &stored->changes[i];
        printf("%s{\"version\":%lld,\"at_us\":%lld,\"revision\":%lld,\"size\":%lld,",
               i > 0 ? "," : "", (long long)change->version, (long long)change->at_us,
               (long long)change->revision, (long long)change->size);
        takt_cli_json_field("who", change->who);
        putchar(',');
        takt_cli_json_field("what", change->what);
        putchar('}');
    }
    printf("],\"text\":");
    takt_cli_json_string(stdout, stored->text, stored->size);
    printf("}\n");
}

static void print(const cli_look *look, const takt_stored_policy *stored)
{
    if (look->settings->json) {
        print_json(stored);
        return;
    }
    if (look->history)
        for (int i = 0; i < stored->change_count; i++)
            print_change(&stored->changes[i]);
    if (look->text)
        fwrite(stored->text, 1, stored->size, stdout);
    if (look->history || look->text)
        return;
    if (stored->change_count > 0)
        print_change(&stored->changes[0]);
    if (stored->policy)
        takt_cli_print_limits(stored->policy);
}

static int show(const cli_look *look, const takt_stored_policy *stored)
{
    int status;

    if (stored->version == 0) {
        takt_message("%s", TAKT_CLI_NO_POLICY);
        return EX_CONFIG;
    }
    print(look, stored);
    status = takt_message_end_output();
    if (stored->policy)
        return status;
    takt_message("%s", stored->trouble.text);
    return EX_CONFIG;
}

int takt_cli_policy(int argc, char **argv, takt_cli_settings *settings)
{
    takt_options client_options = {.store_timeout_us = TAKT_CLI_TIMEOUT_US};
    cli_look look = {.settings = settings};
    takt_error error = {0};
    takt_policy *policy = NULL;
    takt_stored_policy *stored;
    int status = 0, code;

    takt_cli_parse(&argp, argc, argv, false, &look);
    if (takt_cli_has_policy(settings))
        status = takt_cli_load_policy(&policy, settings);
    if (status)
        return status;
    client_options.store = takt_cli_store(settings);
    code = takt_stored_policy_read(&stored, policy, &client_options, &error);
    takt_policy_free(policy);
    if (code)
        return takt_cli_refuse_store(settings, code, &error);
    status = show(&look, stored);
    takt_stored_policy_free(stored);
    return status;
}
