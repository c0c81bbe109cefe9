/*
 * nested_tenants.c: fleets whose work of an inner limit is for tenants: the innermost limit has
 * `fair`, alone or like the outermost one.
 *
 * The rules of both levels hold (promise 1), nothing starts before its slot (2), the tenants of a
 * key have their parts of what it gets, by their weights (4), and no slot is wasted (5).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "checker.h"
#include "families.h"
#include "scenario.h"

#define SECOND_US  INT64_C(1000000)
#define BEGIN_US   INT64_C(1763692800000000)
#define GROUPS_MAX 400
#define JOBS_MAX   60000
#define STARTS_MAX 100000

/* Work of one key for one tenant. */
typedef struct group {
    const takt_limit *limit;
    char key[32];
    char team[32]; /* with three levels: the key of the one between */
    char tenant[32];
    int32_t weight;
    int64_t starts; /* between from_us and until_us */
    int64_t all;    /* its starts */
    int64_t last_us;
    int64_t work_us; /* how long its permits are held */
} group;

typedef struct job {
    takt_permit permit;
    takt_fleet_worker *worker;
    group *of;
    int64_t ends_at_us; /* 0: it does not run */
    bool lasting;       /* another one takes its place */
} job;

typedef struct start {
    int64_t slot_us;
    const group *of;
} start;

static takt_fleet fleet;
static takt_limit outer, between, inner;
static takt_limit loose; /* never holds up, and has no tenants */
static group groups[GROUPS_MAX];
static int group_count;
static job *jobs;
static int job_count, running, most_running;
static start *starts;
static int start_count;
static int64_t from_us, until_us;

/* ---- the fleet ------------------------------------------------------------------------------- */

static void set_limit(takt_limit *limit, const char *name, int64_t rate)
{
    *limit = (takt_limit){.default_weight = 1};
    strcpy(limit->name, name);
    limit->within = limit == &outer ? NULL : &outer;
    limit->numbers.lookahead_us = TAKT_LOOKAHEAD_US;
    limit->numbers.lease_us = 30 * SECOND_US;
    family_set_rule(&limit->numbers, rate, SECOND_US, 1);
}

static void on_call(takt_fleet *of, uint64_t worker, const takt_store_call *call)
{
    (void)of;
    (void)worker;
    if (call->op == TAKT_OP_CLAIM && call->claim->want_count > 0 && call->inner_count == 0)
        family_fail(1, "a claim without its inner limit", "all", 0, 1);
}

/* `both`: the outermost limit has tenants, too. */
static void open_fleet(int workers, int64_t rate, int64_t inner_rate, bool both, int64_t delay_us,
                       uint64_t seed)
{
    set_limit(&outer, "vendor", rate);
    set_limit(&inner, "account", inner_rate);
    set_limit(&loose, "free", 1000);
    inner.fair = TAKT_FAIR_TENANT;
    outer.fair = both ? TAKT_FAIR_TENANT : TAKT_FAIR_WORKER;
    family_open(&fleet, &outer, workers, BEGIN_US, delay_us, seed);
    fleet.on.call = on_call;
    for (int i = 0; i < workers; i++)
        fleet.workers[i].far_us = i * delay_us / 8;
    starts = calloc(STARTS_MAX, sizeof *starts);
    jobs = calloc(JOBS_MAX, sizeof *jobs);
    if (!jobs || !starts)
        abort();
    group_count = job_count = start_count = running = most_running = 0;
    from_us = BEGIN_US + 5 * SECOND_US;
    until_us = INT64_MAX;
}

static void close_fleet(void)
{
    scenario_total.calls += fleet.claims;
    scenario_total.started += start_count;
    takt_fleet_close(&fleet);
    free(jobs);
    free(starts);
}

static void acquire(job *one);

static void started(takt_permit *permit, int status)
{
    job *one = permit->data;
    int64_t slot_us = permit->slot_at_us;

    family_check_start(&fleet, permit, status, one->of->tenant);
    if (start_count == STARTS_MAX)
        abort();
    starts[start_count++] = (start){slot_us, one->of};
    one->of->all++;
    if (slot_us >= from_us && slot_us < until_us)
        one->of->starts++;
    if (one->of->work_us > 0) {
        one->ends_at_us = fleet.now_us + one->of->work_us;
        most_running = (int)takt_max(most_running, ++running);
    } else if (one->lasting) {
        acquire(one);
    }
}

