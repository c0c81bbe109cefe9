/*
 * tenants.c: fleets whose workers have work of several tenants of one limit.
 *
 * No faults but workers that die, and each tenant always wants more.  The rule holds and no slot is
 * wasted (promises 1 and 5), and each tenant gets a part in proportion to its weight, wherever its
 * work waits (promise 4).
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/integers.h"
#include "checker.h"
#include "families.h"
#include "scenario.h"

#define SECOND_US   INT64_C(1000000)
#define BEGIN_US    INT64_C(1763692800000000)
#define TENANTS_MAX 100
#define WORKERS_MAX 16
#define ROUNDS      100 /* of turns that are looked at: one more or less is within 2 % */
#define STARTS_MAX  100000
#define WORK_US     50000                   /* for which a permit is held */
#define IN_HAND_US  (2 * TAKT_LOOKAHEAD_US) /* for which a worker may have slots in hand */

typedef struct tenant {
    char name[16];
    int32_t weight;
    int8_t priority;
    int32_t cost;
    int64_t more; /* tokens that its work uses beside those that it asks for, which may be fewer */
    int64_t work_us; /* after which it is known what it has used */
    int64_t starts;  /* between from_us and until_us */
    int64_t last_us;
} tenant;

typedef struct job {
    takt_permit permit;
    takt_fleet_worker *worker;
    tenant *of;
    bool lasting; /* another one takes its place */
} job;

typedef struct start {
    int64_t slot_us;
    const tenant *of;
} start;

static takt_fleet fleet;
static takt_limit limit;
static tenant tenants[TENANTS_MAX];
static int tenant_count;
static job *jobs;
static int job_count, job_capacity;
static start starts[STARTS_MAX];
static int start_count;
static int64_t from_us, until_us; /* of the store's clock: which slots count */

static void acquire(job *one);

/* The work has used what it has used. */
static void settled(takt_fleet *of, void *data)
{
    job *one = data;

    (void)of;
    takt_fleet_correct(one->worker, 0, &one->permit, one->permit.cost + one->of->more,
                       one->of->name, one->of->weight);
    if (one->lasting)
        acquire(one);
}

/* The job is done, where it holds a permit. */
static void done(takt_fleet *of, void *data)
{
    job *one = data;

    (void)of;
    takt_fleet_release(one->worker, &one->permit);
    acquire(one);
}

static void started(takt_permit *permit, int status)
{
    job *one = permit->data;
    int64_t slot_us = permit->slot_at_us;

    family_check_start(&fleet, permit, status, one->of->name);
    if (start_count == STARTS_MAX)
        abort();
    starts[start_count++] = (start){slot_us, one->of};
    one->of->last_us = takt_max(one->of->last_us, slot_us);
    if (slot_us >= from_us && slot_us < until_us)
        one->of->starts++;
    if (one->of->more != 0)
        takt_fleet_at(&fleet, fleet.now_us + one->of->work_us, settled, one);
    else if (limit.numbers.concurrency > 0)
        takt_fleet_at(&fleet, fleet.now_us + WORK_US, done, one);
    else if (one->lasting)
        acquire(one);
}

static void acquire(job *one)
{
    one->permit = family_permit(one, started);
    one->permit.priority = one->of->priority;
    one->permit.cost = one->of->cost;
    takt_fleet_acquire_for(one->worker, 0, &one->permit, 0, one->of->name, one->of->weight);
}

static void open_fleet(int workers, int count, int64_t delay_us, uint64_t seed)
{
    family_open(&fleet, &limit, workers, BEGIN_US, delay_us, seed);
    tenant_count = count;
    for (int i = 0; i < count; i++) {
        tenants[i] = (tenant){.weight = 1, .cost = 1, .priority = TAKT_PRIORITY_DEFAULT};
        snprintf(tenants[i].name, sizeof tenants[i].name, "tenant %d", i);
    }
    job_capacity = WORKERS_MAX * TENANTS_MAX * 64 + 120000;
    jobs = calloc((size_t)job_capacity, sizeof *jobs);
    if (jobs == NULL)
        abort();
    job_count = start_count = 0;
    from_us = BEGIN_US + 5 * SECOND_US;
    until_us = INT64_MAX;
}

