/*
 * checker_rules.c: the valid rules, and each slot against them: promises 1 (never over), 5 (nothing
 * is wasted) and 6 (exact: neither a microsecond earlier nor later than the rules say).
 */
#include "checker.h"

#include <string.h>

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- which numbers are in force -------------------------------------------------------------- */

/* A bucket of 3 per 10 ms is one of 300/s; the windows of the two are others. */
static bool same_numbers(const takt_rule *a, const takt_rule *b)
{
    return definition_kind_of(a->algorithm) == definition_kind_of(b->algorithm) &&
           a->unit == b->unit && a->burst == b->burst && a->align == b->align &&
           ((a->period_us == b->period_us && a->guard_us == b->guard_us) ||
            definition_kind_of(a->algorithm) == DEFINED_BUCKET) &&
           (wide)a->limit * (10000 - a->headroom_bp) * (b->period_us + b->guard_us) ==
               (wide)b->limit * (10000 - b->headroom_bp) * (a->period_us + a->guard_us);
}

/* Each new rule continues an old one of its kind: the one with the same numbers, if there is
 * one. */
static void find_predecessors(const definition *old, int old_count, const takt_numbers *numbers,
                              int before[])
{
    unsigned used = 0;

    for (int i = 0; i < numbers->rule_count; i++) {
        before[i] = -1;
        for (int j = 0; j < old_count && before[i] < 0; j++)
            if (!(used >> j & 1) && same_numbers(&old[j].rule, &numbers->rules[i]))
                before[i] = j;
        used |= before[i] < 0 ? 0 : 1U << before[i];
    }
    for (int i = 0; i < numbers->rule_count; i++)
        for (int j = 0; j < old_count && before[i] < 0; j++)
            if (!(used >> j & 1) && old[j].rule.unit == numbers->rules[i].unit &&
                old[j].kind == definition_kind_of(numbers->rules[i].algorithm)) {
                before[i] = j;
                used |= 1U << j;
            }
}

/* The rules that go are as from rest then, at the latest. */
static int64_t rest_of_gone(const definition *old, int old_count, const takt_numbers *numbers,
                            const int before[], int64_t now_us)
{
    int64_t rest_us = now_us;
    unsigned used = 0;

    for (int i = 0; i < numbers->rule_count; i++)
        used |= before[i] < 0 ? 0 : 1U << before[i];
    for (int j = 0; j < old_count; j++)
        if (!(used >> j & 1))
            rest_us = later(rest_us, later(definition_rest_at(&old[j]), old[j].vague_until_us));
    return rest_us < now_us + TAKT_PAUSE_MAX_US ? rest_us : now_us + TAKT_PAUSE_MAX_US;
}

static void change_numbers(checker *self, const takt_numbers *numbers, int64_t now_us)
{
    definition old[TAKT_RULES_MAX];
    int old_count = self->numbers.rule_count, before[TAKT_RULES_MAX];
    int64_t begins_us;

    memcpy(old, self->rules, sizeof old);
    memset(self->rules, 0, sizeof self->rules);
    find_predecessors(old, old_count, numbers, before);
    begins_us = rest_of_gone(old, old_count, numbers, before, now_us);
    for (int i = 0; i < numbers->rule_count; i++) {
        definition *rule = &self->rules[i];
        definition_open(rule, &numbers->rules[i]);
        if (before[i] >= 0 && same_numbers(&old[before[i]].rule, &rule->rule))
            definition_copy(rule, &old[before[i]]);
        else if (!self->known)
            continue; /* a fresh ledger begins as from rest */
        else if (before[i] >= 0)
            definition_follow(rule, &old[before[i]], now_us);
        else
            definition_begin_late(rule, now_us, begins_us);
    }
    for (int i = 0; i < TAKT_RULES_MAX; i++)
        definition_close(&old[i]);
    self->numbers = *numbers;
    for (int i = 0; i < self->fleet->worker_count && self->known; i++)
        memset(self->workers[i].places, 0, sizeof self->workers[i].places); /* told anew */
    self->start_count = 0;
    checker_pace_vague(self);
    checker_brake_off(self);
    self->capacity = TAKT_NEVER;
    for (int i = 0; i < numbers->rule_count; i++) {
        int64_t capacity = definition_capacity(&self->rules[i]);
        if (self->rules[i].rule.unit != TAKT_UNIT_REQUESTS)
            self->capacity = capacity < self->capacity ? capacity : self->capacity;
    }
    if (self->capacity_min == 0 || self->capacity < self->capacity_min)
        self->capacity_min = self->capacity;
}

/* Of one revision the first rules stay valid until no worker has stated them for so long. Returns
 * whether a caller's are valid from now on. */
static bool contests(checker *self, const takt_numbers *numbers, int64_t now_us)
{
    if (takt_numbers_same(&self->numbers, numbers)) {
        self->stated_us = now_us;
        if (self->contested_us > now_us || self->contested_us + TAKT_CONTEST_US < now_us)
            self->contested_us = 0;
        return false;
    }
    if (self->contested_us == 0 || self->stated_us > now_us)
        self->stated_us = now_us;
    self->contested_us = now_us;
    return self->stated_us + TAKT_CONTEST_US < now_us;
}

/* The numbers of the highest known revision are valid; a fresh ledger knows none. A peek does not
 * change the ledger. */
