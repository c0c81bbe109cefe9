/*
 * Commands that run in process groups of their own, and how such a group is ended so that nothing
 * of it is left.
 *
 * A signal to a group reaches the processes that are in it at that moment.  A process that is
 * forked while its parent has signals blocked (shells fork so) misses a signal that the parent has
 * pending, and outlives it.  A group that is to end therefore has ended when it is empty, not when
 * its leader has: it gets SIGTERM, what its leader leaves behind gets SIGTERM once more, and
 * SIGKILL follows until nothing is left.
 *
 * This process adopts orphans where the system allows it (Linux: PR_SET_CHILD_SUBREAPER), and waits
 * for each child that ends, also for those it did not start.  So there is one takt_process_groups
 * in a process, and nothing else in it waits for children (no uv_spawn).  What leaves its group for
 * a session of its own, as a daemon does, is neither signalled nor waited for.
 */
#ifndef TAKT_KIT_PROCESS_GROUP_H
#define TAKT_KIT_PROCESS_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <takt/links.h>
#include <uv.h>

/* How long a group has from SIGTERM to SIGKILL. */
#define TAKT_PROCESS_GROUP_TIMEOUT_MS 2000

typedef struct takt_process_group takt_process_group;

/* The command has ended with `status`, or by `signal` where that is not 0.  If the group was told
 * to end, nothing of it is left.  The memory of `group` may be used again. */
typedef void takt_process_group_end_cb(takt_process_group *group, int status, int signal);

typedef struct takt_process_groups {
    /* private */
    uv_signal_t child_ended;
    uv_timer_t look; /* while groups are being ended */
    takt_link running;
} takt_process_groups;

/* A command and what it started, in the caller's memory. */
struct takt_process_group {
    void *data; /* the caller's */
    pid_t id;   /* of the group, and the pid of its leader; read-only */

    /* private */
    takt_link link;
    takt_process_group_end_cb *on_end;
    bool leader_ended, ending, signalled_again;
    int status, signal; /* of the leader */
    uint64_t ending_since_ms;
};

void takt_process_groups_open(takt_process_groups *groups, uv_loop_t *loop);

/* Nothing may run any more.  The memory is needed until the loop has closed both handles. */
void takt_process_groups_close(takt_process_groups *groups);

/* Starts `command`, which is found in $PATH and ends with NULL, as the leader of a session and a
 * group of its own, with /dev/null as its input.  Sets all of `group` but `data`.  0, or the errno
 * that says why the command does not run; then `on_end` is not called. */
int takt_process_group_start(takt_process_groups *groups, takt_process_group *group, char **command,
                             takt_process_group_end_cb *on_end);

/* Tells all groups that run to end.  `on_end` of each comes later, from the loop, when nothing is
 * left of it: after TAKT_PROCESS_GROUP_TIMEOUT_MS at the latest, but for what the kernel does not
 * end, or does not let us signal.  Telling twice is harmless. */
void takt_process_groups_end(takt_process_groups *groups);

#endif
