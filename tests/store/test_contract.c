/*
 * test_contract.c: what every kind of store must do, run over each of them.  What only a file can
 * suffer is in test_file.c.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "core/award.h"
#include "store/places.h"
#include "store/record.h"

static void init_claim(struct rig_call *call, const takt_limit *limit, const char *key,
                       uint64_t worker, int64_t seq, int64_t count)
{
    rig_call_init(call, TAKT_OP_CLAIM, limit, key);
    call->claim.worker = worker;
    call->claim.seq = seq;
    call->claim.waiting = count;
    call->claim.want_count = count > 0;
    call->claim.wants[0] = (takt_want){count, TAKT_NEVER, 1, TAKT_PRIORITY_DEFAULT, {{0}}};
}

CONTRACT(takes_a_burst_and_no_more)
{
    takt_limit limit = rig_limit("a", 5, RIG_DAY, 5);
    struct place at;
    struct rig rig;
    struct rig_call call;

    find_place(&at, *kind);
    rig_open(&rig, at.url);
    for (int i = 0; i < 5; i++)
        cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
    rig_call_init(&call, TAKT_OP_TRY, &limit, "k");
    cr_expect_eq(rig_run(&rig, &call), TAKT_E_NO_SLOT);
    cr_expect_gt(call.call.standing.retry_after_us, RIG_DAY / 5 - 600000000);
    cr_expect_leq(call.call.standing.retry_after_us, RIG_DAY / 5);
    cr_expect_eq(call.call.standing.remaining, 0);
    cr_expect_eq(call.call.standing.limit, 5);
    rig_close(&rig);
    leave_place(&at);
}

/* A claim takes of all levels, as much as each of them gives; what it cannot get soon does not
 * stand in line. */
CONTRACT(keeps_the_rules_of_inner_limits)
{
    takt_limit outer = rig_limit("server", 100, RIG_DAY, 100);
    takt_limit domain = rig_limit("domain", 20, RIG_DAY, 5);
    takt_limit mailbox = rig_limit("mailbox", 20, RIG_DAY, 1);
    static const int64_t slots[] = {3, 2, 0};
    takt_store_inner inner[] = {{&mailbox, &mailbox.numbers, "a@b", TAKT_UNIT_MAP_PLAIN},
                                {&domain, &domain.numbers, "b", TAKT_UNIT_MAP_PLAIN}};
    struct place at;
    struct rig rig;
    struct rig_call call;

    mailbox.numbers.rules[0].algorithm = takt_algorithm_named("sliding-log");
    mailbox.numbers.rules[0].burst = 0;
    mailbox.numbers.rules[0].limit = 3;
    cr_assert_eq(takt_rule_prepare(&mailbox.numbers.rules[0], NULL), 0);
    find_place(&at, *kind);
    rig_open(&rig, at.url);
    for (int i = 0; i < 3; i++) {
        init_claim(&call, &outer, "", 7 + (uint64_t)i, 1, 4);
        call.claim.tenant = inner[0].key = i == 0 ? "a@b" : "c@b";
        call.call.inner = inner;
        call.call.inner_count = 2;
        cr_expect_eq(rig_run(&rig, &call), 0);
        cr_expect_eq(takt_award_given(&call.award), slots[i], "%d", i);
        cr_expect(call.award.parked && call.award.in_line == 0);
        cr_expect_gt(call.award.claim_again_at_us, call.award.now_us + RIG_DAY / 100);
    }
    cr_expect_eq(rig_peek(&rig, &outer, "").remaining, 95);
    cr_expect_eq(rig_peek(&rig, &outer, "").waiting, 0);
    cr_expect_eq(rig_peek(&rig, &domain, "b").remaining, 0);
    cr_expect_eq(rig_peek(&rig, &mailbox, "a@b").remaining, 0);
    cr_expect_eq(rig_peek(&rig, &mailbox, "c@b").remaining, 1);
    rig_call_init(&call, TAKT_OP_RESET, &domain, "b");
    cr_expect_eq(rig_run(&rig, &call), 0);
    rig_call_init(&call, TAKT_OP_BLOCK, &mailbox, "c@b");
    call.call.for_us = RIG_DAY;
    cr_expect_eq(rig_run(&rig, &call), 0);
    init_claim(&call, &outer, "", 8, 2, 1);
    call.claim.tenant = "c@b";
    call.call.inner = inner;
    call.call.inner_count = 2;
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_eq(call.award.run_count, 0);
    cr_expect_gt(call.award.blocked_until_us, call.award.now_us + RIG_DAY / 2);
    cr_expect_eq(rig_peek(&rig, &domain, "b").remaining, 5);
    rig_close(&rig);
    leave_place(&at);
}

