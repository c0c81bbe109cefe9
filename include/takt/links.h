/*
 * takt/links.h: the links that lie inside the caller's structs, so that waiting never allocates.
 * Private to the library; here because a compiler must know their size.
 */
#ifndef TAKT_LINKS_H
#define TAKT_LINKS_H

typedef struct takt_link { /* in a ring */
    struct takt_link *next, *previous;
} takt_link;

typedef struct takt_node { /* in a heap */
    struct takt_node *child, *next, *previous;
} takt_node;

#endif
