/*
 * overrides.c: reads the overrides of a limit and finds the override of a key. An override is read
 * as a limit that takes its missing fields from its own limit. limit_text.c decides what the fields
 * mean.
 */
#include "policy/overrides.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/list.h"
#include "base/quote.h"
#include "base/table.h"
#include "base/time_text.h"
#include "policy/field.h"
#include "policy/limit_text.h"

#define RATE_SIZE 32 /* longer than any rate of 0 */

typedef struct override {
    takt_limit limit; /* first */
    takt_entry entry; /* key: the override's key or pattern */
    size_t index, rank;
    char key[]; /* with its NUL */
} override;

struct takt_overrides {
    takt_table table;
    override **all;
    size_t count;
    const override **patterns; /* in the order of the policy */
    size_t pattern_count;
};

/* ---- reading --------------------------------------------------------------------------------- */

static bool has_numbers(const takt_override_text *text)
{
    return text->rule_count > 0 || text->lookahead || text->headroom || text->max_waiting ||
           text->when_full || text->concurrency || text->lease || text->adapt;
}

/* Whether a rate is "0", or 0 with a period, such as "0/s". */
static bool is_zero(const char *rate)
{
    char one[RATE_SIZE];
    int64_t tokens, period_us;

    if (!rate || rate[0] != '0' || strlen(rate) >= sizeof one)
        return false;
    snprintf(one, sizeof one, "1%s", rate + 1);
    return !rate[1] || takt_parse_rate(one, &tokens, &period_us, NULL) == 0;
}

/* Reads an override with a rate of 0. It has no other fields, because they would have no effect. */
static int read_zero(const takt_override_text *text, takt_access *access, takt_error *error)
{
    for (unsigned i = 0; i < text->rule_count; i++) {
        const takt_rule_text *rule = &text->rules[i];
        takt_override_text others = *text;
        if (!is_zero(rule->rate))
            continue;
        others.rule_count = 0;
        if (text->rule_count > 1 || has_numbers(&others) || rule->burst || rule->algorithm ||
            rule->align || rule->timezone || rule->queue || rule->counts || rule->default_amount ||
            rule->guard)
            return takt_fail(
                error, TAKT_E_POLICY,
                "rules[%u].rate: a rate of 0 refuses all work of its keys; remove all other fields",
                i);
        *access = TAKT_ACCESS_REFUSED;
    }
    return 0;
}

static int read_access(const takt_override_text *text, takt_access *access, takt_error *error)
{
    bool is_true = text->unlimited && strcmp(text->unlimited, "true") == 0;
    char quoted[TAKT_QUOTE_SIZE];

    if (text->unlimited && !is_true && strcmp(text->unlimited, "false") != 0)
        return takt_fail(error, TAKT_E_POLICY, "unlimited: %s: write true or false",
                         takt_quote(text->unlimited, quoted));
    if (is_true && has_numbers(text))
        return takt_fail(
            error, TAKT_E_POLICY,
            "unlimited: an unlimited key has no numbers; remove unlimited or all other fields");
    if (!is_true && !has_numbers(text))
        return takt_fail(error, TAKT_E_POLICY,
                         "key: the override changes nothing; add rules, like rules: [{rate: "
                         "100/s}], or unlimited: true");
    *access = is_true ? TAKT_ACCESS_UNLIMITED : TAKT_ACCESS_LIMITED;
    return read_zero(text, access, error);
}

static int check_key(const char *key, takt_error *error)
{
    if (!key)
        return takt_fail(error, TAKT_E_POLICY,
                         "key: is missing; write a key, or a pattern like acme-*");
    if (!key[0])
        return takt_fail(error, TAKT_E_POLICY,
                         "key: is empty; write a key, or a pattern like acme-*");
    if (strlen(key) > TAKT_KEY_SIZE_MAX)
        return takt_fail(error, TAKT_E_POLICY, "key: has %zu bytes; write at most %d", strlen(key),
                         TAKT_KEY_SIZE_MAX);
    return 0;
}

/* Fills the missing fields of an override with the fields of its limit. */
static takt_limit_text merge(const takt_limit_text *of, const takt_override_text *text)
{
    takt_limit_text merged = *of;

    if (text->rule_count > 0) {
        merged.rules = text->rules;
        merged.rule_count = text->rule_count;
    }
    merged.lookahead = text->lookahead ? text->lookahead : of->lookahead;
    merged.headroom = text->headroom ? text->headroom : of->headroom;
    merged.max_waiting = text->max_waiting ? text->max_waiting : of->max_waiting;
    merged.when_full = text->when_full ? text->when_full : of->when_full;
    merged.concurrency = text->concurrency ? text->concurrency : of->concurrency;
    merged.lease = text->lease ? text->lease : of->lease;
    merged.adapt = text->adapt ? text->adapt : of->adapt;
    return merged;
}

