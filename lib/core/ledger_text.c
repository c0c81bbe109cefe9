/*
 * ledger_text.c: see ledger_text.h.
 */
#include "core/ledger_text.h"

#include <string.h>

#include "base/text.h"
#include "core/brake.h"
#include "core/gaps.h"
#include "core/meter.h"
#include "rules/gcra.h"

#define NUMBER_SIZE 21 /* the longest int64 and its separator */
#define PLACE_SIZE  ((17 + 2 * TAKT_MORE_MAX) * NUMBER_SIZE)
#define HOLDER_SIZE (5 * NUMBER_SIZE)
#define TENANT_SIZE (4 * NUMBER_SIZE + TAKT_TENANT_TEXT_MAX + 1)

size_t takt_ledger_text_size(int line_count, int holder_count, int tenant_count)
{
    return (size_t)TAKT_RULES_MAX * (TAKT_RULE_TEXT_SIZE + 1) +
           (31 + 3 * TAKT_OFFERS_MAX + 3 * TAKT_GAPS_MAX) * NUMBER_SIZE + TAKT_REASON_TEXT_MAX +
           (size_t)line_count * PLACE_SIZE + (size_t)holder_count * HOLDER_SIZE +
           (size_t)tenant_count * TENANT_SIZE;
}

static void write_number(takt_writer *writer, char before, int64_t value)
{
    takt_write_char(writer, before);
    takt_write_int(writer, value);
}

static int64_t read_number(takt_reader *reader, int64_t min, int64_t max)
{
    takt_read_char(reader, ',');
    return takt_read_int(reader, min, max);
}

void takt_adapt_write(const takt_adapt *adapt, takt_writer *writer)
{
    takt_write_int(writer, adapt->backoff);
    write_number(writer, ',', adapt->recover);
    write_number(writer, ',', adapt->recover_us);
    write_number(writer, ',', adapt->floor);
}

void takt_ledger_write_bound(const takt_numbers *numbers, takt_writer *writer)
{
    takt_write_int(writer, numbers->max_waiting);
    takt_when_full_write(numbers->when_full, writer);
}

void takt_when_full_write(takt_when_full way, takt_writer *writer)
{
    if (way == TAKT_WHEN_FULL_DROP_OLDEST)
        takt_write_char(writer, 'o');
    if (way == TAKT_WHEN_FULL_DROP_LOWEST)
        takt_write_char(writer, 'u');
}

takt_when_full takt_when_full_read(takt_reader *reader)
{
    return takt_read_if(reader, 'o')   ? TAKT_WHEN_FULL_DROP_OLDEST
           : takt_read_if(reader, 'u') ? TAKT_WHEN_FULL_DROP_LOWEST
                                       : TAKT_WHEN_FULL_REFUSE;
}

/* ---- the parts behind the rules ------------------------------------------------------ */

/* rREVISION,LOOKAHEAD,MAX_WAITING[o|u][,CONCURRENCY,LEASE] */

static int has_revision(const takt_ledger *ledger)
{
    return ledger->numbers->revision > 0;
}

static void write_revision(takt_writer *writer, const takt_ledger *ledger, int i)
{
    const takt_numbers *numbers = ledger->numbers;

    (void)i;
    takt_write_int(writer, numbers->revision);
    write_number(writer, ',', numbers->lookahead_us);
    takt_write_char(writer, ',');
    takt_ledger_write_bound(numbers, writer);
    if (numbers->concurrency > 0) {
        write_number(writer, ',', numbers->concurrency);
        write_number(writer, ',', numbers->lease_us);
    }
}

static void read_revision(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    (void)ledger;
    kept->revision = takt_read_int(reader, 1, TAKT_EXACT_MAX);
    kept->lookahead_us = read_number(reader, 0, TAKT_LOOKAHEAD_MAX_US);
    kept->max_waiting = read_number(reader, 0, TAKT_EXACT_MAX);
    kept->when_full = takt_when_full_read(reader);
    kept->concurrency = 0;
    if (takt_read_if(reader, ',')) {
        kept->concurrency = takt_read_int(reader, 1, TAKT_CONCURRENCY_MAX);
        kept->lease_us = read_number(reader, 1, TAKT_SPAN_MAX_US);
    }
    kept->adapt = (takt_adapt){0};
}

