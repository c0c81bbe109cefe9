/*
 * Pages in memory: they stay until they are dropped, a drop takes effect only when the call is
 * kept, and unused pages are freed.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/memory_pages.h"

static int64_t *page(takt_memory_pages *memory, int book, int64_t number, takt_page_use use)
{
    return memory->pages.get(&memory->pages, book, number, use);
}

static void drop(takt_memory_pages *memory, int book, int64_t below, bool kept)
{
    memory->pages.drop_below(&memory->pages, book, below);
    takt_memory_pages_end(memory, kept);
}

Test(memory_pages, are_what_was_written)
{
    takt_memory_pages memory;

    takt_memory_pages_init(&memory);
    for (int64_t n = 5; n < 40; n++) {
        int64_t *made = page(&memory, 3, n, TAKT_PAGE_NEW);
        cr_assert_eq(made[0], 0);
        cr_assert_eq(made[TAKT_PAGE_SIZE / 8 - 1], 0);
        made[0] = n;
        *page(&memory, 15, n, TAKT_PAGE_NEW) = -n;
    }
    for (int64_t n = 5; n < 40; n++) {
        cr_assert_eq(*page(&memory, 3, n, TAKT_PAGE_READ), n);
        cr_assert_eq(*page(&memory, 15, n, TAKT_PAGE_CHANGE), -n);
    }
    cr_assert_eq(*page(&memory, 3, 39, TAKT_PAGE_NEW), 0, "begun anew");
    cr_assert_eq(takt_memory_pages_count(&memory), 70);
    cr_assert_eq(memory.pages.trouble, TAKT_PAGES_FINE);
    takt_memory_pages_close(&memory);
    cr_assert_eq(takt_memory_pages_count(&memory), 0);
}

Test(memory_pages, are_given_up_when_that_is_kept)
{
    takt_memory_pages memory;

    takt_memory_pages_init(&memory);
    for (int64_t n = 0; n < 10; n++)
        *page(&memory, 0, n, TAKT_PAGE_NEW) = n;
    drop(&memory, 0, 4, false);
    cr_assert_eq(*page(&memory, 0, 0, TAKT_PAGE_READ), 0);
    drop(&memory, 0, 4, true);
    cr_assert_eq(takt_memory_pages_count(&memory), 6);
    cr_assert_eq(*page(&memory, 0, 4, TAKT_PAGE_READ), 4);
    cr_assert_null(page(&memory, 0, 3, TAKT_PAGE_READ));
    cr_assert_eq(memory.pages.trouble, TAKT_PAGES_DAMAGED);
    drop(&memory, 0, 99, true);
    cr_assert_eq(memory.pages.trouble, TAKT_PAGES_FINE, "a new call");
    cr_assert_eq(takt_memory_pages_count(&memory), 0);
    *page(&memory, 0, 0, TAKT_PAGE_NEW) = 1;
    cr_assert_eq(takt_memory_pages_count(&memory), 1, "an empty book begins anywhere");
    takt_memory_pages_close(&memory);
}

Test(memory_pages, a_ring_turns_without_growing)
{
    takt_memory_pages memory;

    takt_memory_pages_init(&memory);
    for (int64_t n = 0; n < 1000; n++) {
        *page(&memory, 0, n, TAKT_PAGE_NEW) = n;
        drop(&memory, 0, n - 2, true);
        for (int64_t i = n < 2 ? 0 : n - 2; i <= n; i++)
            cr_assert_eq(*page(&memory, 0, i, TAKT_PAGE_READ), i);
    }
    cr_assert_eq(memory.books[0].capacity, 4);
    takt_memory_pages_close(&memory);
}

Test(memory_pages, what_cannot_be_is_damage)
{
    static const struct {
        int book;
        int64_t number;
        takt_page_use use;
    } rows[] = {
        {1, 0, TAKT_PAGE_READ}, {0, 4, TAKT_PAGE_READ}, {0, 8, TAKT_PAGE_CHANGE},
        {0, 9, TAKT_PAGE_NEW},  {0, 4, TAKT_PAGE_NEW},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_memory_pages memory;
        takt_memory_pages_init(&memory);
        for (int64_t n = 5; n < 8; n++)
            page(&memory, 0, n, TAKT_PAGE_NEW);
        cr_expect_null(page(&memory, rows[i].book, rows[i].number, rows[i].use), "row %zu", i);
        cr_expect_eq(memory.pages.trouble, TAKT_PAGES_DAMAGED, "row %zu", i);
        memory.pages.clear(&memory.pages);
        cr_expect_eq(memory.pages.trouble, TAKT_PAGES_FINE);
        cr_expect_eq(takt_memory_pages_count(&memory), 0);
    }
}

Test(memory_pages, copies_are_of_their_own)
{
    takt_memory_pages memory, copy;

    takt_memory_pages_init(&memory);
    takt_memory_pages_init(&copy);
    for (int64_t n = 7; n < 17; n++)
        *page(&memory, 2, n, TAKT_PAGE_NEW) = n;
    memory.pages.taken = 4;
    takt_memory_pages_copy(&copy, &memory);
    cr_assert_eq(takt_memory_pages_count(&copy), 10);
    cr_assert_eq(copy.pages.taken, 4);
    *page(&copy, 2, 16, TAKT_PAGE_CHANGE) = 0;
    *page(&copy, 2, 17, TAKT_PAGE_NEW) = 17;
    cr_assert_eq(*page(&memory, 2, 16, TAKT_PAGE_READ), 16);
    cr_assert_eq(takt_memory_pages_count(&memory), 10);
    takt_memory_pages_close(&memory);
    cr_assert_eq(*page(&copy, 2, 7, TAKT_PAGE_READ), 7);
    takt_memory_pages_close(&copy);
}

Test(memory_pages, books_are_freed_when_that_is_kept)
{
    takt_memory_pages memory;

    takt_memory_pages_init(&memory);
    memory.pages.taken = 3;
    memory.pages.freed = 1;
    takt_memory_pages_end(&memory, false);
    cr_assert_eq(memory.pages.taken, 3);
    cr_assert_eq(memory.pages.freed, 0);
    memory.pages.freed = 1;
    takt_memory_pages_end(&memory, true);
    cr_assert_eq(memory.pages.taken, 2);
}
