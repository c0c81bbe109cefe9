/*
 * Starts a command as a child of this process, in the environment of environment.h.  When and how
 * the child ends is left to the caller.
 */
#ifndef TAKT_KIT_CHILD_H
#define TAKT_KIT_CHILD_H

#include <sys/types.h>

/* The child takes our place beside us: it has our process group, terminal and input, and finds its
 * signals as we found them, so what nohup or a shell has set to be ignored stays ignored.
 * 0, or the errno that says why the command does not run; then no child is left. */
int takt_child_start(char **command, pid_t *child);

/* The child leads a session and a process group of its own, both with its pid as their number.  Its
 * input is /dev/null, its output and its messages are ours, and all its signals have their
 * defaults. 0, or an errno as above. */
int takt_child_start_apart(char **command, pid_t *child);

#endif
