/*
 * test_file_url.c: the path of a store's file, and which paths are refused.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/rig.h"
#include "store/scratch_file.h"

/* ---- its path ------------------------------------------------------------------------ */

static mode_t mode_of(const char *path)
{
    struct stat status = {0};

    stat(path, &status);
    return status.st_mode & 07777;
}

Test(file_place, default_lies_in_the_state_directory)
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

Test(file_place, path_may_be_a_directory_or_a_link)
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

Test(file_place, refuses_places_that_will_not_do)
{
    struct scratch scratch;
    char url[3 * PATH_MAX], path[2 * PATH_MAX];

    scratch_init(&scratch);
    snprintf(url, sizeof url, "file:%s/missing/l", scratch.directory);
    scratch_expect_refused(url, TAKT_E_STORE_ACCESS, "mkdir -p");
    snprintf(url, sizeof url, "file:%s/missing/", scratch.directory);
    scratch_expect_refused(url, TAKT_E_STORE_ACCESS, "mkdir -p");
    cr_expect_not(scratch_has(&scratch, "missing"));

    snprintf(path, sizeof path, "%s/fifo", scratch.directory);
    cr_assert_eq(mkfifo(path, 0600), 0);
    snprintf(url, sizeof url, "file:%s", path);
    scratch_expect_refused(url, TAKT_E_STORE_FORMAT, "not a plain file");

    scratch_make(&scratch, &(takt_limit){0}, 0);
    snprintf(path, sizeof path, "%s/second", scratch.directory);
    cr_assert_eq(link(scratch.path, path), 0);
    scratch_expect_refused(scratch.url, TAKT_E_STORE_ACCESS, "hard links");
    scratch_remove(&scratch);
}

Test(file_place, default_refuses_a_link_in_its_place)
{
    struct scratch scratch;
    char path[2 * PATH_MAX];

    scratch_init(&scratch);
    setenv("XDG_STATE_HOME", scratch.directory, 1);
    snprintf(path, sizeof path, "%s/takt", scratch.directory);
    cr_assert_eq(mkdir(path, 0700), 0);
    strcat(path, "/ledgers.mdb");
    cr_assert_eq(symlink("/nowhere", path), 0);
    scratch_expect_refused("file:", TAKT_E_STORE_ACCESS, "symbolic link");
    scratch_remove(&scratch);
}

/* Others could replace the file in such a directory, or the directory itself. */
Test(file_place, default_refuses_a_directory_of_others)
{
    struct scratch scratch;
    char path[2 * PATH_MAX], real[2 * PATH_MAX];

    scratch_init(&scratch);
    setenv("XDG_STATE_HOME", scratch.directory, 1);
    snprintf(path, sizeof path, "%s/takt", scratch.directory);
    snprintf(real, sizeof real, "%s/real", scratch.directory);
    cr_assert_eq(mkdir(real, 0700), 0);
    cr_assert_eq(symlink(real, path), 0);
    scratch_expect_refused("file:", TAKT_E_STORE_ACCESS, "symbolic link");
    cr_assert_eq(unlink(path), 0);

    cr_assert_eq(mkdir(path, 0700), 0);
    cr_assert_eq(chmod(path, 0777), 0);
    scratch_expect_refused("file:", TAKT_E_STORE_ACCESS, "chmod go-w");
    cr_assert_eq(chmod(path, 01777), 0);
    scratch_expect_refused("file:", TAKT_E_STORE_ACCESS, "chmod go-w");
    cr_assert_eq(chmod(path, 0700), 0);
    if (geteuid() == 0) {
        cr_assert_eq(chown(path, 65534, 65534), 0);
        scratch_expect_refused("file:", TAKT_E_STORE_ACCESS, "belongs to another user");
    }
    scratch_remove(&scratch);
}

/* Only root can make a file of another user; there is no other way to meet the case. */
Test(file_place, root_refuses_a_file_of_others_where_all_may_write)
{
    struct scratch scratch;

    scratch_init(&scratch);
    scratch_make(&scratch, &(takt_limit){0}, 0);
    if (geteuid() == 0) {
        cr_assert_eq(chown(scratch.path, 65534, 65534), 0);
        cr_assert_eq(chmod(scratch.directory, 01777), 0);
        scratch_expect_refused(scratch.url, TAKT_E_STORE_ACCESS, "belongs to another user");
        cr_assert_eq(chmod(scratch.directory, 0700), 0);
    }
    scratch_expect_accepted(scratch.url);
    scratch_remove(&scratch);
}

/* As a user without write permission there. */
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

Test(file_place, says_that_it_may_not_write)
{
    struct scratch scratch;
    int status;

    scratch_init(&scratch);
    chmod(scratch.directory, 0555);
    cr_expect_eq(status = rig_reap(rig_fork(open_unprivileged, &scratch)), 0, "%d: no new file",
                 status);
    chmod(scratch.directory, 0755);
    scratch_make(&scratch, &(takt_limit){0}, 0);
    chmod(scratch.path, 0444);
    if (geteuid() == 0)
        cr_expect_eq(status = rig_reap(rig_fork(open_unprivileged, &scratch)), 0,
                     "%d: not writable", status);
    scratch_remove(&scratch);
}
