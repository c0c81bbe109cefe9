/*
 * gcra.c: the generic cell rate algorithm (ITU-T I.371, "virtual scheduling"), in exact whole
 * numbers.
 *
 * The state is one instant, the theoretical arrival time (TAT): the time when the next token would
 * be on time. The emission interval is T = period / limit. `cost` tokens conform at t when
 * t >= TAT + (cost - burst) * T. Taking them sets TAT = max(TAT, t) + cost * T. In any interval of
 * length d, this gives
 *
 *     tokens taken  <=  burst + d / T
 *
 * T is seldom a whole number of microseconds. TAT therefore has microseconds and a remainder in
 * parts of 1/limit. A slot is the exact instant rounded up. TAT is never rounded, so a rate of 3/s
 * does not drift.
 *
 * This file decides when tokens of one rule may be taken. numbers.c combines rules, and lows.c
 * keeps the backlogs that give_back needs.
 */
#include "rules/gcra.h"

#include "base/fail.h"
#include "base/integers.h"

static takt_wide in_parts(takt_fraction f, int64_t whole)
{
    return (takt_wide)f.us * whole + f.parts;
}

static takt_fraction plus(takt_fraction a, takt_fraction b, int64_t whole)
{
    takt_fraction sum = {a.us + b.us, a.parts + b.parts};

    if (sum.parts >= whole) {
        sum.us++;
        sum.parts -= whole;
    }
    return sum;
}

static takt_fraction minus(takt_fraction a, takt_fraction b, int64_t whole)
{
    takt_fraction difference = {a.us - b.us, a.parts - b.parts};

    if (difference.parts < 0) {
        difference.us--;
        difference.parts += whole;
    }
    return difference;
}

/* n emission intervals, 0 <= n <= TAKT_ROOM_MAX, at most 100 years. */
static takt_fraction intervals(const takt_rule *rule, int64_t n)
{
    int64_t parts = n * rule->interval.parts; /* both at most 10^9 */
    int64_t us;

    if (__builtin_mul_overflow(n, rule->interval.us, &us) || us > 2 * TAKT_SPAN_MAX_US)
        return (takt_fraction){2 * TAKT_SPAN_MAX_US, 0};
    return (takt_fraction){us + parts / rule->tokens, parts % rule->tokens};
}

/* TAT at t_us. It is never in the past, because a bucket does not fill beyond its burst. */
static takt_fraction tat_at(const takt_rule_state *state, int64_t t_us)
{
    if (t_us > takt_fraction_ceil(state->gcra.tat))
        return (takt_fraction){t_us, 0};
    return state->gcra.tat;
}

/* The exact instant at which `cost` more tokens conform. */
static takt_fraction conforms(const takt_rule *rule, takt_fraction tat, int64_t cost)
{
    return minus(plus(tat, intervals(rule, cost), rule->tokens), rule->tolerance, rule->tokens);
}

