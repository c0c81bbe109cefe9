/*
 * limit_text.c: reads a limit from the texts of a policy file or a command line, and describes it
 * in one line. It decides the range of each field. base/time_text.c decides the format of rates and
 * durations, and core decides which numbers an algorithm accepts. policy.c resolves `within`;
 * overrides.c reads `overrides`.
 */
#include "policy/limit_text.h"

#include <inttypes.h>
#include <string.h>

#include <takt/takt.h>

#include "base/fail.h"
#include "base/name.h"
#include "base/quote.h"
#include "base/time_text.h"
#include "policy/adapt_text.h"
#include "policy/answers.h"
#include "policy/field.h"
#include "policy/rule_text.h"
#include "policy/unit_text.h"
#include "policy/weights.h"

#define LOOKAHEAD_MIN_US INT64_C(1000)
#define PERCENT_BP       100 /* headroom is in hundredths of a percent */

/* Reads "2%", "0.5%" or "12.25%" as hundredths of a percent. */
static int read_headroom(const char *text, int64_t *headroom_bp, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE], whole[4];
    if (text == NULL)
        return 0;
    size_t digits = strcspn(text, ".%");
    const char *at = text + digits;
    int64_t percent = 0, hundredths = 0;
    if (digits >= sizeof whole)
        goto refuse;
    memcpy(whole, text, digits);
    whole[digits] = '\0';
    if (takt_parse_whole(whole, 99, &percent) != 0)
        goto refuse;
    if (*at == '.') {
        at++;
        for (int64_t worth = PERCENT_BP / 10; worth > 0 && *at >= '0' && *at <= '9'; worth /= 10)
            hundredths += worth * (*at++ - '0');
        if (at[-1] == '.')
            goto refuse;
    }
    if (strcmp(at, "%") != 0)
        goto refuse;
    *headroom_bp = percent * PERCENT_BP + hundredths;
    return 0;

refuse:
    return takt_fail(
        error, TAKT_E_POLICY,
        "headroom: %s: write 0%% to 99.99%%, like 2%% or 0.5%%, with at most two decimals",
        takt_quote(text, quoted));
}

static int read_lookahead(const char *text, int64_t *lookahead_us, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];
    int64_t read = 0;
    if (text == NULL)
        return 0;
    int code = takt_parse_duration(text, &read, error);
    if (code != 0)
        return takt_field_refuse("lookahead", code, error);
    if (read < LOOKAHEAD_MIN_US || read > TAKT_LOOKAHEAD_MAX_US)
        return takt_fail(error, TAKT_E_POLICY, "lookahead: %s: write 1ms to 10s",
                         takt_quote(text, quoted));
    *lookahead_us = read;
    return 0;
}

static const char *const failure_names[] = {
    [TAKT_ON_STORE_FAILURE_WAIT] = "wait",
    [TAKT_ON_STORE_FAILURE_CLOSED] = "closed",
    [TAKT_ON_STORE_FAILURE_OPEN] = "open",
    [TAKT_ON_STORE_FAILURE_SHARE] = "share",
};
#define FAILURE_COUNT (sizeof failure_names / sizeof failure_names[0])

static const char *const mode_names[] = {
    [TAKT_MODE_ENFORCE] = "enforce",
    [TAKT_MODE_SHADOW] = "shadow",
};
#define MODE_COUNT (sizeof mode_names / sizeof mode_names[0])

const char *takt_on_store_failure_name(takt_on_store_failure mode)
{
    return (size_t)mode < FAILURE_COUNT ? failure_names[mode] : "unknown";
}

const char *takt_mode_name(takt_mode mode)
{
    return (size_t)mode < MODE_COUNT ? mode_names[mode] : "unknown";
}

static int read_on_store_failure(const char *text, takt_on_store_failure *mode, takt_error *error)
{
    size_t word = TAKT_ON_STORE_FAILURE_WAIT;
    int code = text == NULL ? 0
                            : takt_field_read_word("on_store_failure", text, failure_names,
                                                   FAILURE_COUNT, &word, error);
    if (code == 0)
        *mode = (takt_on_store_failure)word;
    return code;
}

static int read_mode(const char *text, takt_mode *mode, takt_error *error)
{
    size_t word = TAKT_MODE_ENFORCE;
    int code =
        text == NULL ? 0 : takt_field_read_word("mode", text, mode_names, MODE_COUNT, &word, error);
    if (code == 0)
        *mode = (takt_mode)word;
    return code;
}

static int read_key_hash(const char *text, bool *key_hash, takt_error *error)
{
    static const char *const words[] = {"false", "true"};
    size_t word = 0;
    int code = text == NULL ? 0 : takt_field_read_word("key_hash", text, words, 2, &word, error);
    if (code == 0)
        *key_hash = word == 1;
    return code;
}

