/*
 * More waiters than max_waiting: which leave the line, which workers are woken, and the effect of a
 * lost hint. A line is written as "worker:priority:waiters" in its order; a place that is set aside
 * ends in "a".
 */
#include "core/overflow.h"

#include <stdio.h>

#include "core/books.h"

static book b;

static const char *line(void)
{
    static char text[1000];
    int size = 0;

    text[0] = '\0';
    for (int i = 0; i < b.ledger.line_count; i++)
        size += snprintf(text + size, sizeof text - (size_t)size, "%s%d:%d:%d%s", i ? " " : "",
                         (int)b.line[i].worker, b.line[i].priority, (int)b.line[i].waiting,
                         b.line[i].aside ? "a" : "");
    return text;
}

/* A rate without a token for a long time: no waiter is served. */
static void open_full(takt_when_full when_full, int64_t max_waiting)
{
    open_book(&b, limit_of(1, INT64_C(1000) * SECOND, 1));
    b.limit.when_full = when_full;
    say(&b, 0, 99, 0, 1, 1); /* takes the one token that there is */
    b.limit.max_waiting = max_waiting;
}

/* The workers named, as digits. */
static int woken(void)
{
    int digits = 0;

    for (int i = 0; i < b.award.wake_count; i++)
        digits = digits * 10 + (int)b.award.wakes[i];
    return digits;
}

static void expect(const char *places, int64_t refused, int names)
{
    cr_assert_str_eq(line(), places, "%s, not %s", line(), places);
    cr_assert_eq(b.award.refused, refused, "%d refused", (int)b.award.refused);
    cr_assert_eq(woken(), names, "%d woken", woken());
}

/* As many as may wait: workers 1 to 3 with two each of priority 5, worker 4 with two of priority 7.
 */
static void fill(takt_when_full when_full)
{
    open_full(when_full, 8);
    for (uint64_t worker = 1; worker <= 3; worker++)
        say(&b, 0, worker, 5, 1, 2);
    say(&b, 0, 4, 7, 1, 2);
    expect("1:5:2 2:5:2 3:5:2 4:7:2", 0, 0);
}

Test(overflow, who_comes_is_refused_where_nothing_is_said)
{
    fill(TAKT_WHEN_FULL_REFUSE);
    say(&b, MS, 6, 0, 1, 1);
    expect("1:5:2 2:5:2 3:5:2 4:7:2", 1, 0);
}

/* A claim of a worker that was counted before: so many of its waiters are new. */
static void say_new(uint64_t worker, int64_t newcomers, takt_want first, takt_want second)
{
    takt_claim claim = {.worker = worker, .seq = ++b.seq, .newcomers = newcomers};

    claim.wants[0] = first;
    claim.wants[1] = second;
    claim.want_count = second.count > 0 ? 2 : 1;
    claim.waiting = first.count + second.count;
    send_claim(&b, MS, &claim);
}

static takt_want of(int priority, int64_t count)
{
    return (takt_want){.count = count, .latest_us = TAKT_NEVER, .cost = 1, .priority = priority};
}

Test(overflow, who_was_counted_is_not_refused)
{
    fill(TAKT_WHEN_FULL_REFUSE);
    say_new(4, 3, of(0, 3), of(7, 2));
    expect("1:5:2 2:5:2 3:5:2 4:7:2", 3, 0);
    say_new(4, 3, of(0, 3), of(7, 1));
    expect("4:0:1 1:5:2 2:5:2 3:5:2 4:7:1", 2, 0);
    say_new(4, 4, of(0, 1), of(7, 5));
    expect("4:0:1 1:5:2 2:5:2 3:5:2 4:7:1", 4, 0);
    b.limit.max_waiting = 3;
    say_new(1, 0, of(5, 2), of(5, 0));
    expect("4:0:1 1:5:2 2:5:2 3:5:2 4:7:1", 0, 0);
    say_new(1, 1, of(5, 3), of(5, 0));
    expect("4:0:1 1:5:2 2:5:2 3:5:2 4:7:1", 1, 0);
}

