/*
 * sliding_window.c: the usual approximation of a sliding log by two counters.  Windows of one
 * period begin at its multiples since the epoch.  The tokens of the previous window count as if
 * they were spread evenly over it: by the part of it that a window ending now still overlaps.  With
 * `past` the time since the current window began,
 *
 *     previous * (period - past) / period + current  <=  limit
 *
 * at every slot, its own cost counted, in exact whole numbers.
 *
 * Tokens that were taken late in the window before count for too little: without more, a burst at
 * the end of one window and a full next one would be twice the limit in a period.  So each window
 * also notes how far it fell behind an even use, `behind`: the most of
 *
 *     limit * past / period - current
 *
 * when a token was taken that could have been taken sooner.  What a window fell behind, and took
 * later, is `held` back in the next one, except for a quarter of the limit (rounded up to
 * a whole token):
 *
 *     current  <=  max(1.25 * limit - previous,
 *                      limit - held - previous * (period - past) / period)
 *
 * So no period has more than 1.25 times the limit.  With C(a) the tokens that a window has taken by
 * the part `a` of it, the end of the window before has C(1) - C(a), which is at most C(1), and at
 * most C(1) * (1 - a) + behind; and this window has taken no more than the rest by then.  An evenly
 * used rule falls behind by nothing, so in the long run it passes what it passes without that.  The
 * sliding log is the exact form.
 *
 * "Exhausted" is: `limit` taken from the window before, and from this one as much as makes the next
 * token due.  In the long run, a full rule passes one token a period less than `limit`.
 */
#include "base/integers.h"
#include "rules/window.h"

/* A window, and the counters as they are in it. */
typedef struct view {
    int64_t start_us;
    int64_t previous;
    int64_t current;
    int64_t held;
    int64_t behind;
} view;

/* What may be over the limit in a period, a whole token at least. */
static int64_t quarter(const takt_rule *rule)
{
    return (rule->tokens + 3) / 4;
}

/* The window after this one. */
static view after(const takt_rule *rule, view v)
{
    int64_t late = takt_min(takt_max(v.behind, v.held), v.current);

    return (view){v.start_us + rule->span_us, v.current, 0, takt_max(late - quarter(rule), 0), 0};
}

/* The window that t_us is in, or the state's if that is later. */
static view look(const takt_rule *rule, const takt_rule_state *state, int64_t t_us)
{
    view v = {state->sliding_window.start_us, state->sliding_window.previous,
              state->sliding_window.current, state->sliding_window.held,
              state->sliding_window.behind};
    int64_t start_us = takt_window_start(rule, t_us);

    if (start_us <= v.start_us)
        return v;
    return start_us == v.start_us + rule->span_us ? after(rule, v) : (view){.start_us = start_us};
}

static void keep(takt_rule_state *state, view v)
{
    state->sliding_window.start_us = v.start_us;
    state->sliding_window.previous = v.previous;
    state->sliding_window.current = v.current;
    state->sliding_window.held = v.held;
    state->sliding_window.behind = v.behind;
}

/* The first instant of the window at which `tokens` in all may have been taken from it; an instant
 * after its end if there is none. */
static int64_t instant_for(const takt_rule *rule, view v, int64_t tokens)
{
    int64_t end_us = v.start_us + rule->span_us, max = rule->tokens, left_us;

    if (tokens > rule->tokens + quarter(rule) - v.previous)
        max -= v.held;
    if (tokens > max)
        return end_us + 1;
    if (v.previous == 0)
        return v.start_us;
    left_us = takt_mul_div(max - tokens, rule->span_us, v.previous);
    return left_us < rule->span_us ? end_us - left_us : v.start_us;
}

/* How many tokens may have been taken from the window by t_us, which lies in it. */
static int64_t max_by(const takt_rule *rule, view v, int64_t t_us)
{
    int64_t left_us = v.start_us + rule->span_us - t_us;
    int64_t max = rule->tokens - takt_mul_div_up(v.previous, left_us, rule->span_us);

    max = takt_min(max, takt_max(rule->tokens + quarter(rule) - v.previous, max - v.held));
    return takt_max(max, 0);
}

/* Takes the window's next token at t_us: notes how far the window has fallen behind if that could
 * have been sooner. */
static void note_behind(const takt_rule *rule, view *v, int64_t t_us)
{
    if (t_us > instant_for(rule, *v, v->current + 1))
        v->behind = takt_max(
            v->behind, takt_mul_div(rule->tokens, t_us - v->start_us, rule->span_us) - v->current);
}

/* The window after this one if all its tokens are taken from from_us on; *taken is their number. */
static view use_up(const takt_rule *rule, view v, int64_t from_us, int64_t *taken)
{
    int64_t max = takt_max(max_by(rule, v, v.start_us + rule->span_us - 1), v.current);

    *taken = max - v.current;
    if (*taken > 0)
        note_behind(rule, &v, from_us);
    v.current = max;
    return after(rule, v);
}

