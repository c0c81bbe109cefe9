/*
 * The promises of windows and logs, computed from their definitions over the list of all slots
 * given. Shares no code with lib/core.
 */
#ifndef TAKT_TESTS_CORE_PROMISES_H
#define TAKT_TESTS_CORE_PROMISES_H

#include "base/memory_pages.h"
#include "core/limits.h"

/* A rule with its state, ready for use. */
typedef struct kept {
    takt_rule rule;
    takt_rule_state state;
    takt_memory_pages pages;
} kept;

static inline takt_rule rule_by(const takt_algorithm *algorithm, int64_t limit, int64_t period_us)
{
    takt_rule rule = {.algorithm = algorithm, .limit = limit, .period_us = period_us};
    takt_error error;
    int status = takt_rule_prepare(&rule, &error);

    cr_assert_eq(status, 0, "%s", error.text);
    return rule;
}

static inline void keep(kept *k, takt_rule rule, int64_t now_us)
{
    k->rule = rule;
    takt_memory_pages_init(&k->pages);
    k->state = (takt_rule_state){.pages = &k->pages.pages};
    rule.algorithm->rest(&k->rule, &k->state, now_us);
}

static inline void let_go(kept *k)
{
    takt_memory_pages_close(&k->pages);
}

/* As waiting does it: at the first moment from t_us on. */
static inline int64_t take_from(kept *k, int64_t t_us, int64_t cost)
{
    int64_t slot_us = k->rule.algorithm->earliest(&k->rule, &k->state, t_us, cost);

    if (slot_us != TAKT_NEVER)
        k->rule.algorithm->commit(&k->rule, &k->state, slot_us, cost);
    cr_assert_eq(k->pages.pages.trouble, TAKT_PAGES_FINE);
    takt_memory_pages_end(&k->pages, true);
    return slot_us;
}

/* Writes rule and state as text, reads both again into `k` and sees that nothing has changed. */
static inline void through_text(kept *k)
{
    char text[2][TAKT_RULE_TEXT_SIZE];
    takt_rule rule = k->rule;
    size_t size[2];

    for (int i = 0; i < 2; i++) {
        takt_writer writer = {text[i], text[i] + sizeof text[i], false};
        takt_rule_write(&rule, &k->state, &writer);
        cr_assert(!writer.full);
        size[i] = (size_t)(writer.at - text[i]);
        takt_reader reader = {text[i], writer.at, false};
        k->pages.pages.taken = 0;
        k->state = (takt_rule_state){.pages = &k->pages.pages};
        takt_rule_read(&rule, &k->state, &reader);
        cr_assert(takt_read_done(&reader), "%.*s", (int)size[i], text[i]);
        cr_assert(takt_rule_same(&rule, &k->rule), "%.*s", (int)size[i], text[i]);
    }
    cr_assert_eq(size[0], size[1]);
    cr_assert_arr_eq(text[0], text[1], size[0]);
}

/* ---- definitions; the slots are sorted ------------------------------------------------------- */

static inline int64_t tokens_in(const taken *slots, int count, int64_t from_us, int64_t until_us)
{
    int64_t tokens = 0;

    for (int i = 0; i < count; i++)
        if (slots[i].slot_us >= from_us && slots[i].slot_us < until_us)
            tokens += slots[i].cost;
    return tokens;
}

/* Every half-open window that begins with a slot: no other can hold more. */
static inline bool log_holds(const takt_rule *rule, const taken *slots, int count)
{
    for (int i = 0; i < count; i++)
        if (tokens_in(slots, count, slots[i].slot_us, slots[i].slot_us + rule->span_us) >
            rule->limit)
            return false;
    return true;
}

/* The tokens that are taken within the guard before a window, and may begin in it. */
static inline bool clock_holds(const takt_rule *rule, const taken *slots, int count)
{
    for (int i = 0; i < count; i++) {
        int64_t start_us = slots[i].slot_us - slots[i].slot_us % rule->span_us;
        if (tokens_in(slots, count, start_us - rule->guard_us, start_us + rule->span_us) >
            rule->limit)
            return false;
    }
    return true;
}

static inline bool first_use_holds(const takt_rule *rule, const taken *slots, int count)
{
    int64_t start_us = 0;

    for (int i = 0; i < count; i++) {
        if (i > 0 && slots[i].slot_us < start_us + rule->span_us)
            continue;
        start_us = slots[i].slot_us;
        if (tokens_in(slots, count, start_us, start_us + rule->span_us) > rule->limit)
            return false;
    }
    return true;
}

/* At each slot, the tokens taken up to it, including those of its own instant. */
static inline bool sliding_holds(const takt_rule *rule, const taken *slots, int count)
{
    for (int i = 0; i < count; i++) {
        int64_t t_us = slots[i].slot_us, past_us = t_us % rule->span_us;
        int64_t start_us = t_us - past_us;
        wide previous = tokens_in(slots, count, start_us - rule->span_us, start_us);
        wide current = tokens_in(slots, count, start_us, t_us + 1);
        if (previous * (rule->span_us - past_us) + current * rule->span_us >
            (wide)rule->limit * rule->span_us)
            return false;
    }
    return true;
}

/* No period has more than a quarter over the limit. */
static inline bool sliding_is_bounded(const takt_rule *rule, const taken *slots, int count)
{
    for (int i = 0; i < count; i++)
        if (tokens_in(slots, count, slots[i].slot_us, slots[i].slot_us + rule->span_us) >
            rule->limit + (rule->limit + 3) / 4)
            return false;
    return true;
}

static inline bool holds(const takt_rule *rule, const taken *slots, int count)
{
    switch (rule->algorithm->letter) {
    case 'l':
        return log_holds(rule, slots, count);
    case 's':
        return sliding_holds(rule, slots, count);
    case 'f':
        return rule->align == TAKT_ALIGN_CLOCK ? clock_holds(rule, slots, count)
                                               : first_use_holds(rule, slots, count);
    default: {
        taken copy[count > 0 ? count : 1];
        memcpy(copy, slots, (size_t)count * sizeof *slots);
        return broken_promise(rule, copy, count) == -1;
    }
    }
}

#endif
