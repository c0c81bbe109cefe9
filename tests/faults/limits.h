/*
 * limits.h: the limits that the workers of the fault tests share, and each of their rules against
 * the slots that were used, by its definition alone.
 */
#ifndef TAKT_TESTS_FAULTS_LIMITS_H
#define TAKT_TESTS_FAULTS_LIMITS_H

#include <stdbool.h>
#include <takt/takt.h>

#define LOOKAHEAD_US INT64_C(250000)
#define LEDGERS_MAX  512
#define RULES_MAX    2

struct rule {
    enum { GCRA, LOG, WINDOW } kind;
    int64_t tokens, period_us, burst;
    const char *rate, *burst_text; /* the same rule, as a policy writes it */
};

struct limit {
    const char *name;
    int keys;
    int waiters; /* of each worker, for each key */
    int rule_count;
    struct rule rules[RULES_MAX];
    int concurrency; /* 0: no permits; else they are held for a while, with a lease of LEASE */
};

#define LEASE "2s"

extern const struct limit limits[];
extern const int limit_count;

/* One limit more, of which each waiter wants any key, another one each time. */
#define ANY_KEY 0

/* Ends the program where it cannot be made. */
takt_policy *limits_policy(void);

/* The number of a ledger. */
int limits_ledger(int limit, int key);

struct slot {
    int64_t at_us;
    int32_t ledger;
    int32_t cost;
};

/* What may be beyond the rules: whole bursts (or windows) more, for states that were lost; and
 * what workers had been given for so long ahead of that. */
struct allowance {
    int losses;
    int64_t ahead_us;
};

/* Sorts the slots and checks them all. False: `text` names the broken rule. */
bool limits_hold(struct slot *slots, int64_t count, struct allowance allowance, char *text,
                 size_t size);

#endif
