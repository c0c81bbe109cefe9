/*
 * file_lock.c: the lock file that LMDB keeps beside a store's data file: how it is created, and
 * whether it is intact.  If other programs overwrite it, the data file is intact, and only the lock
 * file has to be removed.
 */
#include "store/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

#define LOCK_SIZE  8192       /* LMDB's size for its default number of readers */
#define LOCK_MAGIC 0xBEEFC0DE /* its first four bytes, in host order (MDB_MAGIC) */

void takt_file_lock_path(char path[TAKT_FILE_PATH_SIZE], const char *data_path)
{
    snprintf(path, TAKT_FILE_PATH_SIZE, "%s-lock", data_path);
}

void takt_file_close_lock(takt_file_env *env)
{
    if (env->lock_fd >= 0)
        close(env->lock_fd);
    env->lock_fd = -1;
}

/* The file is mapped for writing: if its blocks cannot be allocated, a write would be a SIGBUS.  It
 * stays open: a process that closes any descriptor of it gives up LMDB's lock on it. */
int takt_file_prepare_lock(takt_file_env *env, bool fresh, takt_error *error)
{
    static const char zeros[LOCK_SIZE];
    char path[TAKT_FILE_PATH_SIZE];
    struct stat status = {0};
    int fd, failed = 0;

    takt_file_lock_path(path, env->url.path);
    if (fresh && unlink(path) < 0 && errno != ENOENT)
        return takt_file_fail(error, errno, "cannot remove the old", path);
    fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    if (fd < 0)
        return takt_file_fail(error, errno, "cannot open", path);
    if (fstat(fd, &status) < 0)
        failed = errno;
    else if (!S_ISREG(status.st_mode))
        failed = EINVAL;
    else if (status.st_size < LOCK_SIZE)
        failed =
            pwrite(fd, zeros, LOCK_SIZE - (size_t)status.st_size, status.st_size) < 0 ? errno : 0;
    takt_file_close_lock(env);
    env->lock_fd = fd;
    env->lock_device = status.st_dev;
    env->lock_inode = status.st_ino;
    return failed != 0 ? takt_file_fail(error, failed, "cannot prepare", path) : 0;
}

bool takt_file_lock_is_damaged(const takt_file_env *env)
{
    uint32_t magic;

    return env->lock_fd >= 0 && pread(env->lock_fd, &magic, sizeof magic, 0) == sizeof magic &&
           magic != LOCK_MAGIC && magic != 0;
}

int takt_file_lock_fail(const takt_file_env *env, takt_error *error)
{
    return takt_fail(error, TAKT_E_STORE,
                     "the lock file %s-lock was overwritten; the data in %s is whole: stop all "
                     "programs that use this store, remove the lock file, and start them again",
                     env->url.path, env->url.path);
}
