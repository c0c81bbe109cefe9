/*
 * test_file.c: what only a file can suffer in the hands of one process: damage, strangers, full
 * disks, refusals. Other processes are in test_file_process.c.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/record.h"
#include "store/rig.h"
#include "store/scratch_file.h"

/* Takes one token of each of so many ledgers, all at once; returns how many came back with
 * `status`. */
static int take_each(struct rig *rig, const takt_limit *limit, int from, int count, int status)
{
    struct rig_call *calls = calloc((size_t)count, sizeof *calls);
    char(*keys)[16] = calloc((size_t)count, sizeof *keys);
    int matched = 0;

    for (int i = 0; i < count; i++) {
        snprintf(keys[i], sizeof keys[i], "key-%d", from + i);
        rig_call_init(&calls[i], TAKT_OP_TRY, limit, keys[i]);
        rig_submit(rig, &calls[i]);
    }
    for (int i = 0; i < count; i++) {
        rig_wait(rig, &calls[i]);
        matched += calls[i].call.status == status;
    }
    free(keys);
    free(calls);
    return matched;
}

/* A file with that many ledgers, closed again. */
static void make_file(struct scratch *scratch, const takt_limit *limit, int ledgers)
{
    struct rig rig;

    rig_open(&rig, scratch->url);
    cr_assert_eq(take_each(&rig, limit, 0, ledgers, 0), ledgers);
    rig_close(&rig);
}

static void expect_refused(const char *url, int code, const char *says)
{
    struct rig rig;
    takt_error error = {0};

    cr_expect_eq(rig_try_open(&rig, url, "test", 0, &error), code, "%s: %s", url, error.text);
    cr_expect_not_null(strstr(error.text, says), "\"%s\" is not in \"%s\"", says, error.text);
    rig_close(&rig);
}

/* ---- what is kept -------------------------------------------------------------------- */

Test(file, keeps_ledgers_when_closed)
{
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct scratch scratch;
    struct rig rig;

    scratch_init(&scratch);
    make_file(&scratch, &limit, 100);
    rig_open(&rig, scratch.url);
    cr_expect_eq(take_each(&rig, &limit, 0, 100, TAKT_E_NO_SLOT), 100);
    cr_expect_eq(rig.replaced + rig.damaged, 0);
    rig_close(&rig);
    cr_expect_eq(scratch_count(&scratch), 101);
    scratch_remove(&scratch);
}

Test(file, grows)
{
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct scratch scratch;
    struct stat status;
    struct rig one, two;

    scratch_init(&scratch);
    rig_open(&one, scratch.url);
    rig_open(&two, scratch.url);
    cr_assert_eq(take_each(&one, &limit, 0, 10000, 0), 10000);
    cr_assert_eq(take_each(&two, &limit, 10000, 10000, 0), 10000);
    cr_assert_eq(take_each(&one, &limit, 0, 20000, TAKT_E_NO_SLOT), 20000);
    rig_close(&one);
    rig_close(&two);
    stat(scratch.path, &status);
    cr_expect_gt(status.st_size, 1 << 20, "more than the map has at first");
    cr_expect_eq(scratch_count(&scratch), 20001);
    scratch_remove(&scratch);
}

Test(file, forgets_what_has_expired_and_nothing_else)
{
    enum { SHORT = 500, LONG = 20 };
    takt_limit soon = rig_limit("soon", 1, 1000, 1), late = rig_limit("late", 1, RIG_DAY, 1);
    struct scratch scratch;
    struct rig rig;
    int64_t until_us;

    scratch_init(&scratch);
    rig_open(&rig, scratch.url);
    cr_assert_eq(take_each(&rig, &late, 0, LONG, 0), LONG);
    cr_assert_eq(take_each(&rig, &soon, 0, SHORT, 0), SHORT);
    until_us = takt_record_clock_us() + 1000;
    while (takt_record_clock_us() <= until_us)
        ;
    for (int i = 0; i < SHORT; i++)
        rig_peek(&rig, &soon, "a look takes part in the sweep");
    cr_expect_eq(take_each(&rig, &late, 0, LONG, TAKT_E_NO_SLOT), LONG);
    rig_close(&rig);
    cr_expect_eq(scratch_count(&scratch), LONG + 1);
    scratch_remove(&scratch);
}

