/*
 * table.c: a hash table with chains that splits or joins one bucket at a time (table.h).
 */
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

#include <takt/error.h>

#define BUCKETS_MIN 16

int takt_table_init(takt_table *table, uint64_t seed)
{
    takt_entry **buckets = calloc(BUCKETS_MIN, sizeof *buckets);

    if (!buckets)
        return TAKT_E_NOMEM;
    *table = (takt_table){buckets, BUCKETS_MIN, BUCKETS_MIN, 0, seed};
    return 0;
}

void takt_table_close(takt_table *table)
{
    free(table->buckets);
    *table = (takt_table){0};
}

/* Multiplies and folds eight bytes at a time. The multiplier is Knuth's (golden ratio). */
static uint64_t hash_of(const takt_table *table, const void *key, size_t size)
{
    const char *bytes = key;
    uint64_t hash = table->seed ^ size;

    while (size > 0) {
        uint64_t word = 0;
        size_t n = size < sizeof word ? size : sizeof word;
        memcpy(&word, bytes, n);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
        bytes += n;
        size -= n;
    }
    hash *= UINT64_C(0xd6e8feb86659fd93);
    return hash ^ hash >> 32;
}

/* The bucket of a hash. A hash that selects a bucket not yet in use is taken with one bit less. */
static takt_entry **bucket_of(const takt_table *table, uint64_t hash)
{
    size_t mask = BUCKETS_MIN - 1, at;

    while (mask + 1 < table->used)
        mask = mask << 1 | 1;
    at = hash & mask;
    if (at >= table->used)
        at &= mask >> 1;
    return &table->buckets[at];
}

/* The first entry of a chain that has the key. */
static takt_entry *first_with(takt_entry *chain, uint64_t hash, const void *key, size_t size)
{
    while (chain &&
           (chain->hash != hash || chain->size != size || memcmp(chain->key, key, size) != 0))
        chain = chain->next;
    return chain;
}

takt_entry *takt_table_find(const takt_table *table, const void *key, size_t size)
{
    uint64_t hash = hash_of(table, key, size);

    return first_with(*bucket_of(table, hash), hash, key, size);
}

takt_entry *takt_table_next(const takt_entry *entry)
{
    return first_with(entry->next, entry->hash, entry->key, entry->size);
}

static void link_entry(takt_table *table, takt_entry *entry)
{
    takt_entry **bucket = bucket_of(table, entry->hash);

    entry->next = *bucket;
    *bucket = entry;
}

/* Redistributes the entries of the bucket at `at` after `used` has changed. */
static void relink(takt_table *table, size_t at)
{
    takt_entry *entry = table->buckets[at];

    table->buckets[at] = NULL;
    while (entry) {
        takt_entry *next = entry->next;
        link_entry(table, entry);
        entry = next;
    }
}

/* The bucket that splits when `bucket` comes into use, and takes its entries back afterwards. */
static size_t sibling_of(size_t bucket)
{
    size_t bit = BUCKETS_MIN;

    while (bit << 1 <= bucket)
        bit <<= 1;
    return bucket & ~bit;
}

static void grow(takt_table *table)
{
    if (table->used == table->allocated) {
        takt_entry **buckets = realloc(table->buckets, 2 * table->allocated * sizeof *buckets);
        if (!buckets)
            return;
        table->buckets = buckets;
        table->allocated *= 2;
    }
    table->buckets[table->used++] = NULL;
    relink(table, sibling_of(table->used - 1));
}

static void shrink(takt_table *table)
{
    table->used--;
    relink(table, table->used);
    if (table->used * 4 <= table->allocated && table->allocated > BUCKETS_MIN) {
        takt_entry **buckets = realloc(table->buckets, table->allocated / 2 * sizeof *buckets);
        if (!buckets)
            return;
        table->buckets = buckets;
        table->allocated /= 2;
    }
}

void takt_table_add(takt_table *table, takt_entry *entry)
{
    entry->hash = hash_of(table, entry->key, entry->size);
    link_entry(table, entry);
    if (++table->count > table->used)
        grow(table);
}

void takt_table_remove(takt_table *table, takt_entry *entry)
{
    takt_entry **at = bucket_of(table, entry->hash);

    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    table->count--;
    if (table->used > BUCKETS_MIN && table->count < table->used / 2)
        shrink(table);
}

takt_entry *takt_table_any(const takt_table *table)
{
    if (table->count > 0)
        for (size_t i = 0; i < table->used; i++)
            if (table->buckets[i])
                return table->buckets[i];
    return NULL;
}
