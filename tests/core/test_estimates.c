/*
 * Estimates that are wrong, settled when each call is over: how much of a quota is used in the long
 * run, and how much at most in any ten periods.  Time is virtual and work never ends, so both
 * figures are exact.
 */
#include <string.h>

#include "base/memory_pages.h"
#include "base/random.h"
#include "core/books.h"

#define QUOTA     20000
#define ACTUAL    100
#define CALL_US   (2 * SECOND)
#define PERIODS   10
#define MANY      (8 * PERIODS)
#define CALLS_MAX 400000

typedef struct call {
    int64_t slot_us;
    int64_t estimate;
    int64_t actual;
} call;

/* The calls of a run; those from number `open` on are under way. */
typedef struct run {
    book book;
    takt_memory_pages pages;
    call calls[CALLS_MAX];
    int count, open;
    uint64_t random;
} run;

/* The estimate of a call, in percent of its cost; 0: random from 20 to 300. */
static call next_call(run *r, int64_t now_us, int percent)
{
    int64_t of = percent > 0 ? percent : 20 + takt_random_below(&r->random, 281);

    return (call){now_us, ACTUAL * of / 100, ACTUAL};
}

static void work(run *r, takt_numbers limit, int percent)
{
    int64_t now_us = NOW, end_us = NOW + MANY * limit.rules[0].period_us;

    r->random = 1;
    r->count = r->open = 0;
    open_book(&r->book, limit);
    takt_memory_pages_init(&r->pages);
    takt_numbers_begin(&r->book.ledger.state, &r->pages.pages);
    takt_ledger_reset(&r->book.ledger, now_us);
    while (now_us < end_us) {
        call next = next_call(r, now_us, percent);
        int64_t retry_us;
        while (r->open < r->count && r->calls[r->open].slot_us + CALL_US <= now_us) {
            call *over = &r->calls[r->open++];
            settle_one(&r->book.ledger, now_us, over->slot_us, over->estimate, over->actual);
        }
        if (takt_ledger_try(&r->book.ledger, now_us, next.estimate, TAKT_NO_MORE, &retry_us)) {
            cr_assert_lt(r->count, CALLS_MAX);
            r->calls[r->count++] = next;
            continue;
        }
        if (r->open < r->count)
            retry_us = takt_min(retry_us, r->calls[r->open].slot_us + CALL_US);
        now_us = takt_max(retry_us, now_us + 1);
    }
    takt_memory_pages_close(&r->pages);
}

/* What started in any such stretch, at most. */
static int64_t most_in(const run *r, int64_t length_us)
{
    int64_t sum = 0, most = 0;

    for (int i = 0, first = 0; i < r->count; i++) {
        sum += r->calls[i].actual;
        while (r->calls[first].slot_us <= r->calls[i].slot_us - length_us)
            sum -= r->calls[first++].actual;
        most = takt_max(most, sum);
    }
    return most;
}

/* The used part of the quota, in tenths of a percent. */
static int64_t used(const run *r)
{
    int64_t sum = 0;

    for (int i = 0; i < r->count; i++)
        sum += r->calls[i].actual;
    return 1000 * sum / (QUOTA * MANY);
}

static const int percents[] = {20, 50, 80, 100, 125, 200, 300, 0};

/*
 * The part that can be used, in tenths of a percent, if a call counts with its estimate until its
 * end. For a window or a log this limits the part of a period that a call's time takes; a bucket
 * has its saved tokens.
 */
static int64_t attainable(const takt_algorithm *algorithm, int64_t period_us, int percent)
{
    int64_t mean = percent > 0 ? percent : (20 + 300) / 2;

    if (algorithm == &takt_token_bucket || mean <= 100)
        return 1000;
    return 1000 * 100 * period_us / (100 * period_us + (mean - 100) * CALL_US);
}

Test(estimates, the_quota_is_used_and_not_more)
{
    static const takt_algorithm *const algorithms[] = {&takt_token_bucket, &takt_fixed_window,
                                                       &takt_sliding_window, &takt_sliding_log};
    static const int64_t periods[] = {6 * SECOND, 60 * SECOND};
    static run r;

    for (size_t p = 0; p < COUNT(periods); p++)
        for (size_t i = 0; i < COUNT(algorithms); i++)
            for (size_t j = 0; j < COUNT(percents); j++) {
                takt_numbers limit = {.rule_count = 1, .lookahead_us = TAKT_LOOKAHEAD_US};
                int64_t burst = algorithms[i] == &takt_token_bucket ? QUOTA : 0, most, under_way,
                        least;
                limit.rules[0] = (takt_rule){
                    .algorithm = algorithms[i], .limit = QUOTA, .period_us = periods[p]};
                cr_assert_eq(takt_rule_prepare(&limit.rules[0], NULL), 0);
                work(&r, limit, percents[j]);
                most = most_in(&r, PERIODS * periods[p]);
                under_way = most_in(&r, CALL_US);
                least = 95 * attainable(algorithms[i], periods[p], percents[j]) / 100;
                cr_assert_geq(used(&r), least, "%s, %d %%: %" PRId64 " of 1000 are used",
                              algorithms[i]->name, percents[j], used(&r));
                cr_assert_leq(most, PERIODS * QUOTA + burst + under_way,
                              "%s, %d %%: %" PRId64 " in ten periods", algorithms[i]->name,
                              percents[j], most);
            }
}
