/*
 * test_file_sharing.c: a store's file that several processes make, use, grow and replace.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "store/rig.h"
#include "store/scratch_file.h"

struct worker {
    const struct scratch *scratch;
    int number;
    int pipe[2];
    int go[2];
};

/* ---- sharing --------------------------------------------------------------------------------- */

enum { PROCESSES = 4, TOKENS = 200, CREATIONS = 20 };

/* Takes all it can get, once the other end of `go` is closed. */
static int take_all(void *argument)
{
    struct worker *worker = argument;
    takt_limit limit = rig_limit("a", TOKENS, RIG_DAY, TOKENS);
    struct rig rig;
    int32_t taken = 0;
    int status;

    close(worker->go[1]);
    if (read(worker->go[0], &status, 1) != 0)
        return 1;
    rig_open(&rig, worker->scratch->url);
    while ((status = rig_try(&rig, &limit, "k", 1)) == 0)
        taken++;
    rig_close(&rig);
    if (status != TAKT_E_NO_SLOT || rig.replaced + rig.damaged > 0)
        return 2;
    return write(worker->pipe[1], &taken, sizeof taken) < 0;
}

static void share_new_file(void)
{
    struct scratch scratch;
    struct worker worker = {.scratch = &scratch};
    int processes[PROCESSES];
    int32_t taken, sum = 0;

    scratch_init(&scratch);
    cr_assert_eq(pipe(worker.pipe) + pipe(worker.go), 0);
    for (int i = 0; i < PROCESSES; i++)
        processes[i] = rig_fork(take_all, &worker);
    close(worker.go[0]);
    close(worker.go[1]);
    for (int i = 0; i < PROCESSES; i++) {
        cr_assert_eq(rig_reap(processes[i]), 0);
        cr_assert_eq(read(worker.pipe[0], &taken, sizeof taken), (ssize_t)sizeof taken);
        sum += taken;
    }
    cr_expect_eq(sum, TOKENS);
    close(worker.pipe[0]);
    close(worker.pipe[1]);
    scratch_remove(&scratch);
}

Test(file_sharing, processes_make_and_share_a_file)
{
    for (int i = 0; i < CREATIONS; i++)
        share_new_file();
}

Test(file_sharing, stores_of_one_process_share_what_is_open)
{
    struct scratch scratch;
    char url[2 * PATH_MAX];
    struct rig one, two;
    int open_once;

    scratch_init(&scratch);
    rig_open(&one, scratch.url);
    open_once = scratch_descriptors(&scratch);
    snprintf(url, sizeof url, "file:%s/../%s", scratch.directory,
             strrchr(scratch.directory, '/') + 1);
    rig_open(&two, url);
    cr_expect_gt(open_once, 0);
    cr_expect_eq(scratch_descriptors(&scratch), open_once, "LMDB allows no more than one");
    rig_close(&one);
    cr_expect_eq(scratch_descriptors(&scratch), open_once);
    rig_close(&two);
    cr_expect_eq(scratch_descriptors(&scratch), 0);
    scratch_remove(&scratch);
}

/* Whether this process sees somebody wait for an flock. */
static bool somebody_waits(void)
{
    FILE *locks = fopen("/proc/locks", "r");
    char line[256];
    bool waits = false;

    while (locks != NULL && fgets(line, sizeof line, locks) != NULL)
        waits |= strstr(line, "-> FLOCK") != NULL;
    if (locks != NULL)
        fclose(locks);
    return waits;
}

/* When told to, holds the file as a process does that is about to open or to replace it, until
 * another one waits for it or has passed. */
static int hold_file(void *argument)
{
    struct worker *worker = argument;
    char byte;
    int fd;

    close(worker->go[1]);
    if (read(worker->go[0], &byte, 1) != 1)
        return 2;
    fcntl(worker->go[0], F_SETFL, O_NONBLOCK);
    fd = open(worker->scratch->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) < 0 || write(worker->pipe[1], "", 1) != 1)
        return 2;
    while (!somebody_waits())
        if (read(worker->go[0], &byte, 1) == 0)
            return 1;
    return 0;
}

static int start_holder(struct worker *worker)
{
    cr_assert_eq(pipe(worker->pipe) + pipe(worker->go), 0);
    return rig_fork(hold_file, worker);
}

static void let_hold(struct worker *worker)
{
    char byte;

    cr_assert_eq(write(worker->go[1], "", 1), 1);
    cr_assert_eq(read(worker->pipe[0], &byte, 1), 1);
}

