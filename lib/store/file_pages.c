/*
 * file_pages.c: see file_pages.h.
 */
#include "store/file_pages.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_SIZE   8
#define CAPACITY_STEP 8
#define ENTRY_SIZE    16 /* a page is cut after its last entry that is not all zeros */

/* name NUL book number.  The number's highest byte comes first, so that the records are in
 * order. */
static MDB_val page_name(const takt_file_pages *file, int book, int64_t number,
                         char bytes[TAKT_FILE_NAME_MAX])
{
    char *at = bytes + file->name_size;

    memcpy(bytes, file->name, file->name_size);
    *at++ = '\0';
    *at++ = (char)(book + 1);
    for (int i = NUMBER_SIZE - 1; i >= 0; i--)
        *at++ = (char)((uint64_t)number >> 8 * i);
    return (MDB_val){(size_t)(at - bytes), bytes};
}

static int64_t number_of(const MDB_val *name)
{
    const unsigned char *at = (const unsigned char *)name->mv_data + name->mv_size - NUMBER_SIZE;
    uint64_t number = 0;

    for (int i = 0; i < NUMBER_SIZE; i++)
        number = number << 8 | at[i];
    return (int64_t)number;
}

bool takt_file_pages_is_page(const MDB_val *name)
{
    const char *at = name->mv_data, *end = at + name->mv_size;

    for (int i = 0; i < 3; i++) {
        at = memchr(at, '\0', (size_t)(end - at));
        if (at == NULL)
            return false;
        at++;
    }
    return end - at == 1 + NUMBER_SIZE;
}

void takt_file_pages_pass(MDB_val *name, char bytes[TAKT_FILE_NAME_MAX])
{
    size_t size = name->mv_size - 1 - NUMBER_SIZE;

    memcpy(bytes, name->mv_data, size);
    bytes[size - 1] = '\1';
    *name = (MDB_val){size, bytes};
}

/* ---- pages in memory --------------------------------------------------------------------- */

static takt_file_page *find(const takt_file_pages *file, int book, int64_t number)
{
    for (int i = file->count - 1; i >= 0; i--)
        if (file->loaded[i].number == number && file->loaded[i].book == book)
            return &file->loaded[i];
    return NULL;
}

static takt_file_page *add(takt_file_pages *file, int book, int64_t number)
{
    takt_file_page *added;

    if (file->count == file->capacity) {
        size_t capacity = (size_t)file->capacity + CAPACITY_STEP;
        takt_file_page *grown = realloc(file->loaded, capacity * sizeof *grown);
        if (grown == NULL)
            return takt_pages_fail(&file->pages, TAKT_PAGES_NOMEM);
        file->loaded = grown;
        file->capacity += CAPACITY_STEP;
    }
    added = &file->loaded[file->count];
    if (file->count == file->allocated) {
        added->bytes = malloc(TAKT_PAGE_SIZE);
        if (added->bytes == NULL)
            return takt_pages_fail(&file->pages, TAKT_PAGES_NOMEM);
        file->allocated++;
    }
    file->count++;
    added->book = book;
    added->number = number;
    added->changed = false;
    memset(added->bytes, 0, TAKT_PAGE_SIZE);
    return added;
}

static takt_file_page *load(takt_file_pages *file, int book, int64_t number)
{
    char bytes[TAKT_FILE_NAME_MAX];
    MDB_val name = page_name(file, book, number, bytes), value;
    takt_file_page *loaded;
    int rc = file->cleared ? MDB_NOTFOUND : mdb_get(file->txn, file->dbi, &name, &value);

    if (rc != 0 && rc != MDB_NOTFOUND && file->failure == 0)
        file->failure = rc;
    if (rc != 0 || value.mv_size > TAKT_PAGE_SIZE || value.mv_size % ENTRY_SIZE != 0)
        return takt_pages_fail(&file->pages, TAKT_PAGES_DAMAGED);
    loaded = add(file, book, number);
    if (loaded != NULL)
        memcpy(loaded->bytes, value.mv_data, value.mv_size);
    return loaded;
}

static void *get(takt_pages *pages, int book, int64_t number, takt_page_use use)
{
    takt_file_pages *file = (takt_file_pages *)pages;
    takt_file_page *page = find(file, book, number);

    if (page == NULL)
        page = use == TAKT_PAGE_NEW ? add(file, book, number) : load(file, book, number);
    else if (use == TAKT_PAGE_NEW)
        memset(page->bytes, 0, TAKT_PAGE_SIZE);
    if (page == NULL)
        return NULL;
    page->changed |= use != TAKT_PAGE_READ;
    return page->bytes;
}

static void drop_below(takt_pages *pages, int book, int64_t number)
{
    takt_file_pages *file = (takt_file_pages *)pages;

    if (number > file->below[book])
        file->below[book] = number;
}

