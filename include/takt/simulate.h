/*
 * takt/simulate.h: shows what a limit will do before it is used.
 *
 * There are two kinds of simulation.  Both run on virtual time with the rules, the ledger and the
 * scheduler of production.  An oracle takes arrivals and decides about each, without a network.  A
 * bulk job is done by a simulated fleet with round trips, outages and crashes, and gives figures
 * and a picture.  Nothing here reads a clock or a file: the same input and seed give the same
 * results everywhere.
 *
 * Units: times and durations are int64 microseconds.
 */
#ifndef TAKT_SIMULATE_H
#define TAKT_SIMULATE_H

#include <stddef.h>
#include <stdint.h>

#include <takt/error.h>
#include <takt/policy.h>
#include <takt/standing.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A limit for simulations: takt_policy_limit returns the one of that name, or NULL; the policy owns
 * it, and must outlive what simulates it.  A limit that is `within` others is simulated with their
 * rules and permits, as if nothing else used them. */
typedef struct takt_limit takt_limit;
TAKT_EXPORT const takt_limit *takt_policy_limit(const takt_policy *policy, const char *name);

/* ---- decisions for a list of arrivals ---- */

/* A request.  A cost of 0 takes nothing and is granted at once. */
typedef struct takt_arrival {
    /* Since the simulation's start; not before the previous arrival. */
    int64_t at_us;
    /* Tokens, or the unit that the limit's rules name if that is one, 0 to TAKT_COST_MAX. */
    int32_t cost;
    /* 0 (most urgent) to 9. */
    int32_t priority;
    /* Refuse as soon as no slot within it is possible; -1: wait without a limit. */
    int64_t max_wait_us;
    /* For limits whose rules name several units: how much of each, 1 to TAKT_COST_MAX; `cost` is
     * then 1. A unit that is not stated takes its default_amount. Unit NULL: not used. The names
     * must stay valid until the decision. */
    takt_amount amounts[TAKT_AMOUNTS_MAX];
} takt_arrival;

/*
 * The decision.  A granted arrival is decided at its slot, like a permit's callback.  A refused one
 * is usually decided at its arrival, later only if more urgent work took what it waited for.
 */
typedef struct takt_decision {
    takt_arrival arrival;
    /* 1 or 0. */
    int granted;
    /* Since the simulation's start; -1: refused. */
    int64_t slot_us;
    /* As in takt_standing, at the moment of the decision. */
    int64_t remaining;
    /* Until the same cost would be granted if nothing else came; 0: granted; -1: never. */
    int64_t retry_after_us;
    /* Until every rule is unused again, if nothing else is taken. */
    int64_t reset_after_us;
} takt_decision;

typedef void (*takt_decision_cb)(const takt_decision *decision, void *data);

/*
 * One worker without delay to its store, which awards nothing in advance: slots are exact.  Waiters
 * go by priority, then by arrival; those of the same microsecond arrive together.
 */
typedef struct takt_oracle takt_oracle;

/*
 * `start_us` is the time 0 since the Unix epoch, for windows that are aligned to the clock.  With
 * `try_only` an arrival is granted at once or refused.  The limit must outlive the oracle.
 * on_decision is called once per arrival, in the order of arrivals, from inside the calls below.
 * 0, TAKT_E_INVALID (also with concurrency: an arrival does not say when its job ends) or
 * TAKT_E_NOMEM.
 */
TAKT_EXPORT int takt_oracle_open(takt_oracle **oracle, const takt_limit *limit, int64_t start_us,
                                 int try_only, takt_decision_cb on_decision, void *data);

/* Whether an oracle of the limit can be opened and takes the amounts of `arrival` (NULL: none is
 * asked about): 0, or TAKT_E_INVALID and why. */
TAKT_EXPORT int takt_oracle_check(const takt_limit *limit, const takt_arrival *arrival,
                                  takt_error *error);

/* Adds an arrival.  TAKT_E_INVALID: a number is out of range, an amount is missing or of no unit
 * that the rules count, or the time is before the last one; the arrival does not count.
 * TAKT_E_NOMEM: the oracle cannot be used any longer. */
TAKT_EXPORT int takt_oracle_arrive(takt_oracle *oracle, const takt_arrival *arrival);

/* Ends the arrivals: all waiters get their decisions.  0, or TAKT_E_NOMEM as above. */
TAKT_EXPORT int takt_oracle_end(takt_oracle *oracle);

/* Frees the oracle, without decisions for waiters.  NULL is harmless. */
TAKT_EXPORT void takt_oracle_close(takt_oracle *oracle);

/* ---- a bulk job done by a fleet ---- */

#define TAKT_SIM_WORKERS_MAX 10000
#define TAKT_SIM_JOBS_MAX    INT64_C(1000000000)
#define TAKT_SIM_AT_ONCE_MAX 10000
#define TAKT_SIM_EVENTS_MAX  64 /* outages and crashes, each */
#define TAKT_SIM_PRIORITIES  10

/* The store is unreachable from at_us on, for for_us: messages to it are lost. */
typedef struct takt_outage {
    int64_t at_us, for_us;
} takt_outage;

/* How much of a unit a job takes, uniformly distributed. */
typedef struct takt_amount_span {
    const char *unit; /* NULL: not used */
    int32_t min, max; /* 1 to TAKT_COST_MAX */
} takt_amount_span;

/* That many random living workers crash at once; for_us later they restart (0: never). */
typedef struct takt_crash {
    int64_t at_us, for_us;
    int32_t workers;
} takt_crash;

/*
 * The work and the fleet; initialise it with takt_bulk_init.  Times of events count from the start
 * of the job.
 *
 * Jobs are in one queue.  A worker with fewer than `at_once` jobs in hand takes one, acquires,
 * waits for the slot and works.  With concurrency it holds its permit meanwhile, and a job that
 * loses it stops and asks again.  A crashed worker's jobs return to the queue; a job that had
 * started is started again, like any job that is done at least once.
 */
