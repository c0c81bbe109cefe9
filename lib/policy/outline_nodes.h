/*
 * outline_nodes.h: the values of a document in the order of the file, each with its path and its
 * position. outline.h creates the nodes.
 */
#ifndef TAKT_POLICY_OUTLINE_NODES_H
#define TAKT_POLICY_OUTLINE_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/outline.h"

typedef struct takt_node {
    uint32_t parent; /* the parent node; the root is its own parent */
    uint32_t index;  /* position in a sequence */
    const char *key; /* in a mapping: the schema's string; NULL in a sequence */
    uint32_t line, column;
} takt_node;

struct takt_outline {
    takt_node *nodes; /* the first is the root */
    uint32_t count, capacity;
    takt_outline_text *texts; /* in the order of the file */
    size_t text_count, text_capacity;
};

/* Appends a node and returns its number. 0, the number of the root: no memory. */
uint32_t takt_outline_add(takt_outline *outline, uint32_t parent, const char *key, uint32_t index,
                          uint32_t line, uint32_t column);

/* Keeps the text of a field that is a text or a mapping of texts; takes it over.  False: no memory,
 * and the text is freed. */
bool takt_outline_keep(takt_outline *outline, uint32_t node, char *text);

/* Writes the path of a node with a NUL, cut to size. The path of the root is empty. */
void takt_outline_path(const takt_outline *outline, uint32_t node, char *path, size_t size);

#endif
