/*
 * Orphans: processes that a command of ours started and left behind when it ended, where the
 * command runs in our own process group and no signal can be sent to that group alone.
 *
 * They are adopted where the system allows it (Linux: PR_SET_CHILD_SUBREAPER), so that they are
 * children of this process, which can be found, signalled and waited for.  What has left our
 * process group (a daemon, a job of a shell with job control) is neither.
 */
#ifndef TAKT_KIT_ORPHANS_H
#define TAKT_KIT_ORPHANS_H

/* From now on processes below this one whose parent ends become its children. */
void takt_orphans_adopt(void);

/* Waits for all children that have ended, and sends `signal` to those that are left in our process
 * group.  Returns how many were signalled.  Nothing else in this process may have a child. */
int takt_orphans_signal(int signal);

#endif
