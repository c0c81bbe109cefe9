/*
 * scratch_file.c: see scratch_file.h.
 */
#include "store/scratch_file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lmdb.h>

static void must(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "scratch: %s: %s\n", what, mdb_strerror(rc));
    abort();
}

void scratch_init(struct scratch *scratch)
{
    rig_directory(scratch->directory);
    snprintf(scratch->path, sizeof scratch->path, "%s/ledgers.mdb", scratch->directory);
    snprintf(scratch->url, sizeof scratch->url, "file:%s", scratch->path);
}

void scratch_remove(struct scratch *scratch)
{
    rig_remove(scratch->directory);
}

bool scratch_has(const struct scratch *scratch, const char *name)
{
    char path[2 * PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", scratch->directory, name);
    return access(path, F_OK) == 0;
}

static MDB_txn *begin(const struct scratch *scratch, MDB_env **env, MDB_dbi *dbi)
{
    MDB_txn *txn;

    must(mdb_env_create(env), "create");
    must(mdb_env_set_mapsize(*env, (size_t)1 << 30), "map size");
    must(mdb_env_open(*env, scratch->path, MDB_NOSUBDIR | MDB_NOSYNC, 0600), scratch->path);
    must(mdb_txn_begin(*env, NULL, 0, &txn), "begin");
    must(mdb_dbi_open(txn, NULL, 0, dbi), "dbi");
    return txn;
}

size_t scratch_count(const struct scratch *scratch)
{
    MDB_env *env;
    MDB_dbi dbi;
    MDB_stat status;
    MDB_txn *txn = begin(scratch, &env, &dbi);

    must(mdb_stat(txn, dbi, &status), "stat");
    mdb_txn_abort(txn);
    mdb_env_close(env);
    return status.ms_entries;
}

void scratch_put(const struct scratch *scratch, const void *name, size_t name_size,
                 const char *text)
{
    MDB_env *env;
    MDB_dbi dbi;
    MDB_txn *txn = begin(scratch, &env, &dbi);
    MDB_val key = {name_size, (void *)(size_t)name}, value = {strlen(text), (void *)(size_t)text};

    must(mdb_put(txn, dbi, &key, &value, 0), "put");
    must(mdb_txn_commit(txn), "commit");
    mdb_env_close(env);
}

size_t scratch_read(const struct scratch *scratch, char *bytes, size_t size)
{
    int fd = open(scratch->path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : pread(fd, bytes, size, 0);

    must(n < 0 ? EIO : 0, "read");
    close(fd);
    return (size_t)n;
}

void scratch_write(const struct scratch *scratch, size_t at, const void *bytes, size_t size)
{
    int fd = open(scratch->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ssize_t n = fd < 0 ? -1 : pwrite(fd, bytes, size, (off_t)at);

    must(n == (ssize_t)size ? 0 : EIO, "write");
    close(fd);
}

int scratch_stop_inside(void *argument)
{
    MDB_env *env;
    MDB_dbi dbi;
    MDB_txn *txn = begin(argument, &env, &dbi);

    raise(SIGSTOP);
    mdb_txn_abort(txn);
    mdb_env_close(env);
    return 0;
}

void scratch_make(struct scratch *scratch, const takt_limit *limit, int ledgers)
{
    struct rig rig;

    rig_open(&rig, scratch->url);
    cr_assert_eq(rig_take_each(&rig, limit, 0, ledgers, 0), ledgers);
    rig_close(&rig);
}

void scratch_expect_refused(const char *url, int code, const char *says)
{
    struct rig rig;
    takt_error error = {0};

    cr_expect_eq(rig_try_open(&rig, url, "test", 0, &error), code, "%s: %s", url, error.text);
    cr_expect_not_null(strstr(error.text, says), "\"%s\" is not in \"%s\"", says, error.text);
    rig_close(&rig);
}

int scratch_descriptors(const struct scratch *scratch)
{
    char name[64], path[PATH_MAX];
    int count = 0;

    for (int fd = 0; fd < 256; fd++) {
        ssize_t size;
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        size = readlink(name, path, sizeof path - 1);
        path[size > 0 ? size : 0] = '\0';
        count += strcmp(path, scratch->path) == 0;
    }
    return count;
}

void scratch_expect_accepted(const char *url)
{
    struct rig rig;
    takt_error error = {0};

    cr_assert_eq(rig_try_open(&rig, url, "test", 0, &error), 0, "%s: %s", url, error.text);
    rig_close(&rig);
}
