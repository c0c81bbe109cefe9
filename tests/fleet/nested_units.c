/*
 * nested_units.c: fleets whose work takes different amounts of several units of nested limits,
 * which number their units differently.
 *
 * All rules of all levels hold (promise 1), work of every key goes on (promise 4), and each key
 * uses up its own rules or, with the others, those of all (promise 5).
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
#define RUN_US      (20 * SECOND_US)
#define KEYS_MAX    8
#define WORKERS_MAX 6
#define JOBS        24 /* of each key on each of its workers */
#define STARTS_MAX  200000

__extension__ typedef __int128 wide;

/* The units that work states amounts of. */
enum { INPUT, OUTPUT, IMAGES, NAMES };

static const char *const names[NAMES] = {"input", "output", "images"};

typedef struct key {
    char name[24];
    int32_t least[NAMES], most[NAMES];
    int64_t starts, used[NAMES]; /* in the time that counts */
} key;

typedef struct job {
    takt_permit permit;
    int worker;
    key *of;
    int32_t amounts[NAMES];
} job;

typedef struct start {
    int64_t slot_us;
    int32_t amounts[NAMES];
    const key *of;
} start;

static takt_fleet fleet;
static takt_limit outer, inner;
static key keys[KEYS_MAX];
static int key_count;
static job *jobs;
static int job_count;
static start *starts;
static int start_count;
static uint64_t amounts; /* random */

/* ---- the fleet ------------------------------------------------------------------------------- */

static void begin_limit(takt_limit *limit, const char *name)
{
    *limit = (takt_limit){.default_weight = 1, .numbers.lookahead_us = TAKT_LOOKAHEAD_US};
    strcpy(limit->name, name);
    limit->within = limit == &outer ? NULL : &outer;
}

/* A rule of that unit, which gets the limit's next number. */
static void add_rule(takt_limit *limit, const char *name, int64_t per_second, int64_t burst)
{
    takt_rule *rule = &limit->numbers.rules[limit->numbers.rule_count++];
    int more = 0;

    *rule = (takt_rule){
        .algorithm = &takt_gcra, .limit = per_second, .period_us = SECOND_US, .burst = burst};
    while (more < TAKT_MORE_MAX && limit->more_units[more][0])
        more++;
    if (!name) {
        rule->unit = TAKT_UNIT_REQUESTS;
    } else if (!limit->unit[0]) {
        strcpy(limit->unit, name);
    } else {
        strcpy(limit->more_units[more], name);
        rule->unit = TAKT_UNIT_MORE + (takt_unit)more;
    }
    if (takt_rule_prepare(rule, NULL) != 0)
        abort();
}

static int32_t amount_of(const job *one, const char *name)
{
    for (int i = 0; i < NAMES; i++)
        if (strcmp(names[i], name) == 0)
            return one->amounts[i];
    return 1;
}

static void acquire(job *one);

static void started(takt_permit *permit, int status)
{
    job *one = permit->data;

    family_check_start(&fleet, permit, status, one->of->name);
    if (start_count == STARTS_MAX)
        abort();
    starts[start_count] = (start){.slot_us = permit->slot_at_us, .of = one->of};
    memcpy(starts[start_count++].amounts, one->amounts, sizeof one->amounts);
    acquire(one);
}

static void acquire(job *one)
{
    takt_chain chain = {.limits = {&inner, &outer}, .keys = {one->of->name, ""}, .count = 2};

    for (int i = 0; i < NAMES; i++)
        one->amounts[i] =
            one->of->least[i] + (int32_t)draw(&amounts, one->of->most[i] - one->of->least[i] + 1);
    for (int level = 0; level < 2; level++) {
        const takt_limit *limit = chain.limits[level];
        chain.costs[level] = amount_of(one, limit->unit);
        for (int i = 0; i < TAKT_MORE_MAX && limit->more_units[i][0]; i++)
            chain.more[level].of[i] = amount_of(one, limit->more_units[i]);
    }
    one->permit =
        (takt_permit){.data = one, .callback = started, .priority = TAKT_PRIORITY_DEFAULT};
    if (!takt_chain_is_nested(&chain) ||
        !takt_chain_take(&chain, &one->permit.cost, &one->permit.more))
        family_fail(1, "it is not nested", one->of->name, 0, 1);
    takt_fleet_acquire_nested(&fleet.workers[one->worker], 0, &one->permit, 0, &chain, NULL, 1);
}

static void open_keys(int workers, int count, int64_t delay_us, uint64_t seed)
{
    family_open(&fleet, &outer, workers, BEGIN_US, delay_us, seed);
    amounts = seed;
    key_count = count;
    job_count = start_count = 0;
    jobs = calloc((size_t)(KEYS_MAX * WORKERS_MAX * JOBS), sizeof *jobs);
    starts = calloc(STARTS_MAX, sizeof *starts);
    if (!jobs || !starts)
        abort();
    for (int i = 0; i < count; i++) {
        keys[i].starts = 0;
        memset(keys[i].used, 0, sizeof keys[i].used);
        snprintf(keys[i].name, sizeof keys[i].name, "team %d", i);
    }
}

