/*
 * table.h: an intrusive hash table with byte strings as keys. It grows and shrinks by one bucket at
 * a time (linear hashing: Litwin 1980), so no single call is slow. The caller owns the entries and
 * the keys.
 */
#ifndef TAKT_BASE_TABLE_H
#define TAKT_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

typedef struct takt_entry {
    struct takt_entry *next;
    const void *key; /* the holder's memory, unchanged while in a table */
    size_t size;
    uint64_t hash;
} takt_entry;

typedef struct takt_table {
    takt_entry **buckets;
    size_t allocated; /* a power of two */
    size_t used;      /* buckets in use */
    size_t count;     /* entries */
    uint64_t seed;    /* prevents chosen keys from colliding */
} takt_table;

int takt_table_init(takt_table *table, uint64_t seed); /* 0 or TAKT_E_NOMEM */
void takt_table_close(takt_table *table);              /* the entries are not touched */

/* An entry with that key; NULL: there is none. */
takt_entry *takt_table_find(const takt_table *table, const void *key, size_t size);

/* After the entry that takt_table_find has found: another one with an equal key; NULL: no more. */
takt_entry *takt_table_next(const takt_entry *entry);

/* Adds an entry, whose key and size are set. It never fails: without memory, chains get longer. */
void takt_table_add(takt_table *table, takt_entry *entry);
void takt_table_remove(takt_table *table, takt_entry *entry); /* entry is in table */

/* Any entry, to empty a table. NULL: the table is empty. */
takt_entry *takt_table_any(const takt_table *table);

#endif
