/*
 * Real worker processes on one file store: killed and replaced, stopped and continued. Used slots
 * are noted in shared memory and checked against the rule. Grants come as bytes in a pipe, so the
 * test waits for events and not for a time.
 */
#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <takt/takt.h>
#include <unistd.h>
#include <uv.h>

#define WORKERS     8
#define RATE        200 /* a second, burst 1 */
#define INTERVAL_US (1000000 / RATE)
#define SILENCE_US  6000000 /* three keepalives: when the dead are taken for dead */
#define LOCKED_MS   3000    /* without a grant: the file is locked */
#define SLOTS_MAX   20000

typedef struct notes {
    atomic_int count;
    int64_t slots_us[SLOTS_MAX];
    atomic_int by_worker[WORKERS];
} notes;

static notes *shared;
static int grants[2]; /* a pipe: one byte for each */
static char directory[] = "/tmp/takt-kill-XXXXXX";
static char url[64];
static pid_t workers[WORKERS];

/* ---- a worker -------------------------------------------------------------------------------- */

static takt_client *client;
static int self;

static void granted(takt_permit *permit, int status)
{
    takt_request request = TAKT_REQUEST("l");
    int at;

    if (status != 0)
        _exit(1);
    at = atomic_fetch_add(&shared->count, 1);
    if (at >= SLOTS_MAX)
        _exit(0);
    shared->slots_us[at] = permit->slot_at_us;
    atomic_fetch_add(&shared->by_worker[self], 1);
    if (write(grants[1], "g", 1) != 1)
        _exit(0); /* the test is over */
    takt_release(permit);
    takt_acquire(client, permit, &request, granted);
}

static void work(void)
{
    takt_rule_text rule = {.rate = "200/s", .burst = "1"};
    takt_limit_text limit = {.name = "l", .rules = &rule, .rule_count = 1, .lookahead = "250ms"};
    takt_options options = {.store = url, .store_timeout_us = 60000000};
    takt_request request = TAKT_REQUEST("l");
    static takt_permit permits[20];
    takt_policy *policy;
    uv_loop_t loop;

    if (takt_policy_new(&policy, NULL) < 0 || takt_policy_add(policy, &limit, NULL) < 0 ||
        uv_loop_init(&loop) != 0 || takt_open(&client, &loop, policy, &options, NULL) < 0)
        _exit(2);
    for (int i = 0; i < 20; i++)
        takt_acquire(client, &permits[i], &request, granted);
    uv_run(&loop, UV_RUN_DEFAULT);
    _exit(3);
}

static void start(int index)
{
    pid_t child = fork();

    cr_assert_geq(child, 0);
    if (child == 0) {
        close(grants[0]);
        self = index;
        signal(SIGPIPE, SIG_IGN);
        work();
    }
    workers[index] = child;
}

/* ---- the test -------------------------------------------------------------------------------- */

static void begin(void)
{
    signal(SIGPIPE, SIG_IGN);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(shared, MAP_FAILED);
    cr_assert_eq(pipe(grants), 0);
    cr_assert_not_null(mkdtemp(directory));
    snprintf(url, sizeof url, "file:%s/l.mdb", directory);
    for (int i = 0; i < WORKERS; i++)
        start(i);
}

static void kill_worker(int index)
{
    kill(workers[index], SIGKILL);
    waitpid(workers[index], NULL, 0);
}

static void end(void)
{
    char path[64];

    for (int i = 0; i < WORKERS; i++)
        kill_worker(i);
    snprintf(path, sizeof path, "%s/l.mdb", directory);
    unlink(path);
    snprintf(path, sizeof path, "%s/l.mdb-lock", directory);
    unlink(path);
    rmdir(directory);
}

/* True when that many more grants have come, false when none comes any more. */
static bool grants_come(int count, int patience_ms)
{
    struct pollfd come = {.fd = grants[0], .events = POLLIN};
    char bytes[64];

    while (count > 0) {
        ssize_t n;
        if (poll(&come, 1, patience_ms) == 0)
            return false;
        n = read(grants[0], bytes, count < 64 ? (size_t)count : sizeof bytes);
        cr_assert_gt(n, 0);
        count -= (int)n;
    }
    return true;
}

static void await_grants(int count)
{
    cr_assert(grants_come(count, -1));
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void check_slots(int from, int until)
{
    int64_t *slots = malloc((size_t)(until - from) * sizeof *slots);
    int64_t longest = 0;
    int count = 0;

    for (int i = from; i < until; i++)
        if (shared->slots_us[i] >
            0) /* else its worker was killed, or is, between counting and noting */
            slots[count++] = shared->slots_us[i];
    qsort(slots, (size_t)count, sizeof *slots, by_value);
    for (int i = 1; i < count; i++) {
        int64_t gap = slots[i] - slots[i - 1];
        cr_assert_geq(gap, INTERVAL_US, "the quota was exceeded: slots %lld and %lld",
                      (long long)slots[i - 1], (long long)slots[i]);
        longest = gap > longest ? gap : longest;
    }
    /* The length of a stall depends on the machine (bench/); no waiter waits for a dead worker. */
    cr_assert_lt(longest, SILENCE_US, "a stall of %lld us", (long long)longest);
    free(slots);
}

TestSuite(kill, .init = begin, .fini = end, .timeout = 280);

Test(kill, one_worker_killed_every_200_ms_for_20_s)
{
    for (int i = 0; i < 100; i++) {
        await_grants(RATE / 5);
        kill_worker(i % WORKERS);
        start(i % WORKERS);
    }
    await_grants(RATE); /* no lock remains */
    check_slots(0, atomic_load(&shared->count));
}

static void stop_worker(int index)
{
    kill(workers[index], SIGSTOP);
    cr_assert_eq(waitpid(workers[index], NULL, WUNTRACED), workers[index]);
}

/* One that is stopped inside a transaction does hold up the others, as is documented: then it is
 * another moment's turn. */
Test(kill, a_stopped_worker_holds_nobody_up)
{
    int before, from, tries = 0;

    do {
        cr_assert_lt(tries++, 10);
        kill(workers[0], SIGCONT);
        await_grants(RATE);
        from = atomic_load(&shared->count);
        stop_worker(0);
        before = atomic_load(&shared->by_worker[0]);
    } while (!grants_come(3 * RATE, LOCKED_MS));
    cr_assert_eq(atomic_load(&shared->by_worker[0]), before);
    check_slots(from, atomic_load(&shared->count));
    kill(workers[0], SIGCONT);
    while (atomic_load(&shared->by_worker[0]) < before + 10)
        await_grants(1);
}