static void close_keys(void)
{
    scenario_total.calls += fleet.claims;
    scenario_total.started += start_count;
    takt_fleet_close(&fleet);
    free(jobs);
    free(starts);
}

static void come(int worker, int of)
{
    for (int i = 0; i < JOBS; i++) {
        job *one = &jobs[job_count++];
        *one = (job){.worker = worker, .of = &keys[of]};
        acquire(one);
    }
}

/* ---- what is checked ------------------------------------------------------------------------- */

static int by_slot(const void *a, const void *b)
{
    const start *x = a, *y = b;

    return (x->slot_us > y->slot_us) - (x->slot_us < y->slot_us);
}

/* Which of the names a rule counts; -1: requests. */
static int name_of(const takt_limit *limit, const takt_rule *rule)
{
    const char *name = rule->unit == TAKT_UNIT_TOKENS ? limit->unit : "";

    if (rule->unit >= TAKT_UNIT_MORE)
        name = limit->more_units[rule->unit - TAKT_UNIT_MORE];
    for (int i = 0; i < NAMES; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

/* A bucket of the rule's burst, which its rate drains, never flows over with the work of one key
 * (NULL: of all). */
static void check_rule(const takt_limit *limit, const takt_rule *rule, const key *of)
{
    wide level = 0;
    int64_t last_us = BEGIN_US;
    int name = name_of(limit, rule);

    for (int i = 0; i < start_count; i++) {
        if (of && starts[i].of != of)
            continue;
        level -= (wide)(starts[i].slot_us - last_us) * rule->limit;
        level = (level > 0 ? level : 0) +
                (wide)(name < 0 ? 1 : starts[i].amounts[name]) * rule->period_us;
        last_us = starts[i].slot_us;
        if (level > (wide)rule->burst * rule->period_us + rule->limit) /* to a microsecond */
            family_fail(1, name < 0 ? "requests" : names[name], of ? of->name : "all",
                        (int64_t)(level / rule->period_us), rule->burst);
    }
}

static void check_rules(void)
{
    qsort(starts, (size_t)start_count, sizeof *starts, by_slot);
    for (int i = 0; i < outer.numbers.rule_count; i++)
        check_rule(&outer, &outer.numbers.rules[i], NULL);
    for (int of = 0; of < key_count; of++)
        for (int i = 0; i < inner.numbers.rule_count; i++)
            check_rule(&inner, &inner.numbers.rules[i], &keys[of]);
}

/* The largest part that work (NULL: of all keys) has of what a rule gives, in thousandths. */
static int64_t part_of(const takt_limit *limit, const key *of, int64_t run_us)
{
    int64_t most = 0;

    for (int i = 0; i < limit->numbers.rule_count; i++) {
        const takt_rule *rule = &limit->numbers.rules[i];
        int name = name_of(limit, rule);
        int64_t used = 0;
        for (int at = 0; at < key_count; at++)
            if (!of || of == &keys[at])
                used += name < 0 ? keys[at].starts : keys[at].used[name];
        most = takt_max(most, used * 1000 * SECOND_US / (rule->limit * run_us));
    }
    return most;
}

/* Runs until then, and then for RUN_US.  In that time work goes on, and is held up by a rule alone:
 * so many thousandths of what it gives are used.  Of the keys with least and most, the parts that
 * they have of what is scarce differ by no more than that factor. */
static void check(int64_t from_us, int64_t thousandths, int64_t factor)
{
    int64_t least = INT64_MAX, most = 0, all;

    takt_fleet_run(&fleet, from_us + RUN_US + SECOND_US);
    check_rules();
    for (int i = 0; i < start_count; i++) {
        key *of = &keys[starts[i].of - keys];
        if (starts[i].slot_us < from_us || starts[i].slot_us >= from_us + RUN_US)
            continue;
        of->starts++;
        for (int name = 0; name < NAMES; name++)
            of->used[name] += starts[i].amounts[name];
    }
    all = part_of(&outer, NULL, RUN_US);
    for (int i = 0; i < key_count; i++) {
        int64_t own = part_of(&inner, &keys[i], RUN_US), part = part_of(&outer, &keys[i], RUN_US);
        if (own < thousandths && all < thousandths)
            family_fail(5, "the rates are not used", keys[i].name, takt_max(own, all), thousandths);
        if (own >= thousandths)
            continue;
        least = takt_min(least, part);
        most = takt_max(most, part);
    }
    if (least < INT64_MAX && most > factor * least)
        family_fail(4, "one has much less than others", "the least and the most", least, most);
}

/* ---- fleets ---------------------------------------------------------------------------------- */

static void take(int of, int32_t input, int32_t output, int32_t images)
{
    const int32_t most[NAMES] = {input, output, images};

    for (int i = 0; i < NAMES; i++) {
        keys[of].most[i] = most[i];
        keys[of].least[i] = most[i] > 1 ? most[i] / 2 : 1;
    }
}

/* Six teams on three workers: some read much, some write much. */
static void teams(int64_t delay_us, uint64_t seed)
{
    begin_limit(&outer, "organisation");
    add_rule(&outer, "input", 20000, 20000);
    add_rule(&outer, "output", 4000, 4000);
    begin_limit(&inner, "team");
    add_rule(&inner, "output", 1000, 1000);
    add_rule(&inner, "input", 6000, 6000);
    for (int i = 0; i < 6; i++)
        take(i, i % 2 ? 400 : 40, i % 2 ? 8 : 80, 1);
    open_keys(3, 6, delay_us, seed);
    for (int i = 0; i < 6; i++)
        come(i % 3, i);
    check(BEGIN_US + 5 * SECOND_US, 900, 4);
    close_keys();
}

/* The outer limit counts requests alone, of which each key gets as many, whatever each takes of a
 * unit that is not scarce. */
static void requests(int64_t delay_us, uint64_t seed)
{
    begin_limit(&outer, "organisation");
    add_rule(&outer, NULL, 100, 100);
    begin_limit(&inner, "team");
    add_rule(&inner, "input", 1000000, 1000000);
    for (int i = 0; i < 4; i++)
        take(i, i % 2 ? 6000 : 1, 1, 1);
    open_keys(2, 4, delay_us, seed);
    for (int i = 0; i < 4; i++)
        come(i / 2, i);
    check(BEGIN_US + 5 * SECOND_US, 900, 2);
    close_keys();
}

static void block_key(takt_fleet_worker *worker, int number, int64_t for_us)
{
    takt_fleet_call_inner(worker, 0, &inner, keys[number].name, TAKT_OP_BLOCK, for_us);
}

static void any_limits(uint64_t *random)
{
    bool images = chance(random, 50), requests = chance(random, 40);

    begin_limit(&outer, "organisation");
    add_rule(&outer, "input", 5000 + draw(random, 20000), 4000 + draw(random, 8000));
    add_rule(&outer, "output", 1000 + draw(random, 4000), 1000 + draw(random, 2000));
    begin_limit(&inner, "team");
    if (images && chance(random, 50))
        add_rule(&inner, "images", 20 + draw(random, 40), 20);
    add_rule(&inner, "output", 300 + draw(random, 2000), 600 + draw(random, 1000));
    if (chance(random, 70))
        add_rule(&inner, "input", 1000 + draw(random, 8000), 2000 + draw(random, 4000));
    if (images && inner.unit[0] == 'o')
        add_rule(&inner, "images", 20 + draw(random, 40), 20);
    if (requests)
        add_rule(&inner, NULL, 10 + draw(random, 50), 10);
}

static void any_units(uint64_t seed)
{
    static const int64_t delays_us[] = {0, 500, 2000, 8000};
    uint64_t random = seed * 2654435761U + 17;
    int count = 2 + (int)draw(&random, KEYS_MAX - 1), workers = 1 + (int)draw(&random, WORKERS_MAX);

    any_limits(&random);
    for (int i = 0; i < count; i++)
        take(i, 2 + (int32_t)draw(&random, 400), 2 + (int32_t)draw(&random, 80),
             1 + (int32_t)draw(&random, 4));
    open_keys(workers, count, delays_us[draw(&random, 4)], seed);
    for (int i = 0; i < count; i++) {
        come(0, i);
        for (int worker = 1; worker < workers; worker++)
            if (chance(&random, 40))
                come(worker, i);
    }
    if (chance(&random, 60))
        family_storm(&fleet, &family_nested_storm, key_count, block_key, &random);
    check(fleet.now_us + 8 * SECOND_US, 500, 60);
    close_keys();
}

/* Some workers, keys and amounts at random, with lost and repeated messages, blocks and crashes. */
static void run_one(uint64_t seed)
{
    if (seed / 5 % 8 == 0) {
        teams((int64_t)(seed % 7) * 800, seed);
        requests((int64_t)(seed % 7) * 800, seed);
    } else {
        any_units(seed);
    }
}

/* Teams with input and output tokens inside an organisation's, and inside one of requests alone. */
static void run_figures(void)
{
    static const family_figure figures[] = {teams, requests};

    family_run_figures(figures, sizeof figures / sizeof *figures);
}

const family nested_units_family = {.each = 5, .run = run_one, .run_figures = run_figures};
