/*
 * rule.h: the interface of one rate algorithm.
 *
 * A rule is `limit` tokens per `period_us`, kept by an algorithm.  An algorithm is a row of pure
 * functions over a rule and its state: they read no clock, allocate nothing and decide nothing but
 * "when".  A new algorithm is a new file, and here a row of TAKT_ALGORITHMS and a member of
 * takt_rule_state, if no other algorithm's state fits.
 *
 * Instants are int64 microseconds of the store's clock.  Every number that takes part stays below
 * 2^53, so that the same arithmetic can be done in a Redis script, whose numbers are doubles.
 */
#ifndef TAKT_CORE_RULE_H
#define TAKT_CORE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <takt/error.h>
#include <takt/standing.h>

#include "base/integers.h"
#include "base/pages.h"
#include "base/text.h"
#include "rules/log.h"
#include "rules/lows.h"
#include "zone/zone.h"

#define TAKT_NEVER          INT64_MAX
#define TAKT_RULE_LIMIT_MAX INT64_C(1000000000)
#define TAKT_SPAN_MAX_US    INT64_C(1576800000000000) /* 50 years */
#define TAKT_ROOM_MAX       INT64_C(1000000000)       /* a larger room counts as this */
#define TAKT_RULE_TEXT_SIZE 560 /* a rule and its state as text, at the longest */

typedef struct takt_algorithm takt_algorithm;

/*
 * An exact stretch or instant of time: us + parts / whole microseconds, 0 <= parts < whole, where
 * `whole` is the rule's tokens, or the run's own.
 */
typedef struct takt_fraction {
    int64_t us;
    int64_t parts;
} takt_fraction;

/* Where windows begin: at multiples of the period by the clock, or with the first token after the
 * last one ended.  DEFAULT is for an algorithm's prepare to replace. */
typedef enum takt_align { TAKT_ALIGN_DEFAULT, TAKT_ALIGN_CLOCK, TAKT_ALIGN_FIRST_USE } takt_align;

/* What a rule counts: tokens, of which a request takes its cost; requests; or from TAKT_UNIT_MORE
 * on a further unit, of which a request takes the amount that it states, and at least 1. */
typedef enum takt_unit { TAKT_UNIT_TOKENS, TAKT_UNIT_REQUESTS, TAKT_UNIT_MORE } takt_unit;

#define TAKT_MORE_MAX (TAKT_AMOUNTS_MAX - 1)
#define TAKT_UNITS    (TAKT_UNIT_MORE + TAKT_MORE_MAX)

/* "tokens", "requests", or "unit 2" to "unit 4": their names are each worker's own. */
const char *takt_unit_name(takt_unit unit);

/* How much of each unit. */
typedef struct takt_amounts {
    int64_t of[TAKT_UNITS];
} takt_amounts;

#define TAKT_NO_MORE ((takt_more){{0}})

/* What one request takes. */
static inline takt_amounts takt_amounts_of(int64_t cost, takt_more more)
{
    takt_amounts amounts = {{cost, 1}};

    for (int i = 0; i < TAKT_MORE_MAX; i++)
        amounts.of[TAKT_UNIT_MORE + i] = takt_max(more.of[i], 1);
    return amounts;
}

/* The same of a request that states no further amounts. */
static inline takt_amounts takt_amounts_of_cost(int64_t cost)
{
    return takt_amounts_of(cost, TAKT_NO_MORE);
}

#define TAKT_EACH_UNIT(unit, count) for (int unit = 0; unit < (count); unit++)

/* Which amounts of a claim belong to an inner level (inner.h).  The level's amount i (0: tokens,
 * then the further units) is the claim's amount i + shift[i].  Zeros: they are the same. */
typedef struct takt_unit_map {
    int8_t shift[TAKT_AMOUNTS_MAX];
    int8_t units; /* so many of the level's units the claim states; 0: all */
} takt_unit_map;

#define TAKT_UNIT_MAP_PLAIN ((takt_unit_map){{0}, 0})

/* The unit that the i-th amount of a request is of. */
static inline int takt_unit_at(int i)
{
    return i == 0 ? TAKT_UNIT_TOKENS : TAKT_UNIT_REQUESTS + i;
}

/* The claim's unit that a level's unit is.  Of one that newer numbers count, and the claim does not
 * state, a request takes 1: that is as many as requests. */
