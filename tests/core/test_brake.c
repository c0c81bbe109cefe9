/*
 * Penalties and the rate: how far it falls, how it recovers, and that no slot is faster than both
 * the policy and the brake allow.
 */
#include "core/brake.h"

#include "core/books.h"
#include "core/ledger_text.h"

static takt_numbers adapting(int64_t tokens, int64_t period_us, int64_t burst)
{
    takt_numbers limit = limit_of(tokens, period_us, burst);

    limit.adapt = (takt_adapt){50, 10, MINUTE, 10};
    return limit;
}

static int64_t percent(book *b, int64_t at_us)
{
    takt_standing standing;

    takt_ledger_peek(&b->ledger, NOW + at_us, &standing);
    return standing.rate_percent;
}

static void penalize(book *b, int64_t at_us, int64_t for_us)
{
    takt_ledger_penalize(&b->ledger, NOW + at_us, for_us, NULL);
}

/* Claims at each announced time, and notes all slots up to end_us. */
static void work(book *b, int64_t at_us, int64_t end_us)
{
    while (at_us < end_us) {
        say(b, at_us, 1, 5, 1, 1000);
        int64_t next_us = b->award.claim_again_at_us - NOW;
        at_us = next_us < at_us + TAKT_KEEPALIVE_US ? next_us : at_us + TAKT_KEEPALIVE_US;
    }
}

static void check_spacing(const book *b, int from, int to, int64_t step_us)
{
    for (int i = from + 1; i < to; i++)
        cr_assert_eq(b->slots[i].slot_us - b->slots[i - 1].slot_us, step_us, "slot %d: %" PRId64, i,
                     b->slots[i].slot_us - b->slots[i - 1].slot_us);
}

/* Several reports of one event count once; another event counts again, down to the floor. */
Test(brake, each_event_counts_once)
{
    static const struct {
        int64_t at_us, for_us, percent, until_us;
    } rows[] = {
        {0, 0, 50, 0},
        {MS, 0, 50, 0},                               /* another worker's report */
        {SECOND - 1, 2 * SECOND, 50, 3 * SECOND - 1}, /* ... which knows for how long */
        {2 * SECOND, 4 * SECOND, 50, 6 * SECOND},     /* while the block lasts */
        {3 * SECOND, SECOND, 50, 6 * SECOND},         /* it is only ever extended */
        {6 * SECOND, 0, 25, 0},                       /* over: this is news */
        {7 * SECOND - 1, 0, 25, 0},
        {7 * SECOND, 0, 12, 0},
        {8 * SECOND, 0, 10, 0},
        {9 * SECOND, 0, 10, 0},
    };
    static book b;

    open_book(&b, adapting(10, SECOND, 1));
    cr_assert_eq(percent(&b, 0), 100);
    for (size_t i = 0; i < COUNT(rows); i++) {
        penalize(&b, rows[i].at_us, rows[i].for_us);
        cr_expect_eq(percent(&b, rows[i].at_us), rows[i].percent, "row %zu: %" PRId64, i,
                     percent(&b, rows[i].at_us));
        cr_expect_eq(b.ledger.blocked_until_us, rows[i].until_us ? NOW + rows[i].until_us : 0,
                     "row %zu", i);
    }
}

Test(brake, a_limit_that_does_not_adapt_is_only_blocked)
{
    static book b;

    open_book(&b, limit_of(10, SECOND, 1));
    penalize(&b, 0, SECOND);
    cr_assert_eq(percent(&b, 0), 100);
    cr_assert_eq(b.ledger.blocked_until_us, NOW + SECOND);
    work(&b, SECOND, 3 * SECOND);
    check_spacing(&b, 0, 20, 100 * MS);
}

