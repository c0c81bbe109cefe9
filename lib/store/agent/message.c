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

size_t takt_relay_write_name(char *name, const char *limit, const char *key, const char *tenant)
{
    char *at = stpcpy(name, limit) + 1;
    size_t key_size = strlen(key), tenant_size = tenant != NULL ? strlen(tenant) : 0;

    memcpy(at, key, key_size);
    at += key_size;
    if (tenant_size > 0) {
        *at++ = '\0';
        memcpy(at, tenant, tenant_size);
    }
    return (size_t)(at - name) + tenant_size;
}

bool takt_relay_is_key(const char *key, size_t size)
{
    const char *end = memchr(key, '\0', size);
    size_t key_size = end != NULL ? (size_t)(end - key) : size;
    size_t tenant_size = end != NULL ? size - key_size - 1 : 0;

    return key_size <= TAKT_KEY_SIZE_MAX && tenant_size <= TAKT_TENANT_SIZE_MAX &&
           (end == NULL || (tenant_size > 0 && memchr(end + 1, '\0', tenant_size) == NULL));
}

const char *takt_relay_tenant(const char *name, size_t size)
{
    size_t before = strlen(name) + 1;

    before += strlen(name + before);
    return before < size ? name + before + 1 : "";
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
