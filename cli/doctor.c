/*
 * `takt doctor`: prints what the library finds out about a store, one line per finding. The store
 * is selected as for every other command.
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include <takt/doctor.h>

#include "commands.h"
#include "common/json.h"
#include "common/session.h"
#include "kit/message.h"
#include "kit/outer_limit.h"

enum { KEY_LOAD_SCRIPTS = 0x200, KEY_TIMEOUT };

typedef struct cli_doctor {
    takt_cli_settings *settings;
    bool load_scripts;
    int64_t timeout_us;
    int errors, warnings;
} cli_doctor;

static error_t parse(int key, char *word, struct argp_state *state)
{
    cli_doctor *doctor = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = doctor->settings;
        state->child_inputs[1] = doctor->settings;
        return 0;
    case KEY_LOAD_SCRIPTS:
        doctor->load_scripts = true;
        return 0;
    case KEY_TIMEOUT:
        doctor->timeout_us = takt_argument_any_duration(state, "--timeout", word);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"load-scripts", KEY_LOAD_SCRIPTS, 0, 0,
     "Only load takt's scripts into the Redis server, for clients with scripts=preloaded", 1},
    {"timeout", KEY_TIMEOUT, "DURATION", 0, "How long to wait for an answer (default 1s)", 1},
    {0},
};
static const struct argp_child children[] = {
    {&takt_cli_json_argp, 0, NULL, 0}, {&takt_cli_location_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "",
    "Checks whether the store is suitable, and what a failure of it would cost. Takes nothing from "
    "any limit."
    "\vExit status: 0 usable, also with warnings; 64 wrong command line, 69 store unusable, 78 "
    "policy unusable.\n\n"
    "Example:\n"
    "  takt doctor -s redis://worker@redis.internal",
    children,
    NULL,
    NULL,
};

static void print_json(const takt_finding *finding)
{
    printf("{\"level\":\"%s\",\"subject\":\"%s\",", takt_finding_level_name(finding->level),
           finding->subject);
    takt_cli_json_field("text", finding->text);
    printf("}\n");
}

static void on_finding(void *data, const takt_finding *finding)
{
    cli_doctor *doctor = data;

    doctor->errors += finding->level == TAKT_FINDING_ERROR;
    doctor->warnings += finding->level == TAKT_FINDING_WARNING;
    if (doctor->settings->json)
        print_json(finding);
    else
        printf("%-7s  %-11s  %s\n", takt_finding_level_name(finding->level), finding->subject,
               finding->text);
}

static void print_end(const cli_doctor *doctor)
{
    if (doctor->errors > 0)
        printf("The store cannot be used.\n");
    else if (doctor->warnings > 0)
        printf("The store can be used, with %d warning%s.\n", doctor->warnings,
               doctor->warnings > 1 ? "s" : "");
    else
        printf("The store can be used.\n");
}

static int status_of(int code)
{
    if (code == 0)
        return 0;
    if (code == TAKT_E_STORE_URL || code == TAKT_E_INVALID)
        return EX_USAGE;
    return code == TAKT_E_NOMEM || code == TAKT_E_SYSTEM ? EX_OSERR : EX_UNAVAILABLE;
}

static int examine(cli_doctor *doctor, const char *store, const takt_policy *policy)
{
    takt_doctor_options wanted = {.name_space = policy ? takt_policy_namespace(policy) : NULL,
                                  .timeout_us = doctor->timeout_us,
                                  .nested = policy && takt_has_nested_limits(policy)};
    int code = doctor->load_scripts ? takt_doctor_load_scripts(store, &wanted, on_finding, doctor)
                                    : takt_doctor(store, &wanted, on_finding, doctor);
    int failed;

    if (!doctor->settings->json && !doctor->load_scripts)
        print_end(doctor);
    failed = takt_message_end_output();
    return code ? status_of(code) : failed;
}

int takt_cli_doctor(int argc, char **argv, takt_cli_settings *settings)
{
    cli_doctor doctor = {.settings = settings};
    takt_policy *policy = NULL;
    const char *store;
    int status = 0;

    takt_cli_parse(&argp, argc, argv, false, &doctor);
    if (takt_cli_has_policy(settings))
        status = takt_cli_load_policy(&policy, settings);
    if (status)
        return status;
    store = takt_cli_store(settings);
    if (policy && !store)
        store = takt_policy_store(policy);
    status = examine(&doctor, store ? store : "file:", policy);
    takt_policy_free(policy);
    return status;
}
