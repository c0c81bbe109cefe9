/*
 * file_open.c: opens a store's file.  It checks that the file is ours, intact and writable.  A file
 * that is not ours is refused and never changed; a damaged one is renamed, and a new one replaces
 * it.
 *
 * LMDB keeps its lock in a second file, PATH-lock, which belongs to exactly one data file.
 * Therefore a process that opens, creates, renames or closes a data file holds an flock on it
 * meanwhile, and a new data file gets a new lock file.  (Closing counts: LMDB 0.9.26 to 0.9.31
 * destroys the mutexes in the lock file when the last process closes.  A process that opens the
 * file at that moment, and all later ones, would find them destroyed.)
 */
#include "store/file_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "store/file_format.h"
#include "store/file_lock.h"

#define MAP_SIZE  ((size_t)1 << 20) /* at first; it grows */
#define ASIDE_MAX 1000              /* highest number of renamed damaged files */
#define ATTEMPTS  10                /* if other processes replace the file while it is opened */

bool takt_file_is_damage(int failure)
{
    return failure == MDB_CORRUPTED || failure == MDB_PAGE_NOTFOUND || failure == MDB_INVALID ||
           failure == MDB_CURSOR_FULL;
}

int takt_file_mdb_fail(takt_error *error, int failure, const char *what, const char *path)
{
    if (failure > 0)
        return takt_file_fail(error, failure, what, path);
    if (failure == MDB_VERSION_MISMATCH)
        return takt_fail(
            error, TAKT_E_STORE_FORMAT,
            "%s %s: it was written by another version of LMDB; name another file with file:PATH",
            what, path);
    return takt_fail(error, failure == MDB_MAP_FULL ? TAKT_E_STORE_SPACE : TAKT_E_STORE,
                     "%s %s: %s", what, path, mdb_strerror(failure));
}

/* ---- the files ----------------------------------------------------------------------- */

/* Refuses a file that another user may have planted.  Root is no exception: the owner of the file
 * could reset the limit that root obeys. */
static int check_owner(const takt_file_env *env, const struct stat *file, takt_error *error)
{
    const char *path = env->url.path;
    char directory[PATH_MAX];
    struct stat parent;

    if (!S_ISREG(file->st_mode))
        return takt_fail(error, TAKT_E_STORE_FORMAT,
                         "%s is not a plain file: name another one with file:PATH", path);
    if (file->st_nlink > 1)
        return takt_fail(error, TAKT_E_STORE_ACCESS,
                         "%s has more than one name (hard links), and its users would not see each "
                         "other's lock: "
                         "leave it only one",
                         path);
    if (file->st_uid == geteuid() || file->st_uid == 0)
        return 0;
    snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(path, '/') - path + 1), path);
    if (env->url.is_default || stat(directory, &parent) < 0 || (parent.st_mode & S_IWOTH))
        return takt_fail(error, TAKT_E_STORE_ACCESS,
                         "%s belongs to another user: name a file of your own with file:PATH",
                         path);
    return 0;
}

/* Opens and locks the data file that the path leads to now; creates one if there is none. */
static int open_locked(const takt_file_env *env, int *fd, struct stat *file, takt_error *error)
{
    const char *path = env->url.path;
    struct stat now;
    int failed;

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        *fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
        if (*fd < 0)
            return takt_file_fail(error, errno, "cannot open", path);
        if (flock(*fd, LOCK_EX) < 0 || fstat(*fd, file) < 0) {
            failed = errno;
            close(*fd);
            return takt_file_fail(error, failed, "cannot lock", path);
        }
        if (lstat(path, &now) == 0 && now.st_dev == file->st_dev && now.st_ino == file->st_ino)
            return 0;
        close(*fd);
    }
    return takt_fail(error, TAKT_E_STORE, "%s is replaced by others again and again", path);
}

