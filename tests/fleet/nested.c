/*
 * nested.c: fleets whose work is of keys of an inner limit (accounts), within one outer limit.
 *
 * Of each level the slots keep the rule, also after blocks, crashes and lost messages (promise 1),
 * nothing starts before its slot (2), accounts that wait get equal parts (4), and no slot is wasted
 * (5).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "checker.h"
#include "families.h"
#include "scenario.h"

#define SECOND_US    INT64_C(1000000)
#define BEGIN_US     INT64_C(1763692800000000)
#define ACCOUNTS_MAX 10000
#define STARTS_MAX   200000
#define WORKERS_MAX  12
#define SHADOW_EACH  20 /* seeds at random have limits in shadow */

typedef struct account {
    char key[24];
    const takt_limit *limit;
    int same_as;     /* the first account with this key */
    int64_t starts;  /* between from_us and until_us */
    int64_t last_us; /* its last slot */
    int64_t rounds;  /* all its starts */
} account;

typedef struct job {
    takt_permit permit;
    takt_fleet_worker *worker;
    account *of;
    bool lasting; /* another one takes its place */
} job;

typedef struct start {
    int64_t slot_us;
    const account *of;
} start;

static takt_fleet fleet;
static takt_limit outer, inner, loose; /* loose: an inner limit that never holds up */
static takt_limit seen, seen_inner;    /* in shadow */
static bool shaded;                    /* all work passes those when it starts */
static int64_t begun[WORKERS_MAX];     /* starts by worker */
static account *accounts;
static int account_count;
static job *jobs;
static int job_count, job_capacity;
static start *starts;
static int start_count, refused;
static int64_t from_us, until_us; /* of the store's clock: which slots count */
static takt_standing peeked;

/* ---- the fleet ------------------------------------------------------------------------------- */

static void set_limit(takt_limit *limit, const char *name, int64_t tokens, int64_t period_us,
                      int64_t burst)
{
    *limit = (takt_limit){.default_weight = 1};
    strcpy(limit->name, name);
    limit->within = limit == &outer ? NULL : &outer;
    limit->numbers.lookahead_us = TAKT_LOOKAHEAD_US;
    family_set_rule(&limit->numbers, tokens, period_us, burst);
}

static void on_call(takt_fleet *of, uint64_t worker, const takt_store_call *call)
{
    (void)of;
    (void)worker;
    if (call->op == TAKT_OP_PEEK)
        peeked = call->standing;
    if (call->op != TAKT_OP_CLAIM)
        return;
    if (call->claim->want_count > 0 && call->inner_count == 0 && call->claim->tenant)
        family_fail(1, "a claim without its inner limit", call->claim->tenant, 0, 1);
    if (call->award->parked && call->award->in_line != 0)
        family_fail(4, "a parked claim in line", call->claim->tenant, call->award->in_line, 0);
}

static void open_accounts(int workers, int count, int64_t rate, int64_t inner_rate,
                          int64_t delay_us, uint64_t seed)
{
    set_limit(&outer, "vendor", rate, SECOND_US, 1);
    set_limit(&inner, "account", inner_rate, SECOND_US, 1);
    set_limit(&loose, "free", 1000 * rate, SECOND_US, 1000 * rate);
    family_open(&fleet, &outer, workers, BEGIN_US, delay_us, seed);
    fleet.on.call = on_call;
    account_count = count;
    accounts = calloc((size_t)count, sizeof *accounts);
    starts = calloc(STARTS_MAX, sizeof *starts);
    job_capacity = 150000;
    jobs = calloc((size_t)job_capacity, sizeof *jobs);
    if (!jobs || !accounts || !starts)
        abort();
    for (int i = 0; i < count; i++) {
        accounts[i].limit = &inner;
        accounts[i].same_as = i;
        snprintf(accounts[i].key, sizeof accounts[i].key, "account %d", i);
    }
    job_count = start_count = refused = 0;
    shaded = false;
    memset(begun, 0, sizeof begun);
    from_us = BEGIN_US + 5 * SECOND_US;
    until_us = INT64_MAX;
}

static void close_accounts(void)
{
    scenario_total.calls += fleet.claims;
    scenario_total.started += start_count;
    takt_fleet_close(&fleet);
    free(jobs);
    free(starts);
    free(accounts);
}

