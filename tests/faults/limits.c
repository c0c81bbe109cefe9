/*
 * limits.c: see limits.h.
 */
#include "faults/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

__extension__ typedef __int128 wide;

const struct limit limits[] = {
    [ANY_KEY] = {"any", 256, 0, 1, {{GCRA, 160, 1000000, 8, "160/s", "8"}}, 0},
    {"busy", 1, 16, 1, {{GCRA, 500, 1000000, 20, "500/s", "20"}}, 0},
    {"odd", 4, 4, 1, {{GCRA, 7, 9000, 3, "7/9ms", "3"}}, 0},
    {"each", 24, 1, 1, {{GCRA, 100, 1000000, 5, "100/s", "5"}}, 0},
    {"log", 3, 4, 1, {{LOG, 60, 1000000, 0, "60/s", NULL}}, 0},
    {"window", 3, 4, 1, {{WINDOW, 50, 1000000, 0, "50/s", NULL}}, 0},
    {"both",
     2,
     3,
     2,
     {{GCRA, 90, 1000000, 10, "90/s", "10"}, {WINDOW, 40, 500000, 0, "40/500ms", NULL}},
     0},
    {"held", 2, 3, 0, {{0}}, 5},
    {"paced", 2, 3, 1, {{GCRA, 100, 1000000, 4, "100/s", "4"}}, 3},
};
const int limit_count = sizeof limits / sizeof limits[0];

static const char *const algorithms[] = {"gcra", "sliding-log", "fixed-window"};

static void add(takt_policy *policy, const struct limit *limit)
{
    takt_rule_text rules[RULES_MAX] = {0};
    takt_limit_text text = {.name = limit->name,
                            .rules = rules,
                            .rule_count = (unsigned)limit->rule_count,
                            .lookahead = "250ms"};
    char concurrency[16];
    takt_error error;

    snprintf(concurrency, sizeof concurrency, "%d", limit->concurrency);
    if (limit->concurrency > 0) {
        text.concurrency = concurrency;
        text.lease = LEASE;
    }

    for (int i = 0; i < limit->rule_count; i++) {
        rules[i].rate = limit->rules[i].rate;
        rules[i].burst = limit->rules[i].burst_text;
        rules[i].algorithm = algorithms[limit->rules[i].kind];
    }
    if (takt_policy_add(policy, &text, &error) == 0)
        return;
    fprintf(stderr, "%s: %s\n", limit->name, error.text);
    abort();
}

takt_policy *limits_policy(void)
{
    takt_policy *policy;

    if (takt_policy_new(&policy, NULL) < 0)
        abort();
    for (int i = 0; i < limit_count; i++)
        add(policy, &limits[i]);
    return policy;
}

int limits_ledger(int limit, int key)
{
    int ledger = key;

    for (int i = 0; i < limit; i++)
        ledger += limits[i].keys;
    return ledger;
}

/* ---- checking -------------------------------------------------------------------------------- */

static int by_ledger_and_time(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;

    if (x->ledger != y->ledger)
        return x->ledger < y->ledger ? -1 : 1;
    return (x->at_us > y->at_us) - (x->at_us < y->at_us);
}

/* The tokens of the rule that may be taken beyond it. */
static int64_t beyond(const struct rule *rule, struct allowance allowance)
{
    int64_t once = rule->kind == GCRA ? rule->burst : rule->tokens;
    int64_t ahead = (allowance.ahead_us * rule->tokens + rule->period_us - 1) / rule->period_us;

    return allowance.losses * (once + ahead);
}

/*
 * In any interval: tokens <= burst + d / T, where T is period / tokens, and d is in microseconds
 * that were rounded up. With C as the sum of the costs: C(j) - C(i - 1) <= burst + (s(j) - s(i) +
 * 1) / T for all i <= j. Hence C(j) * period - s(j) * tokens <= the minimum of (C(i - 1) * period -
 * s(i) * tokens) so far + burst * period + tokens.
 */
static int64_t broken_gcra(const struct rule *rule, const struct slot *slots, int64_t count,
                           int64_t more)
{
    wide min = 0, sum = 0, at;

    for (int64_t i = 0; i < count; i++) {
        at = (wide)(slots[i].at_us - slots[0].at_us) * rule->tokens;
        if (i == 0 || sum - at < min)
            min = sum - at;
        sum += (wide)slots[i].cost * rule->period_us;
        if (sum - at > min + (wide)(rule->burst + more) * rule->period_us + rule->tokens)
            return i;
    }
    return -1;
}

/* At most so many tokens in any half-open window of one period. */
static int64_t broken_log(const struct rule *rule, const struct slot *slots, int64_t count,
                          int64_t more)
{
    int64_t first = 0, sum = 0;

    for (int64_t i = 0; i < count; i++) {
        sum += slots[i].cost;
        while (slots[i].at_us - slots[first].at_us >= rule->period_us)
            sum -= slots[first++].cost;
        if (sum > rule->tokens + more)
            return i;
    }
    return -1;
}

/* At most so many tokens in each aligned window. */
static int64_t broken_window(const struct rule *rule, const struct slot *slots, int64_t count,
                             int64_t more)
{
    int64_t window = -1, sum = 0;

    for (int64_t i = 0; i < count; i++) {
        if (slots[i].at_us / rule->period_us != window)
            sum = 0;
        window = slots[i].at_us / rule->period_us;
        sum += slots[i].cost;
        if (sum > rule->tokens + more)
            return i;
    }
    return -1;
}

static bool ledger_holds(const struct limit *limit, int key, const struct slot *slots,
                         int64_t count, struct allowance allowance, char *text, size_t size)
{
    static int64_t (*const broken[])(const struct rule *, const struct slot *, int64_t,
                                     int64_t) = {broken_gcra, broken_log, broken_window};

    for (int i = 0; i < limit->rule_count; i++) {
        const struct rule *rule = &limit->rules[i];
        int64_t at = broken[rule->kind](rule, slots, count, beyond(rule, allowance));
        if (at < 0)
            continue;
        snprintf(text, size,
                 "%s:%d: the rule %s (%s) is broken by slot %" PRId64 " of %" PRId64
                 ", at %" PRId64,
                 limit->name, key, rule->rate, algorithms[rule->kind], at, count, slots[at].at_us);
        return false;
    }
    return true;
}

bool limits_hold(struct slot *slots, int64_t count, struct allowance allowance, char *text,
                 size_t size)
{
    int64_t from = 0;

    qsort(slots, (size_t)count, sizeof *slots, by_ledger_and_time);
    for (int limit = 0; limit < limit_count; limit++)
        for (int key = 0; key < limits[limit].keys; key++) {
            int64_t until = from;
            while (until < count && slots[until].ledger == limits_ledger(limit, key))
                until++;
            if (!ledger_holds(&limits[limit], key, slots + from, until - from, allowance, text,
                              size))
                return false;
            from = until;
        }
    return true;
}