static void open_tenants(int workers, int count, int64_t rate, int64_t delay_us, uint64_t seed)
{
    limit = (takt_limit){.name = "tenants", .fair = TAKT_FAIR_TENANT, .default_weight = 1};
    limit.numbers.lookahead_us = TAKT_LOOKAHEAD_US;
    family_set_rule(&limit.numbers, rate, SECOND_US, 1);
    open_fleet(workers, count, delay_us, seed);
}

/* Permits instead of a rule. */
static void open_permits(int workers, int count, int64_t concurrency, int64_t delay_us,
                         uint64_t seed)
{
    limit = (takt_limit){.name = "tenants", .fair = TAKT_FAIR_TENANT, .default_weight = 1};
    limit.numbers.lookahead_us = TAKT_LOOKAHEAD_US;
    limit.numbers.concurrency = concurrency;
    limit.numbers.lease_us = TAKT_LEASE_US;
    open_fleet(workers, count, delay_us, seed);
}

/* Jobs of a tenant come to a worker. */
static void come(int worker, int of, int64_t count, bool lasting)
{
    for (; count > 0; count--) {
        job *one = &jobs[job_count++];
        if (job_count > job_capacity)
            abort();
        *one = (job){.worker = &fleet.workers[worker], .of = &tenants[of], .lasting = lasting};
        acquire(one);
    }
}

/* As many as always leave more to want. */
static int64_t enough(int64_t rate)
{
    return 3 + takt_ceil_div(IN_HAND_US * rate, SECOND_US);
}

static int by_slot(const void *a, const void *b)
{
    const start *x = a, *y = b;

    return (x->slot_us > y->slot_us) - (x->slot_us < y->slot_us);
}

/* The rule holds: its slots are one interval apart. */
static void check_rule(int64_t rate)
{
    qsort(starts, (size_t)start_count, sizeof *starts, by_slot);
    for (int i = 1; i < start_count; i++)
        if ((starts[i].slot_us - starts[i - 1].slot_us + 1) * rate < SECOND_US)
            family_fail(1, "two slots too close", starts[i].of->name,
                        starts[i].slot_us - starts[i - 1].slot_us, SECOND_US / rate);
}

static int64_t sum_of_weights(void)
{
    int64_t sum = 0;

    for (int i = 0; i < tenant_count; i++)
        sum += tenants[i].weight;
    return sum;
}

/* Runs for that many seconds behind from_us, and checks the parts, and that at most so many percent
 * of the rate are not used. */
static void check_parts(int64_t rate, int64_t seconds, int64_t missing)
{
    int64_t all = 0, weights = sum_of_weights();

    until_us = from_us + seconds * SECOND_US;
    takt_fleet_run(&fleet, until_us + SECOND_US);
    check_rule(rate);
    for (int i = 0; i < tenant_count; i++)
        all += tenants[i].starts;
    if (all < rate * seconds * (100 - missing) / 100 - 1 || all > rate * seconds + 1)
        family_fail(5, "the rate is not exact", "all", all, rate * seconds);
    for (int i = 0; i < tenant_count; i++)
        if (tenants[i].starts * weights * 100 < all * tenants[i].weight * 98 ||
            tenants[i].starts * weights * 100 > all * tenants[i].weight * 102)
            family_fail(4, "not its part", tenants[i].name, tenants[i].starts,
                        all * tenants[i].weight / weights);
}

static void close_tenants(void)
{
    scenario_total.calls += fleet.claims;
    scenario_total.started += start_count;
    takt_fleet_close(&fleet);
    free(jobs);
}

