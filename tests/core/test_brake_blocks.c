/*
 * What a block leaves behind: the rules' states as they were, and for as long as it lasted a pace
 * without a burst.
 */
#include "base/memory_pages.h"
#include "base/random.h"
#include "core/books.h"
#include "core/brake.h"
#include "core/ledger_text.h"

static const char *const algorithms[] = {"gcra",         "token-bucket",   "leaky-bucket",
                                         "fixed-window", "sliding-window", "sliding-log"};

static takt_rule rule_by(const char *algorithm, int64_t tokens, int64_t period_us)
{
    takt_rule rule = {
        .algorithm = takt_algorithm_named(algorithm), .limit = tokens, .period_us = period_us};

    if (rule.algorithm->takes & TAKT_TAKES_BURST)
        rule.burst = tokens;
    cr_assert_eq(takt_rule_prepare(&rule, NULL), 0);
    return rule;
}

/* A book whose rules may be logs. */
typedef struct paged {
    book b;
    takt_memory_pages pages;
} paged;

static book *open_paged(paged *of, takt_numbers limit)
{
    open_book(&of->b, limit);
    takt_memory_pages_init(&of->pages);
    of->b.ledger.pages = &of->pages.pages;
    takt_ledger_init(&of->b.ledger, &of->b.limit, NOW);
    return &of->b;
}

static void close_paged(paged *of)
{
    takt_memory_pages_close(&of->pages);
}

static takt_standing peek(book *b, int64_t at_us)
{
    takt_standing standing;

    takt_ledger_peek(&b->ledger, NOW + at_us, &standing);
    return standing;
}

/* Claims at each announced time, and notes all slots up to end_us. */
static void work(book *b, int64_t at_us, int64_t end_us)
{
    while (at_us < end_us) {
        say(b, at_us, 1, 5, 1, 1000);
        if (b->ledger.pages)
            takt_memory_pages_end((takt_memory_pages *)b->ledger.pages, true);
        int64_t next_us = b->award.claim_again_at_us - NOW;
        at_us = next_us < at_us + TAKT_KEEPALIVE_US ? next_us : at_us + TAKT_KEEPALIVE_US;
    }
}

static int64_t count(const book *b, int64_t from_us, int64_t before_us)
{
    int64_t slots = 0;

    for (int i = 0; i < b->slot_count; i++)
        slots += b->slots[i].slot_us >= NOW + from_us && b->slots[i].slot_us < NOW + before_us;
    return slots;
}

static const char *rules_text(const book *b, char *text, size_t size)
{
    takt_writer writer = {text, text + size, false};

    for (int i = 0; i < b->limit.rule_count; i++)
        takt_rule_write(&b->limit.rules[i], &b->ledger.state.rules[i], &writer);
    *writer.at = '\0';
    return text;
}

/* A daily quota is the same before and after. */
Test(brake_blocks, a_block_takes_nothing)
{
    for (size_t i = 0; i < COUNT(algorithms); i++) {
        takt_numbers limit = {.rule_count = 1, .lookahead_us = TAKT_LOOKAHEAD_US};
        static paged blocked, free;
        char text[256], other[256];
        int64_t retry_us;
        limit.rules[0] = rule_by(algorithms[i], 10000, DAY);
        open_paged(&blocked, limit);
        open_paged(&free, limit);
        cr_assert(takt_ledger_try(&blocked.b.ledger, NOW, 1, TAKT_NO_MORE, &retry_us));
        cr_assert(takt_ledger_try(&free.b.ledger, NOW, 1, TAKT_NO_MORE, &retry_us));
        takt_ledger_penalize(&blocked.b.ledger, NOW, SECOND, NULL);
        cr_expect_eq(peek(&blocked.b, SECOND).retry_after_us, peek(&free.b, SECOND).retry_after_us);
        cr_expect_eq(peek(&blocked.b, 2 * SECOND).remaining,
                     takt_numbers_capacity(&limit, TAKT_UNIT_TOKENS, NULL) - 1, "%s",
                     algorithms[i]);
        cr_expect_eq(peek(&blocked.b, 2 * SECOND).remaining, peek(&free.b, 2 * SECOND).remaining);
        cr_expect_str_eq(rules_text(&blocked.b, text, sizeof text),
                         rules_text(&free.b, other, sizeof other));
        cr_expect_eq(blocked.b.ledger.state.brake.tokens, 0);
        close_paged(&blocked);
        close_paged(&free);
    }
}

