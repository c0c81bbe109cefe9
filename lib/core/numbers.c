/*
 * numbers.c: see numbers.h.
 */
#include "core/numbers.h"

#include "core/debt.h"

#define EACH_RULE(numbers, i) for (int i = 0; i < (numbers)->rule_count; i++)

/* Loops over all rules in force; the brake comes last. */
#define EACH_KEPT(rule, numbers, state, i)                                                         \
    for (int i = 0; (rule = rule_at(numbers, state, i)) != NULL; i++)

/* NULL: no more rules. */
static const takt_rule *rule_at(const takt_numbers *numbers, const takt_rules_state *state, int i)
{
    if (i < numbers->rule_count)
        return &numbers->rules[i];
    return i == numbers->rule_count && state->brake.tokens > 0 ? &state->brake : NULL;
}

static bool are_several(const takt_numbers *numbers, const takt_rules_state *state)
{
    return rule_at(numbers, state, 1) != NULL;
}

int64_t takt_numbers_capacity(const takt_numbers *numbers, takt_unit unit, int *rule)
{
    int64_t min = INT64_MAX;

    EACH_RULE(numbers, i)
    {
        int64_t capacity = numbers->rules[i].algorithm->capacity(&numbers->rules[i]);
        if (numbers->rules[i].unit == unit && capacity < min) {
            min = capacity;
            if (rule)
                *rule = i;
        }
    }
    return min == INT64_MAX ? TAKT_ROOM_MAX : min;
}

static const takt_amounts any_amount = {
    {TAKT_ROOM_MAX, TAKT_ROOM_MAX, TAKT_ROOM_MAX, TAKT_ROOM_MAX, TAKT_ROOM_MAX}};

takt_amounts takt_numbers_throughput(const takt_numbers *numbers, const takt_rules_state *state,
                                     int64_t span_us)
{
    static const takt_rules_state unbraked = {.brake = {.tokens = 0}};
    const takt_rule *rule;
    takt_amounts min = any_amount;

    EACH_KEPT(rule, numbers, state ? state : &unbraked, i)
    {
        __extension__ unsigned __int128 tokens =
            (unsigned __int128)span_us * (uint64_t)rule->tokens / (uint64_t)rule->span_us;
        if (tokens < (uint64_t)min.of[rule->unit])
            min.of[rule->unit] = (int64_t)tokens;
    }
    return min;
}

int64_t takt_numbers_worth(const takt_numbers *numbers, const takt_rules_state *state,
                           takt_amounts amounts)
{
    const takt_rule *rule;
    int64_t worth_us = 0;

    EACH_KEPT(rule, numbers, state, i)
    {
        __extension__ unsigned __int128 us = (unsigned __int128)amounts.of[rule->unit] *
                                             (uint64_t)rule->span_us / (uint64_t)rule->tokens;
        if (us > (uint64_t)worth_us)
            worth_us = us < TAKT_SPAN_MAX_US ? (int64_t)us : TAKT_SPAN_MAX_US;
    }
    return worth_us;
}

int64_t takt_amounts_least(takt_amounts amounts)
{
    int64_t least = amounts.of[0];

    for (int unit = 1; unit < TAKT_UNITS; unit++)
        least = takt_min(least, amounts.of[unit]);
    return least;
}

bool takt_numbers_can_give(const takt_numbers *numbers, takt_amounts taken)
{
    EACH_RULE(numbers, i)
    {
        const takt_rule *rule = &numbers->rules[i];
        if (rule->algorithm->capacity(rule) < taken.of[rule->unit])
            return false;
    }
    return taken.of[TAKT_UNIT_TOKENS] <= TAKT_ROOM_MAX;
}

/* The same of so many requests together. */
static takt_amounts times(takt_amounts taken, int64_t requests)
{
    for (int unit = 0; unit < TAKT_UNITS; unit++)
        taken.of[unit] *= requests;
    return taken;
}

int64_t takt_numbers_span(const takt_numbers *numbers)
{
    int64_t span_us = numbers->concurrency > 0 ? numbers->lease_us : 0;

    EACH_RULE(numbers, i)
    span_us = takt_max(span_us, numbers->rules[i].period_us + numbers->rules[i].guard_us);
    return span_us;
}