static void acquire(job *one, int64_t max_wait_us);

static void started(takt_permit *permit, int status)
{
    job *one = permit->data;
    int64_t slot_us = permit->slot_at_us;

    if (status == TAKT_E_DEADLINE) {
        refused++;
        return;
    }
    family_check_start(&fleet, permit, status, one->of->key);
    if (start_count == STARTS_MAX)
        abort();
    starts[start_count++] = (start){slot_us, one->of};
    begun[one->worker->index]++;
    one->of->rounds++;
    if (slot_us >= from_us && slot_us < until_us)
        one->of->starts++;
    if (one->lasting)
        acquire(one, 0);
}

static void acquire(job *one, int64_t max_wait_us)
{
    takt_chain chain = {.limits = {one->of->limit, &outer},
                        .keys = {one->of->key, ""},
                        .costs = {1, 1},
                        .count = 2};

    one->permit = (takt_permit){
        .data = one, .callback = started, .cost = 1, .priority = TAKT_PRIORITY_DEFAULT};
    if (shaded)
        takt_fleet_pass_shadow(one->worker, 1, &one->permit,
                               &(takt_chain){.limits = {&seen_inner, &seen},
                                             .keys = {one->of->key, ""},
                                             .costs = {1, 1},
                                             .count = 2});
    if (one->of->limit == &outer)
        takt_fleet_acquire(one->worker, 0, &one->permit, max_wait_us);
    else
        takt_fleet_acquire_nested(one->worker, 0, &one->permit, max_wait_us, &chain, NULL, 1);
}

static void come_until(int worker, int of, int64_t count, bool lasting, int64_t max_wait_us)
{
    for (; count > 0; count--) {
        job *one = &jobs[job_count++];
        if (job_count > job_capacity)
            abort();
        *one = (job){.worker = &fleet.workers[worker], .of = &accounts[of], .lasting = lasting};
        acquire(one, max_wait_us);
    }
}

static void come(int worker, int of, int64_t count, bool lasting)
{
    come_until(worker, of, count, lasting, 0);
}

/* ---- what is checked ------------------------------------------------------------------------- */

static int by_slot(const void *a, const void *b)
{
    const start *x = a, *y = b;

    return (x->slot_us > y->slot_us) - (x->slot_us < y->slot_us);
}

static void check_apart(int64_t slot_us, int64_t before_us, const takt_limit *limit,
                        const char *who)
{
    const takt_rule *rule = &limit->numbers.rules[0];

    if (rule->burst == 1 && before_us != 0 &&
        (slot_us - before_us + 1) * rule->limit < rule->period_us)
        family_fail(1, "two slots too close", who, slot_us - before_us,
                    rule->period_us / rule->limit);
}

/* The rules of all levels hold: their slots are an interval apart. */
static void check_rules(void)
{
    qsort(starts, (size_t)start_count, sizeof *starts, by_slot);
    for (int i = 0; i < account_count; i++)
        accounts[i].last_us = 0;
    for (int i = 0; i < start_count; i++) {
        account *of = &accounts[starts[i].of->same_as];
        check_apart(starts[i].slot_us, i > 0 ? starts[i - 1].slot_us : 0, &outer, "all");
        check_apart(starts[i].slot_us, of->last_us, of->limit, of->key);
        of->last_us = starts[i].slot_us;
    }
}

static int64_t count_starts(void)
{
    int64_t all = 0;

    for (int i = 0; i < account_count; i++)
        all += accounts[i].starts;
    return all;
}

/* Runs for that many seconds behind from_us.  Of the rate that the work can have at least so many
 * thousandths are used, and the accounts' starts differ by that many at most. */
static void check_parts(int64_t rate, int64_t seconds, int64_t thousandths, int64_t apart)
{
    int64_t all, least = INT64_MAX, most = 0;

    until_us = from_us + seconds * SECOND_US;
    takt_fleet_run(&fleet, until_us + SECOND_US);
    check_rules();
    all = count_starts();
    if (all * 1000 < rate * seconds * thousandths - 1000)
        family_fail(5, "the rate is not used", "all", all, rate * seconds);
    for (int i = 0; i < account_count; i++) {
        least = takt_min(least, accounts[i].starts);
        most = takt_max(most, accounts[i].starts);
    }
    if (most - least > apart)
        family_fail(4, "not an equal part", "the least and the most", least, most);
}