static int read_limit(const takt_limit_text *of, const takt_override_text *text,
                      const takt_limit *base, takt_limit *limit, takt_error *error)
{
    takt_access access = TAKT_ACCESS_LIMITED;
    takt_limit_text merged = merge(of, text);
    int code = check_key(text->key, error);

    if (code == 0)
        code = read_access(text, &access, error);
    if (code == 0 && access == TAKT_ACCESS_LIMITED)
        code = takt_limit_read(&merged, limit, error);
    else if (code == 0)
        *limit = *base;
    if (code != 0)
        return code;
    limit->access = access;
    limit->base = base;
    limit->answers = base->answers;
    limit->fair = base->fair;
    limit->weights = base->weights;
    limit->default_weight = base->default_weight;
    limit->overrides = NULL;
    return 0;
}

static int add(takt_overrides *overrides, const takt_limit *limit, const char *key,
               takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];
    size_t size = strlen(key);
    const takt_entry *namesake = takt_table_find(&overrides->table, key, size);
    override *made;

    if (namesake)
        return takt_fail(error, TAKT_E_POLICY,
                         "key: %s is already that of overrides[%zu]; write each key once",
                         takt_quote(key, quoted), TAKT_HOLDER(namesake, override, entry)->index);
    made = malloc(sizeof *made + size + 1);
    if (!made)
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    *made = (override){.limit = *limit, .index = overrides->count};
    memcpy(made->key, key, size + 1);
    made->entry.key = made->key;
    made->entry.size = size;
    takt_table_add(&overrides->table, &made->entry);
    overrides->all[overrides->count++] = made;
    if (!strchr(key, '*'))
        return 0;
    overrides->patterns[overrides->pattern_count++] = made;
    made->rank = overrides->pattern_count;
    return 0;
}

/* Allocates room for `count` overrides. NULL: no memory. */
static takt_overrides *make(unsigned count)
{
    takt_overrides *overrides = calloc(1, sizeof *overrides);

    if (!overrides)
        return NULL;
    overrides->all = malloc(count * sizeof(override *));
    overrides->patterns = malloc(count * sizeof(override *));
    if (overrides->all && overrides->patterns && takt_table_init(&overrides->table, 0) == 0)
        return overrides;
    takt_overrides_free(overrides);
    return NULL;
}

int takt_overrides_read(const takt_limit_text *text, takt_limit *base, takt_error *error)
{
    takt_overrides *overrides;
    takt_limit limit;
    int code = 0;

    if (text->override_count == 0)
        return 0;
    overrides = make(text->override_count);
    if (!overrides)
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    for (unsigned i = 0; code == 0 && i < text->override_count; i++) {
        code = read_limit(text, &text->overrides[i], base, &limit, error);
        if (code == 0)
            code = add(overrides, &limit, text->overrides[i].key, error);
        if (code == TAKT_E_POLICY)
            takt_fail_prefix(error, "overrides[%u].", i);
    }
    if (code != 0) {
        takt_overrides_free(overrides);
        return code;
    }
    base->overrides = overrides;
    return 0;
}

void takt_overrides_free(takt_overrides *overrides)
{
    if (!overrides)
        return;
    for (size_t i = 0; i < overrides->count; i++)
        free(overrides->all[i]);
    takt_table_close(&overrides->table);
    free(overrides->all);
    free(overrides->patterns);
    free(overrides);
}

/* ---- finding --------------------------------------------------------------------------------- */

takt_limit *takt_overrides_at(const takt_limit *base, size_t index)
{
    return base->overrides && index < base->overrides->count ? &base->overrides->all[index]->limit
                                                             : NULL;
}

const char *takt_overrides_key(const takt_limit *limit)
{
    return ((const override *)limit)->key;
}

size_t takt_overrides_rank(const takt_limit *limit)
{
    return ((const override *)limit)->rank;
}

static const override *named(const takt_overrides *overrides, const char *key)
{
    const takt_entry *entry = takt_table_find(&overrides->table, key, strlen(key));

    return entry ? TAKT_HOLDER(entry, override, entry) : NULL;
}

const takt_limit *takt_overrides_named(const takt_limit *base, const char *key)
{
    const override *found = base->overrides ? named(base->overrides, key) : NULL;

    return found ? &found->limit : NULL;
}

/* Matches a pattern. After a mismatch, the last `*` matches one more byte. */
static bool matches(const char *pattern, const char *key)
{
    const char *star = NULL, *taken = NULL;

    while (*key) {
        if (*pattern == '*') {
            star = pattern++;
            taken = key;
        } else if (*pattern == *key) {
            pattern++;
            key++;
        } else if (star) {
            pattern = star + 1;
            key = ++taken;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

const takt_limit *takt_overrides_find(const takt_limit *limit, const char *key)
{
    const takt_overrides *overrides = limit->overrides;
    const override *found = key[0] ? named(overrides, key) : NULL;

    if (found && found->rank == 0)
        return &found->limit;
    for (size_t i = 0; key[0] && i < overrides->pattern_count; i++)
        if (matches(overrides->patterns[i]->key, key))
            return &overrides->patterns[i]->limit;
    return limit;
}
