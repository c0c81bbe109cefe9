/*
 * file_open.h: opens, closes and replaces the LMDB file of an environment (file_env.h).
 */
#ifndef TAKT_STORE_FILE_OPEN_H
#define TAKT_STORE_FILE_OPEN_H

#include "store/file_env.h"

/* Opens env->url, with env->lock held for writing, and replaces a damaged file.  Changes only
 * env. */
int takt_file_open_env(takt_file_env *env, takt_error *error);
void takt_file_close_env(takt_file_env *env);

/* Waits until other processes have finished opening or closing the file at the path, and keeps
 * others from doing so.  Returns the argument for takt_file_let_go().  takt_file_close_held() needs
 * it. */
int takt_file_hold(const takt_file_env *env);
void takt_file_let_go(int held);
void takt_file_close_held(takt_file_env *env);

/* Renames the file that env had open as damaged, unless another process has done so.  env->mdb is
 * NULL. */
int takt_file_set_aside(takt_file_env *env, int reason, takt_error *error);

/* Returns the code of takt/error.h for LMDB's code, with a message. */
int takt_file_mdb_fail(takt_error *error, int failure, const char *what, const char *path);

/* Whether LMDB's code means that the file's contents are damaged. */
bool takt_file_is_damage(int failure);

#endif
