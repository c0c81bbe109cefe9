/*
 * file_lock.h: the lock file that LMDB keeps beside the data file of an environment (file_env.h).
 */
#ifndef TAKT_STORE_FILE_LOCK_H
#define TAKT_STORE_FILE_LOCK_H

#include "store/file_env.h"

/* The path of LMDB's lock file for a data file. */
#define TAKT_FILE_PATH_SIZE (PATH_MAX + 32)
void takt_file_lock_path(char path[TAKT_FILE_PATH_SIZE], const char *data_path);

/* Creates the lock file of env->url if there is none, and keeps it open until takt_file_close_lock,
 * which must follow LMDB's closing.  A `fresh` data file gets a new lock file. */
int takt_file_prepare_lock(takt_file_env *env, bool fresh, takt_error *error);
void takt_file_close_lock(takt_file_env *env);

/* Whether other programs have overwritten the lock file.  env->lock must be held.  Does not block,
 * so an event loop may call it. */
bool takt_file_lock_is_damaged(const takt_file_env *env);

/* Fails with TAKT_E_STORE, and says what to do about such a lock file. */
int takt_file_lock_fail(const takt_file_env *env, takt_error *error);

#endif
