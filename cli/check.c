/*
 * `takt check`: reads a policy as a worker would, and prints what it understood.
 */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "common/json.h"
#include "common/session.h"
#include "kit/message.h"

static error_t parse(int key, char *word, struct argp_state *state)
{
    takt_cli_settings *settings = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = settings;
        state->child_inputs[1] = settings;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one file at a time");
        settings->file = word;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&takt_cli_json_argp, 0, NULL, 0}, {&takt_cli_location_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    NULL,
    parse,
    "[FILE]",
    "Validates a policy file and prints its limits, one per line. An error names the line and says "
    "what to write instead."
    "\vExit status: 0 valid, 78 invalid.\n\n"
    "Example:\n"
    "  takt check takt.yaml",
    children,
    NULL,
    NULL,
};

static void print_warning(void *data, const char *limit, const char *text)
{
    int *count = data;

    printf((*count)++ > 0 ? ",{" : "{");
    takt_cli_json_field("limit", limit);
    putchar(',');
    takt_cli_json_field("text", text);
    putchar('}');
}

static void print_json(const takt_policy *policy)
{
    takt_on_store_failure failure = TAKT_ON_STORE_FAILURE_WAIT;
    takt_mode mode = TAKT_MODE_ENFORCE;
    takt_learn learn = TAKT_LEARN_OFF;
    const char *key;
    char rules[1024];
    int warnings = 0;

    putchar('{');
    takt_cli_json_field("namespace", takt_policy_namespace(policy));
    putchar(',');
    takt_cli_json_field("store", takt_policy_store(policy));
    printf(",\"follows\":%s,\"limits\":[", takt_policy_follows(policy) ? "true" : "false");
    for (size_t i = 0; i < takt_policy_count(policy); i++) {
        const char *name = takt_policy_name(policy, i);
        takt_policy_describe(policy, name, rules, sizeof(rules));
        printf(i ? ",{" : "{");
        takt_cli_json_field("name", name);
        putchar(',');
        takt_cli_json_field("rules", rules);
        takt_policy_on_store_failure(policy, name, &failure);
        takt_policy_mode(policy, name, &mode);
        takt_policy_learn(policy, name, &learn);
        putchar(',');
        takt_cli_json_field("on_store_failure", takt_on_store_failure_name(failure));
        putchar(',');
        takt_cli_json_field("mode", takt_mode_name(mode));
        putchar(',');
        takt_cli_json_field("learn", takt_learn_name(learn));
        printf(",\"fair\":%s,\"key_hash\":%s,\"overrides\":[",
               takt_policy_fair(policy, name) ? "true" : "false",
               takt_policy_key_hash(policy, name) ? "true" : "false");
        for (size_t k = 0; takt_policy_override(policy, name, k, &key, rules, sizeof(rules)) == 0;
             k++) {
            printf(k ? ",{" : "{");
            takt_cli_json_field("key", key);
            putchar(',');
            takt_cli_json_field("rules", rules);
            putchar('}');
        }
        printf("]}");
    }
    printf("],\"warnings\":[");
    takt_policy_warn(policy, print_warning, &warnings);
    printf("]}\n");
}

int takt_cli_check(int argc, char **argv, takt_cli_settings *settings)
{
    takt_policy *policy;

    takt_cli_parse(&argp, argc, argv, false, settings);
    int status = takt_cli_load_policy(&policy, settings);
    if (status)
        return status;
    if (settings->json)
        print_json(policy);
    else if (takt_policy_follows(policy))
        printf("the limits are in the store; `takt policy` shows them\n");
    else
        takt_cli_print_limits(policy);
    if (!settings->json)
        takt_cli_warn(policy);
    takt_policy_free(policy);
    return takt_message_end_output();
}
