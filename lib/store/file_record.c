/*
 * file_record.c: see file_record.h.
 */
#include "store/file_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define EXPIRES_MAX INT64_C(9999999999999999) /* the year 2286 */

void takt_file_records_free(takt_file_records *records)
{
    takt_record_scratch_free(&records->scratch);
    for (int i = 0; i < TAKT_LEVELS_MAX; i++)
        takt_file_pages_free(&records->pages[i]);
    free(records->value);
    *records = (takt_file_records){0};
}

static void write_prefix(char *at, int64_t expires_at_us)
{
    int64_t rest = expires_at_us < EXPIRES_MAX ? expires_at_us : EXPIRES_MAX;

    memcpy(at, TAKT_FILE_WORD, TAKT_FILE_EXPIRES_AT);
    at += TAKT_FILE_EXPIRES_AT;
    at[TAKT_FILE_EXPIRES_SIZE] = ' ';
    for (int i = TAKT_FILE_EXPIRES_SIZE; i > 0; i--, rest /= 10)
        at[i - 1] = (char)('0' + rest % 10);
}

int64_t takt_file_record_expires_at(MDB_val value)
{
    takt_reader reader = {value.mv_data, (const char *)value.mv_data + TAKT_FILE_PREFIX_SIZE,
                          false};
    int64_t expires_at_us;

    if (value.mv_size < TAKT_FILE_PREFIX_SIZE)
        return -1;
    takt_read_text(&reader, TAKT_FILE_WORD);
    expires_at_us = takt_read_int(&reader, 0, EXPIRES_MAX);
    takt_read_char(&reader, ' ');
    return takt_read_done(&reader) ? expires_at_us : -1;
}

static int put(takt_file_records *records, MDB_txn *txn, MDB_dbi dbi, MDB_val *name,
               const takt_record_change *change, takt_file_job *job)
{
    size_t size = TAKT_FILE_PREFIX_SIZE + change->size;
    MDB_val value;

    if (size > records->value_capacity) {
        char *grown = malloc(2 * size);
        if (grown == NULL) {
            job->own.status = TAKT_E_NOMEM;
            return 0;
        }
        free(records->value);
        records->value = grown;
        records->value_capacity = 2 * size;
    }
    write_prefix(records->value, change->expires_at_us);
    memcpy(records->value + TAKT_FILE_PREFIX_SIZE, change->text, change->size);
    value = (MDB_val){size, records->value};
    return mdb_put(txn, dbi, name, &value, 0);
}

static bool is_expired(MDB_val name, MDB_val value, int64_t now_us)
{
    int64_t expires_at_us = takt_file_record_expires_at(value);

    return name.mv_size > 0 && *(const char *)name.mv_data != '\0' && expires_at_us >= 0 &&
           expires_at_us <= now_us;
}

/* Reads a record's text, which stays valid until something is written; NULL: there is none. An
 * expired record counts as absent, with its pages. */