static void acquire(job *one)
{
    const group *of = one->of;
    takt_chain chain = {
        .limits = {of->limit, &outer}, .keys = {of->key, ""}, .costs = {1, 1}, .count = 2};
    bool has_tenant = outer.fair != TAKT_FAIR_WORKER || of->limit->fair != TAKT_FAIR_WORKER;

    if (of->limit->within == &between)
        chain = (takt_chain){.limits = {of->limit, &between, &outer},
                             .keys = {of->key, of->team, ""},
                             .costs = {1, 1, 1},
                             .count = 3};
    one->ends_at_us = 0;
    one->permit = family_permit(one, started);
    takt_fleet_acquire_nested(one->worker, 0, &one->permit, 0, &chain,
                              has_tenant ? of->tenant : NULL, of->weight);
}

static group *add_group(const takt_limit *limit, const char *key, const char *tenant,
                        int32_t weight)
{
    group *made = &groups[group_count++];

    *made = (group){.limit = limit, .weight = weight};
    snprintf(made->key, sizeof made->key, "%s", key);
    snprintf(made->tenant, sizeof made->tenant, "%s", tenant);
    return made;
}

static void come(int worker, group *of, int64_t count, bool lasting)
{
    for (; count > 0; count--) {
        job *one = &jobs[job_count++];
        if (job_count > JOBS_MAX)
            abort();
        *one = (job){.worker = &fleet.workers[worker], .of = of, .lasting = lasting};
        acquire(one);
    }
}

/* Runs, and lets work end that holds permits. */
static void run(int64_t till_us)
{
    while (fleet.now_us < till_us) {
        int64_t next_us = till_us;
        for (int i = 0; i < job_count; i++) {
            job *one = &jobs[i];
            if (one->ends_at_us == 0 || one->worker->dead)
                continue;
            if (one->ends_at_us <= fleet.now_us) {
                running--;
                takt_fleet_release(one->worker, &one->permit);
                one->ends_at_us = 0;
                if (one->lasting)
                    acquire(one);
            } else {
                next_us = takt_min(next_us, one->ends_at_us);
            }
        }
        takt_fleet_run(&fleet, takt_min(next_us, fleet.now_us + SECOND_US / 100));
    }
}

/* ---- what is checked ------------------------------------------------------------------------- */

static int by_slot(const void *a, const void *b)
{
    const start *x = a, *y = b;

    return (x->slot_us > y->slot_us) - (x->slot_us < y->slot_us);
}

static void check_apart(int64_t slot_us, int64_t before_us, const takt_limit *limit)
{
    const takt_rule *rule = &limit->numbers.rules[0];

    if (before_us != 0 && (slot_us - before_us + 1) * rule->limit < rule->period_us)
        family_fail(1, "two slots too close", limit->name, slot_us - before_us,
                    rule->period_us / rule->limit);
}

/* The rules of both levels hold: their slots are an interval apart. */
static void check_rules(void)
{
    qsort(starts, (size_t)start_count, sizeof *starts, by_slot);
    for (int i = 0; i < start_count; i++)
        check_apart(starts[i].slot_us, i > 0 ? starts[i - 1].slot_us : 0, &outer);
    for (int g = 0; g < group_count; g++) {
        int64_t before_us = 0;
        for (int i = 0; i < start_count; i++) {
            if (starts[i].of->limit != groups[g].limit ||
                strcmp(starts[i].of->key, groups[g].key) != 0)
                continue;
            check_apart(starts[i].slot_us, before_us, groups[g].limit);
            before_us = starts[i].slot_us;
        }
    }
}

static void run_for(int64_t seconds)
{
    until_us = from_us + seconds * SECOND_US;
    takt_fleet_run(&fleet, until_us + SECOND_US);
    check_rules();
}

/* It has had its part of `of`, to so many thousandths of it and two starts. */
static void check_part(const char *what, int64_t got, int64_t of, int64_t thousandths)
{
    if (1000 * llabs(got - of) > thousandths * of + 2000)
        family_fail(4, "not its part", what, got, of);
}