/* Blocks of any length, unblocks and penalties do not change the rules' states. */
Test(brake_blocks, rules_are_as_without_any_block)
{
    uint64_t random = 7;

    for (size_t i = 0; i < 100 * COUNT(algorithms); i++) {
        const char *name = algorithms[i % COUNT(algorithms)];
        takt_numbers limit = {.rule_count = 2, .lookahead_us = TAKT_LOOKAHEAD_US};
        static paged blocked, free;
        char text[512], other[512];
        int64_t at_us = 0, retry_us;
        limit.rules[0] = rule_by("token-bucket", 50, SECOND);
        limit.rules[1] = rule_by(name, 1 + takt_random_below(&random, 1000), MINUTE);
        limit.adapt = (takt_adapt){50, 10, SECOND, 10};
        open_paged(&blocked, limit);
        open_paged(&free, limit);
        for (int step = 0; step < 30; step++) {
            takt_ledger *ledger = &blocked.b.ledger;
            int64_t for_us = takt_random_below(&random, 5 * SECOND);
            at_us += takt_random_below(&random, 2 * SECOND);
            switch (takt_random_below(&random, 4)) {
            case 0:
                takt_ledger_block(ledger, NOW + at_us, for_us, NULL);
                break;
            case 1:
                takt_ledger_penalize(ledger, NOW + at_us, for_us, NULL);
                break;
            case 2:
                takt_ledger_unblock(ledger, NOW + at_us);
                break;
            default:
                if (takt_ledger_try(ledger, NOW + at_us, 1, TAKT_NO_MORE, &retry_us))
                    cr_assert(
                        takt_ledger_try(&free.b.ledger, NOW + at_us, 1, TAKT_NO_MORE, &retry_us));
                takt_memory_pages_end(&blocked.pages, true);
                takt_memory_pages_end(&free.pages, true);
                break;
            }
            cr_assert_str_eq(rules_text(&blocked.b, text, sizeof text),
                             rules_text(&free.b, other, sizeof other), "%s, step %d", name, step);
        }
        close_paged(&blocked);
        close_paged(&free);
    }
}

/* It is the first rule's rate that a penalty is followed by, not the quota's. */
Test(brake_blocks, ten_a_second_go_on_at_ten_a_second)
{
    for (size_t i = 0; i < COUNT(algorithms); i++) {
        takt_numbers limit = {.rule_count = 2, .lookahead_us = TAKT_LOOKAHEAD_US};
        static paged of;
        book *b;
        limit.rules[0] = rule_of(10, SECOND, 1);
        limit.rules[1] = rule_by(algorithms[i], 10000, DAY);
        if (limit.rules[1].algorithm == &takt_leaky_bucket) /* it has the lower pace itself */
            continue;
        b = open_paged(&of, limit);
        takt_ledger_penalize(&b->ledger, NOW, SECOND / 2, NULL);
        work(b, 0, 5 * SECOND);
        cr_assert_geq(b->slot_count, 45, "%s: %d", algorithms[i], b->slot_count);
        for (int j = 0; j < 45; j++)
            cr_assert_eq(b->slots[j].slot_us, NOW + SECOND / 2 + j * 100 * MS, "%s, slot %d",
                         algorithms[i], j);
        close_paged(&of);
    }
}

