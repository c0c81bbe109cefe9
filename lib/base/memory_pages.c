/*
 * memory_pages.c: a ring of pages for each book (memory_pages.h). Rings grow and shrink with the
 * range of page numbers.
 */
#include "base/memory_pages.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_FIRST 4

/* Iterates over the books. There are none before the first page. */
#define EACH_BOOK(memory, book)                                                                    \
    for (takt_memory_book *book = (memory)->books;                                                 \
         book && book < (memory)->books + TAKT_BOOKS_MAX; book++)

static void **slot(const takt_memory_book *book, int64_t number)
{
    return &book->ring[(size_t)number & (book->capacity - 1)];
}

static bool grow(takt_memory_book *book)
{
    takt_memory_book grown = *book;

    grown.capacity = book->capacity ? 2 * book->capacity : CAPACITY_FIRST;
    grown.ring = calloc(grown.capacity, sizeof *grown.ring);
    if (!grown.ring)
        return false;
    for (int64_t number = book->first; number < book->next; number++)
        *slot(&grown, number) = *slot(book, number);
    free(book->ring);
    *book = grown;
    return true;
}

/* Appends a page. A page that exists, because an earlier call was not kept, is cleared. */
static void *append(takt_memory_pages *memory, int at, int64_t number)
{
    takt_memory_book *book;
    void *page;

    if (!memory->books)
        memory->books = calloc(TAKT_BOOKS_MAX, sizeof *memory->books);
    if (!memory->books)
        return takt_pages_fail(&memory->pages, TAKT_PAGES_NOMEM);
    book = &memory->books[at];
    if (book->first == book->next)
        book->first = book->next = number;
    if (number < book->first || number > book->next)
        return takt_pages_fail(&memory->pages, TAKT_PAGES_DAMAGED);
    if (number < book->next)
        return memset(*slot(book, number), 0, TAKT_PAGE_SIZE);
    if ((uint64_t)(book->next - book->first) == book->capacity && !grow(book))
        return takt_pages_fail(&memory->pages, TAKT_PAGES_NOMEM);
    page = calloc(1, TAKT_PAGE_SIZE);
    if (!page)
        return takt_pages_fail(&memory->pages, TAKT_PAGES_NOMEM);
    *slot(book, number) = page;
    book->next++;
    return page;
}

static void *get(takt_pages *pages, int at, int64_t number, takt_page_use use)
{
    takt_memory_pages *memory = (takt_memory_pages *)pages;

    if (use == TAKT_PAGE_NEW)
        return append(memory, at, number);
    if (!memory->books || number < memory->books[at].first || number >= memory->books[at].next)
        return takt_pages_fail(pages, TAKT_PAGES_DAMAGED);
    return *slot(&memory->books[at], number);
}

static void drop_below(takt_pages *pages, int at, int64_t number)
{
    takt_memory_book *books = ((takt_memory_pages *)pages)->books;

    if (books && number > books[at].below)
        books[at].below = number;
}

static void clear(takt_pages *pages)
{
    takt_memory_pages_close((takt_memory_pages *)pages);
}

void takt_memory_pages_init(takt_memory_pages *memory)
{
    *memory = (takt_memory_pages){.pages = {.get = get, .drop_below = drop_below, .clear = clear}};
}

void takt_memory_pages_end(takt_memory_pages *memory, bool kept)
{
    memory->pages.trouble = TAKT_PAGES_FINE;
    if (kept)
        memory->pages.taken &= ~memory->pages.freed;
    memory->pages.freed = 0;
    EACH_BOOK(memory, book)
    {
        for (; kept && book->first < book->next && book->first < book->below; book->first++)
            free(*slot(book, book->first));
        book->below = 0;
    }
}

void takt_memory_pages_copy(takt_memory_pages *to, const takt_memory_pages *from)
{
    EACH_BOOK(from, book)
    {
        int at = (int)(book - from->books);
        for (int64_t number = book->first; number < book->next; number++) {
            void *page = get(&to->pages, at, number, TAKT_PAGE_NEW);
            if (page)
                memcpy(page, *slot(book, number), TAKT_PAGE_SIZE);
        }
    }
    to->pages.taken = from->pages.taken;
}

void takt_memory_pages_close(takt_memory_pages *memory)
{
    EACH_BOOK(memory, book)
    {
        for (; book->first < book->next; book->first++)
            free(*slot(book, book->first));
        free(book->ring);
    }
    free(memory->books);
    takt_memory_pages_init(memory);
}

size_t takt_memory_pages_count(const takt_memory_pages *memory)
{
    size_t count = 0;

    EACH_BOOK(memory, book)
    count += (size_t)(book->next - book->first);
    return count;
}