static takt_wide greatest_common_divisor(takt_wide a, takt_wide b)
{
    while (b != 0) {
        takt_wide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Derives the fractions from tokens, span_us and burst. */
static void derive(takt_rule *rule)
{
    takt_wide tolerance = (takt_wide)rule->burst * rule->span_us;

    rule->interval = (takt_fraction){rule->span_us / rule->tokens, rule->span_us % rule->tokens};
    rule->tolerance =
        (takt_fraction){(int64_t)(tolerance / rule->tokens), (int64_t)(tolerance % rule->tokens)};
}

int takt_gcra_prepare(takt_rule *rule, takt_error *error)
{
    takt_wide tokens = (takt_wide)rule->limit * (10000 - rule->headroom_bp);
    takt_wide period = (takt_wide)(rule->period_us + rule->guard_us) * 10000;
    takt_wide divisor = greatest_common_divisor(tokens, period);

    tokens /= divisor;
    period /= divisor;
    if (tokens > TAKT_RULE_LIMIT_MAX || period > TAKT_EXACT_MAX)
        return takt_fail(
            error, TAKT_E_POLICY,
            "headroom: too fine for this rate to be kept exactly; write whole percents, or a rate "
            "with fewer digits");
    if (period / tokens > TAKT_SPAN_MAX_US)
        return takt_fail(error, TAKT_E_POLICY, "headroom: leaves less than one token in 50 years");
    if (rule->burst == 0)
        rule->burst = 1;
    if (rule->burst < 1 || rule->burst > TAKT_RULE_LIMIT_MAX ||
        rule->burst * period / tokens > TAKT_SPAN_MAX_US)
        return takt_fail(
            error, TAKT_E_POLICY,
            "burst: %lld is more than the rate gives in 50 years or than %lld; write less",
            (long long)rule->burst, (long long)TAKT_RULE_LIMIT_MAX);
    rule->tokens = (int64_t)tokens;
    rule->span_us = (int64_t)period;
    derive(rule);
    return 0;
}

static void forget_lows(takt_rule_state *state)
{
    state->gcra.lows.count = 0;
    state->gcra.lows.step_us = 0;
}

/* Notes the backlog of a slot at t_us that is given when TAT is `tat`. */
static void note_low(const takt_rule *rule, takt_rule_state *state, int64_t t_us, takt_fraction tat)
{
    if (state->gcra.lows.count > 0)
        takt_lows_note(&state->gcra.lows, t_us, tat.us > t_us ? tat.us - t_us : 0,
                       rule->tolerance.us);
}

int64_t takt_gcra_capacity(const takt_rule *rule)
{
    return rule->burst;
}

void takt_gcra_rest(const takt_rule *rule, takt_rule_state *state, int64_t now_us)
{
    (void)rule;
    state->gcra.tat = (takt_fraction){now_us, 0};
    forget_lows(state);
}

int64_t takt_gcra_earliest(const takt_rule *rule, const takt_rule_state *state, int64_t t_us,
                           int64_t cost)
{
    int64_t due;

    if (cost > rule->burst)
        return TAKT_NEVER;
    due = takt_fraction_ceil(conforms(rule, state->gcra.tat, cost));
    return due > t_us ? due : t_us;
}

void takt_gcra_commit(const takt_rule *rule, takt_rule_state *state, int64_t t_us, int64_t cost)
{
    takt_fraction tat = tat_at(state, t_us);

    note_low(rule, state, t_us, tat);
    state->gcra.tat = plus(tat, intervals(rule, cost), rule->tokens);
}

int64_t takt_gcra_room(const takt_rule *rule, const takt_rule_state *state, int64_t from_us,
                       int64_t until_us)
{
    takt_fraction tat = tat_at(state, from_us);
    takt_wide ahead = in_parts((takt_fraction){until_us - tat.us, -tat.parts}, rule->tokens) +
                      in_parts(rule->tolerance, rule->tokens);
    takt_wide n;

    if (until_us < from_us || ahead < 0)
        return 0;
    n = ahead / in_parts(rule->interval, rule->tokens);
    return n > TAKT_ROOM_MAX ? TAKT_ROOM_MAX : (int64_t)n;
}

int64_t takt_gcra_due(const takt_rule *rule, const takt_rule_state *state, int64_t from_us,
                      int64_t n)
{
    int64_t at = takt_fraction_ceil(conforms(rule, tat_at(state, from_us), n));

    return at > from_us ? at : from_us;
}

int64_t takt_gcra_series(const takt_rule *rule, takt_rule_state *state, int64_t t_us, int64_t cost,
                         int64_t count, int64_t until_us, takt_run *run)
{
    takt_fraction tat = tat_at(state, t_us);
    takt_fraction first = conforms(rule, tat, cost);
    takt_fraction step = intervals(rule, cost);
    bool at_once = takt_fraction_ceil(first) <= t_us;
    int64_t last_us = at_once ? t_us : until_us;
    takt_wide n;

    if (cost > rule->burst || t_us > until_us || takt_fraction_ceil(first) > last_us)
        return 0;
    n = in_parts((takt_fraction){last_us - first.us, -first.parts}, rule->tokens) /
            in_parts(step, rule->tokens) +
        1;
    if (n > count)
        n = count;
    if (n * cost > TAKT_ROOM_MAX)
        n = TAKT_ROOM_MAX / cost;
    run->first = at_once ? (takt_fraction){t_us, 0} : first;
    run->step = at_once ? (takt_fraction){0, 0} : step;
    run->whole = rule->tokens;
    run->count = (int64_t)n;
    run->cost = (int32_t)cost;
    note_low(rule, state, takt_run_slot(run, 0), tat);
    if (!at_once && n > 1) { /* all slots have the same backlog, up to part of a microsecond */
        tat = (takt_fraction){takt_run_slot(run, run->count - 1) - 2 - step.us, 0};
        note_low(rule, state, takt_run_slot(run, run->count - 1),
                 plus(tat, rule->tolerance, rule->tokens));
        tat = tat_at(state, t_us);
    }
    state->gcra.tat = plus(tat, intervals(rule, (int64_t)n * cost), rule->tokens);
    return (int64_t)n;
}

void takt_gcra_exhaust(const takt_rule *rule, takt_rule_state *state, int64_t at_us)
{
    takt_fraction tat = minus(plus((takt_fraction){at_us, 0}, rule->tolerance, rule->tokens),
                              rule->interval, rule->tokens);

    if (in_parts(tat, rule->tokens) > in_parts(state->gcra.tat, rule->tokens)) {
        state->gcra.tat = tat;
        forget_lows(state);
    }
}

static takt_fraction later_of(takt_fraction a, takt_fraction b, int64_t whole)
{
    return in_parts(a, whole) > in_parts(b, whole) ? a : b;
}

/*
 * Let s_i be the slot that is given back, c_i its cost, and s_j the slots from s_i on. TAT is at
 * least s_i + sum(c_j) * T. A later slot s_k stays right if TAT stays at or above
 * s_k + sum(c_j, j >= k) * T. So TAT may always be lowered to (TAT - c_i * T) + (until - s_i),
 * plus a microsecond because slots are rounded up. If no later slot was given, all of c_i comes
 * back. If the backlogs of later slots are known, TAT may be lowered by the lowest of them. If TAT
 * is less than s_i + c_i * T, the tokens are no longer in it: they were given back or forgotten.
 */
void takt_gcra_give_back(const takt_rule *rule, takt_rule_state *state, int64_t now_us,
                         int64_t slot_us, int64_t cost, int64_t unused, int64_t until_us)
{
    takt_fraction min = minus(state->gcra.tat, intervals(rule, cost), rule->tokens);
    takt_fraction tat = minus(state->gcra.tat, intervals(rule, unused), rule->tokens), back;
    int64_t low_us = takt_lows_of(&state->gcra.lows, slot_us);

    if (takt_fraction_ceil(min) < slot_us)
        return;
    if (until_us >= slot_us && (rule->interval.us == 0 || takt_fraction_ceil(min) > slot_us))
        min.us += until_us - slot_us + 1;
    if (low_us >= 0 && (low_us == TAKT_LOWS_UNKNOWN || state->gcra.tat.us - low_us < min.us))
        min = (takt_fraction){low_us == TAKT_LOWS_UNKNOWN ? 0 : state->gcra.tat.us - low_us,
                              state->gcra.tat.parts};
    tat = later_of(tat, min, rule->tokens);
    if (in_parts(tat, rule->tokens) < in_parts(state->gcra.tat, rule->tokens)) {
        back = minus(state->gcra.tat, tat, rule->tokens);
        takt_lows_lower(&state->gcra.lows, slot_us, takt_fraction_ceil(back));
        state->gcra.tat = tat;
    }
    takt_lows_learn(&state->gcra.lows, now_us, slot_us, until_us);
}

int64_t takt_gcra_rest_at(const takt_rule *rule, const takt_rule_state *state)
{
    (void)rule;
    return takt_fraction_ceil(state->gcra.tat);
}

static takt_wide divided_up(takt_wide a, takt_wide b)
{
    return (a + b - 1) / b;
}

/* The number of tokens by which TAT exceeds `furthest`. */
static takt_wide tokens_beyond(const takt_rule *rule, takt_fraction tat, takt_fraction furthest)
{
    takt_wide beyond = in_parts(tat, rule->tokens) - in_parts(furthest, rule->tokens);

    return beyond > 0 ? divided_up(beyond, in_parts(rule->interval, rule->tokens)) : 0;
}

void takt_gcra_pull_back(const takt_rule *rule, takt_rule_state *state, int64_t now_us,
                         int64_t reach_us, int64_t lookahead_us)
{
    takt_fraction given =
        plus((takt_fraction){now_us + lookahead_us, 0}, rule->tolerance, rule->tokens);
    takt_fraction furthest =
        plus((takt_fraction){now_us + reach_us, 0}, rule->tolerance, rule->tokens);
    takt_wide beyond = tokens_beyond(rule, state->gcra.tat, furthest);

    if (beyond > state->owed) {
        state->gcra.tat = plus(given, intervals(rule, state->owed), rule->tokens);
        beyond = tokens_beyond(rule, state->gcra.tat, furthest);
        forget_lows(state);
    }
    state->owed = (int64_t)beyond;
}

/* "1/10000*10": the rate, as tokens per microseconds in lowest terms, and the burst. */
void takt_gcra_write_rule(const takt_rule *rule, takt_writer *writer)
{
    takt_write_int(writer, rule->tokens);
    takt_write_char(writer, '/');
    takt_write_int(writer, rule->span_us);
    takt_write_char(writer, '*');
    takt_write_int(writer, rule->burst);
}

void takt_gcra_read_rule(takt_rule *rule, takt_reader *reader)
{
    rule->tokens = takt_read_int(reader, 1, TAKT_RULE_LIMIT_MAX);
    takt_read_char(reader, '/');
    rule->span_us = takt_read_int(reader, 1, TAKT_EXACT_MAX);
    takt_read_char(reader, '*');
    rule->burst = takt_read_int(reader, 1, TAKT_RULE_LIMIT_MAX);
    rule->limit = rule->tokens;
    rule->period_us = rule->span_us;
    if ((takt_wide)rule->burst * rule->span_us / rule->tokens >
        TAKT_SPAN_MAX_US) { /* before it is cut to 64 bits */
        reader->bad = true;
        return;
    }
    derive(rule);
}

/* "1763692800123456+2": TAT and its parts, then the lows (lows.h). */
void takt_gcra_write_state(const takt_rule *rule, const takt_rule_state *state, takt_writer *writer)
{
    (void)rule;
    takt_write_int(writer, state->gcra.tat.us);
    if (state->gcra.tat.parts > 0) {
        takt_write_char(writer, '+');
        takt_write_int(writer, state->gcra.tat.parts);
    }
    takt_lows_write(&state->gcra.lows, writer);
}

void takt_gcra_read_state(const takt_rule *rule, takt_rule_state *state, takt_reader *reader)
{
    state->gcra.tat = (takt_fraction){takt_read_int(reader, 0, TAKT_EXACT_MAX), 0};
    if (takt_read_if(reader, '+'))
        state->gcra.tat.parts = takt_read_int(reader, 1, rule->tokens - 1);
    takt_lows_read(&state->gcra.lows, reader);
}

/* The time that the rule needs to give this many millionths of a token. */
static int64_t time_of(const takt_rule *rule, takt_wide millionths)
{
    takt_wide us = divided_up(millionths * rule->span_us, (takt_wide)rule->tokens * 1000000);

    return us < 2 * TAKT_SPAN_MAX_US ? (int64_t)us : 2 * TAKT_SPAN_MAX_US;
}

/* Keeps the backlog, TAT - now. The old numbers turn it into millionths of a token; the new numbers
 * turn these into time. */
void takt_gcra_convert(const takt_rule *from, const takt_rule *to, takt_rule_state *state,
                       int64_t now_us)
{
    takt_wide backlog_us = takt_fraction_ceil(state->gcra.tat) - now_us;
    takt_wide millionths;

    if (from->tokens == to->tokens && from->span_us == to->span_us)
        return; /* another burst does not change TAT */
    forget_lows(state);
    if (backlog_us <= 0) {
        state->gcra.tat = (takt_fraction){takt_fraction_ceil(state->gcra.tat), 0};
        return;
    }
    millionths = divided_up(backlog_us * from->tokens * 1000000, from->span_us);
    if (millionths > (takt_wide)TAKT_ROOM_MAX * 1000000)
        millionths = (takt_wide)TAKT_ROOM_MAX * 1000000;
    state->gcra.tat = (takt_fraction){now_us + time_of(to, millionths), 0};
    if (state->owed > 0)
        state->owed = (int64_t)divided_up(millionths, 1000000);
}

/* Converts to a bucket of another size. The tokens in the bucket stay, up to the new burst. Slots
 * awarded ahead stay awarded: the new numbers apply from the instant when the bucket is empty.
 * (pull_back would cut a kept backlog to the smaller bucket, and a larger bucket would then give
 * those tokens again.) */
void takt_gcra_pour(const takt_rule *from, const takt_rule *to, takt_rule_state *state,
                    int64_t now_us)
{
    takt_fraction tat = tat_at(state, now_us);
    int64_t empty_us = takt_fraction_ceil(minus(tat, from->tolerance, from->tokens));
    takt_wide lacking = (takt_wide)to->burst * 1000000; /* in millionths of a token */

    if (takt_rule_same(from, to))
        return;
    if (empty_us < now_us)
        lacking -= (takt_wide)(now_us - empty_us) * from->tokens * 1000000 / from->span_us;
    else
        now_us = empty_us;
    now_us += lacking > 0 ? time_of(to, lacking) : 0;
    state->gcra.tat = (takt_fraction){now_us < TAKT_EXACT_MAX ? now_us : TAKT_EXACT_MAX, 0};
}

const takt_algorithm takt_gcra = {
    .name = "gcra",
    .takes = TAKT_TAKES_BURST,
    .prepare = takt_gcra_prepare,
    TAKT_GCRA_ROW,
};
