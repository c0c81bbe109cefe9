/*
 * A try of nested limits decides as each of its levels would alone: it takes from all of them if
 * each would give, and otherwise changes nothing and says when all will.
 */
#include "base/integers.h"
#include "base/random.h"
#include "core/books.h"
#include "core/holders.h"
#include "core/inner.h"
#include "core/ledger_text.h"
#include "seed.h"

#define LEVELS    3
#define ROUNDS    200
#define TRIES     100
#define TEXT_SIZE 16384

TestSuite(try);

/* The innermost first; the last one is the outermost. */
static takt_numbers numbers[LEVELS];
static takt_ledger ledgers[LEVELS];
static takt_holder holders[LEVELS][4];
static takt_place lines[LEVELS][40];
static takt_tenant tenants[LEVELS][40];
static takt_ledger *inner[LEVELS - 1];
static takt_ledger *const outermost = &ledgers[LEVELS - 1];
static takt_award award;
static int64_t seq;

static void open_levels(void)
{
    for (int i = 0; i < LEVELS; i++) {
        ledgers[i] = (takt_ledger){.holders = holders[i],
                                   .holder_capacity = 4,
                                   .line = lines[i],
                                   .line_capacity = 40,
                                   .tenants = tenants[i],
                                   .tenant_capacity = 40};
        takt_ledger_init(&ledgers[i], &numbers[i], NOW);
        if (i + 1 < LEVELS)
            inner[i] = &ledgers[i];
    }
    outermost->inner = inner;
    outermost->inner_count = LEVELS - 1;
    seq = 0;
}

static void set_up(int64_t burst, int64_t account, int64_t domain)
{
    for (int i = 0; i < LEVELS; i++) {
        numbers[i] = limit_of(1, SECOND, burst);
        numbers[i].lease_us = 30 * SECOND;
    }
    numbers[0].concurrency = account;
    numbers[1].concurrency = domain;
    open_levels();
}

static int64_t remaining(int level, int64_t now_us)
{
    takt_standing standing = {0};
    takt_ledger copy = ledgers[level];

    copy.inner_count = 0;
    takt_ledger_peek(&copy, now_us, &standing);
    return standing.remaining;
}

/* The level that the answer is about, as an index of `ledgers`. */
static int told_level(void)
{
    return outermost->tight > 0 ? outermost->tight - 1 : LEVELS - 1;
}

/* ---- any rules ------------------------------------------------------------------------------- */

static takt_rule draw_rule(uint64_t *random)
{
    static const takt_algorithm *const algorithms[] = {&takt_gcra, &takt_token_bucket,
                                                       &takt_fixed_window, &takt_sliding_window};
    takt_rule rule = {.algorithm = algorithms[takt_random_below(random, 4)],
                      .limit = 4 + takt_random_below(random, 40),
                      .period_us = SECOND + takt_random_below(random, 20 * SECOND),
                      .unit = takt_random_below(random, 5) == 0 ? TAKT_UNIT_REQUESTS
                                                                : TAKT_UNIT_TOKENS};
    takt_error error;

    if (rule.algorithm->takes & TAKT_TAKES_BURST)
        rule.burst = 4 + takt_random_below(random, 20);
    cr_assert_eq(takt_rule_prepare(&rule, &error), 0, "%s", error.text);
    return rule;
}

static void draw_levels(uint64_t *random)
{
    for (int i = 0; i < LEVELS; i++) {
        numbers[i] = (takt_numbers){.lookahead_us = TAKT_LOOKAHEAD_US,
                                    .rule_count = 1 + (int)takt_random_below(random, 2)};
        for (int rule = 0; rule < numbers[i].rule_count; rule++)
            numbers[i].rules[rule] = draw_rule(random);
    }
    open_levels();
}

static size_t write(const takt_ledger *ledger, char text[TEXT_SIZE])
{
    cr_assert_leq(takt_ledger_text_size(0, 0, 0), TEXT_SIZE);
    return takt_ledger_encode(ledger, text, TEXT_SIZE);
}

