/*
 * ghost.c: see ghost.h.
 */
#include "scheduler/ghost.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 64

typedef struct takt_ghost_block {
    struct takt_ghost_block *next;
    takt_ghost ghosts[BLOCK_SIZE];
} takt_ghost_block;

static takt_ghost *ghost_of(takt_link *link)
{
    return TAKT_HOLDER(link, takt_ghost, permit.line);
}

static bool ends_sooner(const takt_node *a, const takt_node *b)
{
    return TAKT_HOLDER(a, takt_ghost, end)->ends_at_us <
           TAKT_HOLDER(b, takt_ghost, end)->ends_at_us;
}

void takt_shades_init(takt_shades *shades)
{
    *shades = (takt_shades){.now_us = 0};
    takt_list_init(&shades->tallies);
    takt_heap_init(&shades->ends, ends_sooner);
    takt_list_init(&shades->granted);
    takt_list_init(&shades->resting);
    takt_list_init(&shades->settling);
    takt_list_init(&shades->spare);
}

void takt_shades_close(takt_shades *shades)
{
    for (takt_link *at = shades->tallies.next, *next; at != &shades->tallies; at = next) {
        next = at->next;
        free(TAKT_HOLDER(at, takt_tally, link));
    }
    while (shades->blocks) {
        takt_ghost_block *block = shades->blocks;
        shades->blocks = block->next;
        free(block);
    }
}

static takt_tally *find(const takt_shades *shades, const char *limit)
{
    for (const takt_link *at = shades->tallies.next; at != &shades->tallies; at = at->next) {
        takt_tally *tally = TAKT_HOLDER(at, takt_tally, link);
        if (strcmp(tally->limit, limit) == 0)
            return tally;
    }
    return NULL;
}

const takt_tally *takt_shades_find(const takt_shades *shades, const char *limit)
{
    return find(shades, limit);
}

takt_tally *takt_shades_tally(takt_shades *shades, const char *limit)
{
    takt_tally *tally = find(shades, limit);

    if (tally)
        return tally;
    tally = calloc(1, sizeof *tally);
    if (!tally)
        return NULL;
    memcpy(tally->limit, limit, strlen(limit) + 1);
    takt_list_append(&shades->tallies, &tally->link);
    return tally;
}

static void add_block(takt_shades *shades)
{
    takt_ghost_block *block = calloc(1, sizeof *block);

    if (!block)
        return;
    block->next = shades->blocks;
    shades->blocks = block;
    for (int i = 0; i < BLOCK_SIZE; i++)
        takt_list_append(&shades->spare, &block->ghosts[i].permit.line);
}

takt_ghost *takt_ghost_new(takt_shades *shades, takt_tally *home)
{
    takt_ghost *ghost;

    if (home->ghosts >= TAKT_GHOSTS_MAX)
        return NULL;
    if (takt_list_empty(&shades->spare))
        add_block(shades);
    if (takt_list_empty(&shades->spare))
        return NULL;
    ghost = ghost_of(shades->spare.next); /* the one that has been gone for longest */
    takt_list_remove(&ghost->permit.line);
    *ghost = (takt_ghost){.number = ++shades->last_number,
                          .tally = home,
                          .home = home,
                          .work_us = TAKT_GHOST_UNKNOWN,
                          .ends_at_us = TAKT_NEVER,
                          .actual = TAKT_GHOST_UNKNOWN};
    takt_list_init(&ghost->permit.line);
    takt_list_init(&ghost->settle);
    home->ghosts++;
    shades->count++;
    return ghost;
}

void takt_ghost_free(takt_shades *shades, takt_ghost *ghost)
{
    ghost->home->ghosts--;
    shades->count--;
    takt_list_append(&shades->spare, &ghost->permit.line);
}

takt_ghost *takt_ghost_of(const takt_shade *shade)
{
    return shade->ghost && shade->ghost->number == shade->number ? shade->ghost : NULL;
}