/* Messages are lost and repeated, and a worker stops for a while. */
static void storm(int workers, uint64_t *random)
{
    fleet.lost_per_mille = (int)draw(random, 100);
    fleet.doubled_per_mille = (int)draw(random, 100);
    takt_fleet_run(&fleet, BEGIN_US + SECOND_US);
    takt_fleet_freeze(&fleet.workers[draw(random, workers)],
                      fleet.now_us + draw(random, 3 * SECOND_US));
    takt_fleet_run(&fleet, BEGIN_US + 4 * SECOND_US);
    fleet.lost_per_mille = fleet.doubled_per_mille = 0;
    from_us += 6 * SECOND_US;
}

/* Tenants and weights at random, on workers of which one may die. */
static void any_parts(uint64_t seed)
{
    static const int64_t rates[] = {20, 100, 333};
    static const int64_t delays_us[] = {0, 500, 2000, 8000};
    uint64_t random = seed * 2654435761U + 11;
    int count = 2 + (int)draw(&random, 6), workers = 1 + (int)draw(&random, 6);
    int64_t rate = rates[draw(&random, 3)], delay_us = delays_us[draw(&random, 4)];
    int dies = workers > 1 && chance(&random, 30) ? 1 + (int)draw(&random, workers - 1) : 0;

    open_tenants(workers, count, rate, delay_us, seed);
    for (int i = 0; i < count; i++) {
        int at = dies > 0 ? 0 : (int)draw(&random, workers); /* somewhere, and there it stays */
        tenants[i].weight = chance(&random, 50) ? 1 : 1 + (int32_t)draw(&random, 8);
        for (int w = 0; w < workers; w++)
            if (w == at || chance(&random, 40))
                come(w, i, enough(rate), true);
    }
    if (dies > 0) {
        takt_fleet_run(&fleet, BEGIN_US + 2 * SECOND_US);
        takt_fleet_crash(&fleet.workers[dies]);
        from_us =
            fleet.now_us + 3 * SECOND_US / 2; /* its slots in hand are past, and it is aside */
    }
    if (dies == 0 && chance(&random, 30))
        storm(workers, &random);
    check_parts(rate, takt_max(ROUNDS * takt_ceil_div(sum_of_weights(), rate), ROUNDS / 4), 2);
    close_tenants();
}

/* ---- figures --------------------------------------------------------------------------------- */

/* A has 50,000 jobs on eight workers, B ten on one. */
static void few_beside_many(int64_t delay_us, uint64_t seed)
{
    int64_t came_us = BEGIN_US + 5 * SECOND_US + (int64_t)(seed % 100) * 7000, slots = 0;

    open_tenants(9, 2, 100, delay_us, seed);
    for (int w = 0; w < 8; w++)
        come(w, 0, 6250, true);
    takt_fleet_run(&fleet, came_us);
    come(8, 1, 10, false);
    takt_fleet_run(&fleet, came_us + 5 * SECOND_US);
    check_rule(100);
    for (int i = 0; i < start_count; i++) /* those in hand are of the next lookahead */
        slots += starts[i].slot_us >= came_us + TAKT_LOOKAHEAD_US &&
                 starts[i].slot_us <= tenants[1].last_us;
    if (slots > 20 || tenants[1].last_us < came_us)
        family_fail(4, "slots behind those in hand until ten jobs are done", "tenant 1", slots, 20);
    close_tenants();
}