/* ---- figures --------------------------------------------------------------------------------- */

/* No more calls a start than that many hundredths. */
static void check_scripts(const char *of, int64_t hundredths)
{
    if (100 * fleet.scripts > hundredths * start_count)
        family_fail(3, "calls for a hundred starts", of, 100 * fleet.scripts / start_count,
                    hundredths);
}

/* 100 accounts of 5/s inside 100/s on eight workers.  One limit of that rate needs 0.33 calls a
 * start. */
static void hundred_accounts(int64_t delay_us, uint64_t seed)
{
    open_accounts(8, 100, 100, 5, delay_us, seed);
    for (int i = 0; i < 100; i++)
        come(i % 8, i, 4, true);
    check_parts(100, 20, 999, 1);
    check_scripts("a hundred accounts", 25);
    close_accounts();
}

/* The same, each on one worker or on several.  Claims of one round may change places, so at either
 * end of the time an account has a start more or less. */
static void shared_accounts(int64_t delay_us, uint64_t seed)
{
    open_accounts(8, 100, 100, 5, delay_us, seed);
    for (int i = 0; i < 100; i++)
        for (int w = 0; w <= i % 3; w++)
            come((i * 5 + w) % 8, i, 4, true);
    check_parts(100, 20, 999, 2);
    check_scripts("accounts on up to three workers", 45);
    close_accounts();
}

/* Most of them on one worker, of which 32 stand in line at once.  With trips of 2 ms or more claims
 * of one round change places, as above; over more seconds accounts differ by no more. */
static void spread_unevenly(int64_t delay_us, uint64_t seed)
{
    open_accounts(8, 100, 100, 5, delay_us, seed);
    for (int i = 0; i < 100; i++)
        come(i < 70 ? 0 : i % 8, i, 4, true);
    check_parts(100, 20, 999, delay_us < 2000 ? 1 : 2);
    if (10 * fleet.claims > 23 * start_count)
        family_fail(3, "claims for ten starts", "accounts of one worker",
                    10 * fleet.claims / start_count, 23);
    close_accounts();
}

/* One worker has all of them, and half are on other workers as well. */
static void half_on_others(int64_t delay_us, uint64_t seed)
{
    open_accounts(8, 100, 100, 5, delay_us, seed);
    for (int i = 0; i < 100; i++) {
        come(0, i, 4, true);
        if (i >= 50)
            come(1 + i % 7, i, 4, true);
    }
    check_parts(100, 20, 999, 2);
    close_accounts();
}

static void one_with_many(int64_t delay_us, uint64_t seed)
{
    open_accounts(8, 100, 100, 5, delay_us, seed);
    come(0, 0, 100000, false);
    for (int i = 1; i < 100; i++)
        come(i % 8, i, 4, true);
    check_parts(100, 20, 999, 2);
    close_accounts();
}

/* Eight workers have work of one key, each as an account of its own, and the trips of the first
 * ones are always the shortest.  A worker with work of another key has the rest of the rate. */
static void one_key(int64_t rate, int64_t inner_rate, int64_t delay_us, uint64_t seed)
{
    int64_t least = INT64_MAX, most = 0, all = 0, whole = 40 * takt_min(inner_rate, rate);

    open_accounts(9, 9, rate, inner_rate, delay_us, seed);
    for (int i = 0; i < 8; i++) {
        snprintf(accounts[i].key, sizeof accounts[i].key, "account 0");
        accounts[i].same_as = 0;
        fleet.workers[i].far_us = i * delay_us / 8;
        come(i, i, 4, true);
    }
    accounts[8].limit = &loose;
    if (inner_rate < rate)
        come(8, 8, 20, true);
    until_us = from_us + 40 * SECOND_US;
    takt_fleet_run(&fleet, until_us + SECOND_US);
    check_rules();
    for (int i = 0; i < 8; i++) {
        all += accounts[i].starts;
        least = takt_min(least, accounts[i].starts);
        most = takt_max(most, accounts[i].starts);
    }
    if (all < whole * 995 / 1000 - 1)
        family_fail(5, "the rate of a key is not used", accounts[0].key, all, whole);
    if (all + accounts[8].starts < 40 * rate * 995 / 1000)
        family_fail(5, "the rate is not used", "all", all + accounts[8].starts, 40 * rate);
    if (most - least > takt_max(1, all / 8 / 50))
        family_fail(4, "the workers of one key have no equal parts", accounts[0].key, least, most);
    if (inner_rate < rate && fleet.claims > 3 * start_count / 2)
        family_fail(5, "claims", "the workers of one key", fleet.claims, 3 * start_count / 2);
    close_accounts();
}

