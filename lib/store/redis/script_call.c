/*
 * script_call.c: see script_call.h.
 */
#include "store/redis/script_call.h"

#include <assert.h>
#include <string.h>

#include "core/numbers_text.h"
#include "core/tenant_name.h"
#include "store/redis/script.h"

/* Where the fields' text goes. */
struct pen {
    takt_script_call *script_call;
    takt_writer writer;
    bool begun; /* a field is there already */
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

/* An amount, and behind it those of further units up to the last that is not 0. */
static void add_amounts(struct pen *pen, int64_t first, const int64_t *more)
{
    takt_writer *writer = next_field(pen);
    int count = TAKT_MORE_MAX;

    takt_write_int(writer, first);
    while (count > 0 && more[count - 1] == 0)
        count--;
    for (int i = 0; i < count; i++) {
        takt_write_char(writer, '/');
        takt_write_int(writer, more[i]);
    }
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

/* The keys of a ledger: its name, and that with each of `rests`; "": the name again. The names
 * stand in names[at...]. */
static bool add_ledger(takt_script_call *script_call, const char *name_space, const char *limit,
                       const char *key, int at, const char *const *rests, int count)
{
    size_t size = takt_redis_key(script_call->names[at], name_space, limit, key, "");

    if (size == 0)
        return false;
    add(script_call, script_call->names[at], size);
    for (int i = 1; i < count; i++) {
        memcpy(script_call->names[at + i], script_call->names[at], size);
        memcpy(script_call->names[at + i] + size, rests[i], strlen(rests[i]) + 1);
        add(script_call, script_call->names[at + i], size + strlen(rests[i]));
    }
    return true;
}

/* The first `count` keys of the ledger. The first one stands in place of a key that is not named
 * but has another behind it. */
static bool add_own(takt_script_call *script_call, const char *name_space,
                    const takt_store_call *call, int keys, int count)
{
    const char *rests[TAKT_SCRIPT_CALL_OWN] = {""};

    if (count > 1) { /* a brief claim, the most frequent call, names one key */
        rests[1] = keys & TAKT_KEYS_LINE ? ":line" : "";
        rests[2] = keys & TAKT_KEYS_LINE ? ":places" : "";
        rests[3] = keys & TAKT_KEYS_HELD ? ":held" : "";
        rests[4] = keys & TAKT_KEYS_LOG ? ":log" : "";
    }
    return add_ledger(script_call, name_space, call->limit->name, call->key, 0, rests, count);
}

/* The ledger's keys, those of inner ledgers, and how many they are. */
static bool add_names(takt_script_call *script_call, const char *name_space,
                      const takt_store_call *call, int keys)
{
    static const char *const counts[TAKT_SCRIPT_CALL_NAMES] = {
        "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14"};
    static const char *const inner_rests[TAKT_SCRIPT_CALL_INNER] = {"", ":held", ":log"};
    int count = call->inner_count > 0 || keys & TAKT_KEYS_LOG ? 5
                : keys & TAKT_KEYS_HELD                       ? 4
                : keys & TAKT_KEYS_LINE                       ? 3
                                                              : 1;
    int all = count + TAKT_SCRIPT_CALL_INNER * call->inner_count, at = count;

    add(script_call, counts[all - 1], strlen(counts[all - 1]));
    if (!add_own(script_call, name_space, call, keys, count))
        return false;
    for (int i = 0; i < call->inner_count; i++, at += TAKT_SCRIPT_CALL_INNER)
        if (!add_ledger(script_call, name_space, call->inner[i].limit->name, call->inner[i].key, at,
                        inner_rests, TAKT_SCRIPT_CALL_INNER))
            return false;
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

    takt_numbers_write_bound(numbers, writer);
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

/* Its weight, since when it has waited in its worker, the worker to wake, and its name. */
static void add_tenant(takt_writer *writer, const takt_claim *claim)
{
    char name[TAKT_TENANT_TEXT_MAX + 1];

    takt_tenant_write(claim->tenant, name);
    takt_write_char(writer, '@');
    takt_write_int(writer, claim->tenant_weight);
    if (claim->waited_from > 0) {
        takt_write_char(writer, '+');
        takt_write_int(writer, claim->waited_from);
    }
    takt_write_char(writer, ',');
    takt_write_hex(writer, claim->process);
    takt_write_char(writer, ',');
    takt_write_text(writer, name);
}

static bool refuses_newcomers(const takt_numbers *numbers)
{
    return numbers->max_waiting > 0 && !takt_numbers_drops(numbers);
}

/* Whether a level of the call refuses newcomers. */
static bool states_newcomers(const takt_store_call *call)
{
    bool states = refuses_newcomers(call->numbers);

    for (int i = 0; i < call->inner_count; i++)
        states = states || refuses_newcomers(call->inner[i].numbers);
    return states;
}

static void add_waiting(struct pen *pen, const takt_store_call *call)
{
    const takt_claim *claim = call->claim;
    takt_writer *writer = next_field(pen);

    takt_write_int(writer, claim->waiting);
    if (claim->weight > 1) {
        takt_write_char(writer, '*');
        takt_write_int(writer, claim->weight);
    }
    if (claim->distant && call->numbers->concurrency == 0)
        takt_write_char(writer, '!');
    if (states_newcomers(call)) {
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
    if (claim->tenant)
        add_tenant(writer, claim);
}

static void add_claim(struct pen *pen, const takt_store_call *call)
{
    const takt_claim *claim = call->claim;

    add_hex(pen, claim->worker);
    add_int(pen, claim->seq);
    add_waiting(pen, call);
    if (pen->script_call->keys & TAKT_KEYS_HELD)
        add_int(pen, claim->holding);
    for (int i = 0; i < claim->want_count; i++) {
        const takt_want *want = &claim->wants[i];
        add_int(pen, want->count);
        add_int(pen, instant(want->latest_us));
        add_amounts(pen, want->cost,
                    (int64_t[]){want->more.of[0], want->more.of[1], want->more.of[2]});
        add_int(pen, want->priority);
    }
}

/* What lua/quick.lua can answer, for one waiter, and probably will. */
static bool is_brief(const takt_store_call *call)
{
    const takt_numbers *numbers = call->numbers;
    const takt_claim *claim = call->claim;

    return call->op == TAKT_OP_CLAIM && claim->uncontended && claim->tenant == NULL &&
           call->inner_count == 0 && claim->waiting == 1 && claim->offer.cost == 0 &&
           claim->want_count == 1 && claim->wants[0].count == 1 &&
           claim->wants[0].latest_us == TAKT_NEVER &&
           takt_more_same(claim->wants[0].more, TAKT_NO_MORE) && numbers->rule_count == 1 &&
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
    add_amounts(pen, call->cost, call->more);
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

/* The tenant that pays: its weight, the priority of the work, and its name. */
static void add_payer(takt_writer *writer, const takt_store_call *call)
{
    char name[TAKT_TENANT_TEXT_MAX + 1];

    takt_tenant_write(call->tenant, name);
    takt_write_int(writer, call->tenant_weight);
    takt_write_char(writer, ',');
    takt_write_int(writer, call->priority);
    takt_write_char(writer, ',');
    takt_write_text(writer, name);
}

static void add_settle(struct pen *pen, const takt_store_call *call)
{
    add_int(pen, call->slot_us);
    add_int(pen, call->requests);
    add_amounts(pen, call->cost, call->more);
    add_amounts(pen, call->actual, call->actual_more);
    if (call->tenant)
        add_payer(next_field(pen), call);
}

static void add_lower(struct pen *pen, const takt_store_call *call)
{
    add_amounts(pen, call->actual, call->actual_more);
    add_int(pen, call->requests);
}

/* The fields since `from` are an argument of their own. */
static void end_argument(struct pen *pen, const char *from)
{
    add(pen->script_call, from, (size_t)(pen->writer.at - from));
    pen->begun = false;
}

/* Which of the call's amounts the units of an inner ledger are, unless they are the same. */
static void add_units(struct pen *pen, takt_unit_map map)
{
    char text[TAKT_AMOUNTS_MAX + 1];

    takt_unit_map_write(map, text);
    if (text[0])
        takt_write_text(next_field(pen), text);
}

/* The claim's tenant in the innermost line, if that has any. */
static void add_inner_tenant(struct pen *pen, const takt_claim *claim)
{
    char name[TAKT_TENANT_TEXT_MAX + 1];
    takt_writer *writer;

    if (!claim->inner_tenant)
        return;
    writer = next_field(pen);
    takt_write_char(writer, '@');
    if (!claim->within_turns)
        return;
    takt_tenant_write(claim->inner_tenant, name);
    takt_write_int(writer, claim->inner_weight);
    takt_write_char(writer, ',');
    takt_write_text(writer, name);
}

static void add_inner(struct pen *pen, const takt_store_call *call)
{
    for (int i = 0; i < call->inner_count; i++) {
        const char *from = pen->writer.at;
        add_limit(pen, call->inner[i].numbers);
        add_units(pen, call->inner[i].units);
        if (i == 0 && call->op == TAKT_OP_CLAIM)
            add_inner_tenant(pen, call->claim);
        end_argument(pen, from);
    }
}

/* An argument of its own. */
static void add_number(struct pen *pen, int64_t value)
{
    const char *from = pen->writer.at;

    takt_write_int(&pen->writer, value);
    end_argument(pen, from);
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

static bool has_log(const takt_numbers *numbers)
{
    for (int i = 0; i < numbers->rule_count; i++)
        if (numbers->rules[i].algorithm->logged)
            return true;
    return false;
}

/* Whether its work holds permits, of any level. */
static bool has_permits(const takt_store_call *call)
{
    bool has = call->numbers->concurrency > 0;

    for (int i = 0; i < call->inner_count; i++)
        has = has || call->inner[i].numbers->concurrency > 0;
    return has;
}

/* The line is named, though many calls do not need it: a wish for it costs more than its keys. */
static int choose_keys(const takt_store_call *call, int keys)
{
    if (keys == 0 && call->numbers->concurrency == 0 && is_brief(call))
        return 0;
    if (keys == 0)
        keys = TAKT_KEYS_TEXT | TAKT_KEYS_LINE | (has_log(call->numbers) ? TAKT_KEYS_LOG : 0);
    return keys | (has_permits(call) ? TAKT_KEYS_HELD : 0);
}

bool takt_script_call_write(takt_script_call *script_call, const char *name_space,
                            const takt_store_call *call)
{
    const takt_script *script = &takt_scripts[call->op];
    struct pen pen = {script_call,
                      {script_call->text, script_call->text + sizeof script_call->text, false},
                      false};
    bool brief, permits;

    script_call->count = 0;
    add(script_call, "EVALSHA", 7);
    add(script_call, script->sha1, sizeof script->sha1 - 1);
    if (call->exchange)
        return write_policy_call(&pen, name_space, call);
    script_call->keys = choose_keys(call, script_call->keys);
    brief = script_call->keys == 0;
    permits = script_call->keys & TAKT_KEYS_HELD;
    if (!add_names(script_call, name_space, call, script_call->keys))
        return false;
    if (!brief)
        add_limit(&pen, call->numbers);
    if (brief)
        add_brief_claim(&pen, call);
    else if (call->op == TAKT_OP_CLAIM)
        add_claim(&pen, call);
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
    end_argument(&pen, script_call->text);
    add_inner(&pen, call);
    assert(!pen.writer.full);
    return true;
}