static void clear(takt_pages *pages)
{
    takt_file_pages *file = (takt_file_pages *)pages;

    file->count = 0;
    file->cleared = true;
    memset(file->below, 0, sizeof file->below);
    pages->trouble = TAKT_PAGES_FINE;
    pages->taken = pages->freed = 0;
}

/* ---- a call ------------------------------------------------------------------------------ */

void takt_file_pages_begin(takt_file_pages *file, MDB_txn *txn, MDB_dbi dbi, const MDB_val *name)
{
    file->pages = (takt_pages){.get = get, .drop_below = drop_below, .clear = clear};
    file->txn = txn;
    file->dbi = dbi;
    file->name = name->mv_data;
    file->name_size = name->mv_size;
    file->count = 0;
    file->cleared = file->expired = false;
    file->failure = 0;
    memset(file->below, 0, sizeof file->below);
}

void takt_file_pages_expire(takt_file_pages *file)
{
    clear(&file->pages);
    file->expired = true;
}

static bool is_zero(const void *bytes, size_t size)
{
    const char *at = bytes;

    return at[0] == 0 && memcmp(at, at + 1, size - 1) == 0;
}

static int write_page(const takt_file_pages *file, const takt_file_page *page)
{
    char bytes[TAKT_FILE_NAME_MAX];
    MDB_val name = page_name(file, page->book, page->number, bytes);
    MDB_val value = {TAKT_PAGE_SIZE, page->bytes};

    while (value.mv_size > ENTRY_SIZE &&
           is_zero((char *)page->bytes + value.mv_size - ENTRY_SIZE, ENTRY_SIZE))
        value.mv_size -= ENTRY_SIZE;
    return mdb_put(file->txn, file->dbi, &name, &value, 0);
}

/* Removes the pages of a book below a number.  The first of them is at the beginning of its
 * range. */
static int remove_below(const takt_file_pages *file, MDB_cursor *cursor, int book, int64_t below)
{
    char bytes[TAKT_FILE_NAME_MAX];
    MDB_val first = page_name(file, book, 0, bytes), name = first, value;
    size_t same = first.mv_size - NUMBER_SIZE;
    int rc = mdb_cursor_get(cursor, &name, &value, MDB_SET_RANGE);

    while (rc == 0 && name.mv_size == first.mv_size && memcmp(name.mv_data, bytes, same) == 0 &&
           number_of(&name) < below) {
        rc = mdb_cursor_del(cursor, 0);
        if (rc == 0)
            rc = mdb_cursor_get(cursor, &name, &value, MDB_NEXT);
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

int takt_file_pages_remove(MDB_cursor *cursor, const MDB_val *name)
{
    char bytes[TAKT_FILE_NAME_MAX];
    size_t size = name->mv_size + 1;
    MDB_val at = {size, bytes}, value;
    int rc;

    memcpy(bytes, name->mv_data, name->mv_size);
    bytes[name->mv_size] = '\0';
    rc = mdb_cursor_get(cursor, &at, &value, MDB_SET_RANGE);
    while (rc == 0 && at.mv_size > size && memcmp(at.mv_data, bytes, size) == 0) {
        rc = mdb_cursor_del(cursor, 0);
        if (rc == 0)
            rc = mdb_cursor_get(cursor, &at, &value, MDB_NEXT);
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

static int remove_dropped(takt_file_pages *file)
{
    MDB_val name = {file->name_size, (void *)file->name};
    MDB_cursor *cursor;
    bool any = file->cleared;
    int rc = 0;

    for (int book = 0; book < TAKT_BOOKS_MAX; book++)
        any |= file->below[book] > 0;
    if (!any)
        return 0;
    rc = mdb_cursor_open(file->txn, file->dbi, &cursor);
    if (rc != 0)
        return rc;
    if (file->cleared)
        rc = takt_file_pages_remove(cursor, &name);
    for (int book = 0; rc == 0 && book < TAKT_BOOKS_MAX; book++)
        if (file->below[book] > 0)
            rc = remove_below(file, cursor, book, file->below[book]);
    mdb_cursor_close(cursor);
    return rc;
}

int takt_file_pages_end(takt_file_pages *file, bool kept)
{
    int rc = file->failure;

    if (rc != 0 || !kept)
        return rc;
    rc = remove_dropped(file);
    for (int i = 0; rc == 0 && i < file->count; i++) {
        const takt_file_page *page = &file->loaded[i];
        if (page->changed && page->number >= file->below[page->book])
            rc = write_page(file, page);
    }
    return rc;
}

void takt_file_pages_free(takt_file_pages *file)
{
    for (int i = 0; i < file->allocated; i++)
        free(file->loaded[i].bytes);
    free(file->loaded);
    *file = (takt_file_pages){0};
}