int64_t takt_numbers_guard(const takt_numbers *numbers)
{
    int64_t min_us = TAKT_NEVER;

    EACH_RULE(numbers, i)
    if (numbers->rules[i].guard_us > 0)
        min_us = takt_min(min_us, numbers->rules[i].guard_us);
    return min_us;
}

void takt_numbers_begin(takt_rules_state *state, takt_pages *pages)
{
    for (int i = 0; i <= TAKT_RULES_MAX; i++)
        state->rules[i] = (takt_rule_state){.pages = pages};
    state->brake = (takt_rule){.tokens = 0};
    if (pages)
        pages->taken = pages->freed = 0;
}

void takt_numbers_rest(const takt_numbers *numbers, takt_rules_state *state, int64_t now_us)
{
    EACH_RULE(numbers, i)
    {
        numbers->rules[i].algorithm->rest(&numbers->rules[i], &state->rules[i], now_us);
        state->rules[i].owed = 0;
    }
}

int64_t takt_numbers_earliest(const takt_numbers *numbers, const takt_rules_state *state,
                              int64_t t_us, takt_amounts taken)
{
    const takt_rule *rule;

    /* one round is enough: what fits a rule fits it later as well */
    EACH_KEPT(rule, numbers, state, i)
    {
        t_us = takt_debt_earliest(rule, &state->rules[i], t_us, taken.of[rule->unit]);
        if (t_us == TAKT_NEVER)
            break;
    }
    return t_us;
}

void takt_numbers_commit(const takt_numbers *numbers, takt_rules_state *state, int64_t t_us,
                         takt_amounts taken)
{
    const takt_rule *rule;

    EACH_KEPT(rule, numbers, state, i)
    rule->algorithm->commit(rule, &state->rules[i], t_us, taken.of[rule->unit]);
}

int64_t takt_numbers_earliest_beside(const takt_numbers *numbers, const takt_rules_state *state,
                                     int rule, int64_t t_us, takt_amounts taken)
{
    EACH_RULE(numbers, i)
    if (i != rule && t_us != TAKT_NEVER)
        t_us = takt_debt_earliest(&numbers->rules[i], &state->rules[i], t_us,
                                  taken.of[numbers->rules[i].unit]);
    return t_us;
}

void takt_numbers_commit_beside(const takt_numbers *numbers, takt_rules_state *state, int rule,
                                int64_t t_us, takt_amounts taken)
{
    EACH_RULE(numbers, i)
    if (i != rule)
        numbers->rules[i].algorithm->commit(&numbers->rules[i], &state->rules[i], t_us,
                                            taken.of[numbers->rules[i].unit]);
}

takt_amounts takt_numbers_room(const takt_numbers *numbers, const takt_rules_state *state,
                               int64_t from_us, int64_t until_us)
{
    const takt_rule *rule;
    takt_amounts min = any_amount;

    if (are_several(numbers, state))
        from_us = takt_numbers_earliest(numbers, state, from_us, takt_amounts_of_cost(1));
    EACH_KEPT(rule, numbers, state, i)
    {
        int64_t room = takt_debt_room(rule, &state->rules[i], from_us, until_us);
        if (room < min.of[rule->unit])
            min.of[rule->unit] = room;
    }
    return min;
}

int64_t takt_numbers_due(const takt_numbers *numbers, const takt_rules_state *state,
                         int64_t from_us, takt_amounts n)
{
    const takt_rule *rule;
    int64_t latest;

    if (are_several(numbers, state))
        from_us = takt_numbers_earliest(numbers, state, from_us, takt_amounts_of_cost(1));
    latest = from_us;
    EACH_KEPT(rule, numbers, state, i)
    {
        int64_t due = takt_debt_due(rule, &state->rules[i], from_us,
                                    takt_min(n.of[rule->unit], TAKT_ROOM_MAX));
        if (due > latest)
            latest = due;
    }
    return latest < TAKT_WINDOW_END ? latest : TAKT_WINDOW_END;
}

/* A rule at rest gives the most. Exception: a window that begins with its first token may end soon
 * after t_us, with a whole window behind it. */
int64_t takt_numbers_due_at_best(const takt_numbers *numbers, int64_t t_us, takt_amounts n)
{
    int64_t latest = t_us;

    EACH_RULE(numbers, i)
    {
        const takt_rule *rule = &numbers->rules[i];
        int64_t more = n.of[rule->unit] - (rule->align == TAKT_ALIGN_FIRST_USE ? rule->tokens : 0);
        takt_rule_state state = {.pages = NULL};
        int64_t due = t_us;
        if (more > 0) {
            rule->algorithm->rest(rule, &state, t_us);
            due = rule->algorithm->due(rule, &state, t_us, more);
        }
        if (due > latest)
            latest = due;
    }
    return latest;
}

