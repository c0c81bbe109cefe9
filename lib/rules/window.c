/*
 * window.c: see window.h.
 */
#include "rules/window.h"

#include "base/fail.h"

__extension__ typedef unsigned __int128 wide;

static int64_t bounded(wide value)
{
    return value > (wide)TAKT_WINDOW_END ? TAKT_WINDOW_END : (int64_t)value;
}

int64_t takt_mul_div(int64_t a, int64_t b, int64_t c)
{
    return bounded((wide)a * (wide)b / (wide)c);
}

int64_t takt_mul_div_up(int64_t a, int64_t b, int64_t c)
{
    return bounded(((wide)a * (wide)b + (wide)c - 1) / (wide)c);
}

/* ---- whole local days ------------------------------------------------------------------------ */

static int64_t first_day(const takt_rule *rule, int64_t t_us)
{
    int64_t days = rule->span_us / TAKT_DAY_US;

    return takt_floor_div(takt_zone_day(rule->zone, t_us), days) * days;
}

static int64_t days_after(const takt_rule *rule, int64_t start_us, int64_t n)
{
    int64_t days = rule->span_us / TAKT_DAY_US, max = TAKT_WINDOW_END / TAKT_DAY_US / days;

    int64_t at_us =
        takt_zone_midnight(rule->zone, first_day(rule, start_us) + (n < max ? n : max) * days);

    return at_us < TAKT_WINDOW_END ? at_us : TAKT_WINDOW_END;
}

static int64_t days_count(const takt_rule *rule, int64_t start_us, int64_t until_us)
{
    return (first_day(rule, until_us) - first_day(rule, start_us)) / (rule->span_us / TAKT_DAY_US);
}

/* ---- parts of a local day -------------------------------------------------------------------- */

static int64_t part_start(const takt_rule *rule, int64_t t_us)
{
    int64_t midnight_us = takt_zone_midnight(rule->zone, takt_zone_day(rule->zone, t_us));

    return t_us - (t_us - midnight_us) % rule->span_us;
}

static int64_t day_end(const takt_rule *rule, int64_t t_us)
{
    return takt_zone_midnight(rule->zone, takt_zone_day(rule->zone, t_us) + 1);
}

/* The number of 24-hour days from a midnight to the next change of the clocks. */
static int64_t even_days(const takt_rule *rule, int64_t midnight_us)
{
    int64_t change_us = takt_zone_next_change(rule->zone, midnight_us);

    if (change_us > TAKT_WINDOW_END)
        change_us = 2 * TAKT_WINDOW_END;
    return (change_us - midnight_us) / TAKT_DAY_US;
}

static int64_t parts_after(const takt_rule *rule, int64_t start_us, int64_t n)
{
    int64_t of_day = TAKT_DAY_US / rule->span_us;

    for (int64_t at_us = part_start(rule, start_us);;) {
        int64_t end_us = day_end(rule, at_us);
        int64_t left = takt_ceil_div(end_us - at_us, rule->span_us), days;
        if (n < left)
            return at_us + n * rule->span_us;
        n -= left;
        days = even_days(rule, end_us);
        if (days > n / of_day)
            days = n / of_day;
        at_us = end_us + days * TAKT_DAY_US;
        n -= days * of_day;
        if (at_us >= TAKT_WINDOW_END)
            return TAKT_WINDOW_END;
    }
}

static int64_t parts_count(const takt_rule *rule, int64_t start_us, int64_t until_us)
{
    int64_t of_day = TAKT_DAY_US / rule->span_us, count = 0;

    for (int64_t at_us = start_us;;) {
        int64_t end_us = day_end(rule, at_us), days;
        if (until_us < end_us)
            return count + (until_us - at_us) / rule->span_us;
        count += takt_ceil_div(end_us - at_us, rule->span_us);
        days = even_days(rule, end_us);
        if (days > (until_us - end_us) / TAKT_DAY_US)
            days = (until_us - end_us) / TAKT_DAY_US;
        at_us = end_us + days * TAKT_DAY_US;
        count += days * of_day;
    }
}

/* ---- any ------------------------------------------------------------------------------------- */

static bool is_days(const takt_rule *rule)
{
    return rule->span_us >= TAKT_DAY_US;
}

int64_t takt_window_start(const takt_rule *rule, int64_t t_us)
{
    if (!rule->zone)
        return takt_floor_div(t_us, rule->span_us) * rule->span_us;
    return is_days(rule) ? takt_zone_midnight(rule->zone, first_day(rule, t_us))
                         : part_start(rule, t_us);
}

int64_t takt_window_after(const takt_rule *rule, int64_t start_us, int64_t n)
{
    int64_t at_us;

    if (rule->zone)
        return is_days(rule) ? days_after(rule, start_us, n) : parts_after(rule, start_us, n);
    if (n >= TAKT_WINDOW_END / rule->span_us)
        return TAKT_WINDOW_END;
    at_us = takt_window_start(rule, start_us) + n * rule->span_us;
    return at_us < TAKT_WINDOW_END ? at_us : TAKT_WINDOW_END;
}

int64_t takt_window_count(const takt_rule *rule, int64_t start_us, int64_t until_us)
{
    if (until_us <= start_us)
        return 0;
    if (!rule->zone)
        return (until_us - start_us) / rule->span_us;
    return is_days(rule) ? days_count(rule, start_us, until_us)
                         : parts_count(rule, start_us, until_us);
}

/* ---- rules ----------------------------------------------------------------------------------- */

int takt_window_prepare(takt_rule *rule, takt_error *error)
{
    rule->tokens = rule->limit * (10000 - rule->headroom_bp) / 10000;
    rule->span_us = rule->period_us + rule->guard_us;
    if (rule->tokens < 1)
        return takt_fail(
            error, TAKT_E_POLICY,
            "headroom: leaves less than one token of %lld a period, and %s gives whole tokens "
            "alone; write less, or algorithm: gcra",
            (long long)rule->limit, rule->algorithm->name);
    return 0;
}

int64_t takt_window_capacity(const takt_rule *rule)
{
    return rule->tokens;
}

void takt_window_write_rule(const takt_rule *rule, takt_writer *writer)
{
    takt_write_int(writer, rule->tokens);
    takt_write_char(writer, '/');
    takt_write_int(writer, rule->period_us);
    if (rule->guard_us == 0)
        return;
    takt_write_char(writer, '+');
    takt_write_int(writer, rule->guard_us);
}

void takt_window_read_rule(takt_rule *rule, takt_reader *reader)
{
    rule->tokens = takt_read_int(reader, 1, TAKT_RULE_LIMIT_MAX);
    takt_read_char(reader, '/');
    rule->period_us = takt_read_int(reader, 1, TAKT_SPAN_MAX_US);
    if (takt_read_if(reader, '+'))
        rule->guard_us = takt_read_int(reader, 1, rule->period_us / 2);
    rule->limit = rule->tokens;
    rule->span_us = rule->period_us + rule->guard_us;
    if (rule->span_us > TAKT_SPAN_MAX_US)
        reader->bad = true;
}
