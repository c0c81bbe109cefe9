/*
 * A GCRA state as text, and what becomes of it when the rule's numbers change.
 */
#include <string.h>

#include "base/random.h"
#include "core/limits.h"
#include "seed.h"

static size_t write(const takt_rule *rule, const takt_rule_state *state, char *text)
{
    takt_writer writer = {text, text + TAKT_RULE_TEXT_SIZE, false};

    takt_rule_write(rule, state, &writer);
    cr_assert_not(writer.full);
    return (size_t)(writer.at - text);
}

static bool read(const char *text, size_t size, takt_rule *rule, takt_rule_state *state)
{
    takt_reader reader = {text, text + size, false};

    takt_rule_read(rule, state, &reader);
    return takt_read_done(&reader);
}

Test(gcra_text, is_written_as_documented)
{
    static const struct {
        int64_t tokens, period_us, burst, us, parts;
        const char *text;
    } rows[] = {
        {100, SECOND, 10, 1763692800123456, 0, "g1/10000*10 1763692800123456"},
        {3, SECOND, 1, 1763692800123456, 2, "g3/1000000*1 1763692800123456+2"},
        {800, DAY, 1, 5, 0, "g1/108000000*1 5"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_rule rule = rule_of(rows[i].tokens, rows[i].period_us, rows[i].burst);
        takt_rule_state state = {.gcra.tat = {rows[i].us, rows[i].parts}};
        char text[TAKT_RULE_TEXT_SIZE];
        size_t size = write(&rule, &state, text);
        cr_assert_eq(size, strlen(rows[i].text), "row %zu", i);
        cr_assert_eq(memcmp(text, rows[i].text, size), 0, "row %zu: %.*s", i, (int)size, text);
    }
}

Test(gcra_text, is_read_back_as_it_was)
{
    uint64_t random = test_seed(1);

    for (int i = 0; i < 2000; i++) {
        takt_rule rule =
            rule_of(1 + takt_random_below(&random, 1000), 1 + takt_random_below(&random, HOUR),
                    1 + takt_random_below(&random, 1000));
        takt_rule_state state = {.gcra.tat = {takt_random_below(&random, INT64_C(1) << 53),
                                              takt_random_below(&random, rule.tokens)}};
        takt_rule_state read_state;
        takt_rule read_rule;
        char text[TAKT_RULE_TEXT_SIZE];
        size_t size = write(&rule, &state, text);
        cr_assert(read(text, size, &read_rule, &read_state), "%.*s", (int)size, text);
        cr_assert(takt_rule_same(&rule, &read_rule), "%.*s", (int)size, text);
        cr_assert_eq(read_rule.interval.us, rule.interval.us);
        cr_assert_eq(read_rule.interval.parts, rule.interval.parts);
        cr_assert_eq(read_rule.tolerance.us, rule.tolerance.us);
        cr_assert_eq(read_rule.tolerance.parts, rule.tolerance.parts);
        cr_assert_eq(read_state.gcra.tat.us, state.gcra.tat.us);
        cr_assert_eq(read_state.gcra.tat.parts, state.gcra.tat.parts);
    }
}

Test(gcra_text, the_longest_fits)
{
    takt_rule rule =
        rule_of(TAKT_RULE_LIMIT_MAX - 63, TAKT_SPAN_MAX_US - 1, TAKT_RULE_LIMIT_MAX - 63);
    takt_rule_state state = {.gcra.tat = {INT64_C(1) << 53, rule.tokens - 1}};
    char text[TAKT_RULE_TEXT_SIZE];

    cr_assert_leq(write(&rule, &state, text), TAKT_RULE_TEXT_SIZE);
}

Test(gcra_text, what_is_broken_is_refused)
{
    static const char *const texts[] = {
        "",
        "g",
        "x1/10000*10 1763692800123456",
        "g1/10000*10",
        "g1/10000*10 ",
        "g1/10000 1763692800123456",
        "g1*10 1763692800123456",
        "g0/10000*10 1763692800123456",
        "g1/0*10 1763692800123456",
        "g1/10000*0 1763692800123456",
        "g-1/10000*10 1763692800123456",
        "g1/10000*10 -5",
        "g1/10000*10  1763692800123456",
        "g1/10000*10 1763692800123456 ",
        "g1/10000*10 1763692800123456+",
        "g1/10000*10 1763692800123456+1",  /* parts of one */
        "g3/10000*10 1763692800123456+3",  /* a whole one */
        "g3/10000*10 1763692800123456+0",  /* written without */
        "g3/10000*10 1763692800123456+-1", /* in the past */
        "g1/10000*10 9007199254740993",
        "g1000000001/10000*10 5",
        "g1/9007199254740993*1 5",
        "g1/9007199254740992*1 5",          /* a token in 285 years */
        "g1/1576800000000000*2 5",          /* a burst of 100 years */
        "g1/2147483648*1000000000 5",       /* a burst of 68,000 years */
        "g1/9007199254740992*1000000000 5", /* and one whose time is not a number */
        "g1/1125899906842624*16384 5",      /* 2^64 us, which wraps to 0 */
        "G1/10000*10 5",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        takt_rule rule;
        takt_rule_state state;
        cr_assert_not(read(texts[i], strlen(texts[i]), &rule, &state), "%s", texts[i]);
    }
}

/* Tokens that must have drained before the burst is whole again, times `scale`. */
static wide backlog(const takt_rule *rule, const takt_rule_state *state, int64_t scale)
{
    wide us = (wide)(state->gcra.tat.us - NOW) * rule->tokens + state->gcra.tat.parts;

    return us * scale / rule->span_us;
}

Test(gcra_text, changed_numbers_keep_the_backlog_in_tokens)
{
    static const struct {
        int64_t tokens, period_us, new_tokens, new_period_us, tat_us, new_tat_us; /* after NOW */
    } rows[] = {
        {10, SECOND, 20, SECOND, 10 * SECOND, 5 * SECOND},
        {10, SECOND, 5, SECOND, 10 * SECOND, 20 * SECOND},
        {10, SECOND, 600, MINUTE, 10 * SECOND, 10 * SECOND},
        {1, SECOND, 3, SECOND, SECOND, 333334},
        {1, HOUR, 1000, SECOND, HOUR, MS},
        {1000, SECOND, 1, DAY, MS, DAY},
        {10, SECOND, 20, SECOND, 0, 0},
        {10, SECOND, 20, SECOND, -5 * SECOND, -5 * SECOND},
        {10, SECOND, 20, SECOND, 1, 1}, /* a hundred thousandth of a token, rounded up */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_rule from = rule_of(rows[i].tokens, rows[i].period_us, 1);
        takt_rule to = rule_of(rows[i].new_tokens, rows[i].new_period_us, 1);
        takt_rule_state state = {.gcra.tat = {NOW + rows[i].tat_us, 0}};
        takt_gcra.convert(&from, &to, &state, NOW);
        int64_t tat_us = takt_fraction_ceil(state.gcra.tat) - NOW;
        cr_assert_eq(tat_us, rows[i].new_tat_us, "row %zu: %" PRId64, i, tat_us);
    }
}

Test(gcra_text, a_raised_rate_waits_no_longer_and_no_change_mints_tokens)
{
    uint64_t random = test_seed(1);

    for (int i = 0; i < 5000; i++) {
        int64_t period_us = 1 + takt_random_below(&random, HOUR);
        takt_rule from = rule_of(1 + takt_random_below(&random, 1000), period_us, 5);
        takt_rule to = rule_of(1 + takt_random_below(&random, 1000), period_us, 5);
        takt_rule_state state = {.gcra.tat = {NOW + takt_random_below(&random, DAY), 0}},
                        old = state;
        takt_gcra.convert(&from, &to, &state, NOW);
        int64_t before_us = takt_gcra.earliest(&from, &old, NOW, 1);
        int64_t after_us = takt_gcra.earliest(&to, &state, NOW, 1);
        /* rounding up may cost a microsecond and a millionth of a token */
        int64_t grain_us = 2 + period_us / to.limit / 1000000;
        if (to.limit >= from.limit)
            cr_assert_leq(after_us, before_us + grain_us, "round %d", i);
        cr_assert_geq(backlog(&to, &state, 1000000), backlog(&from, &old, 1000000), "round %d", i);
    }
}

Test(gcra_text, conversion_does_not_overflow)
{
    takt_rule fastest = rule_of(TAKT_RULE_LIMIT_MAX, 1, 1),
              slowest = rule_of(1, TAKT_SPAN_MAX_US, 1);
    takt_rule_state state = {.gcra.tat = {INT64_C(1) << 53, 0}};

    takt_gcra.convert(&fastest, &slowest, &state, NOW);
    cr_assert_eq(state.gcra.tat.us, NOW + 2 * TAKT_SPAN_MAX_US, "as far as time goes");
    takt_gcra.convert(&slowest, &fastest, &state, NOW);
    cr_assert_leq(takt_fraction_ceil(state.gcra.tat), NOW + 1);
    cr_assert_gt(takt_fraction_ceil(state.gcra.tat), NOW);
}