static void check_used(const char *what, int64_t got, int64_t of, int64_t thousandths)
{
    if (1000 * got < thousandths * of - 1000)
        family_fail(5, "the rate is not used", what, got, of);
}

/* ---- figures --------------------------------------------------------------------------------- */

/* One key has work of a tenant on seven workers and of another on one. A ninth worker has the rest
 * of the outer rate, if the key does not need it. */
static void one_key(int64_t rate, int64_t inner_rate, int32_t weight, bool both, int64_t delay_us,
                    uint64_t seed)
{
    int64_t whole = 40 * takt_min(rate, inner_rate);
    group *a, *b, *rest;

    open_fleet(9, rate, inner_rate, both, delay_us, seed);
    a = add_group(&inner, "key", "a", weight);
    b = add_group(&inner, "key", "b", 1);
    rest = add_group(&loose, "rest", "rest", 1);
    for (int i = 0; i < 7; i++)
        come(i, a, 40, true);
    come(7, b, 40, true);
    if (inner_rate < rate)
        come(8, rest, 20, true);
    run_for(40);
    check_used("a key", a->starts + b->starts, whole, both && inner_rate < rate ? 940 : 960);
    check_part("a", a->starts, (a->starts + b->starts) * weight / (weight + 1), 20);
    if (inner_rate < rate)
        check_used("all", a->starts + b->starts + rest->starts, 40 * rate, both ? 950 : 960);
    close_fleet();
}

/* Weights 3:1:1, or others, where the keys of the first two, or of the first, give them less than
 * their part: the last one has what is left. */
static void scarce_keys(int64_t rate, int64_t inner_rate, int keys, bool shared, int32_t weight,
                        int64_t delay_us, uint64_t seed)
{
    int64_t own = keys * inner_rate, large = 0, all = 0;

    open_fleet(5, rate, inner_rate, true, delay_us, seed);
    if (!shared)
        inner.fair = TAKT_FAIR_WORKER;
    for (int i = 0; i < keys; i++) {
        char key[32];
        snprintf(key, sizeof key, "key %d", i);
        for (int w = 0; w < (shared ? 3 : 1); w++)
            come((i + w) % 3, add_group(&inner, key, "large", weight), 40, true);
        if (shared)
            come(3, add_group(&inner, key, "small", 1), 40, true);
    }
    come(4, add_group(&loose, "rest", "rest", 1), 60, true);
    run_for(10);
    for (int i = 0; i < group_count; i++) {
        all += groups[i].starts;
        large += strcmp(groups[i].tenant, "large") == 0 ? groups[i].starts : 0;
    }
    check_used("scarce keys", all - groups[group_count - 1].starts, 10 * own, 970);
    check_used("beside scarce keys", groups[group_count - 1].starts, 10 * (rate - own), 960);
    check_part("large", large, 10 * (shared ? own * weight / (weight + 1) : own), 30);
    close_fleet();
}

static void beside_scarce_keys(int64_t delay_us, uint64_t seed)
{
    scarce_keys(200, 100, 1, true, 3, delay_us, seed);
    scarce_keys(200, 100, 1, true, 10, delay_us, seed);
    scarce_keys(200, 100, 1, false, 3, delay_us, seed);
    scarce_keys(200, 100, 1, false, 10, delay_us, seed);
    scarce_keys(200, 20, 5, false, 10, delay_us, seed);
    scarce_keys(100, 2, 20, false, 10, delay_us, seed);
}

static void tenants_of_one_key(bool both, int64_t delay_us, uint64_t seed)
{
    for (int32_t weight = 1; weight <= 3; weight += 2) {
        one_key(50, 5, weight, both, delay_us, seed);
        one_key(200, 100, weight, both, delay_us, seed);
        one_key(100, 100, weight, both, delay_us, seed);
        one_key(20, 50, weight, both, delay_us, seed);
    }
}

/* Beside 50,000 jobs of its key a tenant comes with ten: they start within 20 of the key's slots
 * behind those in hand. */
