/*
 * checker_overflow.c: max_waiting.
 *
 * Of the present workers no more waiters are in line than allowed, as far as the ledger knows; no
 * waiter leaves while there is space; and `when_full` decides which waiters leave. It compares the
 * ledger's line with the line after the call before.
 */
#include <stdlib.h>
#include <string.h>

#include "checker.h"

/* The earlier state of a place, which is near its present index. */
static const takt_place *known(const checker *self, const takt_place *place, int at)
{
    int from = at > TAKT_PRIORITIES ? at - TAKT_PRIORITIES : 0;

    for (int i = 0; i < self->place_count; i++) {
        const takt_place *before = &self->places[(from + i) % self->place_count];
        if (before->worker == place->worker && before->priority == place->priority)
            return before;
    }
    return NULL;
}

static bool is_named(const takt_award *award, uint64_t worker)
{
    for (int i = 0; i < award->wake_count; i++)
        if (award->wakes[i] == worker)
            return true;
    return false;
}

/* No present waiter should have left before this one. */
static void check_victim(const checker *self, const takt_store_call *call, const takt_place *victim)
{
    const takt_ledger *ledger = checker_ledger(self);
    bool oldest = self->numbers.when_full == TAKT_WHEN_FULL_DROP_OLDEST;

    if (!is_named(call->award, victim->worker))
        checker_fail(self, 5, "a worker is not told that its waiters were dropped");
    for (int i = 0; i < ledger->line_count; i++) {
        const takt_place *place = &ledger->line[i];
        bool own = place->worker == self->caller;
        bool sooner = oldest ? place->turn < victim->turn : place->turn > victim->turn;
        if (place->waiting == 0 || place->aside || place == victim)
            continue;
        if (place->priority > victim->priority)
            checker_fail(self, 4, "waiters of priority %d are dropped before those of %d",
                         victim->priority, place->priority);
        if (place->priority == victim->priority && !own && sooner)
            checker_fail(self, 4, "the wrong ones of priority %d are dropped", place->priority);
        if (place->priority == victim->priority && own && !oldest)
            checker_fail(self, 4, "waiters are dropped for others of priority %d", place->priority);
    }
}

/* What the checker of turns believes to be wanted. */
static void note_drop(checker *self, const takt_place *before, const takt_place *after)
{
    for (int i = 0; i < self->fleet->worker_count; i++)
        if (self->fleet->workers[i].name == after->worker) {
            line_place *place = &self->workers[i].places[after->priority];
            place->wanting -= before->wanting - after->wanting;
            place->standing = place->standing && after->waiting > 0;
        }
}

static void check_claim(checker *self, const takt_store_call *call)
{
    const takt_ledger *ledger = checker_ledger(self);
    takt_when_full when_full = self->numbers.when_full;
    int64_t waiting = 0, dropped = 0, before_all = 0, max = self->numbers.max_waiting;

    for (int i = 0; i < ledger->line_count; i++) {
        const takt_place *place = &ledger->line[i], *before = known(self, place, i);
        waiting += place->aside && when_full != TAKT_WHEN_FULL_REFUSE ? 0 : place->waiting;
        if (place->worker == self->caller || !before || before->waiting <= place->waiting)
            continue;
        dropped += before->waiting - place->waiting;
        if (max == 0 || when_full == TAKT_WHEN_FULL_REFUSE)
            checker_fail(self, 5, "waiters of others are dropped");
        check_victim(self, call, place);
        note_drop(self, before, place);
    }
    if (dropped + call->award->refused > 0 && waiting < max)
        checker_fail(self, 5, "%lld leave, and only %lld are left of at most %lld",
                     (long long)(dropped + call->award->refused), (long long)waiting,
                     (long long)max);
    for (int i = 0; i < self->place_count; i++)
        before_all += self->places[i].waiting;
    /* with refuse accepted waiters stay, also if the bound is lower now */
    if (when_full == TAKT_WHEN_FULL_REFUSE &&
        (waiting <= before_all || call->award->refused == call->claim->newcomers))
        return;
    if (max > 0 && call->award->in_line != 0 && waiting > max)
        checker_fail(self, 7, "%lld wait, and at most %lld may", (long long)waiting,
                     (long long)max);
}

void checker_overflow(checker *self, const takt_store_call *call)
{
    const takt_ledger *ledger = checker_ledger(self);

    if (call->op == TAKT_OP_CLAIM && !call->award->stale && self->place_count != PLACES_UNKNOWN)
        check_claim(self, call);
    self->places = realloc(self->places, (size_t)(ledger->line_count + 1) * sizeof *self->places);
    if (!self->places)
        abort();
    memcpy(self->places, ledger->line, (size_t)ledger->line_count * sizeof *self->places);
    self->place_count = ledger->line_count;
}
