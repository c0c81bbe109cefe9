/*
 * units.c: fleets whose work takes different amounts of several units of one limit.
 *
 * No faults but workers that die, and every worker always wants more.  All rules hold (promise 1),
 * the scarce unit is used up (promise 5), and workers whose requests are small parts of a turn get
 * the same dominant share: the largest part that each has of any unit (promise 4).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/integers.h"
#include "checker.h"
#include "families.h"
#include "scenario.h"

#define SECOND_US   INT64_C(1000000)
#define BEGIN_US    INT64_C(1763692800000000)
#define WORKERS_MAX 6
#define JOBS        400 /* of a worker, that wait at once */
#define STARTS_MAX  400000
#define LAST_S      120
#define EVEN        85     /* percent: large requests, or small parts of a turn */
#define USED        960000 /* millionths of the scarce unit: seed 701760 uses 96.9 % */
#define USED_BOTH   870000 /* of two: work that waits for one leaves some of the other */
#define EVEN_OWN    70     /* each of a unit of its own: the others take turns with it */
#define EVEN_ANY    20     /* up to a whole turn, of which the rest is not used: seed 5910 has 24 */

__extension__ typedef __int128 wide;

/* What the work of a worker takes of each unit, in the order of takt_amounts. */
typedef struct sort {
    int32_t least[TAKT_UNITS], most[TAKT_UNITS];
} sort;

typedef struct job {
    takt_permit permit;
    int worker;
} job;

typedef struct start {
    int64_t slot_us;
    takt_amounts taken;
    int worker;
} start;

static takt_fleet fleet;
static takt_limit limit;
static sort sorts[WORKERS_MAX];
static job jobs[WORKERS_MAX][JOBS];
static start starts[STARTS_MAX];
static int start_count;
static uint64_t amounts; /* random */

__attribute__((noreturn)) static void fail(int promise, const char *what, int who, int64_t got,
                                           int64_t of)
{
    printf("promise %d is broken: %s: %d: %" PRId64 " of %" PRId64 "\n", promise, what, who, got,
           of);
    timeline_kept = true; /* there is none of units */
    checker_on_failure();
    abort();
}

static void acquire(job *one);

static void started(takt_permit *permit, int status)
{
    job *one = permit->data;

    if (status != 0)
        fail(5, "an acquire fails", one->worker, status, 0);
    if (start_count == STARTS_MAX)
        abort();
    if (permit->slot_at_us > takt_fleet_ledger_clock(&fleet, 0))
        fail(2, "a start before its slot", one->worker, permit->slot_at_us, fleet.now_us);
    starts[start_count++] =
        (start){permit->slot_at_us, takt_amounts_of(permit->cost, permit->more), one->worker};
    acquire(one);
}

static int32_t draw_amount(const sort *of, int unit)
{
    return of->least[unit] + (int32_t)draw(&amounts, of->most[unit] - of->least[unit] + 1);
}

static void acquire(job *one)
{
    const sort *of = &sorts[one->worker];

    one->permit =
        (takt_permit){.data = one, .callback = started, .priority = TAKT_PRIORITY_DEFAULT};
    one->permit.cost = draw_amount(of, TAKT_UNIT_TOKENS);
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        one->permit.more.of[i] = draw_amount(of, TAKT_UNIT_MORE + i);
    takt_fleet_acquire(&fleet.workers[one->worker], 0, &one->permit, 0);
}

static void add_rule(takt_unit unit, int64_t per_minute, int64_t burst)
{
    takt_rule *rule = &limit.numbers.rules[limit.numbers.rule_count++];

    *rule = (takt_rule){.algorithm = &takt_gcra,
                        .unit = unit,
                        .limit = per_minute,
                        .period_us = 60 * SECOND_US,
                        .burst = burst};
    if (takt_rule_prepare(rule, NULL) != 0)
        abort();
}

static void open_units(int workers, int64_t delay_us, uint64_t seed)
{
    family_open(&fleet, &limit, workers, BEGIN_US, delay_us, seed);
    amounts = seed;
    start_count = 0;
    for (int worker = 0; worker < workers; worker++)
        for (int i = 0; i < JOBS; i++) {
            jobs[worker][i].worker = worker;
            acquire(&jobs[worker][i]);
        }
}