static const char *const full_names[] = {
    [TAKT_WHEN_FULL_REFUSE] = "refuse",
    [TAKT_WHEN_FULL_DROP_OLDEST] = "drop-oldest",
    [TAKT_WHEN_FULL_DROP_LOWEST] = "drop-lowest",
};
#define FULL_COUNT (sizeof full_names / sizeof full_names[0])

/* Reads when_full. The queue of a rule also sets max_waiting. */
static int read_when_full(const char *text, takt_limit *limit, takt_error *error)
{
    size_t word = TAKT_WHEN_FULL_REFUSE;
    int code = text == NULL
                   ? 0
                   : takt_field_read_word("when_full", text, full_names, FULL_COUNT, &word, error);
    if (code != 0)
        return code;
    if (text != NULL && limit->numbers.max_waiting == 0)
        return takt_fail(error, TAKT_E_POLICY,
                         "when_full: needs max_waiting; add it or remove when_full");
    limit->numbers.when_full = (takt_when_full)word;
    return 0;
}

/* Reads a lease. Workers renew it after a third of its time and may be busy for a while, so it has
 * a minimum. */
static int read_lease(const char *text, takt_limit *limit, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];
    int code;

    limit->numbers.lease_us = limit->numbers.concurrency > 0 ? TAKT_LEASE_US : 0;
    if (text == NULL)
        return 0;
    if (limit->numbers.concurrency == 0)
        return takt_fail(error, TAKT_E_POLICY, "lease: needs concurrency; add it or remove lease");
    code = takt_parse_duration(text, &limit->numbers.lease_us, error);
    if (code != 0)
        return takt_field_refuse("lease", code, error);
    if (limit->numbers.lease_us < TAKT_LEASE_MIN_US || limit->numbers.lease_us > TAKT_LEASE_MAX_US)
        return takt_fail(error, TAKT_E_POLICY, "lease: %s: write 1s to 1day",
                         takt_quote(text, quoted));
    return 0;
}

static int read_priority(const char *text, int *priority, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];

    *priority = TAKT_PRIORITY_DEFAULT;
    if (text == NULL)
        return 0;
    if (text[0] < '0' || text[0] > '9' || text[1] != '\0')
        return takt_fail(error, TAKT_E_POLICY, "priority: %s: write 0 (most urgent) to 9",
                         takt_quote(text, quoted));
    *priority = text[0] - '0';
    return 0;
}

static int read_permits(const takt_limit_text *text, takt_limit *limit, takt_error *error)
{
    int code = takt_field_read_count("concurrency", text->concurrency, TAKT_CONCURRENCY_MAX,
                                     &limit->numbers.concurrency, error);

    return code == 0 ? read_lease(text->lease, limit, error) : code;
}

static int read_rule(const takt_rule_text *text, unsigned index, int64_t headroom_bp,
                     takt_limit *limit, takt_error *error)
{
    takt_rule *rule = &limit->numbers.rules[index];
    int code = takt_rule_read_text(text, headroom_bp, rule, error);
    /* headroom is a field of the limit, not of the rule that refuses it */
    if (code != 0 && error != NULL && strncmp(error->text, "headroom:", 9) != 0)
        takt_fail_prefix(error, "rules[%u].", index);
    if (code == 0 && rule->queue > 0 &&
        (limit->numbers.max_waiting == 0 || limit->numbers.max_waiting > rule->queue))
        limit->numbers.max_waiting = rule->queue;
    return code;
}

int takt_limit_read(const takt_limit_text *text, takt_limit *limit, takt_error *error)
{
    takt_limit read = {.numbers.lookahead_us = TAKT_LOOKAHEAD_US};
    int64_t headroom_bp = 0;
    int code;
    if (text->name == NULL)
        return takt_fail(error, TAKT_E_POLICY,
                         "name: is missing; write a name for the limit, like name: mail");
    code = takt_name_check(text->name, error);
    if (code != 0)
        return takt_field_refuse("name", code, error);
    memcpy(read.name, text->name, strlen(text->name) + 1);

    const bool has_rules = text->rules != NULL && text->rule_count > 0;
    if (!has_rules && (text->concurrency == NULL || text->rule_count > 0))
        return takt_fail(error, TAKT_E_POLICY,
                         "rules: are missing; write at least one, like rate: 100/s, or "
                         "concurrency");
    if (!has_rules && text->headroom != NULL)
        return takt_fail(error, TAKT_E_POLICY,
                         "headroom: needs rules; add them or remove headroom");
    if (text->rule_count > TAKT_RULES_MAX)
        return takt_fail(error, TAKT_E_POLICY, "rules: there are %u; write at most %d",
                         text->rule_count, TAKT_RULES_MAX);
    code = takt_field_read_count("max_waiting", text->max_waiting, TAKT_WAITING_MAX,
                                 &read.numbers.max_waiting, error);
    if (code == 0)
        code = read_headroom(text->headroom, &headroom_bp, error);
    for (unsigned i = 0; code == 0 && i < text->rule_count; i++)
        code = read_rule(&text->rules[i], i, headroom_bp, &read, error);
    if (code == 0)
        code = takt_units_read(text->rules, text->rule_count, &read, error);
    if (code == 0)
        code = read_when_full(text->when_full, &read, error);
    if (code == 0)
        code = read_priority(text->priority, &read.priority, error);
    if (code == 0)
        code = read_permits(text, &read, error);
    if (code == 0)
        code = read_lookahead(text->lookahead, &read.numbers.lookahead_us, error);
    if (code == 0)
        code = read_on_store_failure(text->on_store_failure, &read.on_store_failure, error);
    if (code == 0)
        code = read_mode(text->mode, &read.mode, error);
    if (code == 0)
        code = takt_learn_read(text->learn, &read.learn, error);
    if (code == 0)
        code = read_key_hash(text->key_hash, &read.key_hash, error);
    read.numbers.rule_count = (int)text->rule_count;
    if (code == 0)
        code = takt_adapt_read(text->adapt, &read.numbers, error);
    if (code != 0)
        return code;
    *limit = read;
    return 0;
}

