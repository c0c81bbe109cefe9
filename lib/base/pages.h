/*
 * pages.h: the interface between the reader of a long log and the keeper of its pages. Pages are
 * numbered, have a fixed size and belong to one of TAKT_BOOKS_MAX books. memory_pages.h keeps pages
 * in memory; a store may keep them elsewhere.
 *
 * Only the reader knows the content of a page and which pages a book has. The reader remembers the
 * numbers, asks for a page when it needs it, and drops the pages below a number.
 */
#ifndef TAKT_BASE_PAGES_H
#define TAKT_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAKT_BOOKS_MAX 16   /* twice the rules of a limit: a call may have old and new rules */
#define TAKT_PAGE_SIZE 4080 /* with the header of LMDB, it fills one page of the system */

typedef enum takt_page_use {
    TAKT_PAGE_READ,
    TAKT_PAGE_CHANGE, /* as READ; will be written to */
    TAKT_PAGE_NEW     /* all zeros; will be written to */
} takt_page_use;

typedef enum takt_pages_trouble {
    TAKT_PAGES_FINE,
    TAKT_PAGES_DAMAGED, /* a page is missing or has wrong content */
    TAKT_PAGES_NOMEM
} takt_pages_trouble;

typedef struct takt_pages takt_pages;

struct takt_pages {
    /* Returns the bytes of a page, aligned for numbers. They are valid until the next call of get
     * or drop_below. NULL: the page is unavailable, and `trouble` has the reason. */
    void *(*get)(takt_pages *pages, int book, int64_t number, takt_page_use use);

    /* Drops the pages below `number`. */
    void (*drop_below)(takt_pages *pages, int book, int64_t number);

    /* Drops all pages and resets `trouble`. */
    void (*clear)(takt_pages *pages);

    unsigned taken;             /* bit b: book b is in use; kept by the reader */
    unsigned freed;             /* bit b: book b was freed in this call and is not yet reusable */
    takt_pages_trouble trouble; /* the first trouble; all decisions after it are void */
};

/* Notes trouble and returns NULL. */
static inline void *takt_pages_fail(takt_pages *pages, takt_pages_trouble trouble)
{
    if (pages->trouble == TAKT_PAGES_FINE)
        pages->trouble = trouble;
    return NULL;
}

#endif
