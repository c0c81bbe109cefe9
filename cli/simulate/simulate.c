/*
 * `takt simulate`: reads the simulation from the command line, an oracle's arrivals or a fleet's
 * bulk job, and runs it.
 */
#include "simulate.h"

#include <string.h>
#include <sysexits.h>

#include "commands.h"
#include "common/session.h"
#include "kit/message.h"
#include "kit/wall_clock.h"

enum {
    KEY_LIMIT = 0x200,
    KEY_ARRIVALS,
    KEY_TRY,
    KEY_START,
    KEY_WORKERS,
    KEY_JOBS,
    KEY_JOB_TIME,
    KEY_COST,
    KEY_PRIORITIES,
    KEY_RTT,
    KEY_STORE_DOWN,
    KEY_CRASH,
    KEY_SEED,
    KEY_COMPARE,
    KEY_SVG,
    KEY_HTML,
};

static const struct argp_option options[] = {
    {"limit", KEY_LIMIT, "NAME", 0,
     "The policy's limit to simulate (optional if there is only one)", 1},
    {"start", KEY_START, "TIME", 0,
     "The moment at 0, like 2026-03-08T00:00:00Z (default: now; with --arrivals 1970-01-01)", 1},
    {0, 0, 0, 0, "Arrivals in, decisions out:", 2},
    {"arrivals", KEY_ARRIVALS, "FILE", 0,
     "One per line: SECONDS [COST [PRIORITY [MAX_WAIT_SECONDS]]], in order; COST is a number or "
     "UNIT=N,...; - is standard input",
     2},
    {"try", KEY_TRY, 0, 0, "Nobody waits: each is granted at once or refused", 2},
    {0, 0, 0, 0, "A bulk job, done by a fleet:", 3},
    {"workers", KEY_WORKERS, "N", 0, "Workers of the fleet", 3},
    {"jobs", KEY_JOBS, "N", 0, "Jobs to be done", 3},
    {"at-once", 'j', "N", 0,
     "Jobs that a worker has in hand, waiting or being worked on (default 64, or a quarter of its "
     "share)",
     3},
    {"job-time", KEY_JOB_TIME, "A[..B]", 0,
     "How long a job is worked on: 40ms, 40ms..200ms (default 0)", 3},
    {"cost", KEY_COST, "[UNIT=]A[..B]", 0,
     "Tokens of a job (default 1), or how much of a unit that the rules count; may be repeated", 3},
    {"priorities", KEY_PRIORITIES, "P:WEIGHT,...", 0,
     "Jobs' priorities and how many have each: 0:1,5:9 (default 5)", 3},
    {"rtt", KEY_RTT, "DURATION", 0, "Round trip to the store, on average (default 1ms)", 3},
    {"store-down", KEY_STORE_DOWN, "AT+FOR", 0,
     "The store is unreachable: 30s+10s; may be repeated", 3},
    {"crash", KEY_CRASH, "N@AT[+FOR]", 0, "So many workers crash: 3@20s; may be repeated", 3},
    {"seed", KEY_SEED, "N", 0, "Random seed (default 1)", 3},
    {"compare", KEY_COMPARE, "A,B,...", 0, "The same job under each of these algorithms", 3},
    {"svg", KEY_SVG, "FILE", 0, "Draw it", 3},
    {"html", KEY_HTML, "FILE", 0, "Draw it, on a page with every figure", 3},
    {0},
};