static inline int takt_unit_by(takt_unit_map map, int unit)
{
    if (map.units > 0 && unit >= map.units)
        return TAKT_UNIT_REQUESTS;
    return unit == TAKT_UNIT_TOKENS     ? takt_unit_at(map.shift[0])
           : unit == TAKT_UNIT_REQUESTS ? TAKT_UNIT_REQUESTS
                                        : takt_unit_at(unit - 1 + map.shift[unit - 1]);
}

static inline bool takt_unit_map_same(takt_unit_map a, takt_unit_map b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Whether the level's amounts are those of the claim. */
static inline bool takt_unit_map_is_plain(takt_unit_map map)
{
    return memcmp(map.shift, TAKT_UNIT_MAP_PLAIN.shift, sizeof map.shift) == 0;
}

/* The numbers that the level's amounts have among the claim's, as digits. */
void takt_unit_map_digits(takt_unit_map map, char text[TAKT_AMOUNTS_MAX + 1]);

/* Reads such digits.  False: they are not numbers of amounts. */
bool takt_unit_map_read(takt_unit_map *map, const char *digits);

/* The digits, or "" if the level's amounts are those of the claim. */
void takt_unit_map_write(takt_unit_map map, char text[TAKT_AMOUNTS_MAX + 1]);

/* What amounts of a claim are in a level's own units. */
static inline takt_amounts takt_amounts_by(takt_unit_map map, takt_amounts claimed)
{
    takt_amounts own;

    if (map.units == 0 && takt_unit_map_is_plain(map))
        return claimed;
    for (int unit = 0; unit < TAKT_UNITS; unit++)
        own.of[unit] = claimed.of[takt_unit_by(map, unit)];
    return own;
}

static inline takt_amounts takt_amounts_sum(takt_amounts a, takt_amounts b)
{
    TAKT_EACH_UNIT(unit, TAKT_UNITS)
    a.of[unit] += b.of[unit];
    return a;
}

static inline bool takt_more_same(takt_more a, takt_more b)
{
    int32_t other = 0;

    for (int i = 0; i < TAKT_MORE_MAX; i++)
        other |= a.of[i] ^ b.of[i];
    return other == 0;
}

/* Whether none of them is larger. */
static inline bool takt_more_within(takt_more a, takt_more b)
{
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        if (a.of[i] > b.of[i])
            return false;
    return true;
}

/* Which numbers besides the rate an algorithm takes. */
enum { TAKT_TAKES_BURST = 1, TAKT_TAKES_QUEUE = 2, TAKT_TAKES_ALIGN = 4, TAKT_TAKES_TIMEZONE = 8 };

/* The numbers of a rule.  Fill the first group as the policy says, then call takt_rule_prepare for
 * the second. */
typedef struct takt_rule {
    const takt_algorithm *algorithm;
    int64_t limit;       /* tokens, 1 to TAKT_RULE_LIMIT_MAX */
    int64_t period_us;   /* 1 to TAKT_SPAN_MAX_US */
    int64_t burst;       /* tokens at one instant; 0: the algorithm's default */
    int64_t headroom_bp; /* run that many hundredths of a percent below the rate, 0 to 9999 */
    int64_t queue;       /* more waiters than that in the fleet are refused; 0: no bound */
    int64_t guard_us;    /* how much later than its slot work may begin, 0 to period_us / 2 */
    takt_align align;
    const takt_zone *zone; /* whose midnights days begin at; NULL: UTC */
    takt_unit unit;        /* what it counts; for the algorithm it is tokens in any case */

    int64_t tokens; /* what is kept: tokens per span_us, the headroom taken off */
    int64_t span_us;
    takt_fraction interval;  /* the emission interval, span_us / tokens, in parts of 1/tokens us */
    takt_fraction tolerance; /* burst * interval */
} takt_rule;

/* What a rule remembers.  Each algorithm uses its own member.  Zeros and the pages, where it is
 * kept with any, before its first rest(). */
typedef struct takt_rule_state {
    union {
        struct {
            takt_fraction tat; /* theoretical arrival time: when the next token would be on time */
            int64_t until_us;  /* of a block's pace: it holds back nothing from then on (brake.c) */
            takt_lows lows;    /* how much of a settled slot can be taken back */
        } gcra;
        struct {
            int64_t start_us; /* of the last window from which tokens were taken */
            int64_t count;    /* taken from it */
            int64_t late;     /* of them, those that count in the next window too */
            bool unopened;    /* the window that opens next opens with `count` taken already */
        } fixed_window;
        struct {
            int64_t start_us; /* of the last window from which tokens were taken */
            int64_t previous; /* taken from the one before it */
            int64_t current;  /* taken from it */
            int64_t held;     /* not given from it, for what was taken late from the one before */
            int64_t behind;   /* how far it fell behind an even use */
        } sliding_window;
        takt_log log;
    };
    /* Tokens used beyond what was taken, which are taken before others are given (debt.h).  Of
     * an algorithm that owes: that many are in its state, ahead of where slots can have put it. */
    int64_t owed;
    takt_pages *pages; /* where logs are kept; NULL: nowhere, then no rule keeps a log */
} takt_rule_state;

/*
 * An evenly spaced run of slots: the i-th is first + i * step, rounded up to a whole microsecond.
 * Each is for `cost` tokens.  step 0: all at once.
 */
typedef struct takt_run {
    takt_fraction first;
    takt_fraction step;
    int64_t whole;
    int64_t count;
    int32_t cost;
    takt_more more;
    int64_t fence; /* in hand (scheduler/slots.h): the first slot's fencing number; 0: none */
} takt_run;

struct takt_algorithm {
    const char *name; /* as the policy writes it */
    /* the first letter of its text; algorithms with one letter share one state. Taken: a, b, c, e,
     * h, k, m, n, r, t, w */
    char letter;
    unsigned takes; /* TAKT_TAKES_...: what else is refused before prepare() */
    bool paced;     /* the state is one instant, which each token moves on by the same time */
    bool owes;      /* commit may take more than is due: the state itself says when it is paid */
    bool logged;    /* the state has pages of a log beside it */
    bool guarded;   /* a rule without a guard in the policy has one: no call may come early */

    /* Checks the numbers and derives the second group.  0, or TAKT_E_POLICY with "burst: ..." in
     * error. */
    int (*prepare)(takt_rule *rule, takt_error *error);

    /* The most tokens that can ever be taken at one instant: a larger cost is refused when asked.
     */
    int64_t (*capacity)(const takt_rule *rule);

    /* Long idle, as of now.  The state is zeros or was one of the rule's: what it keeps in pages is
     * given up. */
    void (*rest)(const takt_rule *rule, takt_rule_state *state, int64_t now_us);

    /* The first moment >= t_us at which `cost` tokens may be taken, TAKT_NEVER if cost > capacity.
     * If nothing else is taken they may be taken at every later moment as well. */
    int64_t (*earliest)(const takt_rule *rule, const takt_rule_state *state, int64_t t_us,
                        int64_t cost);

    /* Takes `cost` tokens at t_us, which is not before earliest(). */
    void (*commit)(const takt_rule *rule, takt_rule_state *state, int64_t t_us, int64_t cost);

    /* Takes `cost` tokens at t_us that no work uses then: they were used before.  NULL: like
     * commit. */
    void (*charge)(const takt_rule *rule, takt_rule_state *state, int64_t t_us, int64_t cost);

    /* How many single tokens could be taken from from_us on with slots <= until_us; at most
     * TAKT_ROOM_MAX. */
    int64_t (*room)(const takt_rule *rule, const takt_rule_state *state, int64_t from_us,
                    int64_t until_us);

    /* The inverse of room: the slot of the n-th single token taken from from_us on, n >= 1. */
    int64_t (*due)(const takt_rule *rule, const takt_rule_state *state, int64_t from_us, int64_t n);

    /* Takes up to `count` times `cost` tokens from t_us on, evenly spaced, with slots <= until_us,
     * and says which in `run`, but not what else they are for: the longest even run from here,
     * which may be shorter than what there is room for.  Returns the number taken.  NULL: the
     * algorithm's slots are not evenly spaced; they are taken one by one. */
    int64_t (*series)(const takt_rule *rule, takt_rule_state *state, int64_t t_us, int64_t cost,
                      int64_t count, int64_t until_us, takt_run *run);

    /* As if everything that could be taken up to at_us had been: the next token is due at at_us,
     * then paced. */
    void (*exhaust)(const takt_rule *rule, takt_rule_state *state, int64_t at_us);

    /* Of `cost` tokens taken at slot_us, `unused` were not needed, as is known at now_us.  Gives
     * back what cannot have been made up for since; no slot was ever given after until_us. */
    void (*give_back)(const takt_rule *rule, takt_rule_state *state, int64_t now_us,
                      int64_t slot_us, int64_t cost, int64_t unused, int64_t until_us);

    /* When, if nothing is taken, the rule will be as from rest. */
    int64_t (*rest_at)(const takt_rule *rule, const takt_rule_state *state);

    /* A state that slots up to now + reach_us cannot explain is from another clock. Pulls it back
     * to the latest state that awards up to now + lookahead_us can explain. Debts stay. */
    void (*pull_back)(const takt_rule *rule, takt_rule_state *state, int64_t now_us,
                      int64_t reach_us, int64_t lookahead_us);

    /* The numbers and the state as short readable text, in which a space parts the two; see
     * takt_rule_write.  What read_rule reads is the second group and what else `same` rules share;
     * it may be a rule of other numbers. */
    void (*write_rule)(const takt_rule *rule, takt_writer *writer);
    void (*read_rule)(takt_rule *rule, takt_reader *reader);
    void (*write_state)(const takt_rule *rule, const takt_rule_state *state, takt_writer *writer);
    void (*read_state)(const takt_rule *rule, takt_rule_state *state, takt_reader *reader);

    /* A state kept under the numbers of `from` becomes one under those of `to`, a rule of the same
     * letter: the backlog in tokens is kept, and paced at the new rate from now_us on. */
    void (*convert)(const takt_rule *from, const takt_rule *to, takt_rule_state *state,
                    int64_t now_us);
};

/* The table of algorithms: row(NAME) is takt_NAME.  Whatever lists algorithms has them in this
 * order. */
#define TAKT_ALGORITHMS(row)                                                                       \
    row(gcra) row(token_bucket) row(leaky_bucket) row(fixed_window) row(sliding_window)            \
        row(sliding_log)

#define TAKT_ALGORITHM_DECLARE(name) extern const takt_algorithm takt_##name;
TAKT_ALGORITHMS(TAKT_ALGORITHM_DECLARE)

/* The row of a name, the first row of a letter, or NULL. */
const takt_algorithm *takt_algorithm_named(const char *name);
const takt_algorithm *takt_algorithm_lettered(char letter);

const takt_algorithm *
takt_algorithm_at(int index); /* in the order of the table; NULL: there are no more */

/* The names of the algorithms that take one of TAKT_TAKES_... ("gcra or token-bucket"); 0: of all.
 */
void takt_algorithm_list(unsigned takes, char *text, size_t size);

/* Checks a rule and derives its second group.  0, or TAKT_E_POLICY and an error that begins with
 * the field. */
int takt_rule_prepare(takt_rule *rule, takt_error *error);

/* Whether two rules keep the same numbers, so that the state of one can be read as that of the
 * other. */
bool takt_rule_same(const takt_rule *a, const takt_rule *b);

/* Rule and state as text: the letter, "=" if the rule counts requests or "&2:" to "&4:" if it
 * counts the second to fourth unit that the limit names, the numbers, a space, the state, and what
 * is owed: "g1/10000*10 1763692800123456!50", "g=500/60000000*1 1763692800123456".
 * takt_rule_write_numbers writes the part before the space. */
void takt_rule_write_numbers(const takt_rule *rule, takt_writer *writer);

void takt_rule_write(const takt_rule *rule, const takt_rule_state *state, takt_writer *writer);
void takt_rule_read(takt_rule *rule, takt_rule_state *state, takt_reader *reader);

/* So many slots at one instant. */
static inline takt_run takt_run_at(int64_t at_us, int64_t count, int32_t cost, takt_more more)
{
    return (takt_run){.first = {at_us, 0}, .whole = 1, .count = count, .cost = cost, .more = more};
}

/* The i-th slot of a run, 0 <= i < count. */
int64_t takt_run_slot(const takt_run *run, int64_t i);

/* A fraction rounded up to a whole microsecond: a slot is never early. */
static inline int64_t takt_fraction_ceil(takt_fraction f)
{
    return f.us + (f.parts > 0);
}

#endif
