/*
 * Runs commands in process groups of their own, and ends such a group without leaving a process
 * behind.
 *
 * A signal to a group reaches the processes that are in the group at that moment. A process forked
 * while its parent has signals blocked (shells do this) misses a signal that is pending in the
 * parent, and outlives the parent. So a group has ended when it is empty, not when its leader has
 * ended: the group gets SIGTERM, processes left by the leader get SIGTERM again, and SIGKILL
 * follows until the group is empty.
 *
 * This process adopts orphans where the system allows it (Linux: PR_SET_CHILD_SUBREAPER), and waits
 * for every child that ends, whoever started it. So a process has one takt_process_groups, and no
 * other code in it waits for children (no uv_spawn). A process that moves to a session of its own,
 * as a daemon does, is neither signalled nor waited for.
 */
#ifndef TAKT_KIT_PROCESS_GROUP_H
#define TAKT_KIT_PROCESS_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <takt/links.h>
#include <uv.h>

/* The time from SIGTERM to SIGKILL. */
#define TAKT_PROCESS_GROUP_TIMEOUT_MS 2000

typedef struct takt_process_group takt_process_group;

/* The command has ended with `status`, or by `signal` if that is not 0. If the group was told to
 * end, it is empty. The memory of `group` may be used again. */
typedef void takt_process_group_end_cb(takt_process_group *group, int status, int signal);

typedef struct takt_process_groups {
    /* private */
    uv_signal_t child_ended;
    uv_timer_t look; /* while groups are being ended */
    takt_link running;
} takt_process_groups;

/* A command and the processes that it started, in the caller's memory. */
struct takt_process_group {
    void *data; /* the caller's */
    pid_t id;   /* of the group, and pid of its leader; read-only */

    /* private */
    takt_link link;
    takt_process_group_end_cb *on_end;
    bool leader_ended, ending, signalled_again;
    int status, signal; /* of the leader */
    uint64_t ending_since_ms;
};

void takt_process_groups_open(takt_process_groups *groups, uv_loop_t *loop);

/* No group may run from now on. The memory is needed until the loop has closed both handles. */
void takt_process_groups_close(takt_process_groups *groups);

/* Starts `command`, which is searched in $PATH and ends with NULL, as the leader of a session and a
 * group of its own, with /dev/null as input. Sets all of `group` but `data`. 0, or the errno that
 * says why the command does not run; then `on_end` is not called. */
int takt_process_group_start(takt_process_groups *groups, takt_process_group *group, char **command,
                             takt_process_group_end_cb *on_end);

/* Ends all running groups. `on_end` of each comes later, from the loop, when the group is empty:
 * after TAKT_PROCESS_GROUP_TIMEOUT_MS at the latest, except for processes that the kernel cannot
 * end or does not let us signal. A second call is harmless. */
void takt_process_groups_end(takt_process_groups *groups);

#endif