/* From the block's end on one token and what the rate lets through. */
Test(brake_blocks, no_burst_follows_a_block)
{
    static const int64_t blocks_us[] = {100 * MS, 250 * MS,   251 * MS,      3 * SECOND,
                                        MINUTE,   2 * MINUTE, HOUR + 17 * MS};
    for (size_t i = 0; i < COUNT(algorithms); i++)
        for (size_t j = 0; j < COUNT(blocks_us); j++) {
            int64_t ends_us = blocks_us[j], pace_us = ends_us < MINUTE ? ends_us : MINUTE;
            takt_numbers limit = {.rule_count = 1, .lookahead_us = TAKT_LOOKAHEAD_US};
            static paged of;
            book *b;
            limit.rules[0] = rule_by(algorithms[i], 20, SECOND);
            b = open_paged(&of, limit);
            takt_ledger_block(&b->ledger, NOW, ends_us, NULL);
            work(b, 0, ends_us + pace_us + SECOND);
            cr_assert_eq(count(b, 0, ends_us), 0);
            for (int64_t at_us = 0; at_us < pace_us; at_us += pace_us / 20) {
                int64_t passed = count(b, ends_us, ends_us + at_us + 1);
                cr_assert_leq(passed, 1 + at_us / (50 * MS), "%s, %zu", algorithms[i], j);
                cr_assert_geq(passed, at_us / (53 * MS), "%s, %zu: %" PRId64 " after %" PRId64,
                              algorithms[i], j, passed, at_us);
            }
            close_paged(&of);
        }
}

Test(brake_blocks, the_pace_lasts_as_long_as_the_block_and_a_minute_at_most)
{
    enum act { END, BLOCK, PENALIZE, UNBLOCK };
    static const struct {
        struct {
            enum act act;
            int64_t at_us, for_us;
        } acts[4];
        int64_t ends_us, until_us;
    } rows[] = {
        {{{BLOCK, 0, SECOND}}, SECOND, 2 * SECOND},
        {{{PENALIZE, 0, SECOND}}, SECOND, 2 * SECOND},
        {{{BLOCK, 0, HOUR}}, HOUR, HOUR + MINUTE},
        {{{BLOCK, 0, 10 * SECOND}, {BLOCK, 2 * SECOND, 3 * SECOND}}, 10 * SECOND, 20 * SECOND},
        {{{BLOCK, 0, 10 * SECOND}, {PENALIZE, 5 * SECOND, 0}}, 10 * SECOND, 20 * SECOND},
        {{{BLOCK, 0, 10 * SECOND}, {BLOCK, 2 * SECOND, 20 * SECOND}}, 22 * SECOND, 44 * SECOND},
        {{{BLOCK, 0, 50 * SECOND}, {BLOCK, SECOND, HOUR}}, HOUR + SECOND, HOUR + MINUTE + SECOND},
        /* while the one before is paced: they are one */
        {{{BLOCK, 0, SECOND}, {BLOCK, 3 * SECOND / 2, SECOND}}, 5 * SECOND / 2, 5 * SECOND},
        /* after that: it is another one */
        {{{BLOCK, 0, SECOND}, {BLOCK, 2 * SECOND, SECOND}}, 3 * SECOND, 4 * SECOND},
        {{{BLOCK, 0, HOUR}, {UNBLOCK, 3 * SECOND, 0}}, 3 * SECOND, 6 * SECOND},
        {{{BLOCK, 0, 2 * HOUR}, {UNBLOCK, HOUR, 0}}, HOUR, HOUR + MINUTE},
        {{{BLOCK, 0, HOUR}, {UNBLOCK, 3 * SECOND, 0}, {BLOCK, 4 * SECOND, SECOND}},
         5 * SECOND,
         10 * SECOND},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t ends_us = rows[i].ends_us, until_us = rows[i].until_us;
        static book b;
        open_book(&b, limit_of(10, SECOND, 7));
        for (int j = 0; j < 4; j++) {
            int64_t at_us = rows[i].acts[j].at_us, for_us = rows[i].acts[j].for_us;
            if (rows[i].acts[j].act == BLOCK)
                takt_ledger_block(&b.ledger, NOW + at_us, for_us, NULL);
            if (rows[i].acts[j].act == PENALIZE)
                takt_ledger_penalize(&b.ledger, NOW + at_us, for_us, NULL);
            if (rows[i].acts[j].act == UNBLOCK)
                takt_ledger_unblock(&b.ledger, NOW + at_us);
        }
        cr_expect_eq(takt_ledger_expires_at(&b.ledger), NOW + until_us, "row %zu: %" PRId64, i,
                     takt_ledger_expires_at(&b.ledger) - NOW);
        cr_expect_eq(peek(&b, ends_us).remaining, 1, "row %zu", i);
    }
}

