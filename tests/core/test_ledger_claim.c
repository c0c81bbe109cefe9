/*
 * A ledger's turns as timelines: how many slots each worker gets, and when each is to claim again.
 * Other calls are in test_ledger_calls.c, random claims in test_ledger_promise.c.
 */
#include "core/books.h"

#define ANY   INT64_MIN /* an expectation that is not looked at */
#define NEVER (TAKT_NEVER - NOW)

/* At that time a worker states `count` waiters; it gets so many slots from first_us on. */
typedef struct turn {
    int64_t at_us;
    uint64_t worker;
    int priority;
    int32_t cost;
    int64_t count;
    int64_t given, first_us, again_us;
    int line; /* the line then, its head on the left */
} turn;

static void check_turns(const char *name, takt_numbers limit, const turn *turns, size_t count)
{
    static book b;

    open_book(&b, limit);
    for (size_t i = 0; i < count; i++) {
        const turn *t = &turns[i];
        say(&b, t->at_us, t->worker, t->priority, t->cost, t->count);
        cr_assert_eq(b.given, t->given, "%s, turn %zu: %" PRId64 " given", name, i, b.given);
        cr_assert_eq(b.first_us, t->first_us, "%s, turn %zu: from %" PRId64, name, i, b.first_us);
        if (t->again_us != ANY)
            cr_assert_eq(b.award.claim_again_at_us - NOW, t->again_us,
                         "%s, turn %zu: again at %" PRId64, name, i,
                         b.award.claim_again_at_us - NOW);
        cr_assert_eq(line_digits(&b), t->line, "%s, turn %zu: %d in line", name, i,
                     line_digits(&b));
    }
    check_never_over(&b);
}

#define CHECK(name, limit, ...)                                                                    \
    do {                                                                                           \
        static const turn turns[] = {__VA_ARGS__};                                                 \
        check_turns(name, limit, turns, COUNT(turns));                                             \
    } while (0)

static takt_numbers with_lookahead(takt_numbers limit, int64_t lookahead_us)
{
    limit.lookahead_us = lookahead_us;
    return limit;
}

Test(ledger_claim, one_worker_is_given_what_is_due_within_the_lookahead)
{
    CHECK("10/s", limit_of(10, SECOND, 1), {0, 1, 5, 1, 5, 3, 0, 50 * MS, 1},
          {50 * MS, 1, 5, 1, 2, 1, 300 * MS, 150 * MS, 1},
          {150 * MS, 1, 5, 1, 1, 1, 400 * MS, NEVER, 0}, {160 * MS, 1, 5, 1, 1, 0, -1, 250 * MS, 1},
          {10 * SECOND, 1, 5, 1, 1, 1, 10 * SECOND, NEVER, 0});
    CHECK("a burst lies ready", limit_of(10, SECOND, 20), {0, 1, 5, 1, 50, 22, 0, 50 * MS, 1},
          {50 * MS, 1, 5, 1, 28, 1, 300 * MS, ANY, 1});
    CHECK("nobody waits any more", limit_of(10, SECOND, 1), {0, 1, 5, 1, 5, 3, 0, 50 * MS, 1},
          {10 * MS, 1, 5, 1, 0, 0, -1, NEVER, 0});
    CHECK("less than one in a lookahead", limit_of(1, MINUTE, 1),
          {0, 1, 5, 1, 3, 1, 0, MINUTE - 250 * MS, 1},
          {2 * SECOND, 1, 5, 1, 2, 0, -1, MINUTE - 250 * MS, 1},
          {MINUTE - 250 * MS, 1, 5, 1, 2, 1, MINUTE, ANY, 1});
    /* never announced for now, however near the slot is */
    CHECK("1000/s", with_lookahead(limit_of(1000, SECOND, 1), 16 * MS),
          {0, 1, 5, 1, 99, 17, 0, 8 * MS, 1}, {2 * MS, 1, 5, 1, 82, 2, 17 * MS, ANY, 1},
          {2 * MS, 1, 5, 1, 80, 0, -1, 10 * MS, 1}, {10 * MS, 1, 5, 1, 80, 8, 19 * MS, 18 * MS, 1});
}

