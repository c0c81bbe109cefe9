/*
 * Starts a command as a child of this process, in the environment of environment.h. The caller
 * decides when and how the child ends.
 */
#ifndef TAKT_KIT_CHILD_H
#define TAKT_KIT_CHILD_H

#include <sys/types.h>

/* Starts a child that shares our process group, terminal and input. Signals that were ignored when
 * we started (by nohup or a shell) stay ignored in the child. 0, or the errno that says why the
 * command does not run; then no child is left. */
int takt_child_start(char **command, pid_t *child);

/* Starts a child that leads a session and a process group of its own, both with its pid as their
 * number. Its input is /dev/null, its output and messages are ours, and all its signals have their
 * defaults. 0, or an errno as above. */
int takt_child_start_apart(char **command, pid_t *child);

#endif