Test(file, garbage_does_not_pile_up)
{
    enum { LEDGERS = 20000 };
    takt_limit limit = rig_limit("soon", 1000000, 1000000, 1);
    struct scratch scratch;
    struct rig rig;

    scratch_init(&scratch);
    rig_open(&rig, scratch.url);
    take_each(&rig, &limit, 0, LEDGERS, 0);
    rig_close(&rig);
    cr_expect_lt(scratch_count(&scratch), LEDGERS / 4);
    scratch_remove(&scratch);
}

/* ---- where it lies ------------------------------------------------------------------- */

static mode_t mode_of(const char *path)
{
    struct stat status = {0};

    stat(path, &status);
    return status.st_mode & 07777;
}

Test(file, default_lies_in_the_state_directory)
{
    static const char *const parts[] = {"/home", "/home/.local", "/home/.local/state",
                                        "/home/.local/state/takt"};
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct scratch scratch;
    struct rig rig;
    char path[2 * PATH_MAX];

    scratch_init(&scratch);
    snprintf(path, sizeof path, "%s/home", scratch.directory);
    setenv("XDG_STATE_HOME", "relative", 1);
    setenv("HOME", path, 1);
    rig_open(&rig, "file:");
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        snprintf(path, sizeof path, "%s%s", scratch.directory, parts[i]);
        cr_expect_eq(mode_of(path), 0700, "%s", path);
    }
    strcat(path, "/ledgers.mdb");
    cr_expect_eq(mode_of(path), 0600);
    strcat(path, "-lock");
    cr_expect_eq(mode_of(path), 0600);
    rig_close(&rig);
    scratch_remove(&scratch);
}

Test(file, path_may_be_a_directory_or_a_link)
{
    takt_limit limit = rig_limit("a", 4, RIG_DAY, 4);
    static const char *const forms[] = {"", "/", "/ledgers.mdb", "/link"};
    struct scratch scratch;
    char url[2 * PATH_MAX], link_path[2 * PATH_MAX];
    struct rig rigs[5];

    scratch_init(&scratch);
    snprintf(link_path, sizeof link_path, "%s/link", scratch.directory);
    rig_open(&rigs[4], scratch.url);
    cr_assert_eq(symlink("ledgers.mdb", link_path), 0);
    for (int i = 0; i < 4; i++) {
        snprintf(url, sizeof url, "file:%s%s", scratch.directory, forms[i]);
        rig_open(&rigs[i], url);
        cr_expect_eq(rig_try(&rigs[i], &limit, "k", 1), 0, "%s", url);
    }
    cr_expect_eq(rig_try(&rigs[0], &limit, "k", 1), TAKT_E_NO_SLOT, "all of them are one file");
    for (int i = 0; i < 5; i++)
        rig_close(&rigs[i]);
    cr_expect_not(scratch_has(&scratch, "link-lock"));
    scratch_remove(&scratch);
}

Test(file, refuses_places_that_will_not_do)
{
    struct scratch scratch;
    char url[3 * PATH_MAX], path[2 * PATH_MAX];

    scratch_init(&scratch);
    snprintf(url, sizeof url, "file:%s/missing/l", scratch.directory);
    expect_refused(url, TAKT_E_STORE_ACCESS, "mkdir -p");
    snprintf(url, sizeof url, "file:%s/missing/", scratch.directory);
    expect_refused(url, TAKT_E_STORE_ACCESS, "mkdir -p");
    cr_expect_not(scratch_has(&scratch, "missing"));

    snprintf(path, sizeof path, "%s/fifo", scratch.directory);
    cr_assert_eq(mkfifo(path, 0600), 0);
    snprintf(url, sizeof url, "file:%s", path);
    expect_refused(url, TAKT_E_STORE_FORMAT, "not a plain file");

    make_file(&scratch, &(takt_limit){0}, 0);
    snprintf(path, sizeof path, "%s/second", scratch.directory);
    cr_assert_eq(link(scratch.path, path), 0);
    expect_refused(scratch.url, TAKT_E_STORE_ACCESS, "hard links");
    scratch_remove(&scratch);
}

