/*
 * What `takt simulate` was asked for, and what its two modes share.
 */
#ifndef TAKT_CLI_SIMULATE_H
#define TAKT_CLI_SIMULATE_H

#include <stdio.h>

#include <takt/simulate.h>

#include "common/options.h"

#define TAKT_CLI_COMPARED_MAX 16
#define TAKT_CLI_DECIMAL_SIZE 32 /* seconds as text, with NUL */

typedef struct takt_cli_simulate_plan {
    takt_cli_settings *settings;
    takt_cli_target target; /* the limit's name; text NULL: not said */
    takt_policy *policy;
    const takt_limit *limit;
    int64_t start_us; /* --start, since the Unix epoch */
    bool start_given;

    /* arrivals in, decisions out */
    const char *arrivals; /* NULL: a fleet is simulated */
    bool try_only;

    /* a fleet */
    takt_bulk bulk;
    takt_outage outages[TAKT_SIM_EVENTS_MAX];
    takt_crash crashes[TAKT_SIM_EVENTS_MAX];
    const char *fleet_option;                                  /* one that was given; NULL: none */
    char cost_units[TAKT_AMOUNTS_MAX][TAKT_UNIT_SIZE_MAX + 1]; /* of --cost UNIT=A */
    bool workers_given, jobs_given, at_once_given;
    char *compared[TAKT_CLI_COMPARED_MAX];
    unsigned compared_count;
    const char *svg, *html; /* files; NULL: no */
} takt_cli_simulate_plan;

/* The two modes; each returns the exit status. */
int takt_cli_simulate_arrivals(const takt_cli_simulate_plan *plan);
int takt_cli_simulate_fleet(const takt_cli_simulate_plan *plan);

/* The figures of a fleet as one JSON object on a line, or all side by side for a person. */
void takt_cli_simulation_json(FILE *file, const takt_simulation *simulation,
                              const takt_cli_simulate_plan *plan);
void takt_cli_simulations_table(FILE *file, takt_simulation *const *simulations, unsigned count);

/* Microseconds as exact decimal seconds without needless digits: 9500000 is "9.5", 3000000 is "3".
 */
const char *takt_cli_decimal(int64_t us, char text[TAKT_CLI_DECIMAL_SIZE]);

/* "9.5" in microseconds: whole seconds and at most six decimals, from 0 to 50 years.  0, or -1. */
int takt_cli_read_decimal(const char *text, size_t size, int64_t *us);

/* What the command line's options are written as; each ends the program as argp_error does where it
 * is not. */
void takt_cli_read_span(struct argp_state *state, const char *what, const char *text,
                        int64_t *min_us, int64_t *max_us);
void takt_cli_read_cost(struct argp_state *state, const char *text, takt_cli_simulate_plan *plan);
void takt_cli_read_weights(struct argp_state *state, const char *text,
                           int32_t weights[TAKT_SIM_PRIORITIES]);
void takt_cli_read_outage(struct argp_state *state, const char *text, takt_outage *outage);
void takt_cli_read_crash(struct argp_state *state, const char *text, takt_crash *crash);
int64_t takt_cli_read_start(struct argp_state *state, const char *text);

#endif
