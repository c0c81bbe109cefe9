/*
 * environment.h: the environment of the commands that takt starts: its own, without the password by
 * which it authenticates at its store, and without the secret of `key_hash`.  A command is often
 * somebody else's program, and what it inherits is in /proc and in its crash reports.
 */
#ifndef TAKT_KIT_ENVIRONMENT_H
#define TAKT_KIT_ENVIRONMENT_H

/* For execve: without $TAKT_REDIS_PASSWORD and $TAKT_KEY_SECRET, and with $TAKT_STORE without its
 * password, so that a takt in the command fails for want of a password instead of using another
 * store.  The strings are the environment's; free() releases it all.  NULL: no memory. */
char **takt_environment_for_commands(void);

#endif