Test(file, default_refuses_a_link_in_its_place)
{
    struct scratch scratch;
    char path[2 * PATH_MAX];

    scratch_init(&scratch);
    setenv("XDG_STATE_HOME", scratch.directory, 1);
    snprintf(path, sizeof path, "%s/takt", scratch.directory);
    cr_assert_eq(mkdir(path, 0700), 0);
    strcat(path, "/ledgers.mdb");
    cr_assert_eq(symlink("/nowhere", path), 0);
    expect_refused("file:", TAKT_E_STORE_ACCESS, "symbolic link");
    scratch_remove(&scratch);
}

/* As a user who may not write there. */
static int open_unprivileged(void *argument)
{
    struct scratch *scratch = argument;
    struct rig rig;
    takt_error error = {0};

    if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
        return 77;
    if (rig_try_open(&rig, scratch->url, "test", 0, &error) != TAKT_E_STORE_ACCESS)
        return 1;
    return strstr(error.text, scratch->path) == NULL;
}

Test(file, says_that_it_may_not_write)
{
    struct scratch scratch;
    int status;

    scratch_init(&scratch);
    chmod(scratch.directory, 0555);
    cr_expect_eq(status = rig_reap(rig_fork(open_unprivileged, &scratch)), 0, "%d: no new file",
                 status);
    chmod(scratch.directory, 0755);
    make_file(&scratch, &(takt_limit){0}, 0);
    chmod(scratch.path, 0444);
    if (geteuid() == 0)
        cr_expect_eq(status = rig_reap(rig_fork(open_unprivileged, &scratch)), 0,
                     "%d: not writable", status);
    scratch_remove(&scratch);
}

/* ---- strangers' files ---------------------------------------------------------------- */

static void expect_left_alone(struct scratch *scratch, const char *says)
{
    static char before[1 << 16], after[1 << 16];
    size_t size = scratch_read(scratch, before, sizeof before);

    expect_refused(scratch->url, TAKT_E_STORE_FORMAT, says);
    cr_expect_eq(scratch_read(scratch, after, sizeof after), size);
    cr_expect_arr_eq(before, after, size);
    cr_expect_not(scratch_has(scratch, "ledgers.mdb.damaged-1"));
}

Test(file, leaves_a_text_alone)
{
    struct scratch scratch;

    scratch_init(&scratch);
    scratch_write(&scratch, 0, "takt 1763692800123456 g1/1\n", 27);
    expect_left_alone(&scratch, "not a file of takt's");
    cr_expect_not(scratch_has(&scratch, "ledgers.mdb-lock"));
    scratch_remove(&scratch);
}

Test(file, leaves_a_big_text_alone)
{
    static char text[40000];
    struct scratch scratch;

    scratch_init(&scratch);
    memset(text, 'x', sizeof text);
    scratch_write(&scratch, 0, text, sizeof text);
    expect_left_alone(&scratch, "not a file of takt's");
    scratch_remove(&scratch);
}

Test(file, leaves_another_programs_database_alone)
{
    struct scratch scratch;

    scratch_init(&scratch);
    scratch_put(&scratch, "theirs", 6, "value");
    expect_left_alone(&scratch, "not a file of takt's");
    scratch_remove(&scratch);
}

Test(file, leaves_another_programs_damaged_database_alone)
{
    struct scratch scratch;

    scratch_init(&scratch);
    scratch_put(&scratch, "theirs", 6, "value");
    scratch_write(&scratch, 4096, "garbage garbage garbage garbage", 31);
    expect_left_alone(&scratch, "not a file of takt's");
    scratch_remove(&scratch);
}

Test(file, leaves_another_format_alone)
{
    struct scratch scratch;

    scratch_init(&scratch);
    make_file(&scratch, &(takt_limit){0}, 0);
    scratch_put(&scratch, "\0format", 7, "takt 2");
    expect_left_alone(&scratch, "has the format \"takt 2\"");
    scratch_remove(&scratch);
}

Test(file, takes_an_empty_file)
{
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct scratch scratch;

    scratch_init(&scratch);
    scratch_write(&scratch, 0, "", 0);
    make_file(&scratch, &limit, 1);
    cr_expect_eq(scratch_count(&scratch), 2);
    scratch_remove(&scratch);
}

