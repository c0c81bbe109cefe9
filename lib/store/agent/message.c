/*
 * message.c: see message.h.
 */
#include "store/agent/message.h"

#include <string.h>

#include "base/no_pages.h"
#include "core/ledger_text.h"
#include "core/numbers_text.h"

takt_relay_class *takt_relay_find(takt_relay_class *classes, int count, takt_relay_kind kind)
{
    for (int i = 0; i < count; i++)
        if (takt_relay_alike(classes[i].kind, kind))
            return &classes[i];
    return NULL;
}

/* Adds to those that leave in the same way already. */
static void join(takt_relay_leaves *leaves, takt_leave leave)
{
    int at = 0;

    while (at < leaves->count && leaves->of[at].way != leave.way)
        at++;
    if (at == leaves->count)
        leaves->of[leaves->count++] = (takt_leave){leave.way, 0};
    leaves->of[at].count += leave.count;
}

void takt_relay_leave(takt_relay_leaves *leaves, takt_when_full way, int64_t count)
{
    takt_relay_leaves joined = {.count = 0};
    int last = leaves->count - 1;

    if (last >= 0 && leaves->of[last].way == way) {
        leaves->of[last].count += count;
    } else if (leaves->count < TAKT_LEVELS_MAX) {
        leaves->of[leaves->count++] = (takt_leave){way, count};
    } else { /* there is space for as many runs as there are ways */
        for (int i = 0; i < leaves->count; i++)
            join(&joined, leaves->of[i]);
        join(&joined, (takt_leave){way, count});
        *leaves = joined;
    }
}

int64_t takt_relay_leaving(const takt_relay_leaves *leaves)
{
    int64_t count = 0;

    for (int i = 0; i < leaves->count; i++)
        count += leaves->of[i].count;
    return count;
}

/* The next part, of max bytes at most; NULL: there is none, or it is longer. */
static const char *next_part(const char **at, const char *end, size_t max)
{
    const char *part = *at;

    if (part > end)
        return NULL;
    *at += strlen(part) + 1;
    return *at - part - 1 <= (ptrdiff_t)max ? part : NULL;
}

/* Reads the numbers of the amounts of all inner levels.  False: malformed, or all levels have those
 * of the claim, which are left out. */
static bool read_units(takt_relay_parts *parts, const char *text)
{
    bool plain = true;

    if (strlen(text) != (size_t)parts->inner_count * TAKT_AMOUNTS_MAX)
        return false;
    for (int i = 0; i < parts->inner_count; i++) {
        if (!takt_unit_map_read(&parts->units[i], text + (ptrdiff_t)i * TAKT_AMOUNTS_MAX))
            return false;
        plain = plain && takt_unit_map_is_plain(parts->units[i]);
    }
    return !plain;
}

bool takt_relay_read_name(takt_relay_parts *parts, const char *name, size_t size)
{
    const char *end = name + size, *at = name + strlen(name) + 1;

    *parts = (takt_relay_parts){.key = next_part(&at, end, TAKT_KEY_SIZE_MAX), .tenant = ""};
    if (parts->key == NULL || at > end)
        return parts->key != NULL;
    parts->tenant = next_part(&at, end, TAKT_TENANT_SIZE_MAX);
    if (parts->tenant == NULL || at > end)
        return parts->tenant != NULL && parts->tenant[0] != '\0';
    while (at <= end) {
        const char *part = next_part(&at, end, TAKT_NAME_SIZE_MAX);
        int i = parts->inner_count;
        if (part == NULL)
            return false;
        if (at > end) /* a name would have its key behind it */
            return read_units(parts, part);
        if (i == TAKT_INNER_MAX)
            return false;
        parts->inner[i].limit = part;
        parts->inner[i].key = next_part(&at, end, TAKT_KEY_SIZE_MAX);
        if (parts->inner[i].key == NULL)
            return false;
        parts->inner_count++;
    }
    return true;
}

void takt_relay_write(takt_writer *writer, int64_t value)
{
    takt_write_int(writer, value);
    takt_write_char(writer, ' ');
}

int64_t takt_relay_read(takt_reader *reader, int64_t min, int64_t max)
{
    int64_t value = takt_read_int(reader, min, max);

    takt_read_char(reader, ' ');
    return value;
}

void takt_relay_write_amounts(takt_writer *writer, int64_t cost, const int64_t *more)
{
    int count = TAKT_MORE_MAX;

    while (count > 0 && more[count - 1] == 0)
        count--;
    takt_write_int(writer, cost);
    for (int i = 0; i < count; i++) {
        takt_write_char(writer, '/');
        takt_write_int(writer, more[i]);
    }
    takt_write_char(writer, ' ');
}

int64_t takt_relay_read_amounts(takt_reader *reader, int64_t min, int64_t max, int64_t *more)
{
    int64_t cost = takt_read_int(reader, min, max);

    for (int i = 0; i < TAKT_MORE_MAX; i++) {
        more[i] = 0;
        if (reader->bad || reader->at == reader->end || *reader->at != '/')
            continue;
        takt_read_char(reader, '/');
        more[i] = takt_read_int(reader, min < 0 ? min : 0, max);
    }
    takt_read_char(reader, ' ');
    return cost;
}

void takt_relay_write_kind(takt_writer *writer, takt_relay_kind kind)
{
    int64_t more[TAKT_MORE_MAX];

    for (int i = 0; i < TAKT_MORE_MAX; i++)
        more[i] = kind.more.of[i];
    takt_relay_write_amounts(writer, kind.cost, more);
    takt_relay_write(writer, kind.priority);
}