static int by_slot(const void *a, const void *b)
{
    const start *x = a, *y = b;

    return (x->slot_us > y->slot_us) - (x->slot_us < y->slot_us);
}

/* A bucket of the rule's burst, which its rate drains, never flows over. */
static void check_rule(const takt_rule *rule, int index)
{
    wide level = 0;
    int64_t last_us = BEGIN_US;

    for (int i = 0; i < start_count; i++) {
        level -= (wide)(starts[i].slot_us - last_us) * rule->limit;
        level = (level > 0 ? level : 0) + (wide)starts[i].taken.of[rule->unit] * rule->period_us;
        last_us = starts[i].slot_us;
        if (level > (wide)rule->burst * rule->period_us + rule->limit) /* to a microsecond */
            fail(1, "a rule is exceeded", index, (int64_t)(level / rule->period_us), rule->burst);
    }
}

/* The largest part that somebody (-1: all) has of what any rule gives, in millionths. */
static int64_t share_of(int worker, int64_t from_us, int64_t until_us)
{
    int64_t most = 0;

    for (int i = 0; i < limit.numbers.rule_count; i++) {
        const takt_rule *rule = &limit.numbers.rules[i];
        wide taken = 0;
        for (int at = 0; at < start_count; at++)
            if (starts[at].slot_us >= from_us && starts[at].slot_us < until_us &&
                (worker < 0 || starts[at].worker == worker))
                taken += starts[at].taken.of[rule->unit];
        most = takt_max(most, (int64_t)(taken * 1000000 * rule->period_us /
                                        ((wide)rule->limit * (until_us - from_us))));
    }
    return most;
}

/* Runs, and checks all; the first `dead` workers have died.  The smallest share is at least so many
 * percent of the largest. */
static void check(int workers, int dead, int64_t from_us, int64_t even, int64_t used)
{
    int64_t until_us = from_us + LAST_S * SECOND_US, all, least = INT64_MAX, most = 0;

    takt_fleet_run(&fleet, until_us + SECOND_US);
    qsort(starts, (size_t)start_count, sizeof *starts, by_slot);
    for (int i = 0; i < limit.numbers.rule_count; i++)
        check_rule(&limit.numbers.rules[i], i);
    all = share_of(-1, from_us, until_us);
    if (all < used)
        fail(5, "the scarce unit is not used up, in millionths", -1, all, 1000000);
    for (int worker = dead; worker < workers; worker++) {
        int64_t share = share_of(worker, from_us, until_us);
        least = takt_min(least, share);
        most = takt_max(most, share);
    }
    if (least * 100 < most * even)
        fail(4, "uneven dominant shares, in millionths", workers, least, most);
    scenario_total.calls += fleet.claims;
    scenario_total.started += start_count;
    takt_fleet_close(&fleet);
}

static void begin_limit(void)
{
    limit = (takt_limit){.name = "units", .default_weight = 1};
    limit.numbers.lookahead_us = TAKT_LOOKAHEAD_US;
}

/* Amounts of which a turn has some: a larger request is served whole, and has more. */
static void draw_sort(sort *of, int workers, uint64_t *random)
{
    for (int unit = 0; unit < TAKT_UNITS; unit++)
        of->least[unit] = of->most[unit] = 1;
    for (int i = 0; i < limit.numbers.rule_count; i++) {
        const takt_rule *rule = &limit.numbers.rules[i];
        int64_t share = rule->limit * TAKT_LOOKAHEAD_US / rule->period_us / workers;
        int64_t most = takt_max(share / (1 + draw(random, 20)), 1);
        if (rule->unit == TAKT_UNIT_REQUESTS)
            continue;
        of->least[rule->unit] = 1 + (int32_t)draw(random, most);
        of->most[rule->unit] =
            of->least[rule->unit] + (int32_t)draw(random, most - of->least[rule->unit] + 1);
    }
}

