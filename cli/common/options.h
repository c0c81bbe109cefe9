/*
 * The common options: policy and store, limits named ad hoc, LIMIT[:KEY].
 */
#ifndef TAKT_CLI_COMMON_OPTIONS_H
#define TAKT_CLI_COMMON_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include <takt/takt.h>

#include "kit/argument.h"

/* The strings are those of the command line. */
typedef struct takt_cli_settings {
    const char *policy; /* --policy; NULL: look for one */
    const char *file;   /* FILE, of commands that take the policy like that; NULL: not given */
    const char *store;  /* --store; NULL: $TAKT_STORE, the policy's, the default */
    takt_rule_text rules[TAKT_RULES_MAX]; /* --rate, --burst: instead of a policy */
    unsigned rule_count;
    const char *concurrency, *lease; /* --concurrency and --lease, of the ad hoc limit */
    const char *on_store_failure;    /* --on-store-failure, of these rates; NULL: wait */
    const char *mode;                /* --mode, of the ad hoc limit; NULL: enforce */
    bool json;
} takt_cli_settings;

/* One command of `takt`. */
typedef struct takt_cli_command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv, takt_cli_settings *settings); /* returns the exit status */
} takt_cli_command;

/* LIMIT[:KEY] */
typedef struct takt_cli_target {
    char limit[TAKT_NAME_SIZE_MAX + 1];
    const char *key; /* NULL: the limit as a whole */
    const char *text;
} takt_cli_target;

/* What one unit of work asks for. */
typedef struct takt_cli_wish {
    int32_t cost;
    takt_amount amounts[TAKT_AMOUNTS_MAX]; /* of --cost UNIT=N */
    unsigned amount_count;
    int32_t priority;
    const char *tenant;                           /* NULL: none */
    const char *within_keys[TAKT_LEVELS_MAX - 1]; /* of the limits around, the next one first */
    unsigned within_key_count;
} takt_cli_wish;

/* Groups of options for argp_children; their input is the settings, for the last one the wish. */
extern const struct argp takt_cli_location_argp; /* -p, -s */
extern const struct argp takt_cli_rate_argp;     /* --rate, --burst */
extern const struct argp takt_cli_json_argp;     /* --json */
extern const struct argp takt_cli_wish_argp;     /* --cost, --priority, --tenant, --within-key */

/* Whether the command line defines a limit. */
bool takt_cli_is_ad_hoc(const takt_cli_settings *settings);

/*
 * Parses a command line; returns only if it is valid, otherwise ends the program with EX_USAGE.
 * `runs_command`: the words after "--" are a command.
 */
void takt_cli_parse(const struct argp *argp, int argc, char **argv, bool runs_command, void *input);

/* Reads LIMIT[:KEY]; ends the program as argp_error does where it is not one. */
void takt_cli_read_target(struct argp_state *state, const char *text, takt_cli_target *target);

/* For an argp parser: takes LIMIT, then the command with all its words, and refuses a line that
 * lacks either.  `command` becomes a NULL-terminated part of argv. */
error_t takt_cli_parse_command_line(int key, char *word, struct argp_state *state,
                                    takt_cli_target *target, char ***command);

#endif