/* Each of two workers has many keys with one job: they come into line all the time, and no worker's
 * go before the other's. */
static void fresh_keys(int64_t delay_us, uint64_t seed)
{
    int64_t of[2] = {0, 0};

    open_accounts(2, 4000, 50, 50, delay_us, seed);
    for (int i = 0; i < account_count; i++)
        come(i / 2000, i, 1, false);
    until_us = from_us + 20 * SECOND_US;
    takt_fleet_run(&fleet, until_us);
    check_rules();
    for (int i = 0; i < account_count; i++)
        of[i / 2000] += accounts[i].starts;
    if (of[0] + of[1] < 20 * 50 * 98 / 100)
        family_fail(5, "the rate is not used", "fresh keys", of[0] + of[1], 20 * 50);
    if (100 * llabs(of[0] - of[1]) > 4 * (of[0] + of[1]))
        family_fail(4, "not an equal part", "the workers of fresh keys", of[0], of[1]);
    close_accounts();
}

/* Each of eight workers has work of both keys, and a ninth one has the rest of the rate.  Claims
 * that wait for others of their worker lose no slots. */
static void two_keys(int64_t delay_us, uint64_t seed)
{
    int64_t all = 0;

    open_accounts(9, 17, 400, 100, delay_us, seed);
    for (int i = 0; i < 16; i++) {
        snprintf(accounts[i].key, sizeof accounts[i].key, "account %d", i % 2);
        accounts[i].same_as = i % 2;
        fleet.workers[i / 2].far_us = i / 2 * delay_us / 8;
        come(i / 2, i, 4, true);
    }
    accounts[16].limit = &loose;
    come(8, 16, 20, true);
    until_us = from_us + 40 * SECOND_US;
    takt_fleet_run(&fleet, until_us + SECOND_US);
    check_rules();
    for (int i = 0; i < 16; i++)
        all += accounts[i].starts;
    if (all < 40 * 200 * 98 / 100)
        family_fail(5, "the rate of two keys is not used", accounts[0].key, all, 40 * 200);
    if (all + accounts[16].starts < 40 * 400 * 98 / 100)
        family_fail(5, "the rate is not used", "all", all + accounts[16].starts, 40 * 400);
    close_accounts();
}

static void workers_of_one_key(int64_t delay_us, uint64_t seed)
{
    one_key(50, 1, delay_us, seed);
    one_key(50, 5, delay_us, seed);
    one_key(200, 100, delay_us, seed);
    one_key(20, 50, delay_us, seed);
}

/* Each of eight workers has work of each of eight keys.  A claim brings one slot at most.  A turn
 * of a key has three slots, an eighth of a lookahead's, so at the ends of the time a key may be a
 * turn ahead of another; over more seconds keys differ by no more. */
static void keys_on_all(int64_t delay_us, uint64_t seed)
{
    open_accounts(8, 8, 100, 50, delay_us, seed);
    for (int i = 0; i < 64; i++)
        come(i % 8, i / 8, 10, true);
    check_parts(100, 20, 999, 3);
    check_scripts("eight keys on eight workers", 30);
    close_accounts();
}

/* So many workers have work of each of so many keys, which have the rate of all. */
static void few_keys(int workers, int keys, int64_t rate, int64_t inner_rate, int waiters,
                     int64_t hundredths, int64_t thousandths, int64_t delay_us, uint64_t seed)
{
    open_accounts(workers, keys, rate, inner_rate, delay_us, seed);
    for (int i = 0; i < keys; i++)
        for (int w = 0; w < workers; w++)
            come(w, i, waiters, true);
    check_parts(takt_min(rate, keys * inner_rate), 20, thousandths, keys > 1 ? 20 : 0);
    check_scripts("few keys", hundredths);
    close_accounts();
}

/* Each on a worker of its own, so that none has long turns: their slots would leave each other only
 * instants at which they are not due. */
