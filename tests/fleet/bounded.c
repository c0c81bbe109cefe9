/*
 * bounded.c: fleets of nested work whose inner limits have max_waiting.
 *
 * After each claim no more waiters stand in an inner line than its bound allows, and none has left
 * while there was room on all levels; a waiter that has left has left all levels, and has cost no
 * token; and newcomers that are too many fail soon, also if their queue is parked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "checker.h"
#include "families.h"
#include "scenario.h"
#include "scheduler/nest.h"

#define SECOND_US INT64_C(1000000)
#define BEGIN_US  INT64_C(1763692800000000)
#define KEYS_MAX  400
#define JOBS_MAX  4000
#define LEVELS    3 /* account, domain, vendor: the last one is the outermost */
#define OUTERMOST (LEVELS - 1)

typedef struct job {
    takt_permit permit;
    takt_fleet_worker *worker;
    int key, priority;
    bool lasting; /* it comes again when it has started or failed */
} job;

static takt_fleet fleet;
static takt_limit limits[LEVELS];
static job jobs[JOBS_MAX];
static int job_count;
static uint64_t pauses; /* random */
static int64_t starts[KEYS_MAX], refused[KEYS_MAX], started_all;
static bool slow;    /* most of the work is parked, and the slots of the dead are missing */
static bool calm;    /* nothing but wake-ups is lost, so that no worker is silent */
static bool closing; /* no work comes any more */
static takt_standing peeked;

/* ---- what is checked ------------------------------------------------------------------------- */

static bool refuses(const takt_numbers *numbers)
{
    return numbers->max_waiting > 0 && !takt_numbers_drops(numbers);
}

/* Whether all levels with a bound refuse. */
static bool all_refuse(void)
{
    for (int level = 0; level < LEVELS; level++)
        if (takt_numbers_drops(&limits[level].numbers))
            return false;
    return true;
}

/* Two accounts share a domain. */
static void name_key(char name[16], int level, int key)
{
    snprintf(name, 16, "%c%d", level == 0 ? 'a' : 'd', level == 0 ? key : key / 2);
}

/* The waiters in a line; where others may be dropped those of late workers do not count, since they
 * cannot be told. */
static int64_t count_in(const takt_ledger *ledger, int64_t now_us)
{
    int64_t waiting = 0;

    for (int i = 0; i < ledger->line_count; i++) {
        const takt_place *place = &ledger->line[i];
        if (refuses(ledger->numbers) || !place->aside ||
            place->again_at_us + TAKT_LOOKAHEAD_US >= now_us)
            waiting += place->waiting;
    }
    return waiting;
}

static int64_t count_of(const takt_ledger *ledger, uint64_t worker)
{
    int64_t waiting = 0;

    for (int i = 0; i < ledger->line_count; i++)
        waiting += ledger->line[i].worker == worker ? ledger->line[i].waiting : 0;
    return waiting;
}

/* Whether a worker that claims now has more waiters in a line than before. */
static bool has_grown(const takt_ledger *ledger, uint64_t worker)
{
    for (int i = 0; i < ledger->line_count; i++)
        if (ledger->line[i].worker == worker && ledger->line[i].waiting > ledger->line[i].accepted)
            return true;
    return false;
}

/* Whether a level is full after a claim. */
static bool is_full(int level, int64_t now_us)
{
    const takt_record_scratch *scratch = &fleet.ledgers[0].store.scratch;
    const takt_ledger *ledger =
        level == OUTERMOST ? &scratch->ledger : &scratch->inner[level].ledger;

    return ledger->numbers->max_waiting > 0 &&
           count_in(ledger, now_us) >= ledger->numbers->max_waiting;
}

/* An inner level has dropped waiters of others only if it is full without them, or if a level
 * further out that drops after it is. */
static void check_dropped(const takt_award *award)
{
    for (int i = 0; i < award->wake_count; i++) {
        int level = award->wake_ledgers[i] - 1, outer = level;
        while (level >= 0 && outer < LEVELS &&
               !((outer == level || takt_numbers_drops(&limits[outer].numbers)) &&
                 is_full(outer, award->now_us)))
            outer++;
        if (outer == LEVELS)
            family_fail(5, "waiters of others leave", limits[level].name, award->wake_count, 0);
    }
}