Test(ledger_claim, two_workers_take_turns)
{
    CHECK(
        "who was given something goes to the back", with_lookahead(limit_of(10, SECOND, 1), SECOND),
        {0, 1, 5, 1, 50, 11, 0, ANY, 1}, /* alone, it takes all there is */
        {0, 2, 5, 1, 50, 0, -1, ANY, 12},
        {600 * MS, 1, 5, 1, 39, 5, 1100 * MS, ANY, 21}, /* six are due by now, its share is five */
        {600 * MS, 2, 5, 1, 50, 0, -1, 1000 * MS, 21},  /* the sixth is no whole turn */
        {1000 * MS, 2, 5, 1, 50, 5, 1600 * MS, ANY, 12},
        {1600 * MS, 1, 5, 1, 34, 5, 2100 * MS, ANY, 21},
        {1600 * MS, 2, 5, 1, 45, 0, -1, 2000 * MS, 21});
    CHECK("a burst is shared out in one round", limit_of(10, SECOND, 40),
          {0, 1, 5, 1, 0, 0, -1, ANY, 0}, {0, 1, 5, 1, 1, 1, 0, NEVER, 0},
          {0, 2, 5, 1, 20, 20, 0, NEVER, 0}, {0, 1, 5, 1, 99, 21, 0, ANY, 1});
    CHECK("slots within a share leave room for those before",
          with_lookahead(limit_of(10, SECOND, 1), SECOND), {0, 1, 5, 1, 50, 11, 0, ANY, 1},
          {0, 2, 5, 1, 50, 0, -1, ANY, 12},
          /* 1 is expected first, so 2 must leave it five of these seven, and then of these ten */
          {700 * MS, 2, 5, 1, 50, 0, -1, ANY, 12}, {1000 * MS, 2, 5, 1, 50, 5, 1100 * MS, ANY, 12},
          {1000 * MS, 1, 5, 1, 39, 5, 1600 * MS, ANY, 21});
}

/* Two tokens are there at 1 s, and the next ones at 2 s. */
Test(ledger_claim, those_before_are_left_no_more_than_they_want)
{
    static book b;
    takt_numbers limit = limit_of(100, SECOND, 1);

    add_rule(&limit, 102, 2 * SECOND, 1);
    limit.lookahead_us = 200 * MS; /* a share of two is five */
    for (int i = 0; i < 2; i++) {
        limit.rules[i].algorithm = &takt_fixed_window;
        limit.rules[i].burst = 0;
        cr_assert_eq(takt_rule_prepare(&limit.rules[i], NULL), 0);
    }
    open_book(&b, limit);
    say(&b, 0, 3, 5, 1, 100);
    say(&b, 100 * MS, 1, 5, 1, 1);
    say(&b, 100 * MS, 2, 5, 1, 1);
    cr_assert_eq(b.award.claim_again_at_us, NOW + 900 * MS, "half a lookahead before it is due");
    say(&b, 900 * MS, 2, 5, 1, 1);
    cr_assert_eq(b.given, 1, "the other one is left for worker 1");
    cr_assert_eq(b.first_us, SECOND);
    say(&b, 900 * MS, 2, 5, 1, 1);
    cr_assert_eq(b.given, 0);
    say(&b, 900 * MS, 1, 5, 1, 1);
    cr_assert_eq(b.first_us, SECOND);
}

