/*
 * award_reply.c: see award_reply.h.  The order of the numbers is that of lua/PROTOCOL.md.
 */
#include "store/redis/award_reply.h"

#include <string.h>

#include "base/no_pages.h"
#include "core/ledger_text.h"
#include "core/numbers_text.h"
#include "core/tenant_name.h"
#include "store/redis/protocol.h"

/* Reads the values of a reply's array in order. */
struct cursor {
    const takt_reply *at;
    int left;
    bool bad;
};

static int64_t read_int(struct cursor *cursor, int64_t min, int64_t max)
{
    const takt_reply *value = cursor->at;

    if (cursor->left == 0 || value->type != TAKT_REPLY_INTEGER || value->integer < min ||
        value->integer > max) {
        cursor->bad = true;
        return min;
    }
    cursor->at++;
    cursor->left--;
    return value->integer;
}

/* Reads an instant or a duration; -1 means never. */
static int64_t read_time(struct cursor *cursor)
{
    int64_t us = read_int(cursor, -1, TAKT_EXACT_MAX);

    return us < 0 ? TAKT_NEVER : us;
}

static const takt_reply *read_text(struct cursor *cursor)
{
    static const takt_reply none = {.type = TAKT_REPLY_STRING, .text = ""};

    if (cursor->left == 0 || cursor->at->type != TAKT_REPLY_STRING) {
        cursor->bad = true;
        return &none;
    }
    cursor->left--;
    return cursor->at++;
}

/* ---- awards ---------------------------------------------------------------------------------- */

/* The number of waiters in a claim. */
static int64_t waiters(const takt_claim *claim)
{
    int64_t listed = 0;

    for (int i = 0; i < claim->want_count; i++)
        listed += claim->wants[i].count;
    return listed > claim->waiting ? listed : claim->waiting;
}

/* Reads what each slot of a run is for: its cost, or a text that has further amounts as well, as
 * the claim wrote them. */
static void read_cost(struct cursor *cursor, takt_run *run)
{
    const takt_reply *text;
    takt_reader reader;

    run->more = TAKT_NO_MORE;
    if (cursor->left == 0 || cursor->at->type != TAKT_REPLY_STRING) {
        run->cost = (int32_t)read_int(cursor, 1, TAKT_COST_MAX);
        return;
    }
    text = read_text(cursor);
    reader = (takt_reader){text->text, text->text + text->size, false};
    run->cost = (int32_t)takt_read_int(&reader, 1, TAKT_COST_MAX);
    for (int i = 0; i < TAKT_MORE_MAX && (i == 0 || reader.at < reader.end); i++) {
        takt_read_char(&reader, '/');
        run->more.of[i] = (int32_t)takt_read_int(&reader, 0, TAKT_COST_MAX);
    }
    cursor->bad |= !takt_read_done(&reader);
}

/* Reads a run of slots for at most `left` waiters; each slot must fit into a number. */
static void read_run(struct cursor *cursor, takt_run *run, int64_t *left)
{
    run->first.us = read_int(cursor, 0, TAKT_EXACT_MAX);
    run->first.parts = read_int(cursor, 0, TAKT_RULE_LIMIT_MAX - 1);
    run->step.us = read_int(cursor, 0, TAKT_EXACT_MAX);
    run->step.parts = read_int(cursor, 0, TAKT_RULE_LIMIT_MAX - 1);
    run->whole = read_int(cursor, 1, TAKT_RULE_LIMIT_MAX);
    run->count = read_int(cursor, 1, TAKT_ROOM_MAX);
    read_cost(cursor, run);
    if (cursor->bad)
        return;
    cursor->bad = run->first.parts >= run->whole || run->step.parts >= run->whole ||
                  run->count > *left ||
                  (run->count > 1 && run->step.us > (TAKT_EXACT_MAX - run->first.us) / run->count);
    *left -= run->count;
}