/* aBACKOFF,RECOVER,TIME,FLOOR */

static int has_adapt(const takt_ledger *ledger)
{
    return ledger->numbers->revision > 0 && ledger->numbers->adapt.backoff > 0;
}

static void write_adapt(takt_writer *writer, const takt_ledger *ledger, int i)
{
    (void)i;
    takt_adapt_write(&ledger->numbers->adapt, writer);
}

static void read_adapt(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    (void)ledger;
    reader->bad |= kept->revision == 0;
    kept->adapt.backoff = takt_read_int(reader, 1, TAKT_WHOLE_PERCENT - 1);
    kept->adapt.recover = read_number(reader, 1, TAKT_WHOLE_PERCENT);
    kept->adapt.recover_us = read_number(reader, 1, TAKT_RECOVER_MAX_US);
    kept->adapt.floor = read_number(reader, 1, TAKT_WHOLE_PERCENT - 1);
}

/* nNUMBER[,LEASED] */

static int has_fence(const takt_ledger *ledger)
{
    return ledger->fence > 0;
}

static void write_fence(takt_writer *writer, const takt_ledger *ledger, int i)
{
    (void)i;
    takt_write_int(writer, ledger->fence);
    if (ledger->leased_until_us > 0)
        write_number(writer, ',', ledger->leased_until_us);
}

static void read_fence(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    (void)kept;
    ledger->fence = takt_read_int(reader, 1, TAKT_EXACT_MAX);
    if (takt_read_if(reader, ','))
        ledger->leased_until_us = takt_read_int(reader, 1, TAKT_EXACT_MAX);
}

/* tTURN */

static int has_turn(const takt_ledger *ledger)
{
    return ledger->line_count > 0;
}

static void write_turn(takt_writer *writer, const takt_ledger *ledger, int i)
{
    (void)i;
    takt_write_int(writer, ledger->turn);
}

static void read_turn(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    (void)kept;
    ledger->turn = takt_read_int(reader, 0, TAKT_EXACT_MAX);
}

/* bINSTANT[,REASON] */

static int has_block(const takt_ledger *ledger)
{
    return ledger->blocked_until_us > 0;
}

static void write_block(takt_writer *writer, const takt_ledger *ledger, int i)
{
    (void)i;
    takt_write_int(writer, ledger->blocked_until_us);
    if (ledger->reason[0])
        takt_write_char(writer, ',');
    takt_write_text(writer, ledger->reason);
}

static void read_reason(takt_reader *reader, char *reason)
{
    size_t size = 0;

    while (reader->at < reader->end && *reader->at != ';' && size < TAKT_REASON_TEXT_MAX)
        reason[size++] = *reader->at++;
    reason[size] = '\0';
    reader->bad |= size == 0 || strlen(reason) != size;
}

static void read_block(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    (void)kept;
    ledger->blocked_until_us = takt_read_int(reader, 1, TAKT_EXACT_MAX);
    if (takt_read_if(reader, ','))
        read_reason(reader, ledger->reason);
}

/* kPERCENT,SINCE,COUNTED,STATE[,FROM,UNTIL] */

static int has_brake(const takt_ledger *ledger)
{
    return ledger->state.brake.tokens > 0;
}

static void write_brake(takt_writer *writer, const takt_ledger *ledger, int i)
{
    const takt_rules_state *state = &ledger->state;

    (void)i;
    takt_write_int(writer, ledger->brake.percent);
    write_number(writer, ',', ledger->brake.since_us);
    write_number(writer, ',', ledger->brake.counted_at_us);
    takt_write_char(writer, ',');
    takt_gcra_write_state(&state->brake, &state->rules[ledger->numbers->rule_count], writer);
    if (ledger->brake.paced_until_us > 0) {
        write_number(writer, ',', ledger->brake.paced_from_us);
        write_number(writer, ',', ledger->brake.paced_until_us);
    }
}

