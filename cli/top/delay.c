/*
 * Finds the row of the chain of limits (`within`) that delays work most.
 */
#include <string.h>

#include "kit/outer_limit.h"
#include "top.h"

static const takt_cli_row *row_of(const takt_cli_rows *rows, const char *limit, const char *key)
{
    for (size_t i = 0; i < rows->count; i++) {
        const takt_cli_target *target = &rows->all[i]->target;
        if (strcmp(target->limit, limit) == 0 && rows->all[i]->seen &&
            (key ? target->key && strcmp(target->key, key) == 0 : !target->key))
            return rows->all[i];
    }
    return NULL;
}

/* Whether a row further out delays work more than this one. */
static bool delays_more(const takt_cli_row *row, const takt_cli_row *than)
{
    if (!row || takt_holds_up(&than->standing))
        return false;
    return takt_holds_up(&row->standing) ||
           row->standing.retry_after_us > than->standing.retry_after_us;
}

const takt_cli_row *takt_cli_delaying(const takt_cli_row *row)
{
    const char *key = row->target.key;
    const takt_cli_row *most = row;

    for (int i = 0; i < row->outer_count; i++) {
        const takt_cli_row *same = key ? row_of(row->rows, row->outer[i], key) : NULL;
        const takt_cli_row *whole = row_of(row->rows, row->outer[i], NULL);
        most = delays_more(same, most) ? same : most;
        most = delays_more(whole, most) ? whole : most;
    }
    return most;
}
