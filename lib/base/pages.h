/*
 * pages.h: where a log that is too long for a text is kept: numbered pages of a fixed size, in up
 * to TAKT_BOOKS_MAX books.  Decides how whoever reads a log and whoever keeps it talk to one
 * another; memory_pages.h keeps them in memory, a store may keep them elsewhere.
 *
 * What is in a page, and which pages a book has, is known to the reader alone: it remembers the
 * numbers, asks for a page when it needs one, and says from which number on pages are still of use.
 */
#ifndef TAKT_BASE_PAGES_H
#define TAKT_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAKT_BOOKS_MAX 16 /* twice as many as a limit has rules: old and new ones in one call */
#define TAKT_PAGE_SIZE                                                                             \
    4080 /* fills one page of the system's, with the head that LMDB puts before it */

typedef enum takt_page_use {
    TAKT_PAGE_READ,
    TAKT_PAGE_CHANGE, /* as READ; will be written to */
    TAKT_PAGE_NEW     /* all zeros; will be written to */
} takt_page_use;

typedef enum takt_pages_trouble {
    TAKT_PAGES_FINE,
    TAKT_PAGES_DAMAGED, /* a page that should be there is not, or is not what it should be */
    TAKT_PAGES_NOMEM
} takt_pages_trouble;

typedef struct takt_pages takt_pages;

struct takt_pages {
    /* A page's bytes, aligned for numbers, good until the next call of either function.  NULL where
     * it cannot be had: then `trouble` says why. */
    void *(*get)(takt_pages *pages, int book, int64_t number, takt_page_use use);

    /* Pages below `number` are of no use any more. */
    void (*drop_below)(takt_pages *pages, int book, int64_t number);

    /* None is of any use, and there is no trouble any more: everything begins anew. */
    void (*clear)(takt_pages *pages);

    unsigned taken;             /* bit b: book b is in use; kept by the reader */
    unsigned freed;             /* no longer, but not to be begun anew before the call is over */
    takt_pages_trouble trouble; /* the first; whatever was decided since then is void */
};

/* Notes trouble and returns NULL. */
static inline void *takt_pages_fail(takt_pages *pages, takt_pages_trouble trouble)
{
    if (pages->trouble == TAKT_PAGES_FINE)
        pages->trouble = trouble;
    return NULL;
}

#endif
