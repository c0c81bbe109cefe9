/*
 * ledger_text.c: see ledger_text.h.
 */
#include "core/ledger_text.h"

#include <string.h>

#include "base/text.h"
#include "core/brake.h"
#include "core/gcra.h"
#include "core/watched.h"

#define NUMBER_SIZE 21 /* the longest int64 and what separates it from the next */
#define PLACE_SIZE  (10 * NUMBER_SIZE)
#define HOLDER_SIZE (5 * NUMBER_SIZE)

size_t takt_ledger_text_size(int line_count, int holder_count)
{
    return (size_t)TAKT_RULES_MAX * (TAKT_RULE_TEXT_SIZE + 1) + 24 * NUMBER_SIZE +
           TAKT_REASON_TEXT_MAX + (size_t)line_count * PLACE_SIZE +
           (size_t)holder_count * HOLDER_SIZE;
}

static void write_number(takt_writer *writer, char before, int64_t value)
{
    takt_write_char(writer, before);
    takt_write_int(writer, value);
}

static void write_place(takt_writer *writer, const takt_place *place)
{
    takt_write_text(writer, ";w");
    takt_write_hex(writer, place->worker);
    write_number(writer, ',', place->seq);
    write_number(writer, ',', place->priority);
    write_number(writer, ',', place->turn);
    write_number(writer, ',', place->wanting);
    write_number(writer, ',', place->need);
    write_number(writer, ',', place->waiting);
    write_number(writer, ',', place->again_at_us);
    write_number(writer, ',', place->expires_at_us);
    if (place->aside || place->foremost || place->lacking)
        takt_write_char(writer, ',');
    if (place->aside)
        takt_write_char(writer, 'a');
    if (place->foremost)
        takt_write_char(writer, 'f');
    if (place->lacking)
        takt_write_char(writer, 'p');
}

/* A part behind the rules, named by its letter; what comes first has nothing before it. */
static void write_part(takt_writer *writer, const char *text, char letter, int64_t value)
{
    if (writer->at > text)
        takt_write_char(writer, ';');
    takt_write_char(writer, letter);
    takt_write_int(writer, value);
}

void takt_adapt_write(const takt_adapt *adapt, takt_writer *writer)
{
    takt_write_int(writer, adapt->backoff);
    write_number(writer, ',', adapt->recover);
    write_number(writer, ',', adapt->recover_us);
    write_number(writer, ',', adapt->floor);
}

static void write_block(takt_writer *writer, const char *text, const takt_ledger *ledger)
{
    write_part(writer, text, 'b', ledger->blocked_until_us);
    if (ledger->reason[0])
        takt_write_char(writer, ',');
    takt_write_text(writer, ledger->reason);
}

static void write_brake(takt_writer *writer, const takt_ledger *ledger)
{
    const takt_limit_state *state = &ledger->state;

    takt_write_text(writer, ";k");
    takt_write_int(writer, ledger->brake.percent);
    write_number(writer, ',', ledger->brake.since_us);
    write_number(writer, ',', ledger->brake.counted_at_us);
    takt_write_char(writer, ',');
    takt_gcra_write_state(&state->brake, &state->rules[ledger->limit->rule_count], writer);
}

static void write_watched(takt_writer *writer, const char *text, const takt_watched *watched)
{
    write_part(writer, text, 'm', watched->until_us);
    write_number(writer, ',', watched->since_us);
    write_number(writer, ',', watched->taken);
}

static void write_holder(takt_writer *writer, const takt_holder *holder)
{
    takt_write_text(writer, ";h");
    takt_write_hex(writer, holder->worker);
    write_number(writer, ',', holder->seq);
    write_number(writer, ',', holder->held);
    write_number(writer, ',', holder->expires_at_us);
}

void takt_ledger_write_bound(const takt_limit *limit, takt_writer *writer)
{
    takt_write_int(writer, limit->max_waiting);
    if (limit->when_full == TAKT_WHEN_FULL_DROP_OLDEST)
        takt_write_char(writer, 'o');
    if (limit->when_full == TAKT_WHEN_FULL_DROP_LOWEST)
        takt_write_char(writer, 'u');
}

size_t takt_ledger_encode(const takt_ledger *ledger, char *text, size_t size)
{
    const takt_limit *limit = ledger->limit;
    takt_writer writer = {text, text + size, false};

    for (int i = 0; i < limit->rule_count; i++) {
        if (i > 0)
            takt_write_char(&writer, ';');
        takt_rule_write(&limit->rules[i], &ledger->state.rules[i], &writer);
    }
    if (limit->revision > 0) {
        write_part(&writer, text, 'r', limit->revision);
        write_number(&writer, ',', limit->lookahead_us);
        takt_write_char(&writer, ',');
        takt_ledger_write_bound(limit, &writer);
    }
    if (limit->revision > 0 && limit->concurrency > 0) {
        write_number(&writer, ',', limit->concurrency);
        write_number(&writer, ',', limit->lease_us);
    }
    if (limit->revision > 0 && limit->adapt.backoff > 0) {
        takt_write_text(&writer, ";a");
        takt_adapt_write(&limit->adapt, &writer);
    }
    if (ledger->fence > 0)
        write_part(&writer, text, 'n', ledger->fence);
    if (ledger->leased_until_us > 0)
        write_number(&writer, ',', ledger->leased_until_us);
    if (ledger->line_count > 0)
        write_part(&writer, text, 't', ledger->turn);
    if (ledger->blocked_until_us > 0)
        write_block(&writer, text, ledger);
    if (ledger->brake.percent > 0)
        write_brake(&writer, ledger);
    if (ledger->watched.until_us > 0)
        write_watched(&writer, text, &ledger->watched);
    for (int i = 0; i < ledger->holder_count; i++)
        write_holder(&writer, &ledger->holders[i]);
    for (int i = 0; i < ledger->line_count; i++)
        write_place(&writer, &ledger->line[i]);
    return (size_t)(writer.at - text);
}