static void expect_waited_for(struct worker *worker, int holder)
{
    int status;

    close(worker->go[1]);
    cr_expect_eq(status = rig_reap(holder), 0, "%d", status);
}

Test(file_sharing, opens_one_at_a_time)
{
    struct scratch scratch;
    struct worker worker = {.scratch = &scratch};
    struct rig rig;
    int holder;

    scratch_init(&scratch);
    holder = start_holder(&worker);
    let_hold(&worker);
    rig_open(&rig, scratch.url);
    expect_waited_for(&worker, holder);
    rig_close(&rig);
    scratch_remove(&scratch);
}

/* Some versions of LMDB leave an unusable file to a process that opens it while the last one closes
 * it. */
Test(file_sharing, closes_while_nobody_opens)
{
    struct scratch scratch;
    struct worker worker = {.scratch = &scratch};
    struct rig rig;
    int holder;

    scratch_init(&scratch);
    holder = start_holder(&worker);
    rig_open(&rig, scratch.url);
    let_hold(&worker);
    rig_close(&rig); /* the thread may take longer */
    while (scratch_descriptors(&scratch) > 0)
        continue;
    expect_waited_for(&worker, holder);
    scratch_remove(&scratch);
}

enum { VISITS = 100 };

static int come_and_go(void *argument)
{
    struct worker *worker = argument;
    takt_limit limit = rig_limit("a", PROCESSES * VISITS, RIG_DAY, PROCESSES * VISITS);
    struct rig rig;
    int bad = 0;

    for (int i = 0; i < VISITS; i++) {
        rig_open(&rig, worker->scratch->url);
        bad += rig_try(&rig, &limit, "k", 1) != 0;
        rig_close(&rig);
        bad += rig.replaced + rig.damaged > 0;
    }
    return bad > 0;
}

Test(file_sharing, processes_come_and_go)
{
    struct scratch scratch;
    struct worker worker = {.scratch = &scratch};
    int processes[PROCESSES];

    scratch_init(&scratch);
    for (int i = 0; i < PROCESSES; i++)
        processes[i] = rig_fork(come_and_go, &worker);
    for (int i = 0; i < PROCESSES; i++)
        cr_expect_eq(rig_reap(processes[i]), 0);
    scratch_remove(&scratch);
}

enum { LEDGERS = 5000 };

static int fill_ledgers(void *argument)
{
    struct worker *worker = argument;
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct rig rig;
    char key[32];
    int refused = 0;

    rig_open(&rig, worker->scratch->url);
    for (int i = 0; i < LEDGERS; i++) {
        snprintf(key, sizeof key, "%d-%d", worker->number, i);
        refused += rig_try(&rig, &limit, key, 1) != 0;
    }
    rig_close(&rig);
    return refused > 0;
}

Test(file_sharing, processes_see_each_other_grow)
{
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct scratch scratch;
    struct worker workers[2] = {{.scratch = &scratch, .number = 0},
                                {.scratch = &scratch, .number = 1}};
    struct rig rig;
    int processes[2];

    scratch_init(&scratch);
    scratch_make(&scratch, &limit, 0);
    for (int i = 0; i < 2; i++)
        processes[i] = rig_fork(fill_ledgers, &workers[i]);
    rig_open(&rig, scratch.url); /* with the map of a small file */
    cr_expect_eq(rig_try(&rig, &limit, "before", 1), 0);
    for (int i = 0; i < 2; i++)
        cr_expect_eq(rig_reap(processes[i]), 0);
    cr_expect_eq(rig_try(&rig, &limit, "after", 1), 0);
    cr_expect_eq(rig_try(&rig, &limit, "1-4999", 1), TAKT_E_NO_SLOT);
    rig_close(&rig);
    cr_expect_eq(scratch_count(&scratch), 2 * LEDGERS + 3);
    scratch_remove(&scratch);
}

/* ---- replaced by another process ------------------------------------------------------------- */

/* Finds the file damaged when it opens it, and replaces it. */
static int replace(void *argument)
{
    struct scratch *scratch = argument;
    takt_limit limit = rig_limit("a", 10, RIG_DAY, 10);
    struct rig rig;

    rig_open(&rig, scratch->url);
    for (int i = 0; i < 10; i++)
        if (rig_try(&rig, &limit, "new", 1) != 0)
            return 2;
    rig_close(&rig);
    return rig.replaced != 1;
}

