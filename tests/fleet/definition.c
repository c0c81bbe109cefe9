/*
 * definition.c: see definition.h.
 */
#include "definition.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    definition_kind kind;
} kinds[] = {
    {"gcra", DEFINED_BUCKET},         {"token-bucket", DEFINED_BUCKET},
    {"leaky-bucket", DEFINED_BUCKET}, {"fixed-window", DEFINED_FIXED},
    {"sliding-log", DEFINED_LOG},     {"sliding-window", DEFINED_SLIDING},
};

definition_kind definition_kind_of(const takt_algorithm *algorithm)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, algorithm->name) == 0)
            return kinds[i].kind;
    abort(); /* an algorithm without a definition here */
}

static bool opens_by_use(const definition *self)
{
    return self->kind == DEFINED_FIXED && self->rule.align == TAKT_ALIGN_FIRST_USE;
}

static bool goes_by_the_clock(const takt_rule *rule)
{
    return definition_kind_of(rule->algorithm) == DEFINED_FIXED &&
           rule->align != TAKT_ALIGN_FIRST_USE;
}

int64_t definition_period(const takt_rule *rule)
{
    return rule->period_us + (goes_by_the_clock(rule) ? 0 : rule->guard_us);
}

void definition_open(definition *self, const takt_rule *rule)
{
    *self = (definition){.kind = definition_kind_of(rule->algorithm), .rule = *rule};
    self->tokens = (wide)rule->limit * (10000 - rule->headroom_bp);
    self->period_us = definition_period(rule);
    self->span = (wide)self->period_us * 10000;
}

void definition_close(definition *self)
{
    free(self->taken);
    free(self->takings);
    self->taken = NULL;
    self->takings = NULL;
}

void definition_rest(definition *self)
{
    self->told = self->min = self->max = 0;
    self->count = 0;
    self->opened_us = self->used = self->opened_before_us = self->used_before = 0;
    self->window_us = self->behind = self->held = self->unknown_until_us = 0;
    self->vague_until_us = 0;
    self->debt_count = 0;
    self->charged = false;
    definition_forget(self);
}

void definition_lose(definition *self, int64_t before_us)
{
    bool rested = self->told <= (wide)before_us * self->tokens;
    int old = 0;

    if (self->kind == DEFINED_BUCKET && before_us != TAKT_NEVER && rested &&
        self->max > (wide)before_us * self->tokens) {
        self->told = self->min = 0; /* it may owe more, and the ledger does not forget that */
        definition_forget(self);
        return;
    }
    if (before_us == TAKT_NEVER || (self->kind == DEFINED_BUCKET && rested)) {
        definition_rest(self);
        return;
    }
    while (old < self->count && self->taken[old].at_us < before_us)
        old++;
    self->count -= old;
    if (old > 0)
        memmove(self->taken, self->taken + old, (size_t)self->count * sizeof *self->taken);
    if (self->opened_us < before_us)
        self->opened_us = self->used = 0;
    if (self->opened_before_us < before_us)
        self->opened_before_us = self->used_before = 0;
    self->window_us = self->behind = self->held = 0;
}

void definition_blur(definition *self, int64_t until_us)
{
    int64_t vague_us = until_us + (self->kind == DEFINED_SLIDING ? 5 * self->period_us : 0);

    if (self->unknown_until_us < until_us)
        self->unknown_until_us = until_us;
    if (self->vague_until_us < vague_us)
        self->vague_until_us = vague_us;
}

static int64_t allowed(const definition *self)
{
    return (int64_t)(self->tokens / 10000);
}

int64_t definition_amount(const definition *self, int64_t cost)
{
    return self->rule.unit == TAKT_UNIT_REQUESTS ? 1 : cost;
}

int64_t definition_capacity(const definition *self)
{
    return self->kind == DEFINED_BUCKET ? self->rule.burst : allowed(self);
}

void definition_begin(definition *self, int64_t now_us)
{
    wide now = (wide)now_us * self->tokens;

    self->max = self->max > now ? self->max : now;
}

static void make_space(definition *self)
{
    if (self->count < self->capacity)
        return;
    self->capacity = 2 * self->capacity + 16;
    self->taken = realloc(self->taken, (size_t)self->capacity * sizeof *self->taken);
    if (!self->taken)
        abort();
}