/* Extends a run by a slot, if the slot is evenly spaced from it. */
static bool extend_run(takt_run *run, int64_t slot_us, int32_t cost, takt_more more)
{
    if (run->cost != cost || run->whole != 1 || slot_us < run->first.us ||
        !takt_more_same(run->more, more))
        return false;
    if (run->count == 1)
        run->step = (takt_fraction){slot_us - run->first.us, 0};
    if (slot_us != takt_run_slot(run, run->count))
        return false;
    run->count++;
    return true;
}

bool takt_runs_append(takt_run *runs, int *run_count, int run_max, int64_t slot_us, int32_t cost,
                      takt_more more)
{
    if (*run_count > 0 && extend_run(&runs[*run_count - 1], slot_us, cost, more))
        return true;
    if (*run_count == run_max)
        return false;
    runs[(*run_count)++] = takt_run_at(slot_us, 1, cost, more);
    return true;
}

/* How often `taken` can be taken at t_us, at most `count` times. At one instant, single takes have
 * the same effect as one take of the sum. */
static int64_t times_at(const takt_numbers *numbers, const takt_rules_state *state, int64_t t_us,
                        takt_amounts taken, int64_t count)
{
    const takt_rule *rule;

    EACH_KEPT(rule, numbers, state, i)
    {
        int64_t n = takt_debt_room(rule, &state->rules[i], t_us, t_us) / taken.of[rule->unit];
        if (n < count)
            count = n;
    }
    return count > 1 ? count : 1;
}

/* Takes one slot, or all slots of its instant if the one before was at the same instant. Returns
 * the number; 0: no free run. */
static int64_t take_at(const takt_numbers *numbers, takt_rules_state *state, int64_t t_us,
                       int64_t cost, takt_more more, int64_t count, takt_run *runs, int *run_count,
                       int run_max)
{
    takt_amounts taken = takt_amounts_of(cost, more);
    const takt_run *last;
    int64_t n = 1;

    if (!takt_runs_append(runs, run_count, run_max, t_us, (int32_t)cost, more))
        return 0;
    last = &runs[*run_count - 1];
    if (last->count > 1 && last->step.us == 0) {
        n = times_at(numbers, state, t_us, taken, count);
        runs[*run_count - 1].count += n - 1;
    }
    takt_numbers_commit(numbers, state, t_us, times(taken, n));
    return n;
}

void takt_numbers_pay(const takt_numbers *numbers, takt_rules_state *state, int64_t now_us)
{
    EACH_RULE(numbers, i)
    takt_debt_pay(&numbers->rules[i], &state->rules[i], now_us);
}

void takt_numbers_pay_ahead(const takt_numbers *numbers, takt_rules_state *state, int64_t until_us)
{
    EACH_RULE(numbers, i)
    takt_debt_pay_ahead(&numbers->rules[i], &state->rules[i], until_us);
}

int64_t takt_numbers_take(const takt_numbers *numbers, takt_rules_state *state, int64_t from_us,
                          int64_t cost, takt_more more, int64_t count, int64_t until_us,
                          takt_run *runs, int *run_count, int run_max)
{
    const takt_amounts one = takt_amounts_of(cost, more);
    const takt_rule *rule = rule_at(numbers, state, 0);
    bool even = rule && rule->algorithm->series && !are_several(numbers, state);
    int64_t taken = 0;

    if (count > 0)
        takt_numbers_pay_ahead(numbers, state, until_us);
    even = even && takt_debt_of(rule, &state->rules[0]) == 0;
    for (int steps = 0; taken < count && steps < TAKT_TAKE_STEPS_MAX; steps++) {
        int64_t t_us = takt_numbers_earliest(numbers, state, from_us, one);
        int64_t n;
        if (t_us > until_us) /* also for TAKT_NEVER */
            break;
        if (even) {
            takt_run run;
            if (*run_count == run_max)
                break;
            n = rule->algorithm->series(rule, &state->rules[0], from_us, one.of[rule->unit],
                                        count - taken, until_us, &run);
            run.cost = (int32_t)cost;
            run.more = more;
            if (n > 1 || !takt_runs_append(runs, run_count, run_max, t_us, (int32_t)cost, more))
                runs[(*run_count)++] = run;
        } else {
            n = take_at(numbers, state, t_us, cost, more, count - taken, runs, run_count, run_max);
            if (n == 0)
                break;
        }
        taken += n;
    }
    return taken;
}