static void unlike_keys(int64_t delay_us, uint64_t seed)
{
    static const int64_t rates[] = {25, 20, 10, 5};
    static takt_limit limits[4];

    open_accounts(4, 4, 100, 5, delay_us, seed);
    for (int i = 0; i < 4; i++) {
        char name[] = "account 0";
        name[8] = (char)('0' + i);
        set_limit(&limits[i], name, rates[i], SECOND_US, 1);
        accounts[i].limit = &limits[i];
        come(i, i, 20, true);
    }
    check_parts(60, 20, 935, INT64_MAX);
    close_accounts();
}

/* By its lookahead claims for a turn of several slots would come too late. */
static void shorter_lookahead_inside(int64_t delay_us, uint64_t seed)
{
    open_accounts(1, 2, 100, 20, delay_us, seed);
    inner.numbers.lookahead_us = SECOND_US / 50;
    come(0, 0, 50, true);
    come(0, 1, 50, true);
    check_parts(40, 20, 990, 1);
    close_accounts();
}

/* The smallest fleets.  A limit without levels needs 0.17 calls a start for 50/s on one worker,
 * 0.08 for 100/s, and 1.0 for 50/s on eight, of which each has one slot in a turn. */
static void small_fleets(int64_t delay_us, uint64_t seed)
{
    few_keys(1, 1, 100, 50, 100, 18, 999, delay_us, seed);
    few_keys(1, 3, 100, 20, 20, 15, 999, delay_us, seed);
    few_keys(1, 10, 100, 50, 10, 14, 999, delay_us, seed);
    few_keys(1, 10, 100, 5, 10, 21, 990, delay_us, seed);
    few_keys(1, 30, 100, 50, 10, 14, 999, delay_us, seed);
    few_keys(1, 5, 333, 25, 20, 35, 990, delay_us, seed);
    few_keys(2, 10, 100, 50, 10, 30, 999, delay_us, seed);
    few_keys(8, 1, 100, 50, 4, 105, 999, delay_us, seed);
    few_keys(8, 1, 100, 50, 10, 105, 999, delay_us, seed);
    few_keys(8, 2, 400, 100, 10, 25, 930, delay_us, seed);
}

/* Few accounts: what the inner rules give is the whole. */
static void paced_inside(int64_t delay_us, uint64_t seed)
{
    open_accounts(4, 10, 100, 5, delay_us, seed);
    for (int i = 0; i < 10; i++)
        for (int w = 0; w < 1 + i % 2; w++)
            come((i + w) % 4, i, 4, true);
    check_parts(50, 20, 990, 1);
    close_accounts();
    small_fleets(delay_us, seed);
    unlike_keys(delay_us, seed);
    shorter_lookahead_inside(delay_us, seed);
}

/* All keys have a turn before most have a second one. */
static void come_with_keys(int count, int64_t delay_us, uint64_t seed)
{
    int64_t keys = 0;

    open_accounts(1, count, 1000, 5, delay_us, seed);
    for (int i = 0; i < count; i++)
        come(0, i, 2, false);
    takt_fleet_run(&fleet, BEGIN_US + count * SECOND_US / 1000);
    for (int i = 0; i < count; i++)
        keys += accounts[i].rounds > 0;
    if (start_count < count * 99 / 100)
        family_fail(5, "the rate is not used", "many keys", start_count, count);
    if (keys < count * 9 / 10 - 500)
        family_fail(4, "keys that had a turn", "many keys", keys, count);
    if (fleet.claims > 4 * start_count)
        family_fail(5, "claims", "many keys", fleet.claims, 4 * start_count);
    check_rules();
    close_accounts();
}

static void many_keys(int64_t delay_us, uint64_t seed)
{
    come_with_keys(10000, delay_us, seed);
}

static void some_keys(int64_t delay_us, uint64_t seed)
{
    come_with_keys(2000, delay_us, seed);
}

/* More keys wait than a ledger can tell apart: those that do not fit ask now and then. */
static void too_many_keys(int64_t delay_us, uint64_t seed)
{
    open_accounts(12, 360, 100, 5, delay_us, seed);
    for (int i = 0; i < 360; i++)
        come(i % 12, i, 2, false);
    takt_fleet_run(&fleet, BEGIN_US + 15 * SECOND_US);
    if (start_count != 720)
        family_fail(5, "starts", "too many keys", start_count, 720);
    if (fleet.claims > 6 * start_count)
        family_fail(5, "claims", "too many keys", fleet.claims, 6 * start_count);
    check_rules();
    close_accounts();
}

