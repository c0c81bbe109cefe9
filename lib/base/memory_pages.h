/*
 * memory_pages.h: pages kept in memory.  Decides where they lie and when they are given up: what is
 * of no use any more goes when the owner says that a call is over and that its outcome is kept.
 */
#ifndef TAKT_BASE_MEMORY_PAGES_H
#define TAKT_BASE_MEMORY_PAGES_H

#include "base/pages.h"

/* A run of consecutive numbers. */
typedef struct takt_memory_book {
    void **ring;     /* of pages: number n is at n % capacity */
    size_t capacity; /* a power of two; 0: no ring yet */
    int64_t first;   /* the lowest number that is kept */
    int64_t next;    /* one past the highest */
    int64_t below;   /* numbers lower than that are to be given up */
} takt_memory_book;

typedef struct takt_memory_pages {
    takt_pages pages;
    takt_memory_book *books; /* TAKT_BOOKS_MAX, from the first page on */
} takt_memory_pages;

void takt_memory_pages_init(takt_memory_pages *memory);
void takt_memory_pages_close(takt_memory_pages *memory);

/* A call is over and its outcome is kept (then what it dropped is given up) or not. */
void takt_memory_pages_settle(takt_memory_pages *memory, bool kept);

/* Makes `to`, which is initialised and has no pages, the same as `from`, in pages of its own: for a
 * state that is tried out on a copy.  Without memory `to` is in trouble. */
void takt_memory_pages_copy(takt_memory_pages *to, const takt_memory_pages *from);

/* Pages in memory now. */
size_t takt_memory_pages_count(const takt_memory_pages *memory);

#endif
