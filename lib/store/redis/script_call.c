/*
 * script_call.c: see script_call.h.
 */
#include "store/redis/script_call.h"

#include <assert.h>
#include <string.h>

#include "core/ledger_text.h"
#include "store/redis/script.h"

/* Where the fields' text goes. */
struct pen {
    takt_script_call *script_call;
    takt_writer writer;
    bool begun; /* a field stands there already */
};

static void add(takt_script_call *script_call, const char *text, size_t size)
{
    script_call->arguments[script_call->count] = text;
    script_call->sizes[script_call->count] = size;
    script_call->count++;
}

/* One blank is between two fields. */
static takt_writer *next_field(struct pen *pen)
{
    if (pen->begun)
        takt_write_char(&pen->writer, ' ');
    pen->begun = true;
    return &pen->writer;
}

static void add_int(struct pen *pen, int64_t value)
{
    takt_write_int(next_field(pen), value);
}

static void add_hex(struct pen *pen, uint64_t value)
{
    takt_write_hex(next_field(pen), value);
}

static void add_rules(struct pen *pen, const takt_numbers *numbers)
{
    takt_writer *writer = next_field(pen);

    for (int i = 0; i < numbers->rule_count; i++) {
        if (i > 0)
            takt_write_char(writer, ';');
        takt_rule_write_numbers(&numbers->rules[i], writer);
    }
}

/* The first `count` of the ledger's keys, and how many they are. */
static bool add_names(takt_script_call *script_call, const char *name_space,
                      const takt_store_call *call, int count)
{
    static const char *const counts[TAKT_SCRIPT_CALL_NAMES] = {"1", "2", "3", "4", "5"};
    static const char *const rests[TAKT_SCRIPT_CALL_NAMES] = {"", ":line", ":places", ":log",
                                                              ":held"};
    size_t size =
        takt_redis_key(script_call->names[0], name_space, call->limit->name, call->key, "");

    if (size == 0)
        return false;
    add(script_call, counts[count - 1], 1);
    add(script_call, script_call->names[0], size);
    for (int i = 1; i < count; i++) {
        memcpy(script_call->names[i], script_call->names[0], size);
        memcpy(script_call->names[i] + size, rests[i], strlen(rests[i]) + 1);
        add(script_call, script_call->names[i], size + strlen(rests[i]));
    }
    return true;
}

static void add_zones(struct pen *pen, const takt_numbers *numbers)
{
    takt_zone_text_write(next_field(pen), numbers, &pen->script_call->zones,
                         pen->script_call->about_us);
}

/* How many may wait; where there are permits, how many there are and for how long; and where there
 * is one, `adapt`. */
static void add_line_bounds(struct pen *pen, const takt_numbers *numbers)
{
    takt_writer *writer = next_field(pen);

    takt_ledger_write_bound(numbers, writer);
    if (numbers->concurrency > 0) {
        takt_write_char(writer, ',');
        takt_write_int(writer, numbers->concurrency);
        takt_write_char(writer, ',');
        takt_write_int(writer, numbers->lease_us);
    }
    if (numbers->adapt.backoff > 0) {
        takt_write_char(writer, ';');
        takt_adapt_write(&numbers->adapt, writer);
    }
}

static void add_limit(struct pen *pen, const takt_numbers *numbers)
{
    add_rules(pen, numbers);
    add_int(pen, takt_numbers_span(numbers));
    add_int(pen, numbers->revision);
    add_int(pen, numbers->lookahead_us);
    add_line_bounds(pen, numbers);
    add_zones(pen, numbers);
}

/* An instant as a script's number: -1 (never) if it is too large, 0 if it is before the epoch. */
static int64_t instant(int64_t us)
{
    return us > TAKT_EXACT_MAX ? -1 : us < 0 ? 0 : us;
}

static void add_waiting(struct pen *pen, const takt_claim *claim, const takt_numbers *numbers)
{
    takt_writer *writer = next_field(pen);

    takt_write_int(writer, claim->waiting);
    if (claim->distant && numbers->concurrency == 0)
        takt_write_char(writer, '!');
    if (numbers->max_waiting > 0 && !takt_numbers_drops(numbers)) {
        takt_write_char(writer, ',');
        takt_write_int(writer, claim->newcomers);
    }
    if (claim->offer.cost > 0) {
        takt_write_char(writer, '/');
        takt_write_int(writer, claim->offer.slot_us);
        takt_write_char(writer, ',');
        takt_write_int(writer, claim->offer.cost);
        takt_write_char(writer, ',');
        takt_write_int(writer, claim->offer.priority);
    }
}

static void add_claim(struct pen *pen, const takt_claim *claim, const takt_numbers *numbers)
{
    add_hex(pen, claim->worker);
    add_int(pen, claim->seq);
    add_waiting(pen, claim, numbers);
    if (pen->script_call->keys == TAKT_SCRIPT_CALL_WITH_PERMITS)
        add_int(pen, claim->holding);
    for (int i = 0; i < claim->want_count; i++) {
        const takt_want *want = &claim->wants[i];
        add_int(pen, want->count);
        add_int(pen, instant(want->latest_us));
        add_int(pen, want->cost);
        add_int(pen, want->priority);
    }
}