static void charge_ahead(const takt_rule *rule, takt_rule_state *state, int64_t now_us,
                         int64_t until_us, int64_t tokens)
{
    int64_t n = takt_min(rule->algorithm->room(rule, state, now_us, until_us), tokens);

    if (n > 0)
        rule->algorithm->commit(rule, state, now_us, n);
}

void takt_numbers_charge(const takt_numbers *numbers, takt_rules_state *state, int64_t now_us,
                         takt_amounts used)
{
    const takt_rule *rule;

    EACH_KEPT(rule, numbers, state, i)
    {
        takt_rule_state *kept = &state->rules[i];
        bool is_brake = i == numbers->rule_count;
        int64_t tokens = used.of[rule->unit];
        if (tokens == 0)
            continue;
        if (!rule->algorithm->owes) {
            takt_debt_charge(rule, kept, now_us, tokens);
            continue;
        }
        charge_ahead(rule, kept, now_us,
                     now_us +
                         (is_brake ? TAKT_LOOKAHEAD_MAX_US : TAKT_SPAN_MAX_US - rule->tolerance.us),
                     tokens);
        if (!is_brake) /* pull_back keeps the part that slots cannot reach */
            kept->owed = takt_min(kept->owed + tokens, TAKT_RULE_LIMIT_MAX);
    }
}

/* What a brake learns would not outlive a change of its rate. */
void takt_numbers_give_back(const takt_numbers *numbers, takt_rules_state *state, int64_t now_us,
                            int64_t slot_us, takt_amounts taken, takt_amounts unused)
{
    const takt_rule *rule;

    EACH_KEPT(rule, numbers, state, i)
    {
        if (unused.of[rule->unit] == 0)
            continue;
        rule->algorithm->give_back(
            rule, &state->rules[i], i == numbers->rule_count ? slot_us : now_us, slot_us,
            taken.of[rule->unit], unused.of[rule->unit], now_us + numbers->lookahead_us);
        /* the room exists from now on, so debts are paid from now on */
        takt_debt_pay_at(rule, &state->rules[i], now_us);
    }
}

void takt_numbers_exhaust(const takt_numbers *numbers, takt_rules_state *state, int64_t at_us)
{
    const takt_rule *rule;

    EACH_KEPT(rule, numbers, state, i)
    rule->algorithm->exhaust(rule, &state->rules[i], at_us);
}

int64_t takt_numbers_rest_at(const takt_numbers *numbers, const takt_rules_state *state)
{
    const takt_rule *rule;
    int64_t latest = 0;

    EACH_KEPT(rule, numbers, state, i)
    {
        int64_t at = takt_debt_rest_at(rule, &state->rules[i]);
        if (at > latest)
            latest = at;
    }
    return latest;
}

void takt_numbers_tell(const takt_numbers *numbers, const takt_rules_state *state, int64_t now_us,
                       takt_rule_standing *rules)
{
    EACH_RULE(numbers, i)
    {
        const takt_rule *rule = &numbers->rules[i];
        rules[i].unit = takt_unit_name(rule->unit);
        rules[i].limit = rule->algorithm->capacity(rule);
        rules[i].remaining = takt_debt_room(rule, &state->rules[i], now_us, now_us);
        rules[i].reset_after_us = takt_max(takt_debt_rest_at(rule, &state->rules[i]) - now_us, 0);
    }
}

/* Slots that workers have in hand lie up to a lookahead less far ahead than the state.  When it is
 * pulled back, all of them must be further ahead than a worker believes (drop_foreign of
 * scheduler.c), or they would be used beside those that take their place. */
void takt_numbers_pull_back(const takt_numbers *numbers, takt_rules_state *state, int64_t now_us)
{
    int64_t reach_us = TAKT_LOOKAHEAD_MAX_US + 2 * numbers->lookahead_us;
    const takt_rule *rule;

    EACH_KEPT(rule, numbers, state, i)
    rule->algorithm->pull_back(rule, &state->rules[i], now_us, reach_us, numbers->lookahead_us);
}
