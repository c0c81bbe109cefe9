/*
 * environment.h: the environment of the commands that takt starts: ours, without the password of
 * the store and without the secret of `key_hash`. A command is often a program of another author,
 * and its environment is in /proc and in crash reports.
 */
#ifndef TAKT_KIT_ENVIRONMENT_H
#define TAKT_KIT_ENVIRONMENT_H

/* For execve: without $TAKT_REDIS_PASSWORD and $TAKT_KEY_SECRET, and with $TAKT_STORE without its
 * password, so that a takt in the command fails for a missing password instead of using another
 * store. The strings belong to the environment; free() releases the array. NULL: no memory. */
char **takt_environment_for_commands(void);

#endif