/* A try takes of all levels or of none, with their permits; the answer is about one of them. */
CONTRACT(tries_all_levels_at_once)
{
    takt_limit outer = rig_limit("server", 100, RIG_DAY, 100);
    takt_limit domain = rig_limit("domain", 20, RIG_DAY, 2);
    takt_limit mailbox = rig_limit("mailbox", 20, RIG_DAY, 3);
    takt_store_inner inner[] = {{&mailbox, &mailbox.numbers, "a@b", TAKT_UNIT_MAP_PLAIN},
                                {&domain, &domain.numbers, "b", TAKT_UNIT_MAP_PLAIN}};
    static const struct {
        int64_t cost;
        int status, level;
        int64_t limit, remaining;
    } tries[] = {{1, 0, 2, 2, 1},
                 {2, TAKT_E_NO_SLOT, 2, 2, 1},
                 {1, 0, 2, 2, 0},
                 {1, TAKT_E_NO_SLOT, 2, 2, 0},
                 {4, TAKT_E_NO_SLOT, 1, 3, 1}};
    struct place at;
    struct rig rig;
    struct rig_call call;

    find_place(&at, *kind);
    rig_open(&rig, at.url);
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        rig_call_init(&call, TAKT_OP_TRY, &outer, "");
        call.call.claim = NULL;
        call.call.inner = inner;
        call.call.inner_count = 2;
        call.call.cost = tries[i].cost;
        cr_expect_eq(rig_run(&rig, &call), tries[i].status, "%zu", i);
        cr_expect_eq(call.call.ledger_no, tries[i].level, "%zu", i);
        cr_expect_eq(call.call.standing.limit, tries[i].limit, "%zu", i);
        cr_expect_eq(call.call.standing.remaining, tries[i].remaining, "%zu", i);
    }
    cr_expect_eq(call.call.standing.retry_after_us, TAKT_NEVER);
    cr_expect_eq(rig_peek(&rig, &outer, "").remaining, 98);
    cr_expect_eq(rig_peek(&rig, &domain, "b").remaining, 0);
    cr_expect_eq(rig_peek(&rig, &mailbox, "a@b").remaining, 1);
    rig_close(&rig);
    leave_place(&at);
}

/* A claim that others are told of is answered as well, also one of nested work. */
CONTRACT(answers_a_claim_that_is_news)
{
    takt_limit outer = rig_limit("server", 2, RIG_DAY, 2),
               domain = rig_limit("domain", 9, RIG_DAY, 9);
    takt_store_inner inner[] = {{&domain, &domain.numbers, "b", TAKT_UNIT_MAP_PLAIN}};
    struct place at;
    struct rig rig;
    struct rig_call call;

    find_place(&at, *kind);
    rig_open(&rig, at.url);
    cr_expect_eq(rig_try(&rig, &outer, "", 2), 0);
    for (int i = 0; i < 3; i++) {
        init_claim(&call, &outer, "", i == 1 ? 8 : 7, 1 + i, i < 2);
        call.claim.wants[0].cost = i == 0 ? 2 : 1;
        call.claim.in_line = i == 2;
        call.claim.tenant = i == 1 ? "c" : "b";
        inner[0].key = call.claim.tenant;
        call.call.inner = inner;
        call.call.inner_count = 1;
        cr_expect_eq(rig_run(&rig, &call), 0);
        cr_expect_eq(takt_award_given(&call.award), 0);
        cr_expect_eq(call.award.in_line != 0, i < 2, "%d", i);
        cr_expect_eq(call.award.news, i == 2, "the costly waiter leaves: %d", i);
    }
    rig_close(&rig);
    leave_place(&at);
}

