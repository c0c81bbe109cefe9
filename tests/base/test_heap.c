/*
 * The heap returns its nodes in order, also after nodes were removed in between, and does not
 * recurse.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/random.h"
#include "seed.h"

typedef struct item {
    int64_t value;
    bool inside;
    takt_node node;
} item;

static item *item_of(const takt_node *node)
{
    return TAKT_HOLDER(node, item, node);
}

static bool smaller(const takt_node *a, const takt_node *b)
{
    return item_of(a)->value < item_of(b)->value;
}

static int64_t take_first(takt_heap *heap)
{
    item *first = item_of(heap->first);

    takt_heap_remove(heap, heap->first);
    first->inside = false;
    return first->value;
}

Test(heap, gives_what_was_added_in_order)
{
    static const struct {
        int count;
        int64_t values[8];
    } rows[] = {
        {0, {0}},
        {1, {5}},
        {2, {1, 2}},
        {2, {2, 1}},
        {8, {1, 2, 3, 4, 5, 6, 7, 8}},
        {8, {8, 7, 6, 5, 4, 3, 2, 1}},
        {8, {3, 3, 3, 3, 3, 3, 3, 3}},
        {8, {4, 1, 4, -9, 8, 0, 8, -9}},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        item items[8];
        int64_t last = INT64_MIN;
        takt_heap heap;
        takt_heap_init(&heap, smaller);
        for (int i = 0; i < rows[row].count; i++) {
            items[i].value = rows[row].values[i];
            takt_heap_add(&heap, &items[i].node);
        }
        for (int i = 0; i < rows[row].count; i++) {
            int64_t value = take_first(&heap);
            cr_assert_leq(last, value, "row %zu", row);
            last = value;
        }
        cr_assert_null(heap.first);
    }
}

Test(heap, any_node_may_be_taken_out)
{
    enum { COUNT = 7 };
    for (int victim = 0; victim < COUNT; victim++) {
        item items[COUNT];
        takt_heap heap;
        takt_heap_init(&heap, smaller);
        for (int i = 0; i < COUNT; i++) {
            items[i].value = i;
            takt_heap_add(&heap, &items[i].node);
        }
        cr_assert_eq(take_first(&heap), 0); /* gives it some depth */
        takt_heap_add(&heap, &items[0].node);
        takt_heap_remove(&heap, &items[victim].node);
        for (int i = 0; i < COUNT; i++)
            if (i != victim)
                cr_assert_eq(take_first(&heap), i, "without %d", victim);
        cr_assert_null(heap.first);
    }
}

static int64_t min_inside(const item *items, int count)
{
    int64_t min = INT64_MAX;

    for (int i = 0; i < count; i++)
        if (items[i].inside && items[i].value < min)
            min = items[i].value;
    return min;
}

Test(heap, agrees_with_a_plain_search_whatever_is_done)
{
    enum { COUNT = 100, STEPS = 20000 };
    static item items[COUNT];
    uint64_t random = test_seed(1);
    takt_heap heap;

    takt_heap_init(&heap, smaller);
    for (int step = 0; step < STEPS; step++) {
        item *one = &items[takt_random_below(&random, COUNT)];
        if (one->inside) {
            takt_heap_remove(&heap, &one->node);
        } else {
            one->value = takt_random_below(&random, 50);
            takt_heap_add(&heap, &one->node);
        }
        one->inside = !one->inside;
        int64_t min = min_inside(items, COUNT);
        cr_assert_eq(heap.first ? item_of(heap.first)->value : INT64_MAX, min, "step %d", step);
    }
}

Test(heap, a_million_siblings_need_no_stack)
{
    enum { COUNT = 1000000 };
    item *items = calloc(COUNT, sizeof *items);
    takt_heap heap;

    cr_assert_not_null(items);
    takt_heap_init(&heap, smaller);
    for (int i = 0; i < COUNT; i++) { /* all become children of the first */
        items[i].value = i;
        takt_heap_add(&heap, &items[i].node);
    }
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(take_first(&heap), i);
    free(items);
}
