/*
 * file_format.c: whether a file is one of ours, and of our version.  file_open.c decides what
 * happens to other files.
 */
#include "store/file_format.h"

#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/quote.h"
#include "store/file_record.h"

/* The format record as LMDB lays it out wherever it was written: the name, then the text. */
static const char format_mark[] = TAKT_FILE_FORMAT_NAME "takt ";
#define FORMAT_MARK_SIZE (sizeof format_mark - 1)
#define FORMAT_WORD_SIZE (sizeof "takt " - 1) /* the formats of all versions begin with it */
#define CHUNK            65536

static const MDB_val format_name = {sizeof TAKT_FILE_FORMAT_NAME - 1,
                                    (void *)TAKT_FILE_FORMAT_NAME};
static const MDB_val format_text = {sizeof TAKT_FILE_FORMAT_TEXT - 1,
                                    (void *)TAKT_FILE_FORMAT_TEXT};

static const unsigned magic = 0xBEEFC0DE; /* in host order, in each of the file's two headers */

bool takt_file_has_magic(int fd)
{
    char head[32];
    ssize_t n = pread(fd, head, sizeof head, 0);

    return n > 0 && memmem(head, (size_t)n, &magic, sizeof magic) != NULL;
}

/* Whether the bytes hold a format record or the beginning of another record of ours. */
static bool has_mark(const char *bytes, size_t size)
{
    const char *end = bytes + size, *at = bytes;

    if (memmem(bytes, size, format_mark, FORMAT_MARK_SIZE) != NULL)
        return true;
    while ((at = memmem(at, (size_t)(end - at), TAKT_FILE_WORD, TAKT_FILE_EXPIRES_AT)) != NULL) {
        at += TAKT_FILE_EXPIRES_AT;
        if (end - at > TAKT_FILE_EXPIRES_SIZE &&
            strspn(at, "0123456789") == TAKT_FILE_EXPIRES_SIZE && at[TAKT_FILE_EXPIRES_SIZE] == ' ')
            return true;
    }
    return false;
}

/* Whether the file's beginning has LMDB's magic number, or is all zeros.  Texts, pictures and
 * archives have neither. */
static bool looks_like_lmdb(int fd)
{
    static const char nothing[8];
    char head[16384];
    ssize_t n = pread(fd, head, sizeof head, 0);

    return n > 0 && (memmem(head, (size_t)n, &magic, sizeof magic) != NULL ||
                     (n >= (ssize_t)sizeof nothing && memcmp(head, nothing, sizeof nothing) == 0));
}

bool takt_file_was_ours(int fd, bool is_default)
{
    char buffer[TAKT_FILE_PREFIX_SIZE + CHUNK + 1];
    bool is_lmdb = takt_file_has_magic(fd), zeros = true;
    size_t kept = 0;
    off_t at = 0;
    ssize_t n;

    if (!looks_like_lmdb(fd))
        return false;
    while ((n = pread(fd, buffer + kept, CHUNK, at)) > 0) {
        size_t size = kept + (size_t)n;
        buffer[size] = '\0';
        if (has_mark(buffer, size))
            return true;
        for (size_t i = kept; zeros && i < size; i++)
            zeros = buffer[i] == 0;
        kept = size < TAKT_FILE_PREFIX_SIZE ? size : TAKT_FILE_PREFIX_SIZE;
        memmove(buffer, buffer + size - kept, kept);
        at += n;
    }
    return n == 0 && (zeros || (is_default && is_lmdb));
}

int takt_file_not_ours(takt_error *error, const char *path)
{
    return takt_fail(error, TAKT_E_STORE_FORMAT,
                     "%s is not a file of takt's and was left alone: name another file with "
                     "file:PATH, or move this "
                     "one away",
                     path);
}

static int another_format(takt_error *error, const char *path, MDB_val text)
{
    char copy[64], quoted[TAKT_QUOTE_SIZE];
    size_t size = text.mv_size < sizeof copy ? text.mv_size : sizeof copy - 1;

    memcpy(copy, text.mv_data, size);
    copy[size] = '\0';
    return takt_fail(error, TAKT_E_STORE_FORMAT,
                     "%s has the format %s, and this takt reads and writes \"" TAKT_FILE_FORMAT_TEXT
                     "\": use the takt that wrote it, or name another file with file:PATH",
                     path, takt_quote(copy, quoted));
}

/* Reads what the file says about itself: 0; MDB_NOTFOUND: it is empty; MDB_CORRUPTED: it is not one
 * of ours; or another code. */
static int read_format(takt_file_env *env, MDB_txn *txn, takt_error *error)
{
    MDB_val name = format_name, text;
    MDB_stat status;
    unsigned flags;
    int rc = mdb_dbi_open(txn, NULL, 0, &env->dbi);

    if (rc == 0)
        rc = mdb_dbi_flags(txn, env->dbi, &flags);
    if (rc == 0)
        rc = mdb_stat(txn, env->dbi, &status);
    if (rc != 0)
        return rc;
    if (flags != 0) /* duplicates or numbers as keys: takt never creates them */
        return takt_file_not_ours(error, env->url.path);
    rc = mdb_get(txn, env->dbi, &name, &text);
    if (rc == MDB_NOTFOUND && status.ms_entries > 0)
        return MDB_CORRUPTED; /* another program's file, or the page with the record is lost */
    if (rc != 0)
        return rc;
    if (text.mv_size < FORMAT_WORD_SIZE ||
        memcmp(text.mv_data, format_text.mv_data, FORMAT_WORD_SIZE) != 0)
        return MDB_CORRUPTED;
    if (text.mv_size != format_text.mv_size ||
        memcmp(text.mv_data, format_text.mv_data, text.mv_size) != 0)
        return another_format(error, env->url.path, text);
    return 0;
}

int takt_file_check_format(takt_file_env *env, takt_error *error)
{
    MDB_val name = format_name, text = format_text;
    MDB_txn *txn;
    int rc = mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, &txn);

    if (rc != 0)
        return rc;
    rc = read_format(env, txn, error);
    if (rc == 0)
        return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    if (rc != MDB_NOTFOUND)
        return rc;
    rc = mdb_txn_begin(env->mdb, NULL, 0, &txn);
    if (rc != 0)
        return rc;
    rc = mdb_dbi_open(txn, NULL, 0, &env->dbi);
    if (rc == 0)
        rc = mdb_put(txn, env->dbi, &name, &text, 0);
    if (rc == 0)
        return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return rc;
}