static void pass_us(int64_t us)
{
    int64_t until_us = takt_record_clock_us() + us;

    while (takt_record_clock_us() <= until_us)
        ;
}

/* The rules of an expired ledger do not outlive it, not even until the next sweep. */
CONTRACT(an_expired_ledger_takes_the_rules_of_the_next_call)
{
    takt_limit old = rig_limit("a", 1, 1000, 1), edited = rig_limit("a", 7, RIG_DAY, 7);
    takt_limit outer = rig_limit("server", 100, RIG_DAY, 100);
    takt_store_inner inner[] = {{&old, &old.numbers, "b", TAKT_UNIT_MAP_PLAIN}};
    struct place at;
    struct rig rig;
    struct rig_call call;

    find_place(&at, *kind);
    rig_open(&rig, at.url);
    cr_expect_eq(rig_try(&rig, &old, "k", 1), 0);
    cr_expect_eq(rig_try(&rig, &old, "b", 1), 0);
    pass_us(3000);
    rig_call_init(&call, TAKT_OP_TRY, &edited, "k");
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_eq(call.call.standing.limit, 7);
    cr_expect_eq(call.call.standing.remaining, 6);
    inner[0].limit = &edited;
    inner[0].numbers = &edited.numbers;
    for (int taken = 1; taken <= 2; taken++) {
        rig_call_init(&call, TAKT_OP_TRY, &outer, "");
        call.call.claim = NULL;
        call.call.inner = inner;
        call.call.inner_count = 1;
        cr_expect_eq(rig_run(&rig, &call), 0);
        cr_expect_eq(call.call.standing.limit, 7);
        cr_expect_eq(call.call.standing.remaining, 7 - taken);
    }
    rig_close(&rig);
    leave_place(&at);
}

CONTRACT(awards_a_claim)
{
    takt_limit limit = rig_limit("a", 100, RIG_DAY, 100);
    struct place at;
    struct rig rig;
    struct rig_call call;

    find_place(&at, *kind);
    rig_open(&rig, at.url);
    init_claim(&call, &limit, "", 7, 1, 30);
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_eq(call.award.run_count, 1);
    cr_expect_eq(call.award.runs[0].count, 30);
    cr_expect_eq(takt_run_slot(&call.award.runs[0], 0), call.award.now_us);
    cr_expect_eq(call.award.claim_again_at_us, TAKT_NEVER);
    cr_expect_eq(rig_peek(&rig, &limit, "").remaining, 70);
    rig_close(&rig);
    leave_place(&at);
}

CONTRACT(stores_share_a_ledger)
{
    takt_limit limit = rig_limit("a", 10, RIG_DAY, 10);
    struct place at;
    struct rig one, two;
    int taken = 0;

    find_place(&at, *kind);
    rig_open(&one, at.url);
    rig_open(&two, at.url);
    for (int i = 0; i < 10; i++) {
        taken += rig_try(&one, &limit, "k", 1) == 0;
        taken += rig_try(&two, &limit, "k", 1) == 0;
    }
    cr_expect_eq(taken, 10);
    rig_close(&one);
    cr_expect_eq(rig_peek(&two, &limit, "k").remaining, 0, "the ledger outlives one of its stores");
    rig_close(&two);
    leave_place(&at);
}

