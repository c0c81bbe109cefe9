/*
 * checker_past.c: what was known of a ledger when its replica fell behind.  If the replica takes
 * its place, that is what the ledger knows from then on; workers know what they have heard since.
 * With replicas that must acknowledge they have heard of no slot since.
 */
#include <stdlib.h>
#include <string.h>

#include "checker.h"

static void *copy_of(const void *from, int count, size_t size)
{
    void *copy = malloc((size_t)count * size + 1);

    if (!copy)
        abort();
    if (count > 0)
        memcpy(copy, from, (size_t)count * size);
    return copy;
}

/* What belongs to the ledger and lies in memory of its own. */
static void copy_lists(checker *to, const checker *from)
{
    memset(to->rules, 0, sizeof to->rules);
    for (int i = 0; i < from->numbers.rule_count; i++)
        definition_copy(&to->rules[i], &from->rules[i]);
    to->line = copy_of(from->line, from->line_count, sizeof *from->line);
    to->line_capacity = from->line_count;
    to->paced_slots = copy_of(from->paced_slots, from->paced_count, sizeof *from->paced_slots);
    to->paced_capacity = from->paced_count;
    to->braked_slots = copy_of(from->braked_slots, from->braked_count, sizeof *from->braked_slots);
    to->braked_capacity = from->braked_count;
    to->offers = copy_of(from->offers, from->offer_count, sizeof *from->offers);
    to->offer_capacity = from->offer_count;
}

static void free_lists(checker *of)
{
    for (int i = 0; i < TAKT_RULES_MAX; i++)
        definition_close(&of->rules[i]);
    free(of->line);
    free(of->paced_slots);
    free(of->braked_slots);
    free(of->offers);
}

void checker_caught_up(checker *self)
{
    if (!self->past)
        return;
    free_lists(self->past);
    free(self->past);
    self->past = NULL;
}

void checker_lags(checker *self)
{
    checker_caught_up(self);
    self->past = malloc(sizeof *self->past);
    if (!self->past)
        abort();
    *self->past = *self;
    copy_lists(self->past, self);
    self->past_at_us = checker_now(self);
}

void checker_promoted(checker *self, int64_t was_us)
{
    checker *past = self->past, was = *self;

    if (past) {
        free_lists(self);
        *self = *past;
        free(past);
        self->past = NULL;
        /* what is not of the ledger */
        self->slowest_us = was.slowest_us;
        self->lookahead_min_us = was.lookahead_min_us;
        self->capacity_min = was.capacity_min;
        self->blocks = was.blocks;
        self->set_back_us = was.set_back_us;
        self->handed_back_at_us = was.handed_back_at_us;
        self->ghosts = was.ghosts;
        self->ghost_count = was.ghost_count;
        self->ghost_capacity = was.ghost_capacity;
        self->fence = was.fence;
        self->max_live = was.max_live;
        self->free_since_us = was.free_since_us;
        self->free_count = was.free_count;
        self->starts = was.starts;
        self->start_count = was.start_count;
        self->start_capacity = was.start_capacity;
        memcpy(self->greedy, was.greedy, sizeof was.greedy);
        self->places = was.places;
        self->place_count = PLACES_UNKNOWN;
        memcpy(self->leavers, was.leavers, sizeof was.leavers);
        self->leaver_count = was.leaver_count;
        self->handed_on = was.handed_on;
        self->losers = was.losers;
        self->offered = was.offered;
        self->calls = was.calls;
        self->slots = was.slots;
        self->fired = was.fired;
        self->left = was.left;
        self->handed_back = was.handed_back;
        for (int i = 0; i < self->fleet->worker_count; i++)
            memset(self->workers[i].places, 0, sizeof self->workers[i].places);
        for (int i = 0; i < self->numbers.rule_count; i++)
            definition_blur(&self->rules[i], was_us + self->numbers.lookahead_us);
    }
    checker_clock_jumps(self, was_us);
}