/* A daily quota has a slow pace: an award names the end of the pace, and the waiter claims then. */
Test(brake_blocks, who_waits_behind_a_pace_is_told_of_its_end)
{
    static book b;
    int64_t retry_us;

    open_book(&b, limit_of(10000, DAY, 10000));
    takt_ledger_block(&b.ledger, NOW, 4 * SECOND, NULL);
    say(&b, 4 * SECOND, 1, 5, 1, 300);
    cr_expect_eq(b.given, 1);
    cr_expect_eq(b.award.next_slot_at_us, NOW + 8 * SECOND);
    cr_expect_eq(b.award.claim_again_at_us, NOW + 8 * SECOND - TAKT_LOOKAHEAD_US);
    cr_expect_not(takt_ledger_try(&b.ledger, NOW + 5 * SECOND, 7, TAKT_NO_MORE, &retry_us));
    cr_expect_eq(retry_us, NOW + 8 * SECOND);
    say(&b, 8 * SECOND - TAKT_LOOKAHEAD_US, 1, 5, 1, 299);
    cr_expect_eq(b.given, 299);
    cr_expect_eq(b.first_us, 8 * SECOND, "all at once, when it ends");
    cr_expect_eq(peek(&b, 8 * SECOND).remaining, 10000 - 300);
}

Test(brake_blocks, unblock_in_the_middle)
{
    static book b;

    open_book(&b, limit_of(10, SECOND, 50));
    work(&b, 0, SECOND);
    takt_ledger_block(&b.ledger, NOW + SECOND, HOUR, "why");
    work(&b, SECOND + 1, 3 * SECOND);
    b.slot_count = 0;
    takt_ledger_unblock(&b.ledger, NOW + 3 * SECOND);
    cr_expect_eq(peek(&b, 3 * SECOND).blocked_until_us, 0);
    work(&b, 3 * SECOND, 5 * SECOND - TAKT_LOOKAHEAD_US);
    cr_assert_geq(b.slot_count, 18);
    for (int j = 0; j < b.slot_count; j++)
        cr_assert_eq(b.slots[j].slot_us, NOW + 3 * SECOND + j * 100 * MS);
}

/* Of a penalty's rate and a block's the lower one is in force, and each ends for itself. */
Test(brake_blocks, a_penalty_that_lasts_longer_than_the_pace)
{
    takt_numbers limit = limit_of(10, SECOND, 50);
    static book b;

    limit.adapt = (takt_adapt){50, 1, MINUTE, 10};
    open_book(&b, limit);
    takt_ledger_penalize(&b.ledger, NOW, 2 * SECOND, NULL);
    work(&b, 0, 20 * SECOND);
    cr_assert_geq(b.slot_count, 85);
    for (int j = 0; j < 85; j++)
        cr_assert_eq(b.slots[j].slot_us, NOW + 2 * SECOND + j * 200 * MS, "slot %d", j);
    cr_expect_eq(peek(&b, 20 * SECOND).rate_percent, 50);
}

Test(brake_blocks, a_penalty_that_is_over_before_the_pace)
{
    takt_numbers limit = limit_of(10, SECOND, 50);
    static book b;
    int at = 0;

    limit.adapt = (takt_adapt){50, 100, SECOND, 10};
    open_book(&b, limit);
    takt_ledger_penalize(&b.ledger, NOW, 10 * SECOND, NULL);
    work(&b, 0, 20 * SECOND - TAKT_LOOKAHEAD_US);
    while (b.slots[at].slot_us < NOW + 11 * SECOND)
        at++;
    cr_expect_geq(b.slot_count, 95);
    for (int j = at + 1; j < b.slot_count; j++)
        cr_assert_eq(b.slots[j].slot_us - b.slots[j - 1].slot_us, 100 * MS, "slot %d", j);
    cr_expect_eq(peek(&b, 11 * SECOND).rate_percent, 100);
}

/* A limit with permits alone has no rate: after a block as many waiters start as there are
 * permits. */
