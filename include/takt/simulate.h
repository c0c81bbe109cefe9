/*
 * takt/simulate.h: what a limit will do, before it does it.
 *
 * Two ways to find out, both on virtual time and with the rules, the ledger and the scheduler that
 * work in production.  An oracle takes arrivals and tells what is decided about each, without any
 * network.  A bulk job is done by a simulated fleet of workers, with round trips, outages of the
 * store and crashes; it gives figures, and a picture of them.  Nothing here reads a clock or a
 * file: the same input and seed give the same answers, everywhere.
 *
 * Units: times and durations are int64 microseconds.
 */
#ifndef TAKT_SIMULATE_H
#define TAKT_SIMULATE_H

#include <stddef.h>
#include <stdint.h>

#include <takt/error.h>
#include <takt/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A limit as simulations take it.  takt_policy_limit gives the one of that name, NULL if there is
 * none; it is owned by the policy.  A limit that is `within` another is simulated by itself: the
 * outer one plays no part.
 */
typedef struct takt_limit takt_limit;
TAKT_EXPORT const takt_limit *takt_policy_limit(const takt_policy *policy, const char *name);

/* ---- arrivals in, decisions out
 * ----------------------------------------------------------------------------- */

/* Somebody asks.  The cost 0 only looks: it takes nothing and is granted at once. */
typedef struct takt_arrival {
    int64_t at_us;       /* since the simulation's start; not before the arrival before it */
    int32_t cost;        /* tokens, 0 to TAKT_COST_MAX */
    int32_t priority;    /* 0 (most urgent) to 9 */
    int64_t max_wait_us; /* refused as soon as no slot within it is possible; -1: waits as long as
                            it takes */
} takt_arrival;

/*
 * What becomes of it.  The moment of the decision is the slot of one that is granted, as with a
 * permit's callback, and for one that is refused the moment at which it is: mostly its arrival,
 * later only where somebody more urgent came and took what it had waited for.
 */
typedef struct takt_decision {
    takt_arrival arrival;
    int granted;            /* 1 or 0 */
    int64_t slot_us;        /* since the simulation's start; -1: refused */
    int64_t remaining;      /* whole tokens that could still be taken at the moment of the decision,
                               least over the rules */
    int64_t retry_after_us; /* until the same cost would be granted if nothing else came; 0:
                               granted; -1: never */
    int64_t reset_after_us; /* until every rule is as from rest, if nothing else is taken */
} takt_decision;

typedef void (*takt_decision_cb)(const takt_decision *decision, void *data);

/*
 * One worker at no distance from its store, which awards nothing ahead of time: slots are exact.
 * Those who wait at one time go by priority, then by arrival; those who arrive at the same
 * microsecond arrive together.
 */
typedef struct takt_oracle takt_oracle;

/*
 * `start_us` is the time of the arrival at 0, since the Unix epoch: windows that are aligned to the
 * clock need it. With `try_only` nobody waits: an arrival is granted at once or refused.  The limit
 * must outlive the oracle. on_decision is called once for each arrival, in the order of the
 * arrivals, from inside the calls below. 0, TAKT_E_INVALID (also for a limit with concurrency: an
 * arrival does not tell when its job ends) or TAKT_E_NOMEM.
 */
TAKT_EXPORT int takt_oracle_open(takt_oracle **oracle, const takt_limit *limit, int64_t start_us,
                                 int try_only, takt_decision_cb on_decision, void *data);

/* The next arrival.  TAKT_E_INVALID where a number is out of its range or the time lies before the
 * last one's: it has not arrived.  TAKT_E_NOMEM: the oracle is of no use any more. */
TAKT_EXPORT int takt_oracle_arrive(takt_oracle *oracle, const takt_arrival *arrival);

/* No more arrivals: everybody who still waits gets their decision.  0, or TAKT_E_NOMEM as above. */
TAKT_EXPORT int takt_oracle_end(takt_oracle *oracle);

/* Without a decision for those who still wait.  NULL is harmless. */
TAKT_EXPORT void takt_oracle_close(takt_oracle *oracle);

/* ---- a bulk job, done by a fleet
 * ------------------------------------------------------------------------------ */

#define TAKT_SIM_WORKERS_MAX 10000
#define TAKT_SIM_JOBS_MAX    INT64_C(1000000000)
#define TAKT_SIM_AT_ONCE_MAX 10000
#define TAKT_SIM_EVENTS_MAX  64 /* outages and crashes, each */
#define TAKT_SIM_PRIORITIES  10

/* The store is out of reach from at_us on, for that long: what is sent to it is lost. */
typedef struct takt_outage {
    int64_t at_us, for_us;
} takt_outage;

/* So many workers, chosen at random among those alive, die at once; for_us later they start anew
 * (0: never). */
typedef struct takt_crash {
    int64_t at_us, for_us;
    int32_t workers;
} takt_crash;

/*
 * The work and the fleet.  Set it up with TAKT_BULK.  Times of events count from the start of the
 * job.
 *
 * Jobs lie in one queue.  A worker takes one whenever it has fewer than `at_once` in hand, asks for
 * a permit for it, waits for the slot and works on it for its time.  With concurrency it holds its
 * permit meanwhile, and a job that loses it stops and asks anew.  What a worker that crashes has
 * in hand goes back and is taken up by the others: a job that had been started is started again, as
 * jobs are that are done at least once.
 */