/* Reads the text of one level's ledger: its numbers are newer than the caller's. */
static bool read_newer_of(const takt_store_call *call, int ledger_no, const char *text, size_t size)
{
    takt_award *award = call->award;
    takt_pages nowhere;
    takt_ledger ledger = {.pages = &nowhere}; /* no room for places: the text has none */

    takt_no_pages_init(&nowhere);
    award->outdated |= 1U << ledger_no;
    return takt_ledger_decode(&ledger,
                              ledger_no > 0 ? call->inner[ledger_no - 1].numbers : call->numbers,
                              &award->newer[ledger_no], award->now_us, text, size) >= 0 &&
           ledger.numbers == &award->newer[ledger_no];
}

/* Reads the valid numbers of each level where they are newer than the caller's: its ledger's text.
 * A line feed ends that of each level before the last one that has any. */
static void read_newer(struct cursor *cursor, const takt_store_call *call, bool outdated)
{
    const takt_reply *text = read_text(cursor);
    const char *at = text->text, *end = text->text + text->size;

    call->award->outdated = 0;
    cursor->bad |= outdated != (text->size > 0);
    for (int ledger_no = 0; at < end && !cursor->bad; ledger_no++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        cursor->bad = ledger_no > call->inner_count ||
                      (stop > at && !read_newer_of(call, ledger_no, at, (size_t)(stop - at))) ||
                      (stop < end && stop + 1 == end);
        at = stop + 1;
    }
}

/* Reads what the worker holds, and the fencing numbers. */
static void read_holding(struct cursor *cursor, takt_award *award, bool permits)
{
    award->holding = permits ? read_int(cursor, 0, TAKT_EXACT_MAX) : 0;
    award->fence = permits ? read_int(cursor, 0, TAKT_EXACT_MAX) : 0;
    award->reuses = permits ? read_int(cursor, 0, TAKT_REUSES) : 0;
    award->lease_spent_us = 0;
    award->wake_count = 0; /* the script has sent the wake-ups */
}

/* Reads how many waiters leave: a number; or with inner limits a text if some leave, as the
 * script's `inner.leaves` is. */
static void read_refused(struct cursor *cursor, const takt_store_call *call, int64_t left)
{
    takt_award *award = call->award;
    const takt_reply *text;
    takt_reader reader;

    award->refused = award->leave_count = 0;
    if (call->inner_count == 0 || cursor->left == 0 || cursor->at->type != TAKT_REPLY_STRING) {
        award->refused = read_int(cursor, 0, left);
        return;
    }
    text = read_text(cursor);
    reader = (takt_reader){text->text, text->text + text->size, false};
    do {
        takt_leave *leave = &award->leaves[award->leave_count++];
        if (leave != award->leaves)
            takt_read_char(&reader, ' ');
        leave->count = takt_read_int(&reader, 1, left);
        leave->way = takt_when_full_read(&reader);
        award->refused += leave->count;
    } while (reader.at < reader.end && !reader.bad && award->leave_count < TAKT_LEVELS_MAX);
    cursor->bad |= !takt_read_done(&reader);
}

static void read_award(struct cursor *cursor, takt_store_call *call, int64_t flags)
{
    takt_award *award = call->award;
    int64_t left = waiters(call->claim);
    int runs;

    award->stale = flags & TAKT_FLAG_STALE;
    award->news = flags & TAKT_FLAG_NEWS;
    award->taken = flags & TAKT_FLAG_TAKEN;
    award->parked = flags & TAKT_FLAG_PARKED;
    award->crowded = flags & TAKT_FLAG_CROWDED;
    award->unlisted = flags & TAKT_FLAG_UNLISTED;
    award->prompt = flags & TAKT_FLAG_PROMPT;
    award->uncontended = false;
    award->now_us = read_int(cursor, 0, TAKT_EXACT_MAX);
    award->claim_again_at_us = read_time(cursor);
    award->next_slot_at_us = read_time(cursor);
    award->blocked_until_us = read_int(cursor, 0, TAKT_EXACT_MAX);
    award->waiting = read_int(cursor, 0, TAKT_EXACT_MAX);
    award->workers = read_int(cursor, 0, TAKT_EXACT_MAX);
    read_refused(cursor, call, left);
    award->in_line = (unsigned)read_int(cursor, 0, (1 << TAKT_PRIORITIES) - 1);
    award->least_urgent = (int)read_int(cursor, -1, TAKT_PRIORITY_MAX);
    read_newer(cursor, call, flags & TAKT_FLAG_OUTDATED);
    read_holding(cursor, award, flags & TAKT_FLAG_PERMITS);
    runs = cursor->left - (flags & TAKT_FLAG_TAG ? TAKT_AWARD_TAG : 0);
    award->run_count = runs / TAKT_AWARD_RUN;
    if (cursor->bad || runs % TAKT_AWARD_RUN != 0 || award->run_count > TAKT_RUNS_MAX) {
        cursor->bad = true;
        return;
    }
    for (int i = 0; i < award->run_count && !cursor->bad; i++)
        read_run(cursor, &award->runs[i], &left);
    award->tag = flags & TAKT_FLAG_TAG ? read_int(cursor, 1, TAKT_EXACT_MAX / 2) : 0;
    if (award->refused > left)
        cursor->bad = true;
    call->status = 0;
}