takt_relay_kind takt_relay_read_kind(takt_reader *reader)
{
    int64_t more[TAKT_MORE_MAX];
    takt_relay_kind kind = {.cost =
                                (int32_t)takt_relay_read_amounts(reader, 1, TAKT_COST_MAX, more)};

    for (int i = 0; i < TAKT_MORE_MAX; i++)
        kind.more.of[i] = (int32_t)more[i];
    kind.priority = (int32_t)takt_relay_read(reader, 0, TAKT_PRIORITY_MAX);
    return kind;
}

void takt_relay_write_leaves(takt_writer *writer, const takt_relay_leaves *leaves)
{
    for (int i = 0; i < leaves->count; i++) {
        if (i > 0)
            takt_write_char(writer, '/');
        takt_write_int(writer, leaves->of[i].count);
        takt_when_full_write(leaves->of[i].way, writer);
    }
    if (leaves->count == 0)
        takt_write_int(writer, 0);
    takt_write_char(writer, ' ');
}

void takt_relay_read_leaves(takt_reader *reader, takt_relay_leaves *leaves)
{
    do {
        int64_t count = takt_read_int(reader, 0, INT32_MAX);
        takt_when_full way = takt_when_full_read(reader);
        if (count > 0 && !reader->bad)
            takt_relay_leave(leaves, way, count);
    } while (!reader->bad && takt_read_if(reader, '/'));
    takt_read_char(reader, ' ');
}

/* ---- numbers ------------------------------------------------------------------------- */

/* The text of a ledger at rest has all numbers only if it has a revision, so the revision is
 * written plus one. */
size_t takt_relay_write_numbers(const takt_numbers *numbers, char *text)
{
    takt_numbers told = *numbers;
    takt_ledger ledger = {.pages = NULL};

    told.revision++;
    takt_ledger_empty(&ledger, &told);
    return takt_ledger_encode(&ledger, text, TAKT_RELAY_TEXT_SIZE);
}

bool takt_relay_read_numbers(takt_numbers *numbers, const char *text, size_t size)
{
    takt_pages nowhere;
    takt_ledger ledger = {.pages = &nowhere}; /* no room for places: the text has none */
    takt_numbers none = {.lookahead_us = TAKT_LOOKAHEAD_US, .lease_us = TAKT_LEASE_US}, read;

    takt_no_pages_init(&nowhere);
    if (takt_ledger_decode(&ledger, &none, &read, 0, text, size) < 0 || ledger.numbers != &read ||
        read.revision < 1)
        return false;
    *numbers = read;
    numbers->revision--;
    return true;
}

size_t takt_relay_write_newer(const takt_relay_newer *newer, char *text)
{
    size_t size = 0;

    for (int ledger_no = 0; newer->ledgers >> ledger_no != 0; ledger_no++) {
        if (ledger_no > 0)
            text[size++] = '\n';
        if (newer->ledgers >> ledger_no & 1)
            size += takt_relay_write_numbers(&newer->of[ledger_no], text + size);
    }
    return size;
}

void takt_relay_read_newer(takt_relay_newer *newer, const char *text, size_t size)
{
    const char *at = text, *end = text + size;

    newer->ledgers = 0;
    for (int ledger_no = 0; at < end && ledger_no < TAKT_LEVELS_MAX; ledger_no++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        if (stop > at && takt_relay_read_numbers(&newer->of[ledger_no], at, (size_t)(stop - at)))
            newer->ledgers |= 1U << ledger_no;
        at = stop + 1;
    }
}

/* ---- standings ----------------------------------------------------------------------- */

static int unit_of(const char *name)
{
    for (int unit = 0; unit < TAKT_UNITS; unit++)
        if (strcmp(name, takt_unit_name((takt_unit)unit)) == 0)
            return unit;
    return TAKT_UNIT_TOKENS;
}

void takt_relay_write_standing(takt_writer *writer, const takt_standing *standing)
{
    const int64_t fields[] = {
        standing->now_us,           standing->limit,          standing->remaining,
        standing->retry_after_us,   standing->reset_after_us, standing->blocked_until_us,
        standing->rate_percent,     standing->waiting,        standing->workers,
        standing->concurrency,      standing->held,           standing->holders,
        standing->watched_since_us, standing->taken,          standing->rule_count};

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        takt_relay_write(writer, fields[i]);
    for (int i = 0; i < standing->rule_count; i++) {
        takt_relay_write(writer, unit_of(standing->rules[i].unit));
        takt_relay_write(writer, standing->rules[i].limit);
        takt_relay_write(writer, standing->rules[i].remaining);
        takt_relay_write(writer, standing->rules[i].reset_after_us);
    }
}

void takt_relay_read_standing(takt_reader *reader, takt_standing *standing)
{
    int64_t *const fields[] = {
        &standing->now_us,           &standing->limit,          &standing->remaining,
        &standing->retry_after_us,   &standing->reset_after_us, &standing->blocked_until_us,
        &standing->rate_percent,     &standing->waiting,        &standing->workers,
        &standing->concurrency,      &standing->held,           &standing->holders,
        &standing->watched_since_us, &standing->taken};

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        *fields[i] = takt_relay_read(reader, INT64_MIN, INT64_MAX);
    standing->rule_count = (int)takt_relay_read(reader, 0, TAKT_RULES_MAX);
    for (int i = 0; i < standing->rule_count; i++) {
        takt_rule_standing *rule = &standing->rules[i];
        rule->unit = takt_unit_name((takt_unit)takt_relay_read(reader, 0, TAKT_UNITS - 1));
        rule->limit = takt_relay_read(reader, INT64_MIN, INT64_MAX);
        rule->remaining = takt_relay_read(reader, INT64_MIN, INT64_MAX);
        rule->reset_after_us = takt_relay_read(reader, INT64_MIN, INT64_MAX);
    }
}
