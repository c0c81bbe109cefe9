/*
 * checker_pace.c: blocks: no slot before their end; after that, for as long as they lasted and a
 * minute at most, one token and the tokens of the first rule's rate. The rules themselves continue
 * as if there had been no block.
 */
#include <stdlib.h>

#include "checker.h"

#define PACED_MAX_US INT64_C(60000000)

/* From the block's end on, as it is known now. */
static void pace(checker *self, int64_t ends_us)
{
    int64_t lasts_us = ends_us - self->paced_from_us;

    self->pace_begins_us = ends_us;
    self->paced_until_us = ends_us + (lasts_us < PACED_MAX_US ? lasts_us : PACED_MAX_US);
    self->paced_count = 0;
    self->pace_known = true;
}

void checker_block_begins(checker *self, int64_t now_us, int64_t for_us)
{
    self->blocks = true;
    if (now_us + for_us <= self->blocked_until_us)
        return;
    if (self->paced_until_us <= now_us || self->paced_from_us > now_us)
        self->paced_from_us = now_us;
    self->blocked_until_us = now_us + for_us;
    pace(self, self->blocked_until_us);
}

void checker_block_ends(checker *self, int64_t now_us)
{
    if (self->blocked_until_us > now_us)
        pace(self, now_us);
    self->blocked_until_us = 0;
}

void checker_block_over(checker *self, int64_t now_us)
{
    if (self->blocked_until_us <= now_us)
        self->blocked_until_us = 0;
}

void checker_pace_off(checker *self)
{
    self->pace_known = false;
    self->paced_until_us = 0;
    self->paced_count = 0;
}

/* The rate has changed: its slots are not checked. */
void checker_pace_vague(checker *self)
{
    self->pace_known = false;
}

static void note_slot(checker *self, int64_t slot_us, int64_t cost)
{
    if (self->paced_count == self->paced_capacity) {
        self->paced_capacity = 2 * self->paced_capacity + 64;
        self->paced_slots =
            realloc(self->paced_slots, (size_t)self->paced_capacity * sizeof *self->paced_slots);
        if (!self->paced_slots)
            abort();
    }
    self->paced_slots[self->paced_count++] = (definition_token){.at_us = slot_us, .cost = cost};
}

/* They are none of those given since. */
void checker_pace_slots_back(checker *self, const takt_run *unused)
{
    for (int64_t i = 0; i < unused->count; i++)
        for (int at = self->paced_count - 1; at >= 0; at--) {
            definition_token *slot = &self->paced_slots[at];
            if (slot->at_us == takt_run_slot(unused, i) && slot->cost == unused->cost) {
                slot->cost = 0;
                break;
            }
        }
}

void checker_pace_slot(checker *self, int64_t now_us, int64_t slot_us, int64_t cost)
{
    const definition *first = &self->rules[0];
    int64_t sum = 0;

    if (!self->pace_known || self->numbers.rule_count == 0 || slot_us >= self->paced_until_us)
        return;
    note_slot(self, slot_us, cost);
    for (int i = 0; i < self->paced_count; i++)
        if (self->paced_slots[i].at_us <= slot_us && self->paced_slots[i].cost > 0)
            sum += definition_amount(first, self->paced_slots[i].cost);
    if ((sum - 1) * first->span > (wide)(slot_us - self->pace_begins_us + 1) * first->tokens)
        checker_fail(
            self, 1,
            "%lld tokens are given until %lld us after a block, by the slot at now%+lld us",
            (long long)sum, (long long)(slot_us - self->pace_begins_us),
            (long long)(slot_us - now_us));
}
