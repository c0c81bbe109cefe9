/*
 * fleet.c: see fleet.h.
 */
#include "faults/fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct fleet own;
struct totals *totals;

/* ---- the end in trouble ---------------------------------------------------------------------- */

static void end_all(void)
{
    for (int i = 0; i < own.count; i++)
        if (own.workers[i] > 0)
            kill(own.workers[i], SIGKILL);
    proxy_stop(&own.proxy);
    cluster_stop(&own.cluster);
    if (own.replica.directory[0] != '\0')
        server_stop(&own.replica);
    if (own.server.directory[0] != '\0')
        server_stop(&own.server);
}

_Noreturn void fleet_fail(const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    printf("# failed: %s\n", text);
    end_all();
    exit(1);
}

/* The state of the fleet, to explain a test that waits in vain. */
static void out_of_time(int signal)
{
    (void)signal;
    for (int i = 0; i < own.count; i++) {
        const struct worker_notes *worker = &own.notes->workers[i];
        printf("# worker %d: %lld grants of %lld, lost %d times (%s), back %d times\n", i,
               (long long)atomic_load(&worker->grants), (long long)atomic_load(&worker->wanted),
               atomic_load(&worker->lost), takt_error_name(atomic_load(&worker->code)),
               atomic_load(&worker->back));
    }
    fleet_fail("what was waited for has not come in %d s", CASE_SECONDS_MAX);
}

struct fleet *fleet_open(void)
{
    struct sigaction action = {.sa_handler = out_of_time};

    sigaction(SIGALRM, &action, NULL);
    alarm(CASE_SECONDS_MAX);
    signal(SIGPIPE, SIG_IGN);
    own.notes = notes_open();
    return &own;
}

/* ---- workers --------------------------------------------------------------------------------- */

void fleet_start_worker(struct fleet *fleet, int index)
{
    struct worker_notes *notes = &fleet->notes->workers[index];
    pid_t child;

    atomic_fetch_add(&notes->calls_before, atomic_exchange(&notes->calls, 0));
    fflush(NULL);
    child = fork();
    if (child < 0)
        fleet_fail("fork: %s", strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGALRM, SIG_DFL);
        fleet->options.store = fleet->url;
        worker_run(fleet->notes, index, &fleet->options);
    }
    fleet->workers[index] = child;
}

void fleet_kill_worker(struct fleet *fleet, int index)
{
    kill(fleet->workers[index], SIGKILL);
    waitpid(fleet->workers[index], NULL, 0);
    fleet->workers[index] = 0;
}

void fleet_work(struct fleet *fleet, int count, int anywhere)
{
    fleet->options.anywhere = anywhere;
    fleet->count = count;
    for (int i = 0; i < count; i++)
        fleet_start_worker(fleet, i);
}

/* ---- awaiting -------------------------------------------------------------------------------- */

int fleet_times(int times)
{
    const char *percent = getenv("TAKT_FAULTS_PERCENT");
    int scaled = percent != NULL ? times * atoi(percent) / 100 : times;

    return scaled > 0 ? scaled : 1;
}

/* A worker that has ended will not do what the test waits for. */
static void check_workers(const struct fleet *fleet)
{
    int status;

    for (int i = 0; i < fleet->count; i++)
        if (fleet->workers[i] > 0 && waitpid(fleet->workers[i], &status, WNOHANG) > 0)
            fleet_fail("worker %d has ended with status 0x%x", i, (unsigned)status);
}

/* Waits until a worker reports a change, but no longer than that. */
static void await_change_for(const struct fleet *fleet, int64_t us)
{
    int64_t until_us = notes_monotonic_us() + us;
    struct timespec until = {until_us / 1000000, until_us % 1000000 * 1000};

    (void)sem_clockwait(&fleet->notes->changed, CLOCK_MONOTONIC, &until);
    check_workers(fleet);
}

/* Also looks by itself now and then. */
static void await_change(const struct fleet *fleet)
{
    await_change_for(fleet, 1000000);
}

void fleet_pause(const struct fleet *fleet, int64_t ms)
{
    int64_t until_us = notes_monotonic_us() + ms * 1000, now_us;

    while ((now_us = notes_monotonic_us()) < until_us)
        await_change_for(fleet, until_us - now_us);
}