Test(brake_blocks, permits_without_rules_have_no_pace)
{
    takt_numbers limit = {
        .lookahead_us = TAKT_LOOKAHEAD_US, .concurrency = 3, .lease_us = 30 * SECOND};
    static book b;
    char text[512];

    open_book(&b, limit);
    takt_ledger_block(&b.ledger, NOW, SECOND, NULL);
    text[takt_ledger_encode(&b.ledger, text, sizeof text)] = '\0';
    cr_assert_str_eq(text, "b1763692801000000");
    say(&b, SECOND, 1, 5, 1, 5);
    cr_assert_eq(b.given, 3);
}

/* A ledger of a version that had no pace is read: its block holds. */
Test(brake_blocks, a_block_without_a_pace_is_read)
{
    static const char text[] = "g1/100000*5 1763692800300000;b1763692801000000";
    takt_numbers limit = limit_of(10, SECOND, 5), kept;
    static book b;

    open_book(&b, limit);
    cr_assert_eq(takt_ledger_decode(&b.ledger, &limit, &kept, NOW, text, strlen(text)), 0);
    cr_expect_eq(peek(&b, SECOND - 1).remaining, 0);
    cr_expect_eq(peek(&b, SECOND).remaining, 5);
}

/* A reset restores the burst, but a block that lasts still has none at its end. */
Test(brake_blocks, a_reset)
{
    static book b;

    open_book(&b, limit_of(10, SECOND, 50));
    takt_ledger_block(&b.ledger, NOW, 5 * SECOND, NULL);
    takt_ledger_reset(&b.ledger, NOW + SECOND);
    cr_expect_eq(peek(&b, 5 * SECOND - 1).remaining, 0);
    cr_expect_eq(peek(&b, 5 * SECOND).remaining, 1);
    takt_ledger_reset(&b.ledger, NOW + 5 * SECOND);
    cr_expect_eq(peek(&b, 5 * SECOND).remaining, 50);
    takt_ledger_block(&b.ledger, NOW + 5 * SECOND, 5 * SECOND, NULL);
    say(&b, 10 * SECOND - 100 * MS, 1, 5, 1, 100);
    cr_expect_eq(b.given, 2, "within the lookahead");
    takt_ledger_reset(&b.ledger, NOW + 10 * SECOND - 90 * MS);
    say(&b, 10 * SECOND - 90 * MS, 1, 5, 1, 100);
    cr_expect_eq(b.given, 0, "what was given at the pace stays given");
}

/* A vendor's remaining count follows the rules, also while one token may start at once. */
Test(brake_blocks, what_is_left_is_lowered_while_a_block_is_paced)
{
    static const int64_t at_us[] = {0, 10 * SECOND, 12 * SECOND};
    for (size_t i = 0; i < COUNT(at_us); i++) {
        static book b;
        takt_numbers limit = {.rule_count = 2, .lookahead_us = TAKT_LOOKAHEAD_US};
        limit.rules[0] = rule_of(10, SECOND, 10000);
        limit.rules[1] = rule_by("fixed-window", 10000, DAY);
        open_book(&b, limit);
        takt_ledger_block(&b.ledger, NOW, 10 * SECOND, NULL);
        peek(&b, at_us[i]);
        takt_ledger_lower(&b.ledger, NOW + at_us[i], (takt_amounts){{40, -1}});
        cr_expect_eq(b.ledger.state.rules[1].fixed_window.count, 9960, "row %zu", i);
        cr_expect_neq(b.ledger.state.brake.tokens, 0);
    }
}

/* A clock that goes back prolongs a pace to a minute at most; a clock that advances ends it. */
Test(brake_blocks, clocks_that_jump)
{
    static const int64_t jumps_us[] = {-365 * DAY, -HOUR, -5 * SECOND, 0, HOUR};
    for (size_t i = 0; i < COUNT(jumps_us); i++) {
        int64_t at_us = 10 * MINUTE + SECOND + jumps_us[i];
        static book b;
        open_book(&b, limit_of(10, SECOND, 50));
        takt_ledger_block(&b.ledger, NOW, 10 * MINUTE, NULL);
        peek(&b, 10 * MINUTE);
        peek(&b, at_us);
        cr_expect_leq(b.ledger.brake.paced_until_us, NOW + at_us + MINUTE, "jump %zu", i);
        cr_expect_eq(b.ledger.brake.paced_until_us == 0, jumps_us[i] > 0, "jump %zu", i);
    }
}