CONTRACT(keeps_ledgers_apart)
{
    static const char *const keys[] = {"", "k", "k ", "%00", "a/b", "\xff\xfe", "k\n", "{k}"};
    takt_limit limits[] = {rig_limit("a", 1, RIG_DAY, 1), rig_limit("a.b", 1, RIG_DAY, 1)};
    char longest[TAKT_KEY_SIZE_MAX + 2], other[TAKT_KEY_SIZE_MAX + 1];
    takt_error error;
    struct place at;
    struct rig spaces[2];

    memset(longest, 'x', sizeof longest);
    longest[TAKT_KEY_SIZE_MAX] = '\0';
    memcpy(other, longest, sizeof other);
    other[TAKT_KEY_SIZE_MAX - 1] = 'y';
    find_place(&at, *kind);
    cr_assert_eq(rig_try_open(&spaces[0], at.url, "one", 30000000, &error), 0);
    cr_assert_eq(rig_try_open(&spaces[1], at.url, "two", 30000000, &error), 0);
    for (int again = 0; again < 2; again++)
        for (int space = 0; space < 2; space++)
            for (int limit = 0; limit < 2; limit++) {
                for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
                    cr_expect_eq(rig_try(&spaces[space], &limits[limit], keys[i], 1),
                                 again ? TAKT_E_NO_SLOT : 0, "%d %d %d %zu", again, space, limit,
                                 i);
                cr_expect_eq(rig_try(&spaces[space], &limits[limit], longest, 1),
                             again ? TAKT_E_NO_SLOT : 0);
                cr_expect_eq(rig_try(&spaces[space], &limits[limit], other, 1),
                             again ? TAKT_E_NO_SLOT : 0, "keys that differ in their last byte");
            }
    longest[TAKT_KEY_SIZE_MAX] = 'x';
    longest[TAKT_KEY_SIZE_MAX + 1] = '\0';
    cr_expect_eq(rig_try(&spaces[0], &limits[0], longest, 1), TAKT_E_INVALID);
    rig_close(&spaces[0]);
    rig_close(&spaces[1]);
    leave_place(&at);
}

CONTRACT(blocks_unblocks_resets_peeks)
{
    takt_limit limit = rig_limit("a", 10, RIG_DAY, 10);
    struct place at;
    struct rig rig;
    struct rig_call call;

    find_place(&at, *kind);
    rig_open(&rig, at.url);
    cr_expect_eq(rig_peek(&rig, &limit, "k").remaining, 10);
    cr_expect_eq(rig_peek(&rig, &limit, "k").remaining, 10, "a look takes nothing");
    rig_call_init(&call, TAKT_OP_BLOCK, &limit, "k");
    call.call.for_us = 60000000;
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_eq(call.call.standing.blocked_until_us, call.call.standing.now_us + 60000000);
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), TAKT_E_NO_SLOT);
    rig_call_init(&call, TAKT_OP_UNBLOCK, &limit, "k");
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_eq(call.call.standing.blocked_until_us, 0);
    cr_expect_eq(rig_try(&rig, &limit, "k", 1), 0);
    while (rig_peek(&rig, &limit, "k").remaining < 2) /* paced for as long as it was blocked */
        ;
    cr_expect_eq(rig_peek(&rig, &limit, "k").remaining, 9, "a block takes nothing");
    rig_call_init(&call, TAKT_OP_RESET, &limit, "k");
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_eq(call.call.standing.remaining, 10);
    cr_expect_eq(rig_peek(&rig, &limit, "k").remaining, 10);
    rig_close(&rig);
    leave_place(&at);
}

/* 10 tokens and 5 requests. */
static takt_limit two_units(void)
{
    takt_limit limit = rig_limit("a", 10, RIG_DAY, 10);

    limit.numbers.rules[limit.numbers.rule_count++] =
        rig_limit("a", 5, RIG_DAY, 5).numbers.rules[0];
    limit.numbers.rules[1].unit = TAKT_UNIT_REQUESTS;
    return limit;
}