static void ten_beside_many(int64_t rate, int64_t inner_rate, bool both, int64_t delay_us,
                            uint64_t seed)
{
    int64_t first_us, before = 0;
    group *a, *b;

    open_fleet(9, rate, inner_rate, both, delay_us, seed);
    a = add_group(&inner, "key", "a", 1);
    b = add_group(&inner, "key", "b", 1);
    for (int i = 0; i < 8; i++)
        come(i, a, 6250, false);
    takt_fleet_run(&fleet, from_us);
    come(8, b, 10, false);
    first_us = fleet.now_us + TAKT_LOOKAHEAD_US + 2 * delay_us;
    takt_fleet_run(&fleet, from_us + 10 * SECOND_US);
    check_rules();
    if (b->all != 10)
        family_fail(4, "starts", "ten beside many", b->all, 10);
    for (int i = 0, of_b = 0; of_b < 10; i++) {
        of_b += starts[i].of == b;
        before += starts[i].slot_us >= first_us;
    }
    if (before > 20)
        family_fail(4, "slots until ten jobs are done", "b", before, 20);
    check_used("a key", a->starts + b->starts, 10 * takt_min(rate, inner_rate), 980);
    close_fleet();
}

/* Two keys need all of the outer rate: each has half of it, however many tenants it has. */
static void two_keys(int64_t delay_us, uint64_t seed)
{
    group *a, *b, *alone;

    open_fleet(8, 100, 100, false, delay_us, seed);
    a = add_group(&inner, "key", "a", 3);
    b = add_group(&inner, "key", "b", 1);
    alone = add_group(&inner, "other", "a", 3);
    for (int i = 0; i < 8; i++) {
        come(i, a, 20, true);
        come(i, i % 2 ? b : alone, 20, true);
    }
    run_for(40);
    check_used("all", a->starts + b->starts + alone->starts, 40 * 100, 980);
    check_part("a key", alone->starts, 40 * 50, 20);
    check_part("a", a->starts, (a->starts + b->starts) * 3 / 4, 20);
    close_fleet();
}

/* A key with 120 tenants on each worker does not hold up the others: a worker has 32 queues in
 * line. */
static void many_tenants(int64_t delay_us, uint64_t seed)
{
    group *other[8];

    open_fleet(2, 200, 150, false, delay_us, seed);
    for (int i = 0; i < 240; i++) {
        char name[32];
        snprintf(name, sizeof name, "tenant %d", i);
        come(i % 2, add_group(&inner, "key", name, 1), 20, true);
    }
    takt_fleet_run(&fleet, BEGIN_US + 2 * SECOND_US);
    for (int i = 0; i < 8; i++) {
        char key[32];
        snprintf(key, sizeof key, "key %d", i);
        other[i] = add_group(&inner, key, "a", 1);
        come(i % 2, other[i], 50, true);
    }
    run_for(10);
    for (int i = 0; i < 8; i++) {
        if (other[i]->starts < 10 * 200 / 9 * 85 / 100)
            family_fail(4, "keys beside one with many tenants", other[i]->key, other[i]->starts,
                        10 * 200 / 9);
    }
    close_fleet();
}

/* More tenants of one key than a ledger can tell apart: all start, and the key's rule holds. */
static void too_many_tenants(int64_t delay_us, uint64_t seed)
{
    open_fleet(12, 100, 50, false, delay_us, seed);
    for (int i = 0; i < 360; i++) {
        char name[32];
        snprintf(name, sizeof name, "tenant %d", i);
        come(i % 12, add_group(&inner, "key", name, 1), 2, false);
    }
    takt_fleet_run(&fleet, BEGIN_US + 40 * SECOND_US);
    if (start_count != 720)
        family_fail(5, "starts", "too many tenants", start_count, 720);
    check_rules();
    close_fleet();
}

/* The outermost limit has two permits: a released one goes to the tenant whose turn it is, and is
 * used soon. */
static void permits_outside(int64_t delay_us, uint64_t seed)
{
    group *a, *b;
    int64_t most;

    open_fleet(4, 1000, 1000, false, delay_us, seed);
    outer.numbers.concurrency = 2;
    a = add_group(&inner, "key", "a", 1);
    b = add_group(&inner, "key", "b", 1);
    a->work_us = b->work_us = SECOND_US / 5;
    for (int i = 0; i < 3; i++)
        come(i, a, 20, true);
    come(3, b, 20, true);
    until_us = from_us + 20 * SECOND_US;
    run(until_us);
    most = 20 * 2 * SECOND_US / (SECOND_US / 5 + 4 * delay_us + SECOND_US / 100);
    check_used("permits", a->starts + b->starts, most, 970);
    check_part("a", a->starts, (a->starts + b->starts) / 2, 60);
    if (most_running > 2)
        family_fail(1, "permits", "all", most_running, 2);
    close_fleet();
}