/* Jain's index over any two seconds is at least 0.99. */
static void equal_parts(int64_t delay_us, uint64_t seed)
{
    open_tenants(8, 4, 100, delay_us, seed);
    for (int w = 0; w < 8; w++)
        come(w, w < 5 ? 0 : w - 4, enough(100), true);
    check_parts(100, 25, 0);
    for (int64_t at_us = from_us; at_us + 2 * SECOND_US < until_us; at_us += SECOND_US / 10) {
        int64_t count[TENANTS_MAX] = {0}, sum = 0, squares = 0;
        for (int i = 0; i < start_count; i++)
            if (starts[i].slot_us >= at_us && starts[i].slot_us < at_us + 2 * SECOND_US)
                count[starts[i].of - tenants]++;
        for (int i = 0; i < tenant_count; i++) {
            sum += count[i];
            squares += count[i] * count[i];
        }
        if (100 * sum * sum < 99 * tenant_count * squares)
            family_fail(4, "Jain's index of two seconds, in thousandths", "all",
                        1000 * sum * sum / (tenant_count * squares), 990);
    }
    close_tenants();
}

static void three_to_one(int64_t delay_us, uint64_t seed)
{
    open_tenants(3, 2, 100, delay_us, seed);
    tenants[0].weight = 3;
    come(0, 0, enough(100), true);
    come(1, 1, enough(100), true);
    come(2, 1, enough(100), true);
    check_parts(100, 60, 0);
    close_tenants();
}

static void alone(int64_t delay_us, uint64_t seed)
{
    open_tenants(4, 1, 100, delay_us, seed);
    for (int w = 0; w < 4; w++)
        come(w, 0, enough(100), true);
    check_parts(100, 20, 0);
    close_tenants();
}

/* More than may stand in line for one worker at once. */
static void forty_on_one_worker(int64_t delay_us, uint64_t seed)
{
    open_tenants(2, 40, 100, delay_us, seed);
    for (int i = 0; i < 40; i++)
        come(0, i, 60, true);
    come(1, 0, 60, true);
    check_parts(100, 60, 0);
    close_tenants();
}

/* A worker has all tenants, of which the first is heavy; another one has half of them as well. */
static void a_hundred_on_two_workers(int64_t delay_us, uint64_t seed)
{
    int64_t all = 100 * 20;

    open_tenants(2, 100, 100, delay_us, seed);
    tenants[0].weight = 3;
    for (int i = 0; i < 100; i++) {
        come(0, i, 20, true);
        if (i >= 50)
            come(1, i, 20, true);
    }
    until_us = from_us + 20 * SECOND_US;
    takt_fleet_run(&fleet, until_us + SECOND_US);
    check_rule(100);
    for (int i = 0; i < 100; i++) {
        int64_t part = all * tenants[i].weight / sum_of_weights();
        if (tenants[i].starts < part - 2 || tenants[i].starts > part + 3)
            family_fail(4, "not its part of twenty seconds", tenants[i].name, tenants[i].starts,
                        part);
    }
    close_tenants();
}

/* Each second one of 34 or 64 tenants asks for ten tokens, the others for one: each kind has half
 * of them. */
static void large_beside_small(int64_t delay_us, uint64_t seed)
{
    int count = seed % 2 ? 34 : 64, workers = 1 + (int)(seed / 2 % 2);
    int64_t tokens[2] = {0, 0};

    open_tenants(workers, count, 100, delay_us, seed);
    family_set_rule(&limit.numbers, 100, SECOND_US, 20);
    for (int i = 0; i < count; i++) {
        tenants[i].cost = i % 2 ? 1 : 10;
        for (int w = 0; w < workers; w++)
            come(w, i, 60, true);
    }
    until_us = from_us + 60 * SECOND_US;
    takt_fleet_run(&fleet, until_us);
    for (int i = 0; i < count; i++)
        tokens[i % 2] += tenants[i].starts * tenants[i].cost;
    for (int i = 0; i < 2; i++)
        if (tokens[i] < 2880 || tokens[i] > 3120)
            family_fail(4, "tenants have not their parts of the tokens", i ? "small" : "large",
                        tokens[i], 3000);
    for (int i = 0; i < count; i++)
        if (tenants[i].starts * tenants[i].cost < 6000 / count - 20 ||
            tenants[i].starts * tenants[i].cost > 6000 / count + 20)
            family_fail(4, "not its part of the tokens", tenants[i].name,
                        tenants[i].starts * tenants[i].cost, 6000 / count);
    close_tenants();
}