/* ---- damage
 * ------------------------------------------------------------------------------------------------
 */

/* Uses a damaged file until it has been replaced, which must be told once, and finds that the new
 * one works. */
static void expect_replaced(struct scratch *scratch, const takt_limit *limit)
{
    struct rig rig;

    rig_open(&rig, scratch->url);
    for (int i = 0; i < 2000 && rig.replaced == 0; i++) {
        char key[16];
        snprintf(key, sizeof key, "key-%d", i);
        cr_assert_neq(rig_try(&rig, limit, key, 1), TAKT_E_STORE);
    }
    cr_expect_eq(rig.replaced, 1);
    cr_expect_not_null(strstr(rig.text, "ledgers.mdb.damaged-1"), "%s", rig.text);
    cr_expect(scratch_has(scratch, "ledgers.mdb.damaged-1"));
    cr_expect_eq(rig_try(&rig, limit, "new", 1), 0);
    cr_expect_eq(rig_try(&rig, limit, "new", 1), TAKT_E_NO_SLOT);
    rig_close(&rig);
    rig_open(&rig, scratch->url);
    cr_expect_eq(rig_try(&rig, limit, "new", 1), TAKT_E_NO_SLOT);
    cr_expect_eq(rig.replaced, 0);
    rig_close(&rig);
}

Test(file, a_damaged_header_is_replaced)
{
    static const char zeros[4096];
    static const struct {
        size_t at, size;
    } table[] = {{0, 4096}, {4096, 4096}, {16, 4}, {4096 + 16, 4}};
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct scratch scratch;
        scratch_init(&scratch);
        make_file(&scratch, &limit, 300);
        scratch_write(&scratch, table[i].at, zeros, table[i].size);
        expect_replaced(&scratch, &limit);
        scratch_remove(&scratch);
    }
}

Test(file, lost_pages_are_replaced)
{
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    static const char zeros[1 << 20];
    struct scratch scratch;
    struct stat status;

    scratch_init(&scratch);
    make_file(&scratch, &limit, 2000);
    stat(scratch.path, &status);
    cr_assert_leq((size_t)status.st_size, sizeof zeros);
    scratch_write(&scratch, 5 * 4096, zeros, (size_t)status.st_size - 5 * 4096);
    expect_replaced(&scratch, &limit);
    scratch_remove(&scratch);
}

Test(file, a_truncated_file_is_replaced)
{
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);

    for (int quarters = 1; quarters < 4; quarters++) {
        struct scratch scratch;
        struct stat status;
        scratch_init(&scratch);
        make_file(&scratch, &limit, 2000);
        stat(scratch.path, &status);
        cr_assert_eq(truncate(scratch.path, status.st_size * quarters / 4), 0);
        expect_replaced(&scratch, &limit);
        scratch_remove(&scratch);
    }
}

Test(file, a_file_of_zeros_is_replaced)
{
    static const char zeros[20000];
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct scratch scratch;

    scratch_init(&scratch);
    scratch_write(&scratch, 0, zeros, sizeof zeros);
    expect_replaced(&scratch, &limit);
    scratch_remove(&scratch);
}

Test(file, an_unreadable_ledger_is_begun_anew_and_blocked)
{
    static const char *const texts[] = {"", "1", "takt 9999999999999999 ",
                                        "takt 9999999999999999 nonsense", "nonsense"};
    takt_limit limit = rig_limit("a", 5, RIG_DAY, 5);

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct scratch scratch;
        struct rig rig;
        takt_standing standing;
        scratch_init(&scratch);
        make_file(&scratch, &limit, 0);
        scratch_put(&scratch, "test\0a\0k", 8, texts[i]);
        rig_open(&rig, scratch.url);
        cr_expect_eq(rig_try(&rig, &limit, "k", 1), TAKT_E_NO_SLOT, "\"%s\"", texts[i]);
        cr_expect_eq(rig.damaged, 1, "\"%s\"", texts[i]);
        cr_expect_not_null(strstr(rig.text, "limit \"a\" and the key \"k\""), "%s", rig.text);
        standing = rig_peek(&rig, &limit, "k");
        cr_expect_gt(standing.blocked_until_us, standing.now_us + RIG_DAY / 2);
        cr_expect_eq(rig.damaged, 1, "told once");
        cr_expect_eq(rig_try(&rig, &limit, "other", 1), 0);
        rig_close(&rig);
        scratch_remove(&scratch);
    }
}

