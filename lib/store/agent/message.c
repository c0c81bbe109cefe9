/*
 * message.c: see message.h.
 */
#include "store/agent/message.h"

#include <string.h>

#include "base/no_pages.h"
#include "core/ledger_text.h"

takt_relay_class *takt_relay_find(takt_relay_class *classes, int count, takt_relay_kind kind)
{
    for (int i = 0; i < count; i++)
        if (takt_relay_alike(classes[i].kind, kind))
            return &classes[i];
    return NULL;
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

bool takt_relay_read_name(takt_relay_parts *parts, const char *name, size_t size)
{
    const char *end = name + size, *at = name + strlen(name) + 1;

    *parts = (takt_relay_parts){.key = next_part(&at, end, TAKT_KEY_SIZE_MAX), .tenant = ""};
    if (parts->key == NULL || at > end)
        return parts->key != NULL;
    parts->tenant = next_part(&at, end, TAKT_TENANT_SIZE_MAX);
    if (parts->tenant == NULL || at > end)
        return parts->tenant != NULL && parts->tenant[0] != '\0';
    while (at <= end && parts->inner_count < TAKT_INNER_MAX) {
        int i = parts->inner_count++;
        parts->inner[i].limit = next_part(&at, end, TAKT_NAME_SIZE_MAX);
        parts->inner[i].key = next_part(&at, end, TAKT_KEY_SIZE_MAX);
        if (parts->inner[i].limit == NULL || parts->inner[i].key == NULL)
            return false;
    }
    return at > end;
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
