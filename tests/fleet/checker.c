/*
 * checker.c: see checker.h.
 *
 * Checks the answers of the store: that a slot is for a claimed waiter, that a late claim is not
 * answered, and promise 7 (bounded). Slots are judged in checker_rules.c, turns in checker_turns.c,
 * the calm in checker_calm.c, the use of awards by workers in checker_workers.c.
 */
#include "checker.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SILENT_US (3 * TAKT_KEEPALIVE_US) /* a place is dropped after that */

void (*checker_on_failure)(void);

static int worker_named(const checker *self, uint64_t name)
{
    for (int i = 0; i < self->fleet->worker_count; i++)
        if (self->fleet->workers[i].name == name && !self->fleet->workers[i].dead)
            return i;
    return -1;
}

/* The ledger as the last call left it, instants from now. */
static void tell_ledger(const checker *self)
{
    int64_t now_us = checker_now(self);

    for (int i = 0; i < self->numbers.rule_count; i++)
        printf("  rule %d: %s %lld per %lld us, burst %lld, headroom %lld, guard %lld us\n", i,
               self->numbers.rules[i].algorithm->name, (long long)self->numbers.rules[i].limit,
               (long long)self->numbers.rules[i].period_us, (long long)self->numbers.rules[i].burst,
               (long long)self->numbers.rules[i].headroom_bp,
               (long long)self->numbers.rules[i].guard_us);
    printf("  lookahead %lld us, at most %lld waiting, when_full %d\n",
           (long long)self->numbers.lookahead_us, (long long)self->numbers.max_waiting,
           (int)self->numbers.when_full);
    for (int i = 0; i < checker_ledger(self)->line_count && i < 30; i++) {
        const takt_place *at = &checker_ledger(self)->line[i];
        int worker = worker_named(self, at->worker);
        printf(
            "  worker %d, priority %d: turn %lld, wants %lld, first %lld, again at now%+lld us%s\n",
            worker, at->priority, (long long)at->turn, (long long)at->wanting, (long long)at->need,
            (long long)(at->again_at_us - now_us), at->aside ? ", aside" : "");
    }
}

void checker_fail(const checker *self, int promise, const char *format, ...)
{
    va_list arguments;

    if (!timeline_kept)
        checker_on_failure();
    printf("promise %d is broken at %.6f: ", promise,
           (double)(self->fleet->now_us - self->fleet->began_us) / 1e6);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    tell_ledger(self);
    checker_on_failure();
    abort();
}

void checker_note(const checker *self, const char *format, ...)
{
    char text[160];
    va_list arguments;

    if (!timeline_kept)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (self->fleet->node_count > 1)
        timeline_note(self->fleet, "ledger %d: %s", self->ledger, text);
    else
        timeline_note(self->fleet, "%s", text);
}

static void *zeros(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory)
        abort();
    return memory;
}

void checker_open(checker *self, takt_fleet *fleet, int ledger, node_view *views)
{
    *self = (checker){.fleet = fleet, .ledger = ledger, .views = views};
    self->workers = zeros((size_t)fleet->worker_count, sizeof *self->workers);
    for (int i = 0; i < fleet->worker_count; i++)
        self->workers[i].node = NO_NODE;
}

void checker_close(checker *self)
{
    checker_caught_up(self);
    for (int i = 0; i < self->fleet->worker_count; i++)
        free(self->workers[i].hand);
    for (int i = 0; i < TAKT_RULES_MAX; i++) {
        definition_close(&self->rules[i]);
        definition_close(&self->greedy[i]);
    }
    free(self->starts);
    free(self->braked_slots);
    free(self->paced_slots);
    free(self->ghosts);
    free(self->free_since_us);
    free(self->workers);
    free(self->line);
    free(self->places);
    free(self->offers);
}

int64_t checker_now(const checker *self)
{
    return takt_fleet_ledger_clock(self->fleet, self->ledger);
}

const takt_ledger *checker_ledger(const checker *self)
{
    return takt_fleet_ledger(self->fleet, self->ledger);
}