/* The ledger was lost: workers state their accepted waiters again. */
Test(overflow, who_was_accepted_stays_when_the_ledger_forgets)
{
    open_full(TAKT_WHEN_FULL_REFUSE, 2);
    say_new(1, 2, of(5, 2), of(5, 0));
    expect("1:5:2", 0, 0);
    say_new(2, 1, of(5, 3), of(5, 0));
    expect("1:5:2 2:5:2", 1, 0);
}

Test(overflow, the_oldest_of_the_least_urgent_make_way)
{
    fill(TAKT_WHEN_FULL_DROP_OLDEST);
    say(&b, MS, 6, 5, 1, 1);
    expect("1:5:2 2:5:2 3:5:2 6:5:1 4:7:1", 0, 4);
    say(&b, MS, 6, 5, 1, 4);
    expect("1:5:0a 2:5:2 3:5:2 6:5:4 4:7:0a", 0, 41);
    say(&b, MS, 6, 5, 1, 6);
    expect("1:5:0a 2:5:0a 3:5:2 6:5:6 4:7:0a", 0, 2);
}

Test(overflow, own_waiters_make_way_where_they_are_the_oldest)
{
    fill(TAKT_WHEN_FULL_DROP_OLDEST);
    say(&b, MS, 4, 7, 1, 5);
    expect("1:5:2 2:5:2 3:5:2 4:7:2", 3, 0);
    say(&b, MS, 4, 7, 1, 0);
    say(&b, MS, 1, 5, 1, 9);
    expect("1:5:4 2:5:2 3:5:2", 5, 0);
    say(&b, MS, 6, 9, 1, 3);
    expect("1:5:4 2:5:2 3:5:2", 3, 0);
}

Test(overflow, only_the_less_urgent_make_way)
{
    fill(TAKT_WHEN_FULL_DROP_LOWEST);
    say(&b, MS, 6, 7, 1, 1);
    expect("1:5:2 2:5:2 3:5:2 4:7:2", 1, 0);
    say(&b, MS, 6, 5, 1, 1);
    expect("1:5:2 2:5:2 3:5:2 6:5:1 4:7:1", 0, 4);
    say(&b, MS, 6, 5, 1, 3);
    expect("1:5:2 2:5:2 3:5:2 6:5:2 4:7:0a", 1, 4);
    say(&b, MS, 8, 3, 1, 3);
    expect("8:3:3 1:5:2 2:5:2 3:5:1 6:5:0a 4:7:0a", 0, 63);
}

/* The worker with the dropped waiters states them again: they are too many again, and its own
 * leave, although it was served and goes to the back. */
Test(overflow, whose_waiters_were_dropped_is_told_at_its_next_claim)
{
    open_book(&b, limit_of(10, SECOND, 1));
    b.limit.when_full = TAKT_WHEN_FULL_DROP_OLDEST;
    b.limit.max_waiting = 19;
    for (uint64_t worker = 1; worker <= 2; worker++)
        say(&b, 0, worker, 5, 1, 10 + (worker == 1 ? 2 : 0));
    int64_t first = place_of(&b, 1, 5)->waiting;
    cr_assert_eq(first + place_of(&b, 2, 5)->waiting, 19, "%s", line());
    say(&b, 100 * MS, 3, 5, 1, 4);
    cr_assert_eq(woken(), 1, "%s", line());
    say(&b, 200 * MS, 1, 5, 1, first);
    cr_assert_gt(b.given, 0);
    cr_assert_eq(b.award.refused, 4 - b.given, "%s, %d refused, %d given", line(),
                 (int)b.award.refused, (int)b.given);
    cr_assert_eq(b.award.wake_count, 0);
    cr_assert_eq(b.award.waiting, 19);
}

