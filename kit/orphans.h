/*
 * Orphans: processes that a command of ours started and left behind when it ended. The command runs
 * in our own process group, so a signal to the group would reach this process, too.
 *
 * Where the system allows it (Linux: PR_SET_CHILD_SUBREAPER), orphans become children of this
 * process, which can find them, signal them and wait for them. A process that has left our process
 * group (a daemon, a job of a shell with job control) is not touched.
 */
#ifndef TAKT_KIT_ORPHANS_H
#define TAKT_KIT_ORPHANS_H

/* From now on this process becomes the parent of orphans below it. */
void takt_orphans_adopt(void);

/* Waits for all children that have ended, and sends `signal` to the others in our process group.
 * Returns the number of processes signalled. No other code of this process may have children. */
int takt_orphans_signal(int signal);

#endif