typedef struct takt_bulk {
    int64_t jobs;
    int32_t workers;
    /* Jobs that a worker has in hand, waiting or running. */
    int32_t at_once;
    /* How long a job runs, uniformly distributed. */
    int64_t work_min_us, work_max_us;
    /* Tokens of a job, or the unit that the limit's rules name if that is one, uniformly
     * distributed. */
    int32_t cost_min, cost_max;
    /* The share of jobs of each priority, relative to each other. */
    int32_t weights[TAKT_SIM_PRIORITIES];
    /* The average round trip to the store; each way takes 1/4 to 3/4 of it. */
    int64_t round_trip_us;
    /* When it begins, since the Unix epoch. */
    int64_t start_us;
    uint64_t seed;
    const takt_outage *outages;
    const takt_crash *crashes;
    unsigned outage_count, crash_count;
    /* For limits whose rules name several units: how much of each; both costs are then 1.  A unit
     * that is not stated takes its default_amount. */
    takt_amount_span amounts[TAKT_AMOUNTS_MAX];
} takt_bulk;

/* One worker with 64 jobs in hand, a round trip of 1 ms, jobs of cost 1, priority 5 and no time. */
TAKT_EXPORT void takt_bulk_init(takt_bulk *bulk, int64_t jobs);

/* Waits from a job's acquire to its start; exact below 1 ms, above at most 1/512 too long. */
typedef struct takt_waits {
    int64_t count, p50_us, p95_us, p99_us, max_us;
} takt_waits;

/*
 * The busiest of all windows of one period, wherever it begins: by slots, which a rule is about,
 * and by starts, which are late by up to a round trip.  All amounts are in the rule's unit.
 */
typedef struct takt_busiest {
    const char *algorithm;    /* static */
    int64_t limit, period_us; /* the rule */
    int64_t burst;            /* what it may give at one instant */
    int64_t slots, starts;
    const char *unit;       /* as in takt_rule_standing; valid as long as the simulation */
    int64_t taken;          /* by all starts */
    const char *limit_name; /* of the limit that has the rule; valid as long as the policy */
} takt_busiest;

typedef struct takt_figures {
    /* Until the last job was done. */
    int64_t duration_us;
    /* Fewer than requested only if no worker is left. */
    int64_t jobs_done;
    /* Starts, and of these the ones after a crash or a lost permit. */
    int64_t started;
    int64_t started_again;
    /* Acquires that max_waiting, a rule's queue or on_store_failure `closed` refused; retried. */
    int64_t refused;
    /* Tokens of all starts, or the first unit that the limit's rules name. */
    int64_t tokens;
    int64_t first_start_us, last_start_us;
    /* Calls that reached the store. */
    int64_t store_calls;
    /* Awarded slots: more than `started` if some lapsed, fewer if on_store_failure let jobs start
     * without the store. */
    int64_t slots;
    /* The most jobs that ran at the same time. */
    int64_t max_at_work;

    /* With concurrency, from the first start to the last: the number of permits (0: none, and no
     * figures below) and the part of their time that running jobs held them, in millionths. */
    int64_t concurrency;
    int64_t busy_ppm;
    /* From one job's end to the next start with its permit. */
    takt_waits hand_over;
    /* Jobs whose lease ended: each stopped and was done again. */
    int64_t lost;
    takt_waits all, waits[TAKT_SIM_PRIORITIES];
    int rule_count;
    takt_busiest busiest[8]; /* TAKT_RULES_MAX */
    /* Starts among the workers that never crashed, and Jain's index of them in millionths: 1000000
     * is even, 1000000/n is one for all. */
    int64_t min_per_worker, max_per_worker;
    int64_t fairness_ppm;
} takt_figures;

/* A simulated bulk job. */
typedef struct takt_simulation takt_simulation;

/*
 * Simulates the job.  `algorithm` (NULL: keep each rule's own) replaces that of every rule and
 * keeps a burst between algorithms that have one.  0, TAKT_E_INVALID, TAKT_E_COST, TAKT_E_POLICY
 * (an algorithm that cannot keep the rule) or TAKT_E_NOMEM, with the reason in `error` (may be
 * NULL). The bulk is not kept.
 */
TAKT_EXPORT int takt_simulation_run(takt_simulation **simulation, const takt_limit *limit,
                                    const char *algorithm, const takt_bulk *bulk,
                                    takt_error *error);
TAKT_EXPORT const takt_figures *takt_simulation_figures(const takt_simulation *simulation);
TAKT_EXPORT int64_t takt_simulation_worker_starts(const takt_simulation *simulation,
                                                  int32_t worker);
TAKT_EXPORT void takt_simulation_free(takt_simulation *simulation); /* NULL is harmless */

/* Receives the next part of a text, which is not kept.  A result other than 0 ends the writing and
 * is returned. */
typedef int (*takt_write_cb)(const char *text, size_t size, void *data);

/*
 * Draws simulations of the same job below each other with the same axes, as an SVG picture, or as
 * an HTML page with the picture and a table.  Both are self-contained and readable on light and
 * dark pages.  `title` is the line above.  0, what write returned, or TAKT_E_INVALID (none, more
 * than 16, or of a limit without rules: the picture shows a rule's pace).
 */
TAKT_EXPORT int takt_simulation_svg(const takt_simulation *const *simulations, unsigned count,
                                    const char *title, takt_write_cb write, void *data);
TAKT_EXPORT int takt_simulation_html(const takt_simulation *const *simulations, unsigned count,
                                     const char *title, takt_write_cb write, void *data);

#ifdef __cplusplus
}
#endif
#endif
