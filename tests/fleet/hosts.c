/*
 * hosts.c: a fleet of hosts with agents, each of which claims for all processes of its host.
 *
 * No faults, and each process always wants more.  All hosts together keep the rate exactly (promise
 * 5), and each host gets a part in proportion to its processes, to 2 % (promise 4).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/integers.h"
#include "checker.h"
#include "families.h"
#include "scenario.h"

#define SECOND_US  INT64_C(1000000)
#define HOSTS_MAX  200
#define ROUNDS     60 /* of turns that are looked at: one more or less is within 2 % */
#define IN_HAND_US (2 * TAKT_LOOKAHEAD_US) /* for which a host may have slots in hand */

typedef struct process {
    takt_permit permit;
    takt_fleet_worker *host;
} process;

static takt_fleet fleet;
static takt_limit limit;
static process *processes;
static int process_count;
static int64_t from_us, until_us; /* of the store's clock: which slots count */
static int64_t slots[HOSTS_MAX];

__attribute__((noreturn)) static void fail(int promise, const char *what, int64_t host,
                                           int64_t weight, int64_t got, int64_t of)
{
    printf("promise %d is broken: %s: host %" PRId64 " of weight %" PRId64 ": %" PRId64
           " of %" PRId64 "\n",
           promise, what, host, weight, got, of);
    timeline_kept = true; /* there is none of hosts */
    checker_on_failure();
    abort();
}

static void started(takt_permit *permit, int status)
{
    process *of = permit->data;
    int64_t slot_us = permit->slot_at_us;

    if (status != 0)
        fail(5, "an acquire fails", of->host->index, of->host->weight, status, 0);
    if (slot_us >= from_us && slot_us < until_us)
        slots[of->host->index]++;
    of->permit = (takt_permit){
        .data = of, .callback = started, .cost = 1, .priority = TAKT_PRIORITY_DEFAULT};
    takt_fleet_acquire(of->host, 0, &of->permit, 0);
}

/* The hosts' agents, with the processes behind each of them. */
static void open_hosts(int hosts, const int64_t *weights, int64_t rate, int64_t delay_us,
                       uint64_t seed)
{
    int64_t weight = 0, each;

    limit = (takt_limit){.name = "hosts"};
    limit.numbers.rule_count = 1;
    limit.numbers.lookahead_us = TAKT_LOOKAHEAD_US;
    limit.numbers.rules[0] =
        (takt_rule){.algorithm = &takt_gcra, .limit = rate, .period_us = SECOND_US, .burst = 1};
    if (takt_rule_prepare(&limit.numbers.rules[0], NULL) != 0 ||
        takt_fleet_open(&fleet, &limit, hosts, INT64_C(1763692800000000), seed) < 0)
        abort();
    fleet.timeout_us = SECOND_US;
    fleet.delay_min_us = delay_us / 4;
    fleet.delay_max_us = delay_us;
    for (int i = 0; i < hosts; i++)
        weight += fleet.workers[i].weight = weights[i];
    each = 3 + takt_ceil_div(IN_HAND_US * rate, SECOND_US * weight); /* acquires of a process */
    processes = calloc((size_t)(each * weight), sizeof *processes);
    if (processes == NULL)
        abort();
    process_count = 0;
    for (int i = 0; i < hosts; i++)
        for (int64_t j = 0; j < each * weights[i]; j++) {
            process *of = &processes[process_count++];
            of->host = &fleet.workers[i];
            of->permit = (takt_permit){
                .data = of, .callback = started, .cost = 1, .priority = TAKT_PRIORITY_DEFAULT};
            takt_fleet_acquire(of->host, 0, &of->permit, 0);
        }
}

static void run_hosts(int hosts, const int64_t *weights, int64_t rate, int64_t delay_us,
                      uint64_t seed)
{
    int64_t weight = 0, all = 0, seconds;

    open_hosts(hosts, weights, rate, delay_us, seed);
    for (int i = 0; i < hosts; i++) {
        weight += weights[i];
        slots[i] = 0;
    }
    seconds = takt_max(ROUNDS * takt_ceil_div(weight, rate), ROUNDS / 2);
    from_us = fleet.now_us + 5 * SECOND_US;
    until_us = from_us + seconds * SECOND_US;
    takt_fleet_run(&fleet, until_us + SECOND_US);
    for (int i = 0; i < hosts; i++)
        all += slots[i];
    if (all != rate * seconds)
        fail(5, "the rate is not exact", -1, weight, all, rate * seconds);
    for (int i = 0; i < hosts; i++)
        if (slots[i] * weight * 100 < all * weights[i] * 98 ||
            slots[i] * weight * 100 > all * weights[i] * 102)
            fail(4, "not its part", i, weights[i], slots[i], all * weights[i] / weight);
    scenario_total.calls += fleet.claims;
    scenario_total.started += all;
    takt_fleet_close(&fleet);
    free(processes);
}

/* Some hosts at random. */
static void run_one(uint64_t seed)
{
    static const int64_t rates[] = {20, 100, 333, 1000, 2000};
    static const int64_t delays_us[] = {0, 500, 2000, 4000};
    uint64_t random = seed * 2654435761U + 7;
    int64_t weights[HOSTS_MAX];
    int hosts = 2 + (int)draw(&random, 5);

    for (int i = 0; i < hosts; i++)
        weights[i] = 1 + draw(&random, chance(&random, 50) ? 4 : 64);
    for (int i = 0; i < hosts && seed / 10 % 4 == 0; i++)
        weights[i] = 1;
    run_hosts(hosts, weights, rates[draw(&random, 5)], delays_us[draw(&random, 4)], seed);
}

/* 200 hosts of 50 processes each, and as many of 1 to 99, at 1000/s; two of one process. */
static void run_figures(void)
{
    int64_t weights[HOSTS_MAX];

    for (int i = 0; i < HOSTS_MAX; i++)
        weights[i] = 50;
    run_hosts(HOSTS_MAX, weights, 1000, 2000, 1);
    for (int i = 0; i < HOSTS_MAX; i++)
        weights[i] = 1 + (i * 37) % 99;
    run_hosts(HOSTS_MAX, weights, 1000, 2000, 2);
    for (int i = 0; i < 2; i++)
        weights[i] = 1;
    run_hosts(2, weights, 2000, 4000, 3);
}

const family hosts_family = {.each = 10, .run = run_one, .run_figures = run_figures};