static void check_claim(const takt_store_call *call)
{
    const takt_record_scratch *scratch = &fleet.ledgers[0].store.scratch;
    const takt_award *award = call->award;
    bool full = false, told = award->wake_count > 0;

    for (int level = 0; level < LEVELS; level++) {
        bool outermost = level == OUTERMOST;
        const takt_ledger *ledger = outermost ? &scratch->ledger : &scratch->inner[level].ledger;
        int64_t most = ledger->numbers->max_waiting, waiting = count_in(ledger, award->now_us);
        full = full || (most > 0 && waiting >= most);
        if (outermost || most == 0 || waiting <= most)
            continue;
        /* waiters of a worker that was silent, or whose slots were lost, were accepted */
        if (calm || !refuses(ledger->numbers) ||
            (award->refused < call->claim->newcomers && has_grown(ledger, call->claim->worker)))
            family_fail(5, "waiters", limits[level].name, waiting, most);
    }
    check_dropped(award);
    if (award->refused > 0 && !full)
        family_fail(5, "waiters leave", "there is room", award->refused, 0);
    if (told && !full && limits[OUTERMOST].numbers.max_waiting == 0)
        family_fail(5, "waiters of others leave", "there is room", award->wake_count, 0);
    if (count_of(&scratch->inner[0].ledger, call->claim->worker) !=
        count_of(&scratch->inner[1].ledger, call->claim->worker))
        family_fail(5, "the levels have counted different waiters", "a worker",
                    count_of(&scratch->inner[0].ledger, call->claim->worker),
                    count_of(&scratch->inner[1].ledger, call->claim->worker));
}

static void on_call(takt_fleet *of, uint64_t worker, const takt_store_call *call)
{
    (void)of;
    (void)worker;
    if (call->op == TAKT_OP_PEEK)
        peeked = call->standing;
    if (call->op == TAKT_OP_CLAIM && call->inner_count == LEVELS - 1 && !call->award->stale &&
        !call->award->unlisted)
        check_claim(call);
}

/* The waiters of a limit and key without a slot, of all workers; `counted`: those that an award has
 * counted. */
static int64_t count_waiting(int level, int key, bool counted)
{
    char name[16];
    int64_t waiting = 0;

    name_key(name, level, key);
    for (int w = 0; w < fleet.worker_count; w++) {
        takt_scheduler *scheduler = &fleet.workers[w].scheduler;
        takt_queue *queue = NULL;
        if (fleet.workers[w].dead)
            continue;
        while ((queue = takt_nest_next(scheduler, limits[level].name, name, queue)))
            waiting += takt_max((counted ? queue->waiters.counted : queue->waiters.total) -
                                    queue->in_hand.count,
                                0);
    }
    return waiting;
}

/* If messages were lost, a waiter whose slot was lost waits again where it was accepted. */
static void check_waiting(int keys, bool counted)
{
    for (int level = 0; level < OUTERMOST; level++)
        for (int key = 0; key < keys; key++) {
            int64_t most = limits[level].numbers.max_waiting;
            bool checked = most > 0 && (calm || !refuses(&limits[level].numbers));
            int64_t waiting = checked ? count_waiting(level, key, counted) : 0;
            if (waiting > most)
                family_fail(5, "waiters of all workers", limits[level].name, waiting, most);
        }
}

/* ---- the fleet ------------------------------------------------------------------------------- */

static void acquire(job *one)
{
    char account[16], domain[16];
    takt_chain chain = {.limits = {&limits[0], &limits[1], &limits[2]},
                        .keys = {account, domain, ""},
                        .costs = {1, 1, 1},
                        .count = LEVELS};

    name_key(account, 0, one->key);
    name_key(domain, 1, one->key);
    if (!takt_chain_is_nested(&chain))
        abort();
    one->permit.cost = 1;
    takt_fleet_acquire_nested(one->worker, 0, &one->permit, 0, &chain, NULL, 1);
}

static void started(takt_permit *permit, int status);

static void come_again(takt_fleet *of, void *data)
{
    job *one = data;

    (void)of;
    if (one->worker->dead || closing)
        return;
    if (one->worker->frozen_until_us > fleet.now_us) {
        takt_fleet_at(&fleet, one->worker->frozen_until_us, come_again, one);
        return;
    }
    one->permit =
        (takt_permit){.data = one, .callback = started, .priority = (int8_t)one->priority};
    acquire(one);
}