/* Gives a slot to the only waiter; the line is empty. False: the claim was for something else. */
static bool give_one(takt_store_call *call, int64_t now_us, int64_t next_slot_us, int64_t slot_us)
{
    const takt_claim *claim = call->claim;
    takt_award *award = call->award;

    award->stale = award->news = award->taken = award->parked = false;
    award->crowded = award->unlisted = award->prompt = false;
    award->outdated = 0;
    award->uncontended = true;
    award->now_us = now_us;
    award->next_slot_at_us = next_slot_us;
    award->claim_again_at_us = TAKT_NEVER;
    award->blocked_until_us = award->waiting = award->workers = award->refused = 0;
    award->leave_count = 0;
    award->in_line = 0;
    award->tag = 0;
    award->least_urgent = -1;
    award->holding = award->lease_spent_us = award->fence = award->reuses = 0;
    award->wake_count = 0;
    award->run_count = 1;
    award->runs[0] = takt_run_at(slot_us, 1, claim->wants[0].cost, claim->wants[0].more);
    call->status = 0;
    return claim->want_count == 1 && claim->wants[0].count == 1 && claim->waiting == 1;
}

static bool read_short_award(struct cursor *cursor, takt_store_call *call)
{
    int64_t now_us = read_int(cursor, 0, TAKT_EXACT_MAX),
            next_slot_us = read_int(cursor, 0, TAKT_EXACT_MAX);
    int64_t slot_us = read_int(cursor, 0, TAKT_EXACT_MAX);

    return !cursor->bad && give_one(call, now_us, next_slot_us, slot_us);
}

/* The shortest award: one number for the present time, the slot and the next slot. */
static bool read_number(const takt_reply *reply, takt_store_call *call)
{
    return call->op == TAKT_OP_CLAIM && reply->integer >= 0 && reply->integer <= TAKT_EXACT_MAX &&
           give_one(call, reply->integer, reply->integer, reply->integer);
}

/* ---- standings ------------------------------------------------------------------------------- */

/* Reads what a try gets to know about permits. */
static void read_try(struct cursor *cursor, takt_store_call *call, int64_t flags)
{
    takt_award *award = call->award;
    takt_more more;

    for (int i = 0; i < TAKT_MORE_MAX; i++)
        more.of[i] = (int32_t)call->more[i];
    read_holding(cursor, award, true);
    award->now_us = call->standing.now_us;
    award->stale = flags & TAKT_FLAG_STALE;
    award->run_count = call->status == 0;
    award->runs[0] = takt_run_at(award->now_us, 1, (int32_t)call->cost, more);
}

/* How many values a list has whose first value is its length, at most `max`; `at`: that value,
 * `left`: how many values there are from there on. */
static int count_list(const takt_reply *at, int left, int max, int values)
{
    if (left < 1 || at->type != TAKT_REPLY_INTEGER || at->integer < 0 || at->integer > max)
        return 0;
    return 1 + (int)at->integer * values;
}

/* Whether the number of values fits the flags: permits add values, and a try has them twice.  With
 * inner limits a try has one more. */