Test(ledger_claim, a_higher_priority_goes_first_everywhere)
{
    CHECK("the urgent one takes the next slots", limit_of(10, SECOND, 1),
          {0, 1, 5, 1, 50, 3, 0, ANY, 1}, {10 * MS, 2, 0, 1, 2, 0, -1, 50 * MS, 21},
          {50 * MS, 1, 5, 1, 47, 0, -1, 250 * MS, 21}, /* 300 and 400 are left for worker 2 */
          {60 * MS, 2, 0, 1, 2, 1, 300 * MS, 150 * MS, 21},
          {150 * MS, 2, 0, 1, 1, 1, 400 * MS, NEVER, 1},
          {250 * MS, 1, 5, 1, 47, 1, 500 * MS, ANY, 1});
    CHECK("of three priorities the least urgent comes last", limit_of(10, SECOND, 1),
          {0, 1, 9, 1, 9, 3, 0, ANY, 1}, {0, 2, 5, 1, 1, 0, -1, 50 * MS, 21},
          {0, 3, 0, 1, 1, 0, -1, 50 * MS, 321}, {50 * MS, 1, 9, 1, 6, 0, -1, 250 * MS, 321},
          {150 * MS, 2, 5, 1, 1, 1, 300 * MS, NEVER, 31},
          {150 * MS, 3, 0, 1, 1, 1, 400 * MS, NEVER, 1});
}

Test(ledger_claim, a_large_cost_at_the_head_is_served_before_those_behind)
{
    CHECK("small ones do not eat what a large one waits for", limit_of(10, SECOND, 10),
          {0, 2, 5, 1, 10, 10, 0, ANY, 0}, {0, 1, 5, 8, 1, 0, -1, 550 * MS, 1},
          {0, 2, 5, 1, 50, 0, -1, 650 * MS, 12},        /* after the eight */
          {200 * MS, 2, 5, 1, 50, 0, -1, 650 * MS, 12}, /* four are there, all for worker 1 */
          {500 * MS, 2, 5, 1, 50, 0, -1, 650 * MS, 12},
          {550 * MS, 1, 5, 8, 1, 1, 800 * MS, NEVER, 2},
          {650 * MS, 2, 5, 1, 50, 1, 900 * MS, ANY, 2});
    CHECK("inside a worker: first come, first served", limit_of(10, SECOND, 10),
          {0, 1, 5, 1, 9, 9, 0, ANY, 0}, {0, 1, 5, 4, 3, 0, -1, 50 * MS, 1},
          {50 * MS, 1, 5, 4, 3, 1, 300 * MS, 450 * MS, 1});
}

Test(ledger_claim, a_head_that_does_not_come_is_stepped_round_and_keeps_its_turn)
{
    CHECK("others use what it does not fetch", limit_of(10, SECOND, 10),
          {0, 3, 5, 1, 12, 12, 0, ANY, 0}, {0, 1, 5, 8, 1, 0, -1, 750 * MS, 1},
          {0, 2, 5, 1, 50, 0, -1, 850 * MS, 12},
          {SECOND, 2, 5, 1, 50, 2, SECOND, ANY, 12}, /* ten are there, eight of them for worker 1 */
          {SECOND + MS, 2, 5, 1, 48, 8, SECOND + MS, ANY,
           12}, /* a lookahead is over since it should have come */
          {1100 * MS, 1, 5, 8, 1, 0, -1, 1750 * MS, 12}, /* it claims, and keeps its place */
          {1200 * MS, 2, 5, 1, 40, 0, -1, ANY, 12},
          {1750 * MS, 1, 5, 8, 1, 1, 2 * SECOND, NEVER, 2});
}

Test(ledger_claim, a_claim_older_than_the_last_one_does_nothing)
{
    static book b;
    takt_claim young = {.worker = 1, .seq = 5, .waiting = 9, .want_count = 1}, old;

    open_book(&b, limit_of(10, SECOND, 1));
    young.wants[0] = (takt_want){9, TAKT_NEVER, 1, 5, {{0}}};
    send_claim(&b, 0, &young);
    cr_assert_not(b.award.stale);
    takt_place before = b.line[0];
    for (int64_t seq = 3; seq <= 5; seq++) { /* also a repeated one */
        old = young;
        old.seq = seq;
        old.wants[0].count = old.waiting = 100;
        send_claim(&b, 100 * MS, &old);
        cr_assert(b.award.stale, "seq %" PRId64, seq);
        cr_assert_eq(b.given, 0);
        cr_assert_eq(memcmp(&before, &b.line[0], sizeof before), 0, "the place is as it was");
        cr_assert_eq(b.award.waiting, 6, "and how the ledger stands is told all the same");
    }
    old.seq = 6;
    send_claim(&b, SECOND, &old);
    cr_assert_not(b.award.stale);
    cr_assert_gt(b.given, 0);
}

