/*
 * nested_tries.c: fleets that try at keys of an inner limit (accounts) within one outer limit,
 * beside work that waits.
 *
 * Of each level what was taken keeps the rule (promise 1), and each level has given exactly what
 * was granted: a refused try has taken nothing anywhere (5).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checker.h"
#include "families.h"
#include "scenario.h"

#define SECOND_US INT64_C(1000000)
#define DAY_US    (86400 * SECOND_US)
#define BEGIN_US  INT64_C(1763692800000000)
#define QUOTA     100000 /* of an account in a day */
#define ACCOUNTS  4
#define WORKERS   5
#define JOBS      20
#define TRIES     400
#define TAKEN_MAX 10000

typedef struct account {
    char key[24];
    int64_t taken;     /* starts of jobs, and tries that were granted */
    int64_t remaining; /* as its ledger says */
} account;

static takt_fleet fleet;
static takt_limit outer, inner;
static account accounts[ACCOUNTS];
static takt_permit jobs[JOBS];
static int64_t slots_us[TAKEN_MAX]; /* all that was taken of the outer limit */
static int of_account[TAKEN_MAX], slot_count, starts, peeked;

static void set_limit(takt_limit *limit, const char *name, const takt_algorithm *algorithm,
                      int64_t tokens, int64_t period_us, int64_t burst)
{
    *limit = (takt_limit){.default_weight = 1, .within = limit == &inner ? &outer : NULL};
    strcpy(limit->name, name);
    limit->numbers.rule_count = 1;
    limit->numbers.lookahead_us = TAKT_LOOKAHEAD_US;
    limit->numbers.rules[0] = (takt_rule){
        .algorithm = algorithm, .limit = tokens, .period_us = period_us, .burst = burst};
    if (takt_rule_prepare(&limit->numbers.rules[0], NULL) != 0)
        abort();
}

static account *account_of(const char *key)
{
    for (int i = 0; i < ACCOUNTS; i++)
        if (strcmp(accounts[i].key, key) == 0)
            return &accounts[i];
    abort();
}

static void take(account *of, int64_t slot_us)
{
    if (slot_count == TAKEN_MAX)
        abort();
    of_account[slot_count] = (int)(of - accounts);
    slots_us[slot_count++] = slot_us;
    of->taken++;
}

static void on_call(takt_fleet *of, uint64_t worker, const takt_store_call *call)
{
    (void)of;
    (void)worker;
    if (call->op == TAKT_OP_TRY && call->status == 0)
        take(account_of(call->inner[0].key), call->standing.now_us);
    if (call->op == TAKT_OP_PEEK) {
        account_of(call->key)->remaining = call->standing.remaining;
        peeked++;
    }
}

static void started(takt_permit *permit, int status)
{
    if (status != 0)
        family_fail(5, "an acquire fails", "a job", status, 0);
    starts++;
    take(permit->data, permit->slot_at_us);
}

/* Jobs that wait for some of the accounts. */
static void come(uint64_t *random, int count)
{
    for (int i = 0; i < count; i++) {
        account *of = &accounts[draw(random, ACCOUNTS)];
        takt_chain chain = {
            .limits = {&inner, &outer}, .keys = {of->key, ""}, .costs = {1, 1}, .count = 2};
        jobs[i] = (takt_permit){
            .data = of, .callback = started, .cost = 1, .priority = TAKT_PRIORITY_DEFAULT};
        takt_fleet_acquire_nested(&fleet.workers[draw(random, WORKERS)], 0, &jobs[i], 0, &chain,
                                  NULL, 1);
    }
}

static int by_slot(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* No more in any time than the burst and what the rate lets through. */
static void check_rule(const takt_limit *limit, int64_t *slots, int count, const char *who)
{
    const takt_rule *rule = &limit->numbers.rules[0];

    qsort(slots, (size_t)count, sizeof *slots, by_slot);
    for (int i = 0; i < count; i++)
        for (int j = i; j < count; j++)
            if ((j - i + 1 - rule->burst) * rule->period_us >
                (slots[j] - slots[i] + 1) * rule->limit)
                family_fail(1, "too much at once", who, j - i + 1, rule->burst);
}

static void check_rules(void)
{
    static int64_t own_us[TAKEN_MAX];

    for (int i = 0; i < ACCOUNTS; i++) {
        int count = 0;
        for (int j = 0; j < slot_count; j++)
            if (of_account[j] == i)
                own_us[count++] = slots_us[j];
        if (inner.numbers.rules[0].algorithm == &takt_gcra)
            check_rule(&inner, own_us, count, accounts[i].key);
    }
    check_rule(&outer, slots_us, slot_count, "all");
}

/* What the ledgers of accounts with a quota have left. */
static void check_quotas(void)
{
    peeked = 0;
    for (int i = 0; i < ACCOUNTS; i++)
        takt_fleet_call_inner(&fleet.workers[0], 0, &inner, accounts[i].key, TAKT_OP_PEEK, 0);
    takt_fleet_run(&fleet, fleet.now_us + 2 * SECOND_US);
    if (peeked != ACCOUNTS)
        abort();
    for (int i = 0; i < ACCOUNTS; i++)
        if (accounts[i].remaining != QUOTA - accounts[i].taken)
            family_fail(5, "tokens are lost", accounts[i].key, accounts[i].remaining,
                        QUOTA - accounts[i].taken);
}

static void run_one(uint64_t seed)
{
    uint64_t random = seed * 7919 + 1;
    bool quotas = draw(&random, 2) == 0;
    int64_t burst = 1 + draw(&random, 5), count = draw(&random, JOBS + 1);

    set_limit(&outer, "vendor", &takt_gcra, 5 + draw(&random, 50), SECOND_US, burst);
    if (quotas)
        set_limit(&inner, "account", &takt_fixed_window, QUOTA, DAY_US, 0);
    else
        set_limit(&inner, "account", &takt_gcra, 2 + draw(&random, 20), SECOND_US,
                  1 + draw(&random, 3));
    if (takt_fleet_open(&fleet, &outer, WORKERS, BEGIN_US, seed) < 0)
        abort();
    fleet.timeout_us = SECOND_US;
    fleet.delay_min_us = 100;
    fleet.delay_max_us = 100 + draw(&random, 20000);
    fleet.on.call = on_call;
    slot_count = starts = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
        accounts[i] = (account){.taken = 0};
        snprintf(accounts[i].key, sizeof accounts[i].key, "account %d", i);
    }
    come(&random, (int)count);
    for (int i = 0; i < TRIES; i++) {
        takt_fleet_try_nested(&fleet.workers[draw(&random, WORKERS)], 0, &inner,
                              accounts[draw(&random, ACCOUNTS)].key);
        if (draw(&random, 3) > 0) /* otherwise two at once */
            takt_fleet_run(&fleet, fleet.now_us + draw(&random, SECOND_US / 10));
    }
    takt_fleet_run(&fleet, fleet.now_us + 60 * SECOND_US);
    if (starts != count)
        family_fail(5, "jobs are left", "all", starts, count);
    if (quotas)
        check_quotas();
    check_rules();
    scenario_total.calls += fleet.claims;
    scenario_total.started += starts;
    takt_fleet_close(&fleet);
}

const family nested_tries_family = {.each = 10, .at = 1, .run = run_one};