static void expect_same(const takt_ledger *ledger, const takt_ledger *expected, int level)
{
    char text[TEXT_SIZE], other[TEXT_SIZE];
    size_t size = write(ledger, text);

    cr_assert_eq(size, write(expected, other), "level %d", level);
    cr_assert_eq(memcmp(text, other, size), 0, "level %d: %.*s, not %.*s", level, (int)size, text,
                 (int)size, other);
}

/* Each level alone, and then all of them: the longest of their answers, and all or nothing. */
static void check_try(int64_t now_us, int64_t cost)
{
    takt_ledger alone[LEVELS], untouched[LEVELS];
    int64_t longest_us = now_us, own_us, retry_us;
    int tight = -1;
    bool given;

    for (int i = 0; i < LEVELS; i++) {
        alone[i] = untouched[i] = ledgers[i];
        alone[i].inner_count = untouched[i].inner_count = 0;
        takt_ledger_tidy(&untouched[i], now_us);
        takt_ledger_try(&alone[i], now_us, cost, TAKT_NO_MORE, &own_us);
        if (own_us > longest_us)
            tight = i;
        longest_us = takt_max(longest_us, own_us);
    }
    given = takt_ledger_try(outermost, now_us, cost, TAKT_NO_MORE, &retry_us);
    cr_assert_eq(given, longest_us == now_us);
    cr_assert_eq(retry_us, longest_us);
    if (!given)
        cr_assert_eq(told_level(), tight);
    for (int i = 0; i < LEVELS; i++)
        expect_same(&ledgers[i], given ? &alone[i] : &untouched[i], i);
}

Test(try, all_levels_decide_as_each_would_alone)
{
    uint64_t random = test_seed(1);

    for (uint64_t round = 0; round < test_rounds(ROUNDS); round++) {
        int64_t now_us = NOW;
        draw_levels(&random);
        for (int i = 0; i < TRIES; i++) {
            check_try(now_us, 1 + takt_random_below(&random, 3));
            now_us += takt_random_below(&random, SECOND);
            if (takt_random_below(&random, 20) == 0)
                takt_ledger_block(&ledgers[takt_random_below(&random, LEVELS)], now_us,
                                  takt_random_below(&random, 3 * SECOND), NULL);
        }
    }
}

/* If nothing else comes, the told time is right: a try just before it is refused, and one at it is
 * given. */
Test(try, it_is_given_when_it_was_told)
{
    uint64_t random = test_seed(2);

    for (uint64_t round = 0; round < test_rounds(ROUNDS); round++) {
        int64_t now_us = NOW;
        draw_levels(&random);
        for (int i = 0; i < TRIES; i++) {
            int64_t cost = 1 + takt_random_below(&random, 3), retry_us, again_us;
            if (takt_ledger_try(outermost, now_us, cost, TAKT_NO_MORE, &retry_us))
                continue;
            if (retry_us > now_us + 1)
                cr_assert_not(
                    takt_ledger_try(outermost, retry_us - 1, cost, TAKT_NO_MORE, &again_us));
            cr_assert(takt_ledger_try(outermost, retry_us, cost, TAKT_NO_MORE, &again_us),
                      "round %d: %lld later", (int)round, (long long)(again_us - retry_us));
            now_us = retry_us;
        }
    }
}

/* ---- what the answer is about ---------------------------------------------------------------- */

Test(try, the_level_with_the_least_left_is_told)
{
    takt_standing standing = {0};
    int64_t retry_us;

    set_up(9, 0, 0);
    cr_assert(takt_ledger_try(&ledgers[1], NOW, 3, TAKT_NO_MORE, &retry_us));
    cr_assert(takt_ledger_try(outermost, NOW, 1, TAKT_NO_MORE, &retry_us));
    takt_ledger_tried(outermost, NOW, true, &standing);
    cr_assert_eq(told_level(), 1);
    cr_assert_eq(standing.remaining, 5);
    cr_assert_not(takt_ledger_try(outermost, NOW, 9, TAKT_NO_MORE, &retry_us));
    takt_ledger_tried(outermost, NOW, false, &standing);
    cr_assert_eq(told_level(), 1);
    cr_assert_eq(retry_us, NOW + 4 * SECOND);
    for (int i = 0; i < LEVELS; i++)
        cr_assert_eq(remaining(i, NOW), i == 1 ? 5 : 8, "the refusal is free");
    cr_assert_not(takt_ledger_try(outermost, NOW, 10, TAKT_NO_MORE, &retry_us));
    cr_assert_eq(retry_us, TAKT_NEVER);
    cr_assert_eq(told_level(), 0, "of those that can never give, the innermost");
}

