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

static int read_default(const takt_rule_text *rule, unsigned index, takt_limit *limit,
                        takt_error *error)
{
    int64_t amount = 0;
    int code = takt_field_read_count("default_amount", rule->default_amount, TAKT_COST_MAX, &amount,
                                     error);

    if (code != 0) {
        if (error != NULL)
            takt_fail_prefix(error, "rules[%u].", index);
        return code;
    }
    if (amount > 0 && limit->default_amount > 0 && amount != limit->default_amount)
        return takt_fail(error, TAKT_E_POLICY,
                         "rules[%u].default_amount: %" PRId64
                         ", but an earlier rule has %d for %s; write one of them",
                         index, amount, (int)limit->default_amount, limit->unit);
    if (amount > 0)
        limit->default_amount = (int32_t)amount;
    return 0;
}

/* Notes the unit that a rule names.  `first` is the index of the first rule that named it. */
static int read_unit(const takt_rule_text *rule, unsigned index, unsigned *first, takt_limit *limit,
                     takt_error *error)
{
    if (!takt_unit_is_name(rule->counts))
        return refuse_name(rule->counts, index, error);
    if (limit->unit[0] == '\0') {
        strcpy(limit->unit, rule->counts);
        *first = index;
    } else if (strcmp(limit->unit, rule->counts) != 0) {
        return takt_fail(error, TAKT_E_POLICY,
                         "rules[%u].counts: %s, and rules[%u] counts %s; a limit counts requests "
                         "and one unit more: count %s in a limit of its own, and write within in "
                         "one of the two",
                         index, rule->counts, *first, limit->unit, rule->counts);
    }
    return read_default(rule, index, limit, error);
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

bool takt_unit_is_counted(const takt_limit *limit, const char *unit)
{
    if (strcmp(unit, REQUESTS) != 0)
        return limit->unit[0] != '\0' && strcmp(limit->unit, unit) == 0;
    for (int i = 0; i < limit->numbers.rule_count; i++)
        if (limit->numbers.rules[i].unit == TAKT_UNIT_REQUESTS)
            return true;
    return false;
}
