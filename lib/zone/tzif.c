/*
 * tzif.c: reads the blocks of a timezone file and builds the table of changes (tzif.h).
 * tz_footer.c reads the file's last line.
 */
#include "zone/tzif.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "zone/tz_footer.h"

#define HEADER_SIZE 44
#define SECOND_US   INT64_C(1000000)
#define END_S       (INT64_C(1) << 33) /* the year 2242: later changes are ignored */
#define YEAR_FIRST  1970
#define YEAR_LAST   2100

/* A block of the file. All versions have a block with times of 4 bytes; versions from 2 on have a
 * second block with times of 8 bytes. */
typedef struct block {
    const unsigned char *times, *kinds, *types;
    uint32_t change_count, type_count;
    size_t time_size;
    size_t size; /* including the header */
} block;

typedef struct table {
    takt_zone_change *changes;
    int count;
    bool full;
} table;

static int refuse(takt_error *error, const char *what)
{
    return takt_fail(error, TAKT_E_POLICY, "is not a timezone file that can be used: %s", what);
}

static uint32_t number_at(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int64_t time_at(const block *found, uint32_t i)
{
    const unsigned char *at = found->times + i * found->time_size;

    if (found->time_size == 4)
        return (int32_t)number_at(at);
    return (int64_t)((uint64_t)number_at(at) << 32 | number_at(at + 4));
}

/* Finds the parts of the block whose header is at `bytes`. */
static int find_block(const unsigned char *bytes, size_t size, size_t time_size, block *found,
                      takt_error *error)
{
    uint32_t counts[6]; /* UT and standard marks, leap seconds, changes, types, letters */

    if (size < HEADER_SIZE || memcmp(bytes, "TZif", 4) != 0)
        return refuse(error, "it does not begin as one");
    for (int i = 0; i < 6; i++) {
        counts[i] = number_at(bytes + 20 + 4 * i);
        if (counts[i] > TAKT_TZIF_SIZE_MAX)
            return refuse(error, "its counts are too large");
    }
    found->change_count = counts[3];
    found->type_count = counts[4];
    found->time_size = time_size;
    found->times = bytes + HEADER_SIZE;
    found->kinds = found->times + counts[3] * time_size;
    found->types = found->kinds + counts[3];
    found->size = HEADER_SIZE + counts[3] * (time_size + 1) + counts[4] * (size_t)6 + counts[5] +
                  counts[2] * (time_size + 4) + counts[1] + counts[0];
    if (found->size > size)
        return refuse(error, "it is cut off");
    if (counts[2] > 0)
        return refuse(error, "it counts leap seconds, which no clock here does");
    if (found->type_count < 1 || found->type_count > 256)
        return refuse(error, "it names no local time, or too many");
    return 0;
}

/* Appends a change, which is not earlier than the last one. Of the changes up to the epoch, only
 * the last one is kept. */
static void append(table *made, int64_t at_s, int64_t offset_s)
{
    takt_zone_change *last = made->count > 0 ? &made->changes[made->count - 1] : NULL;
    takt_zone_change change = {0, offset_s * SECOND_US};

    if (at_s > END_S)
        return;
    change.at_us = at_s > 0 ? at_s * SECOND_US : 0;
    if (last && last->at_us == change.at_us) {
        *last = change;
        return;
    }
    if (last && last->offset_us == change.offset_us)
        return;
    if (made->count == TAKT_TZIF_CHANGES_MAX) {
        made->full = true;
        return;
    }
    made->changes[made->count++] = change;
}

static int offset_of(const block *found, uint32_t type, int64_t *offset_s, takt_error *error)
{
    if (type >= found->type_count)
        return refuse(error, "a change leads to a local time that it does not name");
    *offset_s = (int32_t)number_at(found->types + 6 * type);
    if (*offset_s <= -TAKT_ZONE_OFFSET_MAX / SECOND_US ||
        *offset_s >= TAKT_ZONE_OFFSET_MAX / SECOND_US)
        return refuse(error, "a local time is more than a day from UTC");
    return 0;
}

/* Reads the changes of the file's table. *last_s receives the time of the last one. */
static int read_table(const block *found, table *made, int64_t *last_s, takt_error *error)
{
    int64_t offset_s = 0;
    int code = offset_of(found, 0, &offset_s, error);

    append(made, 0, offset_s);
    *last_s = INT64_MIN;
    for (uint32_t i = 0; code == 0 && i < found->change_count; i++) {
        int64_t at_s = time_at(found, i);
        if (i > 0 && at_s <= *last_s)
            return refuse(error, "its changes are not in order");
        code = offset_of(found, found->kinds[i], &offset_s, error);
        if (code == 0)
            append(made, at_s, offset_s);
        *last_s = at_s;
    }
    return code;
}

static void append_later(table *made, int64_t last_s, int64_t at_s, int64_t offset_s)
{
    if (at_s > last_s)
        append(made, at_s, offset_s);
}

/* Appends the changes after last_s that the last line defines. */
static void write_out(table *made, const takt_tz_footer *footer, int64_t last_s)
{
    if (!footer->has_summer) {
        append_later(made, last_s, last_s < 0 ? 0 : last_s + 1, footer->standard_s);
        return;
    }
    for (int year = YEAR_FIRST; year <= YEAR_LAST; year++) {
        int64_t begins_s = takt_tz_summer_begins(footer, year);
        int64_t ends_s = takt_tz_summer_ends(footer, year);
        if (begins_s < ends_s)
            append_later(made, last_s, begins_s, footer->summer_s);
        append_later(made, last_s, ends_s, footer->standard_s);
        if (begins_s >= ends_s)
            append_later(made, last_s, begins_s, footer->summer_s);
    }
}

/* Reads "\nPST8PDT,M3.2.0,M11.1.0\n" at the end of the file; "\n\n" is an empty line. */
static int read_end(table *made, const unsigned char *bytes, size_t size, int64_t last_s,
                    takt_error *error)
{
    takt_tz_footer footer;

    if (size < 2 || bytes[0] != '\n' || bytes[size - 1] != '\n')
        return refuse(error, "its last line is missing");
    if (size == 2)
        return 0;
    if (!takt_tz_footer_read(&footer, (const char *)bytes + 1, size - 2))
        return refuse(error, "its last line cannot be read");
    write_out(made, &footer, last_s);
    return 0;
}

static int read_all(const unsigned char *bytes, size_t size, table *made, takt_error *error)
{
    int64_t last_s = INT64_MIN;
    block found = {0};
    int code = find_block(bytes, size, 4, &found, error);

    if (code != 0)
        return code;
    if (bytes[4] == '\0') { /* version 1 has one block */
        if (found.size != size)
            return refuse(error, "something follows its end");
        return read_table(&found, made, &last_s, error);
    }
    bytes += found.size;
    size -= found.size;
    code = find_block(bytes, size, 8, &found, error);
    if (code == 0)
        code = read_table(&found, made, &last_s, error);
    if (code == 0)
        code = read_end(made, bytes + found.size, size - found.size, last_s, error);
    return code;
}

int takt_tzif_read(const unsigned char *bytes, size_t size, takt_zone_change **changes, int *count,
                   takt_error *error)
{
    table made = {calloc(TAKT_TZIF_CHANGES_MAX, sizeof *made.changes), 0, false};
    takt_zone_change *kept;
    int code;

    if (!made.changes)
        return takt_fail(error, TAKT_E_NOMEM, "no memory for a timezone");
    code = read_all(bytes, size, &made, error);
    if (code == 0 && made.full)
        code = refuse(error, "it has too many changes");
    if (code != 0) {
        free(made.changes);
        return code;
    }
    kept = realloc(made.changes, (size_t)(made.count > 0 ? made.count : 1) * sizeof *kept);
    *changes = kept ? kept : made.changes;
    *count = made.count;
    return 0;
}