/* What lua/quick.lua can answer, for one waiter, and probably will. */
static bool is_brief(const takt_store_call *call)
{
    const takt_numbers *numbers = call->numbers;
    const takt_claim *claim = call->claim;

    return call->op == TAKT_OP_CLAIM && claim->uncontended && claim->waiting == 1 &&
           claim->offer.cost == 0 && claim->want_count == 1 && claim->wants[0].count == 1 &&
           claim->wants[0].latest_us == TAKT_NEVER && numbers->rule_count == 1 &&
           numbers->rules[0].algorithm->paced && numbers->rules[0].unit == TAKT_UNIT_TOKENS &&
           numbers->revision == 0 && !takt_numbers_drops(numbers) && numbers->adapt.backoff == 0;
}

static void add_brief_claim(struct pen *pen, const takt_store_call *call)
{
    add_rules(pen, call->numbers);
    add_int(pen, call->numbers->lookahead_us);
    add_int(pen, call->claim->wants[0].cost);
}

static void add_try(struct pen *pen, const takt_store_call *call, bool permits)
{
    add_int(pen, call->cost);
    if (!permits || call->claim == NULL)
        return;
    add_hex(pen, call->claim->worker);
    add_int(pen, call->claim->seq);
    add_int(pen, call->claim->holding);
}

/* For how long and why. */
static void add_block(struct pen *pen, const takt_store_call *call)
{
    char reason[TAKT_REASON_TEXT_MAX + 1];

    add_int(pen, call->for_us);
    takt_reason_write(call->reason, reason);
    takt_write_text(next_field(pen), reason);
}

static void add_settle(struct pen *pen, const takt_store_call *call)
{
    add_int(pen, call->slot_us);
    add_int(pen, call->requests);
    add_int(pen, call->cost);
    add_int(pen, call->actual);
}

static void add_lower(struct pen *pen, const takt_store_call *call)
{
    add_int(pen, call->actual);
    add_int(pen, call->requests);
}

/* An argument of its own. */
static void add_number(struct pen *pen, int64_t value)
{
    const char *from = pen->writer.at;

    takt_write_int(&pen->writer, value);
    add(pen->script_call, from, (size_t)(pen->writer.at - from));
}

static void add_exchange(struct pen *pen, const takt_store_call *call)
{
    const takt_policy_exchange *exchange = call->exchange;

    add_number(pen, exchange->seen_version);
    add_number(pen, exchange->seen_at_us);
    if (call->op != TAKT_OP_APPLY)
        return;
    add(pen->script_call, exchange->change, strlen(exchange->change));
    add(pen->script_call, exchange->text, exchange->size);
}

/* The stored policy has a key to itself. */
static bool write_policy_call(struct pen *pen, const char *name_space, const takt_store_call *call)
{
    takt_script_call *script_call = pen->script_call;
    size_t size = takt_redis_key(script_call->names[0], name_space, "", "", ":policy");

    if (size == 0)
        return false;
    add(script_call, "1", 1);
    add(script_call, script_call->names[0], size);
    add_exchange(pen, call);
    return true;
}

static int count_keys(const takt_script_call *script_call, const takt_store_call *call)
{
    int keys = call->numbers->concurrency > 0 ? TAKT_SCRIPT_CALL_WITH_PERMITS
               : is_brief(call)               ? TAKT_SCRIPT_CALL_BRIEF
                                              : TAKT_SCRIPT_CALL_WHOLE;

    return keys > script_call->keys ? keys : script_call->keys;
}

bool takt_script_call_write(takt_script_call *script_call, const char *name_space,
                            const takt_store_call *call)
{
    const takt_script *script = &takt_scripts[call->op];
    struct pen pen = {script_call,
                      {script_call->text, script_call->text + sizeof script_call->text, false},
                      false};
    bool permits;

    script_call->count = 0;
    add(script_call, "EVALSHA", 7);
    add(script_call, script->sha1, sizeof script->sha1 - 1);
    if (call->exchange)
        return write_policy_call(&pen, name_space, call);
    script_call->keys = count_keys(script_call, call);
    permits = script_call->keys == TAKT_SCRIPT_CALL_WITH_PERMITS;
    if (!add_names(script_call, name_space, call, script_call->keys))
        return false;
    if (script_call->keys != TAKT_SCRIPT_CALL_BRIEF)
        add_limit(&pen, call->numbers);
    if (script_call->keys == TAKT_SCRIPT_CALL_BRIEF)
        add_brief_claim(&pen, call);
    else if (call->op == TAKT_OP_CLAIM)
        add_claim(&pen, call->claim, call->numbers);
    else if (call->op == TAKT_OP_TRY)
        add_try(&pen, call, permits);
    else if (call->op == TAKT_OP_PEEK)
        add_int(&pen, call->for_us);
    else if (call->op == TAKT_OP_BLOCK || call->op == TAKT_OP_PENALIZE)
        add_block(&pen, call);
    else if (call->op == TAKT_OP_SETTLE)
        add_settle(&pen, call);
    else if (call->op == TAKT_OP_LOWER)
        add_lower(&pen, call);
    assert(!pen.writer.full);
    add(script_call, script_call->text, (size_t)(pen.writer.at - script_call->text));
    return true;
}