/* The brake's rule follows from the rules: the text has only its state, which is checked when the
 * rule is known. The times of a paced block come after it. */
static void read_brake(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    takt_rule_state state = ledger->state.rules[kept->rule_count];
    takt_rule any = {.tokens = TAKT_RULE_LIMIT_MAX};

    ledger->brake.percent = takt_read_int(reader, 0, TAKT_WHOLE_PERCENT - 1);
    ledger->brake.since_us = read_number(reader, 0, TAKT_EXACT_MAX);
    ledger->brake.counted_at_us = read_number(reader, 0, TAKT_EXACT_MAX);
    takt_read_char(reader, ',');
    takt_gcra_read_state(&any, &state, reader);
    if (takt_read_if(reader, ',')) {
        ledger->brake.paced_from_us = takt_read_int(reader, 1, TAKT_EXACT_MAX);
        ledger->brake.paced_until_us = read_number(reader, 1, TAKT_EXACT_MAX);
    }
    reader->bad |= ledger->brake.percent > 0 && kept->revision > 0 && kept->adapt.backoff == 0;
    if (reader->bad || !takt_brake_restore(ledger) ||
        state.gcra.tat.parts >= ledger->state.brake.tokens || state.gcra.lows.count > 0)
        reader->bad = true;
    state.gcra.until_us = ledger->brake.paced_until_us;
    ledger->state.rules[kept->rule_count] = state;
}

/* mUNTIL,SINCE,TAKEN */

static int has_meter(const takt_ledger *ledger)
{
    return ledger->meter.until_us > 0;
}

static void write_meter(takt_writer *writer, const takt_ledger *ledger, int i)
{
    (void)i;
    takt_write_int(writer, ledger->meter.until_us);
    write_number(writer, ',', ledger->meter.since_us);
    write_number(writer, ',', ledger->meter.taken);
}

static void read_meter(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    (void)kept;
    ledger->meter.until_us = takt_read_int(reader, 1, TAKT_EXACT_MAX);
    ledger->meter.since_us = read_number(reader, 1, TAKT_EXACT_MAX);
    ledger->meter.taken = read_number(reader, 0, TAKT_EXACT_MAX);
}

/* cSTATED,CONTESTED */

static int has_contest(const takt_ledger *ledger)
{
    return ledger->contest.contested_at_us > 0;
}

static void write_contest(takt_writer *writer, const takt_ledger *ledger, int i)
{
    (void)i;
    takt_write_int(writer, ledger->contest.stated_at_us);
    write_number(writer, ',', ledger->contest.contested_at_us);
}

static void read_contest(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    (void)kept;
    ledger->contest.stated_at_us = takt_read_int(reader, 1, TAKT_EXACT_MAX);
    ledger->contest.contested_at_us = read_number(reader, 1, TAKT_EXACT_MAX);
}

/* eASKED,ASKER and for each offer ,SLOT,COST,PRIORITY */

static int has_offers(const takt_ledger *ledger)
{
    return ledger->offers.asked_at_us > 0 || ledger->offers.count > 0;
}

static void write_offers(takt_writer *writer, const takt_ledger *ledger, int i)
{
    (void)i;
    takt_write_int(writer, ledger->offers.asked_at_us);
    takt_write_char(writer, ',');
    takt_write_hex(writer, ledger->offers.asker);
    for (int j = 0; j < ledger->offers.count; j++) {
        write_number(writer, ',', ledger->offers.slots[j].slot_us);
        write_number(writer, ',', ledger->offers.slots[j].cost);
        write_number(writer, ',', ledger->offers.slots[j].priority);
    }
}

static void read_offers(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    takt_offers *offers = &ledger->offers;

    (void)kept;
    offers->asked_at_us = takt_read_int(reader, 0, TAKT_EXACT_MAX);
    takt_read_char(reader, ',');
    offers->asker = takt_read_hex(reader);
    while (offers->count < TAKT_OFFERS_MAX && takt_read_if(reader, ',')) {
        takt_offer *offer = &offers->slots[offers->count++];
        offer->slot_us = takt_read_int(reader, 0, TAKT_EXACT_MAX);
        offer->cost = (int32_t)read_number(reader, 1, TAKT_COST_MAX);
        offer->priority = (int32_t)read_number(reader, 0, TAKT_PRIORITY_MAX);
    }
    reader->bad |= !has_offers(ledger);
}