static const takt_virtual_store *store(const checker *self)
{
    return &self->fleet->ledgers[self->ledger].store;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t slot_of(const takt_run *run, int64_t i)
{
    wide parts = (wide)run->first.us * run->whole + run->first.parts +
                 (wide)i * ((wide)run->step.us * run->whole + run->step.parts);

    return (int64_t)((parts + run->whole - 1) / run->whole);
}

/* The most urgent want that a slot is for. */
static takt_want *wanted(takt_want *wants, int want_count, int64_t cost, int64_t slot_us)
{
    for (int i = 0; i < want_count; i++)
        if (wants[i].cost == cost && wants[i].count > 0 && wants[i].latest_us >= slot_us)
            return &wants[i];
    return NULL;
}

/* A slot that its worker has given up stays taken, and is given to somebody else. */
static void note_offer(checker *self, const takt_store_call *call)
{
    const takt_offer *offer = &call->claim->offer;

    if (!call->award->taken)
        return;
    if (offer->cost == 0)
        checker_fail(self, 1, "an offer is taken that was not made");
    if (self->offer_count == self->offer_capacity) {
        self->offer_capacity = 2 * self->offer_capacity + 8;
        self->offers = realloc(self->offers, (size_t)self->offer_capacity * sizeof *self->offers);
        if (!self->offers)
            abort();
    }
    self->offers[self->offer_count++] = (hand_slot){.at_us = offer->slot_us, .cost = offer->cost};
    checker_note(self, "worker %d hands on its slot at now%+lld us for %d tokens",
                 worker_named(self, self->caller), (long long)(offer->slot_us - checker_now(self)),
                 (int)offer->cost);
}

/* Whether this is such a slot, which the ledger has no longer: a rule may give another one of the
 * same instant. */
static bool is_offered(checker *self, int64_t slot_us, int32_t cost)
{
    const takt_offers *kept = &checker_ledger(self)->offers;
    int found = -1, left = 0;

    for (int i = 0; i < kept->count; i++)
        left -= kept->slots[i].slot_us == slot_us && kept->slots[i].cost == cost;
    for (int i = 0; i < self->offer_count; i++)
        if (self->offers[i].at_us == slot_us && self->offers[i].cost == cost) {
            found = i;
            left++;
        }
    if (left <= 0)
        return false;
    self->offers[found] = self->offers[--self->offer_count];
    self->offered++;
    return true;
}

/* Checks each slot, and that a waiter wanted it. given: tokens by priority. Returns the tokens
 * taken from the room: those that no worker had handed on. */
static int64_t check_slots(checker *self, const takt_store_call *call,
                           int64_t given[TAKT_PRIORITIES])
{
    takt_want wants[TAKT_WANTS_MAX];
    int64_t taken = 0;

    note_offer(self, call);
    memcpy(wants, call->claim->wants, (size_t)call->claim->want_count * sizeof *wants);
    for (int i = 0; i < call->award->run_count; i++) {
        const takt_run *run = &call->award->runs[i];
        for (int64_t j = 0; j < run->count; j++) {
            int64_t slot_us = slot_of(run, j);
            takt_want *want = wanted(wants, call->claim->want_count, run->cost, slot_us);
            if (!want)
                checker_fail(
                    self, 1,
                    "the slot at now%+lld us for %d tokens is not for anything that was claimed",
                    (long long)(slot_us - checker_now(self)), (int)run->cost);
            want->count--;
            given[want->priority] += run->cost;
            if (is_offered(self, slot_us, run->cost))
                continue;
            checker_slot(self, checker_now(self), slot_us, run->cost);
            taken += run->cost;
        }
    }
    return taken;
}

/* ---- the line -------------------------------------------------------------------------------- */

/* A worker that is in line and has claimed within the time after which it counts as dead, or that
 * holds permits and is within its lease. */
static bool is_known(const checker *self, in_line *entry, int64_t now_us)
{
    if (entry->claimed_at_us + SILENT_US < now_us)
        entry->places = 0;
    if (entry->claimed_at_us + self->lease_us < now_us)
        entry->holds = false;
    return entry->places > 0 || entry->holds;
}

static in_line *find_in_line(checker *self, uint64_t name, int64_t now_us)
{
    int kept = 0;

    for (int i = 0; i < self->line_count; i++)
        if (is_known(self, &self->line[i], now_us))
            self->line[kept++] = self->line[i];
    self->line_count = kept;
    for (int i = 0; i < self->line_count; i++)
        if (self->line[i].name == name)
            return &self->line[i];
    if (self->line_count == self->line_capacity) {
        self->line_capacity = 2 * self->line_capacity + 8;
        self->line = realloc(self->line, (size_t)self->line_capacity * sizeof *self->line);
        if (!self->line)
            abort();
    }
    self->line[self->line_count] = (in_line){.name = name};
    return &self->line[self->line_count++];
}

static void check_text(const checker *self)
{
    size_t max = 64;
    int places = 0;

    for (int i = 0; i < self->line_count; i++)
        places += self->line[i].places;
    for (int i = 0; i < self->numbers.rule_count; i++)
        max += 256 +
               (self->rules[i].kind == DEFINED_LOG ? 16 * (size_t)self->numbers.rules[i].limit : 0);
    if (checker_ledger(self)->line_count > places)
        checker_fail(self, 7, "%d places in line, but only %d can be",
                     checker_ledger(self)->line_count, places);
    if (store(self)->size > max + (size_t)places * 128 + (size_t)self->line_count * 64)
        checker_fail(self, 7, "the ledger takes %zu bytes for %d places", store(self)->size,
                     places);
    if (store(self)->damaged > 0)
        checker_fail(self, 7, "the ledger's text cannot be read");
}

/* The first place of a line that is waited for. */
static const takt_place *head_of(const takt_place *line, int count)
{
    for (int i = 0; i < count; i++)
        if (!line[i].aside)
            return &line[i];
    return NULL;
}

/* Whether this claim asks for offers: once in a lookahead, for a worker that goes before others. */
static bool is_asked(checker *self, const takt_store_call *call)
{
    const takt_ledger *ledger = checker_ledger(self);
    bool less_urgent = false;

    if (ledger->offers.asked_at_us != checker_now(self) || self->asked_us == checker_now(self))
        return false;
    for (int i = 0; i < ledger->line_count; i++)
        less_urgent |= ledger->line[i].worker != self->caller &&
                       ledger->line[i].priority > call->claim->wants[0].priority;
    if (!less_urgent)
        checker_fail(self, 5, "workers are asked for slots, and nobody is less urgent");
    if (self->calm && self->asked_us >= self->calm_from_us &&
        checker_now(self) <= self->asked_us + self->lookahead_min_us)
        checker_fail(self, 7, "workers are asked for slots twice within a lookahead");
    self->asked_us = checker_now(self);
    return true;
}

/* Other workers are woken when a head leaves without the tokens that they left to it, and for
 * urgent work that wants their slots, and for nothing else. The head is not checked if a worker was
 * late by then, or if the ledger's line before the claim is unknown. */
static void check_news(checker *self, const takt_store_call *call, int64_t given)
{
    const takt_ledger *ledger = checker_ledger(self);
    const takt_place *was = head_of(self->places, self->known ? self->place_count : 0);
    const takt_place *is = head_of(ledger->line, ledger->line_count);
    int64_t needed = was && was->worker == self->caller && was->need > 1 ? was->need : 0;
    int64_t needs = is && is->worker == self->caller && is->need > 1 ? is->need : 0;
    bool others = false, asked = is_asked(self, call);

    if (self->place_count == PLACES_UNKNOWN)
        return;
    if (was && (was->again_at_us + self->numbers.lookahead_us < checker_now(self) ||
                was->expires_at_us < checker_now(self)))
        return;
    for (int i = 0; i < ledger->line_count; i++)
        others |= ledger->line[i].worker != self->caller;
    if (call->award->news != (asked || (others && needed > given && needed > needs)))
        checker_fail(self, 5, "a head that needed %lld is given %lld and needs %lld, %s",
                     (long long)needed, (long long)given, (long long)needs,
                     call->award->news ? "which is no news" : "and nobody hears of it");
}

static void check_claim(checker *self, const takt_store_call *call)
{
    in_line *entry = find_in_line(self, self->caller, checker_now(self));
    int64_t given[TAKT_PRIORITIES] = {0}, tokens = 0, taken;
    int worker = worker_named(self, self->caller);
    bool stale = (entry->places > 0 || entry->holds) && call->claim->seq <= entry->seq;

    if (stale && (call->award->run_count > 0 || !call->award->stale))
        checker_fail(self, 1, "claim %lld was answered after claim %lld",
                     (long long)call->claim->seq, (long long)entry->seq);
    if (!stale && call->award->stale)
        checker_fail(self, 5, "claim %lld was taken for a repeated one",
                     (long long)call->claim->seq);
    if (stale)
        return;
    taken = check_slots(self, call, given);
    entry->seq = call->claim->seq;
    entry->claimed_at_us = checker_now(self);
    entry->places = __builtin_popcount(call->award->in_line);
    entry->holds = self->concurrency > 0 && call->award->holding > 0;
    checker_permits_award(self, call, worker);
    for (int i = 0; i < TAKT_PRIORITIES; i++)
        tokens += given[i];
    if (self->calm && worker >= 0)
        checker_calm_call(self, worker, checker_now(self), tokens > 0);
    checker_note(self, "worker %d claims for %lld: %lld tokens, again at now%+lld us, in line %x",
                 worker, (long long)call->claim->waiting, (long long)tokens,
                 call->award->claim_again_at_us == TAKT_NEVER
                     ? -1LL
                     : (long long)(call->award->claim_again_at_us - checker_now(self)),
                 call->award->in_line);
    if (call->award->refused > 0 && self->numbers.max_waiting == 0)
        checker_fail(self, 5, "waiters are refused where there is no bound");
    if (call->award->refused > 0 && call->award->waiting < self->numbers.max_waiting)
        checker_fail(self, 5, "%lld waiters are refused, and only %lld are left of at most %lld",
                     (long long)call->award->refused, (long long)call->award->waiting,
                     (long long)self->numbers.max_waiting);
    if (call->award->blocked_until_us != self->blocked_until_us)
        checker_fail(self, 1, "a block until now%+lld us is told as one until now%+lld us",
                     (long long)(self->blocked_until_us - checker_now(self)),
                     (long long)(call->award->blocked_until_us - checker_now(self)));
    if (worker >= 0)
        checker_turn(self, call, worker, given);
    check_news(self, call, taken);
}

/* ---- the other calls ------------------------------------------------------------------------- */

static void check_try(checker *self, const takt_store_call *call)
{
    int64_t first_us =
        checker_first(self->rules, self->numbers.rule_count, checker_now(self), call->cost);

    checker_note(self, "try %lld: %s", (long long)call->cost,
                 call->status == 0 ? "granted" : "refused");
    if (call->status == 0) {
        checker_slot(self, checker_now(self), checker_now(self), call->cost);
        checker_try_turn(self, checker_now(self));
    } else if (checker_ledger(self)->line_count == 0 && self->blocked_until_us == 0 &&
               call->cost <= self->capacity && first_us <= checker_now(self) &&
               checker_vague_until(self) < checker_now(self))
        checker_fail(self, 5, "%lld tokens could have been taken at once", (long long)call->cost);
}

static void check_settle(checker *self, const takt_store_call *call)
{
    const takt_run *unused = call->data;

    if (unused) {
        checker_note(self, "%lld slots of %d are handed back, the first now%+lld us",
                     (long long)unused->count, (int)unused->cost,
                     (long long)(takt_run_slot(unused, 0) - checker_now(self)));
        checker_slots_back(self, checker_now(self), unused);
        return;
    }
    checker_note(self, "%lld tokens more were used", (long long)call->actual);
    for (int i = 0; i < self->numbers.rule_count; i++)
        definition_charge(&self->rules[i], checker_now(self), call->actual);
}

void checker_call(checker *self, uint64_t worker, const takt_store_call *call)
{
    self->calls++;
    self->caller = worker;
    self->known = self->known && checker_now(self) < self->expires_at_us;
    self->slowest_us = later(self->slowest_us,
                             2 * self->fleet->delay_max_us + 2 * self->fleet->timer_late_us + 2000);
    checker_block_over(self, checker_now(self));
    if (!self->known) {
        checker_brake_off(self);
        self->begun_us = checker_now(self);
    }
    checker_policy(self, call);
    for (int i = 0; i < self->numbers.rule_count && !self->known; i++)
        definition_begin(&self->rules[i], checker_now(self));
    for (int i = 0; i < self->numbers.rule_count; i++)
        definition_forgive(&self->rules[i], checker_now(self), self->numbers.lookahead_us);
    switch (call->op) {
    case TAKT_OP_CLAIM:
        check_claim(self, call);
        break;
    case TAKT_OP_TRY:
        check_try(self, call);
        break;
    case TAKT_OP_SETTLE:
        check_settle(self, call);
        break;
    case TAKT_OP_BLOCK:
        checker_note(self, "block for %lld us", (long long)call->for_us);
        checker_block_begins(self, checker_now(self), call->for_us);
        break;
    case TAKT_OP_PENALIZE:
        checker_brake_penalty(self, call);
        if (call->for_us > 0)
            checker_block_begins(self, checker_now(self), call->for_us);
        break;
    case TAKT_OP_UNBLOCK:
        checker_note(self, "unblock");
        self->forgetful = true;
        checker_block_ends(self, checker_now(self));
        break;
    case TAKT_OP_RESET:
        checker_note(self, "reset");
        self->forgetful = true;
        for (int i = 0; i < self->numbers.rule_count; i++)
            definition_rest(&self->rules[i]);
        checker_brake_off(self);
        if (self->blocked_until_us == 0) /* which the reset leaves */
            checker_pace_off(self);
        break;
    default:
        break;
    }
    checker_overflow(self, call);
    checker_brake_vague(self, checker_now(self));
    check_text(self);
    self->known = store(self)->size > 0;
    self->expires_at_us = store(self)->expires_at_us;
}

void checker_state_lost(checker *self)
{
    checker_note(self, "the store loses its state");
    checker_permits_vague(self);
    self->forgetful = true;
    for (int i = 0; i < self->numbers.rule_count; i++)
        definition_rest(&self->rules[i]);
    for (int i = 0; i < self->fleet->worker_count; i++)
        memset(self->workers[i].places, 0, sizeof self->workers[i].places);
    self->line_count = self->place_count = 0;
    self->blocked_until_us = 0;
    checker_pace_off(self);
    checker_brake_off(self);
    self->known = false;
}

void checker_clock_jumps(checker *self, int64_t was_us)
{
    self->forgetful = true; /* what was far ahead is near */
    checker_permits_vague(self);
    if (checker_now(self) >= was_us)
        return;
    self->set_back_us = later(self->set_back_us, was_us + self->numbers.lookahead_us);
    checker_brake_vague(self, was_us);
    checker_brake_off(self); /* the rate may come back twice for the same time */
    checker_pace_vague(self);
    /* what was over by then is still to come, and the ledger knows of it no more */
    for (int i = 0; i < self->numbers.rule_count; i++) {
        definition_lose(&self->rules[i], self->known ? self->begun_us : TAKT_NEVER);
        definition_blur(&self->rules[i], self->set_back_us + 2 * self->rules[i].period_us);
    }
}

void checker_quiet(checker *self)
{
    int64_t now_us = checker_now(self), last_us = now_us + SILENT_US;

    checker_unused(self);
    checker_permits_quiet(self);
    last_us = later(last_us, self->fence);
    for (int i = 0; i < self->numbers.rule_count; i++)
        last_us = later(last_us,
                        later(definition_rest_at(&self->rules[i]), self->rules[i].vague_until_us));
    last_us = later(later(last_us, self->paced_until_us), self->brake_vague_until_us);
    if (self->known && store(self)->expires_at_us > last_us)
        checker_fail(self, 7, "the ledger stays for %lld us, and could go after %lld us",
                     (long long)(store(self)->expires_at_us - now_us),
                     (long long)(last_us - now_us));
}
