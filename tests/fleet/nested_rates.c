/*
 * nested_rates.c: fleets whose inner limits have rates that do not divide the outer one (gaps.h).
 *
 * The rules of all levels hold (promise 1), nothing starts before its slot (2), equal keys have
 * equal parts (4), and what the keys can use of the outer limit is used (5).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "checker.h"
#include "families.h"
#include "scenario.h"

#define SECOND_US   INT64_C(1000000)
#define BEGIN_US    INT64_C(1763692800000000)
#define KEYS_MAX    16
#define WORKERS_MAX 12
#define JOBS_MAX    20000
#define STARTS_MAX  60000
#define SECONDS     20
#define UNBOUNDED   100000 /* the rate of a key that holds nothing up */

/* Work of one key of an inner limit. */
typedef struct key {
    takt_limit limit;
    char name[24];
    char tenant[24];
    int32_t weight;
    int64_t rate;
    int64_t starts; /* between from_us and until_us */
    int64_t last_us;
} key;

typedef struct job {
    takt_permit permit;
    takt_fleet_worker *worker;
    key *of;
} job;

typedef struct start {
    int64_t slot_us;
    int of;
} start;

static takt_fleet fleet;
static takt_limit outer;
static key keys[KEYS_MAX];
static int key_count;
static job jobs[JOBS_MAX];
static int job_count;
static start starts[STARTS_MAX];
static int start_count;
static int64_t from_us, until_us; /* which slots count */

/* ---- the fleet ------------------------------------------------------------------------------- */

static void set_limit(takt_limit *limit, const char *name, int64_t rate, int64_t burst)
{
    *limit = (takt_limit){.default_weight = 1};
    strcpy(limit->name, name);
    limit->within = limit == &outer ? NULL : &outer;
    limit->numbers.lookahead_us = TAKT_LOOKAHEAD_US;
    family_set_rule(&limit->numbers, rate, SECOND_US, burst);
}

static void open_fleet(int workers, int64_t rate, int64_t burst, int64_t delay_us, uint64_t seed)
{
    set_limit(&outer, "vendor", rate, burst);
    family_open(&fleet, &outer, workers, BEGIN_US, delay_us, seed);
    key_count = job_count = start_count = 0;
    from_us = BEGIN_US + 5 * SECOND_US;
    until_us = INT64_MAX;
}

static void close_fleet(void)
{
    scenario_total.calls += fleet.claims;
    scenario_total.started += start_count;
    takt_fleet_close(&fleet);
}

static void acquire(job *one);

static void started(takt_permit *permit, int status)
{
    job *one = permit->data;
    int64_t slot_us = permit->slot_at_us;

    family_check_start(&fleet, permit, status, one->of->name);
    if (start_count == STARTS_MAX)
        abort();
    starts[start_count++] = (start){slot_us, (int)(one->of - keys)};
    if (slot_us >= from_us && slot_us < until_us)
        one->of->starts++;
    acquire(one);
}

static void acquire(job *one)
{
    const key *of = one->of;
    takt_chain chain = {
        .limits = {&of->limit, &outer}, .keys = {of->name, ""}, .costs = {1, 1}, .count = 2};

    one->permit = family_permit(one, started);
    takt_fleet_acquire_nested(one->worker, 0, &one->permit, 0, &chain,
                              of->tenant[0] ? of->tenant : NULL, of->weight);
}

static key *add_key(int64_t rate)
{
    key *made = &keys[key_count];

    *made = (key){.rate = rate, .weight = 1};
    snprintf(made->name, sizeof made->name, "key %d", key_count++);
    set_limit(&made->limit, "account", rate, 1);
    return made;
}

/* A worker always has work of the key. */
static void come(int worker, key *of)
{
    for (int64_t i = takt_min(of->rate, outer.numbers.rules[0].limit) + 4; i > 0; i--) {
        job *one = &jobs[job_count++];
        if (job_count > JOBS_MAX)
            abort();
        *one = (job){.worker = &fleet.workers[worker], .of = of};
        acquire(one);
    }
}

/* ---- what is checked ------------------------------------------------------------------------- */

static int by_slot(const void *a, const void *b)
{
    const start *x = a, *y = b;

    return (x->slot_us > y->slot_us) - (x->slot_us < y->slot_us);
}

static bool is_same_key(const key *a, const key *b)
{
    return strcmp(a->name, b->name) == 0;
}

