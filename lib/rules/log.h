/*
 * log.h: the slots of a sliding log, from the oldest that still counts to the latest.  This file
 * decides how a log is stored in pages; sliding_log.c decides which entries count.
 *
 * An entry has a slot and the total of tokens taken since the log was begun, up to and including
 * this slot.  So "how many since" is one subtraction, and a binary search finds both a time and a
 * number.  Entries take 16 bytes.  The latest is part of the head; the others are in pages and
 * never move.  To read the oldest or the latest entries of a long log takes one page.  Returned
 * tokens change the totals from their entry on.
 *
 * Running totals are kept modulo TAKT_LOG_WRAP: only differences between entries that count are
 * used.
 */
#ifndef TAKT_CORE_LOG_H
#define TAKT_CORE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pages.h"

#define TAKT_LOG_WRAP         (INT64_C(1) << 50)
#define TAKT_LOG_BACK_MAX     1000 /* entries that taking back changes: a whole server waits */
#define TAKT_LOG_PAGE_ENTRIES (TAKT_PAGE_SIZE / 16)

typedef struct takt_log_entry {
    int64_t at_us;
    int64_t total; /* running total */
} takt_log_entry;

/* The head: all that is known without a page.  As zeros: empty, and in no book. */
typedef struct takt_log {
    int64_t first;   /* number of the oldest entry that counts; page = number / entries of a page */
    int64_t next;    /* number of the latest, which is here */
    int64_t before;  /* running total before `first`: what no longer counts */
    int64_t total;   /* running total */
    int64_t last_us; /* slot of the latest; 0: none yet */
    int64_t full_us; /* at this instant the rule was as full as can be; 0: nothing is known */
    int64_t full_at; /* running total then */
    int book;        /* where its pages are, 1 to TAKT_BOOKS_MAX; 0: it has none */
} takt_log;

/* Tokens that count. */
int64_t takt_log_held(const takt_log *log);

/* Tokens from a running total to another. */
static inline int64_t takt_log_between(int64_t from, int64_t to)
{
    return (to - from) & (TAKT_LOG_WRAP - 1);
}

/* Takes tokens at a slot that is not before the latest. */
void takt_log_append(takt_log *log, takt_pages *pages, int64_t at_us, int64_t tokens);

/* Takes back up to so many tokens of those taken at a slot; where other entries count one of them
 * stays, for entries are of some tokens.  None where more than TAKT_LOG_BACK_MAX entries are later.
 */
void takt_log_take_back(takt_log *log, takt_pages *pages, int64_t at_us, int64_t tokens);

/* Lets go of the entries up to and including at_us. */
void takt_log_drop(takt_log *log, takt_pages *pages, int64_t at_us);

/* Lets go of everything, also of the book. */
void takt_log_clear(takt_log *log, takt_pages *pages);

/* The slot at which the n-th token of those that count was taken, 1 <= n <= held. */
int64_t takt_log_slot_of(const takt_log *log, takt_pages *pages, int64_t n);

/* How many of those that count were taken up to and including at_us. */
int64_t takt_log_count_to(const takt_log *log, takt_pages *pages, int64_t at_us);

#endif