static void rest(const takt_rule *rule, takt_rule_state *state, int64_t now_us)
{
    keep(state, (view){.start_us = takt_window_start(rule, now_us)});
}

static int64_t earliest(const takt_rule *rule, const takt_rule_state *state, int64_t t_us,
                        int64_t cost)
{
    view v = look(rule, state, t_us);
    int64_t at_us;

    if (cost > rule->tokens)
        return TAKT_NEVER;
    at_us = instant_for(rule, v, v.current + cost);
    if (at_us >= v.start_us + rule->span_us) {
        v = after(rule, v);
        at_us = takt_min(instant_for(rule, v, cost), v.start_us + rule->span_us);
        /* at its end nothing counts */
    }
    return at_us > t_us ? at_us : t_us;
}

static void commit(const takt_rule *rule, takt_rule_state *state, int64_t t_us, int64_t cost)
{
    view v = look(rule, state, t_us);

    note_behind(rule, &v, t_us);
    v.current += cost;
    keep(state, v);
}

/* Windows used up one after the other: what a window passes depends on the one before, but soon two
 * amounts take turns.  Then as many pairs of windows as pass not more than `tokens` and end by
 * until_us are stepped over; returns what they pass. */
static int64_t leap(const takt_rule *rule, view *v, int64_t from_us, int64_t tokens,
                    int64_t until_us)
{
    int64_t first, second, pairs, in_time;
    view next = use_up(rule, use_up(rule, *v, v->start_us, &first), v->start_us, &second);

    if (next.previous != v->previous || next.held != v->held || v->current != 0 || v->behind != 0 ||
        from_us > v->start_us || until_us < v->start_us || first + second == 0)
        return 0;
    pairs = tokens / (first + second);
    in_time = (until_us - v->start_us) / rule->span_us / 2;
    if (pairs > in_time)
        pairs = in_time;
    v->start_us += 2 * pairs * rule->span_us;
    return pairs * (first + second);
}

static int64_t room(const takt_rule *rule, const takt_rule_state *state, int64_t from_us,
                    int64_t until_us)
{
    view v = look(rule, state, from_us);
    int64_t count = 0, taken, max;

    if (until_us < from_us || until_us < v.start_us)
        return 0;
    while (until_us >= v.start_us + rule->span_us && count < TAKT_ROOM_MAX) {
        int64_t leapt = leap(rule, &v, from_us, TAKT_ROOM_MAX, until_us);
        count += leapt;
        if (leapt > 0)
            continue;
        v = use_up(rule, v, from_us, &taken);
        count += taken;
    }
    if (count >= TAKT_ROOM_MAX)
        return TAKT_ROOM_MAX;
    max = max_by(rule, v, until_us);
    count += max > v.current ? max - v.current : 0;
    return count < TAKT_ROOM_MAX ? count : TAKT_ROOM_MAX;
}

static int64_t due(const takt_rule *rule, const takt_rule_state *state, int64_t from_us, int64_t n)
{
    view v = look(rule, state, from_us);
    int64_t at_us, taken;

    for (;;) {
        view next = use_up(rule, v, from_us, &taken);
        if (n <= taken || v.start_us > TAKT_WINDOW_END)
            break;
        n -= taken;
        v = next;
        n -= leap(rule, &v, from_us, n - 1, TAKT_WINDOW_END);
    }
    at_us = instant_for(rule, v, v.current + n);
    return at_us > from_us ? at_us : from_us;
}

/* Takes everything that is possible at one instant. */
static int64_t series(const takt_rule *rule, takt_rule_state *state, int64_t t_us, int64_t cost,
                      int64_t count, int64_t until_us, takt_run *run)
{
    int64_t at_us = earliest(rule, state, t_us, cost), n;
    view v = look(rule, state, at_us);

    if (at_us > until_us) /* also for TAKT_NEVER */
        return 0;
    n = (max_by(rule, v, at_us) - v.current) / cost;
    if (n > count)
        n = count;
    *run = takt_run_at(at_us, n, (int32_t)cost, TAKT_NO_MORE);
    commit(rule, state, at_us, n * cost);
    return n;
}

static void exhaust(const takt_rule *rule, takt_rule_state *state, int64_t at_us)
{
    view v = look(rule, state, at_us);
    int64_t due;

    if (v.start_us > at_us)
        return; /* the state is further ahead */
    if (v.previous < rule->tokens)
        v.previous = rule->tokens;
    due = max_by(rule, v, at_us) - 1;
    v.current = takt_max(v.current, due);
    keep(state, v);
}