/* A bucket of the rule's burst, which its rate drains, never flows over.  of NULL: that of all. */
static void check_rule(const takt_limit *limit, const key *of)
{
    const takt_rule *rule = &limit->numbers.rules[0];
    int64_t level = 0, last_us = BEGIN_US;

    for (int i = 0; i < start_count; i++) {
        if (of && !is_same_key(&keys[starts[i].of], of))
            continue;
        level = takt_max(level - (starts[i].slot_us - last_us) * rule->limit, 0) + rule->period_us;
        last_us = starts[i].slot_us;
        if (level > rule->burst * rule->period_us + rule->limit) /* to a microsecond */
            family_fail(1, "a rule is exceeded", of ? of->name : "all", level / rule->period_us,
                        rule->burst);
    }
}

static int64_t count_starts(void)
{
    int64_t all = 0;

    for (int i = 0; i < key_count; i++)
        all += keys[i].starts;
    return all;
}

static void run(void)
{
    until_us = from_us + SECONDS * SECOND_US;
    takt_fleet_run(&fleet, until_us + SECOND_US);
    qsort(starts, (size_t)start_count, sizeof *starts, by_slot);
    check_rule(&outer, NULL);
    for (int i = 0; i < key_count; i++)
        check_rule(&keys[i].limit, &keys[i]);
}

/* So many thousandths of a rate are used. */
static void check_used(int64_t rate, int64_t thousandths)
{
    if (1000 * count_starts() < SECONDS * rate * thousandths)
        family_fail(5, "the rate is not used", "all", count_starts(), SECONDS * rate);
}