CONTRACT(settles_and_lowers_each_unit)
{
    takt_limit limit = two_units();
    struct place at;
    struct rig rig;
    struct rig_call call;

    find_place(&at, *kind);
    rig_open(&rig, at.url);
    rig_call_init(&call, TAKT_OP_TRY, &limit, "settled");
    call.call.cost = 4;
    cr_assert_eq(rig_run(&rig, &call), 0);
    call.call.op = TAKT_OP_SETTLE;
    call.call.slot_us = call.call.standing.now_us;
    call.call.requests = 1;
    call.call.actual = 0; /* it was not begun */
    cr_expect_eq(rig_run(&rig, &call), 0);
    for (int i = 0; i < 5; i++)
        cr_expect_eq(rig_try(&rig, &limit, "settled", 2), 0);
    cr_expect_eq(rig_try(&rig, &limit, "settled", 1), TAKT_E_NO_SLOT);

    rig_call_init(&call, TAKT_OP_LOWER, &limit, "tokens");
    call.call.actual = 3;
    call.call.requests = -1;
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_eq(rig_try(&rig, &limit, "tokens", 4), TAKT_E_NO_SLOT);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(rig_try(&rig, &limit, "tokens", 1), 0);

    rig_call_init(&call, TAKT_OP_LOWER, &limit, "requests");
    call.call.actual = -1;
    call.call.requests = 1;
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_eq(rig_try(&rig, &limit, "requests", 10), 0);
    cr_expect_eq(rig_try(&rig, &limit, "requests", 1), TAKT_E_NO_SLOT);
    rig_close(&rig);
    leave_place(&at);
}

/* 10 tokens, and 6 of a further unit. */
CONTRACT(takes_settles_and_lowers_further_units)
{
    takt_limit limit = two_units();
    struct place at;
    struct rig rig;
    struct rig_call call;

    limit.numbers.rules[1] = rig_limit("a", 6, RIG_DAY, 6).numbers.rules[0];
    limit.numbers.rules[1].unit = TAKT_UNIT_MORE + 1;
    find_place(&at, *kind);
    rig_open(&rig, at.url);
    rig_call_init(&call, TAKT_OP_CLAIM, &limit, "k");
    call.claim.wants[0] = (takt_want){2, TAKT_NEVER, 1, TAKT_PRIORITY_DEFAULT, {{0, 2, 0}}};
    call.claim.waiting = 2;
    call.claim.want_count = 1;
    cr_assert_eq(rig_run(&rig, &call), 0);
    cr_assert_eq(call.award.run_count, 1);
    cr_expect_eq(call.award.runs[0].count, 2);
    cr_expect_eq(call.award.runs[0].more.of[1], 2);
    rig_call_init(&call, TAKT_OP_TRY, &limit, "k");
    call.call.cost = 1;
    call.call.more[1] = 3;
    cr_expect_eq(rig_run(&rig, &call), TAKT_E_NO_SLOT, "2 are left");
    cr_expect_eq(call.call.standing.rules[1].remaining, 2);
    cr_expect_str_eq(call.call.standing.rules[1].unit, "unit 3");
    call.call.more[1] = 2;
    cr_expect_eq(rig_run(&rig, &call), 0);
    rig_call_init(&call, TAKT_OP_TRY, &limit, "settled");
    call.call.cost = 1;
    call.call.more[1] = 4;
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_eq(call.call.standing.rules[1].remaining, 2);
    call.call.op = TAKT_OP_SETTLE;
    call.call.slot_us = call.call.standing.now_us;
    call.call.requests = 1; /* it was not begun */
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_eq(call.call.standing.rules[1].remaining, 6);
    call.call.requests = 0;
    call.call.actual = 1;
    call.call.more[1] = 0;
    call.call.actual_more[1] = 1; /* one more than was taken */
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_eq(call.call.standing.rules[1].remaining, 5);
    rig_call_init(&call, TAKT_OP_LOWER, &limit, "other");
    call.call.actual = call.call.requests = call.call.actual_more[0] = call.call.actual_more[2] =
        -1;
    call.call.actual_more[1] = 4;
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_eq(call.call.standing.rules[0].remaining, 10);
    cr_expect_eq(call.call.standing.rules[1].remaining, 4);
    rig_close(&rig);
    leave_place(&at);
}

