/*
 * unit_text.c: see unit_text.h.
 */
#include "policy/unit_text.h"

#include <inttypes.h>
#include <string.h>

#include <takt/standing.h>

#include "base/fail.h"
#include "base/quote.h"
#include "policy/field.h"

#define REQUESTS "requests"

bool takt_unit_is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t size = strlen(text);

    return size > 0 && size <= TAKT_UNIT_SIZE_MAX && strchr(letters, text[0]) != NULL &&
           strspn(text, allowed) == size;
}

static int refuse_name(const char *text, unsigned index, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];

    return takt_fail(error, TAKT_E_POLICY,
                     "rules[%u].counts: %s: write requests, or the name of a unit, like tokens: 1 "
                     "to %d of a-z 0-9 _, a letter first",
                     index, takt_quote(text, quoted), TAKT_UNIT_SIZE_MAX);
}

/* Where the default of a named unit is kept. */
static int32_t *default_of(takt_limit *limit, takt_unit unit)
{
    return unit == TAKT_UNIT_TOKENS ? &limit->default_amount
                                    : &limit->more_defaults.of[unit - TAKT_UNIT_MORE];
}

static int read_default(const takt_rule_text *rule, unsigned index, takt_limit *limit,
                        takt_unit unit, takt_error *error)
{
    int32_t *known = default_of(limit, unit);
    int64_t amount = 0;
    int code = takt_field_read_count("default_amount", rule->default_amount, TAKT_COST_MAX, &amount,
                                     error);

    if (code != 0) {
        if (error != NULL)
            takt_fail_prefix(error, "rules[%u].", index);
        return code;
    }
    if (amount > 0 && *known > 0 && amount != *known)
        return takt_fail(error, TAKT_E_POLICY,
                         "rules[%u].default_amount: %" PRId64
                         ", but an earlier rule has %d for %s; write one of them",
                         index, amount, (int)*known, rule->counts);
    if (amount > 0)
        *known = (int32_t)amount;
    return 0;
}

/* The unit of that name, which gets a number if it has none; -1: there are too many. */
static int number_unit(takt_limit *limit, const char *name)
{
    int unit = takt_unit_named_in(limit, name);

    if (unit >= 0)
        return unit;
    if (limit->unit[0] == '\0') {
        strcpy(limit->unit, name);
        return TAKT_UNIT_TOKENS;
    }
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        if (limit->more_units[i][0] == '\0') {
            strcpy(limit->more_units[i], name);
            return TAKT_UNIT_MORE + i;
        }
    return -1;
}

/* Notes the unit that a rule names.  `first` is the index of the first rule that named one. */
static int read_unit(const takt_rule_text *rule, unsigned index, unsigned *first, takt_limit *limit,
                     takt_error *error)
{
    int unit;

    if (!takt_unit_is_name(rule->counts))
        return refuse_name(rule->counts, index, error);
    if (limit->unit[0] == '\0')
        *first = index;
    unit = number_unit(limit, rule->counts);
    if (unit < 0)
        return takt_fail(error, TAKT_E_POLICY,
                         "rules[%u].counts: %s is the %dth unit; a limit counts requests and up to "
                         "%d units: count %s in a limit of its own, and write within in one of the "
                         "two",
                         index, rule->counts, TAKT_AMOUNTS_MAX + 1, TAKT_AMOUNTS_MAX, rule->counts);
    limit->numbers.rules[index].unit = (takt_unit)unit;
    return read_default(rule, index, limit, (takt_unit)unit, error);
}

/* A rule without `counts` beside one that names a unit would count the same amounts unawares. */
static int check_unnamed(const takt_rule_text *rules, unsigned count, unsigned first,
                         const takt_limit *limit, takt_error *error)
{
    for (unsigned i = 0; limit->unit[0] != '\0' && i < count; i++)
        if (rules[i].counts == NULL)
            return takt_fail(
                error, TAKT_E_POLICY,
                "rules[%u].counts: is missing, and rules[%u] counts %s; write %s or requests", i,
                first, limit->unit, limit->unit);
    return 0;
}

int takt_units_read(const takt_rule_text *rules, unsigned count, takt_limit *limit,
                    takt_error *error)
{
    unsigned first = 0;
    int code = 0;

    for (unsigned i = 0; code == 0 && i < count; i++) {
        const takt_rule_text *rule = &rules[i];
        bool requests = rule->counts != NULL && strcmp(rule->counts, REQUESTS) == 0;
        limit->numbers.rules[i].unit = requests ? TAKT_UNIT_REQUESTS : TAKT_UNIT_TOKENS;
        if (rule->counts != NULL && !requests)
            code = read_unit(rule, i, &first, limit, error);
        else if (rule->default_amount != NULL)
            code = takt_fail(error, TAKT_E_POLICY,
                             "rules[%u].default_amount: needs counts with the name of a unit; add "
                             "it or remove default_amount",
                             i);
    }
    return code == 0 ? check_unnamed(rules, count, first, limit, error) : code;
}

const char *takt_unit_name_in(const takt_limit *limit, takt_unit unit)
{
    return unit == TAKT_UNIT_TOKENS     ? limit->unit
           : unit == TAKT_UNIT_REQUESTS ? REQUESTS
                                        : limit->more_units[unit - TAKT_UNIT_MORE];
}

int takt_unit_named_in(const takt_limit *limit, const char *name)
{
    if (strcmp(limit->unit, name) == 0)
        return TAKT_UNIT_TOKENS;
    if (strcmp(name, REQUESTS) == 0)
        return TAKT_UNIT_REQUESTS;
    for (int i = 0; i < TAKT_MORE_MAX && name[0] != '\0'; i++)
        if (strcmp(limit->more_units[i], name) == 0)
            return TAKT_UNIT_MORE + i;
    return -1;
}

bool takt_unit_is_counted(const takt_limit *limit, const char *unit)
{
    int named = unit[0] != '\0' ? takt_unit_named_in(limit, unit) : -1;

    for (int i = 0; i < limit->numbers.rule_count; i++)
        if ((int)limit->numbers.rules[i].unit == named)
            return true;
    return false;
}