static int count_letter(const char *text, size_t size, char letter)
{
    int count = 0;

    for (const char *at = text; (at = memchr(at, letter, size - (size_t)(at - text))); at++)
        count++;
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

static int64_t read_number(takt_reader *reader, int64_t min, int64_t max)
{
    takt_read_char(reader, ',');
    return takt_read_int(reader, min, max);
}

static void read_place(takt_reader *reader, takt_place *place)
{
    place->worker = takt_read_hex(reader);
    place->seq = read_number(reader, 0, TAKT_EXACT_MAX);
    place->priority = (int8_t)read_number(reader, 0, TAKT_PRIORITY_MAX);
    place->turn = read_number(reader, 0, TAKT_EXACT_MAX);
    place->wanting = read_number(reader, 0, TAKT_EXACT_MAX);
    place->need = read_number(reader, 1, TAKT_COST_MAX);
    place->waiting = read_number(reader, 0, TAKT_EXACT_MAX);
    place->again_at_us = read_number(reader, 0, TAKT_EXACT_MAX);
    place->expires_at_us = read_number(reader, 0, TAKT_EXACT_MAX);
    place->aside = place->foremost = place->lacking = false;
    if (takt_read_if(reader, ',')) {
        place->aside = takt_read_if(reader, 'a');
        place->foremost = takt_read_if(reader, 'f');
        place->lacking = takt_read_if(reader, 'p');
        reader->bad |= !place->aside && !place->foremost && !place->lacking;
    }
}

/* Places stand sorted by priority, then turn, and no turn is given twice. */
static bool in_order(const takt_place *before, const takt_place *place)
{
    return before->priority < place->priority ||
           (before->priority == place->priority && before->turn < place->turn);
}

static void read_line(takt_reader *reader, takt_ledger *ledger)
{
    while (!reader->bad && takt_read_if(reader, 'w')) {
        takt_place *place;

        if (ledger->line_count == ledger->line_capacity) {
            reader->bad = true;
            return;
        }
        place = &ledger->line[ledger->line_count];
        read_place(reader, place);
        if (place->turn > ledger->turn || (ledger->line_count > 0 && !in_order(place - 1, place)))
            reader->bad = true;
        ledger->line_count++;
        if (!takt_read_if(reader, ';'))
            return;
    }
}

/* True: a place follows, or what else stands behind the holders. */
static bool read_holders(takt_reader *reader, takt_ledger *ledger)
{
    while (!reader->bad && takt_read_if(reader, 'h')) {
        takt_holder *holder;

        if (ledger->holder_count == ledger->holder_capacity) {
            reader->bad = true;
            return false;
        }
        holder = &ledger->holders[ledger->holder_count];
        holder->worker = takt_read_hex(reader);
        holder->seq = read_number(reader, 0, TAKT_EXACT_MAX);
        holder->held = read_number(reader, 1, TAKT_EXACT_MAX);
        holder->expires_at_us = read_number(reader, 0, TAKT_EXACT_MAX);
        reader->bad |= ledger->holder_count > 0 && holder[-1].worker >= holder->worker;
        ledger->holder_count++;
        if (!takt_read_if(reader, ';'))
            return false;
    }
    return true;
}

static void read_adapt(takt_reader *reader, takt_adapt *adapt)
{
    adapt->backoff = takt_read_int(reader, 1, TAKT_WHOLE_PERCENT - 1);
    adapt->recover = read_number(reader, 1, TAKT_WHOLE_PERCENT);
    adapt->recover_us = read_number(reader, 1, TAKT_RECOVER_MAX_US);
    adapt->floor = read_number(reader, 1, TAKT_WHOLE_PERCENT - 1);
}

static void read_reason(takt_reader *reader, char *reason)
{
    size_t size = 0;

    while (reader->at < reader->end && *reader->at != ';' && size < TAKT_REASON_TEXT_MAX)
        reason[size++] = *reader->at++;
    reason[size] = '\0';
    reader->bad |= size == 0 || strlen(reason) != size;
}

/* The brake follows from the rules: only its state is told. */
static void read_brake(takt_reader *reader, takt_ledger *ledger, const takt_limit *kept)
{
    ledger->brake.percent = takt_read_int(reader, 1, TAKT_WHOLE_PERCENT - 1);
    ledger->brake.since_us = read_number(reader, 0, TAKT_EXACT_MAX);
    ledger->brake.counted_at_us = read_number(reader, 0, TAKT_EXACT_MAX);
    takt_read_char(reader, ',');
    reader->bad |= kept->revision > 0 && kept->adapt.backoff == 0;
    if (reader->bad || !takt_brake_restore(ledger))
        reader->bad = true;
    else
        takt_gcra_read_state(&ledger->state.brake, &ledger->state.rules[kept->rule_count], reader);
}

/* The rules: all segments up to one whose letter is not an algorithm's.  True: more segments
 * follow. */
static bool read_rules(takt_reader *reader, takt_ledger *ledger, takt_limit *kept)
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

static void read_rest(takt_reader *reader, takt_ledger *ledger, takt_limit *kept)
{
    if (takt_read_if(reader, 'r')) {
        kept->revision = takt_read_int(reader, 1, TAKT_EXACT_MAX);
        kept->lookahead_us = read_number(reader, 0, TAKT_LOOKAHEAD_MAX_US);
        kept->max_waiting = read_number(reader, 0, TAKT_EXACT_MAX);
        kept->when_full = takt_read_if(reader, 'o')   ? TAKT_WHEN_FULL_DROP_OLDEST
                          : takt_read_if(reader, 'u') ? TAKT_WHEN_FULL_DROP_LOWEST
                                                      : TAKT_WHEN_FULL_REFUSE;
        kept->concurrency = 0;
        if (takt_read_if(reader, ',')) {
            kept->concurrency = takt_read_int(reader, 1, TAKT_CONCURRENCY_MAX);
            kept->lease_us = read_number(reader, 1, TAKT_SPAN_MAX_US);
        }
        kept->adapt = (takt_adapt){0};
        if (!takt_read_if(reader, ';'))
            return;
        if (takt_read_if(reader, 'a')) {
            read_adapt(reader, &kept->adapt);
            if (!takt_read_if(reader, ';'))
                return;
        }
    }
    if (takt_read_if(reader, 'n')) {
        ledger->fence = takt_read_int(reader, 1, TAKT_EXACT_MAX);
        if (takt_read_if(reader, ','))
            ledger->leased_until_us = takt_read_int(reader, 1, TAKT_EXACT_MAX);
        if (!takt_read_if(reader, ';'))
            return;
    }
    if (takt_read_if(reader, 't')) {
        ledger->turn = takt_read_int(reader, 0, TAKT_EXACT_MAX);
        if (!takt_read_if(reader, ';'))
            return;
    }
    if (takt_read_if(reader, 'b')) {
        ledger->blocked_until_us = takt_read_int(reader, 1, TAKT_EXACT_MAX);
        if (takt_read_if(reader, ','))
            read_reason(reader, ledger->reason);
        if (!takt_read_if(reader, ';'))
            return;
    }
    if (takt_read_if(reader, 'k')) {
        read_brake(reader, ledger, kept);
        if (!takt_read_if(reader, ';'))
            return;
    }
    if (takt_read_if(reader, 'm')) {
        ledger->watched.until_us = takt_read_int(reader, 1, TAKT_EXACT_MAX);
        ledger->watched.since_us = read_number(reader, 1, TAKT_EXACT_MAX);
        ledger->watched.taken = read_number(reader, 0, TAKT_EXACT_MAX);
        if (!takt_read_if(reader, ';'))
            return;
    }
    if (read_holders(reader, ledger))
        read_line(reader, ledger);
}

static bool read_ledger(takt_ledger *ledger, const takt_limit *limit, takt_limit *kept,
                        const char *text, size_t size)
{
    takt_reader reader = {text, text + size, false};

    takt_limit_begin(&ledger->state, ledger->pages);
    ledger->limit = kept;
    ledger->turn = 0;
    takt_ledger_unblocked(ledger);
    takt_brake_release(ledger);
    takt_watched_end(ledger);
    ledger->fence = ledger->leased_until_us = 0;
    ledger->line_count = ledger->holder_count = 0;
    memcpy(kept->name, limit->name, sizeof kept->name);
    kept->lookahead_us = limit->lookahead_us;
    kept->max_waiting = limit->max_waiting;
    kept->when_full = limit->when_full;
    kept->concurrency = limit->concurrency;
    kept->lease_us = limit->lease_us;
    kept->adapt = limit->adapt;
    kept->revision = 0;
    kept->within = limit->within;
    if (read_rules(&reader, ledger, kept))
        read_rest(&reader, ledger, kept);
    if (ledger->leased_until_us == 0) /* the script goes by that alone */
        ledger->holder_count = 0;
    return takt_read_done(&reader);
}

int takt_ledger_decode(takt_ledger *ledger, const takt_limit *limit, takt_limit *kept,
                       int64_t now_us, const char *text, size_t size)
{
    if (read_ledger(ledger, limit, kept, text, size)) {
        takt_ledger_adopt(ledger, limit, now_us);
        return 0;
    }
    takt_ledger_init(ledger, limit, now_us);
    ledger->blocked_until_us = now_us + takt_limit_span(limit);
    return -1;
}
