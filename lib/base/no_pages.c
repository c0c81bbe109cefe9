/*
 * no_pages.c: see no_pages.h.
 */
#include "base/no_pages.h"

static void *get(takt_pages *pages, int book, int64_t number, takt_page_use use)
{
    (void)book;
    (void)number;
    (void)use;
    return takt_pages_fail(pages, TAKT_PAGES_DAMAGED);
}

static void drop_below(takt_pages *pages, int book, int64_t number)
{
    (void)pages;
    (void)book;
    (void)number;
}

static void clear(takt_pages *pages)
{
    pages->trouble = TAKT_PAGES_FINE;
}

void takt_no_pages_init(takt_pages *pages)
{
    *pages = (takt_pages){.get = get, .drop_below = drop_below, .clear = clear};
}
