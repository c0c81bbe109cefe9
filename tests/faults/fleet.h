/*
 * fleet.h: the workers of one fault, their server and their notes; and what must be true of these
 * at the end of every fault.
 *
 * A case is a process of its own.  What must not be ends it, with a message, its workers and its
 * servers; so does an awaited thing that does not come.
 */
#ifndef TAKT_TESTS_FAULTS_FLEET_H
#define TAKT_TESTS_FAULTS_FLEET_H

#include "faults/limits.h"
#include "faults/notes.h"
#include "faults/proxy.h"
#include "faults/worker.h"
#include "store/redis/server.h"

#define PHASES_MAX 8

/* From when until when at the latest, by this host's clock, the server's was ahead by how much. */
struct clock_phase {
    int64_t from_us, until_us, shift_us;
};

struct fleet {
    struct server server, replica;
    struct proxy proxy;
    struct notes *notes;
    struct worker_options options;
    char url[160];
    int count; /* of workers */
    pid_t workers[WORKERS_MAX];
    struct allowance allowance;
    struct clock_phase phases[PHASES_MAX]; /* in their order; none: its clock is steady */
    int phase_count;
    int64_t back_at_us; /* when the server was there again, last */
    int64_t longest_return_us;
    int64_t told_at_us; /* when fleet_told was called last */
    int64_t longest_notice_us;
    int64_t claims_min; /* in all processes; 0: whatever there are */
};

#define CASE_SECONDS_MAX 1200               /* of which nothing should need more than a fraction */
#define JUMP_US          INT64_C(10000000)  /* a server's clock jumps by that */
#define NO_TIMEOUT_US    INT64_C(600000000) /* of the store, where a late answer is no trouble */

_Noreturn void fleet_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The one fleet of this process, with nothing in it. */
struct fleet *fleet_open(void);

/* Starts so many workers on fleet->url, each with some waiters for any key. */
void fleet_work(struct fleet *fleet, int count, int anywhere);
void fleet_start_worker(struct fleet *fleet, int index);
void fleet_kill_worker(struct fleet *fleet, int index);

/* Returns when each worker has had so many grants more. */
void fleet_await_grants(struct fleet *fleet, int64_t more);

/* Returns when each permit of each ledger has been taken twice, on the average. */
void fleet_await_permits(struct fleet *fleet);

/* What each worker was told so far; to be asked just before a fault.  Returns when none of them has
 * lost its store, since one that has (on a busy machine an answer may be late) is not told again.
 */
struct told {
    int lost[WORKERS_MAX], back[WORKERS_MAX];
};
struct told fleet_told(struct fleet *fleet);

/* Returns when each worker was told that its store is lost, resp. back, more often than `before`
 * says; how long that was is noted, from fleet_told on, resp. from now on. */
void fleet_await_lost(struct fleet *fleet, struct told before);
void fleet_await_back(struct fleet *fleet, struct told before);

/* How often something is done: less often where $TAKT_FAULTS_PERCENT says so. */
int fleet_times(int times);

/* The next `ms` of a fault that has a rhythm of its own. */
void fleet_pause(int64_t ms);

/* Returns when all permits of each limit were in use at once and every worker has come to its end.
 * Checks all that they noted, tells the figures and ends all. */
void fleet_close(struct fleet *fleet, const char *name);

/* Calls to the store: of this fleet and of all that are closed. */
int64_t fleet_claims(const struct fleet *fleet);

/* Ends all, without a look at anything. */
void fleet_end(struct fleet *fleet);

/* What a case ended with adds up here, over all processes. */
struct totals {
    atomic_llong grants, calls;
};
extern struct totals *totals;

#endif