/* 10 percent a minute: one every 6 s, and then the ledger is as if nothing had been. */
Test(brake, the_rate_comes_back)
{
    static book b;

    open_book(&b, adapting(10, SECOND, 1));
    penalize(&b, 0, 0);
    for (int step = 0; step < 50; step++) {
        cr_expect_eq(percent(&b, step * 6 * SECOND), 50 + step);
        cr_expect_eq(percent(&b, (step + 1) * 6 * SECOND - 1), 50 + step);
        cr_expect_eq(takt_ledger_expires_at(&b.ledger), NOW + 5 * MINUTE, "step %d", step);
    }
    cr_expect_eq(percent(&b, 5 * MINUTE), 100);
    cr_expect_eq(b.ledger.state.brake.tokens, 0);
    cr_expect_leq(takt_ledger_expires_at(&b.ledger), NOW + 5 * MINUTE);
}

/* However often anybody looks: no part of a percent is lost by it, nor won. */
Test(brake, it_comes_back_the_same_however_often_anybody_looks)
{
    static book b;

    open_book(&b, adapting(10, SECOND, 1));
    b.limit.adapt.recover = 7;
    penalize(&b, 0, 0);
    for (int64_t at_us = 0; at_us < 5 * MINUTE; at_us += 777 * MS)
        cr_assert_leq(percent(&b, at_us), 50 + at_us * 7 / MINUTE);
    cr_assert_geq(percent(&b, 5 * MINUTE + 50), 85);
}

Test(brake, nothing_comes_back_while_it_is_blocked)
{
    static book b;

    open_book(&b, adapting(10, SECOND, 1));
    penalize(&b, 0, HOUR);
    cr_expect_eq(percent(&b, HOUR - 1), 50);
    cr_expect_eq(percent(&b, HOUR + 6 * SECOND - 1), 50);
    cr_expect_eq(percent(&b, HOUR + 6 * SECOND), 51);
    takt_ledger_block(&b.ledger, NOW + HOUR + 6 * SECOND, HOUR, NULL); /* by hand */
    cr_expect_eq(percent(&b, 2 * HOUR), 51);
    takt_ledger_unblock(&b.ledger, NOW + 2 * HOUR);
    cr_expect_eq(percent(&b, 2 * HOUR + 6 * SECOND), 52);
}

Test(brake, slots_come_evenly_at_the_lower_rate)
{
    static const int64_t retry_after_us[] = {0, 3 * SECOND};
    for (size_t i = 0; i < COUNT(retry_after_us); i++) {
        static book b;
        int at;
        open_book(&b, adapting(10, SECOND, 1));
        work(&b, 0, SECOND);
        at = b.slot_count;
        penalize(&b, SECOND, retry_after_us[i]);
        work(&b, SECOND, SECOND + retry_after_us[i] + 5 * SECOND);
        cr_assert_geq(b.slot_count - at, 25);
        check_spacing(&b, at, b.slot_count, 200 * MS);
        cr_assert_geq(b.slots[at].slot_us, b.slots[at - 1].slot_us + 100 * MS);
        cr_assert_geq(b.slots[at].slot_us, NOW + SECOND + retry_after_us[i]);
    }
}

/* Saved tokens are lost, and a possible cost stays possible. */
Test(brake, no_burst_and_no_cost_that_cannot_be_given)
{
    static book b;
    int64_t retry_us;

    open_book(&b, adapting(10, SECOND, 50));
    penalize(&b, 0, 0);
    say(&b, 0, 1, 5, 1, 1000);
    cr_assert_eq(b.given, 2, "%" PRId64, b.given); /* at once, and 200 ms later */
    open_book(&b, adapting(10, SECOND, 50));
    penalize(&b, 0, 0);
    cr_assert_not(takt_ledger_try(&b.ledger, NOW, 50, TAKT_NO_MORE, &retry_us));
    cr_assert_eq(retry_us, NOW + 49 * 200 * MS);
}

