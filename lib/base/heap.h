/*
 * heap.h: an intrusive pairing heap (Fredman, Sedgewick, Sleator, Tarjan 1986). Adding is O(1);
 * removing any node is O(log n) amortised. No function allocates or recurses. The caller owns the
 * nodes and decides their order.
 */
#ifndef TAKT_BASE_HEAP_H
#define TAKT_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#include <takt/links.h>

/* True if a comes before b. */
typedef bool (*takt_heap_before)(const takt_node *a, const takt_node *b);

typedef struct takt_heap {
    takt_node *first; /* the node before all others; NULL: empty */
    takt_heap_before before;
} takt_heap;

void takt_heap_init(takt_heap *heap, takt_heap_before before);
void takt_heap_add(takt_heap *heap, takt_node *node);
void takt_heap_remove(takt_heap *heap, takt_node *node); /* node is in heap */

#endif
