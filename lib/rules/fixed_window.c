/*
 * fixed_window.c: at most `limit` tokens in each window of one period,
 *
 *     tokens taken in [start, start + period)  <=  limit
 *
 * Windows begin by the clock (`align: clock`; a timezone selects the local clock, see window.h) or
 * with the first token after the last window has ended (`align: first-use`). Unused tokens of a
 * window are lost. Around the start of a window, twice the limit may pass in a short time.
 *
 * With a guard, work may begin up to `guard` later than its slot. Tokens taken in the last `guard`
 * of a window by the clock may therefore be used in the next window, and they count in both. A
 * window by first use lasts `guard` longer instead.
 *
 * The state is the last window from which tokens were taken, and their number. This window may be
 * in the future, because slots are awarded ahead. Slots are never taken from an earlier window.
 *
 * A window has no rate. "Exhausted" therefore means: the used part of the window is the part of
 * its time that has passed. If no window is open (first-use), the next one opens with half of its
 * tokens used, provided that it opens within a period.
 *
 * window.h computes the starts of windows by the clock, and numbers.c combines several rules.
 */
#include "rules/window.h"

#include "base/fail.h"
#include "zone/zone_load.h"

/* The window from which tokens are taken at an instant. */
typedef struct window {
    int64_t at_us;    /* the instant, or the start of the state's window if that is later */
    int64_t start_us; /* start of the window */
    int64_t used;     /* tokens taken from the window */
    int64_t late;     /* the part of `used` that also counts in the next window */
    bool owes;        /* the window is not open yet and will open with `used` tokens taken */
} window;

static bool is_first_use(const takt_rule *rule)
{
    return rule->align == TAKT_ALIGN_FIRST_USE;
}

static window by_first_use(const takt_rule *rule, const takt_rule_state *state, int64_t t_us)
{
    int64_t start_us = state->fixed_window.start_us, count = state->fixed_window.count;
    bool over = t_us >= start_us + rule->span_us;

    if (state->fixed_window.unopened) {
        t_us = takt_max(t_us, start_us);
        return (window){t_us, t_us, over ? 0 : count, 0, !over && count > 0};
    }
    if (over)
        return (window){t_us, t_us, 0, 0, false};
    t_us = t_us > start_us ? t_us : start_us; /* until then an earlier window may be open */
    return (window){t_us, count == 0 ? t_us : start_us, count, 0, false};
}

static window by_clock(const takt_rule *rule, const takt_rule_state *state, int64_t t_us)
{
    int64_t start_us = takt_window_start(rule, t_us), late = state->fixed_window.late;

    if (state->fixed_window.start_us < start_us) {
        bool follows =
            late > 0 && takt_window_after(rule, state->fixed_window.start_us, 1) == start_us;
        return (window){t_us, start_us, follows ? late : 0, 0, false};
    }
    start_us = state->fixed_window.start_us;
    return (window){takt_max(t_us, start_us), start_us, state->fixed_window.count, late, false};
}

static window find(const takt_rule *rule, const takt_rule_state *state, int64_t t_us)
{
    return is_first_use(rule) ? by_first_use(rule, state, t_us) : by_clock(rule, state, t_us);
}

/* The start of the n-th window after this one, if each window is used up. */
static int64_t after(const takt_rule *rule, int64_t start_us, int64_t n)
{
    if (!is_first_use(rule))
        return takt_window_after(rule, start_us, n);
    if (n >= TAKT_WINDOW_END / rule->span_us)
        return TAKT_WINDOW_END;
    return start_us + n * rule->span_us;
}

/* Whether tokens taken from the window at t_us also count in the next window. */
static bool is_late(const takt_rule *rule, int64_t start_us, int64_t t_us)
{
    return rule->guard_us > 0 && !is_first_use(rule) &&
           t_us >= takt_window_after(rule, start_us, 1) - rule->guard_us;
}

/* The start of the next window from which `cost` can be taken. */
static int64_t next_with(const takt_rule *rule, const takt_rule_state *state, window found,
                         int64_t cost)
{
    return after(rule, found.owes ? state->fixed_window.start_us : found.start_us,
                 found.late + cost <= rule->tokens ? 1 : 2);
}

