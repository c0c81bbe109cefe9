/*
 * The figures of the protocol, from the scheduler and the ledger themselves on virtual time: the
 * exact rate, evenly spaced, for any number of workers and at long round trips, with few calls to
 * the store, and hardly touched when workers die. What faults do to the promises is the matter of
 * the fleet tests.
 */
#include <criterion/criterion.h>

#include "base/random.h"
#include "core/limits.h"
#include "simulate/fleet.h"

#define LOOKAHEAD_US (250 * MS)

enum { GRANTS_MAX = 200000, WORKERS_MAX = 256 };

/* One row: a fleet, and the expected figures after its first second. */
typedef struct scene {
    const char *name;
    int workers;
    int64_t rate, burst;
    int64_t delay_min_us, delay_max_us; /* one way */
    int seconds, waiters;               /* of each worker; served ones wait again */
    int crashes;                        /* that many workers die at 5 s */
    double urgent_rate;     /* the first worker has urgent waiters only, that many a second */
    double calls_per_grant; /* at most */
} scene;

typedef struct job {
    takt_permit permit;
    takt_fleet_worker *worker;
    int64_t since_us;
    struct job *next; /* all of a run, to be freed */
} job;

static takt_limit limit;
static takt_fleet fleet;
static job *jobs;
static taken grants[GRANTS_MAX];
static int grant_count, early, failed;
static int per_worker[WORKERS_MAX];
static int64_t longest_urgent_us;
static int64_t urgent_us[1000];
static int urgent_count;
static const scene *now_playing;

static void wait_again(takt_fleet *f, void *data)
{
    job *j = data;

    if (j->worker->dead)
        return;
    j->since_us = f->now_us;
    takt_fleet_acquire(j->worker, 0, &j->permit, 0);
}

static void granted(takt_permit *permit, int status)
{
    job *j = permit->data;
    int64_t waited_us = fleet.now_us - j->since_us;

    failed += status != 0;
    early += permit->slot_at_us > fleet.now_us;
    cr_assert_lt(grant_count, GRANTS_MAX);
    grants[grant_count++] = (taken){permit->slot_at_us, 1};
    per_worker[j->worker->index]++;
    if (permit->priority > 0)
        takt_fleet_at(&fleet, fleet.now_us + 100, wait_again, j);
    else
        urgent_us[urgent_count++ % (int)COUNT(urgent_us)] = waited_us;
    if (permit->priority == 0 && waited_us > longest_urgent_us)
        longest_urgent_us = waited_us;
}

static job *new_job(takt_fleet_worker *worker, int8_t priority)
{
    job *j = calloc(1, sizeof *j);

    cr_assert_not_null(j);
    *j = (job){.worker = worker, .next = jobs};
    jobs = j;
    j->permit = (takt_permit){.data = j, .cost = 1, .priority = priority, .callback = granted};
    return j;
}

static void urgent_comes(takt_fleet *f, void *data)
{
    takt_fleet_worker *worker = data;
    int64_t mean_us = (int64_t)(1e6 / now_playing->urgent_rate);

    wait_again(f, new_job(worker, 0));
    takt_fleet_at(f, f->now_us + 1 + takt_random_below(&f->random, 2 * mean_us), urgent_comes,
                  worker);
}

static void crash(takt_fleet *f, void *data)
{
    (void)f;
    takt_fleet_crash(data);
}

static void play(const scene *s)
{
    now_playing = s;
    limit = limit_named(s->rate, SECOND, s->burst);
    limit.numbers.lookahead_us = LOOKAHEAD_US;
    grant_count = early = failed = 0;
    longest_urgent_us = urgent_count = 0;
    memset(per_worker, 0, sizeof per_worker);
    cr_assert_eq(takt_fleet_open(&fleet, &limit, s->workers, NOW, 1), 0);
    fleet.delay_min_us = s->delay_min_us;
    fleet.delay_max_us = s->delay_max_us;
    for (int w = s->urgent_rate > 0 ? 1 : 0; w < s->workers; w++)
        for (int i = 0; i < s->waiters; i++)
            takt_fleet_at(&fleet, NOW + w * 7919 % 10000, wait_again,
                          new_job(&fleet.workers[w], 5));
    if (s->urgent_rate > 0)
        takt_fleet_at(&fleet, NOW + SECOND, urgent_comes, &fleet.workers[0]);
    for (int i = 0; i < s->crashes; i++)
        takt_fleet_at(&fleet, NOW + 5 * SECOND, crash, &fleet.workers[i]);
    takt_fleet_run(&fleet, NOW + s->seconds * SECOND);
}

static void stop(void)
{
    takt_fleet_close(&fleet);
    while (jobs) {
        job *j = jobs;
        jobs = j->next;
        free(j);
    }
}

