/*
 * heap.c: joins and splits the trees of a pairing heap (heap.h). `previous` of a node is its left
 * sibling; for a first child it is the parent.
 */
#include "base/heap.h"

void takt_heap_init(takt_heap *heap, takt_heap_before before)
{
    heap->first = NULL;
    heap->before = before;
}

/* Joins two heaps. a and b are roots without siblings. */
static takt_node *join(const takt_heap *heap, takt_node *a, takt_node *b)
{
    if (!a || !b)
        return a ? a : b;
    if (heap->before(b, a)) {
        takt_node *swap = a;
        a = b;
        b = swap;
    }
    b->next = a->child;
    b->previous = a;
    if (a->child)
        a->child->previous = b;
    a->child = b;
    a->next = a->previous = NULL;
    return a;
}

/* Joins a row of siblings into one heap: first in pairs from the left, then the pairs from the
 * right. */
static takt_node *join_all(const takt_heap *heap, takt_node *row)
{
    takt_node *pairs = NULL, *joined = NULL;

    while (row) {
        takt_node *a = row, *b = row->next;
        row = b ? b->next : NULL;
        a->next = a->previous = NULL;
        if (b)
            b->next = b->previous = NULL;
        a = join(heap, a, b);
        a->next = pairs;
        pairs = a;
    }
    while (pairs) {
        takt_node *next = pairs->next;
        pairs->next = NULL;
        joined = join(heap, joined, pairs);
        pairs = next;
    }
    return joined;
}

void takt_heap_add(takt_heap *heap, takt_node *node)
{
    node->child = node->next = node->previous = NULL;
    heap->first = join(heap, heap->first, node);
}

void takt_heap_remove(takt_heap *heap, takt_node *node)
{
    takt_node *children = join_all(heap, node->child);

    if (node == heap->first) {
        heap->first = children;
    } else {
        if (node->previous->child == node)
            node->previous->child = node->next;
        else
            node->previous->next = node->next;
        if (node->next)
            node->next->previous = node->previous;
        heap->first = join(heap, heap->first, children);
    }
    node->child = node->next = node->previous = NULL;
}