void fleet_await_grants(struct fleet *fleet, int64_t more)
{
    for (int i = 0; i < fleet->count; i++)
        atomic_store(&fleet->notes->workers[i].wanted,
                     atomic_load(&fleet->notes->workers[i].grants) + more);
    for (int i = 0; i < fleet->count; i++) {
        struct worker_notes *worker = &fleet->notes->workers[i];
        while (atomic_load(&worker->grants) < atomic_load(&worker->wanted))
            await_change(fleet);
    }
}

void fleet_await_permits(struct fleet *fleet)
{
    long long before[LEDGERS_MAX];

    for (int i = 0; i < LEDGERS_MAX; i++)
        before[i] = atomic_load(&fleet->notes->permits.taken[i]);
    for (int limit = 0; limit < limit_count; limit++)
        for (int key = 0; key < limits[limit].keys; key++) {
            int ledger = limits_ledger(limit, key);
            while (atomic_load(&fleet->notes->permits.taken[ledger]) <
                   before[ledger] + 2 * limits[limit].concurrency)
                await_change(fleet);
        }
}

/* Of some key all permits are in use, or were once. */
static bool all_were_held(const struct fleet *fleet, int limit)
{
    for (int key = 0; key < limits[limit].keys; key++)
        if (atomic_load(&fleet->notes->permits.max[limits_ledger(limit, key)]) >=
            limits[limit].concurrency)
            return true;
    return false;
}

/* The check of held permits proves nothing unless all of them are held at some time. */
static void await_all_held(struct fleet *fleet)
{
    for (int limit = 0; limit < limit_count; limit++)
        while (!all_were_held(fleet, limit))
            await_change(fleet);
}

struct told fleet_told(struct fleet *fleet)
{
    struct told told = {0}; /* also for workers that are still to begin */

    for (int i = 0; i < fleet->count; i++) {
        struct worker_notes *worker = &fleet->notes->workers[i];
        while (atomic_load(&worker->lost) > atomic_load(&worker->back))
            await_change(fleet);
        told.lost[i] = atomic_load(&worker->lost);
        told.back[i] = atomic_load(&worker->back);
    }
    fleet->told_at_us = notes_monotonic_us();
    return told;
}

void fleet_await_lost(struct fleet *fleet, struct told before)
{
    for (int i = 0; i < fleet->count; i++) {
        struct worker_notes *worker = &fleet->notes->workers[i];
        int64_t took_us;
        while (atomic_load(&worker->lost) <= before.lost[i])
            await_change(fleet);
        took_us = atomic_load(&worker->lost_at_us) - fleet->told_at_us;
        if (took_us > fleet->longest_notice_us)
            fleet->longest_notice_us = took_us;
    }
}