static void inside_alone(int64_t delay_us, uint64_t seed)
{
    tenants_of_one_key(false, delay_us, seed);
    ten_beside_many(50, 100, false, delay_us, seed);
    ten_beside_many(100, 50, false, delay_us, seed);
}

/* A tenant has work of two keys, and another one of the first key.  The two lines have different
 * orders: no two places may wait for each other. */
static void orders_that_differ(int64_t delay_us, uint64_t seed)
{
    group *a, *more, *b;

    open_fleet(3, 20, 50, true, delay_us, seed);
    a = add_group(&inner, "key", "a", 1);
    more = add_group(&inner, "other", "a", 1);
    b = add_group(&inner, "key", "b", 1);
    come(0, a, 40, true);
    come(1, more, 40, true);
    come(2, b, 40, true);
    run_for(40);
    check_used("all", a->starts + more->starts + b->starts, 40 * 20, 980);
    check_part("b", b->starts, 40 * 10, 20);
    close_fleet();
}

/* Nobody has started for more than five seconds. */
static void check_gaps(const char *what)
{
    int64_t last_us = BEGIN_US;

    for (int i = 0; i <= start_count; i++) {
        int64_t at_us = i < start_count ? starts[i].slot_us : fleet.now_us;
        if (at_us - last_us > 5 * SECOND_US)
            family_fail(5, "nobody starts", what, at_us - last_us, 5 * SECOND_US);
        last_us = at_us;
    }
}

/* Rates of three levels, the outermost first. */
typedef struct slow_rates {
    int64_t outer;
    int64_t between; /* 0: there are two levels */
    int64_t inner;
} slow_rates;

/* Each lookahead has about one token on each level, or less.  No place waits in one line for a
 * place that waits for it in another one. */
static void slow_lines(takt_inside inside, slow_rates rates, int tenants, int64_t delay_us,
                       uint64_t seed)
{
    static const char *const whats[][2] = {{"two slow levels", "three slow levels"},
                                           {"two slow levels with fair", "three slow levels"},
                                           {"a slow innermost level", "three slow levels inside"}};
    const char *what = whats[inside][rates.between > 0];

    open_fleet(2, rates.outer, rates.inner, inside == TAKT_INSIDE_ALIKE, delay_us, seed);
    if (rates.between > 0) {
        set_limit(&between, "team", rates.between);
        inner.within = &between;
    }
    if (inside == TAKT_INSIDE_NONE) {
        inner.fair = TAKT_FAIR_WORKER;
        outer.fair = TAKT_FAIR_TENANT;
    }
    for (int key = 0; key < 2; key++)
        for (int i = 0; i < tenants; i++) {
            char name[32];
            group *of;
            snprintf(name, sizeof name, "tenant %d", i);
            of = add_group(&inner, key ? "other" : "key", name, 1 + i % 2);
            snprintf(of->team, sizeof of->team, "team %d", key);
            come((i + key) % 2, of, 10, true);
            if (i % 2 == key)
                come((i + key + 1) % 2, of, 10, true);
        }
    takt_fleet_run(&fleet, BEGIN_US + 60 * SECOND_US);
    check_rules();
    check_gaps(what);
    for (int i = 0; i < group_count; i++)
        if (groups[i].all == 0)
            family_fail(4, what, groups[i].tenant, 0, 1);
    close_fleet();
}

static void slow_levels(int64_t delay_us, uint64_t seed)
{
    static const slow_rates outside = {2, 0, 3}, inside = {3, 0, 2}, three = {3, 2, 1000};

    for (int tenants = 2; tenants <= 5; tenants++) {
        slow_lines(TAKT_INSIDE_ALIKE, outside, tenants, delay_us, seed);
        slow_lines(TAKT_INSIDE_NONE, outside, tenants, delay_us, seed);
        slow_lines(TAKT_INSIDE_NONE, inside, tenants, delay_us, seed);
        slow_lines(TAKT_INSIDE_WITHIN, inside, tenants, delay_us, seed);
        slow_lines(TAKT_INSIDE_NONE, three, tenants, delay_us, seed);
        slow_lines(TAKT_INSIDE_WITHIN, three, tenants, delay_us, seed);
    }
    /* places that are parked in one line wait for others: whether they meet depends on the trips */
    slow_lines(TAKT_INSIDE_NONE, three, 5, 300, 3);
    slow_lines(TAKT_INSIDE_NONE, three, 5, 800, 10);
    slow_lines(TAKT_INSIDE_NONE, three, 5, 1000, 6);
    slow_lines(TAKT_INSIDE_ALIKE, (slow_rates){4, 3, 2}, 4, 300, 3);
    slow_lines(TAKT_INSIDE_ALIKE, inside, 6, 300, 6);
}

