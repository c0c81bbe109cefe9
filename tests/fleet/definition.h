/*
 * definition.h: the promise of each algorithm, over the list of given slots.
 *
 * Written from the definitions, in another way than lib/core: exact numbers of 128 bits, slots
 * counted one by one, no closed forms. A definition answers two questions about the next slot:
 * whether a rule may give it (it never gives too much), and what the first possible moment is (it
 * wastes nothing and is exact).
 */
#ifndef TAKT_TESTS_DEFINITION_H
#define TAKT_TESTS_DEFINITION_H

#include "core/limit.h"

__extension__ typedef __int128 wide;

typedef enum definition_kind {
    DEFINED_BUCKET,
    DEFINED_FIXED,
    DEFINED_LOG,
    DEFINED_SLIDING
} definition_kind;

/* Tokens that were used without a slot, and all that was given since. */
typedef struct definition_debt {
    int64_t at_us, given;
} definition_debt;

#define DEFINITION_DEBTS 32 /* the last ones are looked at */

/* A slot that counts for a window. */
typedef struct definition_token {
    int64_t at_us;
    int64_t cost;
    int64_t before; /* the costs of all older ones, if known */
} definition_token;

/* The tokens that a bucket gave or lost to a block: rounded and exact, in parts of 1/tokens us. */
typedef struct definition_taking {
    int64_t slot_us, cost; /* cost 0: a block */
    wide at_told, at_least;
    wide told, min;
} definition_taking;

typedef struct definition {
    definition_kind kind;
    takt_rule rule;
    int64_t period_us; /* of a window; for which a log's token counts */
    wide tokens, span; /* the rate, exactly: that many tokens per that many microseconds */

    /* A bucket: theoretical arrival times in parts of 1/tokens us. Of the rounded slots, in whole
     * microseconds: the promise. And exact: between least and most, which differ only after the
     * numbers of a rule were changed. */
    wide told, min, max;
    wide base_told, base_min; /* before the last takings, which can be struck off again */
    definition_taking *takings;
    int taking_count, taking_capacity;

    /* The others: the taken tokens, the oldest first. A window that opens with its first token:
     * where it begins, and how much was taken from it. */
    definition_token *taken;
    int count, capacity;
    int64_t opened_us, used;
    int64_t opened_before_us, used_before; /* the one before it */
    definition_debt debts[DEFINITION_DEBTS];
    int debt_count;
    bool charged; /* a bucket: its debt is no jump of a clock */
    /* Of a sliding window: the window of the last token, how far it fell behind an even use, and
     * the tokens held back in it for the window before. */
    int64_t window_us, behind, held;
    int64_t
        unknown_until_us;   /* a window that begins before has other counts than those known here */
    int64_t vague_until_us; /* after a block or a change of numbers the slots may be later than
                               these tell */
} definition;

definition_kind definition_kind_of(const takt_algorithm *algorithm);

/* How long a token counts, or a window lasts.  Windows by the clock are the same for everybody, so
 * that a guard cannot make them longer. */
int64_t definition_period(const takt_rule *rule);

void definition_open(definition *self, const takt_rule *rule);
void definition_close(definition *self);
void definition_copy(definition *to, const definition *from); /* `to` is open */

/* What one request of that cost takes of the rule; the calls below take costs. */
int64_t definition_amount(const definition *self, int64_t cost);

/* The most that it can ever give at one instant, in its unit. */
int64_t definition_capacity(const definition *self);

/* As from rest. */
void definition_rest(definition *self);

/* The ledger began anew at that instant, when all before was over, and knows nothing of it.  What
 * it may owe from then on stays. */
void definition_lose(definition *self, int64_t before_us);

/* The counts are not known until then, nor what sliding windows hold back for them. */
void definition_blur(definition *self, int64_t until_us);

/* The ledger is a fresh one: it knows nothing of the parts of a microsecond before. */
void definition_begin(definition *self, int64_t now_us);

/* Whether the rule lets `cost` start at t_us, after all that was taken. */
bool definition_permits(const definition *self, int64_t t_us, int64_t cost);

/* The first moment from t_us on at which it does; not before that if it is vague. */
int64_t definition_earliest(const definition *self, int64_t t_us, int64_t cost);

void definition_take(definition *self, int64_t t_us, int64_t cost);

/* As if all that could be taken up to that instant had been. */
void definition_exhaust(definition *self, int64_t at_us);

/* Slots that were taken are handed back unused; no slot was given after until_us.  A ledger whose
 * clock was set back takes slots up to set_back_us for the last ones. */
void definition_hand_back(definition *self, const takt_run *unused, int64_t until_us,
                          int64_t set_back_us);

/* Work cost so many tokens more than it took. From then on any interval has at most the tokens of
 * its windows, including these. */
void definition_charge(definition *self, int64_t now_us, int64_t tokens);

/* The slots taken under `from` as they count under these numbers, at now_us. */
void definition_follow(definition *self, const definition *from, int64_t now_us);

/* There were none under such numbers: begin without a burst, between now and begins_us. */
void definition_begin_late(definition *self, int64_t now_us, int64_t begins_us);

/*
 * Debts that reach further than any slots could are taken for those of another clock, and forgotten
 * but for one lookahead; only a change of numbers can make such debts here.
 */
void definition_forgive(definition *self, int64_t now_us, int64_t lookahead_us);

/* The latest time from which the rule is at rest, if nothing is taken. */
int64_t definition_rest_at(const definition *self);

/* Between the parts of a definition: a taking of a bucket is noted; all that were are forgotten. */
void definition_note(definition *self, definition_taking taking);
void definition_forget(definition *self);

/* The tokens of windows from that one on have other sums than before. */
void definition_add_up(definition *self, int from);

#endif