/* After a block of 8 s, while the outer limit keeps its pace. */
static void keeps_its_rate_after_block(void)
{
    takt_fleet_call(&fleet.workers[0], 0, TAKT_OP_BLOCK, 8 * SECOND_US);
    from_us = fleet.now_us + 9 * SECOND_US;
    until_us = from_us + 6 * SECOND_US;
    for (int i = 0; i < account_count; i++)
        accounts[i].starts = 0;
    takt_fleet_run(&fleet, until_us + SECOND_US);
    check_rules();
    if (accounts[0].starts < 29)
        family_fail(5, "the domain has not its rate after a block", "account 0", accounts[0].starts,
                    30);
    if (count_starts() < 298)
        family_fail(5, "the rate is not used after a block", "all", count_starts(), 300);
}

/* A domain of 5/s in 50/s, beside 240 of others on another worker. */
static void domain_beside_many(int64_t delay_us, uint64_t seed)
{
    open_accounts(2, 2, 50, 5, delay_us, seed);
    accounts[1].limit = &loose;
    come(0, 1, 240, true);
    takt_fleet_run(&fleet, BEGIN_US + SECOND_US);
    come(1, 0, 60, true);
    until_us = from_us + 10 * SECOND_US;
    takt_fleet_run(&fleet, until_us + SECOND_US);
    check_rules();
    if (accounts[0].starts < 49)
        family_fail(4, "the domain has not its rate", "account 0", accounts[0].starts, 50);
    if (count_starts() < 498)
        family_fail(5, "the rate is not used", "all", count_starts(), 500);
    keeps_its_rate_after_block();
    close_accounts();
}

/* Each of some workers has work of some domains, and of the limit itself, which has the rest. */
static void check_domains(int workers, int domains, int64_t delay_us, uint64_t seed)
{
    open_accounts(workers, domains + 1, 50, 5, delay_us, seed);
    accounts[domains].limit = &outer;
    for (int i = 0; i < workers; i++) {
        come(i, domains, 120, true);
        for (int j = 0; j < domains; j++)
            come(i, j, 30, true);
    }
    until_us = from_us + 10 * SECOND_US;
    takt_fleet_run(&fleet, until_us + SECOND_US);
    check_rules();
    for (int i = 0; i < domains; i++)
        if (accounts[i].starts < 47)
            family_fail(4, "the domain has not its rate", accounts[i].key, accounts[i].starts, 50);
    if (count_starts() < 499)
        family_fail(5, "the rate is not used", "all", count_starts(), 500);
    close_accounts();
}

static void domains_of_all(int64_t delay_us, uint64_t seed)
{
    check_domains(2, 1, delay_us, seed);
    check_domains(2, 3, delay_us, seed);
    check_domains(4, 1, delay_us, seed);
}

/* All slots between the two instants are within [allowed...]: none, and afterwards no burst. */
static void check_quiet(const char *who, const account *of, int64_t quiet_from_us,
                        int64_t quiet_until_us)
{
    for (int i = 0; i < start_count; i++)
        if ((!of || starts[i].of == of) && starts[i].slot_us >= quiet_from_us &&
            starts[i].slot_us < quiet_until_us)
            family_fail(1, "a start in a block", who, starts[i].slot_us - quiet_from_us, 0);
}

static void block_outside(int64_t delay_us, uint64_t seed)
{
    int64_t at_us = BEGIN_US + 6 * SECOND_US;

    open_accounts(3, 4, 50, 5, delay_us, seed);
    accounts[3].limit = &loose;
    for (int i = 0; i < 4; i++)
        come(i % 3, i, 100, true);
    takt_fleet_run(&fleet, at_us);
    takt_fleet_call(&fleet.workers[0], 0, TAKT_OP_BLOCK, 8 * SECOND_US);
    takt_fleet_run(&fleet, at_us + 20 * SECOND_US);
    check_rules();
    check_quiet("all", NULL, at_us + TAKT_LOOKAHEAD_US + 2 * delay_us, at_us + 8 * SECOND_US);
    for (int i = 0; i < 3; i++)
        if (accounts[i].last_us < at_us + 19 * SECOND_US)
            family_fail(5, "it does not go on", accounts[i].key, accounts[i].last_us - at_us, 0);
    close_accounts();
}

