/*
 * The table finds all entries that were added and no others, while it grows and shrinks by one
 * bucket at a time.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/random.h"
#include "base/table.h"
#include "seed.h"

typedef struct item {
    takt_entry entry;
    char key[16];
    bool inside;
} item;

static void name(item *one, int number)
{
    snprintf(one->key, sizeof one->key, "key-%d", number);
    one->entry.key = one->key;
    one->entry.size = strlen(one->key);
}

Test(table, tells_keys_apart_by_bytes_and_length)
{
    static const struct {
        const char *key;
        size_t size;
    } keys[] = {{"", 0},           {"\0", 1},        {"\0\0", 2},     {"a", 1},
                {"a\0", 2},        {"a\0b", 3},      {"a\0c", 3},     {"abcdefgh", 8},
                {"abcdefgh\0", 9}, {"abcdefghi", 9}, {"Abcdefgh", 8}, {"abcdefgH", 8},
                {"abcdefg", 7}};
    enum { COUNT = sizeof keys / sizeof keys[0] };
    takt_entry entries[COUNT];
    takt_table table;

    cr_assert_eq(takt_table_init(&table, 7), 0);
    for (size_t i = 0; i < COUNT; i++) {
        cr_assert_null(takt_table_find(&table, keys[i].key, keys[i].size), "row %zu is not in yet",
                       i);
        entries[i].key = keys[i].key;
        entries[i].size = keys[i].size;
        takt_table_add(&table, &entries[i]);
    }
    cr_assert_eq(table.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        char copy[16]; /* found by content, not by address */
        memcpy(copy, keys[i].key, keys[i].size);
        cr_assert_eq(takt_table_find(&table, copy, keys[i].size), &entries[i], "row %zu", i);
    }
    takt_table_close(&table);
    takt_table_close(&table);
}

Test(table, entries_with_equal_keys_come_one_after_the_other)
{
    enum { COUNT = 300, EQUAL = 3 };
    static item items[COUNT];
    takt_table table;
    int found = 0;

    cr_assert_eq(takt_table_init(&table, 1), 0);
    for (int i = 0; i < COUNT; i++) {
        name(&items[i], i / EQUAL);
        takt_table_add(&table, &items[i].entry);
    }
    takt_table_remove(&table, &items[7].entry);
    for (takt_entry *at = takt_table_find(&table, "key-2", 5); at; at = takt_table_next(at)) {
        cr_expect_eq(memcmp(at->key, "key-2", 5), 0);
        found++;
    }
    cr_expect_eq(found, EQUAL - 1);
    cr_expect_null(takt_table_find(&table, "key-100", 7));
    takt_table_close(&table);
}

Test(table, finds_everything_at_every_size)
{
    enum { COUNT = 3000 };
    static item items[COUNT];
    takt_table table;

    cr_assert_eq(takt_table_init(&table, 1), 0);
    cr_assert_null(takt_table_any(&table));
    for (int i = 0; i < COUNT; i++) {
        name(&items[i], i);
        takt_table_add(&table, &items[i].entry);
        for (int j = i % 7; j <= i; j += 7)
            cr_assert_eq(takt_table_find(&table, items[j].key, strlen(items[j].key)),
                         &items[j].entry);
    }
    cr_assert_geq(table.used, COUNT, "chains stay short");
    for (int i = 0; i < COUNT; i++) {
        takt_table_remove(&table, &items[i].entry);
        cr_assert_null(takt_table_find(&table, items[i].key, strlen(items[i].key)));
        for (int j = i + 1 + i % 7; j < COUNT; j += 7)
            cr_assert_eq(takt_table_find(&table, items[j].key, strlen(items[j].key)),
                         &items[j].entry);
    }
    cr_assert_eq(table.count, 0);
    cr_assert_null(takt_table_any(&table));
    for (int i = 0; i < COUNT; i++) {
        takt_table_add(&table, &items[0].entry);
        takt_table_remove(&table, &items[0].entry);
    }
    cr_assert_leq(table.allocated, 32, "memory is given back bit by bit");
    takt_table_close(&table);
}

Test(table, agrees_with_a_plain_list_whatever_is_done)
{
    enum { COUNT = 500, STEPS = 50000 };
    static item items[COUNT];
    uint64_t random = test_seed(1);
    size_t inside = 0;
    takt_table table;

    cr_assert_eq(takt_table_init(&table, takt_random(&random)), 0);
    for (int step = 0; step < STEPS; step++) {
        /* now few are in, now many */
        int64_t reach = step / 5000 % 2 ? COUNT : 40;
        int number = (int)takt_random_below(&random, reach);
        item *one = &items[number];
        name(one, number);
        takt_entry *found = takt_table_find(&table, one->key, one->entry.size);
        cr_assert_eq(found, one->inside ? &one->entry : NULL, "step %d", step);
        if (one->inside)
            takt_table_remove(&table, &one->entry);
        else
            takt_table_add(&table, &one->entry);
        one->inside = !one->inside;
        inside = one->inside ? inside + 1 : inside - 1;
        cr_assert_eq(table.count, inside);
    }
    takt_table_close(&table);
}

Test(table, can_be_emptied_without_knowing_what_is_in_it)
{
    enum { COUNT = 200 };
    static item items[COUNT];
    takt_entry *entry;
    int taken = 0;
    takt_table table;

    cr_assert_eq(takt_table_init(&table, 1), 0);
    for (int i = 0; i < COUNT; i++) {
        name(&items[i], i);
        takt_table_add(&table, &items[i].entry);
    }
    for (; (entry = takt_table_any(&table)); taken++)
        takt_table_remove(&table, entry);
    cr_assert_eq(taken, COUNT);
    takt_table_close(&table);
}
