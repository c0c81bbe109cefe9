/*
 * file_env.c: see file_env.h.  It keeps one environment for each file in this process, and repairs
 * it when a transaction fails.
 */
#include "store/file_env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/fail.h"
#include "base/fork.h"
#include "store/file_lock.h"
#include "store/file_open.h"

#define MAP_SIZE_MAX ((size_t)1 << (sizeof(size_t) > 4 ? 44 : 30))
#define TRIES_MAX    64 /* enough for any number of doublings */

static pthread_mutex_t environments_mutex = PTHREAD_MUTEX_INITIALIZER;
static takt_link environments = {&environments, &environments};
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- one per process ----------------------------------------------------------------- */

/* A child does not use its parent's environments; their memory stays allocated. */
static void after_fork(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

    environments_mutex = fresh;
    takt_list_init(&environments);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

static bool is_same_file(const takt_file_env *env, const struct stat *directory, const char *path)
{
    return env->directory_device == directory->st_dev &&
           env->directory_inode == directory->st_ino &&
           strcmp(strrchr(env->url.path, '/'), strrchr(path, '/')) == 0;
}

static takt_file_env *find_env(const struct stat *directory, const char *path)
{
    for (takt_link *at = environments.next; at != &environments; at = at->next) {
        takt_file_env *env = TAKT_HOLDER(at, takt_file_env, link);
        if (is_same_file(env, directory, path))
            return env;
    }
    return NULL;
}

static takt_file_env *new_env(const struct stat *directory, const takt_file_url *url)
{
    takt_file_env *env = calloc(1, sizeof *env);
    pthread_rwlockattr_t attributes;

    if (env == NULL)
        return NULL;
    env->url = *url;
    env->lock_fd = -1;
    env->directory_device = directory->st_dev;
    env->directory_inode = directory->st_ino;
    pthread_rwlockattr_init(&attributes);
    /* Transactions follow one another without a pause, so a change of the environment must not
     * starve. */
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&env->lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    takt_list_append(&environments, &env->link);
    return env;
}

static int stat_directory(const char *path, struct stat *directory, takt_error *error)
{
    char copy[PATH_MAX];

    snprintf(copy, sizeof copy, "%.*s", (int)(strrchr(path, '/') - path + 1), path);
    return stat(copy, directory) < 0
               ? takt_file_fail(error, errno, "cannot look at the directory", copy)
               : 0;
}

/* If stores on a file differ in `sync`, the stricter one decides. */
static int open_shared(takt_file_env *env, bool sync, takt_error *error)
{
    int rc;

    if (env->mdb == NULL) {
        env->url.sync |= sync;
        return takt_file_open_env(env, error);
    }
    if (!sync || env->url.sync)
        return 0;
    rc = mdb_env_set_flags(env->mdb, MDB_NOSYNC | MDB_NOMETASYNC, 0);
    env->url.sync = rc == 0;
    return rc != 0 ? takt_file_mdb_fail(error, rc, "cannot open", env->url.path) : 0;
}

int takt_file_env_acquire(takt_file_env **env, const takt_file_url *url, unsigned *generation,
                          takt_error *error)
{
    struct stat directory;
    takt_file_env *found;
    int code = stat_directory(url->path, &directory, error);

    if (code != 0)
        return code;
    takt_fork_watch();
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&environments_mutex);
    found = find_env(&directory, url->path);
    if (found == NULL)
        found = new_env(&directory, url);
    if (found != NULL)
        found->users++;
    pthread_mutex_unlock(&environments_mutex);
    if (found == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory for a store");
    pthread_rwlock_wrlock(&found->lock);
    *generation = atomic_load(&found->generation);
    code = open_shared(found, url->sync, error);
    pthread_rwlock_unlock(&found->lock);
    if (code != 0)
        takt_file_env_release(found);
    else
        *env = found;
    return code;
}

void takt_file_env_release(takt_file_env *env)
{
    int held = takt_file_hold(env); /* waits for another process, so not while the mutex is held */
    bool last;

    pthread_mutex_lock(&environments_mutex);
    last = --env->users == 0;
    if (last) {
        takt_list_remove(&env->link);
        takt_file_close_held(env); /* before another process can open the file again */
    }
    pthread_mutex_unlock(&environments_mutex);
    takt_file_let_go(held);
    if (!last)
        return;
    pthread_rwlock_destroy(&env->lock);
    free(env);
}

/* ---- transactions -------------------------------------------------------------------- */

int takt_file_env_begin(takt_file_env *env, MDB_txn **txn)
{
    int rc;

    pthread_rwlock_rdlock(&env->lock);
    rc = env->mdb != NULL ? mdb_txn_begin(env->mdb, NULL, 0, txn) : MDB_PANIC;
    if (rc != 0)
        pthread_rwlock_unlock(&env->lock);
    return rc;
}

void takt_file_env_end(takt_file_env *env)
{
    pthread_rwlock_unlock(&env->lock);
}

/* ---- repairs ------------------------------------------------------------------------- */

/* Whether the path leads to another file than the open one: it was replaced or removed. */
static bool is_lost(const takt_file_env *env)
{
    struct stat file;

    return stat(env->url.path, &file) < 0 || file.st_dev != env->device ||
           file.st_ino != env->inode;
}

static bool is_lock_lost(const takt_file_env *env)
{
    char lock[TAKT_FILE_PATH_SIZE];
    struct stat file;

    takt_file_lock_path(lock, env->url.path);
    return stat(lock, &file) < 0 || file.st_dev != env->lock_device ||
           file.st_ino != env->lock_inode;
}

static bool is_shorter(takt_file_env *env)
{
    struct stat file;

    if (stat(env->url.path, &file) < 0)
        return false;
    if (file.st_size < atomic_load(&env->size))
        return true;
    atomic_store(&env->size, file.st_size);
    return false;
}

/* Checks if the file is lost while it is open: later a new file may get its inode number. */
static int reopen(takt_file_env *env, takt_error *error)
{
    unsigned generation = atomic_load(&env->generation);
    int code;

    env->lost |= env->mdb != NULL && is_lost(env);
    takt_file_close_env(env);
    code = takt_file_open_env(env, error);
    if (code == 0 && env->lost && atomic_load(&env->generation) == generation) {
        snprintf(env->notice, sizeof env->notice,
                 "the store's file %.400s was replaced or removed by somebody: what its ledgers "
                 "knew is lost",
                 env->url.path);
        atomic_fetch_add(&env->generation, 1);
    }
    env->lost &= code != 0;
    return code;
}

static int replace(takt_file_env *env, int reason, takt_error *error)
{
    int code;

    takt_file_close_env(env);
    code = takt_file_set_aside(env, reason, error);
    return code != 0 ? code : reopen(env, error);
}

int takt_file_env_watch(takt_file_env *env, takt_error *error)
{
    int code = 0;
    bool moved;

    pthread_rwlock_rdlock(&env->lock);
    moved = env->mdb == NULL || is_lost(env) || is_lock_lost(env) || is_shorter(env);
    pthread_rwlock_unlock(&env->lock);
    if (!moved)
        return 0;
    pthread_rwlock_wrlock(&env->lock);
    if (env->mdb == NULL || is_lost(env) || is_lock_lost(env))
        code = reopen(env, error);
    else if (is_shorter(env))
        code = replace(env, MDB_CORRUPTED, error);
    atomic_fetch_add(&env->repairs, 1);
    pthread_rwlock_unlock(&env->lock);
    return code;
}

/* LMDB has released the old map when it cannot get the new one. */
static int set_map(takt_file_env *env, size_t size, takt_error *error)
{
    int rc = mdb_env_set_mapsize(env->mdb, size);

    if (rc == 0)
        return 0;
    takt_file_close_env(env);
    return takt_file_mdb_fail(error, rc, "cannot grow", env->url.path);
}

/* Doubles the map, after a transaction has found no room in it. */
static int grow(takt_file_env *env, takt_error *error)
{
    MDB_envinfo info;

    mdb_env_info(env->mdb, &info);
    if (info.me_mapsize >= MAP_SIZE_MAX)
        return takt_fail(error, TAKT_E_STORE_SPACE, "%s has grown to its largest size",
                         env->url.path);
    return set_map(env, 2 * info.me_mapsize, error);
}

/* env->lock is held for writing, and no other thread has repaired anything since. */
static int mend(takt_file_env *env, int failure, takt_error *error)
{
    if (env->mdb == NULL)
        return reopen(env, error);
    if (failure == MDB_MAP_FULL)
        return grow(env, error);
    if (failure == MDB_MAP_RESIZED)
        return set_map(env, 0, error); /* another process has set it */
    if (takt_file_lock_is_damaged(env))
        return takt_file_lock_fail(env, error); /* the data may be undamaged */
    if (takt_file_is_damage(failure))
        return replace(env, failure, error);
    /* MDB_PANIC: this process's view of the file is wrong, not the file. */
    return reopen(env, error);
}

/* LMDB also returns EIO for a write that was cut short because the disk is full. */
static int reason_of_eio(const takt_file_env *env)
{
    struct statvfs disk;
    struct rlimit size;
    long long margin = 1 << 20; /* one transaction is seldom larger */

    if (statvfs(env->url.path, &disk) == 0 &&
        (unsigned long long)disk.f_bavail * disk.f_frsize < (unsigned long long)margin)
        return ENOSPC;
    if (getrlimit(RLIMIT_FSIZE, &size) == 0 && size.rlim_cur != RLIM_INFINITY &&
        size.rlim_cur < (rlim_t)(atomic_load(&env->size) + margin))
        return EFBIG;
    return EIO;
}

static bool is_lock_damaged(takt_file_env *env)
{
    bool damaged;

    pthread_rwlock_rdlock(&env->lock);
    damaged = takt_file_lock_is_damaged(env);
    pthread_rwlock_unlock(&env->lock);
    return damaged;
}

int takt_file_env_mend(takt_file_env *env, int failure, unsigned repairs, int tries,
                       takt_error *error)
{
    int code = 0;

    if (failure == EINVAL && is_lock_damaged(env)) /* an overwritten mutex returns that */
        return takt_file_lock_fail(env, error);
    if (failure > 0)
        return takt_file_mdb_fail(error, failure == EIO ? reason_of_eio(env) : failure,
                                  "cannot write", env->url.path);
    if (failure != MDB_MAP_FULL && failure != MDB_MAP_RESIZED && failure != MDB_PANIC &&
        !takt_file_is_damage(failure))
        return takt_file_mdb_fail(error, failure, "cannot use", env->url.path);
    if (tries > (failure == MDB_MAP_FULL || failure == MDB_MAP_RESIZED ? TRIES_MAX : 2))
        return takt_file_mdb_fail(error, failure, "cannot mend", env->url.path);
    pthread_rwlock_wrlock(&env->lock);
    if (atomic_load(&env->repairs) == repairs) {
        code = mend(env, failure, error);
        atomic_fetch_add(&env->repairs, 1);
    }
    pthread_rwlock_unlock(&env->lock);
    return code;
}