static void read_compared(struct argp_state *state, char *word, takt_cli_simulate_plan *plan)
{
    char *rest;

    plan->compared_count = 0;
    for (char *name = strtok_r(word, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        if (plan->compared_count == TAKT_CLI_COMPARED_MAX)
            argp_error(state, "--compare takes at most %d algorithms", TAKT_CLI_COMPARED_MAX);
        else
            plan->compared[plan->compared_count++] = name;
    }
    if (plan->compared_count == 0)
        argp_error(state, "--compare takes algorithms with commas between, like gcra,fixed-window");
}

/* The next of a list that --store-down or --crash fills. */
static unsigned next_event(struct argp_state *state, const char *what, unsigned *count)
{
    if (*count < TAKT_SIM_EVENTS_MAX)
        return (*count)++;
    argp_error(state, "%s can be given at most %d times", what, TAKT_SIM_EVENTS_MAX);
    return 0;
}

/* The options of a fleet. */
static error_t parse_fleet(int key, char *word, struct argp_state *state)
{
    takt_cli_simulate_plan *plan = state->input;
    takt_bulk *bulk = &plan->bulk;

    switch (key) {
    case KEY_WORKERS:
        bulk->workers =
            (int32_t)takt_argument_number(state, "--workers", word, 1, TAKT_SIM_WORKERS_MAX);
        plan->workers_given = true;
        return 0;
    case KEY_JOBS:
        bulk->jobs = takt_argument_number(state, "--jobs", word, 1, TAKT_SIM_JOBS_MAX);
        plan->jobs_given = true;
        return 0;
    case 'j':
        bulk->at_once =
            (int32_t)takt_argument_number(state, "--at-once", word, 1, TAKT_SIM_AT_ONCE_MAX);
        plan->at_once_given = true;
        return 0;
    case KEY_JOB_TIME:
        takt_cli_read_span(state, "--job-time", word, &bulk->work_min_us, &bulk->work_max_us);
        return 0;
    case KEY_COST:
        takt_cli_read_cost(state, word, plan);
        return 0;
    case KEY_PRIORITIES:
        takt_cli_read_weights(state, word, bulk->weights);
        return 0;
    case KEY_RTT:
        takt_cli_read_span(state, "--rtt", word, &bulk->round_trip_us, &bulk->round_trip_us);
        return 0;
    case KEY_STORE_DOWN:
        takt_cli_read_outage(
            state, word, &plan->outages[next_event(state, "--store-down", &bulk->outage_count)]);
        return 0;
    case KEY_CRASH:
        takt_cli_read_crash(state, word,
                            &plan->crashes[next_event(state, "--crash", &bulk->crash_count)]);
        return 0;
    case KEY_SEED:
        bulk->seed = (uint64_t)takt_argument_number(state, "--seed", word, 0, INT64_MAX);
        return 0;
    case KEY_COMPARE:
        read_compared(state, word, plan);
        return 0;
    case KEY_SVG:
        plan->svg = word;
        return 0;
    case KEY_HTML:
        plan->html = word;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void check_modes(struct argp_state *state, const takt_cli_simulate_plan *plan)
{
    if (plan->arrivals && plan->fleet_option)
        argp_error(state, "--arrivals simulates no fleet: leave out --%s", plan->fleet_option);
    else if (!plan->arrivals && !plan->workers_given && !plan->jobs_given)
        argp_error(state, "nothing to simulate; write --arrivals FILE, or --workers N --jobs N");
    else if (!plan->arrivals && (!plan->workers_given || !plan->jobs_given))
        argp_error(state, "a fleet needs both --workers N and --jobs N");
    else if (!plan->arrivals && plan->try_only)
        argp_error(state, "--try belongs to --arrivals: the jobs of a fleet wait");
    else if (plan->target.text && takt_cli_is_ad_hoc(plan->settings))
        argp_error(state, "--limit names a limit of a policy, and --%s replaces the policy",
                   plan->settings->rule_count > 0 ? "rate" : "concurrency");
}

static void note_option(takt_cli_simulate_plan *plan, int key)
{
    for (const struct argp_option *option = options; option->name || option->group; option++)
        if (option->name && option->key == key && option->group == 3)
            plan->fleet_option = option->name;
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    takt_cli_simulate_plan *plan = state->input;

    note_option(plan, key);
    switch (key) {
    case ARGP_KEY_INIT:
        for (int i = 0; i < 3; i++)
            state->child_inputs[i] = plan->settings;
        return 0;
    case KEY_LIMIT:
        takt_cli_read_target(state, word, &plan->target);
        if (plan->target.key)
            argp_error(state, "--limit takes a limit's name without a key: a simulation has the "
                              "limit's own numbers");
        return 0;
    case KEY_START:
        plan->start_us = plan->bulk.start_us = takt_cli_read_start(state, word);
        plan->start_given = true;
        return 0;
    case KEY_ARRIVALS:
        plan->arrivals = word;
        return 0;
    case KEY_TRY:
        plan->try_only = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument: %s", word);
        return 0;
    case ARGP_KEY_END:
        check_modes(state, plan);
        return 0;
    default:
        return parse_fleet(key, word, state);
    }
}

static const struct argp_child children[] = {{&takt_cli_json_argp, 0, NULL, 0},
                                             {&takt_cli_rate_argp, 0, NULL, 0},
                                             {&takt_cli_location_argp, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    options,
    parse,
    NULL,
    "Simulates a limit on virtual time, with the code that runs in production. Either decides on a "
    "list of arrivals, or shows how long a fleet needs for a bulk job, how long jobs wait, and how "
    "many calls the store gets."
    "\vExit status: 0; 64 wrong command line or malformed line, 66 file unreadable, 73 file not "
    "writable, 78 policy unusable.\n\n"
    "Examples:\n"
    "  takt simulate --rate 10/60s --burst 10 --arrivals arrivals.txt --json\n"
    "  takt simulate --limit mail --workers 16 --jobs 100000 --job-time 40ms..200ms --html "
    "job.html",
    children,
    NULL,
    NULL,
};

/* By default no worker may take up more than a quarter of its share of the jobs at the start. */
static void choose_at_once(takt_cli_simulate_plan *plan)
{
    takt_bulk *bulk = &plan->bulk;
    int64_t quarter = bulk->jobs / bulk->workers / 4;

    if (!plan->at_once_given && quarter < bulk->at_once)
        bulk->at_once = quarter > 1 ? (int32_t)quarter : 1;
}

/* Makes or reads the policy and finds the limit; without a name the only one there is. */
static int choose_limit(takt_cli_simulate_plan *plan)
{
    const takt_cli_settings *settings = plan->settings;
    char *name = plan->target.limit;
    int status;

    if (takt_cli_is_ad_hoc(settings)) {
        strcpy(name, "simulated");
        status = takt_cli_make_policy(&plan->policy, settings, &plan->target);
    } else {
        status = takt_cli_load_limits(&plan->policy, settings);
    }
    if (status)
        return status;
    if (!takt_cli_is_ad_hoc(settings) && !plan->target.text) {
        if (takt_policy_count(plan->policy) != 1) {
            takt_message("the policy has %zu limits; name one with --limit",
                         takt_policy_count(plan->policy));
            return EX_USAGE;
        }
        strcpy(name, takt_policy_name(plan->policy, 0));
    }
    plan->limit = takt_policy_limit(plan->policy, name);
    if (!plan->limit)
        return takt_cli_refuse_limit(plan->policy, name);
    return 0;
}

int takt_cli_simulate(int argc, char **argv, takt_cli_settings *settings)
{
    takt_cli_simulate_plan plan = {.settings = settings};
    int status;

    takt_bulk_init(&plan.bulk, 1);
    plan.bulk.seed = 1;
    plan.bulk.outages = plan.outages;
    plan.bulk.crashes = plan.crashes;
    takt_cli_parse(&argp, argc, argv, false, &plan);
    choose_at_once(&plan);
    if (!plan.start_given)
        plan.bulk.start_us = takt_wall_clock_now() / 1000000 * 1000000;
    status = choose_limit(&plan);
    if (status == 0)
        takt_cli_warn(plan.policy);
    if (status == 0 && plan.arrivals)
        status = takt_cli_simulate_arrivals(&plan);
    else if (status == 0)
        status = takt_cli_simulate_fleet(&plan);
    takt_policy_free(plan.policy);
    return status;
}