void definition_copy(definition *to, const definition *from)
{
    definition copy = *from;

    copy.taken = to->taken;
    copy.capacity = to->capacity;
    copy.takings = to->takings;
    copy.taking_capacity = to->taking_capacity;
    copy.count = 0;
    *to = copy;
    definition_forget(to);
    for (int i = 0; i < from->count; i++) {
        make_space(to);
        to->taken[to->count++] = from->taken[i];
    }
}

static wide floor_of(wide a, wide b)
{
    return a / b - (a % b < 0);
}

static wide ceil_of(wide a, wide b)
{
    return a / b + (a % b > 0);
}

static wide larger(wide a, wide b)
{
    return a > b ? a : b;
}

/* ---- buckets: in any interval of length t at most burst + t / T ------------------------------ */

/* With slots in whole microseconds t is known to less than one of them. */
static bool bucket_permits(const definition *self, int64_t t_us, int64_t cost)
{
    wide taken = (cost - self->rule.burst) * self->span;

    return self->told + taken < ((wide)t_us + 1) * self->tokens &&
           self->min + taken <= (wide)t_us * self->tokens;
}

static int64_t bucket_earliest(const definition *self, int64_t t_us, int64_t cost)
{
    return (int64_t)larger(
        t_us, ceil_of(self->max + (cost - self->rule.burst) * self->span, self->tokens));
}

/* The earliest exact instant of a slot at t_us: the instant itself if it is known; a later slot
 * begins anew. */
static wide exact_instant(const definition *self, int64_t t_us)
{
    wide t = (wide)t_us * self->tokens;

    if (t_us > ceil_of(self->max, self->tokens))
        return t;
    if (self->min == self->max)
        return self->min;
    return larger(self->min, t - self->tokens);
}

static void bucket_take(definition *self, int64_t t_us, int64_t cost)
{
    wide min = exact_instant(self, t_us), t = (wide)t_us * self->tokens, amount = cost * self->span;

    /* where it owes more, the slot itself is known to a microsecond */
    definition_note(
        self, (definition_taking){t_us, cost, t, min > t ? t - self->tokens : min, amount, amount});
    self->told = larger(self->told, (wide)t_us * self->tokens) + cost * self->span;
    self->max = self->min == self->max ? min : larger(self->max, (wide)t_us * self->tokens);
    self->max += cost * self->span;
    self->min = min + cost * self->span;
}

/* After a jump of the clock the ledger may count as owed, and convert, all that time until then. */
static void vague_follow(definition *self, const definition *from, int64_t now_us)
{
    wide owed = (wide)(from->vague_until_us - now_us) * from->tokens;

    if (owed > 0)
        self->vague_until_us =
            now_us + (int64_t)ceil_of(ceil_of(owed * self->span, from->span), self->tokens);
}

/* Tokens owed under the old numbers are owed under the new ones. */
static void bucket_follow(definition *self, const definition *from, int64_t now_us)
{
    wide now = (wide)now_us * self->tokens;
    wide owed_told = from->told - (wide)now_us * from->tokens;
    wide owed_min = from->min - (wide)now_us * from->tokens;
    wide owed_max = from->max - (wide)now_us * from->tokens;
    wide rounding; /* the ledger may round up to a microsecond of either rate, and to a millionth of
                      a token */

    vague_follow(self, from, now_us);
    if (from->tokens == self->tokens && from->span == self->span) {
        self->told = from->told;
        self->min = from->min;
        self->max = from->max;
        definition_forget(self);
        return;
    }
    rounding = ceil_of(from->tokens * self->span, from->span) + ceil_of(self->span, 1000000) +
               2 * self->tokens;
    self->told = owed_told <= 0 ? 0 : now + floor_of(owed_told * self->span, from->span);
    self->min = owed_min <= 0 ? 0 : now + floor_of(owed_min * self->span, from->span);
    self->max = owed_max <= 0 ? 0 : now + ceil_of(owed_max * self->span, from->span) + rounding;
    /* of rounded slots, a fraction of a microsecond each is not owed */
    self->told = self->told < self->min ? self->told : self->min;
    definition_forget(self);
}

/* ---- windows: counts of taken tokens --------------------------------------------------------- */