typedef struct takt_bulk {
    int64_t jobs;
    int32_t workers;
    int32_t at_once; /* jobs that a worker has in hand, waiting or being worked on */
    int64_t work_least_us, work_most_us; /* how long a job is worked on, evenly between */
    int32_t cost_least, cost_most;       /* tokens of a job, evenly between */
    int32_t
        weights[TAKT_SIM_PRIORITIES]; /* how many jobs have that priority, relative to each other */
    int64_t round_trip_us; /* to the store and back on average; each way takes 1/4 to 3/4 of it */
    int64_t start_us;      /* when it begins, since the Unix epoch */
    uint64_t seed;
    const takt_outage *outages;
    const takt_crash *crashes;
    unsigned outage_count, crash_count;
} takt_bulk;

/* One worker with 64 jobs in hand, 1 ms from its store, jobs of cost 1, priority 5 and no time. */
TAKT_EXPORT void takt_bulk_init(takt_bulk *bulk, int64_t jobs);

/* Waits from a job's acquire to its start; exact below 1 ms, above that rounded up by at most
 * 1/512. */
typedef struct takt_waits {
    int64_t count, p50_us, p95_us, p99_us, most_us;
} takt_waits;

/*
 * The busiest of all windows of one period, wherever it begins.  Of the slots, which is what a rule
 * promises, and of the starts as they happened, which are late by up to a round trip.
 */
typedef struct takt_busiest {
    const char *algorithm;    /* static */
    int64_t limit, period_us; /* the rule */
    int64_t burst;            /* tokens that it may give at one instant */
    int64_t slots, starts;    /* tokens */
} takt_busiest;

typedef struct takt_figures {
    int64_t duration_us;   /* until the last job was done */
    int64_t jobs_done;     /* fewer than asked for only where no worker is left */
    int64_t started;       /* jobs that were started, anew or again */
    int64_t started_again; /* of those, after a crash or a lost permit */
    int64_t refused; /* acquires that max_waiting or a rule's queue refused, or that failed without
                        the store where on_store_failure is `closed`; tried again later */
    int64_t tokens;  /* that the starts took */
    int64_t first_start_us, last_start_us;
    int64_t store_calls;  /* that reached the store */
    int64_t slots;        /* that were awarded; more than `started` where some lapsed, fewer where
                             on_store_failure let jobs start without the store */
    int64_t most_at_work; /* jobs that were worked on at the same time */
    /* with concurrency, from the first start to the last */
    int64_t concurrency;  /* permits; 0: there are none, nor the figures below */
    int64_t busy_ppm;     /* of their time, what they were held by jobs at work, in millionths */
    takt_waits hand_over; /* from one job's end to the next start with its permit */
    int64_t lost;         /* jobs that a lease was over for: each stopped and was done again */
    takt_waits all, waits[TAKT_SIM_PRIORITIES];
    int rule_count;
    takt_busiest busiest[8];                   /* TAKT_RULES_MAX */
    int64_t least_per_worker, most_per_worker; /* starts, among the workers that never crashed */
    int64_t fairness_ppm; /* Jain's index of the same, in millionths: 1000000 is even, 1000000/n is
                             one for all */
} takt_figures;

/* A bulk job that was simulated. */
typedef struct takt_course takt_course;

/*
 * Lets a fleet do the job.  `algorithm` (NULL: each rule's own) replaces that of every rule; a
 * burst is kept between algorithms that have one.  0, TAKT_E_INVALID, TAKT_E_COST, TAKT_E_POLICY
 * (an algorithm that cannot keep the rule) or TAKT_E_NOMEM, with the reason in `error` (may be
 * NULL).  The bulk is not kept.
 */
TAKT_EXPORT int takt_course_run(takt_course **course, const takt_limit *limit,
                                const char *algorithm, const takt_bulk *bulk, takt_error *error);
TAKT_EXPORT const takt_figures *takt_course_figures(const takt_course *course);
TAKT_EXPORT int64_t takt_course_worker_starts(const takt_course *course, int32_t worker);
TAKT_EXPORT void takt_course_free(takt_course *course); /* NULL is harmless */

/* Takes the next part of a text; it is not kept.  Other than 0 ends the writing and is returned. */
typedef int (*takt_write_cb)(const char *text, size_t size, void *data);

/*
 * Draws courses of the same job, one below the other with the same axes, as an SVG picture, or as
 * an HTML page with the picture and a table.  Both stand alone and read well on a light and on a
 * dark page.  `title` is a line above it all.  0, what write returned, or TAKT_E_INVALID (no
 * courses, more than 16, or of a limit without rules: what is drawn is a rule's pace).
 */
TAKT_EXPORT int takt_course_svg(const takt_course *const *courses, unsigned count,
                                const char *title, takt_write_cb write, void *data);
TAKT_EXPORT int takt_course_html(const takt_course *const *courses, unsigned count,
                                 const char *title, takt_write_cb write, void *data);

#ifdef __cplusplus
}
#endif
#endif