/* Each second one of 34 or 64 tenants asks for ten tokens, and uses one: it has as many starts as
 * the others, which ask for one.  Those that come first have slots while nobody else waits, and
 * what they give back of these counts as well: that is over by then. */
static void estimates_that_are_high(int64_t delay_us, uint64_t seed)
{
    uint64_t random = seed * 2654435761U + 31;
    int count = draw(&random, 2) > 0 ? 34 : 64, workers = 1 + (int)draw(&random, 2);
    int64_t work_us = draw(&random, 3) * 2 * WORK_US, all = 0;

    open_tenants(workers, count, 100, delay_us, seed);
    family_set_rule(&limit.numbers, 100, SECOND_US, 20);
    for (int i = 0; i < count; i++) {
        tenants[i].cost = i % 2 ? 1 : 10;
        tenants[i].more = 1 - tenants[i].cost;
        tenants[i].work_us = work_us;
        for (int w = 0; w < workers; w++)
            come(w, i, 60, true);
    }
    from_us = BEGIN_US + 40 * SECOND_US;
    until_us = from_us + 40 * SECOND_US;
    takt_fleet_run(&fleet, until_us);
    for (int i = 0; i < count; i++)
        all += tenants[i].starts;
    for (int i = 0; i < count; i++)
        if (tenants[i].starts < all / count - 2 || tenants[i].starts > all / count + 3)
            family_fail(4, "not its part of what is used", tenants[i].name, tenants[i].starts,
                        all / count);
    close_tenants();
}

/* B had some jobs long ago, and comes back with many: it has saved nothing. */
static void back_again(int64_t delay_us, uint64_t seed)
{
    open_tenants(4, 2, 100, delay_us, seed);
    for (int w = 0; w < 3; w++)
        come(w, 0, enough(100), true);
    come(3, 1, 5, false);
    from_us += 5 * SECOND_US;
    takt_fleet_run(&fleet, from_us - TAKT_LOOKAHEAD_US);
    come(3, 1, enough(100), true);
    until_us = from_us + 3 * SECOND_US;
    takt_fleet_run(&fleet, until_us + SECOND_US);
    check_rule(100);
    for (int i = 0; i < tenant_count; i++)
        if (tenants[i].starts < 140 || tenants[i].starts > 160)
            family_fail(4, "not its part of three seconds", tenants[i].name, tenants[i].starts,
                        150);
    close_tenants();
}

/* A permit goes to the next tenant: A wants all of them on six workers, B and C on one each. */
static void permits_in_turn(int64_t delay_us, uint64_t seed)
{
    open_permits(8, 3, 12, delay_us, seed);
    for (int w = 0; w < 8; w++)
        come(w, w < 6 ? 0 : w - 5, 40, true);
    until_us = from_us + 10 * SECOND_US;
    takt_fleet_run(&fleet, until_us);
    for (int i = 0; i < tenant_count; i++)
        if (tenants[i].starts * 10 < start_count * 2)
            family_fail(4, "not its part of the permits", tenants[i].name, tenants[i].starts,
                        start_count / tenant_count);
    close_tenants();
}

/* The work of A uses three tokens where it asks for one: it has half of the tokens, not of the
 * starts. */
static void one_that_asks_for_too_little(int64_t delay_us, uint64_t seed)
{
    open_tenants(4, 2, 100, delay_us, seed);
    tenants[0].more = 2;
    come(0, 0, enough(100), true);
    come(1, 0, enough(100), true);
    come(2, 1, enough(100), true);
    come(3, 1, enough(100), true);
    until_us = from_us + 30 * SECOND_US;
    takt_fleet_run(&fleet, until_us);
    check_rule(100);
    for (int i = 0; i < tenant_count; i++)
        if (tenants[i].starts * (1 + tenants[i].more) < 1500 * 96 / 100 ||
            tenants[i].starts * (1 + tenants[i].more) > 1500 * 104 / 100)
            family_fail(4, "not its part of the tokens", tenants[i].name,
                        tenants[i].starts * (1 + tenants[i].more), 1500);
    close_tenants();
}

