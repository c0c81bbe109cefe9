/*
 * file_env.h: one LMDB file as this process has it open.  LMDB requires that a process opens a file
 * only once, so all stores on a file share one environment.  It decides how the file is opened,
 * recognised, grown, and replaced if it is damaged or gone.  file_thread.c decides what is in it.
 *
 * All functions may block: only the stores' own threads call them.
 */
#ifndef TAKT_STORE_FILE_ENV_H
#define TAKT_STORE_FILE_ENV_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include <lmdb.h>

#include "base/list.h"
#include "store/file_url.h"

/* The record that identifies the file.  Its name begins with NUL, which no namespace does. */
#define TAKT_FILE_FORMAT_NAME "\0format"
#define TAKT_FILE_FORMAT_TEXT "takt 1"

typedef struct takt_file_env {
    takt_link link; /* in the list of all environments of this process */
    unsigned users;
    dev_t directory_device; /* identify the file: its directory and its name there */
    ino_t directory_inode;
    takt_file_url url;

    /* Locked for reading by a transaction, for writing by a change of the fields below. */
    pthread_rwlock_t lock;
    MDB_env *mdb; /* NULL: not open (again) yet */
    MDB_dbi dbi;
    dev_t device, lock_device; /* the inodes that are open */
    ino_t inode, lock_inode;
    int lock_fd;       /* the lock file; -1: not open */
    bool lost;         /* the open file is gone, and a new one could not be opened yet */
    atomic_llong size; /* the largest size seen: the file never shrinks by itself */
    char notice[TAKT_ERROR_TEXT_SIZE]; /* why the file was last replaced */
    atomic_uint generation;            /* number of replacements */
    atomic_uint repairs;               /* number of changes to these fields */
} takt_file_env;

/*
 * Opens the file of a URL, or shares it if this process has it open.  If *generation later differs
 * from the environment's, the file was replaced.
 */
int takt_file_env_acquire(takt_file_env **env, const takt_file_url *url, unsigned *generation,
                          takt_error *error);
void takt_file_env_release(takt_file_env *env);

/* Begins a write transaction and returns LMDB's code.  If it is 0, call takt_file_env_end after the
 * transaction. */
int takt_file_env_begin(takt_file_env *env, MDB_txn **txn);
void takt_file_env_end(takt_file_env *env);

/* Checks whether the path still leads to the open file, and otherwise opens the present one. */
int takt_file_env_watch(takt_file_env *env, takt_error *error);

/*
 * Repairs what made a transaction fail with an LMDB code (a larger map, a new file, another try).
 * Returns 0 if the transaction is to be repeated, otherwise the code for its callers.  `repairs` is
 * env->repairs before the transaction; `tries` counts its attempts.
 */
int takt_file_env_mend(takt_file_env *env, int failure, unsigned repairs, int tries,
                       takt_error *error);

/* ---- file_open.c ----------------------------------------------------------------------------- */

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

/* ---- file_lock.c ----------------------------------------------------------------------------- */

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

/* ---- file_format.c --------------------------------------------------------------------------- */

/* Whether a file begins like an LMDB file: with a page header and the magic number. */
bool takt_file_has_magic(int fd);

/* Whether a file that LMDB cannot read was one of ours: it holds our mark, or only zeros (a power
 * cut leaves them for pages that had not reached the disk), or it is an LMDB file in the default
 * directory, where only takt puts files. */
bool takt_file_was_ours(int fd, bool is_default);

/* Fails with "this is not our file". */
int takt_file_not_ours(takt_error *error, const char *path);

/* Reads the format record, or writes it to an empty file.  Returns 0, a code of LMDB or of the
 * system (their ranges differ from ours), or one of takt/error.h with `error` filled. */
int takt_file_check_format(takt_file_env *env, takt_error *error);

#endif
