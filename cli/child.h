/*
 * Starts a command as a child that finds its signals as we found them: what nohup or a shell has
 * set to be ignored stays so.  (uv_spawn sets all of them back.)
 */
#ifndef TAKT_CLI_CHILD_H
#define TAKT_CLI_CHILD_H

#include <sys/types.h>

/* 0, or the errno for why the command does not run. */
int takt_cli_start_child(char **command, pid_t *child);

#endif
