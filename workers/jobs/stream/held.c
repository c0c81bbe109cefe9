/*
 * held.c: see held.h. Open addressing: the search for a row begins at the slot of its hash and ends
 * at the first free slot.
 */
#include "held.h"

#include <stdlib.h>

#define ROOM_FIRST 256

static size_t index_of(const takt_stream_held *held, takt_job_ref ref)
{
    uint64_t mixed = (ref.major ^ ref.minor << 32) * UINT64_C(0x9e3779b97f4a7c15) + ref.minor;

    mixed ^= mixed >> 29;
    mixed *= UINT64_C(0xbf58476d1ce4e5b9);
    return (size_t)(mixed ^ mixed >> 32) & (held->room - 1);
}

static takt_stream_held_row *look(const takt_stream_held *held, takt_job_ref ref)
{
    size_t at = index_of(held, ref);

    while (held->rows[at].state != TAKT_STREAM_HELD_NONE &&
           (held->rows[at].major != ref.major || held->rows[at].minor != ref.minor))
        at = (at + 1) & (held->room - 1);
    return &held->rows[at];
}

takt_stream_held_row *takt_stream_held_find(const takt_stream_held *held, takt_job_ref ref)
{
    takt_stream_held_row *row = held->count > 0 ? look(held, ref) : NULL;

    return row != NULL && row->state != TAKT_STREAM_HELD_NONE ? row : NULL;
}

static bool grow(takt_stream_held *held)
{
    takt_stream_held grown = {.room = held->room > 0 ? held->room * 2 : ROOM_FIRST};

    grown.rows = calloc(grown.room, sizeof *grown.rows);
    if (grown.rows == NULL)
        return false;
    for (size_t i = 0; i < held->room; i++)
        if (held->rows[i].state != TAKT_STREAM_HELD_NONE)
            *look(&grown, takt_stream_held_ref(&held->rows[i])) = held->rows[i];
    grown.count = held->count;
    free(held->rows);
    *held = grown;
    return true;
}

takt_stream_held_row *takt_stream_held_add(takt_stream_held *held, takt_job_ref ref,
                                           takt_stream_held_state state)
{
    takt_stream_held_row *row;

    if (held->count + 1 > held->room / 4 * 3 && !grow(held))
        return NULL;
    row = look(held, ref);
    *row = (takt_stream_held_row){.major = ref.major, .minor = ref.minor, .state = (uint8_t)state};
    held->count++;
    return row;
}

void takt_stream_held_remove(takt_stream_held *held, takt_job_ref ref)
{
    takt_stream_held_row *row = takt_stream_held_find(held, ref);
    size_t free_at, at;

    if (row == NULL)
        return;
    held->count--;
    free_at = at = (size_t)(row - held->rows);
    for (;;) { /* move up following rows, so that searches still find them */
        size_t home;
        at = (at + 1) & (held->room - 1);
        if (held->rows[at].state == TAKT_STREAM_HELD_NONE)
            break;
        home = index_of(held, takt_stream_held_ref(&held->rows[at]));
        if (((at - home) & (held->room - 1)) < ((at - free_at) & (held->room - 1)))
            continue;
        held->rows[free_at] = held->rows[at];
        free_at = at;
    }
    held->rows[free_at].state = TAKT_STREAM_HELD_NONE;
}

bool takt_stream_held_has(const takt_stream_held *held, takt_stream_held_state state)
{
    for (size_t i = 0; i < held->room; i++)
        if (held->rows[i].state == state)
            return true;
    return false;
}

void takt_stream_held_free(takt_stream_held *held)
{
    free(held->rows);
    *held = (takt_stream_held){0};
}