/* v[INSTANT,PARTS,COUNT...][+UNUSED]; a line that is empty has no UNUSED */

static bool has_unused(const takt_ledger *ledger)
{
    return ledger->line_count > 0 && ledger->gaps.unused_us > 0;
}

static int has_gaps(const takt_ledger *ledger)
{
    return ledger->gaps.count > 0 || has_unused(ledger);
}

static void write_gaps(takt_writer *writer, const takt_ledger *ledger, int i)
{
    (void)i;
    for (int j = 0; j < ledger->gaps.count; j++) {
        const takt_gap *run = &ledger->gaps.runs[j];
        if (j > 0)
            takt_write_char(writer, ',');
        takt_write_int(writer, run->first.us);
        write_number(writer, ',', run->first.parts);
        write_number(writer, ',', run->count);
    }
    if (has_unused(ledger))
        write_number(writer, '+', ledger->gaps.unused_us);
}

/* "+UNUSED", if it is there. */
static bool read_unused(takt_reader *reader, takt_gaps *gaps)
{
    if (!takt_read_if(reader, '+'))
        return false;
    gaps->unused_us = takt_read_int(reader, 1, TAKT_EXACT_MAX);
    return true;
}

static void read_gaps(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    takt_gaps *gaps = &ledger->gaps;
    int rule = takt_gaps_rule(kept);

    if (rule < 0) {
        reader->bad = true;
        return;
    }
    if (read_unused(reader, gaps))
        return;
    do {
        takt_gap *run = &gaps->runs[gaps->count++];
        run->first.us = takt_read_int(reader, 1, TAKT_EXACT_MAX);
        run->first.parts = read_number(reader, 0, kept->rules[rule].tokens - 1);
        run->count = read_number(reader, 1, TAKT_GAP_MAX);
        /* its last slot is an instant, too */
        reader->bad |=
            run->count > (TAKT_EXACT_MAX - run->first.us) / (kept->rules[rule].interval.us + 1);
    } while (!reader->bad && gaps->count < TAKT_GAPS_MAX && takt_read_if(reader, ','));
    (void)read_unused(reader, gaps);
}

/* hWORKER,SEQ,HELD,EXPIRES */

static int count_holders(const takt_ledger *ledger)
{
    return ledger->holder_count;
}

static void write_holder(takt_writer *writer, const takt_ledger *ledger, int i)
{
    const takt_holder *holder = &ledger->holders[i];

    takt_write_hex(writer, holder->worker);
    write_number(writer, ',', holder->seq);
    write_number(writer, ',', holder->held);
    write_number(writer, ',', holder->expires_at_us);
}

static void read_holder(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    takt_holder *holder;

    (void)kept;
    if (ledger->holder_count == ledger->holder_capacity) {
        reader->bad = true;
        return;
    }
    holder = &ledger->holders[ledger->holder_count];
    holder->worker = takt_read_hex(reader);
    holder->seq = read_number(reader, 0, TAKT_EXACT_MAX);
    holder->held = read_number(reader, 1, TAKT_EXACT_MAX);
    holder->expires_at_us = read_number(reader, 0, TAKT_EXACT_MAX);
    reader->bad |= ledger->holder_count > 0 && holder[-1].worker >= holder->worker;
    ledger->holder_count++;
}

/* pPRIORITY,WEIGHT,TAG,SINCE,NAME */

static int count_tenants(const takt_ledger *ledger)
{
    return ledger->tenant_count;
}

static void write_tenant(takt_writer *writer, const takt_ledger *ledger, int i)
{
    const takt_tenant *tenant = &ledger->tenants[i];

    takt_write_int(writer, tenant->priority);
    write_number(writer, ',', tenant->weight);
    write_number(writer, ',', tenant->tag);
    write_number(writer, ',', tenant->since_us);
    takt_write_char(writer, ',');
    takt_write_text(writer, tenant->name);
}