static void any_amounts(uint64_t seed)
{
    static const int64_t delays_us[] = {0, 500, 2000, 8000};
    uint64_t random = seed * 2654435761U + 17;
    int workers = 2 + (int)draw(&random, WORKERS_MAX - 1);
    int dead = workers > 2 && chance(&random, 30) ? 1 : 0;

    begin_limit();
    add_rule(TAKT_UNIT_TOKENS, 60000 + draw(&random, 600000), 8000);
    add_rule(TAKT_UNIT_REQUESTS, 6000 + draw(&random, 12000), 50 + draw(&random, 50));
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        if (chance(&random, 60))
            add_rule(TAKT_UNIT_MORE + (takt_unit)i, 12000 + draw(&random, 30000), 400);
    for (int worker = 0; worker < workers; worker++)
        draw_sort(&sorts[worker], workers, &random);
    open_units(workers, delays_us[draw(&random, 4)], seed);
    if (dead > 0) {
        takt_fleet_run(&fleet, BEGIN_US + 2 * SECOND_US);
        takt_fleet_crash(&fleet.workers[0]);
    }
    check(workers, dead, BEGIN_US + 10 * SECOND_US, EVEN_ANY, USED);
}

/* A few larger requests beside many small ones: both have half of the tokens, which are scarce. A
 * turn has 1000 tokens, so that requests are smaller or larger than a share. */
static void large_beside_small(int32_t least, int32_t most, int64_t delay_us, uint64_t seed)
{
    begin_limit();
    add_rule(TAKT_UNIT_REQUESTS, 6000, 50);
    add_rule(TAKT_UNIT_TOKENS, 240000, 8000);
    sorts[0] = (sort){{least, 1, 1, 1, 1}, {most, 1, 1, 1, 1}};
    sorts[1] = (sort){{20, 1, 1, 1, 1}, {80, 1, 1, 1, 1}};
    open_units(2, delay_us, seed);
    check(2, 0, BEGIN_US + 10 * SECOND_US, EVEN, USED);
}

/* Two workers take most of the requests, and two most of the tokens, with requests that are larger
 * than a share: both quotas are nearly used up. */
static void much_beside_many(int64_t delay_us, uint64_t seed)
{
    begin_limit();
    add_rule(TAKT_UNIT_REQUESTS, 500, 1);
    add_rule(TAKT_UNIT_TOKENS, 200000, 8000);
    for (int worker = 0; worker < 4; worker++)
        sorts[worker] = worker < 2 ? (sort){{50, 1, 1, 1, 1}, {50, 1, 1, 1, 1}}
                                   : (sort){{4000, 1, 1, 1, 1}, {8000, 1, 1, 1, 1}};
    open_units(4, delay_us, seed);
    check(4, 0, BEGIN_US + 10 * SECOND_US, EVEN, USED_BOTH);
}

/* Each worker's work takes most of another unit. */
static void each_another(int64_t delay_us, uint64_t seed)
{
    begin_limit();
    add_rule(TAKT_UNIT_TOKENS, 60000, 2000);
    add_rule(TAKT_UNIT_MORE, 6000, 200);
    add_rule(TAKT_UNIT_MORE + 1, 6000, 200);
    sorts[0] = (sort){{40, 1, 1, 1, 1}, {80, 1, 1, 1, 1}};
    sorts[1] = (sort){{1, 1, 4, 1, 1}, {2, 1, 8, 1, 1}};
    sorts[2] = (sort){{1, 1, 1, 4, 1}, {2, 1, 1, 8, 1}};
    open_units(3, delay_us, seed);
    check(3, 0, BEGIN_US + 10 * SECOND_US, EVEN_OWN, USED);
}

/* Some workers and amounts at random. */
static void run_one(uint64_t seed)
{
    uint64_t kind = seed / 10 % 8;

    if (kind == 0 && seed / 80 % 3 == 0)
        large_beside_small(4000, 8000, (int64_t)(seed % 7) * 800, seed);
    else if (kind == 0 && seed / 80 % 3 == 1)
        much_beside_many((int64_t)(seed % 7) * 800, seed);
    else if (kind == 0)
        large_beside_small(200, 500, (int64_t)(seed % 7) * 800, seed);
    else if (kind == 1)
        each_another((int64_t)(seed % 7) * 800, seed);
    else
        any_amounts(seed);
}

/* Where the scarce unit is known. */
static void run_figures(void)
{
    static const int64_t delays_us[] = {0, 500, 5000};

    for (size_t i = 0; i < sizeof delays_us / sizeof *delays_us; i++) {
        large_beside_small(200, 500, delays_us[i], i + 1);
        large_beside_small(4000, 8000, delays_us[i], i + 1);
        much_beside_many(delays_us[i], i + 1);
        each_another(delays_us[i], i + 1);
    }
}

const family units_family = {.each = 10, .run = run_one, .run_figures = run_figures};
