/*
 * file_list.c: lists the ledgers of a namespace in an LMDB file, in one transaction.
 */
#include "store/file_list.h"

#include <string.h>

#include "store/file_env.h"
#include "store/file_open.h"
#include "store/file_record.h"

/* The limit and the key in a record's name, behind the namespace; false: it is no ledger's. */
static bool read_name(MDB_val name, size_t prefix_size, char limit[TAKT_NAME_SIZE_MAX + 1],
                      char key[TAKT_KEY_SIZE_MAX + 1])
{
    const char *at = (const char *)name.mv_data + prefix_size;
    size_t left = name.mv_size - prefix_size, size = strnlen(at, left);

    if (size == 0 || size == left || size > TAKT_NAME_SIZE_MAX ||
        left - size - 1 > TAKT_KEY_SIZE_MAX)
        return false;
    memcpy(limit, at, size + 1);
    memcpy(key, at + size + 1, left - size - 1);
    key[left - size - 1] = '\0';
    return true;
}

static int list_records(MDB_cursor *cursor, const char *name_space, size_t max,
                        takt_list_found found, void *data)
{
    char limit[TAKT_NAME_SIZE_MAX + 1], key[TAKT_KEY_SIZE_MAX + 1];
    size_t size = strlen(name_space) + 1, looked_at = 0;
    int64_t now_us = takt_record_clock_us(), expires_at_us;
    MDB_val name = {size, (void *)(uintptr_t)name_space}, value;
    int rc = mdb_cursor_get(cursor, &name, &value, MDB_SET_RANGE);

    for (; rc == 0 && looked_at < max; rc = mdb_cursor_get(cursor, &name, &value, MDB_NEXT)) {
        if (name.mv_size < size || memcmp(name.mv_data, name_space, size) != 0)
            break;
        expires_at_us = takt_file_record_expires_at(value);
        if (takt_file_pages_is_page(&name) || expires_at_us <= now_us ||
            !read_name(name, size, limit, key))
            continue;
        looked_at++;
        found(data, limit, key, (const char *)value.mv_data + TAKT_FILE_PREFIX_SIZE,
              value.mv_size - TAKT_FILE_PREFIX_SIZE);
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

static int list_env(takt_file_env *env, const char *name_space, size_t max, takt_list_found found,
                    void *data)
{
    MDB_cursor *cursor;
    MDB_txn *txn;
    int rc = takt_file_env_begin(env, &txn);

    if (rc != 0)
        return rc;
    rc = mdb_cursor_open(txn, env->dbi, &cursor);
    if (rc == 0) {
        rc = list_records(cursor, name_space, max, found, data);
        mdb_cursor_close(cursor);
    }
    mdb_txn_abort(txn);
    takt_file_env_end(env);
    return rc;
}

int takt_file_list(const char *scheme, const char *rest, const takt_store_options *options,
                   size_t max, takt_list_found found, void *data, takt_error *error)
{
    takt_file_url url;
    takt_file_env *env;
    unsigned generation;
    int code = takt_file_url_parse(&url, rest, error), rc;

    (void)scheme;
    if (code == 0)
        code = takt_file_url_resolve(&url, error);
    if (code == 0)
        code = takt_file_env_acquire(&env, &url, &generation, error);
    if (code != 0)
        return code;
    rc = list_env(env, options->name_space, max, found, data);
    if (rc != 0)
        code = takt_file_mdb_fail(error, rc, "cannot read", url.path);
    takt_file_env_release(env);
    return code;
}