/* A block of one account leaves the others all the rest, and ends early for a worker that has
 * parked it. */
static void block_inside(int64_t delay_us, uint64_t seed)
{
    int64_t at_us = BEGIN_US + 6 * SECOND_US, end_us = at_us + 4 * SECOND_US;

    open_accounts(3, 3, 20, 10, delay_us, seed);
    for (int i = 0; i < 3; i++)
        come(i, i, 100, true);
    takt_fleet_run(&fleet, at_us);
    takt_fleet_call_inner(&fleet.workers[1], 0, &inner, accounts[0].key, TAKT_OP_BLOCK,
                          3600 * SECOND_US);
    from_us = at_us + SECOND_US;
    until_us = end_us;
    takt_fleet_run(&fleet, end_us);
    if (count_starts() < 59)
        family_fail(5, "the rate is not used", "the others", count_starts(), 60);
    takt_fleet_call_inner(&fleet.workers[1], 0, &inner, accounts[0].key, TAKT_OP_UNBLOCK, 0);
    takt_fleet_run(&fleet, end_us + 5 * SECOND_US);
    check_rules();
    check_quiet("account 0", &accounts[0], at_us + TAKT_LOOKAHEAD_US + 2 * delay_us, end_us);
    if (accounts[0].last_us < end_us + 4 * SECOND_US)
        family_fail(5, "it does not go on", accounts[0].key, accounts[0].last_us - end_us, 0);
    close_accounts();
}

/* Seven of eight workers die: those in hand are lost, and the wait for them. */
static void crashes(int64_t delay_us, uint64_t seed)
{
    int64_t at_us = BEGIN_US + 6 * SECOND_US, all;

    open_accounts(8, 100, 100, 5, delay_us, seed);
    for (int i = 0; i < 100; i++) {
        come(0, i, 4, true);
        come(1 + i % 7, i, 4, true);
    }
    takt_fleet_run(&fleet, at_us);
    for (int w = 1; w < 8; w++)
        takt_fleet_crash(&fleet.workers[w]);
    from_us = at_us;
    until_us = at_us + 5 * SECOND_US;
    takt_fleet_run(&fleet, until_us + SECOND_US);
    check_rules();
    all = count_starts();
    if (all < 500 - 100)
        family_fail(5, "slots are lost", "all", all, 500);
    close_accounts();
}

/* Of 800/day in 1/s, 100 jobs have 5 s. */
static void deadlines(int64_t delay_us, uint64_t seed)
{
    open_accounts(2, 1, 1, 5, delay_us, seed);
    set_limit(&inner, "account", 800, 86400 * SECOND_US, 800);
    come_until(0, 0, 50, false, 5 * SECOND_US);
    come_until(1, 0, 50, false, 5 * SECOND_US);
    takt_fleet_run(&fleet, BEGIN_US + 7 * SECOND_US);
    if (start_count < 5 || start_count > 6 || start_count + refused != 100)
        family_fail(5, "starts in 5 s", "account 0", start_count, 5);
    takt_fleet_call_inner(&fleet.workers[0], 0, &inner, accounts[0].key, TAKT_OP_PEEK, 0);
    takt_fleet_run(&fleet, BEGIN_US + 8 * SECOND_US);
    if (peeked.remaining != 800 - start_count)
        family_fail(5, "tokens of the inner limit", "account 0", peeked.remaining,
                    800 - start_count);
    close_accounts();
}

static const family_figure figures[] = {
    hundred_accounts, shared_accounts,    spread_unevenly, paced_inside, domain_beside_many,
    domains_of_all,   block_outside,      block_inside,    crashes,      deadlines,
    some_keys,        workers_of_one_key, keys_on_all,     two_keys,     fresh_keys,
    too_many_keys,    one_with_many,      half_on_others,  many_keys,
};

#define FIGURES (sizeof figures / sizeof *figures)
#define SHORT   (FIGURES - 2) /* the others take long */
#define ROUNDS  4             /* of all kinds, of which one has figures */

/* ---- fleets at random ------------------------------------------------------------------------ */

