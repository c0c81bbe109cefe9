/*
 * file_env.h: one LMDB file as this process has it open.  LMDB requires that a process opens a file
 * only once, so all stores on a file share one environment.  It decides when the file is
 * opened again, grown or replaced; file_open.c opens it, file_format.c recognises it, file_lock.c
 * has its lock file.  file_thread.c decides what is in it.
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

#endif