static void started(takt_permit *permit, int status)
{
    job *one = permit->data;

    if (status != 0 && status != TAKT_E_FULL)
        family_fail(5, "an acquire fails", "", status, 0);
    starts[one->key] += status == 0;
    refused[one->key] += status != 0;
    started_all += status == 0;
    if (one->lasting)
        takt_fleet_at(&fleet, fleet.now_us + 1 + draw(&pauses, status == 0 ? 50000 : SECOND_US),
                      come_again, one);
}

static void come(int worker, int key, int priority, int count, bool lasting)
{
    for (; count > 0; count--) {
        job *one = &jobs[job_count++];
        if (job_count > JOBS_MAX)
            abort();
        *one = (job){
            .worker = &fleet.workers[worker], .key = key, .priority = priority, .lasting = lasting};
        come_again(&fleet, one);
    }
}

/* `most`: of its waiters; 0: it has no bound. */
static void set_limit(int level, const char *name, int64_t tokens, int64_t period_us, int64_t burst,
                      int64_t most)
{
    takt_limit *limit = &limits[level];

    *limit = (takt_limit){.default_weight = 1};
    strcpy(limit->name, name);
    limit->within = level < OUTERMOST ? &limits[level + 1] : NULL;
    limit->numbers.lookahead_us = TAKT_LOOKAHEAD_US;
    limit->numbers.max_waiting = most;
    family_set_rule(&limit->numbers, tokens, period_us, burst);
}

static void choose(takt_when_full chosen)
{
    for (int level = 0; level < LEVELS; level++)
        if (limits[level].numbers.max_waiting > 0)
            limits[level].numbers.when_full = chosen;
}

static void open_fleet(int workers, int64_t delay_us, uint64_t seed)
{
    family_open(&fleet, &limits[OUTERMOST], workers, BEGIN_US, delay_us, seed);
    fleet.on.call = on_call;
    job_count = 0;
    started_all = 0;
    pauses = seed;
    calm = closing = false;
    memset(starts, 0, sizeof starts);
    memset(refused, 0, sizeof refused);
}

static void close_fleet(void)
{
    scenario_total.calls += fleet.claims;
    scenario_total.started += started_all;
    takt_fleet_close(&fleet);
}

/* ---- figures --------------------------------------------------------------------------------- */

/* An account may have 20 starts an hour, and three waiters: of 100 jobs 77 fail at once. They have
 * cost nothing, on any level. */
static void refused_work_costs_nothing(int64_t delay_us, uint64_t seed)
{
    set_limit(0, "account", 20, 3600 * SECOND_US, 20, 3);
    set_limit(1, "domain", 1000, 86400 * SECOND_US, 1000, 0);
    set_limit(OUTERMOST, "vendor", 100, SECOND_US, 1, 0);
    choose(TAKT_WHEN_FULL_REFUSE);
    open_fleet(4, delay_us, seed);
    for (int w = 0; w < 4; w++)
        come(w, 0, 5, 25, false);
    takt_fleet_run(&fleet, BEGIN_US + 3 * SECOND_US);
    if (starts[0] != 20 || refused[0] != 77)
        family_fail(5, "starts, and failures of 77", "account 0", starts[0], refused[0]);
    takt_fleet_call_inner(&fleet.workers[0], 0, &limits[1], "d0", TAKT_OP_PEEK, 0);
    takt_fleet_run(&fleet, BEGIN_US + 4 * SECOND_US);
    if (peeked.remaining != 1000 - 20)
        family_fail(5, "tokens of the domain", "domain 0", peeked.remaining, 980);
    takt_fleet_call_inner(&fleet.workers[0], 0, &limits[0], "a0", TAKT_OP_PEEK, 0);
    takt_fleet_run(&fleet, BEGIN_US + 5 * SECOND_US);
    if (peeked.waiting != 3)
        family_fail(5, "waiters", "account 0", peeked.waiting, 3);
    close_fleet();
}

/* A queue that is parked for half a minute states its newcomers at once. */
static void newcomers_of_a_parked_queue(int64_t delay_us, uint64_t seed)
{
    set_limit(0, "account", 1, 3600 * SECOND_US, 1, 3);
    set_limit(1, "domain", 50, SECOND_US, 1, 0);
    set_limit(OUTERMOST, "vendor", 100, SECOND_US, 1, 0);
    choose(TAKT_WHEN_FULL_REFUSE);
    open_fleet(2, delay_us, seed);
    calm = true;
    come(0, 0, 5, 3, false);
    come(1, 0, 5, 1, false);
    takt_fleet_run(&fleet, BEGIN_US + SECOND_US);
    come(0, 0, 5, 2, false);
    takt_fleet_run(&fleet, BEGIN_US + SECOND_US + SECOND_US / 10 + 4 * delay_us);
    if (starts[0] != 1 || refused[0] != 2)
        family_fail(5, "failures", "account 0", refused[0], 2);
    check_waiting(1, false);
    close_fleet();
}