static void read_tenant(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    takt_tenant *tenant;
    size_t size = 0;

    (void)kept;
    if (ledger->tenant_count == ledger->tenant_capacity ||
        ledger->tenant_count == TAKT_TENANTS_MAX) {
        reader->bad = true;
        return;
    }
    tenant = &ledger->tenants[ledger->tenant_count++];
    tenant->priority = (int8_t)takt_read_int(reader, 0, TAKT_PRIORITY_MAX);
    tenant->weight = read_number(reader, 1, TAKT_TENANT_WEIGHT_MAX);
    tenant->tag = read_number(reader, 0, TAKT_EXACT_MAX / 2);
    tenant->since_us = read_number(reader, 0, TAKT_EXACT_MAX);
    takt_read_char(reader, ',');
    while (reader->at < reader->end && *reader->at != ';' && size < TAKT_TENANT_TEXT_MAX)
        tenant->name[size++] = *reader->at++;
    tenant->name[size] = '\0';
    reader->bad |= strlen(tenant->name) != size;
}

/* wWORKER,SEQ,PRIORITY,TURN,WANTING,NEED,WAITING,AGAIN,EXPIRES[*WEIGHT[+LEFT]][-FORMER][,[a][f][p]],
 * then with tenants @TENANT,CLIENT[,HELD_BACK][+DUE_IN], and of each further unit /WANTING,NEED: up
 * to the last that is wanted or needed */

static int count_places(const takt_ledger *ledger)
{
    return ledger->line_count;
}

static void write_further(takt_writer *writer, const takt_place *place)
{
    int units = TAKT_UNITS;

    while (units > TAKT_UNIT_MORE && place->more.of[units - 1] == 0 &&
           place->needs.of[units - 1] == 0)
        units--;
    for (int unit = TAKT_UNIT_MORE; unit < units; unit++) {
        write_number(writer, '/', place->more.of[unit]);
        write_number(writer, ',', place->needs.of[unit]);
    }
}

static void read_further(takt_reader *reader, takt_place *place)
{
    place->more = place->needs = (takt_amounts){{0}};
    for (int unit = TAKT_UNIT_MORE; unit < TAKT_UNITS && takt_read_if(reader, '/'); unit++) {
        place->more.of[unit] = takt_read_int(reader, 0, TAKT_EXACT_MAX);
        place->needs.of[unit] = read_number(reader, 0, TAKT_COST_MAX);
    }
}

static void write_place(takt_writer *writer, const takt_ledger *ledger, int i)
{
    const takt_place *place = &ledger->line[i];

    takt_write_hex(writer, place->worker);
    write_number(writer, ',', place->seq);
    write_number(writer, ',', place->priority);
    write_number(writer, ',', place->turn);
    write_number(writer, ',', place->wanting);
    write_number(writer, ',', place->need);
    write_number(writer, ',', place->waiting);
    write_number(writer, ',', place->again_at_us);
    write_number(writer, ',', place->expires_at_us);
    if (place->weight > 1)
        write_number(writer, '*', place->weight);
    if (place->left > 0)
        write_number(writer, '+', place->left);
    if (place->former > 0)
        write_number(writer, '-', place->former);
    if (place->aside || place->foremost || place->lacking)
        takt_write_char(writer, ',');
    if (place->aside)
        takt_write_char(writer, 'a');
    if (place->foremost)
        takt_write_char(writer, 'f');
    if (place->lacking)
        takt_write_char(writer, 'p');
    if (place->tenant > 0) {
        write_number(writer, '@', place->tenant);
        takt_write_char(writer, ',');
        takt_write_hex(writer, place->process);
        if (place->held_back > 0)
            write_number(writer, ',', place->held_back);
        if (place->due_in_us > 0)
            write_number(writer, '+', place->due_in_us);
    }
    write_further(writer, place);
}

