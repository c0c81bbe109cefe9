/*
 * test_file_space.c: a store's file on disks that are full, fill up, or may not be written to.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store/rig.h"
#include "store/scratch_file.h"

/* ---- full disks ---------------------------------------------------------------------- */

/* Fills the file, then checks the error of refused calls and that nothing is broken. */
static bool expect_full(struct rig *rig, const takt_limit *limit, int *taken)
{
    char key[200];
    int status = 0;

    for (*taken = 0; *taken < 50000 && status == 0; *taken += status == 0) {
        snprintf(key, sizeof key, "%0150d", *taken);
        status = rig_try(rig, limit, key, 1);
    }
    return status == TAKT_E_STORE_SPACE && rig->store->trouble != NULL &&
           strstr(rig->store->trouble, "make room") != NULL;
}

static bool expect_intact(struct rig *rig, const takt_limit *limit, int taken)
{
    char key[200];

    for (int i = 0; i < taken; i++) {
        snprintf(key, sizeof key, "%0150d", i);
        if (rig_peek(rig, limit, key).remaining != 0)
            return false;
    }
    snprintf(key, sizeof key, "%0150d", taken);
    return rig_try(rig, limit, key, 1) == 0 && rig->store->trouble == NULL &&
           rig_try(rig, limit, key, 1) == TAKT_E_NO_SLOT && rig->damaged + rig->replaced == 0;
}

struct limited {
    struct scratch *scratch;
    rlim_t size;
};

/* The size of files limited: the system's word for it is EFBIG, and a signal. */
static int fill_limited(void *argument)
{
    struct limited *limited = argument;
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct rlimit size = {limited->size, RLIM_INFINITY};
    struct rig rig;
    int taken;

    rig_open(&rig, limited->scratch->url);
    setrlimit(RLIMIT_FSIZE, &size);
    if (!expect_full(&rig, &limit, &taken) || taken == 0)
        return 1;
    size.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &size);
    if (!expect_intact(&rig, &limit, taken))
        return 2;
    rig_close(&rig);
    return 0;
}

/* A write may end at the limit or be cut by it. */
Test(file_space, survives_a_limit_of_file_sizes)
{
    static const rlim_t sizes[] = {75 * 4096, 75 * 4096 + 1000};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct scratch scratch;
        struct limited limited = {&scratch, sizes[i]};
        int status;
        scratch_init(&scratch);
        cr_expect_eq(status = rig_reap(rig_fork(fill_limited, &limited)), 0, "%lu: %d",
                     (unsigned long)sizes[i], status);
        scratch_remove(&scratch);
    }
}

enum { SKIPPED = 77 };

static int fill_disk(void *argument)
{
    struct scratch *scratch = argument;
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct rig rig;
    int taken;

    if (mount("none", scratch->directory, "tmpfs", 0, "size=400k") < 0)
        return SKIPPED;
    rig_open(&rig, scratch->url);
    if (!expect_full(&rig, &limit, &taken) || taken == 0)
        return 1;
    if (mount("none", scratch->directory, "tmpfs", MS_REMOUNT, "size=8m") < 0)
        return 2;
    if (!expect_intact(&rig, &limit, taken))
        return 3;
    rig_close(&rig);
    return 0;
}

static void fill_first_page(const struct scratch *scratch)
{
    static const char page[4096];
    char path[2 * PATH_MAX];
    int fd;

    snprintf(path, sizeof path, "%s/filler", scratch->directory);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    cr_assert_eq(write(fd, page, sizeof page), (ssize_t)sizeof page);
    close(fd);
}

static int open_on_full_disk(void *argument)
{
    struct scratch *scratch = argument;
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    takt_error error = {0};
    struct rig rig;

    /* Sizes of a few pages: each of the two files and each of their pages is what does not fit. */
    for (int kib = 0; kib <= 24; kib += 4) {
        char size[32];
        int code;
        snprintf(size, sizeof size, "size=%dk", kib > 0 ? kib : 4);
        if (mount("none", scratch->directory, "tmpfs", 0, size) < 0)
            return SKIPPED;
        if (kib == 0)
            fill_first_page(scratch);
        code = rig_try_open(&rig, scratch->url, "test", 0, &error);
        if (code != TAKT_E_STORE_SPACE && (code != 0 || kib < 16))
            return kib;
        rig_close(&rig);
        mount("none", scratch->directory, "tmpfs", MS_REMOUNT, "size=8m");
        rig_open(&rig, scratch->url);
        if (rig_try(&rig, &limit, "k", 1) != 0 || rig.replaced != 0)
            return 100 + kib;
        rig_close(&rig);
        umount(scratch->directory);
    }
    return 0;
}

static int open_on_read_only(void *argument)
{
    struct scratch *scratch = argument;
    takt_error error = {0};
    struct rig rig;

    if (mount("none", scratch->directory, "tmpfs", MS_RDONLY, "size=400k") < 0)
        return SKIPPED;
    return rig_try_open(&rig, scratch->url, "test", 0, &error) != TAKT_E_STORE_ACCESS ||
           strstr(error.text, "Read-only") == NULL;
}

Test(file_space, survives_disks)
{
    static const struct {
        const char *name;
        int (*work)(void *argument);
    } table[] = {{"fills up", fill_disk},
                 {"is full", open_on_full_disk},
                 {"is read-only", open_on_read_only}};

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct scratch scratch;
        int status;
        scratch_init(&scratch);
        status = rig_reap(rig_fork(table[i].work, &scratch));
        if (status == SKIPPED)
            printf("SKIP file_space/survives_disks: no right to mount a disk that %s\n",
                   table[i].name);
        else
            cr_expect_eq(status, 0, "a disk that %s: %d", table[i].name, status);
        umount2(scratch.directory, MNT_DETACH);
        scratch_remove(&scratch);
    }
}