/* ---- replaced by hand ---------------------------------------------------------------- */

static void expect_noticed(struct scratch *scratch, int what)
{
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct rig one, two;
    char aside[2 * PATH_MAX], lock[2 * PATH_MAX];

    snprintf(aside, sizeof aside, "%s.moved", scratch->path);
    snprintf(lock, sizeof lock, "%s-lock", scratch->path);
    rig_open(&one, scratch->url);
    rig_open(&two, scratch->url);
    cr_expect_eq(rig_try(&one, &limit, "k", 1), 0);
    cr_assert_eq(what == 0   ? unlink(scratch->path)
                 : what == 1 ? rename(scratch->path, aside)
                             : unlink(scratch->path) + unlink(lock),
                 0);
    while (one.replaced == 0)
        cr_assert_neq(rig_try(&one, &limit, "j", 1), TAKT_E_STORE);
    cr_expect_not_null(strstr(one.text, "removed"), "%s", one.text);
    cr_expect_eq(rig_try(&one, &limit, "new", 1), 0);
    cr_expect_eq(rig_try(&two, &limit, "new", 1), TAKT_E_NO_SLOT, "both use the new file");
    cr_expect_eq(two.replaced, 1);
    rig_close(&one);
    rig_close(&two);
    rig_open(&one, scratch->url);
    cr_expect_eq(rig_try(&one, &limit, "new", 1), TAKT_E_NO_SLOT);
    rig_close(&one);
}

Test(file, a_file_removed_under_us_is_made_again)
{
    for (int what = 0; what < 3; what++) {
        struct scratch scratch;
        scratch_init(&scratch);
        expect_noticed(&scratch, what);
        scratch_remove(&scratch);
    }
}

/* ---- full disks ---------------------------------------------------------------------- */

/* Fills up what there is, then finds that what was refused is refused for its reason and that
 * nothing is broken. */
static bool expect_full(struct rig *rig, const takt_limit *limit, int *taken)
{
    char key[200];
    int status = 0;

    for (*taken = 0; *taken < 50000 && status == 0; *taken += status == 0) {
        snprintf(key, sizeof key, "%0150d", *taken);
        status = rig_try(rig, limit, key, 1);
    }
    return status == TAKT_E_STORE_SPACE;
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
    return rig_try(rig, limit, key, 1) == 0 && rig_try(rig, limit, key, 1) == TAKT_E_NO_SLOT &&
           rig->damaged + rig->replaced == 0;
}

/* The size of files limited: the system's word for it is EFBIG, and a signal. */
static int fill_limited(void *argument)
{
    struct scratch *scratch = argument;
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct rlimit size = {300000, RLIM_INFINITY};
    struct rig rig;
    int taken;

    rig_open(&rig, scratch->url);
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

Test(file, survives_a_limit_of_file_sizes)
{
    struct scratch scratch;
    int status;

    scratch_init(&scratch);
    cr_expect_eq(status = rig_reap(rig_fork(fill_limited, &scratch)), 0, "%d", status);
    scratch_remove(&scratch);
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

static int open_on_full_disk(void *argument)
{
    struct scratch *scratch = argument;
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    takt_error error = {0};
    struct rig rig;

    /* Sizes of a few pages: each of the two files and each of their pages is what does not fit. */
    for (int kib = 4; kib <= 24; kib += 4) {
        char size[32];
        int code;
        snprintf(size, sizeof size, "size=%dk", kib);
        if (mount("none", scratch->directory, "tmpfs", 0, size) < 0)
            return SKIPPED;
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

Test(file, survives_disks)
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
            printf("SKIP file/survives_disks: no right to mount a disk that %s\n", table[i].name);
        else
            cr_expect_eq(status, 0, "a disk that %s: %d", table[i].name, status);
        umount2(scratch.directory, MNT_DETACH);
        scratch_remove(&scratch);
    }
}