int takt_file_hold(const takt_file_env *env)
{
    int fd = open(env->url.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

    if (fd >= 0)
        flock(fd, LOCK_EX);
    return fd;
}

/* A child's inherited descriptor keeps an flock alive, so it is unlocked explicitly. */
void takt_file_let_go(int fd)
{
    if (fd < 0)
        return;
    flock(fd, LOCK_UN);
    close(fd);
}

/* ---- the environment ----------------------------------------------------------------- */

/* All pages that the newest header counts must exist: an access to a mapping beyond the file's end
 * is a SIGBUS.  Zeros in their place are noticed when they are read.  (The last pages may be
 * missing for a good reason: they were free.) */
static int fill_up(takt_file_env *env, int fd)
{
    MDB_envinfo info;
    MDB_stat status;
    struct stat file;
    off_t wanted;

    mdb_env_info(env->mdb, &info);
    mdb_env_stat(env->mdb, &status);
    wanted = ((off_t)info.me_last_pgno + 1) * (off_t)status.ms_psize;
    if (fstat(fd, &file) < 0)
        return errno;
    if (file.st_size < wanted && ftruncate(fd, wanted) < 0)
        return errno;
    atomic_store(&env->size, file.st_size > wanted ? file.st_size : wanted);
    return 0;
}

/* LMDB opens by name: checks that it has opened the file that was locked. */
static int check_same(takt_file_env *env, const struct stat *file)
{
    struct stat opened;
    mdb_filehandle_t fd;

    mdb_env_get_fd(env->mdb, &fd);
    if (fstat(fd, &opened) < 0)
        return errno;
    return opened.st_dev == file->st_dev && opened.st_ino == file->st_ino ? 0 : ESTALE;
}

void takt_file_close_held(takt_file_env *env)
{
    if (env->mdb != NULL)
        mdb_env_close(env->mdb);
    env->mdb = NULL;
    takt_file_close_lock(env);
}

void takt_file_close_env(takt_file_env *env)
{
    int fd;

    if (env->mdb == NULL)
        return;
    fd = takt_file_hold(env);
    takt_file_close_held(env);
    takt_file_let_go(fd);
}

/* Returns 0, a code of LMDB or of the system (their ranges differ from ours), or one of
 * takt/error.h with `error` filled. */
static int open_mdb(takt_file_env *env, int fd, const struct stat *file, takt_error *error)
{
    unsigned flags = MDB_NOSUBDIR | MDB_NOTLS | (env->url.sync ? 0 : MDB_NOSYNC | MDB_NOMETASYNC);
    int rc = mdb_env_create(&env->mdb);

    if (rc != 0) {
        env->mdb = NULL;
        return rc;
    }
    rc = mdb_env_set_mapsize(env->mdb, MAP_SIZE);
    if (rc == 0)
        rc = mdb_env_open(env->mdb, env->url.path, flags, 0600);
    if (rc == 0)
        rc = check_same(env, file);
    if (rc == 0)
        rc = fill_up(env, fd);
    if (rc == 0)
        rc = mdb_reader_check(env->mdb, NULL);
    if (rc == 0)
        rc = takt_file_check_format(env, error);
    if (takt_file_is_damage(rc) && takt_file_lock_is_damaged(env))
        rc = takt_file_lock_fail(env, error);
    if (rc != 0)
        takt_file_close_held(env);
    return rc;
}

/* Renames the damaged file to a free name.  The caller holds the flock.  The process that creates
 * the new lock file removes the old one. */
static int move_aside(takt_file_env *env, int reason, takt_error *error)
{
    const char *path = env->url.path;
    char aside[TAKT_FILE_PATH_SIZE];
    struct stat status;
    int n = 1;

    do
        snprintf(aside, sizeof aside, "%s.damaged-%d", path, n);
    while (lstat(aside, &status) == 0 && ++n <= ASIDE_MAX);
    if (n > ASIDE_MAX)
        return takt_fail(error, TAKT_E_STORE,
                         "%s is damaged, and there are %d damaged ones beside it already: remove "
                         "those",
                         path, ASIDE_MAX);
    if (rename(path, aside) < 0)
        return takt_file_fail(error, errno, "cannot set aside the damaged file", path);
    snprintf(
        env->notice, sizeof env->notice,
        "the store's file %.200s was damaged (%s): it was moved to %.200s and a new one began, "
        "what its ledgers knew is lost",
        path, mdb_strerror(reason), strrchr(aside, '/') + 1);
    atomic_fetch_add(&env->generation, 1);
    return 0;
}

int takt_file_set_aside(takt_file_env *env, int reason, takt_error *error)
{
    struct stat file;
    int fd, code = open_locked(env, &fd, &file, error);

    if (code != 0)
        return code;
    if (file.st_dev == env->device && file.st_ino == env->inode)
        code = move_aside(env, reason, error);
    takt_file_let_go(fd);
    return code;
}

/* One attempt.  Returns 0 or a code of takt/error.h; *again: a damaged file was renamed. */
static int open_once(takt_file_env *env, bool *again, takt_error *error)
{
    struct stat file = {0};
    int fd, rc = 0, code = open_locked(env, &fd, &file, error);

    *again = false;
    if (code != 0)
        return code;
    code = check_owner(env, &file, error);
    if (code != 0) {
        takt_file_let_go(fd);
        return code;
    }
    if (file.st_size > 0 && !takt_file_has_magic(fd))
        rc = MDB_INVALID; /* LMDB would leave a lock file beside it */
    else
        code = takt_file_prepare_lock(env, file.st_size == 0, error);
    if (code == 0 && rc == 0)
        rc = open_mdb(env, fd, &file, error);
    if (rc <= TAKT_E_INVALID && rc >= TAKT_E_SYSTEM) {
        code = rc;
    } else if (takt_file_is_damage(rc)) {
        *again = takt_file_was_ours(fd, env->url.is_default);
        code = *again ? move_aside(env, rc, error) : takt_file_not_ours(error, env->url.path);
    } else if (rc != 0) {
        code = takt_file_mdb_fail(error, rc, "cannot open", env->url.path);
    }
    if (code != 0 && file.st_size == 0 && ftruncate(fd, 0) < 0)
        code = takt_file_fail(error, errno, "cannot empty",
                              env->url.path); /* a file with half a beginning is worse than none */
    env->device = file.st_dev;
    env->inode = file.st_ino;
    takt_file_let_go(fd);
    return code;
}

int takt_file_open_env(takt_file_env *env, takt_error *error)
{
    bool again = true;
    int code = 0;

    for (int attempt = 0; again && code == 0 && attempt < ATTEMPTS; attempt++)
        code = open_once(env, &again, error);
    if (code == 0 && again)
        code = takt_fail(error, TAKT_E_STORE, "%s is damaged each time it is made", env->url.path);
    return code;
}