/* More keys than a ledger can tell apart: what no line has counted is not accepted. Of six that
 * come together two may start at once, and two may wait. */
static void too_many_keys(int64_t delay_us, uint64_t seed)
{
    set_limit(0, "account", 5, SECOND_US, 1, 2);
    set_limit(1, "domain", 1000, SECOND_US, 1, 0);
    set_limit(OUTERMOST, "vendor", 100, SECOND_US, 1, 0);
    choose(TAKT_WHEN_FULL_REFUSE);
    open_fleet(12, delay_us, seed);
    for (int key = 0; key < 360; key++)
        come(key % 12, key, 5, 6, false);
    takt_fleet_run(&fleet, BEGIN_US + 25 * SECOND_US);
    for (int key = 0; key < 360; key++) {
        if (starts[key] < 2 || starts[key] > 4)
            family_fail(5, "starts", "of one of many keys", starts[key], 4);
        if (starts[key] + refused[key] != 6)
            family_fail(5, "starts and failures", "of one of many keys", starts[key] + refused[key],
                        6);
    }
    close_fleet();
}

/* Of several that come at about the same time to a queue that is parked the last one stays. The
 * others hear of it at once, also if their claims are under way when they leave. */
static void those_that_leave_together(int64_t delay_us, uint64_t seed)
{
    uint64_t random = seed;
    int come_so_far = 0;

    set_limit(0, "account", 1, 3600 * SECOND_US, 1, 1);
    set_limit(1, "domain", 50, SECOND_US, 1, 0);
    set_limit(OUTERMOST, "vendor", 100, SECOND_US, 1, 0);
    choose(TAKT_WHEN_FULL_DROP_OLDEST);
    open_fleet(4, delay_us, seed);
    for (int round = 0; round < 100; round++) {
        for (int w = 0; w < 4; w++, come_so_far++) {
            takt_fleet_run(&fleet, fleet.now_us + draw(&random, delay_us + 1));
            come(w, 0, 5, 1, false);
        }
        takt_fleet_run(&fleet, fleet.now_us + SECOND_US);
        if (starts[0] != 1 || refused[0] != come_so_far - 2)
            family_fail(5, "failures", "account 0", refused[0], come_so_far - 2);
        check_waiting(1, false);
    }
    close_fleet();
}

/* The accounts drop their oldest waiters, and the domain of both refuses. Worker 1 sleeps while
 * worker 2 takes the place of one of its two waiters. When it wakes, worker 2 is late, so that
 * there is a place for both again. The domain has counted both all the time, and has refused
 * another. */
static void dropped_while_asleep(int64_t delay_us, uint64_t seed)
{
    set_limit(0, "account", 1, 3600 * SECOND_US, 1, 2);
    set_limit(1, "domain", 50, SECOND_US, 1, 4);
    set_limit(OUTERMOST, "vendor", 100, SECOND_US, 1, 0);
    limits[0].numbers.when_full = TAKT_WHEN_FULL_DROP_OLDEST;
    open_fleet(3, delay_us, seed);
    calm = true;
    come(0, 0, 5, 1, false);
    come(0, 1, 5, 1, false);
    takt_fleet_run(&fleet, BEGIN_US + SECOND_US);
    come(1, 0, 5, 2, false);
    takt_fleet_run(&fleet, BEGIN_US + 2 * SECOND_US);
    takt_fleet_freeze(&fleet.workers[1], BEGIN_US + 34 * SECOND_US);
    come(2, 0, 5, 1, false);
    takt_fleet_run(&fleet, BEGIN_US + 3 * SECOND_US);
    takt_fleet_freeze(&fleet.workers[2], BEGIN_US + 37 * SECOND_US);
    come(0, 1, 5, 2, false);
    takt_fleet_run(&fleet, BEGIN_US + 36 * SECOND_US);
    if (refused[0] != 0 || refused[1] != 1)
        family_fail(5, "failures", "of both accounts", refused[0] + refused[1], 1);
    takt_fleet_run(&fleet, BEGIN_US + 40 * SECOND_US);
    if (refused[0] != 1 || refused[1] != 1)
        family_fail(5, "failures", "of both accounts at last", refused[0] + refused[1], 2);
    check_waiting(2, false);
    close_fleet();
}