/* The worker of A dies: from a lookahead after its time on B leaves nothing to it, though it stands
 * in line for six seconds. */
static void a_dead_head(int64_t delay_us, uint64_t seed)
{
    int64_t used = 0;

    open_tenants(2, 2, 100, delay_us, seed);
    for (int w = 0; w < 2; w++)
        come(w, w, enough(100), true);
    takt_fleet_run(&fleet, BEGIN_US + 5 * SECOND_US + (int64_t)(seed % 100) * 7000);
    takt_fleet_crash(&fleet.workers[0]);
    from_us = fleet.now_us + 5 * TAKT_LOOKAHEAD_US;
    until_us = from_us + 3 * SECOND_US;
    takt_fleet_run(&fleet, until_us + SECOND_US);
    check_rule(100);
    for (int i = 0; i < tenant_count; i++)
        used += tenants[i].starts;
    if (used < 294)
        family_fail(5, "slots are left to a dead worker of a tenant", "all", used, 300);
    close_tenants();
}

/* Two more than may stand in line for one worker at once take turns, too; one whose work is urgent
 * takes the place of another. */
static void more_than_stand_in_line(int64_t delay_us, uint64_t seed)
{
    open_tenants(1, 35, 100, delay_us, seed);
    for (int i = 0; i < 34; i++)
        come(0, i, 60, true);
    takt_fleet_run(&fleet, BEGIN_US + 5 * SECOND_US);
    tenants[34].priority = 0;
    come(0, 34, 1, false);
    until_us = from_us + 10 * SECOND_US;
    takt_fleet_run(&fleet, until_us + SECOND_US);
    check_rule(100);
    if (tenants[34].last_us == 0 || tenants[34].last_us > from_us + 2 * TAKT_LOOKAHEAD_US)
        family_fail(4, "urgent work of a tenant waits", tenants[34].name,
                    tenants[34].last_us - from_us, 2 * TAKT_LOOKAHEAD_US);
    for (int i = 0; i < 34; i++)
        if (tenants[i].starts < 28 || tenants[i].starts > 31)
            family_fail(4, "not its part of ten seconds", tenants[i].name, tenants[i].starts, 29);
    close_tenants();
}

/* Each at random, and all of them: the figures that docs/design.md has. */
static const family_figure figures[] = {
    few_beside_many,          equal_parts,         three_to_one, alone, back_again, permits_in_turn,
    a_hundred_on_two_workers, forty_on_one_worker,
};

/* Faults that the figures do not show. */
static const family_figure others[] = {
    one_that_asks_for_too_little, large_beside_small, estimates_that_are_high, a_dead_head,
    more_than_stand_in_line,
};

#define FIGURES (sizeof figures / sizeof *figures)
#define OTHERS  (sizeof others / sizeof *others)

/* Some tenants at random. */
static void run_one(uint64_t seed)
{
    uint64_t kind = seed / 5 % (2 * FIGURES);

    if (kind < FIGURES - 1) /* the last one takes long */
        figures[kind]((int64_t)(seed % 7) * 800, seed);
    else if (kind < FIGURES - 1 + OTHERS)
        others[kind - (FIGURES - 1)]((int64_t)(seed % 7) * 800, seed);
    else
        any_parts(seed);
}

static void run_figures(void)
{
    family_run_figures(figures, FIGURES);
    family_run_figures(others, OTHERS);
    for (uint64_t seed = 1; seed <= 10; seed++)
        few_beside_many(1000, seed);
}

const family tenants_family = {.each = 5, .run = run_one, .run_figures = run_figures};