/* ---- permits --------------------------------------------------------------------------------- */

static bool try_permit(uint64_t worker, int64_t holding, int64_t cost)
{
    takt_claim claim = {.worker = worker, .seq = ++seq, .holding = holding};
    int64_t retry_us;

    return takt_ledger_try_permit(outermost, NOW, &claim, cost, TAKT_NO_MORE, &retry_us, &award);
}

static void expect_held(int64_t account, int64_t domain)
{
    cr_assert_eq(takt_holders_held(&ledgers[0]), account);
    cr_assert_eq(takt_holders_held(&ledgers[1]), domain);
    cr_assert_eq(takt_holders_held(outermost), 0, "it has none");
}

Test(try, permits_of_all_levels_are_taken_or_none)
{
    int64_t fence;

    set_up(9, 2, 1);
    cr_assert(try_permit(1, 0, 1));
    cr_assert_eq(award.holding, 1);
    cr_assert_eq(award.run_count, 1);
    fence = award.fence;
    cr_assert_eq(fence, ledgers[0].fence, "the number of the innermost");
    expect_held(1, 1);
    cr_assert_not(try_permit(2, 0, 1), "the domain has one");
    cr_assert_eq(told_level(), 1);
    expect_held(1, 1);
    cr_assert_eq(award.run_count, 0);
    cr_assert_eq(remaining(2, NOW), 8, "and took no token");
    cr_assert_not(try_permit(1, 0, 10), "a statement counts, also if nothing is given");
    expect_held(0, 0);
    cr_assert(try_permit(2, 0, 1));
    cr_assert_gt(award.fence, fence);
}

Test(try, who_states_nothing_gets_no_permit_of_any_level)
{
    int64_t retry_us;

    set_up(9, 0, 1);
    cr_assert_not(takt_ledger_try(outermost, NOW, 1, TAKT_NO_MORE, &retry_us));
    cr_assert_eq(told_level(), 1);
    cr_assert_eq(remaining(0, NOW), 9);
}

Test(try, an_old_statement_changes_nothing)
{
    set_up(9, 2, 2);
    cr_assert(try_permit(1, 0, 1));
    seq--;
    cr_assert_not(try_permit(1, 0, 1));
    cr_assert(award.stale);
    expect_held(1, 1);
}

/* ---- waiters --------------------------------------------------------------------------------- */

/* A worker of that number waits in the line of the levels, as work of the account or beside it. */
static void stand(uint64_t worker, bool nested)
{
    takt_claim claim = {.worker = worker,
                        .process = worker,
                        .seq = ++seq,
                        .waiting = 1,
                        .tenant = "a",
                        .tenant_weight = 1,
                        .want_count = 1};

    claim.wants[0] = (takt_want){.count = 1, .latest_us = TAKT_NEVER, .cost = 1, .priority = 5};
    outermost->inner_count = nested ? LEVELS - 1 : 0;
    takt_ledger_claim(outermost, NOW, &claim, &award);
    outermost->inner_count = LEVELS - 1;
}

/* A try overtakes no waiter of any level. */
Test(try, it_overtakes_nobody)
{
    int64_t retry_us;

    for (int nested = 0; nested < 2; nested++) {
        set_up(1, 0, 0);
        cr_assert(
            takt_ledger_try(nested ? &ledgers[0] : outermost, NOW, 1, TAKT_NO_MORE, &retry_us));
        stand(1, nested);
        cr_assert_eq(award.run_count, 0, "it waits");
        cr_assert_not(takt_ledger_try(outermost, NOW + SECOND, 1, TAKT_NO_MORE, &retry_us));
        cr_assert_eq(retry_us, NOW + 2 * SECOND, "its token is left to it");
        cr_assert_eq(told_level(), nested ? 0 : LEVELS - 1);
    }
}
