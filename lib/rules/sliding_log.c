/*
 * sliding_log.c: exact: in every half-open window of one period, wherever it begins,
 *
 *     tokens taken in [t, t + period)  <=  limit
 *
 * A log (log.h) keeps each slot until it has left the window: up to `limit` entries of 16 bytes.
 * Tokens of one slot are one entry.  A token taken at t no longer counts at t + period.
 *
 * So the next slot for `cost` tokens is when enough old tokens have left the window.  If all tokens
 * are taken as soon as possible, the n-th token from now on waits for the (n - limit)-th.  A slot
 * is never before the latest in the log, which may be ahead of now.
 *
 * "Exhausted" is: as if `limit` tokens had been taken evenly over the period before.  None of them
 * is in the log: that instant and the running total are, and what is taken for one period from then
 * on is paced, the j-th token not before (j - 1) * period / limit later.
 */
#include "rules/window.h"

static bool is_paced(const takt_rule *rule, const takt_log *log, int64_t t_us)
{
    return log->full_us > 0 && t_us < log->full_us + rule->span_us;
}

/* The earliest instant of a new slot: not before the latest slot, even if that was given back
 * (older entries may count until then), nor before the rule was full. */
static int64_t not_before(const takt_rule *rule, const takt_log *log, int64_t t_us)
{
    if (t_us < log->last_us)
        t_us = log->last_us;
    if (is_paced(rule, log, t_us) && t_us < log->full_us)
        t_us = log->full_us;
    return t_us;
}

/* When the n-th token from t_us on may be taken, 1 <= n <= limit; t_us comes from not_before. */
static int64_t slot_of(const takt_rule *rule, const takt_rule_state *state, int64_t t_us, int64_t n)
{
    const takt_log *log = &state->log;
    int64_t leaving = takt_log_held(log) + n - rule->tokens, since, at_us;

    if (leaving > 0) {
        at_us = takt_log_slot_of(log, state->pages, leaving) + rule->span_us;
        t_us = at_us > t_us ? at_us : t_us;
    }
    if (is_paced(rule, log, t_us)) {
        since = takt_log_between(log->full_at, log->total) + n - 1;
        at_us = since < rule->tokens ? takt_mul_div_up(since, rule->span_us, rule->tokens)
                                     : rule->span_us;
        at_us += log->full_us;
        t_us = at_us > t_us ? at_us : t_us;
    }
    return t_us;
}

/* How many tokens may have been taken from t_us to until_us, less than a period later. */
static int64_t count_by(const takt_rule *rule, const takt_rule_state *state, int64_t until_us)
{
    const takt_log *log = &state->log;
    int64_t count = rule->tokens - takt_log_held(log) +
                    takt_log_count_to(log, state->pages, until_us - rule->span_us);

    if (is_paced(rule, log, until_us)) {
        int64_t paced = takt_mul_div(until_us - log->full_us, rule->tokens, rule->span_us) + 1 -
                        takt_log_between(log->full_at, log->total);
        count = paced < count ? paced : count;
    }
    return count > 0 ? count : 0;
}

static void rest(const takt_rule *rule, takt_rule_state *state, int64_t now_us)
{
    (void)rule;
    takt_log_clear(&state->log, state->pages);
    state->log.last_us = now_us;
}

static int64_t earliest(const takt_rule *rule, const takt_rule_state *state, int64_t t_us,
                        int64_t cost)
{
    if (cost > rule->tokens)
        return TAKT_NEVER;
    return slot_of(rule, state, not_before(rule, &state->log, t_us), cost);
}

static void commit(const takt_rule *rule, takt_rule_state *state, int64_t t_us, int64_t cost)
{
    takt_log *log = &state->log;

    takt_log_drop(log, state->pages, t_us - rule->span_us);
    if (!is_paced(rule, log, t_us))
        log->full_us = log->full_at = 0;
    takt_log_append(log, state->pages, t_us, cost);
}

static int64_t room(const takt_rule *rule, const takt_rule_state *state, int64_t from_us,
                    int64_t until_us)
{
    int64_t t_us = not_before(rule, &state->log, from_us), periods, count;

    if (t_us > until_us)
        return 0;
    periods = (until_us - t_us) / rule->span_us;
    count = count_by(rule, state, until_us - periods * rule->span_us);
    if (periods > (TAKT_ROOM_MAX - count) / rule->tokens)
        return TAKT_ROOM_MAX;
    return periods * rule->tokens + count;
}

static int64_t due(const takt_rule *rule, const takt_rule_state *state, int64_t from_us, int64_t n)
{
    int64_t t_us = not_before(rule, &state->log, from_us);
    int64_t periods = (n - 1) / rule->tokens;
    int64_t at_us = slot_of(rule, state, t_us, n - periods * rule->tokens);

    if (periods > TAKT_WINDOW_END / rule->span_us)
        return TAKT_WINDOW_END;
    return at_us + periods * rule->span_us;
}