/* Starts of keys that differ by that many at most. */
static void check_equal(int64_t apart)
{
    int64_t least = INT64_MAX, most = 0;

    for (int i = 0; i < key_count; i++) {
        least = takt_min(least, keys[i].starts);
        most = takt_max(most, keys[i].starts);
    }
    if (most - least > apart)
        family_fail(4, "not an equal part", "the least and the most", least, most);
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Equal keys, on so many workers. */
static void equal_keys(int workers, int64_t rate, int64_t burst, int count, int64_t own,
                       int64_t thousandths, int64_t delay_us, uint64_t seed)
{
    open_fleet(workers, rate, burst, delay_us, seed);
    for (int i = 0; i < count; i++)
        come(i % workers, add_key(own));
    run();
    check_used(takt_min(rate, count * own), thousandths);
    check_equal(burst > 1 ? 10 : 3);
    close_fleet();
}

/* Together they want more than the outer rate, and share all of it. */
static void scarce(int64_t delay_us, uint64_t seed)
{
    equal_keys(2, 100, 1, 2, 60, 999, delay_us, seed);
    equal_keys(1, 100, 1, 2, 60, 999, delay_us, seed);
    equal_keys(3, 100, 1, 3, 40, 998, delay_us, seed);
    equal_keys(1, 100, 1, 3, 40, 985, delay_us, seed);
    equal_keys(10, 100, 1, 10, 15, 999, delay_us, seed);
    equal_keys(1, 100, 1, 10, 15, 999, delay_us, seed);
    equal_keys(2, 20, 1, 2, 15, 999, delay_us, seed);
    equal_keys(2, 100, 10, 2, 60, 999, delay_us, seed);
}

/* They want less than the outer rate: each has its own. */
static void plentiful(int64_t delay_us, uint64_t seed)
{
    equal_keys(1, 100, 1, 1, 99, 999, delay_us, seed);
    equal_keys(2, 100, 1, 2, 40, 980, delay_us, seed);
    equal_keys(1, 100, 1, 2, 40, 980, delay_us, seed);
    equal_keys(3, 100, 1, 3, 32, 970, delay_us, seed);
    equal_keys(2, 100, 1, 2, 49, 970, delay_us, seed);
    equal_keys(2, 20, 1, 2, 7, 990, delay_us, seed);
    equal_keys(2, 100, 10, 2, 40, 990, delay_us, seed);
}

/* A key beside work that nothing else holds up. */
static void beside(int64_t rate, int64_t own, int64_t delay_us, uint64_t seed)
{
    open_fleet(2, rate, 1, delay_us, seed);
    come(0, add_key(own));
    come(1, add_key(UNBOUNDED));
    run();
    check_used(rate, 990);
    close_fleet();
}

static void beside_others(int64_t delay_us, uint64_t seed)
{
    beside(200, 120, delay_us, seed);
    beside(100, 70, delay_us, seed);
    beside(100, 40, delay_us, seed);
    beside(1000, 500, delay_us, seed);
}

static key *add_tenant(const char *name, int64_t rate, const char *tenant, int32_t weight)
{
    key *made = add_key(rate);

    snprintf(made->name, sizeof made->name, "%s", name);
    snprintf(made->tenant, sizeof made->tenant, "%s", tenant);
    made->weight = weight;
    made->limit.fair = TAKT_FAIR_TENANT;
    return made;
}

/* The weights are 3:1:1 in 200/s, and the first two have work of a key of that rate. */
static void weighed_of(int64_t own, int64_t delay_us, uint64_t seed)
{
    const key *large;

    open_fleet(3, 200, 1, delay_us, seed);
    outer.fair = TAKT_FAIR_TENANT;
    come(0, add_tenant("key", own, "large", 3));
    come(1, add_tenant("key", own, "small", 1));
    come(2, add_tenant("other", UNBOUNDED, "third", 1));
    run();
    check_used(200, 990);
    large = &keys[0];
    if (llabs(large->starts - 3 * keys[1].starts) * 100 > 5 * large->starts)
        family_fail(4, "not its part", large->tenant, large->starts, 3 * keys[1].starts);
    close_fleet();
}

static void weighed(int64_t delay_us, uint64_t seed)
{
    weighed_of(150, delay_us, seed);
    weighed_of(180, delay_us, seed);
}

/* Two keys that together want less than the rate; then a third one comes, and stays. */
static void a_third_of(int64_t own, int64_t delay_us, uint64_t seed)
{
    key *third;

    open_fleet(3, 100, 1, delay_us, seed);
    come(0, add_key(own));
    come(1, add_key(own));
    takt_fleet_run(&fleet, from_us);
    third = add_key(own);
    come(2, third);
    from_us += 20 * SECOND_US; /* it takes some seconds until gaps count as used again */
    run();
    check_used(100, 990);
    check_equal(3);
    close_fleet();
}

static void a_third_comes(int64_t delay_us, uint64_t seed)
{
    a_third_of(40, delay_us, seed);
    a_third_of(39, delay_us, seed);
}

static const family_figure figures[] = {scarce, plentiful, beside_others, weighed, a_third_comes};

#define FIGURES (sizeof figures / sizeof *figures)

/* ---- fleets at random ------------------------------------------------------------------------ */

static void block_key(takt_fleet_worker *worker, int number, int64_t for_us)
{
    takt_fleet_call_inner(worker, 0, &keys[number].limit, keys[number].name, TAKT_OP_BLOCK, for_us);
}

/* Nobody dies: a key would be without work. */
static const storm_kind storm = {.step_us = SECOND_US,
                                 .freezes = 30,
                                 .frozen_us = 2 * SECOND_US,
                                 .inner_blocks = 40,
                                 .blocks = 40,
                                 .rest_us = 2 * SECOND_US};

/* Equal keys of any rate that together want more than the outer one. */
static void any_rates(uint64_t seed)
{
    static const int64_t rates[] = {20, 50, 100, 333}, delays_us[] = {0, 500, 2000, 8000};
    uint64_t random = seed * 2654435761U + 31;
    int count = 2 + (int)draw(&random, 8), workers = 1 + (int)draw(&random, 8);
    int64_t rate = rates[draw(&random, 4)], own = rate / count + 1 + draw(&random, rate / 2);
    int64_t burst = chance(&random, 80) ? 1 : 1 + draw(&random, 10);

    open_fleet(workers, rate, burst, delays_us[draw(&random, 4)], seed);
    for (int i = 0; i < count; i++) {
        key *of = add_key(own);
        come(i % workers, of);
        if (chance(&random, 40))
            come((i + 1) % workers, of);
    }
    if (chance(&random, 60)) {
        family_storm(&fleet, &storm, count, block_key, &random);
        from_us = fleet.now_us + 15 * SECOND_US;
    }
    run();
    /* with a burst slots that are put off lie on whole intervals too seldom */
    check_used(rate, burst > 1 ? 750 : 950);
    close_fleet();
}

static void run_one(uint64_t seed)
{
    if (seed / 5 % 8 < 6)
        any_rates(seed);
    else
        figures[seed / 5 / 8 % FIGURES]((int64_t)(seed % 7) * 800, seed);
}

static void run_figures(void)
{
    family_run_figures(figures, FIGURES);
}

const family nested_rates_family = {.each = 5, .at = 2, .run = run_one, .run_figures = run_figures};