/* The tokens that count in the next window when all tokens of this one are taken. */
static int64_t carried(const takt_rule *rule, window found)
{
    bool late = is_late(rule, found.start_us, found.at_us);

    return found.late + (late ? rule->tokens - found.used : 0);
}

static int prepare(takt_rule *rule, takt_error *error)
{
    int64_t part = rule->period_us % TAKT_DAY_US;

    if (rule->align == TAKT_ALIGN_DEFAULT)
        rule->align = TAKT_ALIGN_CLOCK;
    if (rule->zone && is_first_use(rule))
        return takt_fail(error, TAKT_E_POLICY,
                         "timezone: windows with align: first-use follow no clock; remove it, or "
                         "write align: clock");
    if (rule->zone && part != 0 && (part != rule->period_us || TAKT_DAY_US % part != 0))
        return takt_fail(error, TAKT_E_POLICY,
                         "timezone: needs a period that divides a day, or whole days; write one, "
                         "like 6h or 7day, or remove the timezone");
    if (takt_window_prepare(rule, error) != 0)
        return TAKT_E_POLICY;
    if (!is_first_use(rule))
        rule->span_us = rule->period_us;
    return 0;
}

static void rest(const takt_rule *rule, takt_rule_state *state, int64_t now_us)
{
    state->fixed_window.start_us = is_first_use(rule) ? now_us : takt_window_start(rule, now_us);
    state->fixed_window.count = state->fixed_window.late = 0;
    state->fixed_window.unopened = is_first_use(rule);
}

static int64_t earliest(const takt_rule *rule, const takt_rule_state *state, int64_t t_us,
                        int64_t cost)
{
    window found = find(rule, state, t_us);

    if (cost > rule->tokens)
        return TAKT_NEVER;
    return found.used + cost <= rule->tokens ? found.at_us : next_with(rule, state, found, cost);
}

static void commit(const takt_rule *rule, takt_rule_state *state, int64_t t_us, int64_t cost)
{
    window found = find(rule, state, t_us);

    state->fixed_window.start_us = found.start_us;
    state->fixed_window.count = found.used + cost;
    state->fixed_window.late = found.late + (is_late(rule, found.start_us, t_us) ? cost : 0);
    state->fixed_window.unopened = false;
}

/* A debt does not open a window. The next window opens with work, and the debt counts in it. */
static void charge(const takt_rule *rule, takt_rule_state *state, int64_t t_us, int64_t cost)
{
    int64_t end_us = after(rule, state->fixed_window.start_us, 1);
    bool unopened = is_first_use(rule) && (state->fixed_window.unopened || t_us >= end_us);

    commit(rule, state, t_us, cost);
    state->fixed_window.unopened = unopened;
}

static int64_t room(const takt_rule *rule, const takt_rule_state *state, int64_t from_us,
                    int64_t until_us)
{
    int64_t at_us = earliest(rule, state, from_us, 1), left, windows, less;
    window found = find(rule, state, at_us);

    if (at_us > until_us)
        return 0;
    left = rule->tokens - found.used;
    windows = is_first_use(rule) ? (until_us - found.start_us) / rule->span_us
                                 : takt_window_count(rule, found.start_us, until_us);
    less = windows > 0 ? carried(rule, found) : 0;
    if (windows > (TAKT_ROOM_MAX - left + less) / rule->tokens)
        return TAKT_ROOM_MAX;
    return left + windows * rule->tokens - less;
}

static int64_t due(const takt_rule *rule, const takt_rule_state *state, int64_t from_us, int64_t n)
{
    int64_t at_us = earliest(rule, state, from_us, 1);
    window found = find(rule, state, at_us);
    int64_t beyond = n - (rule->tokens - found.used);

    if (beyond <= 0)
        return at_us;
    beyond += carried(rule, found);
    return after(rule, found.start_us, takt_ceil_div(beyond, rule->tokens));
}