static bool is_standing(const takt_store_call *call, int64_t flags, const takt_reply *reply)
{
    int permits =
        call->op == TAKT_OP_TRY && call->claim ? 2 * TAKT_PERMITS_VALUES : TAKT_PERMITS_VALUES;
    int bare = flags & TAKT_FLAG_WATCHED ? TAKT_STANDING_VALUES + TAKT_WATCHED_VALUES
                                         : TAKT_STANDING_VALUES;
    int count = reply->count - (call->inner_count > 0);

    if (flags & TAKT_FLAG_RULES)
        bare += count_list(reply + 1 + bare, count - bare, TAKT_RULES_MAX, TAKT_RULE_VALUES);
    if (flags & TAKT_FLAG_TENANTS)
        bare += count_list(reply + 1 + bare, count - bare, TAKT_TENANTS_MAX, TAKT_TENANT_VALUES);
    bare += (flags & TAKT_FLAG_TAG) != 0;
    return count == bare + permits || (count == bare && !(flags & TAKT_FLAG_STALE));
}

static void read_rules(struct cursor *cursor, takt_standing *standing)
{
    standing->rule_count = (int)read_int(cursor, 0, TAKT_RULES_MAX);
    for (int i = 0; i < standing->rule_count && !cursor->bad; i++) {
        takt_rule_standing *rule = &standing->rules[i];
        rule->unit = takt_unit_name((takt_unit)read_int(cursor, 0, TAKT_UNITS - 1));
        rule->limit = read_int(cursor, 0, TAKT_EXACT_MAX);
        rule->remaining = read_int(cursor, 0, TAKT_EXACT_MAX);
        rule->reset_after_us = read_int(cursor, 0, TAKT_EXACT_MAX);
    }
}

static void read_tenants(struct cursor *cursor, takt_store_call *call, int64_t flags)
{
    int count = flags & TAKT_FLAG_TENANTS ? (int)read_int(cursor, 0, TAKT_TENANTS_MAX) : 0;

    for (int i = 0; i < count && !cursor->bad; i++) {
        const takt_reply *name = read_text(cursor);
        takt_tenant_standing tenant = {.weight = read_int(cursor, 1, TAKT_TENANT_WEIGHT_MAX)};
        tenant.waiting = read_int(cursor, 1, TAKT_EXACT_MAX);
        tenant.since_us = read_int(cursor, 0, TAKT_EXACT_MAX);
        cursor->bad |= name->size > TAKT_TENANT_TEXT_MAX;
        if (cursor->bad || !call->tenants)
            continue;
        takt_tenant_read(name->text, tenant.name);
        call->tenants[i] = tenant;
    }
    call->standing.tenants = call->tenants;
    call->standing.tenant_count = call->tenants ? count : 0;
}

/* The limit is one rule that counts tokens, or has permits alone. */
static void guess_rules(takt_standing *standing)
{
    standing->rule_count = standing->concurrency == 0;
    if (standing->rule_count == 1)
        standing->rules[0] = (takt_rule_standing){takt_unit_name(TAKT_UNIT_TOKENS), standing->limit,
                                                  standing->remaining, standing->reset_after_us};
}