CONTRACT(counts_what_is_taken_while_somebody_looks)
{
    takt_limit limit = rig_limit("a", 100, RIG_DAY, 100);
    takt_standing standing;
    struct place at;
    struct rig one, two;
    struct rig_call call;
    int64_t since_us;

    find_place(&at, *kind);
    rig_open(&one, at.url);
    rig_open(&two, at.url);
    cr_expect_eq(rig_try(&one, &limit, "k", 5), 0);
    rig_call_init(&call, TAKT_OP_PEEK, &limit, "k");
    call.call.for_us = 60000000;
    cr_expect_eq(rig_run(&one, &call), 0);
    since_us = call.call.standing.watched_since_us;
    cr_expect_eq(since_us, call.call.standing.now_us);
    cr_expect_eq(call.call.standing.taken, 0);
    cr_expect_eq(rig_try(&two, &limit, "k", 2), 0);
    init_claim(&call, &limit, "k", 7, 1, 30);
    cr_expect_eq(rig_run(&two, &call), 0);
    cr_expect_eq(call.award.runs[0].count, 30);
    standing = rig_peek(&two, &limit, "k");
    cr_expect_eq(standing.watched_since_us, since_us);
    cr_expect_eq(standing.taken, 32);
    cr_expect_eq(rig_peek(&one, &limit, "other").watched_since_us, 0);
    cr_expect_eq(rig_peek(&one, &limit, "k").taken, 32, "a mere look changes nothing");
    rig_close(&one);
    rig_close(&two);
    leave_place(&at);
}

CONTRACT(penalties_brake_and_blocks_have_reasons)
{
    takt_limit limit = rig_limit("a", 10, RIG_DAY, 10);
    struct place at;
    struct rig rig;
    struct rig_call call;

    limit.numbers.adapt = (takt_adapt){50, 1, RIG_DAY, 10};
    find_place(&at, *kind);
    rig_open(&rig, at.url);
    rig_call_init(&call, TAKT_OP_PENALIZE, &limit, "k");
    call.call.for_us = 60000000;
    call.call.reason = "429; \xe2\x82\xac 50%";
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_eq(call.call.standing.blocked_until_us, call.call.standing.now_us + 60000000);
    for (int again = 0; again < 2; again++) { /* the same event */
        takt_standing standing = rig_peek(&rig, &limit, "k");
        cr_expect_eq(standing.rate_percent, 50);
        cr_expect_str_eq(standing.reason, "429; \xe2\x82\xac 50%");
        call.call.reason = NULL;
        cr_expect_eq(rig_run(&rig, &call), 0);
    }
    rig_call_init(&call, TAKT_OP_UNBLOCK, &limit, "k");
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_str_eq(call.call.standing.reason, "");
    cr_expect_eq(call.call.standing.rate_percent, 50);
    rig_call_init(&call, TAKT_OP_RESET, &limit, "k");
    cr_expect_eq(rig_run(&rig, &call), 0);
    cr_expect_eq(call.call.standing.rate_percent, 100);
    cr_expect_eq(call.call.standing.remaining, 10);
    rig_close(&rig);
    leave_place(&at);
}

CONTRACT(many_ledgers)
{
    enum { LEDGERS = 2000 };
    static struct rig_call calls[LEDGERS];
    static char keys[LEDGERS][16];
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct place at;
    struct rig rig;

    find_place(&at, *kind);
    rig_open(&rig, at.url);
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < LEDGERS; i++) {
            snprintf(keys[i], sizeof keys[i], "key-%d", i);
            rig_call_init(&calls[i], TAKT_OP_TRY, &limit, keys[i]);
            rig_submit(&rig, &calls[i]);
        }
        uv_run(&rig.loop, UV_RUN_DEFAULT);
        for (int i = 0; i < LEDGERS; i++) {
            cr_assert_eq(calls[i].done, 1);
            cr_assert_eq(calls[i].call.status, again ? TAKT_E_NO_SLOT : 0);
        }
    }
    rig_close(&rig);
    leave_place(&at);
}

/* ---- the same as the core ------------------------------------------------------------ */

enum { KEYS = 3, WORKERS = 4, STEPS = 1500, PLACES = 200 };