/* All of the policy's rules hold, and the brake as well, whichever algorithm the rules are of. */
Test(brake, every_rule_holds)
{
    static const char *const names[] = {"gcra", "token-bucket", "fixed-window", "sliding-window"};
    for (size_t i = 0; i < COUNT(names); i++) {
        static book b;
        takt_numbers limit = adapting(100, SECOND, 1);
        limit.rules[1] = (takt_rule){
            .algorithm = takt_algorithm_named(names[i]), .limit = 20, .period_us = SECOND};
        cr_assert_eq(takt_rule_prepare(&limit.rules[1], NULL), 0);
        limit.rule_count = 2;
        limit.adapt.floor = 50;
        open_book(&b, limit);
        penalize(&b, 0, 0);
        work(&b, 0, 10 * SECOND);
        cr_assert_leq(b.slot_count, 20 + 10 * 20 + 6, "%s: %d", names[i], b.slot_count);
        cr_assert_geq(b.slot_count, 10 * 20 - 20, "%s: %d", names[i], b.slot_count);
        for (int j = 1; j < b.slot_count; j++) /* the first minute: 50 to 51 of 100/s */
            cr_assert_geq(b.slots[j].slot_us - b.slots[j - 1].slot_us, 19600, "%s", names[i]);
    }
}

Test(brake, reset_takes_it_off)
{
    static book b;

    open_book(&b, adapting(10, SECOND, 5));
    penalize(&b, 0, MINUTE);
    takt_ledger_reset(&b.ledger, NOW);
    cr_expect_eq(percent(&b, 0), 100);
    cr_expect_eq(b.ledger.blocked_until_us, NOW + MINUTE, "a block stays");
}

/* The brake continues under newer numbers: slots that were given stay given. */
Test(brake, newer_numbers)
{
    static const struct {
        int64_t tokens, backoff, floor, percent;
    } rows[] = {{10, 50, 10, 50}, {20, 50, 10, 50}, {20, 30, 80, 80}, {20, 0, 0, 100}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static book b;
        takt_numbers newer = adapting(rows[i].tokens, SECOND, 1);
        int64_t before_us;
        open_book(&b, adapting(10, SECOND, 1));
        newer.revision = 1;
        newer.adapt.backoff = rows[i].backoff;
        newer.adapt.floor = rows[i].floor;
        penalize(&b, 0, 0);
        say(&b, 0, 1, 5, 1, 1000);
        before_us = b.slots[b.slot_count - 1].slot_us;
        takt_ledger_adopt(&b.ledger, &newer, NOW + MS);
        cr_expect_eq(percent(&b, MS), rows[i].percent, "row %zu", i);
        b.limit = newer;
        say(&b, SECOND, 1, 5, 1, 1000);
        if (rows[i].percent < 100)
            cr_expect_geq(b.slots[b.slot_count - b.given].slot_us,
                          before_us + 100 * SECOND / rows[i].tokens / rows[i].percent, "row %zu",
                          i);
    }
}

/* Through its text at each step, by workers of older numbers too. */
Test(brake, a_text_keeps_it)
{
    static book b, kept;
    char text[4096], again[4096];
    takt_numbers older = limit_of(7, SECOND, 1), of_text;
    size_t size;

    open_book(&b, adapting(10, SECOND, 3));
    b.limit.revision = 4;
    takt_ledger_penalize(&b.ledger, NOW, SECOND, "50%; wait");
    say(&b, 2 * SECOND, 1, 5, 1, 10);
    takt_ledger_block(&b.ledger, NOW + 2 * SECOND, SECOND, "50%; wait");
    size = takt_ledger_encode(&b.ledger, text, sizeof text);
    text[size] = '\0';
    cr_assert(strstr(text, ";r4,250000,0;a50,10,60000000,10;t"), "%s", text);
    cr_assert(strstr(text, ",50%25%3B%20wait;k50,"), "%s", text);
    open_book(&kept, older);
    cr_assert_eq(takt_ledger_decode(&kept.ledger, &older, &of_text, NOW + 2 * SECOND, text, size),
                 0);
    cr_assert_eq(takt_ledger_encode(&kept.ledger, again, sizeof again), size);
    cr_assert_eq(memcmp(text, again, size), 0, "%s\n%s", text, again);
    cr_assert_eq(percent(&kept, 2 * SECOND), 50);
}

