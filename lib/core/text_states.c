/*
 * text_states.c: the parts of a ledger's text that tell its state (text_part.h): a ledger has one
 * of each or none.
 */
#include "core/text_part.h"

#include "core/brake.h"
#include "core/gaps.h"
#include "core/meter.h"
#include "core/numbers_text.h"
#include "rules/gcra.h"

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
    takt_write_number(writer, ',', numbers->lookahead_us);
    takt_write_char(writer, ',');
    takt_numbers_write_bound(numbers, writer);
    if (numbers->concurrency > 0) {
        takt_write_number(writer, ',', numbers->concurrency);
        takt_write_number(writer, ',', numbers->lease_us);
    }
}

static void read_revision(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    (void)ledger;
    kept->revision = takt_read_int(reader, 1, TAKT_EXACT_MAX);
    kept->lookahead_us = takt_read_number(reader, 0, TAKT_LOOKAHEAD_MAX_US);
    kept->max_waiting = takt_read_number(reader, 0, TAKT_EXACT_MAX);
    kept->when_full = takt_when_full_read(reader);
    kept->concurrency = 0;
    if (takt_read_if(reader, ',')) {
        kept->concurrency = takt_read_int(reader, 1, TAKT_CONCURRENCY_MAX);
        kept->lease_us = takt_read_number(reader, 1, TAKT_SPAN_MAX_US);
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
    kept->adapt.recover = takt_read_number(reader, 1, TAKT_WHOLE_PERCENT);
    kept->adapt.recover_us = takt_read_number(reader, 1, TAKT_RECOVER_MAX_US);
    kept->adapt.floor = takt_read_number(reader, 1, TAKT_WHOLE_PERCENT - 1);
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
        takt_write_number(writer, ',', ledger->leased_until_us);
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
    takt_write_number(writer, ',', ledger->brake.since_us);
    takt_write_number(writer, ',', ledger->brake.counted_at_us);
    takt_write_char(writer, ',');
    takt_gcra_write_state(&state->brake, &state->rules[ledger->numbers->rule_count], writer);
    if (ledger->brake.paced_until_us > 0) {
        takt_write_number(writer, ',', ledger->brake.paced_from_us);
        takt_write_number(writer, ',', ledger->brake.paced_until_us);
    }
}

/* The brake's rule follows from the rules: the text has only its state, which is checked when the
 * rule is known. The times of a paced block come after it. */
static void read_brake(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    takt_rule_state state = ledger->state.rules[kept->rule_count];
    takt_rule any = {.tokens = TAKT_RULE_LIMIT_MAX};

    ledger->brake.percent = takt_read_int(reader, 0, TAKT_WHOLE_PERCENT - 1);
    ledger->brake.since_us = takt_read_number(reader, 0, TAKT_EXACT_MAX);
    ledger->brake.counted_at_us = takt_read_number(reader, 0, TAKT_EXACT_MAX);
    takt_read_char(reader, ',');
    takt_gcra_read_state(&any, &state, reader);
    if (takt_read_if(reader, ',')) {
        ledger->brake.paced_from_us = takt_read_int(reader, 1, TAKT_EXACT_MAX);
        ledger->brake.paced_until_us = takt_read_number(reader, 1, TAKT_EXACT_MAX);
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
    takt_write_number(writer, ',', ledger->meter.since_us);
    takt_write_number(writer, ',', ledger->meter.taken);
}

static void read_meter(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    (void)kept;
    ledger->meter.until_us = takt_read_int(reader, 1, TAKT_EXACT_MAX);
    ledger->meter.since_us = takt_read_number(reader, 1, TAKT_EXACT_MAX);
    ledger->meter.taken = takt_read_number(reader, 0, TAKT_EXACT_MAX);
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
    takt_write_number(writer, ',', ledger->contest.contested_at_us);
}

static void read_contest(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    (void)kept;
    ledger->contest.stated_at_us = takt_read_int(reader, 1, TAKT_EXACT_MAX);
    ledger->contest.contested_at_us = takt_read_number(reader, 1, TAKT_EXACT_MAX);
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
        takt_write_number(writer, ',', ledger->offers.slots[j].slot_us);
        takt_write_number(writer, ',', ledger->offers.slots[j].cost);
        takt_write_number(writer, ',', ledger->offers.slots[j].priority);
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
        offer->cost = (int32_t)takt_read_number(reader, 1, TAKT_COST_MAX);
        offer->priority = (int32_t)takt_read_number(reader, 0, TAKT_PRIORITY_MAX);
    }
    reader->bad |= !has_offers(ledger);
}

/* v[INSTANT,PARTS,LENGTH...][+UNUSED]; a line that is empty has no UNUSED */

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
        takt_write_number(writer, ',', run->first.parts);
        takt_write_number(writer, ',', run->until_us - run->first.us);
    }
    if (has_unused(ledger))
        takt_write_number(writer, '+', ledger->gaps.unused_us);
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
        takt_fraction first;
        first.us = takt_read_int(reader, 1, TAKT_EXACT_MAX);
        first.parts = takt_read_number(reader, 0, kept->rules[rule].tokens - 1);
        *run = takt_gaps_run(&kept->rules[rule], first,
                             first.us + takt_read_number(reader, 1, TAKT_EXACT_MAX - first.us));
        reader->bad |= run->count < 1;
    } while (!reader->bad && gaps->count < TAKT_GAPS_MAX && takt_read_if(reader, ','));
    (void)read_unused(reader, gaps);
}

#define STATES(PART)                                                                               \
    PART('r', has_revision, write_revision, read_revision)                                         \
    PART('a', has_adapt, write_adapt, read_adapt)                                                  \
    PART('n', has_fence, write_fence, read_fence)                                                  \
    PART('t', has_turn, write_turn, read_turn)                                                     \
    PART('b', has_block, write_block, read_block)                                                  \
    PART('k', has_brake, write_brake, read_brake)                                                  \
    PART('m', has_meter, write_meter, read_meter)                                                  \
    PART('c', has_contest, write_contest, read_contest)                                            \
    PART('e', has_offers, write_offers, read_offers)                                               \
    PART('v', has_gaps, write_gaps, read_gaps)

void takt_text_write_states(takt_writer *writer, const char *text, const takt_ledger *ledger)
{
    STATES(TAKT_WRITE_PART)
}

bool takt_text_read_states(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    STATES(TAKT_READ_PART)
    return true;
}