/* All that was taken before that moment. */
static int64_t taken_before(const definition *self, int64_t at_us)
{
    int low = 0, high = self->count;

    while (low < high) {
        int middle = (low + high) / 2;
        if (self->taken[middle].at_us < at_us)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? self->count > 0 ? self->taken[0].before : 0
                    : self->taken[low - 1].before + self->taken[low - 1].cost;
}

static int64_t taken_within(const definition *self, int64_t from_us, int64_t before_us)
{
    return before_us > from_us ? taken_before(self, before_us) - taken_before(self, from_us) : 0;
}

void definition_add_up(definition *self, int from)
{
    for (int i = from; i < self->count; i++)
        if (i > 0)
            self->taken[i].before = self->taken[i - 1].before + self->taken[i - 1].cost;
}

/* What may begin late counts in the next window, too. */
static bool clock_permits(const definition *self, int64_t t_us, int64_t cost)
{
    int64_t start_us = t_us - t_us % self->period_us, end_us = start_us + self->period_us;
    int64_t guard_us = self->rule.guard_us;

    return taken_within(self, start_us - guard_us, end_us) + cost <= allowed(self) &&
           (t_us < end_us - guard_us ||
            taken_within(self, end_us - guard_us, end_us + self->period_us) + cost <=
                allowed(self));
}

/* What a sliding window holds back for tokens that were taken late in the one before: a quarter of
 * the limit may be over. */
static int64_t held_in(const definition *self, int64_t start_us)
{
    int64_t late = self->behind > self->held ? self->behind : self->held, taken;

    if (start_us <= self->window_us)
        return self->held;
    if (start_us > self->window_us + self->period_us)
        return 0;
    taken = taken_within(self, self->window_us, start_us);
    late = (late < taken ? late : taken) - (allowed(self) + 3) / 4;
    return late > 0 ? late : 0;
}

static bool window_permits(const definition *self, int64_t t_us, int64_t cost)
{
    int64_t period_us = self->period_us, start_us, previous, current;
    wide weighed;

    if (opens_by_use(self) && t_us < self->unknown_until_us)
        return true; /* it may have been opened at another instant */
    if (opens_by_use(self))
        return (t_us >= self->opened_us + period_us ? 0 : self->used) + cost <= allowed(self);
    if (self->kind == DEFINED_LOG)
        return taken_within(self, t_us - period_us + 1, t_us + period_us) + cost <= allowed(self);
    if (self->kind == DEFINED_FIXED)
        return clock_permits(self, t_us, cost);
    start_us = t_us - t_us % period_us;
    previous = taken_within(self, start_us - period_us, start_us);
    current = taken_within(self, start_us, start_us + period_us) + cost;
    weighed = (wide)previous * (start_us + period_us - t_us) + (wide)current * period_us;
    return weighed <= (wide)allowed(self) * period_us &&
           (previous + current <= allowed(self) + (allowed(self) + 3) / 4 ||
            weighed <= (wide)(allowed(self) - held_in(self, start_us)) * period_us);
}

/* The first moment at which it permits: it does so ever more as time passes within two periods. */
static int64_t window_earliest(const definition *self, int64_t t_us, int64_t cost)
{
    int64_t no_us = t_us, yes_us = t_us;

    if (self->count > 0 && self->taken[self->count - 1].at_us > t_us)
        no_us = yes_us = self->taken[self->count - 1].at_us; /* in order */
    if (window_permits(self, yes_us, cost))
        return yes_us;
    yes_us += 3 * self->period_us;
    while (yes_us - no_us > 1) {
        int64_t middle_us = no_us + (yes_us - no_us) / 2;
        if (window_permits(self, middle_us, cost))
            yes_us = middle_us;
        else
            no_us = middle_us;
    }
    return yes_us;
}

/* A token that could have been taken sooner in its window shows how far that is behind.  What the
 * ledger counts while it is vague is not known here: less is held back then. */
static void note_behind(definition *self, int64_t t_us)
{
    int64_t start_us = t_us - t_us % self->period_us, behind;

    if (start_us > self->window_us) {
        self->held = held_in(self, start_us);
        self->behind = 0;
        self->window_us = start_us;
    }
    if (t_us <= start_us || start_us < self->unknown_until_us || !window_permits(self, t_us - 1, 1))
        return;
    behind = (int64_t)((wide)allowed(self) * (t_us - start_us) / self->period_us) -
             taken_within(self, start_us, start_us + self->period_us);
    self->behind = behind > self->behind ? behind : self->behind;
}

static void window_take(definition *self, int64_t t_us, int64_t cost)
{
    int old = 0, at;

    if (self->kind == DEFINED_SLIDING)
        note_behind(self, t_us);
    if (opens_by_use(self) && t_us >= self->opened_us + self->period_us) {
        self->opened_before_us = self->opened_us;
        self->used_before = self->used;
        self->opened_us = t_us;
        self->used = 0;
    }
    self->used += cost;
    while (old < self->count && self->taken[old].at_us < t_us - 4 * self->period_us)
        old++;
    if (old > 64) { /* long past: of no window that is still to come */
        self->count -= old;
        memmove(self->taken, self->taken + old, (size_t)self->count * sizeof *self->taken);
    }
    make_space(self);
    for (at = self->count; at > 0 && self->taken[at - 1].at_us > t_us; at--)
        self->taken[at] = self->taken[at - 1];
    self->taken[at] = (definition_token){t_us, cost, at < self->count ? self->taken[at].before : 0};
    self->count++;
    definition_add_up(self, at);
}

/* ---- either ---------------------------------------------------------------------------------- */

/* What so many windows allow as there are from one instant to another. */
static wide allowed_in(const definition *self, int64_t from_us, int64_t to_us)
{
    int64_t windows = (to_us - from_us) / self->period_us + 1;

    if (goes_by_the_clock(&self->rule))
        windows = to_us / self->period_us - from_us / self->period_us + 1;
    else if (self->kind != DEFINED_LOG)
        windows++;
    return (wide)windows * allowed(self);
}

static bool pays(const definition *self, int64_t t_us, int64_t cost)
{
    for (int i = 0; i < self->debt_count; i++)
        if (t_us >= self->debts[i].at_us &&
            self->debts[i].given + cost > allowed_in(self, self->debts[i].at_us, t_us))
            return false;
    return true;
}

static void note_given(definition *self, int64_t t_us, int64_t cost)
{
    for (int i = 0; i < self->debt_count; i++)
        if (t_us >= self->debts[i].at_us)
            self->debts[i].given += cost;
}

void definition_charge(definition *self, int64_t now_us, int64_t tokens)
{
    int64_t last_us = self->count > 0 ? self->taken[self->count - 1].at_us : now_us;
    int64_t behind = self->behind, periods;

    if (self->rule.unit != TAKT_UNIT_TOKENS)
        return;
    definition_take(self, now_us, tokens);
    self->behind = behind < self->behind ? behind : self->behind; /* it is no late token */
    if (self->kind == DEFINED_BUCKET) {
        self->charged = true;
        return;
    }
    periods = 2 * (tokens / allowed(self)) + 5;
    if (self->debt_count == DEFINITION_DEBTS)
        memmove(self->debts, self->debts + 1, (size_t)--self->debt_count * sizeof *self->debts);
    self->debts[self->debt_count++] = (definition_debt){now_us, tokens};
    /* it is taken after the slots given ahead, and before those given from now on */
    if (self->vague_until_us < now_us)
        self->vague_until_us = now_us;
    if (self->vague_until_us < last_us)
        self->vague_until_us = last_us;
    self->vague_until_us += periods * self->period_us;
    definition_blur(self, self->vague_until_us);
}

bool definition_permits(const definition *self, int64_t t_us, int64_t cost)
{
    cost = definition_amount(self, cost);
    if (!pays(self, t_us, cost))
        return false;
    return self->kind == DEFINED_BUCKET ? bucket_permits(self, t_us, cost)
                                        : window_permits(self, t_us, cost);
}

int64_t definition_earliest(const definition *self, int64_t t_us, int64_t cost)
{
    cost = definition_amount(self, cost);
    return self->kind == DEFINED_BUCKET ? bucket_earliest(self, t_us, cost)
                                        : window_earliest(self, t_us, cost);
}

void definition_take(definition *self, int64_t t_us, int64_t cost)
{
    cost = definition_amount(self, cost);
    note_given(self, t_us, cost);
    if (self->kind == DEFINED_BUCKET)
        bucket_take(self, t_us, cost);
    else
        window_take(self, t_us, cost);
}

void definition_exhaust(definition *self, int64_t at_us)
{
    wide at = (wide)at_us * self->tokens, tat = at + (self->rule.burst - 1) * self->span;

    if (self->kind == DEFINED_BUCKET && (self->told < tat || self->min < tat))
        definition_note(self, (definition_taking){at_us, 0, at, at,
                                                  larger(tat - larger(self->told, at), 0),
                                                  larger(tat - larger(self->min, at), 0)});
    self->told = larger(self->told, tat);
    self->min = larger(self->min, tat);
    self->max = larger(self->max, tat);
    if (self->kind != DEFINED_BUCKET)
        definition_blur(self, at_us + 2 * self->period_us);
}

/* Tokens that counted under the old numbers count under the new ones, as far as it can be known;
 * the ledger may count more. */
static void window_follow(definition *self, const definition *from, int64_t now_us)
{
    bool same_windows = self->kind == DEFINED_FIXED && self->period_us == from->period_us &&
                        self->rule.align == from->rule.align;
    int64_t last_us = from->count > 0 ? from->taken[from->count - 1].at_us : 0;
    int64_t at_us = last_us > now_us ? last_us : now_us;

    definition_blur(self, at_us + 2 * (self->period_us + from->period_us));
    if (opens_by_use(self) && opens_by_use(from)) {
        self->opened_us = from->opened_us;
        self->used = from->used < allowed(self) ? from->used : allowed(self);
    }
    for (int i = 0; i < from->count; i++)
        if (self->kind == DEFINED_LOG ? from->taken[i].at_us > at_us - from->period_us
                                      : same_windows) {
            make_space(self);
            self->taken[self->count++] = from->taken[i];
        }
    definition_add_up(self, 0);
}

void definition_follow(definition *self, const definition *from, int64_t now_us)
{
    self->charged = from->charged;
    if (self->kind == DEFINED_BUCKET)
        bucket_follow(self, from, now_us);
    else
        window_follow(self, from, now_us);
    if (self->kind != DEFINED_BUCKET && self->vague_until_us < from->vague_until_us)
        self->vague_until_us = from->vague_until_us;
}

void definition_begin_late(definition *self, int64_t now_us, int64_t begins_us)
{
    wide tat = (wide)begins_us * self->tokens + (self->rule.burst - 1) * self->span;

    definition_exhaust(self, now_us);
    self->max = larger(self->max, tat);
    if (self->kind != DEFINED_BUCKET)
        definition_blur(self, begins_us + 2 * self->period_us);
}

/* Windows of another clock are forgotten altogether. */
static void forgive_windows(definition *self, int64_t now_us, int64_t lookahead_us)
{
    int64_t reach_us = TAKT_LOOKAHEAD_MAX_US + 2 * lookahead_us;
    int64_t last_us = self->count > 0 ? self->taken[self->count - 1].at_us : 0;

    last_us -= self->kind == DEFINED_LOG ? 0 : self->period_us; /* the window's begin */
    if (last_us <= now_us + reach_us)
        return;
    definition_rest(self);
    definition_blur(self, now_us + lookahead_us + 2 * self->period_us);
}

void definition_forgive(definition *self, int64_t now_us, int64_t lookahead_us)
{
    wide depth = self->rule.burst * self->span;
    wide left = ((wide)now_us + lookahead_us) * self->tokens + depth;
    int64_t reach_us = TAKT_LOOKAHEAD_MAX_US + 2 * lookahead_us;

    if (self->kind != DEFINED_BUCKET) {
        forgive_windows(self, now_us, lookahead_us);
        return;
    }
    self->charged = self->charged && self->max > ((wide)now_us + reach_us) * self->tokens + depth;
    if (self->charged || self->max <= ((wide)now_us + reach_us) * self->tokens + depth)
        return;
    self->told = self->told < left ? self->told : left;
    self->min = self->min < left ? self->min : left;
    definition_forget(self);
}

int64_t definition_rest_at(const definition *self)
{
    if (self->kind == DEFINED_BUCKET)
        return (int64_t)ceil_of(self->max, self->tokens);
    return self->count > 0 ? self->taken[self->count - 1].at_us + 2 * self->period_us : 0;
}
