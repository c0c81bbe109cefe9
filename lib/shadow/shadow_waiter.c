/*
 * shadow_waiter.c: see shadow_waiter.h.
 */
#include "shadow/shadow_waiter.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 64

typedef struct takt_shadow_waiter_block {
    struct takt_shadow_waiter_block *next;
    takt_shadow_waiter shadow_waiters[BLOCK_SIZE];
} takt_shadow_waiter_block;

static takt_shadow_waiter *waiter_of(takt_link *link)
{
    return TAKT_HOLDER(link, takt_shadow_waiter, permit.line);
}

static bool ends_sooner(const takt_node *a, const takt_node *b)
{
    return TAKT_HOLDER(a, takt_shadow_waiter, end)->ends_at_us <
           TAKT_HOLDER(b, takt_shadow_waiter, end)->ends_at_us;
}

void takt_shadows_init(takt_shadows *shadows, takt_scheduler *scheduler)
{
    *shadows = (takt_shadows){.scheduler = scheduler};
    takt_list_init(&shadows->all_stats);
    takt_heap_init(&shadows->ends, ends_sooner);
    takt_list_init(&shadows->resting);
    takt_list_init(&shadows->settling);
    takt_list_init(&shadows->spare);
}

void takt_shadows_close(takt_shadows *shadows)
{
    for (takt_link *at = shadows->all_stats.next, *next; at != &shadows->all_stats; at = next) {
        next = at->next;
        free(TAKT_HOLDER(at, takt_shadow_stats, link));
    }
    while (shadows->blocks) {
        takt_shadow_waiter_block *block = shadows->blocks;
        shadows->blocks = block->next;
        free(block);
    }
}

static takt_shadow_stats *find(const takt_shadows *shadows, const char *limit)
{
    for (const takt_link *at = shadows->all_stats.next; at != &shadows->all_stats; at = at->next) {
        takt_shadow_stats *shadow_stats = TAKT_HOLDER(at, takt_shadow_stats, link);
        if (strcmp(shadow_stats->limit, limit) == 0)
            return shadow_stats;
    }
    return NULL;
}

const takt_shadow_stats *takt_shadows_find_stats(const takt_shadows *shadows, const char *limit)
{
    return find(shadows, limit);
}

takt_shadow_stats *takt_shadows_stats(takt_shadows *shadows, const char *limit)
{
    takt_shadow_stats *shadow_stats = find(shadows, limit);

    if (shadow_stats)
        return shadow_stats;
    shadow_stats = calloc(1, sizeof *shadow_stats);
    if (!shadow_stats)
        return NULL;
    memcpy(shadow_stats->limit, limit, strlen(limit) + 1);
    takt_list_append(&shadows->all_stats, &shadow_stats->link);
    return shadow_stats;
}

static void add_block(takt_shadows *shadows)
{
    takt_shadow_waiter_block *block = calloc(1, sizeof *block);

    if (!block)
        return;
    block->next = shadows->blocks;
    shadows->blocks = block;
    for (int i = 0; i < BLOCK_SIZE; i++)
        takt_list_append(&shadows->spare, &block->shadow_waiters[i].permit.line);
}

takt_shadow_waiter *takt_shadow_waiter_new(takt_shadows *shadows, takt_shadow_stats *home)
{
    takt_shadow_waiter *shadow_waiter;

    if (home->shadow_waiters >= TAKT_SHADOW_WAITERS_MAX)
        return NULL;
    if (takt_list_empty(&shadows->spare))
        add_block(shadows);
    if (takt_list_empty(&shadows->spare))
        return NULL;
    shadow_waiter = waiter_of(shadows->spare.next); /* the one unused for longest */
    takt_list_remove(&shadow_waiter->permit.line);
    *shadow_waiter = (takt_shadow_waiter){.number = ++shadows->last_number,
                                          .home = home,
                                          .work_us = TAKT_SHADOW_UNKNOWN,
                                          .ends_at_us = TAKT_NEVER,
                                          .used.of[TAKT_UNIT_TOKENS] = TAKT_SHADOW_UNKNOWN};
    takt_list_init(&shadow_waiter->permit.line);
    takt_list_init(&shadow_waiter->settle);
    home->shadow_waiters++;
    shadows->count++;
    return shadow_waiter;
}

void takt_shadow_waiter_free(takt_shadows *shadows, takt_shadow_waiter *shadow_waiter)
{
    shadow_waiter->home->shadow_waiters--;
    shadows->count--;
    takt_list_append(&shadows->spare, &shadow_waiter->permit.line);
}

takt_shadow_waiter *takt_shadow_waiter_of(const takt_shadow_ref *ref)
{
    return ref->shadow_waiter && ref->shadow_waiter->number == ref->number ? ref->shadow_waiter
                                                                           : NULL;
}
