/*
 * faults_clock.c: servers with a wrong clock, and a server whose clock jumps.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "faults/faults.h"

#define WORKERS  4
#define ANYWHERE 32
#define HOUR_US  INT64_C(3600000000)
#define MACHINE  10 /* times what a stall is without a jump: a machine may get that much busier */

static _Atomic int64_t *shift; /* what the server's clock is ahead */

static void set_shift(struct fleet *fleet, int64_t shift_us)
{
    atomic_store(&fleet->notes->shift_us, CLOCK_UNSTEADY);
    atomic_store(shift, shift_us);
}

static void begin(struct fleet *fleet, int64_t shift_us)
{
    const char *shim = getenv("TAKT_CLOCK_SHIM");
    char path[96];
    int fd;

    if (shim == NULL)
        fleet_fail("$TAKT_CLOCK_SHIM does not name the clock shim");
    server_directory(&fleet->server);
    snprintf(path, sizeof path, "%s/clock", fleet->server.directory);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *shift) < 0)
        fleet_fail("%s cannot be made", path);
    shift = mmap(NULL, sizeof *shift, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    set_shift(fleet, shift_us);
    setenv("LD_PRELOAD", shim, 1);
    setenv("TAKT_TEST_CLOCK", path, 1);
    server_start_tcp(&fleet->server, false, NULL);
    unsetenv("LD_PRELOAD");
    snprintf(fleet->url, sizeof fleet->url, "%s", fleet->server.url);
}

/* The server's own clock, as scripts read it, is where it was put. */
static void check_clock(const struct fleet *fleet)
{
    const char *answer = server_say(&fleet->server, "EVAL \"return redis.call('TIME')[1]\" 0");
    int64_t seconds = 0, ahead_s;

    if (sscanf(answer, "$%*d\r\n%" SCNd64, &seconds) != 1)
        fleet_fail("TIME: %s", answer);
    ahead_s = seconds - notes_wall_us() / 1000000 - atomic_load(shift) / 1000000;
    if (ahead_s < -5 || ahead_s > 5)
        fleet_fail("the server's clock is %" PRId64 " s from where it was put", ahead_s);
}

static void wrong(struct fleet *fleet, const char *name, int64_t shift_us)
{
    begin(fleet, shift_us);
    check_clock(fleet);
    atomic_store(&fleet->notes->shift_us, shift_us);
    fleet_work(fleet, WORKERS, ANYWHERE);
    fleet_await_grants(fleet, 4000);
    fleet_close(fleet, name);
}

static void an_hour_ahead(struct fleet *fleet, const char *name)
{
    wrong(fleet, name, HOUR_US);
}

static void an_hour_behind(struct fleet *fleet, const char *name)
{
    wrong(fleet, name, -HOUR_US);
}

/* The longest time that no ledger of a limit with few keys, resp. no worker, had a grant. */
static int64_t longest_stall_us(const struct fleet *fleet)
{
    int64_t longest = 0;

    for (int i = 0; i < fleet->count; i++) {
        const struct worker_notes *worker = &fleet->notes->workers[i];
        static int64_t last_us[LEDGERS_MAX];
        memset(last_us, 0, sizeof last_us);
        for (int64_t j = 0; j < worker->noted; j++) {
            const struct note *note = &worker->notes[j];
            int64_t gap_us = note->fired_us - last_us[note->ledger];
            if (note->ledger < limits[ANY_KEY].keys) /* each is wanted now and then only */
                continue;
            if (last_us[note->ledger] != 0 && gap_us > longest)
                longest = gap_us;
            last_us[note->ledger] = note->fired_us;
        }
    }
    return longest;
}

/* The clock is where it was put: the first phase; then it is put elsewhere. */
static void begin_phases(struct fleet *fleet)
{
    fleet->phases[0] = (struct clock_phase){0, INT64_MAX, atomic_load(shift)};
    fleet->phase_count = 1;
}

static void put_elsewhere(struct fleet *fleet, int64_t shift_us)
{
    struct clock_phase *phase = &fleet->phases[fleet->phase_count++];

    *phase = (struct clock_phase){notes_wall_us(), INT64_MAX, shift_us};
    set_shift(fleet, shift_us);
    phase[-1].until_us = notes_wall_us();
}

/* Jumps to one place after the other, in multiples of JUMP_US.  One forwards may give a burst, and
 * makes due at once what workers have in hand; one back may give nothing. */
static void jump(struct fleet *fleet, const char *name, const int *places, int count)
{
    int64_t calm_us, stall_us, worth_us = 0;

    begin(fleet, 0);
    begin_phases(fleet);
    fleet->allowance.ahead_us = LOOKAHEAD_US;
    fleet->options.timeout_us = NO_TIMEOUT_US;
    fleet_work(fleet, WORKERS, ANYWHERE);
    fleet_await_grants(fleet, 2000);
    calm_us = longest_stall_us(fleet);
    for (int i = 0; i < count; i++) {
        int64_t by_us = places[i] * JUMP_US - atomic_load(shift);
        fleet->allowance.losses += by_us > 0;
        worth_us += by_us < 0 ? -by_us : 0;
        put_elsewhere(fleet, places[i] * JUMP_US);
        check_clock(fleet);
        fleet_await_grants(fleet, 500);
    }
    stall_us = longest_stall_us(fleet);
    printf("# {\"fault\":\"%s\",\"longest_stall_ms\":%.1f,\"before_jumps_ms\":%.1f}\n", name,
           (double)stall_us / 1000, (double)calm_us / 1000);
    if (stall_us > worth_us + JUMP_US / 2 + MACHINE * calm_us)
        fleet_fail("jumps back by %.0f s have cost %.1f s", (double)worth_us / 1e6,
                   (double)stall_us / 1e6);
    fleet_close(fleet, name);
}

static void jumps_back(struct fleet *fleet, const char *name)
{
    static const int places[] = {-1, -2};

    jump(fleet, name, places, 2);
}

static void jumps_both_ways(struct fleet *fleet, const char *name)
{
    static const int places[] = {1, 0, -1, 0};

    jump(fleet, name, places, 4);
}

const struct fault clock_faults[] = {
    {"a clock that is an hour ahead", an_hour_ahead},
    {"a clock that is an hour behind", an_hour_behind},
    {"a clock that jumps back by 10 s", jumps_back},
    {"a clock that jumps by 10 s both ways", jumps_both_ways},
    {NULL, NULL},
};
