/*
 * numbers.h: the numbers of a limit that its ledgers keep and all workers share, and the arithmetic
 * of all its rules together.  limit.h has what each worker's own policy adds.
 *
 * A slot must suit every rule: t is raised to the latest `earliest` of all rules.  That instant
 * suits the others too, because what fits at an instant fits later.  Then every rule is committed
 * at that t.  This is how 1/s AND 20/min AND 800/day hold at once.
 */
#ifndef TAKT_CORE_NUMBERS_H
#define TAKT_CORE_NUMBERS_H

#include <takt/policy.h>
#include <takt/standing.h>

#include "rules/rule.h"

#define TAKT_LOOKAHEAD_US INT64_C(250000) /* where the policy says nothing */
#define TAKT_LOOKAHEAD_MAX_US                                                                      \
    INT64_C(10000000) /* 10 s: also how far ahead a foreign clock may hold us up */
#define TAKT_KEEPALIVE_US                                                                          \
    INT64_C(2000000) /* the longest pause between two claims of a waiting worker */

#define TAKT_PAUSE_MAX_US INT64_C(60000000) /* no change of algorithm holds up work for longer */

/* Steps of one takt_numbers_take: where a script takes them, a whole server waits. */
#define TAKT_TAKE_STEPS_MAX  1000
#define TAKT_PAY_PERIODS     8  /* for which a debt is paid part by part */
#define TAKT_PAY_PARTS       64 /* of a period: debts that fall due in one are paid at once */
#define TAKT_RECOVER_MAX_US  INT64_C(86400000000) /* the time of an adapt's `recover` */
#define TAKT_CONCURRENCY_MAX INT64_C(1000000000)
#define TAKT_LEASE_US        INT64_C(30000000) /* where the policy says nothing */
#define TAKT_LEASE_MIN_US    INT64_C(1000000)
#define TAKT_LEASE_MAX_US    INT64_C(86400000000)

/* Which waiters leave if there are more than max_waiting. */
typedef enum takt_when_full {
    TAKT_WHEN_FULL_REFUSE,      /* the newest of the claiming worker */
    TAKT_WHEN_FULL_DROP_OLDEST, /* the oldest of the least urgent, of any worker */
    /* the newest of those less urgent than the claiming ones; otherwise as refuse */
    TAKT_WHEN_FULL_DROP_LOWEST
} takt_when_full;

/* How a vendor's "too many" changes the rate of the first rule, in percent of it. */
typedef struct takt_adapt {
    int64_t backoff;    /* what a penalty leaves of the rate; 0: the limit does not adapt */
    int64_t recover;    /* the part that recovers ... */
    int64_t recover_us; /* ... in that time */
    int64_t floor;      /* the lowest rate */
} takt_adapt;

/* The numbers under which a ledger keeps its rules, line and permits. */
typedef struct takt_numbers {
    takt_rule rules[TAKT_RULES_MAX];
    int rule_count;
    int64_t lookahead_us;
    int64_t max_waiting; /* for one key in the whole fleet; 0: no bound */
    takt_when_full when_full;
    int64_t concurrency; /* permits of one key that the fleet may hold at once; 0: no bound */
    int64_t lease_us;    /* after that silence of a worker its permits are free again */
    takt_adapt adapt;
    int64_t revision; /* of the policy; the higher one is used */
} takt_numbers;

/* Whether a full line drops waiters of any worker. Otherwise it refuses the newest of the claiming
 * one. */
static inline bool takt_numbers_drops(const takt_numbers *numbers)
{
    return numbers->when_full != TAKT_WHEN_FULL_REFUSE;
}

/* The states of all rules, in the order of the rules.  A limit with a brake (brake.h) has one more
 * rule than its policy, whose state comes last. */
typedef struct takt_rules_state {
    takt_rule_state rules[TAKT_RULES_MAX + 1];
    takt_rule brake; /* tokens 0: there is no brake */
} takt_rules_state;

/* The most of a unit that can be taken at one instant: of tokens, the highest cost of an acquire.
 * *rule (may be NULL) is the index of the rule that bounds it. */
int64_t takt_numbers_capacity(const takt_numbers *numbers, takt_unit unit, int *rule);

/* What the rules allow of each unit in `span_us` in the long run: the lowest of its rules, at most
 * TAKT_ROOM_MAX.  state NULL: only the policy's rules count. */
takt_amounts takt_numbers_throughput(const takt_numbers *numbers, const takt_rules_state *state,
                                     int64_t span_us);

/* The inverse: in how long the rules give so much, at most TAKT_SPAN_MAX_US. */
int64_t takt_numbers_worth(const takt_numbers *numbers, const takt_rules_state *state,
                           takt_amounts amounts);

/* The lowest amount: of requests that take one of each unit. */
int64_t takt_amounts_least(takt_amounts amounts);

/* How many units of takt_amounts there are to look at: of most limits tokens alone. */
static inline int takt_numbers_units(const takt_numbers *numbers)
{
    int units = 1;

    for (int i = 0; i < numbers->rule_count; i++)
        if ((int)numbers->rules[i].unit >= units)
            units = (int)numbers->rules[i].unit + 1;
    return units;
}

