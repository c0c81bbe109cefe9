/*
 * lows.c: keeps the lowest backlogs of recent stretches of time (lows.h). GCRA decides what it
 * gives back with them (gcra.c).
 */
#include "rules/lows.h"

#include <string.h>

#include "base/integers.h"

/* The last stretch that begins at slot_us or earlier; -1: all stretches begin later. */
static int find(const takt_lows *lows, int64_t slot_us)
{
    int i = lows->count - 1;

    while (i >= 0 && lows->stretches[i].since_us > slot_us)
        i--;
    return i;
}

static void drop_first(takt_lows *lows)
{
    lows->count--;
    memmove(lows->stretches, lows->stretches + 1, (size_t)lows->count * sizeof *lows->stretches);
}

/* Ends the last stretch at a slot and begins a new one. Earlier stretches whose low is not smaller
 * are merged with the ended stretch. */
static void begin_stretch(takt_lows *lows, int64_t slot_us)
{
    takt_low *last = &lows->stretches[lows->count - 1];

    while (lows->count > 1 && last[-1].low_us >= last->low_us) {
        last[-1].low_us = last->low_us;
        lows->count--;
        last--;
    }
    if (lows->count == TAKT_LOWS_MAX || last->low_us == 0)
        drop_first(lows);
    lows->stretches[lows->count++] = (takt_low){slot_us, TAKT_LOWS_UNKNOWN};
}

void takt_lows_note(takt_lows *lows, int64_t slot_us, int64_t backlog_us, int64_t depth_us)
{
    int at = find(lows, slot_us - 1);
    takt_low *stretch;
    int64_t low_us;

    if (at < 0)
        return;
    stretch = &lows->stretches[at];
    low_us = takt_min(stretch->low_us, depth_us / 4);
    stretch->low_us = takt_min(stretch->low_us, backlog_us);
    if (at == lows->count - 1 &&
        (slot_us > stretch->since_us + lows->step_us || 2 * backlog_us < low_us))
        begin_stretch(lows, slot_us);
}

int64_t takt_lows_of(const takt_lows *lows, int64_t slot_us)
{
    int at = find(lows, slot_us);
    int64_t low_us = TAKT_LOWS_UNKNOWN;

    if (at < 0)
        return -1;
    for (; at < lows->count; at++)
        low_us = takt_min(low_us, lows->stretches[at].low_us);
    return low_us;
}

void takt_lows_lower(takt_lows *lows, int64_t slot_us, int64_t by_us)
{
    int at = find(lows, slot_us);

    for (at = at < 0 ? 0 : at; at < lows->count; at++) {
        takt_low *stretch = &lows->stretches[at];
        if (stretch->low_us != TAKT_LOWS_UNKNOWN)
            stretch->low_us = takt_max(stretch->low_us - by_us, 0);
    }
}

void takt_lows_learn(takt_lows *lows, int64_t now_us, int64_t slot_us, int64_t until_us)
{
    int64_t age_us = now_us - slot_us, step_us = age_us / TAKT_LOWS_STEPS + 1;

    if (age_us <= takt_max(until_us - now_us, 0) || age_us > TAKT_LOWS_OLD_US)
        return;
    if (step_us < lows->step_us)
        step_us = lows->step_us - (lows->step_us - step_us) / TAKT_LOWS_DECAY;
    lows->step_us = step_us;
    if (lows->count > 0 && lows->stretches[lows->count - 1].since_us > until_us + 1)
        lows->count = 0; /* the stretches are from another clock */
    if (lows->count == 0)
        lows->stretches[lows->count++] = (takt_low){until_us + 1, TAKT_LOWS_UNKNOWN};
}

void takt_lows_write(const takt_lows *lows, takt_writer *writer)
{
    if (lows->count == 0)
        return;
    takt_write_char(writer, '~');
    takt_write_int(writer, lows->step_us);
    for (int i = 0; i < lows->count; i++) {
        takt_write_char(writer, '@');
        takt_write_int(writer, lows->stretches[i].since_us);
        if (lows->stretches[i].low_us == TAKT_LOWS_UNKNOWN)
            continue;
        takt_write_char(writer, ',');
        takt_write_int(writer, lows->stretches[i].low_us);
    }
}

void takt_lows_read(takt_lows *lows, takt_reader *reader)
{
    *lows = (takt_lows){.count = 0};
    if (!takt_read_if(reader, '~'))
        return;
    lows->step_us = takt_read_int(reader, 1, TAKT_LOWS_OLD_US);
    takt_read_char(reader, '@');
    do {
        takt_low *stretch = &lows->stretches[lows->count];
        if (lows->count == TAKT_LOWS_MAX) {
            reader->bad = true;
            return;
        }
        *stretch = (takt_low){takt_read_int(reader, 1, TAKT_EXACT_MAX), TAKT_LOWS_UNKNOWN};
        if (takt_read_if(reader, ','))
            stretch->low_us = takt_read_int(reader, 0, TAKT_EXACT_MAX);
        if (lows->count++ > 0 && stretch->since_us <= stretch[-1].since_us)
            reader->bad = true;
    } while (!reader->bad && takt_read_if(reader, '@'));
}
