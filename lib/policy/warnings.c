/*
 * warnings.c: finds probable mistakes in a valid policy: a rate that its limit never reaches,
 * because a rule of a longer period is slower and has a small burst; turns of inner keys without an
 * inner limit, or with weights for LIMIT:KEY. Errors are left to the readers of the policy.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/quote.h"
#include "base/time_text.h"
#include "policy/overrides.h"
#include "policy/policy.h"
#include "policy/weights.h"

#define RATE_SIZE 64

/* Whether rule a has a higher rate than rule b. */
static bool is_faster(const takt_rule *a, const takt_rule *b)
{
    return (double)a->tokens / (double)a->span_us > (double)b->tokens / (double)b->span_us;
}

/* Whether `pacer` keeps the limit below the rate of `rule`, from the first period of `rule` on. */
static bool hides(const takt_rule *pacer, const takt_rule *rule)
{
    return pacer->unit == rule->unit && pacer->algorithm->paced &&
           pacer->period_us > rule->period_us && is_faster(rule, pacer) &&
           pacer->algorithm->capacity(pacer) < rule->limit;
}

static void write_warning(const takt_rule *pacer, const takt_rule *rule, char *text, size_t size)
{
    char hidden[RATE_SIZE], slow[RATE_SIZE], period[RATE_SIZE], burst[RATE_SIZE], add[RATE_SIZE];
    int64_t capacity = pacer->algorithm->capacity(pacer);
    double pace = (double)pacer->tokens * (double)rule->period_us / (double)pacer->span_us;

    takt_format_rate(rule->limit, rule->period_us, hidden, sizeof hidden);
    takt_format_rate(pacer->limit, pacer->period_us, slow, sizeof slow);
    takt_format_rate(1, rule->period_us, period, sizeof period);
    snprintf(burst, sizeof burst, capacity > 1 ? "with a burst of %" PRId64 : "without a burst",
             capacity);
    snprintf(add, sizeof add, "add burst: %" PRId64 " or ", pacer->limit);
    snprintf(text, size,
             "rate %s is never reached: %s %s allows %.3g%s; %salgorithm: fixed-window to %s",
             hidden, slow, burst, pace, period + 1,
             pacer->algorithm->takes & TAKT_TAKES_BURST ? add : "add ", slow);
}

/* Finds the slowest rule that hides another rule, and the slowest rule that it hides. False: there
 * is no such rule. */
static bool find_hidden(const takt_numbers *numbers, const takt_rule **pacer,
                        const takt_rule **hidden)
{
    *pacer = *hidden = NULL;
    for (int i = 0; i < numbers->rule_count; i++)
        for (int j = 0; j < numbers->rule_count; j++) {
            const takt_rule *slow = &numbers->rules[i], *rule = &numbers->rules[j];
            if (!hides(slow, rule) || (*pacer && is_faster(slow, *pacer)))
                continue;
            if (*pacer != slow || is_faster(*hidden, rule))
                *hidden = rule;
            *pacer = slow;
        }
    return *pacer != NULL;
}

typedef struct warning {
    void (*tell)(void *data, const char *limit, const char *text);
    void *data;
    size_t count;
} warning;

static void add(warning *warnings, const char *name, const char *text)
{
    warnings->count++;
    if (warnings->tell)
        warnings->tell(warnings->data, name, text);
}

/* Warns of the rules of an override's key; NULL: of those of the limit itself. */
static void warn_of_rules(warning *warnings, const takt_limit *limit, const char *key)
{
    const takt_rule *pacer, *hidden;
    char text[512], name[TAKT_NAME_SIZE_MAX + TAKT_KEY_SIZE_MAX + 2];

    if (limit->access != TAKT_ACCESS_LIMITED || !find_hidden(&limit->numbers, &pacer, &hidden))
        return;
    write_warning(pacer, hidden, text, sizeof text);
    snprintf(name, sizeof name, "%s%s%s", limit->name, key ? ":" : "", key ? key : "");
    add(warnings, name, text);
}

/* An inner limit probably means that its own keys take turns at the limit that it is within. */
static void warn_of_fair(warning *warnings, const char *name, const char *within)
{
    char text[TAKT_NAME_SIZE_MAX + 200], other[TAKT_NAME_SIZE_MAX + 100];

    snprintf(
        other, sizeof other,
        within ? "move fair: key and its weights to \"%s\", where the keys of this limit take turns"
               : "add within: %s to the limit whose keys are to take turns",
        within ? within : name);
    snprintf(text, sizeof text,
             "fair: key does what fair: tenant does, because no limit is within this one; write "
             "fair: tenant, or %s",
             other);
    add(warnings, name, text);
}

/* Warns of weights for keys of the inner limit that are written as LIMIT:KEY. */
static void warn_of_weights(warning *warnings, const takt_limit *limit, const char *inner)
{
    const struct takt_weights *weights = limit->weights;
    size_t size = strlen(inner);
    char text[2 * TAKT_QUOTE_SIZE + 100], written[TAKT_QUOTE_SIZE], key[TAKT_QUOTE_SIZE];

    for (int i = 0; weights != NULL && i < weights->count; i++) {
        const char *name = weights->of[i].tenant;
        if (strncmp(name, inner, size) != 0 || name[size] != ':' || name[size + 1] == '\0')
            continue;
        snprintf(text, sizeof text, "weights: %s: a key is written without its limit; write %s",
                 takt_quote(name, written), takt_quote(name + size + 1, key));
        add(warnings, limit->name, text);
    }
}

size_t takt_policy_warn(const takt_policy *policy,
                        void (*tell)(void *data, const char *limit, const char *text), void *data)
{
    warning warnings = {tell, data, 0};
    const takt_limit *override;

    for (size_t i = 0; i < policy->limit_count; i++) {
        const takt_limit *limit = policy->limits[i];
        warn_of_rules(&warnings, limit, NULL);
        for (size_t k = 0; (override = takt_overrides_at(limit, k)); k++)
            warn_of_rules(&warnings, override, takt_overrides_key(override));
        if (limit->fair == TAKT_FAIR_KEY && !takt_policy_has_inner(policy, limit))
            warn_of_fair(&warnings, limit->name, policy->within[i]);
        for (size_t k = 0; limit->fair == TAKT_FAIR_KEY && k < policy->limit_count; k++)
            if (policy->within[k] != NULL && strcmp(policy->within[k], limit->name) == 0)
                warn_of_weights(&warnings, limit, policy->limits[k]->name);
    }
    return warnings.count;
}
