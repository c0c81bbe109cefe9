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
#include "store/redis/cluster.h"
#include "store/redis/server.h"

#define PHASES_MAX 8

/* From when until when at the latest, by this host's clock, the server's was ahead by how much. */
struct clock_phase {
    int64_t from_us, until_us, shift_us;
};

struct fleet {
    struct server server, replica;
    struct cluster cluster;
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

/* The events of each worker so far, to be read just before a fault. Returns when no worker has lost
 * its store: such a worker (an answer may be late on a busy machine) gets no second event. */
struct told {
    int lost[WORKERS_MAX], back[WORKERS_MAX];
};
struct told fleet_told(struct fleet *fleet);

/* Returns when each worker has had more events of a lost store, or of one that is back, than
 * `before`. Notes how long that took, from fleet_told on, or from now on. */
void fleet_await_lost(struct fleet *fleet, struct told before);
void fleet_await_back(struct fleet *fleet, struct told before);

/* The number of rounds: fewer with a lower $TAKT_FAULTS_PERCENT. */
int fleet_times(int times);

/* The next `ms` of a fault that lasts so long, or comes that often.  No worker may end meanwhile.
 */
void fleet_pause(const struct fleet *fleet, int64_t ms);

/* Returns when all permits of each limit were in use at once and every worker has ended. Checks all
 * notes, prints the figures and ends all processes. */
void fleet_close(struct fleet *fleet, const char *name);

/* Ends all, without a look at anything. */
void fleet_end(struct fleet *fleet);

/* What a case ended with adds up here, over all processes. */
struct totals {
    atomic_llong grants, calls;
};
extern struct totals *totals;

#endif
