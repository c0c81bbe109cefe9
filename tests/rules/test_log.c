/*
 * The log against a plain list of entries: when each token was taken, how many up to an instant,
 * which no longer count, over many pages and after running totals start again.
 */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "base/memory_pages.h"
#include "base/random.h"
#include "rules/log.h"
#include "seed.h"

enum { TOKENS = 20000 };

/* When each token was taken; those before `first` no longer count. */
typedef struct list {
    int64_t at_us[TOKENS];
    int first, count;
} list;

static void check(const takt_log *log, takt_memory_pages *pages, const list *plain,
                  uint64_t *random)
{
    int held = plain->count - plain->first, n, before = plain->first;
    int64_t at_us;

    cr_assert_eq(takt_log_held(log), held);
    if (held == 0)
        return;
    n = (int)takt_random_below(random, held);
    at_us = plain->at_us[plain->first + n];
    cr_assert_eq(takt_log_slot_of(log, &pages->pages, n + 1), at_us);
    at_us += takt_random_below(random, 3) - 1;
    while (before < plain->count && plain->at_us[before] <= at_us)
        before++;
    cr_assert_eq(takt_log_count_to(log, &pages->pages, at_us), before - plain->first);
    cr_assert_eq(takt_log_slot_of(log, &pages->pages, held), log->last_us);
    cr_assert_eq(pages->pages.trouble, TAKT_PAGES_FINE);
}

static void drop(takt_log *log, takt_memory_pages *pages, list *plain, int64_t at_us)
{
    takt_log_drop(log, &pages->pages, at_us);
    while (plain->first < plain->count && plain->at_us[plain->first] <= at_us)
        plain->first++;
    takt_memory_pages_end(pages, true);
}

Test(log, is_a_list_of_what_was_taken)
{
    static list plain;
    uint64_t random = test_seed(1);

    for (int round = 0; round < 6; round++) {
        takt_memory_pages pages;
        takt_log log = {.total = round % 2 ? TAKT_LOG_WRAP - 3000 : 0};
        int64_t at_us = 1000;
        takt_memory_pages_init(&pages);
        log.before = log.total;
        plain.first = plain.count = 0;
        while (plain.count < TOKENS - 10) {
            int tokens = (int)takt_random_below(&random, 10) / 8 * 7 + 1;
            at_us += takt_random_below(&random, 4);
            takt_log_append(&log, &pages.pages, at_us, tokens);
            for (int i = 0; i < tokens; i++)
                plain.at_us[plain.count++] = at_us;
            check(&log, &pages, &plain, &random);
            if (takt_random_below(&random, round < 3 ? 700 : 2000) == 0)
                drop(&log, &pages, &plain, at_us - takt_random_below(&random, 2000));
            if (takt_random_below(&random, 4000) == 0)
                drop(&log, &pages, &plain, at_us);
        }
        drop(&log, &pages, &plain, at_us);
        cr_assert_leq(takt_memory_pages_count(&pages), 1);
        takt_log_clear(&log, &pages.pages);
        takt_memory_pages_end(&pages, true);
        cr_assert_eq(takt_memory_pages_count(&pages), 0);
        cr_assert_eq(pages.pages.taken, 0);
        takt_memory_pages_close(&pages);
    }
}

/* A cleared log begins in another book: the old one exists until the call is over. */
Test(log, a_cleared_log_begins_in_another_book)
{
    takt_memory_pages pages;
    takt_log log = {0};

    takt_memory_pages_init(&pages);
    for (int round = 0; round < 5; round++) {
        for (int64_t n = 1; n < 600; n++)
            takt_log_append(&log, &pages.pages, n, 1);
        cr_assert_eq(log.book, round % 2 + 1);
        takt_log_clear(&log, &pages.pages);
        if (round % 2)
            takt_memory_pages_end(&pages, true);
    }
    cr_assert_eq(pages.pages.trouble, TAKT_PAGES_FINE);
    takt_memory_pages_close(&pages);
}

Test(log, no_book_left_is_trouble)
{
    takt_memory_pages pages;
    takt_log log = {0};

    takt_memory_pages_init(&pages);
    pages.pages.taken = (1U << TAKT_BOOKS_MAX) - 1;
    takt_log_append(&log, &pages.pages, 1, 1);
    cr_assert_eq(pages.pages.trouble, TAKT_PAGES_FINE);
    takt_log_append(&log, &pages.pages, 2, 1);
    cr_assert_eq(pages.pages.trouble, TAKT_PAGES_NOMEM);
    takt_memory_pages_close(&pages);
}