Test(overflow, who_has_lost_all_keeps_its_turn)
{
    fill(TAKT_WHEN_FULL_DROP_OLDEST);
    say(&b, MS, 4, 7, 1, 0);
    say(&b, MS, 6, 5, 1, 4);
    expect("1:5:0a 2:5:2 3:5:2 6:5:4", 0, 1);
    say(&b, 2 * MS, 1, 5, 1, 2);
    expect("2:5:2 3:5:2 6:5:4", 2, 0);
    fill(TAKT_WHEN_FULL_DROP_OLDEST);
    say(&b, MS, 4, 7, 1, 0);
    say(&b, MS, 6, 5, 1, 4);
    say(&b, 2 * MS, 2, 5, 1, 0);
    say(&b, 2 * MS, 1, 5, 1, 2);
    expect("1:5:2 3:5:2 6:5:4", 0, 0);
}

Test(overflow, who_is_set_aside_does_not_count)
{
    fill(TAKT_WHEN_FULL_DROP_OLDEST);
    say(&b, 3 * SECOND, 2, 5, 1, 2); /* the others did not claim at their times */
    say(&b, 3 * SECOND, 6, 5, 1, 6);
    expect("1:5:2a 2:5:2 3:5:2a 6:5:6 4:7:2a", 0, 0);
    say(&b, 3 * SECOND, 7, 5, 1, 1);
    cr_assert_eq(b.award.refused, 0);
    cr_assert_eq(woken(), 2, "%s", line());
    say(&b, 3 * SECOND, 1, 5, 1, 2);
    cr_assert_eq(b.award.refused, 2, "who comes late is the oldest: %s", line());
}

/* An award names a bounded number of workers. */
Test(overflow, as_many_others_lose_waiters_as_an_award_can_name)
{
    open_full(TAKT_WHEN_FULL_DROP_OLDEST, 12);
    for (uint64_t worker = 1; worker <= 12; worker++)
        say(&b, 0, worker, 5, 1, 1);
    say(&b, MS, 50, 5, 1, 10);
    cr_assert_eq(b.award.wake_count, TAKT_WAKES_MAX);
    cr_assert_eq(b.award.refused, 2);
    cr_assert_eq(b.award.waiting, 12);
}

Test(overflow, without_own_waiters_the_oldest_make_way_all_the_same)
{
    fill(TAKT_WHEN_FULL_DROP_OLDEST);
    b.limit.max_waiting = 5;
    say(&b, MS, 6, 5, 1, 0);
    expect("1:5:1 2:5:2 3:5:2 4:7:0a", 0, 41);
    fill(TAKT_WHEN_FULL_DROP_LOWEST);
    b.limit.max_waiting = 5;
    say(&b, MS, 6, 5, 1, 0);
    expect("1:5:2 2:5:2 3:5:2 4:7:2", 0, 0);
}

/* A worker that becomes the head because others were dropped is woken. */
Test(overflow, the_first_that_is_left_is_hurried)
{
    open_book(&b, limit_of(1, SECOND, 1));
    b.limit.when_full = TAKT_WHEN_FULL_DROP_OLDEST;
    b.limit.max_waiting = 3;
    say(&b, 0, 9, 5, 1, 1);
    for (uint64_t worker = 1; worker <= 3; worker++)
        say(&b, 0, worker, 5, 1, 1);
    int64_t third_us = place_of(&b, 3, 5)->again_at_us;
    say(&b, MS, 4, 5, 1, 2);
    expect("1:5:0a 2:5:0a 3:5:1 4:5:2", 0, 123);
    say(&b, 2 * MS, 3, 5, 1, 1);
    cr_assert_lt(b.award.claim_again_at_us, third_us, "its turn is the next");
    say(&b, 3 * MS, 4, 5, 1, 2);
    expect("1:5:0a 2:5:0a 3:5:1 4:5:2", 0, 0);
}

/* Numbers from a text need not make sense. */
Test(overflow, large_numbers_do_no_harm)
{
    fill(TAKT_WHEN_FULL_DROP_OLDEST);
    b.line[3].waiting = b.line[3].wanting = INT64_C(1) << 53;
    b.line[3].need = TAKT_COST_MAX;
    say(&b, MS, 6, 5, 1, 1);
    expect("1:5:2 2:5:2 3:5:2 6:5:1 4:7:1", 0, 4);
    cr_assert_eq(place_of(&b, 4, 7)->wanting, 0);
}