/* Whether rules count units beside the first that the limit names. */
static inline bool takt_numbers_count_more(const takt_numbers *numbers)
{
    return takt_numbers_units(numbers) > TAKT_UNIT_MORE;
}

/* Whether a request is possible at all: no rule gives less at one instant. */
bool takt_numbers_can_give(const takt_numbers *numbers, takt_amounts taken);

/* Slots given longer ago than that have no effect: the longest period, or the lease. */
int64_t takt_numbers_span(const takt_numbers *numbers);

/* Sets up a state before its first use; rest() or a text comes next.  It has no brake, and no book
 * of the pages is in use. */
void takt_numbers_begin(takt_rules_state *state, takt_pages *pages);

/* Sets all rules but the brake to their state at rest. */
void takt_numbers_rest(const takt_numbers *numbers, takt_rules_state *state, int64_t now_us);

/* What one request takes: takt_amounts_of. */
int64_t takt_numbers_earliest(const takt_numbers *numbers, const takt_rules_state *state,
                              int64_t t_us, takt_amounts taken);
void takt_numbers_commit(const takt_numbers *numbers, takt_rules_state *state, int64_t t_us,
                         takt_amounts taken);

/* The same of all rules but one. */
int64_t takt_numbers_earliest_beside(const takt_numbers *numbers, const takt_rules_state *state,
                                     int rule, int64_t t_us, takt_amounts taken);
void takt_numbers_commit_beside(const takt_numbers *numbers, takt_rules_state *state, int rule,
                                int64_t t_us, takt_amounts taken);

/* For single tokens and requests from from_us on: how many of each have slots <= until_us, and when
 * so many of each have had theirs.  Exact for one rule; for several rules the lowest number and the
 * latest slot of each rule alone. */
takt_amounts takt_numbers_room(const takt_numbers *numbers, const takt_rules_state *state,
                               int64_t from_us, int64_t until_us);
int64_t takt_numbers_due(const takt_numbers *numbers, const takt_rules_state *state,
                         int64_t from_us, takt_amounts n);

/* A lower bound, for any state of the rules at t_us: the slot of the last of n tokens that are
 * taken one by one from then on. */
int64_t takt_numbers_due_at_best(const takt_numbers *numbers, int64_t t_us, takt_amounts n);

/*
 * Takes up to `count` times what a request of `cost` and `more` takes, the earliest slots from
 * from_us on that are <= until_us. Appends them to runs[*run_count ...] while there are free runs
 * (an even run is one, also if it continues the last one).  Returns the number taken, which after
 * many uneven slots may be lower than the room.
 */
int64_t takt_numbers_take(const takt_numbers *numbers, takt_rules_state *state, int64_t from_us,
                          int64_t cost, takt_more more, int64_t count, int64_t until_us,
                          takt_run *runs, int *run_count, int run_max);

/* Takes what is owed and falls due until then: no slot goes before it. */
void takt_numbers_pay_ahead(const takt_numbers *numbers, takt_rules_state *state, int64_t until_us);

/* Appends a slot to runs, to the last one if it continues that evenly.  False: there is no free
 * run. */
bool takt_runs_append(takt_run *runs, int *run_count, int run_max, int64_t slot_us, int32_t cost,
                      takt_more more);

/* How much later than its slot work may begin, by the rule that gives least; TAKT_NEVER: none has a
 * guard. */
int64_t takt_numbers_guard(const takt_numbers *numbers);

/* Takes what was used without a slot.  What a rule has not left it owes: it gives nothing before
 * that is taken as well.  Of a brake TAKT_LOOKAHEAD_MAX_US of slots are lost at most. */
void takt_numbers_charge(const takt_numbers *numbers, takt_rules_state *state, int64_t now_us,
                         takt_amounts used);

/* Gives back `unused` of what was taken at slot_us: each rule returns the part that no other worker
 * can have been served from. */
void takt_numbers_give_back(const takt_numbers *numbers, takt_rules_state *state, int64_t now_us,
                            int64_t slot_us, takt_amounts taken, takt_amounts unused);

void takt_numbers_exhaust(const takt_numbers *numbers, takt_rules_state *state, int64_t at_us);
int64_t takt_numbers_rest_at(const takt_numbers *numbers, const takt_rules_state *state);

/* What each of the policy's rules has left, and until when it is not as from rest. */
void takt_numbers_tell(const takt_numbers *numbers, const takt_rules_state *state, int64_t now_us,
                       takt_rule_standing *rules);

/* Whether the rules have the same numbers. */
bool takt_numbers_same(const takt_numbers *a, const takt_numbers *b);

/* A state kept under the rules of `from` becomes one under those of `to`, whose revision is not
 * lower.  Each new rule takes over from an old one of its algorithm, from that of the same numbers
 * if there is one.  One that finds none starts without a burst, and not before the rules that go
 * would be as from rest, TAKT_PAUSE_MAX_US at most: what they gave counts for no new rule.
 * A brake is left to its owner. */
void takt_numbers_convert(const takt_numbers *from, const takt_numbers *to, takt_rules_state *state,
                          int64_t now_us);

/* Takes what is owed and has fallen due. */
void takt_numbers_pay(const takt_numbers *numbers, takt_rules_state *state, int64_t now_us);

void takt_numbers_pull_back(const takt_numbers *numbers, takt_rules_state *state, int64_t now_us);

#endif
