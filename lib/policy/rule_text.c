/*
 * rule_text.c: reads a rule from texts and describes it. It decides what the words of the fields
 * mean. base/time_text.c decides the format of rates, and core decides which fields and numbers an
 * algorithm accepts.
 */
#include "policy/rule_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/integers.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "base/time_text.h"
#include "policy/field.h"
#include "zone/zone_load.h"

#define GUARD_PERIOD_PARTS   20 /* the default guard is this part of the period */
#define GUARD_DEFAULT_MAX_US INT64_C(50000)

static int read_algorithm(const char *text, const takt_algorithm **algorithm, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE], known[128];
    takt_suggestion suggestion;

    if (text == NULL)
        return 0;
    if (takt_algorithm_named(text) != NULL) {
        *algorithm = takt_algorithm_named(text);
        return 0;
    }
    takt_suggest_begin(&suggestion, text);
    for (int i = 0; takt_algorithm_at(i) != NULL; i++)
        takt_suggest_offer(&suggestion, takt_algorithm_at(i)->name);
    takt_quote(text, quoted);
    if (suggestion.best != NULL)
        return takt_fail(error, TAKT_E_POLICY, "algorithm: there is no %s; did you mean \"%s\"?",
                         quoted, suggestion.best);
    takt_algorithm_list(0, known, sizeof known);
    return takt_fail(error, TAKT_E_POLICY, "algorithm: there is no %s; write %s", quoted, known);
}

static int read_align(const char *text, takt_align *align, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];

    if (text == NULL)
        return 0;
    if (strcmp(text, "clock") == 0)
        *align = TAKT_ALIGN_CLOCK;
    else if (strcmp(text, "first-use") == 0)
        *align = TAKT_ALIGN_FIRST_USE;
    else
        return takt_fail(error, TAKT_E_POLICY, "align: %s: write clock or first-use",
                         takt_quote(text, quoted));
    return 0;
}

static int read_timezone(const char *text, const takt_zone **zone, takt_error *error)
{
    int code = text != NULL ? takt_zone_load(text, zone, error) : 0;

    return code != 0 ? takt_field_refuse("timezone", code, error) : 0;
}

/* The default guard. An exact algorithm leaves no tolerance for a vendor that counts in the same
 * way, but work begins some time after its slot and reaches the vendor even later. */
static int64_t default_guard(const takt_rule *rule)
{
    return rule->algorithm->guarded
               ? takt_min(rule->period_us / GUARD_PERIOD_PARTS, GUARD_DEFAULT_MAX_US)
               : 0;
}

static int read_guard(const char *text, takt_rule *rule, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE], half[64];
    int code;

    rule->guard_us = default_guard(rule);
    if (text == NULL)
        return 0;
    rule->guard_us = 0;
    if (strcmp(text, "0") == 0)
        return 0;
    code = takt_parse_duration(text, &rule->guard_us, error);
    if (code != 0)
        return takt_field_refuse("guard", code, error);
    if (rule->guard_us <= rule->period_us / 2)
        return 0;
    takt_format_duration(rule->period_us / 2, half, sizeof half);
    return takt_fail(error, TAKT_E_POLICY,
                     "guard: %s is longer than half of the period; write at most %s, or 0",
                     takt_quote(text, quoted), half);
}

const char *takt_algorithm_name(int index)
{
    const takt_algorithm *algorithm = takt_algorithm_at(index);

    return algorithm ? algorithm->name : NULL;
}

int takt_rule_read_text(const takt_rule_text *text, int64_t headroom_bp, takt_rule *rule,
                        takt_error *error)
{
    int code;

    *rule = (takt_rule){.algorithm = &takt_gcra, .headroom_bp = headroom_bp};
    if (text->rate == NULL)
        return takt_fail(error, TAKT_E_POLICY, "rate: is missing; write one, like 100/s or 10/60s");
    code = takt_parse_rate(text->rate, &rule->limit, &rule->period_us, error);
    if (code != 0)
        return takt_field_refuse("rate", code, error);
    code = read_algorithm(text->algorithm, &rule->algorithm, error);
    if (code == 0)
        code =
            takt_field_read_count("burst", text->burst, TAKT_RULE_LIMIT_MAX, &rule->burst, error);
    if (code == 0)
        code = takt_field_read_count("queue", text->queue, TAKT_WAITING_MAX, &rule->queue, error);
    if (code == 0)
        code = read_align(text->align, &rule->align, error);
    if (code == 0)
        code = read_timezone(text->timezone, &rule->zone, error);
    if (code == 0)
        code = read_guard(text->guard, rule, error);
    return code == 0 ? takt_rule_prepare(rule, error) : code;
}

void takt_rule_describe(const takt_rule *rule, const char *unit, char *text, size_t size)
{
    char rate[64], guard[64];

    takt_format_rate(rule->limit, rule->period_us, rate, sizeof rate);
    if (rule->unit == TAKT_UNIT_REQUESTS)
        unit = "requests";
    takt_field_append(text, size, "%s%s%s", rate, unit[0] != '\0' ? " " : "", unit);
    if (rule->algorithm != &takt_gcra)
        takt_field_append(text, size, " %s", rule->algorithm->name);
    if (rule->align == TAKT_ALIGN_FIRST_USE)
        takt_field_append(text, size, " first-use");
    if (rule->zone != NULL)
        takt_field_append(text, size, " %s", rule->zone->name);
    if (rule->burst > 1)
        takt_field_append(text, size, " burst %" PRId64, rule->burst);
    if (rule->queue > 0)
        takt_field_append(text, size, " queue %" PRId64, rule->queue);
    if (rule->guard_us > 0) {
        takt_format_duration(rule->guard_us, guard, sizeof guard);
        takt_field_append(text, size, " guard %s", guard);
    }
}