void takt_limit_describe(const takt_limit *limit, const char *within, char *text, size_t size)
{
    char part[64];
    if (size == 0)
        return;
    text[0] = '\0';
    if (limit->access != TAKT_ACCESS_LIMITED) {
        takt_field_append(text, size, "%s",
                          limit->access == TAKT_ACCESS_UNLIMITED ? "unlimited" : "refused");
        return;
    }
    for (int i = 0; i < limit->numbers.rule_count; i++) {
        takt_field_append(text, size, "%s", i > 0 ? ", " : "");
        takt_rule_describe(&limit->numbers.rules[i],
                           takt_unit_name_in(limit, limit->numbers.rules[i].unit), text, size);
    }
    if (limit->numbers.concurrency > 0)
        takt_field_append(text, size, "%sconcurrency %" PRId64,
                          limit->numbers.rule_count > 0 ? ", " : "", limit->numbers.concurrency);
    if (limit->numbers.concurrency > 0 && limit->numbers.lease_us != TAKT_LEASE_US) {
        takt_format_duration(limit->numbers.lease_us, part, sizeof part);
        takt_field_append(text, size, ", lease %s", part);
    }
    if (limit->default_amount > 0)
        takt_field_append(text, size, ", default_amount %" PRId32, limit->default_amount);
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        if (limit->more_defaults.of[i] > 0)
            takt_field_append(text, size, ", default_amount %" PRId32 " %s",
                              limit->more_defaults.of[i], limit->more_units[i]);
    int64_t headroom_bp = limit->numbers.rule_count > 0 ? limit->numbers.rules[0].headroom_bp : 0;
    if (headroom_bp != 0)
        takt_field_append(text, size, ", headroom %" PRId64, headroom_bp / PERCENT_BP);
    if (headroom_bp % 10 != 0)
        takt_field_append(text, size, ".%02" PRId64, headroom_bp % PERCENT_BP);
    else if (headroom_bp % PERCENT_BP != 0)
        takt_field_append(text, size, ".%" PRId64, headroom_bp % PERCENT_BP / 10);
    if (headroom_bp != 0)
        takt_field_append(text, size, "%%");
    if (limit->numbers.lookahead_us != TAKT_LOOKAHEAD_US) {
        takt_format_duration(limit->numbers.lookahead_us, part, sizeof part);
        takt_field_append(text, size, ", lookahead %s", part);
    }
    if (limit->numbers.max_waiting != 0)
        takt_field_append(text, size, ", max_waiting %" PRId64, limit->numbers.max_waiting);
    if (limit->numbers.when_full != TAKT_WHEN_FULL_REFUSE)
        takt_field_append(text, size, ", when_full %s", full_names[limit->numbers.when_full]);
    takt_adapt_describe(&limit->numbers.adapt, text, size);
    if (limit->priority != TAKT_PRIORITY_DEFAULT)
        takt_field_append(text, size, ", priority %d", limit->priority);
    if (limit->on_store_failure != TAKT_ON_STORE_FAILURE_WAIT)
        takt_field_append(text, size, ", on_store_failure %s",
                          takt_on_store_failure_name(limit->on_store_failure));
    if (limit->mode != TAKT_MODE_ENFORCE)
        takt_field_append(text, size, ", mode %s", takt_mode_name(limit->mode));
    takt_weights_describe(limit, text, size);
    takt_answers_describe(limit, text, size);
    if (limit->key_hash)
        takt_field_append(text, size, ", key_hash");
    if (within != NULL)
        takt_field_append(text, size, ", within %s", within);
}
