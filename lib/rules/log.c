/*
 * log.c: searches, appends and drops the entries of a log (log.h). The algorithm decides which
 * tokens count; the store decides where the pages are (base/pages.h).
 */
#include "rules/log.h"

int64_t takt_log_held(const takt_log *log)
{
    return takt_log_between(log->before, log->total);
}

static takt_log_entry *entry_at(takt_pages *pages, int book, int64_t number, takt_page_use use)
{
    takt_log_entry *page = pages->get(pages, book - 1, number / TAKT_LOG_PAGE_ENTRIES, use);

    return page ? page + number % TAKT_LOG_PAGE_ENTRIES : NULL;
}

/* Reads an entry that counts. If the page is damaged or unavailable, returns the latest entry: the
 * search then ends, and its result is not used. */
static takt_log_entry entry(const takt_log *log, takt_pages *pages, int64_t number)
{
    const takt_log_entry last = {log->last_us, log->total};
    const takt_log_entry *found;

    if (number >= log->next)
        return last;
    found = entry_at(pages, log->book, number, TAKT_PAGE_READ);
    if (!found)
        return last;
    if (found->at_us < 0 || found->at_us >= log->last_us || found->total < 0 ||
        found->total == log->before ||
        takt_log_between(log->before, found->total) >= takt_log_held(log)) {
        takt_pages_fail(pages, TAKT_PAGES_DAMAGED);
        return last;
    }
    return *found;
}

/* The target of a search: the first entry with a running total of at least `tokens`, or later than
 * an instant. */
typedef struct sought {
    int64_t tokens; /* 0: search by instant */
    int64_t after_us;
} sought;

static bool is_found(const takt_log *log, takt_pages *pages, int64_t number, sought what)
{
    takt_log_entry looked_at = entry(log, pages, number);

    if (what.tokens > 0)
        return takt_log_between(log->before, looked_at.total) >= what.tokens;
    return looked_at.at_us > what.after_us;
}

/* The number of the first matching entry; next + 1 if there is none. Searches in growing steps from
 * the front, where the entry mostly is, then by halving. */
static int64_t seek(const takt_log *log, takt_pages *pages, sought what)
{
    int64_t low = log->first, high, step = 1;

    for (high = low; high <= log->next && !is_found(log, pages, high, what); step *= 2) {
        low = high + 1;
        high = low + step;
    }
    if (high > log->next)
        high = log->next + 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (is_found(log, pages, middle, what))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Drops all entries before `number`, which is an entry that counts or the one after the latest. */
static void drop_before(takt_log *log, takt_pages *pages, int64_t number)
{
    if (number == log->first)
        return;
    log->before = entry(log, pages, number - 1).total;
    if (number > log->next) /* the latest entry is dropped, too, and its number is used again */
        number = log->next;
    if (log->book > 0 && number / TAKT_LOG_PAGE_ENTRIES > log->first / TAKT_LOG_PAGE_ENTRIES)
        pages->drop_below(pages, log->book - 1, number / TAKT_LOG_PAGE_ENTRIES);
    log->first = number;
}

/* A free book; 0 if there is none. */
static int take_book(takt_pages *pages)
{
    for (int book = 0; book < TAKT_BOOKS_MAX; book++) {
        if (pages->taken & 1U << book)
            continue;
        pages->taken |= 1U << book;
        return book + 1;
    }
    takt_pages_fail(pages, TAKT_PAGES_NOMEM);
    return 0;
}

/* Moves the latest entry into its page, to make room in the head. */
static void put_away(takt_log *log, takt_pages *pages)
{
    bool begins = log->book == 0 || log->next % TAKT_LOG_PAGE_ENTRIES == 0;
    takt_log_entry *kept;

    if (log->book == 0 && (log->book = take_book(pages)) == 0)
        return;
    kept = entry_at(pages, log->book, log->next, begins ? TAKT_PAGE_NEW : TAKT_PAGE_CHANGE);
    if (kept)
        *kept = (takt_log_entry){log->last_us, log->total};
    log->next++;
}

void takt_log_append(takt_log *log, takt_pages *pages, int64_t at_us, int64_t tokens)
{
    if (at_us != log->last_us && takt_log_held(log) > 0)
        put_away(log, pages);
    log->last_us = at_us;
    log->total = (log->total + tokens) & (TAKT_LOG_WRAP - 1);
}

void takt_log_take_back(takt_log *log, takt_pages *pages, int64_t at_us, int64_t tokens)
{
    int64_t number, before, left;

    if (takt_log_held(log) == 0 || at_us > log->last_us)
        return;
    number = at_us == log->last_us ? log->next : seek(log, pages, (sought){.after_us = at_us - 1});
    if (log->next - number > TAKT_LOG_BACK_MAX || entry(log, pages, number).at_us != at_us)
        return;
    before = number == log->first ? log->before : entry(log, pages, number - 1).total;
    left = takt_log_between(before, entry(log, pages, number).total) - (log->first < log->next);
    tokens = tokens < left ? tokens : left;
    for (int64_t i = number; i < log->next && tokens > 0; i++) {
        takt_log_entry *later = entry_at(pages, log->book, i, TAKT_PAGE_CHANGE);
        if (later)
            later->total = (later->total - tokens) & (TAKT_LOG_WRAP - 1);
    }
    log->total = (log->total - tokens) & (TAKT_LOG_WRAP - 1);
}

void takt_log_drop(takt_log *log, takt_pages *pages, int64_t at_us)
{
    if (takt_log_held(log) == 0)
        return;
    if (log->last_us <= at_us)
        drop_before(log, pages, log->next + 1);
    else
        drop_before(log, pages, seek(log, pages, (sought){.after_us = at_us}));
}

void takt_log_clear(takt_log *log, takt_pages *pages)
{
    if (log->book > 0) {
        pages->drop_below(pages, log->book - 1, log->next / TAKT_LOG_PAGE_ENTRIES + 1);
        pages->freed |= 1U << (log->book - 1);
    }
    *log = (takt_log){0};
}

int64_t takt_log_slot_of(const takt_log *log, takt_pages *pages, int64_t n)
{
    return entry(log, pages, seek(log, pages, (sought){.tokens = n})).at_us;
}

int64_t takt_log_count_to(const takt_log *log, takt_pages *pages, int64_t at_us)
{
    int64_t number;

    if (takt_log_held(log) == 0)
        return 0;
    if (at_us >= log->last_us)
        return takt_log_held(log);
    number = seek(log, pages, (sought){.after_us = at_us});
    return number == log->first
               ? 0
               : takt_log_between(log->before, entry(log, pages, number - 1).total);
}