static void block_account(takt_fleet_worker *worker, int number, int64_t for_us)
{
    takt_fleet_call_inner(worker, 0, &inner, accounts[number].key, TAKT_OP_BLOCK, for_us);
}

static void storm(uint64_t *random)
{
    family_storm(&fleet, &family_nested_storm, account_count, block_account, random);
    from_us = fleet.now_us + 8 * SECOND_US;
}

/* All limits of the shadow count the starts of a worker, and no other work. */
static void check_shadow_of(const takt_fleet_worker *worker, const takt_limit *limit,
                            int64_t *granted)
{
    const takt_shadow_stats *stats = takt_shadows_find_stats(&worker->shadows, limit->name);
    takt_shadow counts = stats ? stats->counts : (takt_shadow){0};

    if (counts.acquires != begun[worker->index])
        family_fail(1, "a shadow counts other work than starts", limit->name, counts.acquires,
                    begun[worker->index]);
    if (counts.acquires != counts.at_once + counts.waited + counts.waiting)
        family_fail(5, "shadow waiters are lost", limit->name, counts.acquires, counts.waiting);
    *granted += counts.at_once + counts.waited;
}

/* Its rules hold, as for work that waits, and nobody has taken more than shadow waiters. */
static void check_shadow(void)
{
    const takt_limit *limits[] = {&seen, &seen_inner};
    int64_t granted[] = {0, 0}, passed_us = fleet.now_us - BEGIN_US;
    int64_t most = 1 + passed_us * seen.numbers.rules[0].limit / SECOND_US;

    for (int w = 0; shaded && w < fleet.worker_count; w++)
        for (int i = 0; !fleet.workers[w].dead && i < 2; i++)
            check_shadow_of(&fleet.workers[w], limits[i], &granted[i]);
    if (granted[0] != granted[1])
        family_fail(1, "one decision for two limits", "shadow", granted[0], granted[1]);
    if (granted[0] > most)
        family_fail(1, "more than the limit in shadow gives", seen.name, granted[0], most);
    if (shaded && granted[0] < takt_min(most, start_count) / 4)
        family_fail(5, "the limit in shadow is not used", seen.name, granted[0], most);
}

/* Another vendor may be as strict as this one, or less strict, or more. */
static void cast_shadow(int64_t rate, int64_t own, uint64_t *random)
{
    shaded = true;
    set_limit(&seen, "seen", rate / 2 + draw(random, rate), SECOND_US, 1);
    set_limit(&seen_inner, "seen account", own / 2 + 1 + draw(random, own), SECOND_US, 1);
    seen.mode = seen_inner.mode = TAKT_MODE_SHADOW;
}

static void any_accounts(uint64_t seed)
{
    static const int64_t rates[] = {20, 100, 333}, inner_rates[] = {3, 10, 50};
    static const int64_t delays_us[] = {0, 500, 2000, 8000};
    uint64_t random = seed * 2654435761U + 17;
    int count = 2 + (int)draw(&random, 12), workers = 1 + (int)draw(&random, 6);
    int64_t rate = rates[draw(&random, 3)], own = inner_rates[draw(&random, 3)];

    open_accounts(workers, count, rate, own, delays_us[draw(&random, 4)], seed);
    if (seed % SHADOW_EACH == 0)
        cast_shadow(rate, own, &random);
    for (int i = 0; i < count; i++) {
        come(0, i, 3 + own, true);
        for (int w = 1; w < workers; w++)
            if (chance(&random, 40))
                come(w, i, 3 + own, true);
    }
    if (chance(&random, 60))
        storm(&random);
    check_parts(takt_min(rate, count * own), 20, rate == 333 ? 880 : 950, INT64_MAX);
    check_shadow();
    close_accounts();
}

/* Figures take ten times as long as fleets at random, and differ little from seed to seed. */
static void run_one(uint64_t seed)
{
    uint64_t kind = seed / 5 % (2 * FIGURES), round = seed / 5 / (2 * FIGURES);

    if (kind >= SHORT)
        any_accounts(seed);
    else if (round % ROUNDS == 0)
        figures[kind]((int64_t)(round / ROUNDS % 7) * 800, seed);
}

static void run_figures(void)
{
    family_run_figures(figures, FIGURES);
}

const family nested_family = {.each = 5, .run = run_one, .run_figures = run_figures};
