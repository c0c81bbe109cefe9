/*
 * outline_nodes.h: the values of a document in the order of the file, each with its path and its
 * place.
 */
#ifndef TAKT_POLICY_OUTLINE_NODES_H
#define TAKT_POLICY_OUTLINE_NODES_H

#include <stddef.h>
#include <stdint.h>

#include "policy/outline.h"

typedef struct takt_node {
    uint32_t parent; /* the node it lies in; the root lies in itself */
    uint32_t index;  /* in a sequence */
    const char *key; /* in a mapping: the schema's own string; NULL in a sequence */
    uint32_t line, column;
} takt_node;

struct takt_outline {
    takt_node *nodes; /* the first is the root */
    uint32_t count, capacity;
};

/* Appends a node; returns its number, or 0, the root's, without memory. */
uint32_t takt_outline_add(takt_outline *outline, uint32_t parent, const char *key, uint32_t index,
                          uint32_t line, uint32_t column);

/* Writes a node's path with its NUL, cut to size; the root's is empty. */
void takt_outline_path(const takt_outline *outline, uint32_t node, char *path, size_t size);

#endif