struct model {
    takt_ledger ledger;
    takt_place line[PLACES];
};

static void draw_call(struct rig_call *call, const takt_limit *limit, const char *key,
                      uint64_t *random, int64_t step)
{
    static const takt_op ops[] = {TAKT_OP_TRY,     TAKT_OP_PEEK,  TAKT_OP_BLOCK,
                                  TAKT_OP_UNBLOCK, TAKT_OP_RESET, TAKT_OP_PENALIZE};
    int64_t kind = takt_random_below(random, 40);
    int64_t left = takt_random_below(random, 4);

    if (kind < 6) {
        rig_call_init(call, ops[kind], limit, key);
        call->call.cost = 1 + takt_random_below(random, 3);
        call->call.for_us = takt_random_below(random, 2000);
        return;
    }
    init_claim(call, limit, key, (uint64_t)takt_random_below(random, WORKERS) + 1,
               step - takt_random_below(random, 20) / 19, 0);
    for (int priority = 0; left > 0; left--, priority += 2) {
        takt_want *want = &call->claim.wants[call->claim.want_count++];
        *want = (takt_want){1 + takt_random_below(random, 40),
                            TAKT_NEVER,
                            (int32_t)(1 + takt_random_below(random, 2)),
                            priority,
                            {{0}}};
        call->claim.waiting += want->count;
    }
}

static void expect_same_standing(const takt_standing *got, const takt_standing *expected, int step)
{
    cr_assert_arr_eq(got, expected, offsetof(takt_standing, rule_count), "step %d", step);
    cr_assert_eq(got->rule_count, expected->rule_count, "step %d", step);
    for (int i = 0; i < got->rule_count; i++) {
        const takt_rule_standing *rule = &got->rules[i], *other = &expected->rules[i];
        cr_assert_str_eq(rule->unit, other->unit, "step %d", step);
        cr_assert_eq(rule->limit, other->limit, "step %d", step);
        cr_assert_eq(rule->remaining, other->remaining, "step %d", step);
        cr_assert_eq(rule->reset_after_us, other->reset_after_us, "step %d", step);
    }
}

static void expect_same_award(const takt_award *award, const takt_award *expected, int step)
{
    cr_assert_eq(award->stale, expected->stale, "step %d", step);
    cr_assert_eq(award->run_count, expected->run_count, "step %d", step);
    cr_assert_eq(award->claim_again_at_us, expected->claim_again_at_us, "step %d", step);
    cr_assert_eq(award->next_slot_at_us, expected->next_slot_at_us, "step %d", step);
    cr_assert_eq(award->blocked_until_us, expected->blocked_until_us, "step %d", step);
    cr_assert_eq(award->waiting, expected->waiting, "step %d", step);
    cr_assert_eq(award->workers, expected->workers, "step %d", step);
    cr_assert_eq(award->refused, expected->refused, "step %d", step);
    cr_assert_eq(award->in_line, expected->in_line, "step %d", step);
    cr_assert_eq(award->least_urgent, expected->least_urgent, "step %d", step);
    cr_assert_eq(award->outdated, expected->outdated, "step %d", step);
    for (int i = 0; i < award->run_count; i++) {
        const takt_run *run = &award->runs[i], *other = &expected->runs[i];
        cr_assert_eq(run->count, other->count, "step %d", step);
        cr_assert_eq(run->cost, other->cost, "step %d", step);
        cr_assert_eq(takt_run_slot(run, 0), takt_run_slot(other, 0), "step %d", step);
        cr_assert_eq(takt_run_slot(run, run->count - 1), takt_run_slot(other, run->count - 1),
                     "step %d", step);
    }
}