/* What must hold in every scene. */
static void check_promises(const scene *s)
{
    int broken = broken_promise(&limit.numbers.rules[0], grants, grant_count);

    cr_assert_eq(failed, 0, "%s", s->name);
    cr_assert_eq(early, 0, "%s: %d callbacks came early", s->name, early);
    cr_assert_eq(broken, -1, "%s: slot %d of %d", s->name, broken, grant_count);
    for (int i = 0, j = 0; i < grant_count; i++) {
        while (grants[i].slot_us - grants[j].slot_us >= SECOND)
            j++;
        cr_assert_leq(i - j + 1, s->rate + s->burst - 1, "%s: a second with %d", s->name,
                      i - j + 1);
    }
    cr_assert_leq((double)fleet.claims / grant_count, s->calls_per_grant,
                  "%s: %.3f calls per grant", s->name, (double)fleet.claims / grant_count);
}

/* From the first second on, each slot is an emission interval after the one before it. */
static void check_even(const scene *s)
{
    int64_t interval_us = SECOND / s->rate;

    for (int i = 1; i < grant_count; i++)
        if (grants[i - 1].slot_us >= NOW + SECOND)
            cr_assert_eq(grants[i].slot_us - grants[i - 1].slot_us, interval_us,
                         "%s: slot %d after %" PRId64 " us", s->name, i,
                         grants[i].slot_us - grants[i - 1].slot_us);
    cr_assert_geq(grants[grant_count - 1].slot_us,
                  NOW + s->seconds * SECOND - interval_us - 160 * MS, "%s", s->name);
}

/* Turns are even: living workers differ by at most the first lookahead, which few could share, and
 * one turn that some have had and others not yet; by three turns if urgent waiters take tokens of
 * other workers' turns and get slots handed on. */
static void check_fair(const scene *s)
{
    int min = GRANTS_MAX, max = 0;

    for (int i = s->crashes + (s->urgent_rate > 0); i < s->workers; i++) {
        min = per_worker[i] < min ? per_worker[i] : min;
        max = per_worker[i] > max ? per_worker[i] : max;
    }
    int64_t lookahead = s->rate * LOOKAHEAD_US / SECOND;
    int64_t first = s->burst > lookahead ? s->burst : lookahead;
    int64_t turn = lookahead / (s->workers < 8 ? s->workers : 8);
    cr_assert_leq(max - min, first + (s->urgent_rate > 0 ? 3 : 1) * turn + 3, "%s: %d to %d",
                  s->name, min, max);
}

/* The last column is the figure of the protocol's model and a tenth. */
Test(sim_fleet, the_rate_is_exact_and_even_whoever_shares_it)
{
    static const scene scenes[] = {
        {"1 worker", 1, 200, 1, 100, 2 * MS, 20, 50, 0, 0, 0.046},
        {"4 workers", 4, 200, 1, 100, 2 * MS, 20, 50, 0, 0, 0.093},
        {"16 workers", 16, 200, 1, 100, 2 * MS, 20, 50, 0, 0, 0.371},
        {"64 workers", 64, 200, 1, 100, 2 * MS, 20, 50, 0, 0, 1.117},
        {"256 workers", 256, 200, 1, 100, 2 * MS, 20, 50, 0, 0, 2.229},
        {"1 worker, many waiters", 1, 200, 1, 100, 2 * MS, 20, 1000, 0, 0, 0.046},
        {"4 workers, many waiters", 4, 200, 1, 100, 2 * MS, 20, 1000, 0, 0, 0.093},
        {"16 workers, 5000/s", 16, 5000, 1, 100, 2 * MS, 20, 2000, 0, 0, 0.0143},
        {"64 workers, 5/s", 64, 5, 1, 100, 2 * MS, 60, 50, 0, 0, 14.49},
        {"1 worker, long round trips", 1, 200, 1, 20 * MS, 80 * MS, 20, 1000, 0, 0, 0.046},
        {"16 workers, long round trips", 16, 200, 1, 20 * MS, 80 * MS, 20, 50, 0, 0, 0.370},
        {"64 workers, long round trips", 64, 200, 1, 20 * MS, 80 * MS, 20, 50, 0, 0, 1.115},
        {"16 workers, a burst of 100", 16, 10, 100, 100, 2 * MS, 20, 50, 0, 0, 1.523},
    };
    for (size_t i = 0; i < COUNT(scenes); i++) {
        play(&scenes[i]);
        check_promises(&scenes[i]);
        check_even(&scenes[i]);
        check_fair(&scenes[i]);
        stop();
    }
}

/* A saved burst is shared out within a round trip or two, not by lookaheads. */
Test(sim_fleet, a_burst_is_given_at_once)
{
    static const scene scenes[] = {
        {"1 worker", 1, 10, 1000, 100, 2 * MS, 20, 2000, 0, 0, 0.185},
        {"16 workers", 16, 10, 800, 100, 2 * MS, 20, 50, 0, 0, 1.523},
    };
    for (size_t i = 0; i < COUNT(scenes); i++) {
        play(&scenes[i]);
        check_promises(&scenes[i]);
        check_even(&scenes[i]);
        cr_assert_leq(grants[scenes[i].burst - 1].slot_us, NOW + 100 * MS, "%s", scenes[i].name);
        stop();
    }
}