/* Takes the remaining tokens of the window, all at one instant. */
static int64_t series(const takt_rule *rule, takt_rule_state *state, int64_t t_us, int64_t cost,
                      int64_t count, int64_t until_us, takt_run *run)
{
    int64_t at_us = earliest(rule, state, t_us, cost), n;

    if (at_us > until_us) /* also TAKT_NEVER */
        return 0;
    n = (rule->tokens - find(rule, state, at_us).used) / cost;
    if (n > count)
        n = count;
    *run = takt_run_at(at_us, n, (int32_t)cost, TAKT_NO_MORE);
    commit(rule, state, at_us, n * cost);
    return n;
}

static void exhaust(const takt_rule *rule, takt_rule_state *state, int64_t at_us)
{
    window found = find(rule, state, at_us);
    int64_t end_us, part;

    if (found.at_us > at_us || (found.owes && state->fixed_window.start_us > at_us))
        return; /* the state is later than at_us */
    if (is_first_use(rule) && found.start_us == at_us &&
        (state->fixed_window.unopened || found.used == 0)) {
        part = rule->tokens / 2;
        state->fixed_window.unopened = true;
    } else {
        end_us = after(rule, found.start_us, 1);
        part = takt_mul_div(rule->tokens, at_us - found.start_us, end_us - found.start_us);
    }
    state->fixed_window.start_us = found.start_us;
    state->fixed_window.count = found.used > part ? found.used : part;
    state->fixed_window.late = found.late;
}

/* The tokens go back to the window of their slot, if the state has no later window. */
static void give_back(const takt_rule *rule, takt_rule_state *state, int64_t now_us,
                      int64_t slot_us, int64_t cost, int64_t unused, int64_t until_us)
{
    int64_t start_us = state->fixed_window.start_us, back;
    int64_t *count = &state->fixed_window.count, *late = &state->fixed_window.late;
    bool was_late;

    (void)now_us;
    (void)cost;
    (void)until_us;
    if (slot_us < start_us || slot_us >= after(rule, start_us, 1) || state->fixed_window.unopened)
        return;
    was_late = is_late(rule, start_us, slot_us);
    back = takt_min(unused, was_late ? *late : *count - *late);
    *count -= back;
    *late -= was_late ? back : 0;
}

static int64_t rest_at(const takt_rule *rule, const takt_rule_state *state)
{
    int64_t start_us = state->fixed_window.start_us;

    if (state->fixed_window.count == 0)
        return start_us;
    return after(rule, start_us, state->fixed_window.late > 0 ? 2 : 1);
}

static void pull_back(const takt_rule *rule, takt_rule_state *state, int64_t now_us,
                      int64_t reach_us, int64_t lookahead_us)
{
    if (state->fixed_window.start_us <= now_us + reach_us)
        return;
    rest(rule, state, now_us + lookahead_us);
    exhaust(rule, state, now_us + lookahead_us);
}

/* "800/86400000000@America/Los_Angeles" by the clock, "10/60000000!" by first use. */
static void write_rule(const takt_rule *rule, takt_writer *writer)
{
    takt_window_write_rule(rule, writer);
    if (is_first_use(rule))
        takt_write_char(writer, '!');
    if (!rule->zone)
        return;
    takt_write_char(writer, '@');
    takt_write_text(writer, rule->zone->name);
}

static void read_zone(takt_rule *rule, takt_reader *reader)
{
    const char *name = reader->at;

    while (reader->at < reader->end && *reader->at != ' ')
        reader->at++;
    rule->zone = takt_zone_named(name, (size_t)(reader->at - name));
    if (!rule->zone)
        reader->bad = true;
}

static void read_rule(takt_rule *rule, takt_reader *reader)
{
    takt_error error;

    takt_window_read_rule(rule, reader);
    if (takt_read_if(reader, '!'))
        rule->align = TAKT_ALIGN_FIRST_USE;
    if (!reader->bad && takt_read_if(reader, '@'))
        read_zone(rule, reader);
    if (!reader->bad && prepare(rule, &error) != 0)
        reader->bad = true;
}