/* Takes everything that is possible at one instant. */
static int64_t series(const takt_rule *rule, takt_rule_state *state, int64_t t_us, int64_t cost,
                      int64_t count, int64_t until_us, takt_run *run)
{
    int64_t at_us = earliest(rule, state, t_us, cost), n;

    if (at_us > until_us) /* also for TAKT_NEVER */
        return 0;
    n = count_by(rule, state, at_us) / cost;
    if (n > count)
        n = count;
    if (n < 1) /* only if a page is unavailable */
        n = 1;
    *run = takt_run_at(at_us, n, (int32_t)cost, TAKT_NO_MORE);
    commit(rule, state, at_us, n * cost);
    return n;
}

static void exhaust(const takt_rule *rule, takt_rule_state *state, int64_t at_us)
{
    (void)rule;
    if (at_us <= state->log.full_us)
        return;
    state->log.full_us = at_us;
    state->log.full_at = state->log.total;
}

/* Takes tokens back from the entry of their slot. A paced log counts from a running total, which
 * must not decrease below it. */
static void give_back(const takt_rule *rule, takt_rule_state *state, int64_t now_us,
                      int64_t slot_us, int64_t cost, int64_t unused, int64_t until_us)
{
    (void)rule;
    (void)now_us;
    (void)cost;
    (void)until_us;
    if (state->log.full_us == 0)
        takt_log_take_back(&state->log, state->pages, slot_us, unused);
}

static int64_t rest_at(const takt_rule *rule, const takt_rule_state *state)
{
    const takt_log *log = &state->log;
    int64_t at_us = takt_log_held(log) > 0 ? log->last_us + rule->span_us : log->last_us;

    if (log->full_us > 0 && log->full_us + rule->span_us > at_us)
        at_us = log->full_us + rule->span_us;
    return at_us;
}

static void pull_back(const takt_rule *rule, takt_rule_state *state, int64_t now_us,
                      int64_t reach_us, int64_t lookahead_us)
{
    if (state->log.last_us <= now_us + reach_us && state->log.full_us <= now_us + reach_us)
        return;
    rest(rule, state, now_us);
    exhaust(rule, state, now_us + lookahead_us);
}

static void write_numbers(takt_writer *writer, const int64_t *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        if (i > 0)
            takt_write_char(writer, ',');
        takt_write_int(writer, numbers[i]);
    }
}

/* "1763692800123456,100,60" if that was all: the latest slot, running totals now and of what no
 * longer counts; then, if there are more entries, the book and their numbers "#1,255,314"; then,
 * while paced, since when and the running total then: "^1763692800000000,80". */
static void write_state(const takt_rule *rule, const takt_rule_state *state, takt_writer *writer)
{
    const takt_log *log = &state->log;

    (void)rule;
    write_numbers(writer, (int64_t[]){log->last_us, log->total, log->before}, 3);
    if (log->book > 0) {
        takt_write_char(writer, '#');
        write_numbers(writer, (int64_t[]){log->book, log->first, log->next}, 3);
    }
    if (log->full_us > 0) {
        takt_write_char(writer, '^');
        write_numbers(writer, (int64_t[]){log->full_us, log->full_at}, 2);
    }
}

static int64_t read_next(takt_reader *reader, int64_t min, int64_t max)
{
    takt_read_char(reader, ',');
    return takt_read_int(reader, min, max);
}

/* Tells the pages' owner which books are in use; each log has a book of its own. */
static void read_book(takt_log *log, takt_pages *pages, takt_reader *reader)
{
    unsigned bit;

    log->book = (int)takt_read_int(reader, 1, TAKT_BOOKS_MAX);
    log->first = read_next(reader, 0, TAKT_WINDOW_END);
    log->next = read_next(reader, 0, TAKT_WINDOW_END);
    bit = 1U << (log->book - 1);
    if (log->first > log->next || pages == NULL || pages->taken & bit)
        reader->bad = true;
    else
        pages->taken |= bit;
}

static void read_state(const takt_rule *rule, takt_rule_state *state, takt_reader *reader)
{
    takt_log *log = &state->log;

    (void)rule;
    if (!state->pages) /* the caller cannot keep a log */
        reader->bad = true;
    *log = (takt_log){.last_us = takt_read_int(reader, 0, TAKT_WINDOW_END)};
    log->total = read_next(reader, 0, TAKT_LOG_WRAP - 1);
    log->before = read_next(reader, 0, TAKT_LOG_WRAP - 1);
    if (takt_read_if(reader, '#'))
        read_book(log, state->pages, reader);
    if (takt_read_if(reader, '^')) {
        log->full_us = takt_read_int(reader, 1, TAKT_WINDOW_END);
        log->full_at = read_next(reader, 0, TAKT_LOG_WRAP - 1);
    }
    if (takt_log_held(log) > TAKT_ROOM_MAX) /* more than any rule allows in a period */
        reader->bad = true;
}

/* Entries stay; the new numbers decide how long they count. */
static void convert(const takt_rule *from, const takt_rule *to, takt_rule_state *state,
                    int64_t now_us)
{
    (void)from;
    takt_log_drop(&state->log, state->pages, now_us - to->span_us);
}

const takt_algorithm takt_sliding_log = {
    .name = "sliding-log",
    .letter = 'l',
    .guarded = true,
    .logged = true,
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
