/*
 * test_file.c: what only a file can suffer in the hands of one process: damage and strangers.
 * Places are in test_file_url.c, full disks in test_file_space.c, other processes in
 * test_file_process.c.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/record.h"
#include "store/rig.h"
#include "store/scratch_file.h"

/* ---- records ------------------------------------------------------------------------- */

Test(file, keeps_ledgers_when_closed)
{
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct scratch scratch;
    struct rig rig;

    scratch_init(&scratch);
    scratch_make(&scratch, &limit, 100);
    rig_open(&rig, scratch.url);
    cr_expect_eq(rig_take_each(&rig, &limit, 0, 100, TAKT_E_NO_SLOT), 100);
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
    cr_assert_eq(rig_take_each(&one, &limit, 0, 10000, 0), 10000);
    cr_assert_eq(rig_take_each(&two, &limit, 10000, 10000, 0), 10000);
    cr_assert_eq(rig_take_each(&one, &limit, 0, 20000, TAKT_E_NO_SLOT), 20000);
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
    cr_assert_eq(rig_take_each(&rig, &late, 0, LONG, 0), LONG);
    cr_assert_eq(rig_take_each(&rig, &soon, 0, SHORT, 0), SHORT);
    until_us = takt_record_clock_us() + 1000;
    while (takt_record_clock_us() <= until_us)
        ;
    for (int i = 0; i < SHORT; i++)
        rig_peek(&rig, &soon, "a look takes part in the sweep");
    cr_expect_eq(rig_take_each(&rig, &late, 0, LONG, TAKT_E_NO_SLOT), LONG);
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
    rig_take_each(&rig, &limit, 0, LEDGERS, 0);
    rig_close(&rig);
    cr_expect_lt(scratch_count(&scratch), LEDGERS / 4);
    scratch_remove(&scratch);
}

/* ---- strangers' files ---------------------------------------------------------------- */

static void expect_left_alone(struct scratch *scratch, const char *says)
{
    static char before[1 << 16], after[1 << 16];
    size_t size = scratch_read(scratch, before, sizeof before);

    scratch_expect_refused(scratch->url, TAKT_E_STORE_FORMAT, says);
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
    scratch_make(&scratch, &(takt_limit){0}, 0);
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
    scratch_make(&scratch, &limit, 1);
    cr_expect_eq(scratch_count(&scratch), 2);
    scratch_remove(&scratch);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Uses a damaged file until it is replaced, which must be reported once, and checks that the new
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
        scratch_make(&scratch, &limit, 300);
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
    scratch_make(&scratch, &limit, 2000);
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
        scratch_make(&scratch, &limit, 2000);
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
        scratch_make(&scratch, &limit, 0);
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

/* LMDB's lock belongs to one data file: somebody may still hold the old one. */
Test(file, a_new_file_gets_a_new_lock)
{
    struct scratch scratch;
    struct stat before, after;
    char lock[2 * PATH_MAX];
    int held;

    scratch_init(&scratch);
    scratch_make(&scratch, &(takt_limit){0}, 0);
    snprintf(lock, sizeof lock, "%s-lock", scratch.path);
    held = open(lock, O_RDONLY | O_CLOEXEC); /* so that its number is not given to another file */
    cr_assert_eq(fstat(held, &before), 0);
    cr_assert_eq(unlink(scratch.path), 0);
    scratch_make(&scratch, &(takt_limit){0}, 0);
    cr_assert_eq(stat(lock, &after), 0);
    cr_expect_neq(before.st_ino, after.st_ino);
    close(held);
    scratch_remove(&scratch);
}