/* Where there are tenants, each place has one of its priority. */
static void read_place_of_tenant(takt_reader *reader, const takt_ledger *ledger, takt_place *place)
{
    place->tenant = 0;
    place->process = 0;
    place->held_back = place->due_in_us = 0;
    if (ledger->tenant_count == 0)
        return;
    takt_read_char(reader, '@');
    place->tenant = (int16_t)takt_read_int(reader, 1, ledger->tenant_count);
    takt_read_char(reader, ',');
    place->process = takt_read_hex(reader);
    if (takt_read_if(reader, ','))
        place->held_back = takt_read_int(reader, 1, place->waiting);
    if (takt_read_if(reader, '+'))
        place->due_in_us = takt_read_int(reader, 1, TAKT_EXACT_MAX);
    reader->bad |= ledger->tenants[place->tenant - 1].priority != place->priority;
}

/* Places are sorted by priority, then turn, and each turn is given once. */
static bool in_order(const takt_place *before, const takt_place *place)
{
    return before->priority < place->priority ||
           (before->priority == place->priority && before->turn < place->turn);
}

static void read_place(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    takt_place *place;

    (void)kept;
    if (ledger->line_count == ledger->line_capacity) {
        reader->bad = true;
        return;
    }
    place = &ledger->line[ledger->line_count];
    place->worker = takt_read_hex(reader);
    place->seq = read_number(reader, 0, TAKT_EXACT_MAX);
    place->priority = (int8_t)read_number(reader, 0, TAKT_PRIORITY_MAX);
    place->turn = read_number(reader, 0, TAKT_EXACT_MAX);
    place->wanting = read_number(reader, 0, TAKT_EXACT_MAX);
    place->need = read_number(reader, 1, TAKT_COST_MAX);
    place->waiting = read_number(reader, 0, TAKT_EXACT_MAX);
    place->again_at_us = read_number(reader, 0, TAKT_EXACT_MAX);
    place->expires_at_us = read_number(reader, 0, TAKT_EXACT_MAX);
    place->weight = takt_read_if(reader, '*') ? takt_read_int(reader, 2, TAKT_WEIGHT_MAX) : 1;
    place->left = takt_read_if(reader, '+') ? takt_read_int(reader, 1, TAKT_WEIGHT_MAX) : 0;
    place->former = takt_read_if(reader, '-') ? takt_read_int(reader, 1, TAKT_EXACT_MAX) : 0;
    reader->bad |= place->left >= place->weight;
    place->aside = place->foremost = place->lacking = place->behind = false;
    place->inside_at = 0;
    if (takt_read_if(reader, ',')) {
        place->aside = takt_read_if(reader, 'a');
        place->foremost = takt_read_if(reader, 'f');
        place->lacking = takt_read_if(reader, 'p');
        reader->bad |= !place->aside && !place->foremost && !place->lacking;
    }
    read_place_of_tenant(reader, ledger, place);
    read_further(reader, place);
    if (place->turn - TAKT_OWED_MAX > ledger->turn + 1 ||
        (ledger->line_count > 0 && !in_order(place - 1, place)))
        reader->bad = true;
    ledger->line_count++;
}

/* The parts in their order: the letter, how many a ledger has, and the functions that write and
 * read one after its letter. The scripts have theirs in lua/ledger.lua. */
#define PARTS(PART)                                                                                \
    PART('r', has_revision, write_revision, read_revision)                                         \
    PART('a', has_adapt, write_adapt, read_adapt)                                                  \
    PART('n', has_fence, write_fence, read_fence)                                                  \
    PART('t', has_turn, write_turn, read_turn)                                                     \
    PART('b', has_block, write_block, read_block)                                                  \
    PART('k', has_brake, write_brake, read_brake)                                                  \
    PART('m', has_meter, write_meter, read_meter)                                                  \
    PART('c', has_contest, write_contest, read_contest)                                            \
    PART('e', has_offers, write_offers, read_offers)                                               \
    PART('v', has_gaps, write_gaps, read_gaps)                                                     \
    PART('h', count_holders, write_holder, read_holder)                                            \
    PART('p', count_tenants, write_tenant, read_tenant)                                            \
    PART('w', count_places, write_place, read_place)

