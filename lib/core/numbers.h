/*
 * numbers.h: the numbers of a limit that its ledgers keep and that all workers share, and the
 * arithmetic of all its rules together.  What a worker's own policy says besides is in limit.h.
 *
 * A slot must suit every rule: t is raised to the latest `earliest` of all, which suits the others
 * as well (what fits at an instant fits later), then every rule is committed at that t.  That is
 * how 1/s AND 20/min AND 800/day hold at once.
 */
#ifndef TAKT_CORE_NUMBERS_H
#define TAKT_CORE_NUMBERS_H

#include <takt/policy.h>

#include "core/rule.h"

#define TAKT_LOOKAHEAD_US INT64_C(250000) /* where the policy says nothing */
#define TAKT_LOOKAHEAD_MAX_US                                                                      \
    INT64_C(10000000) /* 10 s: also how far ahead a foreign clock may hold us up */
#define TAKT_KEEPALIVE_US                                                                          \
    INT64_C(2000000) /* a worker that waits is heard of at least that often                        \
                      */

#define TAKT_PAUSE_MAX_US INT64_C(60000000) /* no change of algorithm holds up work for longer */

/* Steps of one takt_numbers_take: where a script takes them, a whole server waits. */
#define TAKT_TAKE_STEPS_MAX  1000
#define TAKT_RECOVER_MAX_US  INT64_C(86400000000) /* the time of an adapt's `recover` */
#define TAKT_CONCURRENCY_MAX INT64_C(1000000000)
#define TAKT_LEASE_US        INT64_C(30000000) /* where the policy says nothing */
#define TAKT_LEASE_MIN_US    INT64_C(1000000)
#define TAKT_LEASE_MAX_US    INT64_C(86400000000)

/* Whom more waiters than max_waiting cost their place. */
typedef enum takt_when_full {
    TAKT_WHEN_FULL_REFUSE,      /* the newest of whoever claims */
    TAKT_WHEN_FULL_DROP_OLDEST, /* the oldest of the least urgent, whosever they are */
    TAKT_WHEN_FULL_DROP_LOWEST /* the newest of those less urgent than who claims; else as refuse */
} takt_when_full;

/* What a vendor's "too many" does to the rate of the first rule, in percent of it. */
typedef struct takt_adapt {
    int64_t backoff;    /* what a penalty leaves of the rate; 0: the limit does not adapt */
    int64_t recover;    /* so much comes back ... */
    int64_t recover_us; /* ... in that time */
    int64_t floor;      /* it never falls below that */
} takt_adapt;

/* What the rules, the line and the permits of a ledger are kept under. */
typedef struct takt_numbers {
    takt_rule rules[TAKT_RULES_MAX];
    int rule_count;
    int64_t lookahead_us;
    int64_t max_waiting; /* of one key in the whole fleet; 0: no bound */
    takt_when_full when_full;
    int64_t concurrency; /* permits of one key, held at once by the fleet; 0: no bound */
    int64_t lease_us;    /* permits of a worker that is silent for so long are free again */
    takt_adapt adapt;
    int64_t revision; /* of the policy: of two that differ, the higher one holds */
} takt_numbers;

/* The states of all rules, in the order of the rules.  A limit that is braked (brake.h) has one
 * rule more than its policy says, the brake, whose state comes behind the others. */
typedef struct takt_rules_state {
    takt_rule_state rules[TAKT_RULES_MAX + 1];
    takt_rule brake; /* tokens 0: there is none */
} takt_rules_state;

/* The most tokens that one acquire can ask for; *rule (may be NULL) is the index of the rule that
 * bounds it. */
int64_t takt_numbers_capacity(const takt_numbers *numbers, int *rule);

/* Tokens that the rules pass in `span_us` in the long run, least over the rules, at most
 * TAKT_ROOM_MAX.  state NULL: what the policy's rules pass. */
int64_t takt_numbers_throughput(const takt_numbers *numbers, const takt_rules_state *state,
                                int64_t span_us);

/* Whatever was given longer ago than that has no say any more: the longest period, or the lease. */
int64_t takt_numbers_span(const takt_numbers *numbers);

/* A state before its first use: rest() or what a text says comes next.  There is no brake, and no
 * book of the pages is in use. */
void takt_numbers_begin(takt_rules_state *state, takt_pages *pages);

/* A brake is left to its owner. */
void takt_numbers_rest(const takt_numbers *numbers, takt_rules_state *state, int64_t now_us);
int64_t takt_numbers_earliest(const takt_numbers *numbers, const takt_rules_state *state,
                              int64_t t_us, int64_t cost);
void takt_numbers_commit(const takt_numbers *numbers, takt_rules_state *state, int64_t t_us,
                         int64_t cost);

/* Of single tokens from from_us on: how many have slots <= until_us, and the slot of the n-th.
 * Exact for one rule; for several the least room and the latest slot of each for itself. */
int64_t takt_numbers_room(const takt_numbers *numbers, const takt_rules_state *state,
                          int64_t from_us, int64_t until_us);
int64_t takt_numbers_due(const takt_numbers *numbers, const takt_rules_state *state,
                         int64_t from_us, int64_t n);

/*
 * Takes up to `count` times `cost` tokens, the earliest slots from from_us on that are <= until_us,
 * and appends them to runs[*run_count ...] as long as there are runs (an even run is one, also when
 * it continues the last). Returns the number taken, which after many uneven slots may be less than
 * there is room for.
 */
int64_t takt_numbers_take(const takt_numbers *numbers, takt_rules_state *state, int64_t from_us,
                          int64_t cost, int64_t count, int64_t until_us, takt_run *runs,
                          int *run_count, int run_max);

/* Takes tokens that were used without having been asked for.  A rule that can owe them does, up to
 * TAKT_LOOKAHEAD_MAX_US of slots; from a window or a log goes what is left there. */
void takt_numbers_charge(const takt_numbers *numbers, takt_rules_state *state, int64_t now_us,
                         int64_t tokens);

/* Of `cost` tokens taken at slot_us, `unused` were not needed: each rule gives back what it can
 * without letting anybody take what was there before. */
void takt_numbers_give_back(const takt_numbers *numbers, takt_rules_state *state, int64_t now_us,
                            int64_t slot_us, int64_t cost, int64_t unused);

void takt_numbers_exhaust(const takt_numbers *numbers, takt_rules_state *state, int64_t at_us);
int64_t takt_numbers_rest_at(const takt_numbers *numbers, const takt_rules_state *state);

/* Whether the rules keep the same numbers. */
bool takt_numbers_same(const takt_numbers *a, const takt_numbers *b);

/* A state kept under the rules of `from` becomes one under those of `to`, whose revision is not
 * lower.  Each new rule takes over from an old one of its algorithm, from that of the same numbers
 * if there is one.  One that finds none starts without a burst, and not before the rules that go
 * would be as from rest, TAKT_PAUSE_MAX_US at most: what they gave counts for no new rule.
 * A brake is left to its owner. */
void takt_numbers_convert(const takt_numbers *from, const takt_numbers *to, takt_rules_state *state,
                          int64_t now_us);

void takt_numbers_pull_back(const takt_numbers *numbers, takt_rules_state *state, int64_t now_us);

#endif