/* "1763692800000000,17": start and count. A window that is not open yet has "~" between them. "+4"
 * at the end: four of the tokens also count in the next window. */
static void write_state(const takt_rule *rule, const takt_rule_state *state, takt_writer *writer)
{
    (void)rule;
    takt_write_int(writer, state->fixed_window.start_us);
    takt_write_char(writer, state->fixed_window.unopened ? '~' : ',');
    takt_write_int(writer, state->fixed_window.count);
    if (state->fixed_window.late == 0)
        return;
    takt_write_char(writer, '+');
    takt_write_int(writer, state->fixed_window.late);
}

static void read_state(const takt_rule *rule, takt_rule_state *state, takt_reader *reader)
{
    state->fixed_window.start_us = takt_read_int(reader, 0, TAKT_WINDOW_END);
    state->fixed_window.unopened = is_first_use(rule) && takt_read_if(reader, '~');
    if (!state->fixed_window.unopened)
        takt_read_char(reader, ',');
    state->fixed_window.count = takt_read_int(reader, 0, TAKT_RULE_LIMIT_MAX);
    state->fixed_window.late = 0;
    if (!is_first_use(rule) && takt_read_if(reader, '+'))
        state->fixed_window.late = takt_read_int(reader, 1, state->fixed_window.count);
}

/* The tokens that were possibly taken from start_us on, before the state's window began. The bound
 * is the lower of the old rule's rate and the new rule's rate. */
static int64_t unknown_before(const takt_rule *from, const takt_rule *to, int64_t start_us,
                              int64_t until_us)
{
    int64_t length_us = takt_window_after(to, start_us, 1) - start_us;
    int64_t old, new;

    if (until_us <= start_us)
        return 0;
    old = takt_mul_div_up(from->tokens, until_us - start_us, from->span_us);
    new = takt_mul_div(to->tokens, until_us - start_us, length_us);
    return old < new ? old : new;
}

static void convert(const takt_rule *from, const takt_rule *to, takt_rule_state *state,
                    int64_t now_us)
{
    int64_t start_us = state->fixed_window.start_us, count = state->fixed_window.count;
    int64_t *late = &state->fixed_window.late;
    int64_t end_us = after(from, start_us, 1), at_us = start_us > now_us ? start_us : now_us;
    bool same_windows =
        from->align == to->align && from->span_us == to->span_us && from->zone == to->zone;

    if (is_first_use(to) && !is_first_use(from)) {
        /* The time of the first token is unknown. The next token opens the window. */
        state->fixed_window.start_us = at_us;
        state->fixed_window.unopened = true;
        if (end_us <= now_us)
            count = *late;
        *late = 0;
    } else if (!is_first_use(to) && !same_windows) {
        state->fixed_window.start_us = takt_window_start(to, at_us);
        state->fixed_window.unopened = false;
        if (end_us <= state->fixed_window.start_us) {
            count = *late;
            *late = 0;
        }
        if (!is_first_use(from))
            count += unknown_before(from, to, state->fixed_window.start_us, start_us);
    }
    /* A count above the new limit is kept: changing the limit to and fro must not create tokens. */
    state->fixed_window.count = count < TAKT_RULE_LIMIT_MAX ? count : TAKT_RULE_LIMIT_MAX;
}

const takt_algorithm takt_fixed_window = {
    .name = "fixed-window",
    .letter = 'f',
    .guarded = true,
    .takes = TAKT_TAKES_ALIGN | TAKT_TAKES_TIMEZONE,
    .prepare = prepare,
    .capacity = takt_window_capacity,
    .rest = rest,
    .earliest = earliest,
    .commit = commit,
    .charge = charge,
    .room = room,
    .due = due,
    .series = series,
    .exhaust = exhaust,
    .give_back = give_back,
    .rest_at = rest_at,
    .pull_back = pull_back,
    .write_rule = write_rule,
    .read_rule = read_rule,
    .write_state = write_state,
    .read_state = read_state,
    .convert = convert,
};