Test(file_sharing, a_file_replaced_by_another_process_is_noticed)
{
    static const char zeros[8];
    takt_limit limit = rig_limit("a", 10, RIG_DAY, 10);
    struct scratch scratch;
    struct rig rig;
    int status, process, go[2];
    char byte;

    scratch_init(&scratch);
    scratch_make(&scratch, &limit, 0);
    cr_assert_eq(pipe(go), 0);
    process = fork(); /* before the store is opened here */
    if (process == 0)
        _exit(read(go[0], &byte, 1) == 1 ? replace(&scratch) : 3);
    rig_open(&rig, scratch.url);
    cr_expect_eq(rig_try(&rig, &limit, "old", 1), 0);
    scratch_write(&scratch, 16, zeros, sizeof zeros); /* LMDB looks at this when it opens a file */
    cr_assert_eq(write(go[1], "", 1), 1);
    cr_expect_eq(status = rig_reap(process), 0, "%d", status);
    while (rig.replaced == 0)
        cr_assert_neq(rig_try(&rig, &limit, "old", 1), TAKT_E_STORE);
    cr_expect_eq(rig_try(&rig, &limit, "new", 1), TAKT_E_NO_SLOT, "both use the new file");
    rig_close(&rig);
    cr_expect(scratch_has(&scratch, "ledgers.mdb.damaged-1"));
    cr_expect_not(scratch_has(&scratch, "ledgers.mdb.damaged-2"));
    scratch_remove(&scratch);
}

/* ---- a lock file that others have overwritten ---------------------------------------- */

static int open_expecting_bad_lock(void *argument)
{
    struct worker *worker = argument;
    struct rig rig;
    takt_error error = {0};
    char byte;

    close(worker->go[1]);
    if (read(worker->go[0], &byte, 1) != 1)
        return 2;
    if (rig_try_open(&rig, worker->scratch->url, "test", 0, &error) != TAKT_E_STORE)
        return 1;
    return strstr(error.text, "ledgers.mdb-lock was overwritten") == NULL;
}

/* In a process of its own: this one would give up LMDB's lock on the file by closing it. */
static int overwrite_lock(void *argument)
{
    const struct scratch *scratch = argument;
    char path[2 * PATH_MAX], garbage[4096];
    size_t written;
    FILE *file;

    snprintf(path, sizeof path, "%s-lock", scratch->path);
    memset(garbage, 'U', sizeof garbage);
    file = fopen(path, "r+");
    if (file == NULL)
        return 1;
    written = fwrite(garbage, 1, sizeof garbage, file);
    return fclose(file) != 0 || written != sizeof garbage;
}

/* A process that has the file open fails and names the lock; so does a process that opens it then;
 * the data stays. */
Test(file_sharing, an_overwritten_lock_is_named_and_the_data_is_kept)
{
    takt_limit limit = rig_limit("a", 10, RIG_DAY, 10);
    struct scratch scratch;
    struct worker worker = {.scratch = &scratch};
    takt_error error;
    struct rig rig;
    int process;

    scratch_init(&scratch);
    scratch_make(&scratch, &limit, 1);
    cr_assert_eq(pipe(worker.go), 0);
    process = rig_fork(open_expecting_bad_lock, &worker);
    cr_assert_eq(rig_try_open(&rig, scratch.url, "test", 30000000, &error), 0, "%s", error.text);
    cr_expect_eq(rig_try(&rig, &limit, "old", 1), 0);
    cr_assert_eq(rig_reap(rig_fork(overwrite_lock, &scratch)), 0);
    cr_assert_eq(write(worker.go[1], "", 1), 1);
    cr_expect_eq(rig_reap(process), 0);
    cr_expect_lt(rig_try(&rig, &limit, "old", 1), 0);
    cr_assert_not_null(rig.store->trouble);
    cr_expect_not_null(strstr(rig.store->trouble, "ledgers.mdb-lock was overwritten"), "%s",
                       rig.store->trouble);
    rig_close(&rig);
    cr_expect_not(scratch_has(&scratch, "ledgers.mdb.damaged-1"));
    scratch_remove(&scratch);
}

/* No process has the file open: LMDB makes the lock again by itself. */
Test(file_sharing, an_overwritten_lock_that_nobody_uses_is_made_anew)
{
    takt_limit limit = rig_limit("a", 10, RIG_DAY, 10);
    struct scratch scratch;

    scratch_init(&scratch);
    scratch_make(&scratch, &limit, 1);
    cr_assert_eq(rig_reap(rig_fork(overwrite_lock, &scratch)), 0);
    scratch_expect_accepted(scratch.url);
    cr_expect_not(scratch_has(&scratch, "ledgers.mdb.damaged-1"));
    scratch_remove(&scratch);
}