static void read_standing(struct cursor *cursor, takt_store_call *call, int64_t flags)
{
    takt_standing *standing = &call->standing;
    int levels = call->inner_count > 0; /* values that name a level */
    const takt_reply *reason;

    standing->now_us = read_int(cursor, 0, TAKT_EXACT_MAX);
    standing->limit = read_int(cursor, 0, TAKT_EXACT_MAX);
    standing->remaining = read_int(cursor, 0, TAKT_EXACT_MAX);
    standing->retry_after_us = read_time(cursor);
    standing->reset_after_us = read_int(cursor, 0, TAKT_EXACT_MAX);
    standing->blocked_until_us = read_int(cursor, 0, TAKT_EXACT_MAX);
    standing->waiting = read_int(cursor, 0, TAKT_EXACT_MAX);
    standing->workers = read_int(cursor, 0, TAKT_EXACT_MAX);
    standing->rate_percent = read_int(cursor, 1, 100);
    reason = read_text(cursor);
    cursor->bad |= reason->size > TAKT_REASON_TEXT_MAX;
    takt_reason_read(reason->text, reason->size, standing->reason);
    standing->watched_since_us =
        flags & TAKT_FLAG_WATCHED ? read_int(cursor, 1, TAKT_EXACT_MAX) : 0;
    standing->taken = flags & TAKT_FLAG_WATCHED ? read_int(cursor, 0, TAKT_EXACT_MAX) : 0;
    if (flags & TAKT_FLAG_RULES)
        read_rules(cursor, standing);
    read_tenants(cursor, call, flags);
    call->tag_change =
        flags & TAKT_FLAG_TAG ? read_int(cursor, -TAKT_EXACT_MAX / 2, TAKT_EXACT_MAX / 2) : 0;
    standing->concurrency = standing->held = standing->holders = 0;
    call->ledger_no = 0;
    if (cursor->left > levels) {
        standing->concurrency = read_int(cursor, 0, TAKT_CONCURRENCY_MAX);
        standing->held = read_int(cursor, 0, TAKT_EXACT_MAX);
        standing->holders = read_int(cursor, 0, TAKT_EXACT_MAX);
    }
    if (!(flags & TAKT_FLAG_RULES))
        guess_rules(standing);
    call->status = call->op == TAKT_OP_TRY && !(flags & TAKT_FLAG_TAKEN) ? TAKT_E_NO_SLOT : 0;
    if (cursor->left > levels)
        read_try(cursor, call, flags);
    if (levels > 0)
        call->ledger_no = (int)read_int(cursor, 0, call->inner_count);
}

/* The flags that a reply to this call may have. */
static int64_t flags_of(const takt_store_call *call)
{
    if (call->op == TAKT_OP_CLAIM)
        return TAKT_FLAG_DAMAGED | TAKT_FLAG_STALE | TAKT_FLAG_OUTDATED | TAKT_FLAG_TAKEN |
               TAKT_FLAG_NEWS | TAKT_FLAG_PERMITS | TAKT_FLAG_PARKED | TAKT_FLAG_CROWDED |
               TAKT_FLAG_UNLISTED | TAKT_FLAG_PROMPT | TAKT_FLAG_TAG;
    if (call->op == TAKT_OP_TRY)
        return TAKT_FLAG_DAMAGED | TAKT_FLAG_STALE | TAKT_FLAG_TAKEN | TAKT_FLAG_WATCHED |
               TAKT_FLAG_RULES;
    if (call->op == TAKT_OP_PEEK)
        return TAKT_FLAG_DAMAGED | TAKT_FLAG_WATCHED | TAKT_FLAG_RULES | TAKT_FLAG_TENANTS;
    if (call->op == TAKT_OP_SETTLE)
        return TAKT_FLAG_DAMAGED | TAKT_FLAG_WATCHED | TAKT_FLAG_RULES | TAKT_FLAG_TAG;
    return TAKT_FLAG_DAMAGED | TAKT_FLAG_WATCHED | TAKT_FLAG_RULES;
}

bool takt_award_reply(takt_store_call *call, const takt_reply *reply, bool *damaged)
{
    bool claim = call->op == TAKT_OP_CLAIM;
    int64_t known = flags_of(call);
    struct cursor values = {reply + 1, reply->count, false};
    int64_t flags;

    *damaged = false;
    if (reply->type == TAKT_REPLY_INTEGER)
        return read_number(reply, call);
    if (reply->type != TAKT_REPLY_ARRAY)
        return false;
    if (claim && reply->count == TAKT_AWARD_SHORT)
        return read_short_award(&values, call);
    flags = read_int(&values, 0, known);
    if (values.bad || (flags & ~known) != 0)
        return false;
    if (claim ? reply->count < TAKT_AWARD_HEAD : !is_standing(call, flags, reply))
        return false;
    if (claim)
        read_award(&values, call, flags);
    else
        read_standing(&values, call, flags);
    *damaged = flags & TAKT_FLAG_DAMAGED;
    return !values.bad;
}