Test(brake, texts_that_cannot_be)
{
    static const char *const rows[] = {
        "g1/100000*1 5;k50,1,1",
        "g1/100000*1 5;k0,1,1,5",
        "g1/100000*1 5;k100,1,1,5",
        "g1/100000*1 5;k50,1,1,5+9",
        "g1/100000*1 5;k50,1,1,",
        "g1/100000*1 5;k50,1,1,5+9,7,8",
        "g1/100000*1 5;k0,0,0,5",
        "g1/100000*1 5;k0,0,0,5,7",
        "g1/100000*1 5;k0,0,0,5,7,0",
        "g1/100000*1 5;k0,0,0,5,0,8",
        "g1/100000*1 5;k0,0,0,5,7,8,9",
        "g1/100000*1 5;k0,0,0,5,7,9007199254740993",
        "g1/100000*1 5;k100,0,0,5,7,8",
        "g1/100000*1 5;k0,0,0,5+1,7,8", /* its parts are of one token a second */
        "r1,1,0,2,2;k0,0,0,5,7,8",
        "g1/100000*1 5;a50,10,60,10",
        "g1/100000*1 5;k50,1,1,5,",
        "g1/100000*1 5;b9,",
        "g1/100000*1 5;r1,1,0;k50,1,1,5", /* it has no `adapt` */
        "g1/100000*1 5;r1,1,0;a0,10,60,10",
        "g1/100000*1 5;r1,1,0;a50,0,60,10",
        "g1/100000*1 5;r1,1,0;a50,10,0,10",
        "g1/100000*1 5;r1,1,0;a50,10,60",
        "g1/100000*1 5;r1,1,0;a50,10,90000000000,10",
        "r1,1,0,2,2;a50,10,60,10;k50,1,1,5",
        "g999999937/1576799999999999*1 5;k51,1,1,5",
    };
    static book b;
    takt_numbers limit = adapting(10, SECOND, 1), kept;

    open_book(&b, limit);
    cr_assert_eq(takt_ledger_decode(&b.ledger, &limit, &kept, NOW, "g1/100000*1 5;k50,1,1,5", 23),
                 0);
    for (size_t i = 0; i < COUNT(rows); i++)
        cr_expect_eq(takt_ledger_decode(&b.ledger, &limit, &kept, NOW, rows[i], strlen(rows[i])),
                     -1, "%s", rows[i]);
}

Test(brake, clocks_that_jump)
{
    static const int64_t jumps_us[] = {-DAY, -HOUR, HOUR, 365 * DAY};
    for (size_t i = 0; i < COUNT(jumps_us); i++) {
        static book b;
        int64_t at_us = 10 * SECOND + jumps_us[i];
        open_book(&b, adapting(10, SECOND, 1));
        penalize(&b, 0, 0);
        work(&b, 0, 10 * SECOND);
        penalize(&b, at_us, 0);
        cr_expect_eq(percent(&b, at_us), jumps_us[i] < 0 ? 25 : 50, "jump %zu", i);
        b.slot_count = 0;
        work(&b, at_us, at_us + 30 * SECOND);
        cr_expect_geq(b.slot_count, 20 * 2, "jump %zu: %d", i, b.slot_count);
        cr_expect_leq(percent(&b, at_us + 30 * SECOND), 55);
    }
}

/* A policy is refused where parts of its rate have no exact numbers. */
Test(brake, numbers_that_cannot_be_kept_exactly)
{
    static const struct {
        int64_t tokens, period_us, burst;
        bool fits;
    } rows[] = {{100, SECOND, 1, true},     {800, DAY, 800, true},
                {9999991, SECOND, 1, true}, {100000007, SECOND, 1, false},
                {1, 1000 * DAY, 1, false},  {1, 182 * DAY, 1, true},
                {1, DAY, 18000, false},     {1, DAY, 1800, true}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_numbers limit = adapting(rows[i].tokens, rows[i].period_us, rows[i].burst);
        cr_expect_eq(takt_brake_fits(&limit), rows[i].fits, "row %zu", i);
    }
}
