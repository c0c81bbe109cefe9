/*
 * Any bytes as the records of a ledger, the pages of its logs and records of others in an LMDB file
 * (the first byte chooses the limit that uses it): calls on it succeed, an unreadable ledger begins
 * again once, and expired records are swept out.
 */
#include "fuzz.h"

#include <limits.h>

#include "store/file_record.h"

#define NOW           INT64_C(1763692800000000)
#define FAR           INT64_C(9999999999999998) /* when everything has expired */
#define SECOND        INT64_C(1000000)
#define NAME          "n\0fuzz\0k"
#define NAME_SIZE     8
#define LMDB_NAME_MAX 511

static MDB_env *env;
static takt_file_records records;

static void must(int code)
{
    require(code == 0);
}

/* A file without a name, which goes with the program. */
static void open_env(void)
{
    char directory[] = "/tmp/takt-fuzz-XXXXXX", file[64];

    require(mkdtemp(directory) != NULL);
    must(mdb_env_create(&env));
    must(mdb_env_set_mapsize(env, (size_t)1 << 26));
    must(mdb_env_open(env, directory, MDB_NOSYNC | MDB_NOLOCK, 0600));
    snprintf(file, sizeof file, "%s/data.mdb", directory);
    require(unlink(file) == 0 && rmdir(directory) == 0);
}

static takt_limit limit_of(int number)
{
    takt_limit limit = {.name = "fuzz", .numbers.lookahead_us = TAKT_LOOKAHEAD_US};
    takt_rule *rules = limit.numbers.rules;

    rules[0] = (takt_rule){.algorithm = &takt_sliding_log, .limit = 2000, .period_us = SECOND};
    rules[1] = (takt_rule){.algorithm = &takt_sliding_log, .limit = 9, .period_us = 100 * SECOND};
    limit.numbers.rule_count = 1 + number % 2;
    if (number == 2)
        rules[0] =
            (takt_rule){.algorithm = &takt_gcra, .limit = 10, .period_us = SECOND, .burst = 5};
    if (number == 3) {
        limit.numbers.concurrency = 3;
        limit.numbers.lease_us = 30 * SECOND;
    }
    for (int i = 0; i < limit.numbers.rule_count; i++)
        require(takt_rule_prepare(&rules[i], NULL) == 0);
    return limit;
}

/* The input's next bytes: their number is in the two bytes before them, at most the rest. */
static size_t take(const uint8_t **data, size_t *size, const uint8_t **part)
{
    size_t length = *size >= 2 ? ((size_t)(*data)[0] << 8 | (*data)[1]) % 5000 : 0;
    size_t head = *size >= 2 ? 2 : *size;

    length = length < *size - head ? length : *size - head;
    *part = *data + head;
    *data += head + length;
    *size -= head + length;
    return length;
}

static void put(MDB_txn *txn, MDB_dbi dbi, const void *name, size_t name_size, const void *value,
                size_t size)
{
    MDB_val key = {name_size, (void *)(uintptr_t)name}, content = {size, (void *)(uintptr_t)value};

    if (name_size > 0 && name_size <= LMDB_NAME_MAX)
        must(mdb_put(txn, dbi, &key, &content, 0));
}

/* A record: KIND SIZE BYTES. 0: the ledger, with the head of its text; 1: as it is; 2: a page,
 * after its book and number; else a record of others, after the size of its name. */
static void put_record(MDB_txn *txn, MDB_dbi dbi, const uint8_t **data, size_t *size)
{
    uint8_t kind = *(*data)++;
    const uint8_t *part;
    char name[NAME_SIZE + 10] = NAME,
                          value[TAKT_FILE_PREFIX_SIZE + 5000] = "takt 1763692900000000 ";
    size_t length;

    --*size;
    length = take(data, size, &part);
    if (length > 0)
        memcpy(value + TAKT_FILE_PREFIX_SIZE, part, length);
    if (kind % 4 == 0) {
        put(txn, dbi, NAME, NAME_SIZE, value, TAKT_FILE_PREFIX_SIZE + length);
    } else if (kind % 4 == 1) {
        put(txn, dbi, NAME, NAME_SIZE, part, length);
    } else if (kind % 4 == 2 && length >= 2) {
        name[NAME_SIZE + 1] = (char)part[0];
        name[NAME_SIZE + 9] = (char)part[1];
        put(txn, dbi, name, sizeof name, part + 2, length - 2);
    } else if (kind % 4 == 3 && length >= 2) {
        size_t name_size = ((size_t)part[0] << 8 | part[1]) % (length - 1);
        char *its = fuzz_copy(value, TAKT_FILE_PREFIX_SIZE);
        put(txn, dbi, part + 2, name_size, kind & 4 ? its : (const char *)part,
            kind & 4 ? TAKT_FILE_PREFIX_SIZE : length);
        free(its);
    }
}