Test(sim_fleet, workers_that_die_cost_no_more_than_a_lookahead)
{
    static const scene scenes[] = {
        {"3 of 16 die", 16, 200, 1, 100, 2 * MS, 20, 50, 3, 0, 0.373},
        {"15 of 16 die", 16, 200, 1, 100, 2 * MS, 20, 50, 15, 0, 0.176},
        {"15 of 16 die, long round trips", 16, 200, 1, 20 * MS, 80 * MS, 20, 50, 15, 0, 0.373},
    };
    for (size_t i = 0; i < COUNT(scenes); i++) {
        const scene *s = &scenes[i];
        /* and until the dead are known to be dead, one alone with long round trips does not fetch
         * all there is */
        int64_t lost_us = LOOKAHEAD_US + 4 * s->delay_max_us;
        play(s);
        check_promises(s);
        check_fair(s);
        int64_t in_time = grants[grant_count - 1].slot_us - NOW;
        cr_assert_geq(grant_count, s->rate * (in_time - lost_us) / SECOND, "%s: %d", s->name,
                      grant_count);
        for (int j = 1; j < grant_count; j++)
            cr_assert_leq(grants[j].slot_us - grants[j - 1].slot_us, LOOKAHEAD_US, "%s: slot %d",
                          s->name, j);
        stop();
    }
}

/*
 * An urgent waiter without a slot handed on waits for the end of the lookahead and a round trip,
 * until a slot is due; its claim may come too early for that slot, and is repeated after a
 * sixty-fourth of a lookahead. The last column is the measured figure plus a tenth.
 */
Test(sim_fleet, an_urgent_waiter_waits_no_longer_than_a_lookahead)
{
    static const scene scenes[] = {
        {"now and then", 16, 200, 1, 100, 2 * MS, 60, 50, 0, 2, 0.512},
        {"now and then, long round trips", 16, 200, 1, 20 * MS, 80 * MS, 60, 50, 0, 2, 0.530},
    };
    for (size_t i = 0; i < COUNT(scenes); i++) {
        const scene *s = &scenes[i];
        play(s);
        check_promises(s);
        check_fair(s);
        cr_assert_gt(per_worker[0], 80);
        cr_assert_leq(longest_urgent_us,
                      LOOKAHEAD_US + LOOKAHEAD_US / 64 + 2 * s->delay_max_us + SECOND / s->rate,
                      "%s: %" PRId64 " us", s->name, longest_urgent_us);
        stop();
    }
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Other workers hand on slots in hand: two emission intervals at the median, with at most twice the
 * calls. */
Test(sim_fleet, urgent_work_gets_slots_that_others_have_in_hand)
{
    static const struct {
        scene with, without;
    } pairs[] = {
        {{"1 other", 2, 50, 1, 100, 500, 300, 50, 0, 1, 9},
         {"1", 1, 50, 1, 100, 500, 300, 50, 0, 0, 9}},
        {{"4 others", 5, 50, 1, 100, 500, 300, 50, 0, 1, 9},
         {"4", 4, 50, 1, 100, 500, 300, 50, 0, 0, 9}},
        {{"16 others", 17, 50, 1, 100, 500, 300, 50, 0, 1, 9},
         {"16", 16, 50, 1, 100, 500, 300, 50, 0, 0, 9}},
        {{"4 others, 200/s", 5, 200, 1, 100, 500, 300, 50, 0, 2, 9},
         {"4", 4, 200, 1, 100, 500, 300, 50, 0, 0, 9}},
        {{"4 others, 3/s urgent", 5, 50, 1, 100, 500, 300, 50, 0, 3, 9},
         {"4", 4, 50, 1, 100, 500, 300, 50, 0, 0, 9}},
    };
    for (size_t i = 0; i < COUNT(pairs); i++) {
        const scene *s = &pairs[i].with;
        double without, with;
        int64_t median_us;
        play(&pairs[i].without);
        without = (double)fleet.claims / grant_count;
        stop();
        play(s);
        with = (double)fleet.claims / grant_count;
        qsort(urgent_us, (size_t)urgent_count, sizeof *urgent_us, by_size);
        median_us = urgent_us[urgent_count / 2];
        check_promises(s);
        cr_assert_leq(median_us, 2 * SECOND / s->rate, "%s: %" PRId64 " us", s->name, median_us);
        cr_assert_leq(with, 2 * without, "%s: %.3f calls per grant, %.3f without", s->name, with,
                      without);
        stop();
    }
}

Test(sim_fleet, the_same_seed_gives_the_same_simulation)
{
    static const scene s = {"twice", 16, 200, 1, 100, 2 * MS, 10, 50, 0, 2, 1};
    static taken first[GRANTS_MAX];
    int count;

    play(&s);
    stop();
    count = grant_count;
    memcpy(first, grants, (size_t)count * sizeof *grants);
    play(&s);
    stop();
    cr_assert_eq(grant_count, count);
    cr_assert_eq(memcmp(first, grants, (size_t)count * sizeof *grants), 0);
}
