/*
 * text_rows.c: the parts of a ledger's text that are rows of its tables (text_part.h): its holders,
 * tenants and places.
 */
#include "core/text_part.h"

#include <string.h>

/* hWORKER,SEQ,HELD,EXPIRES */

static int count_holders(const takt_ledger *ledger)
{
    return ledger->holder_count;
}

static void write_holder(takt_writer *writer, const takt_ledger *ledger, int i)
{
    const takt_holder *holder = &ledger->holders[i];

    takt_write_hex(writer, holder->worker);
    takt_write_number(writer, ',', holder->seq);
    takt_write_number(writer, ',', holder->held);
    takt_write_number(writer, ',', holder->expires_at_us);
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
    holder->seq = takt_read_number(reader, 0, TAKT_EXACT_MAX);
    holder->held = takt_read_number(reader, 1, TAKT_EXACT_MAX);
    holder->expires_at_us = takt_read_number(reader, 0, TAKT_EXACT_MAX);
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
    takt_write_number(writer, ',', tenant->weight);
    takt_write_number(writer, ',', tenant->tag);
    takt_write_number(writer, ',', tenant->since_us);
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
    tenant->weight = takt_read_number(reader, 1, TAKT_TENANT_WEIGHT_MAX);
    tenant->tag = takt_read_number(reader, 0, TAKT_EXACT_MAX / 2);
    tenant->since_us = takt_read_number(reader, 0, TAKT_EXACT_MAX);
    takt_read_char(reader, ',');
    while (reader->at < reader->end && *reader->at != ';' && size < TAKT_TENANT_TEXT_MAX)
        tenant->name[size++] = *reader->at++;
    tenant->name[size] = '\0';
    reader->bad |= strlen(tenant->name) != size;
}

/* wWORKER,SEQ,PRIORITY,TURN,WANTING,NEED,WAITING,AGAIN,EXPIRES[*WEIGHT[+LEFT]][-FORMER][,[a][f][p]],
 * then with tenants @TENANT,PROCESS[,HELD_BACK][+DUE_IN], and of each further unit /WANTING,NEED:
 * up to the last that is wanted or needed */

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
        takt_write_number(writer, '/', place->more.of[unit]);
        takt_write_number(writer, ',', place->needs.of[unit]);
    }
}

static void read_further(takt_reader *reader, takt_place *place)
{
    place->more = place->needs = (takt_amounts){{0}};
    for (int unit = TAKT_UNIT_MORE; unit < TAKT_UNITS && takt_read_if(reader, '/'); unit++) {
        place->more.of[unit] = takt_read_int(reader, 0, TAKT_EXACT_MAX);
        place->needs.of[unit] = takt_read_number(reader, 0, TAKT_COST_MAX);
    }
}

static void write_place(takt_writer *writer, const takt_ledger *ledger, int i)
{
    const takt_place *place = &ledger->line[i];

    takt_write_hex(writer, place->worker);
    takt_write_number(writer, ',', place->seq);
    takt_write_number(writer, ',', place->priority);
    takt_write_number(writer, ',', place->turn);
    takt_write_number(writer, ',', place->wanting);
    takt_write_number(writer, ',', place->need);
    takt_write_number(writer, ',', place->waiting);
    takt_write_number(writer, ',', place->again_at_us);
    takt_write_number(writer, ',', place->expires_at_us);
    if (place->weight > 1)
        takt_write_number(writer, '*', place->weight);
    if (place->left > 0)
        takt_write_number(writer, '+', place->left);
    if (place->former > 0)
        takt_write_number(writer, '-', place->former);
    if (place->aside || place->foremost || place->lacking)
        takt_write_char(writer, ',');
    if (place->aside)
        takt_write_char(writer, 'a');
    if (place->foremost)
        takt_write_char(writer, 'f');
    if (place->lacking)
        takt_write_char(writer, 'p');
    if (place->tenant > 0) {
        takt_write_number(writer, '@', place->tenant);
        takt_write_char(writer, ',');
        takt_write_hex(writer, place->process);
        if (place->held_back > 0)
            takt_write_number(writer, ',', place->held_back);
        if (place->due_in_us > 0)
            takt_write_number(writer, '+', place->due_in_us);
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
    place->seq = takt_read_number(reader, 0, TAKT_EXACT_MAX);
    place->priority = (int8_t)takt_read_number(reader, 0, TAKT_PRIORITY_MAX);
    place->turn = takt_read_number(reader, 0, TAKT_EXACT_MAX);
    place->wanting = takt_read_number(reader, 0, TAKT_EXACT_MAX);
    place->need = takt_read_number(reader, 1, TAKT_COST_MAX);
    place->waiting = takt_read_number(reader, 0, TAKT_EXACT_MAX);
    place->again_at_us = takt_read_number(reader, 0, TAKT_EXACT_MAX);
    place->expires_at_us = takt_read_number(reader, 0, TAKT_EXACT_MAX);
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

#define ROWS(PART)                                                                                 \
    PART('h', count_holders, write_holder, read_holder)                                            \
    PART('p', count_tenants, write_tenant, read_tenant)                                            \
    PART('w', count_places, write_place, read_place)

void takt_text_write_rows(takt_writer *writer, const char *text, const takt_ledger *ledger)
{
    ROWS(TAKT_WRITE_PART)
}

bool takt_text_read_rows(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    ROWS(TAKT_READ_ROWS)
    return true;
}