/* ---- the whole ------------------------------------------------------------------------ */

#define WRITE_PART(letter, count, write, read)                                                     \
    for (int i = 0, n = count(ledger); i < n; i++) {                                               \
        if (writer.at > text)                                                                      \
            takt_write_char(&writer, ';');                                                         \
        takt_write_char(&writer, letter);                                                          \
        write(&writer, ledger, i);                                                                 \
    }

size_t takt_ledger_encode(const takt_ledger *ledger, char *text, size_t size)
{
    const takt_numbers *numbers = ledger->numbers;
    takt_writer writer = {text, text + size, false};

    for (int i = 0; i < numbers->rule_count; i++) {
        if (i > 0)
            takt_write_char(&writer, ';');
        takt_rule_write(&numbers->rules[i], &ledger->state.rules[i], &writer);
    }
    PARTS(WRITE_PART)
    return (size_t)(writer.at - text);
}

/* How many parts begin with the letter. */
static int count_letter(const char *text, size_t size, char letter)
{
    int count = 0;

    for (const char *at = text; (at = memchr(at, letter, size - (size_t)(at - text))); at++)
        count += at == text || at[-1] == ';';
    return count;
}

int takt_ledger_text_places(const char *text, size_t size)
{
    return count_letter(text, size, 'w');
}

int takt_ledger_text_holders(const char *text, size_t size)
{
    return count_letter(text, size, 'h');
}

int takt_ledger_text_tenants(const char *text, size_t size)
{
    return count_letter(text, size, 'p');
}

/* Reads the rules: all segments before the first one whose letter is not an algorithm's. True: more
 * segments follow. */
static bool read_rules(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    kept->rule_count = 0;
    do {
        if (reader->at < reader->end && !takt_algorithm_lettered(*reader->at))
            return true;
        if (kept->rule_count == TAKT_RULES_MAX) {
            reader->bad = true;
            return false;
        }
        takt_rule_read(&kept->rules[kept->rule_count], &ledger->state.rules[kept->rule_count],
                       reader);
        kept->rule_count++;
    } while (!reader->bad && takt_read_if(reader, ';'));
    return false;
}

/* Reads or writes all parts of one letter with their separators. Returns at the end of the text. */
#define READ_PART(letter, count, write, read)                                                      \
    while (!reader->bad && takt_read_if(reader, letter)) {                                         \
        read(reader, ledger, kept);                                                                \
        if (!takt_read_if(reader, ';'))                                                            \
            return;                                                                                \
        if (!is_repeated(letter))                                                                  \
            break;                                                                                 \
    }

static bool is_repeated(char letter)
{
    return letter == 'h' || letter == 'p' || letter == 'w';
}

static void read_parts(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    PARTS(READ_PART)
}

static bool read_ledger(takt_ledger *ledger, const takt_numbers *numbers, takt_numbers *kept,
                        const char *text, size_t size)
{
    takt_reader reader = {text, text + size, false};

    takt_ledger_empty(ledger, kept);
    *kept = *numbers;
    kept->revision = 0;
    if (read_rules(&reader, ledger, kept))
        read_parts(&reader, ledger, kept);
    if (ledger->leased_until_us == 0) /* the script reads only this */
        ledger->holder_count = 0;
    return takt_read_done(&reader);
}

int takt_ledger_decode(takt_ledger *ledger, const takt_numbers *numbers, takt_numbers *kept,
                       int64_t now_us, const char *text, size_t size)
{
    int64_t given_until_us;

    if (read_ledger(ledger, numbers, kept, text, size)) {
        takt_ledger_adopt(ledger, numbers, now_us);
        return 0;
    }
    given_until_us = now_us + numbers->lookahead_us;
    takt_ledger_init(ledger, numbers, now_us);
    takt_numbers_exhaust(numbers, &ledger->state, given_until_us); /* a bucket may be deeper */
    ledger->blocked_until_us = given_until_us + takt_numbers_span(numbers);
    takt_brake_pace(ledger, now_us);
    return -1;
}
