/*
 * faults_clock.c: servers with a wrong clock, and a server whose clock jumps.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "faults/faults.h"
#include "faults/server_clock.h"

#define WORKERS  4
#define ANYWHERE 4
#define HOUR_US  INT64_C(3600000000)
#define MACHINE  10 /* times what a stall is without a jump: a machine may get that much busier */

static _Atomic int64_t *shift; /* what the server's clock is ahead */

static void know_shift(struct fleet *fleet, int64_t shift_us)
{
    for (int i = 0; i < LEDGERS_MAX; i++)
        atomic_store(&fleet->notes->shift_us[i], shift_us);
}

static void set_shift(struct fleet *fleet, int64_t shift_us)
{
    know_shift(fleet, CLOCK_UNSTEADY);
    atomic_store(shift, shift_us);
}

static void begin(struct fleet *fleet, int64_t shift_us)
{
    server_directory(&fleet->server);
    shift = server_clock_begin(&fleet->server);
    set_shift(fleet, shift_us);
    server_start_tcp(&fleet->server, false, NULL);
    server_clock_end();
    snprintf(fleet->url, sizeof fleet->url, "%s", fleet->server.url);
}

static void check_clock(const struct fleet *fleet)
{
    int64_t off_us = server_clock_ahead_us(&fleet->server) - atomic_load(shift);

    if (off_us < -5000000 || off_us > 5000000)
        fleet_fail("the server's clock is %" PRId64 " us from where it was put", off_us);
}

static void wrong(struct fleet *fleet, const char *name, int64_t shift_us)
{
    begin(fleet, shift_us);
    check_clock(fleet);
    know_shift(fleet, shift_us);
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
    fleet->options.may_lose_pages = true;
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
