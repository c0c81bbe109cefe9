/*
 * memory_pages.h: keeps pages in memory. This file decides where pages are stored and when they are
 * freed: a dropped page is freed when the owner ends a call and keeps its result. pages.h
 * defines how a log uses pages.
 */
#ifndef TAKT_BASE_MEMORY_PAGES_H
#define TAKT_BASE_MEMORY_PAGES_H

#include "base/pages.h"

/* Pages with consecutive numbers. */
typedef struct takt_memory_book {
    void **ring;     /* pages: number n is at n % capacity */
    size_t capacity; /* a power of two; 0: no ring yet */
    int64_t first;   /* the lowest number */
    int64_t next;    /* the highest number + 1 */
    int64_t below;   /* pages with lower numbers are dropped */
} takt_memory_book;

typedef struct takt_memory_pages {
    takt_pages pages;
    takt_memory_book *books; /* TAKT_BOOKS_MAX of them; NULL before the first page */
} takt_memory_pages;

void takt_memory_pages_init(takt_memory_pages *memory);
void takt_memory_pages_close(takt_memory_pages *memory);

/* Ends a call. If its result is kept, the pages that it dropped are freed. */
void takt_memory_pages_end(takt_memory_pages *memory, bool kept);

/* Copies all pages of `from` to `to`, which is initialised and has no pages. The copy serves to try
 * out a state. Without memory, `to` has trouble TAKT_PAGES_NOMEM. */
void takt_memory_pages_copy(takt_memory_pages *to, const takt_memory_pages *from);

/* The number of pages in memory. */
size_t takt_memory_pages_count(const takt_memory_pages *memory);

#endif