static void check_award(const takt_award *award, int64_t now_us)
{
    if (award->stale)
        return;
    for (int i = 0; i < award->run_count; i++) {
        const takt_run *run = &award->runs[i];
        require(run->count >= 1 && takt_run_slot(run, 0) >= now_us);
        require(takt_run_slot(run, run->count - 1) <= now_us + TAKT_LOOKAHEAD_MAX_US);
    }
}

/* One call; whether its ledger was damaged. */
static bool run(MDB_txn *txn, MDB_dbi dbi, const takt_limit *limit, takt_op op, int64_t now_us)
{
    static takt_file_job job;

    job.limit = *limit;
    strcpy(job.key, "k");
    job.claim = (takt_claim){.worker = 7, .seq = now_us, .waiting = 5, .want_count = 1};
    job.claim.wants[0] = (takt_want){5, TAKT_NEVER, 1, 5, {{0}}};
    job.own = (takt_store_call){.op = op,
                                .limit = &job.limit,
                                .numbers = &job.limit.numbers,
                                .key = job.key,
                                .claim = &job.claim,
                                .award = &job.award,
                                .cost = 1,
                                .actual = 2,
                                .for_us = SECOND,
                                .slot_us = now_us};
    must(takt_file_run_job(&records, txn, dbi, "n", now_us, &job));
    require(job.own.status == 0 || (op == TAKT_OP_TRY && job.own.status == TAKT_E_NO_SLOT));
    if (op == TAKT_OP_CLAIM)
        check_award(&job.award, now_us);
    return job.damaged;
}

static void check_calls(MDB_txn *txn, MDB_dbi dbi, const takt_limit *limit)
{
    static const takt_op ops[] = {TAKT_OP_PEEK,   TAKT_OP_CLAIM, TAKT_OP_TRY,
                                  TAKT_OP_SETTLE, TAKT_OP_LOWER, TAKT_OP_CLAIM};
    bool was_damaged = false;

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        bool is_damaged = run(txn, dbi, limit, ops[i], NOW + (int64_t)i * 30 * SECOND);
        require(!is_damaged || !was_damaged || ops[i] == TAKT_OP_PEEK);
        was_damaged |= is_damaged && ops[i] != TAKT_OP_PEEK;
    }
}

static bool has_expired(const MDB_val *name, const MDB_val *value)
{
    const char *at = value->mv_data;

    if (name->mv_size > TAKT_FILE_LEDGER_MAX || takt_file_pages_is_page(name) ||
        *(const char *)name->mv_data == '\0' || value->mv_size < TAKT_FILE_PREFIX_SIZE ||
        memcmp(at, TAKT_FILE_WORD, TAKT_FILE_EXPIRES_AT) != 0)
        return false;
    for (size_t i = 0; i < TAKT_FILE_EXPIRES_SIZE; i++)
        if (at[TAKT_FILE_EXPIRES_AT + i] < '0' || at[TAKT_FILE_EXPIRES_AT + i] > '9')
            return false;
    return at[TAKT_FILE_PREFIX_SIZE - 1] == ' ' &&
           memcmp(at + TAKT_FILE_EXPIRES_AT, "9999999999999998", TAKT_FILE_EXPIRES_SIZE) <= 0;
}

/* In steps of some records, until all were looked at. */
static void check_sweep(MDB_txn *txn, MDB_dbi dbi)
{
    MDB_stat status;
    MDB_cursor *cursor;
    MDB_val name, value;

    must(mdb_stat(txn, dbi, &status));
    records.swept_size = 0;
    for (size_t left = status.ms_entries + 2; left > 0; left -= left < 3 ? left : 3)
        must(takt_file_sweep(&records, txn, dbi, FAR, 3));
    must(mdb_cursor_open(txn, dbi, &cursor));
    while (mdb_cursor_get(cursor, &name, &value, MDB_NEXT) == 0)
        require(!has_expired(&name, &value));
    mdb_cursor_close(cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    takt_limit limit;
    MDB_txn *txn;
    MDB_dbi dbi;

    if (size == 0)
        return 0;
    if (env == NULL)
        open_env();
    limit = limit_of(data[0] % 4);
    must(mdb_txn_begin(env, NULL, 0, &txn));
    must(mdb_dbi_open(txn, NULL, 0, &dbi));
    for (data++, size--; size > 0;)
        put_record(txn, dbi, &data, &size);
    check_calls(txn, dbi, &limit);
    check_sweep(txn, dbi);
    mdb_txn_abort(txn);
    return 0;
}
