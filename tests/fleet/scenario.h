/*
 * scenario.h: a seed becomes a fleet, its policies, its work and its faults.
 *
 * First comes a storm: anything may happen to workers, network and store. Then all faults end, and
 * some seconds later the calm begins, in which every worker always wants more than there is. At
 * last no work is added, all waiters are served or leave, and the ledger must expire by itself.
 */
#ifndef TAKT_TESTS_SCENARIO_H
#define TAKT_TESTS_SCENARIO_H

#include "base/random.h"
#include "checker.h"

#define POLICIES_MAX 6

typedef struct scenario {
    takt_fleet fleet;
    int ledger_count;
    checker checkers[TAKT_FLEET_LEDGERS_MAX]; /* one for each ledger */
    node_view *views;                         /* of the workers */
    uint64_t random;

    takt_limit policies[POLICIES_MAX]; /* of rising revisions */
    int policy_count, policies_out;    /* of them, how many any worker has had */

    fleet_job *jobs; /* those of one worker side by side, by ledger */
    int job_count;
    int jobs_each; /* of a worker and a ledger */
    int64_t orders;
    int64_t cost_max;
    bool priorities, deadlines, cancels;
    bool settles;     /* work says later that it did not use its slot */
    uint64_t nodes;   /* random: what concerns nodes alone */
    uint64_t costs;   /* random: work that costs more or less than it took; 0: there is none */
    int64_t pause_us; /* between two acquires of a job, at most */
    int64_t work_us;  /* for which a permit is held, at most */

    unsigned faults; /* which kinds happen */
    int64_t fault_pause_us;
    int64_t storm_until_us;
    int64_t frozen_until_us; /* by then all workers run again */
    int64_t quiet_until_us;  /* no work is added before that */
    enum { STORM, SETTLING, CALM, ENDING } phase;
} scenario;

/* Runs it to its end; the checker reports errors. */
void scenario_run(uint64_t seed);

/* How much all runs together looked at. */
typedef struct scenario_sum {
    int64_t calls, slots, started, left, handed_back, handed_on, losers;
} scenario_sum;

extern scenario_sum scenario_total;

/* A policy at random (policies.c): the rules of any algorithm that there is. */
void policy_draw(takt_limit *limit, uint64_t *random, int64_t revision, const takt_limit *before);

void policy_draw_adapt(takt_limit *limits, int count, uint64_t *random);
void policy_draw_guards(takt_limit *policies, int count, uint64_t random);
void policy_draw_units(takt_limit *policies, int count, uint64_t random);
void policy_draw_more_units(takt_limit *policies, int count, uint64_t random);

/* The highest cost that can be given: a job takes as much of each unit as it costs. */
int64_t policy_capacity(const takt_numbers *numbers);
void policy_draw_permits(takt_limit *limits, int count, uint64_t *random);

/* The misfortunes (faults.c). */
void faults_draw(scenario *self);
void faults_begin(scenario *self);
void faults_end(scenario *self);

/* A worker dies and is not replaced. */
void faults_kill(scenario *self, takt_fleet_worker *worker);

/* A job acquires a permit after a while; a restarted worker sets all its jobs to work. */
void scenario_ask(fleet_job *job, int64_t pause_us);
void scenario_begin_work(scenario *self, takt_fleet_worker *worker);
fleet_job *scenario_jobs_of(scenario *self, const takt_fleet_worker *worker, int ledger);
checker *scenario_checker_of(const fleet_job *job);

/* One of a number of them; a chance in a hundred. */
int64_t draw(uint64_t *random, int64_t below);
bool chance(uint64_t *random, int percent);

#endif