static void inside_and_outside(int64_t delay_us, uint64_t seed)
{
    orders_that_differ(delay_us, seed);
    slow_levels(delay_us, seed);
    tenants_of_one_key(true, delay_us, seed);
    ten_beside_many(50, 100, true, delay_us, seed);
    ten_beside_many(100, 50, true, delay_us, seed);
}

static const family_figure figures[] = {
    two_keys,         inside_alone,    inside_and_outside, many_tenants,
    too_many_tenants, permits_outside, beside_scarce_keys,
};

#define FIGURES (sizeof figures / sizeof *figures)
#define ROUNDS  4 /* of all kinds, of which one has figures */

/* ---- fleets at random ------------------------------------------------------------------------ */

static void block_group(takt_fleet_worker *worker, int number, int64_t for_us)
{
    const group *of = &groups[number];

    takt_fleet_call_inner(worker, 0, of->limit, of->key, TAKT_OP_BLOCK, for_us);
}

static void storm(uint64_t *random)
{
    family_storm(&fleet, &family_nested_storm, group_count, block_group, random);
    from_us = fleet.now_us + 8 * SECOND_US;
}

static void any_tenants(uint64_t seed)
{
    static const int64_t rates[] = {20, 100}, inner_rates[] = {5, 10, 50};
    static const int64_t delays_us[] = {0, 500, 2000, 8000};
    static const int32_t weights[] = {1, 1, 3, 10};
    uint64_t random = seed * 2654435761U + 29;
    int keys = 1 + (int)draw(&random, 4), workers = 2 + (int)draw(&random, 5);
    int64_t rate = rates[draw(&random, 2)], own = inner_rates[draw(&random, 3)], all = 0;
    bool both = chance(&random, 40), weighed = !both || chance(&random, 50);

    open_fleet(workers, rate, own, both, delays_us[draw(&random, 4)], seed);
    for (int i = 0; i < keys; i++) {
        int tenants = 1 + (int)draw(&random, 4);
        for (int t = 0; t < tenants; t++) {
            char key[32], name[32];
            group *of;
            snprintf(key, sizeof key, "key %d", i);
            snprintf(name, sizeof name, "tenant %d", t);
            of = add_group(&inner, key, t == 0 && chance(&random, 30) ? "" : name,
                           weighed ? weights[t] : 1);
            come(0, of, 5 + own, true);
            for (int w = 1; w < workers; w++)
                if (chance(&random, 40))
                    come(w, of, 5 + own, true);
        }
    }
    if (chance(&random, 60))
        storm(&random);
    run_for(20);
    for (int i = 0; i < group_count; i++) {
        all += groups[i].starts;
        if (groups[i].starts == 0 && !both)
            family_fail(4, "a tenant has nothing", groups[i].tenant, 0, 1);
    }
    /* where a lookahead has few slots, those that keys with large tenants hold back are a part */
    check_used("all", all, 20 * takt_min(rate, keys * own),
               both && weighed && rate < 100 ? 850 : 930);
    close_fleet();
}

/* Some tenants at random. */
static void run_one(uint64_t seed)
{
    uint64_t kind = seed / 5 % (2 * FIGURES), round = seed / 5 / (2 * FIGURES);

    if (kind >= FIGURES)
        any_tenants(seed);
    else if (round % ROUNDS == 0)
        figures[kind]((int64_t)(round / ROUNDS % 7) * 800, seed);
}

static void run_figures(void)
{
    family_run_figures(figures, FIGURES);
}

const family nested_tenants_family = {.each = 5, .run = run_one, .run_figures = run_figures};