CONTRACT(answers_exactly_as_the_core)
{
    static const char *const keys[KEYS] = {"", "b", "c"};
    takt_limit limits[KEYS] = {rig_limit("a", 2000, 1000000, 50), rig_limit("b", 3, 7000, 3),
                               rig_limit("c", 1000000, 1000000, 1)};
    static struct model models[KEYS];
    static struct rig_call call, expected;
    uint64_t random = 20240229;
    int64_t before_us = 0;
    struct place at;
    struct rig rig;

    find_place(&at, *kind);
    rig_open(&rig, at.url);
    for (int i = 0; i < KEYS; i++) {
        models[i].ledger.line = models[i].line;
        models[i].ledger.line_capacity = PLACES;
        takt_ledger_init(&models[i].ledger, &limits[i].numbers, 0);
    }
    for (int step = 1; step <= (*kind == FILE_SYNC ? STEPS / 10 : STEPS); step++) {
        int64_t which = takt_random_below(&random, KEYS), now_us;
        draw_call(&call, &limits[which], keys[which], &random, step);
        expected = call;
        expected.call.award = &expected.award;
        expected.call.claim = &expected.claim;
        rig_run(&rig, &call);
        now_us = call.call.op == TAKT_OP_CLAIM ? call.award.now_us : call.call.standing.now_us;
        if (now_us < before_us) /* somebody set it back: what had expired the model still has */
            break;
        before_us = now_us;
        takt_store_run(&models[which].ledger, now_us, &expected.call);
        cr_assert_eq(call.call.status, expected.call.status, "step %d", step);
        if (call.call.op == TAKT_OP_CLAIM)
            expect_same_award(&call.award, &expected.award, step);
        else
            expect_same_standing(&call.call.standing, &expected.call.standing, step);
    }
    rig_close(&rig);
    leave_place(&at);
}

/* ---- when callbacks come ------------------------------------------------------------- */

CONTRACT(close_cancels_calls_under_way)
{
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct place at;
    struct rig rig;
    struct rig_call calls[50];

    find_place(&at, *kind);
    rig_open(&rig, at.url);
    for (int i = 0; i < 50; i++) {
        rig_call_init(&calls[i], TAKT_OP_PEEK, &limit, "k");
        rig_submit(&rig, &calls[i]);
    }
    rig_close(&rig);
    for (int i = 0; i < 50; i++) {
        cr_expect_eq(calls[i].done, 1);
        cr_expect(calls[i].call.status == TAKT_E_CANCELED || calls[i].call.status == 0);
    }
    leave_place(&at);
}

CONTRACT(nothing_under_way_keeps_no_loop_alive)
{
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct place at;
    struct rig rig;
    struct rig_call call;

    find_place(&at, *kind);
    rig_open(&rig, at.url);
    cr_expect_eq(uv_run(&rig.loop, UV_RUN_DEFAULT), 0);
    rig_call_init(&call, TAKT_OP_PEEK, &limit, "k");
    rig_submit(&rig, &call);
    cr_expect_eq(uv_run(&rig.loop, UV_RUN_DEFAULT), 0);
    cr_expect_eq(call.done, 1, "a call under way does keep it alive");
    rig_close(&rig);
    leave_place(&at);
}

struct chain {
    struct rig rig;
    struct rig_call call;
    int left;
    bool closes;
};

static void on_chained(takt_store_call *call)
{
    struct chain *chain = call->data;

    if (--chain->left > 0) {
        takt_store_submit(chain->rig.store, call);
    } else if (chain->closes) {
        takt_store *store = chain->rig.store;
        chain->rig.store = NULL;
        takt_store_close(store, NULL, NULL);
    }
}

CONTRACT(a_callback_may_submit_and_close)
{
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    static struct chain chain;
    struct place at;

    find_place(&at, *kind);
    for (int closes = 0; closes < 2; closes++) {
        rig_open(&chain.rig, at.url);
        rig_call_init(&chain.call, TAKT_OP_TRY, &limit, "k");
        chain.call.call.done = on_chained;
        chain.call.call.data = &chain;
        chain.left = 20;
        chain.closes = closes;
        takt_store_submit(chain.rig.store, &chain.call.call);
        uv_run(&chain.rig.loop, UV_RUN_DEFAULT);
        cr_expect_eq(chain.left, 0);
        rig_close(&chain.rig);
    }
    leave_place(&at);
}