void checker_policy(checker *self, const takt_store_call *call)
{
    const takt_numbers *stated = call->numbers;
    bool changes = !self->known || stated->revision > self->numbers.revision;
    bool other, outdated;

    if (call->op == TAKT_OP_PEEK)
        return;
    if (!changes && stated->revision == self->numbers.revision)
        changes = contests(self, stated, checker_now(self));
    if (changes) {
        self->contested_us = 0;
        if (self->numbers.rule_count == 0 || self->numbers.revision != stated->revision ||
            !takt_numbers_same(&self->numbers, stated)) {
            checker_note(self, "revision %lld is in force", (long long)stated->revision);
            self->forgetful |= self->numbers.rule_count > 0;
            change_numbers(self, stated, checker_now(self));
        }
    }
    /* of one revision the other numbers are each caller's own, if the ledger's text has rules
     * alone, or these are the same */
    if (stated->revision == self->numbers.revision &&
        (stated->revision == 0 || takt_numbers_same(stated, &self->numbers))) {
        takt_numbers held = self->numbers;
        self->mixed |= self->calm && (stated->lookahead_us != held.lookahead_us ||
                                      stated->max_waiting != held.max_waiting);
        self->numbers = *stated;
        memcpy(self->numbers.rules, held.rules, sizeof held.rules);
        self->numbers.rule_count = held.rule_count;
    }
    if (call->op != TAKT_OP_CLAIM)
        return;
    other = stated->revision < self->numbers.revision || !takt_numbers_same(stated, &self->numbers);
    outdated = call->award->outdated & 1; /* of the outermost limit */
    if (outdated != other)
        checker_fail(self, 6,
                     "revision %lld is in force, and a worker of revision %lld is told otherwise",
                     (long long)self->numbers.revision, (long long)stated->revision);
    if (outdated && (call->award->newer[0].revision != self->numbers.revision ||
                     !takt_numbers_same(&call->award->newer[0], &self->numbers)))
        checker_fail(self, 6, "a worker learns revision %lld instead of %lld",
                     (long long)call->award->newer[0].revision, (long long)self->numbers.revision);
}

/* ---- slots ----------------------------------------------------------------------------------- */

int64_t checker_first(const definition *rules, int rule_count, int64_t t_us, int64_t cost)
{
    int64_t before_us;

    do {
        before_us = t_us;
        for (int i = 0; i < rule_count; i++)
            t_us = definition_earliest(&rules[i], t_us, cost);
    } while (t_us > before_us);
    return t_us;
}

int64_t checker_earliest(const checker *self, int64_t t_us, int64_t cost)
{
    return checker_first(self->rules, self->numbers.rule_count, later(t_us, self->blocked_until_us),
                         cost);
}

int64_t checker_vague_until(const checker *self)
{
    int64_t until_us = later(self->brake_vague_until_us, self->paced_until_us);

    for (int i = 0; i < self->numbers.rule_count; i++)
        until_us = later(until_us, self->rules[i].vague_until_us);
    return until_us;
}

/* One slot that was given. */
void checker_slot(checker *self, int64_t now_us, int64_t slot_us, int64_t cost)
{
    int64_t from_us = later(now_us, self->blocked_until_us);
    int64_t first_us = checker_first(self->rules, self->numbers.rule_count,
                                     later(from_us, checker_vague_until(self)), cost);

    if (slot_us < now_us || slot_us > now_us + self->numbers.lookahead_us)
        checker_fail(self, 1, "a slot %+lld us from now is not within the lookahead",
                     (long long)(slot_us - now_us));
    if (slot_us < self->blocked_until_us)
        checker_fail(self, 1, "a slot %lld us before the block ends",
                     (long long)(self->blocked_until_us - slot_us));
    for (int i = 0; i < self->numbers.rule_count; i++)
        if (!definition_permits(&self->rules[i], slot_us, cost))
            checker_fail(
                self, 1,
                "rule %d (%s) does not permit the slot at now%+lld us for %lld tokens; it does at "
                "now%+lld us",
                i, self->rules[i].rule.algorithm->name, (long long)(slot_us - now_us),
                (long long)cost,
                (long long)(definition_earliest(&self->rules[i], from_us, cost) - now_us));
    if (slot_us > first_us)
        checker_fail(self, 5, "the slot at now%+lld us could have been at now%+lld us",
                     (long long)(slot_us - now_us), (long long)(first_us - now_us));
    checker_pace_slot(self, now_us, slot_us, cost);
    checker_brake_slot(self, now_us, slot_us, cost);
    for (int i = 0; i < self->numbers.rule_count; i++)
        definition_take(&self->rules[i], slot_us, cost);
    self->slots++;
    if (self->calm && slot_us <= self->calm_until_us)
        self->calm_tokens += cost;
}

/* Slots that are not given in the end. */
void checker_slots_back(checker *self, int64_t now_us, const takt_run *unused)
{
    for (int i = 0; i < self->numbers.rule_count; i++)
        definition_hand_back(&self->rules[i], unused, now_us + self->numbers.lookahead_us,
                             self->set_back_us);
    checker_pace_slots_back(self, unused);
    checker_brake_slots_back(self, unused);
    self->handed_back_at_us = self->fleet->now_us;
    self->handed_back += unused->count;
    for (int64_t i = 0; self->calm && i < unused->count; i++)
        if (takt_run_slot(unused, i) <= self->calm_until_us)
            self->calm_tokens -= unused->cost;
}