static int get(takt_file_pages *pages, int64_t now_us, const char **text, size_t *size)
{
    MDB_val name = {pages->name_size, (void *)(uintptr_t)pages->name}, value;
    int rc = mdb_get(pages->txn, pages->dbi, &name, &value);

    *text = NULL;
    *size = 0;
    if (rc == 0 && takt_file_record_expires_at(value) < 0) {
        *text = ""; /* an invalid text: it counts as damaged */
    } else if (rc == 0 && is_expired(name, value, now_us)) {
        takt_file_pages_expire(pages);
    } else if (rc == 0) {
        *text = (const char *)value.mv_data + TAKT_FILE_PREFIX_SIZE;
        *size = value.mv_size - TAKT_FILE_PREFIX_SIZE;
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

/* Changes a record as a call has left it. */
static int change_record(takt_file_records *records, takt_file_pages *pages, MDB_txn *txn,
                         MDB_dbi dbi, MDB_val *name, const takt_record_change *change,
                         takt_file_job *job)
{
    bool dropped =
        change->what == TAKT_RECORD_DROP || (change->what == TAKT_RECORD_KEEP && pages->expired);
    bool kept;
    int rc = 0;

    if (change->what == TAKT_RECORD_PUT)
        rc = put(records, txn, dbi, name, change, job);
    if (dropped) {
        pages->pages.clear(&pages->pages);
        rc = mdb_del(txn, dbi, name, NULL);
    }
    kept = dropped || (change->what == TAKT_RECORD_PUT && job->own.status != TAKT_E_NOMEM);
    return rc == 0 ? takt_file_pages_end(pages, kept) : rc;
}

/* Makes room for the longest text that is put. */
static bool reserve(takt_file_records *records, const takt_record_part *parts, int count)
{
    size_t size = 0;
    char *grown;

    for (int i = 0; i < count; i++)
        if (parts[i].change.what == TAKT_RECORD_PUT && parts[i].change.size > size)
            size = parts[i].change.size;
    size += TAKT_FILE_PREFIX_SIZE;
    if (size <= records->value_capacity)
        return true;
    grown = malloc(2 * size);
    if (grown == NULL)
        return false;
    free(records->value);
    records->value = grown;
    records->value_capacity = 2 * size;
    return true;
}

static int run_nested(takt_file_records *records, MDB_txn *txn, MDB_dbi dbi, const char *name_space,
                      int64_t now_us, takt_file_job *job)
{
    char bytes[TAKT_LEVELS_MAX][TAKT_RECORD_NAME_MAX];
    MDB_val names[TAKT_LEVELS_MAX];
    takt_record_part parts[TAKT_LEVELS_MAX];
    int count = job->own.inner_count + 1, rc = 0;

    for (int i = 0; i < count; i++) {
        const takt_file_inner *inner = &job->inner[i - (i > 0)];
        names[i].mv_data = bytes[i];
        names[i].mv_size =
            takt_file_name(bytes[i], name_space, i == 0 ? job->limit.name : inner->limit.name,
                           i == 0 ? job->key : inner->key);
        takt_file_pages_begin(&records->pages[i], txn, dbi, &names[i]);
        parts[i].pages = &records->pages[i].pages;
        rc = rc == 0 ? get(&records->pages[i], now_us, &parts[i].text, &parts[i].size) : rc;
    }
    if (rc != 0)
        return rc;
    takt_record_run_nested(&records->scratch, parts, now_us, &job->own);
    if (job->own.status != TAKT_E_NOMEM && !reserve(records, parts, count))
        job->own.status = TAKT_E_NOMEM;
    for (int i = 0; i < count && rc == 0; i++) {
        if (job->own.status == TAKT_E_NOMEM) /* no level changes */
            parts[i].change.what = TAKT_RECORD_KEEP;
        job->damaged |= parts[i].change.damaged;
        rc = change_record(records, &records->pages[i], txn, dbi, &names[i], &parts[i].change, job);
    }
    return rc;
}

int takt_file_run_job(takt_file_records *records, MDB_txn *txn, MDB_dbi dbi, const char *name_space,
                      int64_t now_us, takt_file_job *job)
{
    char bytes[TAKT_RECORD_NAME_MAX];
    MDB_val name = {takt_file_name(bytes, name_space, job->limit.name, job->key), bytes};
    takt_record_change change;
    const char *text;
    size_t size;
    int rc;

    if (job->own.inner_count > 0)
        return run_nested(records, txn, dbi, name_space, now_us, job);
    takt_file_pages_begin(&records->pages[0], txn, dbi, &name);
    rc = get(&records->pages[0], now_us, &text, &size);
    if (rc != 0)
        return rc;
    records->scratch.ledger.pages = &records->pages[0].pages;
    takt_record_run(&records->scratch, text, size, now_us, &job->own, &change);
    job->damaged = change.damaged;
    return change_record(records, &records->pages[0], txn, dbi, &name, &change, job);
}

/* ---- the sweep ----------------------------------------------------------------------- */

/* Steps to the first record at or after that name. */
static int step_to(MDB_cursor *cursor, MDB_val first, MDB_val *name, MDB_val *value)
{
    int rc = mdb_cursor_get(cursor, &first, value, MDB_SET_RANGE);

    if (rc == 0)
        *name = first;
    return rc;
}

/* Removes an expired ledger and its pages; skips all pages of any other ledger. */
static int pass(MDB_cursor *cursor, MDB_val *name, MDB_val *value, int64_t now_us)
{
    char bytes[TAKT_FILE_NAME_MAX];
    MDB_val own = *name; /* a copy, since the record is removed */
    int rc;

    if (name->mv_size > sizeof bytes)
        return mdb_cursor_get(cursor, name, value, MDB_NEXT);
    if (takt_file_pages_is_page(name)) {
        takt_file_pages_pass(&own, bytes);
        return step_to(cursor, own, name, value);
    }
    if (name->mv_size > TAKT_FILE_LEDGER_MAX || !is_expired(*name, *value, now_us))
        return mdb_cursor_get(cursor, name, value, MDB_NEXT);
    own.mv_data = memcpy(bytes, name->mv_data, name->mv_size);
    rc = mdb_cursor_del(cursor, 0);
    if (rc == 0)
        rc = takt_file_pages_remove(cursor, &own);
    return rc == 0 ? step_to(cursor, own, name, value) : rc;
}

static int step(takt_file_records *records, MDB_cursor *cursor, int64_t now_us, int count)
{
    MDB_val name = {records->swept_size, records->swept}, value;
    int rc = mdb_cursor_get(cursor, &name, &value, name.mv_size > 0 ? MDB_SET_RANGE : MDB_FIRST);

    for (; rc == 0 && count > 0; count--)
        rc = pass(cursor, &name, &value, now_us);
    if (rc == 0 && name.mv_size <= sizeof records->swept) {
        memcpy(records->swept, name.mv_data, name.mv_size);
        records->swept_size = name.mv_size;
    } else if (rc == 0 || rc == MDB_NOTFOUND) {
        records->swept_size = 0;
        rc = 0;
    }
    return rc;
}

int takt_file_sweep(takt_file_records *records, MDB_txn *txn, MDB_dbi dbi, int64_t now_us,
                    int count)
{
    MDB_cursor *cursor;
    int rc = mdb_cursor_open(txn, dbi, &cursor);

    if (rc != 0)
        return rc;
    rc = step(records, cursor, now_us, count);
    mdb_cursor_close(cursor);
    return rc;
}