void fleet_await_back(struct fleet *fleet, struct told before)
{
    fleet->back_at_us = notes_monotonic_us();
    for (int i = 0; i < fleet->count; i++) {
        struct worker_notes *worker = &fleet->notes->workers[i];
        int64_t took_us;
        while (atomic_load(&worker->back) <= before.back[i])
            await_change(fleet);
        took_us = atomic_load(&worker->back_at_us) - fleet->back_at_us;
        if (took_us > fleet->longest_return_us)
            fleet->longest_return_us = took_us;
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

/* No waiter is lost: a worker ends when every one of its own was called back. */
static void await_ends(struct fleet *fleet)
{
    atomic_store(&fleet->notes->stopping, true);
    for (int i = 0; i < fleet->count; i++) {
        int status = -1;
        while (waitpid(fleet->workers[i], &status, 0) < 0 && errno == EINTR)
            continue;
        fleet->workers[i] = 0;
        if (status != 0)
            fleet_fail("worker %d ended with status 0x%x", i, (unsigned)status);
    }
}

static int64_t own_claims(const struct fleet *fleet)
{
    int64_t claims = 0;

    for (int i = 0; i < fleet->count; i++)
        claims += atomic_load(&fleet->notes->workers[i].calls) +
                  atomic_load(&fleet->notes->workers[i].calls_before);
    return claims;
}

static void check_worker(int index, const struct worker_notes *worker)
{
    if (worker->early > 0)
        fleet_fail("worker %d: %lld callbacks before their slot", index, worker->early);
    if (worker->twice > 0)
        fleet_fail("worker %d: %lld callbacks for nobody who waited", index, worker->twice);
    if (worker->strange > 0)
        fleet_fail("worker %d: %lld callbacks with another status than could be, as %s", index,
                   worker->strange, takt_error_name(worker->strange_status));
}

/*
 * When a slot was due by this host's clock, where the server's has jumped.  A slot is given for at
 * most a lookahead on; of the phases in which it can have been given it is the last one's.  What a
 * jump forwards made due at once was due when it was used.
 */
static int64_t due_here_us(const struct fleet *fleet, const struct note *note)
{
    int64_t due_us = INT64_MIN;

    for (int i = 0; i < fleet->phase_count; i++) {
        const struct clock_phase *phase = &fleet->phases[i];
        int64_t here_us = note->slot_us - phase->shift_us;
        if (here_us >= phase->from_us && here_us - LOOKAHEAD_US <= phase->until_us &&
            here_us - LOOKAHEAD_US <= note->fired_us && here_us > due_us)
            due_us = here_us;
    }
    return due_us != INT64_MIN && due_us < note->fired_us ? due_us : note->fired_us;
}

static void check_rules(const struct fleet *fleet, int64_t count)
{
    struct slot *slots = malloc((size_t)count * sizeof *slots);
    char text[256];
    int64_t at = 0;

    for (int i = 0; i < fleet->count; i++)
        for (int64_t j = 0; j < fleet->notes->workers[i].noted; j++) {
            const struct note *note = &fleet->notes->workers[i].notes[j];
            slots[at++] =
                (struct slot){fleet->phase_count > 0 ? due_here_us(fleet, note) : note->slot_us,
                              note->ledger, note->cost};
        }
    if (!limits_hold(slots, count, fleet->allowance, text, sizeof text))
        fleet_fail("%s", text);
    free(slots);
}

/* Never more live holders than there are permits. */
static void check_permits(const struct fleet *fleet)
{
    for (int limit = 0; limit < limit_count; limit++)
        for (int key = 0; key < limits[limit].keys; key++) {
            long long max = atomic_load(&fleet->notes->permits.max[limits_ledger(limit, key)]);
            int permits = limits[limit].concurrency;
            if (permits > 0 && max > (long long)permits * (1 + fleet->allowance.losses))
                fleet_fail("%s:%d: %lld of %d permits were held", limits[limit].name, key, max,
                           permits);
        }
}

void fleet_end(struct fleet *fleet)
{
    end_all();
    for (int i = 0; i < fleet->count; i++)
        if (fleet->workers[i] > 0)
            waitpid(fleet->workers[i], NULL, 0);
    fleet->count = 0;
}

void fleet_close(struct fleet *fleet, const char *name)
{
    int64_t count = 0, calls, given_up = 0;
    int lost = 0, back = 0;

    await_all_held(fleet);
    await_ends(fleet);
    calls = own_claims(fleet);
    for (int i = 0; i < fleet->count; i++) {
        const struct worker_notes *worker = &fleet->notes->workers[i];
        check_worker(i, worker);
        count += worker->noted;
        given_up += worker->given_up;
        lost += worker->lost;
        back += worker->back;
    }
    check_rules(fleet, count);
    check_permits(fleet);
    atomic_fetch_add(&totals->grants, count);
    atomic_fetch_add(&totals->calls, calls);
    printf("# {\"fault\":\"%s\",\"workers\":%d,\"grants\":%" PRId64 ",\"given_up\":%" PRId64
           ",\"store_calls\":%" PRId64 ",\"lost\":%d,\"back\":%d,\"longest_notice_ms\":%.1f"
           ",\"longest_return_ms\":%.1f}\n",
           name, fleet->count, count, given_up, calls, lost, back,
           (double)fleet->longest_notice_us / 1000, (double)fleet->longest_return_us / 1000);
    fleet_end(fleet);
}