/* Takes tokens back from the counter that counted them. */
static void give_back(const takt_rule *rule, takt_rule_state *state, int64_t now_us,
                      int64_t slot_us, int64_t cost, int64_t unused, int64_t until_us)
{
    int64_t start_us = state->sliding_window.start_us;
    int64_t slot_start_us = takt_window_start(rule, slot_us), *count = NULL;

    (void)now_us;
    (void)cost;
    (void)until_us;
    if (slot_start_us == start_us)
        count = &state->sliding_window.current;
    else if (slot_start_us + rule->span_us == start_us)
        count = &state->sliding_window.previous;
    if (count)
        *count -= unused < *count ? unused : *count;
}

static int64_t rest_at(const takt_rule *rule, const takt_rule_state *state)
{
    int64_t start_us = state->sliding_window.start_us;

    if (state->sliding_window.current > 0)
        return start_us + 2 * rule->span_us;
    return state->sliding_window.previous > 0 || state->sliding_window.held > 0
               ? start_us + rule->span_us
               : start_us;
}

static void pull_back(const takt_rule *rule, takt_rule_state *state, int64_t now_us,
                      int64_t reach_us, int64_t lookahead_us)
{
    if (state->sliding_window.start_us <= now_us + reach_us)
        return;
    rest(rule, state, now_us + lookahead_us);
    exhaust(rule, state, now_us + lookahead_us);
}

/* "1763692800000000,17,4": begin, previous and current; where there are any, held and behind. */
static void write_state(const takt_rule *rule, const takt_rule_state *state, takt_writer *writer)
{
    (void)rule;
    takt_write_int(writer, state->sliding_window.start_us);
    takt_write_char(writer, ',');
    takt_write_int(writer, state->sliding_window.previous);
    takt_write_char(writer, ',');
    takt_write_int(writer, state->sliding_window.current);
    if (state->sliding_window.held == 0 && state->sliding_window.behind == 0)
        return;
    takt_write_char(writer, ',');
    takt_write_int(writer, state->sliding_window.held);
    takt_write_char(writer, ',');
    takt_write_int(writer, state->sliding_window.behind);
}

static void read_state(const takt_rule *rule, takt_rule_state *state, takt_reader *reader)
{
    state->sliding_window.start_us = takt_read_int(reader, 0, TAKT_WINDOW_END);
    takt_read_char(reader, ',');
    state->sliding_window.previous = takt_read_int(reader, 0, TAKT_RULE_LIMIT_MAX);
    takt_read_char(reader, ',');
    state->sliding_window.current = takt_read_int(reader, 0, TAKT_RULE_LIMIT_MAX);
    state->sliding_window.held = state->sliding_window.behind = 0;
    if (takt_read_if(reader, ',')) {
        state->sliding_window.held = takt_read_int(reader, 0, rule->tokens);
        takt_read_char(reader, ',');
        state->sliding_window.behind = takt_read_int(reader, 0, TAKT_RULE_LIMIT_MAX);
    }
    if (state->sliding_window.start_us % rule->span_us != 0)
        reader->bad = true;
}

/* What counts now was taken evenly before: in windows of another length it counts as much, also
 * where that is more than the new limit, so that numbers that change to and fro make no tokens up.
 */
static void convert(const takt_rule *from, const takt_rule *to, takt_rule_state *state,
                    int64_t now_us)
{
    int64_t at_us =
        state->sliding_window.start_us > now_us ? state->sliding_window.start_us : now_us;
    view v = look(from, state, at_us);
    int64_t counted =
        v.current + v.held +
        takt_mul_div_up(v.previous, v.start_us + from->span_us - at_us, from->span_us);

    if (from->span_us != to->span_us) {
        v = (view){.start_us = takt_window_start(to, at_us), .previous = counted};
        v.current = takt_mul_div_up(counted, at_us - v.start_us, to->span_us);
    }
    v.previous = takt_min(v.previous, TAKT_RULE_LIMIT_MAX);
    v.current = takt_min(v.current, TAKT_RULE_LIMIT_MAX);
    v.held = takt_min(v.held, to->tokens);
    v.behind = takt_min(v.behind, to->tokens);
    keep(state, v);
}

const takt_algorithm takt_sliding_window = {
    .name = "sliding-window",
    .letter = 's',
    .prepare = takt_window_prepare,
    .capacity = takt_window_capacity,
    .rest = rest,
    .earliest = earliest,
    .commit = commit,
    .room = room,
    .due = due,
    .series = series,
    .exhaust = exhaust,
    .give_back = give_back,
    .rest_at = rest_at,
    .pull_back = pull_back,
    .write_rule = takt_window_write_rule,
    .read_rule = takt_window_read_rule,
    .write_state = write_state,
    .read_state = read_state,
    .convert = convert,
};
