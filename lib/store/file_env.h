/*
 * file_env.h: one LMDB file as this process has it open.  LMDB wants a file to be opened once per
 * process, so all stores on a file share one environment.  Decides how the file is opened,
 * recognised, grown, and replaced when it is damaged or gone; what is in it is left to
 * file_thread.c.
 *
 * All functions may block: they are called on the stores' own threads alone.
 */
#ifndef TAKT_STORE_FILE_ENV_H
#define TAKT_STORE_FILE_ENV_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include <lmdb.h>

#include "base/list.h"
#include "store/file_url.h"

/* The record that says what the file is.  Its name begins with NUL, which no namespace does. */
#define TAKT_FILE_FORMAT_NAME "\0format"
#define TAKT_FILE_FORMAT_TEXT "takt 1"

typedef struct takt_file_env {
    takt_link link; /* among all environments of this process */
    unsigned users;
    dev_t directory_device; /* which file this is: its directory and its name in it */
    ino_t directory_inode;
    takt_file_url url;

    /* A transaction holds it for reading; what changes the fields below, for writing. */
    pthread_rwlock_t lock;
    MDB_env *mdb; /* NULL: could not be opened (again) yet */
    MDB_dbi dbi;
    dev_t device, lock_device; /* which inodes we have open */
    ino_t inode, lock_inode;
    int lock_fd;       /* the lock file; -1: not open */
    bool lost;         /* what we had open is gone, and a new one could not be opened yet */
    atomic_llong size; /* of the file, the largest seen: it never shrinks by itself */
    char notice[TAKT_ERROR_TEXT_SIZE]; /* why the file was replaced last */
    atomic_uint generation;            /* how often it was */
    atomic_uint repairs;               /* how often anything of this was changed */
} takt_file_env;

/*
 * Opens the file of a place, or shares it if this process has it open.  *generation is to be
 * compared with the environment's from then on: a difference means that the file was replaced.
 */
int takt_file_env_acquire(takt_file_env **env, const takt_file_url *url, unsigned *generation,
                          takt_error *error);
void takt_file_env_release(takt_file_env *env);

/* Begins a write transaction: an LMDB code.  Where it is 0, end with takt_file_env_end, after the
 * transaction. */
int takt_file_env_begin(takt_file_env *env, MDB_txn **txn);
void takt_file_env_end(takt_file_env *env);

/* Looks whether the path still leads to the file that is open, and opens what is there if not. */
int takt_file_env_watch(takt_file_env *env, takt_error *error);

/*
 * After a transaction has failed with an LMDB code: does what helps (a larger map, a new file,
 * another try).  0 if the transaction is to be run again; else what to tell those who wait for it.
 * `repairs` is what env->repairs was before the transaction, `tries` how often it has been tried.
 */
int takt_file_env_mend(takt_file_env *env, int failure, unsigned repairs, int tries,
                       takt_error *error);

/* ---- file_open.c ----------------------------------------------------------------------------- */

/* Opens env->url, with env->lock held for writing, and replaces a file that is damaged.  Outputs
 * only env. */
int takt_file_open_env(takt_file_env *env, takt_error *error);
void takt_file_close_env(takt_file_env *env);

/* Keeps others from opening or closing the file that the path leads to, if there is one, and waits
 * for those who are about to.  Returns what takt_file_let_go() wants; it is meant for
 * takt_file_close_held(), which closes a file that is held already. */
int takt_file_hold(const takt_file_env *env);
void takt_file_let_go(int held);
void takt_file_close_held(takt_file_env *env);

/* Sets the file that env has had open aside as damaged, unless somebody else has done so.  env->mdb
 * is NULL. */
int takt_file_set_aside(takt_file_env *env, int reason, takt_error *error);

/* The code of takt/error.h for LMDB's, with a sentence. */
int takt_file_mdb_fail(takt_error *error, int failure, const char *what, const char *path);

/* LMDB's codes for a file whose content makes no sense. */
bool takt_file_is_damage(int failure);

/* ---- file_lock.c ----------------------------------------------------------------------------- */

/* Where LMDB keeps the lock of a data file. */
#define TAKT_FILE_PATH_SIZE (PATH_MAX + 32)
void takt_file_lock_path(char path[TAKT_FILE_PATH_SIZE], const char *data_path);

/* Makes the lock file of env->url if there is none, and opens it until takt_file_close_lock,
 * which belongs behind LMDB's closing.  A `fresh` data file gets a new one. */
int takt_file_prepare_lock(takt_file_env *env, bool fresh, takt_error *error);
void takt_file_close_lock(takt_file_env *env);

/* Whether the lock file is not LMDB's any longer: others have overwritten it.  With env->lock held.
 * Waits for nothing, so an event loop may ask. */
bool takt_file_lock_is_damaged(const takt_file_env *env);

/* Fails with TAKT_E_STORE, and says what to do about such a lock file. */
int takt_file_lock_fail(const takt_file_env *env, takt_error *error);

/* ---- file_format.c --------------------------------------------------------------------------- */

/* Whether a file begins as all of LMDB's do: with a page header and a certain number. */
bool takt_file_has_magic(int fd);

/* Whether a file that LMDB cannot read was ours: it holds our mark somewhere, or nothing but zeros
 * (which is what a power cut leaves of pages that had not reached the disk), or it is LMDB's and
 * lies where only we put files. */
bool takt_file_was_ours(int fd, bool is_default);

/* Fails with "this is not our file". */
int takt_file_not_ours(takt_error *error, const char *path);

/* Reads the format record, and writes it to a file that is empty.  0, a code of LMDB's or the
 * system's (which are unlike ours), or one of takt/error.h with `error` filled. */
int takt_file_check_format(takt_file_env *env, takt_error *error);

#endif
