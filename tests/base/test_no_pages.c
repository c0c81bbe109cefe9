/*
 * Pages of a text without its logs: none is available for any use, and clear() forgets the trouble.
 */
#include <criterion/criterion.h>

#include "base/no_pages.h"

Test(no_pages, have_no_page)
{
    takt_pages pages;

    takt_no_pages_init(&pages);
    cr_assert_eq(pages.trouble, TAKT_PAGES_FINE);
    for (int use = TAKT_PAGE_READ; use <= TAKT_PAGE_NEW; use++) {
        cr_assert_null(pages.get(&pages, 0, 1, (takt_page_use)use));
        cr_assert_eq(pages.trouble, TAKT_PAGES_DAMAGED);
        pages.clear(&pages);
        cr_assert_eq(pages.trouble, TAKT_PAGES_FINE);
    }
}

Test(no_pages, have_none_to_drop)
{
    takt_pages pages;

    takt_no_pages_init(&pages);
    pages.drop_below(&pages, TAKT_BOOKS_MAX - 1, 9);
    cr_assert_eq(pages.trouble, TAKT_PAGES_FINE);
    cr_assert_eq(pages.taken, 0);
}