static const family_figure figures[] = {refused_work_costs_nothing, newcomers_of_a_parked_queue,
                                        too_many_keys, those_that_leave_together,
                                        dropped_while_asleep};

#define FIGURES (sizeof figures / sizeof *figures)

/* ---- fleets at random ------------------------------------------------------------------------ */

static const storm_kind long_storm = {.wakes_lost = 500,
                                      .step_us = 2 * SECOND_US,
                                      .freezes = 50,
                                      .frozen_us = 4 * SECOND_US,
                                      .crashes = 40,
                                      .rest_us = 4 * SECOND_US};

static int64_t draw_most(uint64_t *random, int percent)
{
    return chance(random, percent) ? 1 + draw(random, chance(random, 50) ? 4 : 20) : 0;
}

/* In half of the fleets most work is parked. */
static void draw_limits(uint64_t *random)
{
    static const takt_when_full choices[] = {TAKT_WHEN_FULL_REFUSE, TAKT_WHEN_FULL_DROP_OLDEST,
                                             TAKT_WHEN_FULL_DROP_LOWEST};

    slow = chance(random, 50);
    set_limit(0, "account", slow ? 20 : 5 + draw(random, 30), slow ? 3600 * SECOND_US : SECOND_US,
              slow ? 5 : 1, draw_most(random, 70));
    set_limit(1, "domain", 20 + draw(random, 50), SECOND_US, 1,
              limits[0].numbers.max_waiting > 0 ? draw_most(random, 50) : draw_most(random, 100));
    set_limit(OUTERMOST, "vendor", 100, SECOND_US, 1, draw_most(random, 15));
    choose(choices[draw(random, 3)]);
    for (int level = 0; level < LEVELS; level++)
        if (chance(random, 40) && limits[level].numbers.max_waiting > 0)
            limits[level].numbers.when_full = choices[draw(random, 3)];
}

/* Worker 0 has work of every key, and lives. */
static void any_bounded(uint64_t seed)
{
    static const int64_t delays_us[] = {0, 500, 2000, 8000};
    uint64_t random = seed * 2654435761U + 41;
    int workers = 1 + (int)draw(&random, 5), keys = 1 + (int)draw(&random, 8);
    bool unwoken;

    draw_limits(&random);
    open_fleet(workers, delays_us[draw(&random, 4)], seed);
    calm = !chance(&random, 60);
    unwoken = calm && chance(&random, 50); /* dropped waiters are told late */
    if (unwoken)
        fleet.wakes_lost_per_mille = 200 + (int)draw(&random, 800);
    for (int i = 0; i < keys; i++)
        for (int w = 0; w < workers; w++)
            if (w == 0 || chance(&random, 50))
                come(w, i, chance(&random, 70) ? 5 : 7, 1 + (int)draw(&random, 12), true);
    if (!calm) {
        family_storm(&fleet, &long_storm, 0, NULL, &random);
        takt_fleet_run(&fleet, fleet.now_us + 10 * SECOND_US);
    }
    for (int i = 0; i < 20; i++) {
        takt_fleet_run(&fleet, fleet.now_us + SECOND_US / 10 + draw(&random, SECOND_US / 10));
        if (calm && all_refuse())
            check_waiting(keys, true);
    }
    closing = true;
    fleet.wakes_lost_per_mille = 0;
    takt_fleet_run(&fleet, fleet.now_us + (calm && !unwoken ? 3 : 40) * SECOND_US);
    check_waiting(keys, false);
    for (int i = 0; !slow && i < keys;
         i += 2) /* each domain: its accounts may wait behind each other */
        if (starts[i] + starts[i + 1] < 1)
            family_fail(5, "it does not go on", "a domain", starts[i] + starts[i + 1], 1);
    close_fleet();
}

static void run_one(uint64_t seed)
{
    uint64_t kind = seed / 7 % (20 * FIGURES); /* figures take ten times as long as the others */

    if (kind < FIGURES)
        figures[kind]((int64_t)(seed / 420 % 7) * 800, seed);
    else
        any_bounded(seed);
}

static void run_figures(void)
{
    family_run_figures(figures, FIGURES);
}

const family bounded_family = {.each = 7, .run = run_one, .run_figures = run_figures};