/* A worker whose answer was lost claims again: the slots of the first answer lapse and are not
 * given twice. */
Test(ledger_claim, a_repeated_claim_of_one_who_left_the_line_only_loses_tokens)
{
    static book b;
    takt_claim claim = {.worker = 1, .seq = 1, .waiting = 2, .want_count = 1};

    open_book(&b, limit_of(10, SECOND, 3));
    claim.wants[0] = (takt_want){2, TAKT_NEVER, 1, 5, {{0}}};
    for (int i = 0; i < 20; i++)
        send_claim(&b, i * 10 * MS, &claim);
    cr_assert_gt(b.slot_count, 2);
    check_never_over(&b);
}

Test(ledger_claim, more_waiters_than_the_line_may_hold_are_refused_from_the_back)
{
    static const struct {
        int64_t others, mine, unlisted, given, refused;
        int min; /* my least urgent priority in line, -1: none */
    } rows[] = {{0, 5, 0, 3, 0, 5},   {0, 13, 0, 3, 0, 5}, {0, 14, 0, 3, 1, 5},
                {0, 2, 30, 3, 19, 5}, {8, 2, 0, 0, 0, 5},  {8, 3, 0, 0, 1, 5},
                {10, 3, 0, 0, 3, -1}, {99, 3, 0, 0, 3, -1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static book b;
        takt_claim claim = {.worker = 1, .seq = 1, .want_count = 1};
        open_book(&b, limit_of(10, SECOND, 1));
        b.limit.max_waiting = 0;
        if (rows[i].others) {
            say(&b, 0, 2, 5, 1, 3);
            say(&b, 0, 2, 5, 1, rows[i].others);
        }
        b.limit.max_waiting = 10;
        claim.waiting = claim.newcomers = rows[i].mine + rows[i].unlisted;
        claim.wants[0] = (takt_want){rows[i].mine, TAKT_NEVER, 1, 5, {{0}}};
        if (rows[i].unlisted)
            claim.wants[0].count = 3;
        send_claim(&b, 0, &claim);
        cr_assert_eq(b.given, rows[i].given, "row %zu: %" PRId64 " given", i, b.given);
        cr_assert_eq(b.award.refused, rows[i].refused, "row %zu: %" PRId64 " refused", i,
                     b.award.refused);
        cr_assert_eq(b.award.in_line, rows[i].min < 0 ? 0 : 1U << rows[i].min, "row %zu", i);
    }
}

/* If a head with a large cost leaves without its tokens, the workers that left them to it are
 * woken. */
Test(ledger_claim, a_head_that_goes_without_what_it_needed)
{
    static const struct {
        const char *what;
        int64_t at_us; /* of its next claim */
        int32_t cost;  /* the cost that it wants then; 0: none */
        bool alone, news;
    } rows[] = {
        {"it is cancelled", SECOND, 0, false, true},
        {"a smaller one of the same worker is first", SECOND, 20, false, true},
        {"it waits on", SECOND, 90, false, false},
        {"nobody else waits", SECOND, 0, true, false},
        {"it is served", 25 * SECOND, 90, false, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        static book b;
        open_book(&b, limit_of(1, SECOND, 100));
        say(&b, 0, 1, 5, 30, 1);
        say(&b, 0, 1, 5, 90, 1);
        if (!rows[i].alone)
            say(&b, 0, 2, 5, 1, 5);
        cr_expect_not(b.award.news);
        if (rows[i].at_us > 2 * SECOND && !rows[i].alone) {
            say(&b, rows[i].at_us - MS, 1, 5, 90, 1);
            say(&b, rows[i].at_us - MS, 2, 5, 1, 5);
        }
        say(&b, rows[i].at_us, 1, 5, rows[i].cost, rows[i].cost > 0);
        cr_expect_eq(b.award.news, rows[i].news, "%s", rows[i].what);
    }
}
