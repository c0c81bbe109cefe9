/*
 * message.c: see message.h.
 */
#include "store/agent/message.h"

#include <string.h>

#include "core/ledger_text.h"

takt_relay_class *takt_relay_find(takt_relay_class *classes, int count, int32_t cost,
                                  int32_t priority)
{
    for (int i = 0; i < count; i++)
        if (classes[i].cost == cost && classes[i].priority == priority)
            return &classes[i];
    return NULL;
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

/* ---- numbers ------------------------------------------------------------------------- */

/* Numbers are read without the pages of logs. */
static void *get_nothing(takt_pages *pages, int book, int64_t number, takt_page_use use)
{
    (void)book;
    (void)number;
    (void)use;
    return takt_pages_fail(pages, TAKT_PAGES_DAMAGED);
}

static void drop_nothing(takt_pages *pages, int book, int64_t number)
{
    (void)pages;
    (void)book;
    (void)number;
}

static void clear_nothing(takt_pages *pages)
{
    (void)pages;
}

/* The text of a ledger at rest says all numbers if it has a revision: it gets one more than
 * theirs. */
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
    takt_pages nowhere = {.get = get_nothing, .drop_below = drop_nothing, .clear = clear_nothing};
    takt_ledger ledger = {.pages = &nowhere}; /* no room for places: the text has none */
    takt_numbers none = {.lookahead_us = TAKT_LOOKAHEAD_US, .lease_us = TAKT_LEASE_US}, read;

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
