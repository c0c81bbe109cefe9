/*
 * list.h: an intrusive doubly linked ring. The caller's structs contain the links, so queueing
 * never allocates. The head is a link, too; the head of an empty ring points at itself.
 */
#ifndef TAKT_BASE_LIST_H
#define TAKT_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include <takt/links.h>

/* The struct of `type` whose member `member` is the link `link`. */
#define TAKT_HOLDER(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void takt_list_init(takt_link *head)
{
    head->next = head->previous = head;
}

static inline bool takt_list_empty(const takt_link *head)
{
    return head->next == head;
}

static inline void takt_list_append(takt_link *head, takt_link *link)
{
    link->next = head;
    link->previous = head->previous;
    head->previous->next = link;
    head->previous = link;
}

/* Removes a link. The link points at itself afterwards, so removing it twice is harmless. */
static inline void takt_list_remove(takt_link *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
    takt_list_init(link);
}

/* Moves all links of `from` to the end of `to`. */
static inline void takt_list_move(takt_link *to, takt_link *from)
{
    if (takt_list_empty(from))
        return;
    from->next->previous = to->previous;
    to->previous->next = from->next;
    from->previous->next = to;
    to->previous = from->previous;
    takt_list_init(from);
}

#endif
