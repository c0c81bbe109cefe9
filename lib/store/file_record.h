/*
 * file_record.h: records in an LMDB file. A record's value is "takt ", its expiry as sixteen
 * digits, a blank, and the ledger's text. (file_format.c recognises the remains of a damaged file
 * by the word.)
 */
#ifndef TAKT_STORE_FILE_RECORD_H
#define TAKT_STORE_FILE_RECORD_H

#include <lmdb.h>

#include "store/file_job.h"
#include "store/file_pages.h"
#include "store/record.h"

#define TAKT_FILE_WORD         "takt "
#define TAKT_FILE_EXPIRES_AT   (sizeof TAKT_FILE_WORD - 1)
#define TAKT_FILE_EXPIRES_SIZE 16
#define TAKT_FILE_PREFIX_SIZE  (TAKT_FILE_EXPIRES_AT + TAKT_FILE_EXPIRES_SIZE + 1)

/* Memory reused by each transaction. Zeros at first. */
typedef struct takt_file_records {
    takt_record_scratch scratch;
    char *value;
    size_t value_capacity;
    takt_file_pages pages[TAKT_LEVELS_MAX]; /* the first for calls without inner limits */
    char swept[TAKT_FILE_NAME_MAX];         /* the record at which the sweep continues */
    size_t swept_size;                      /* 0: at the first record */
} takt_file_records;

/* Runs one job in a transaction. Returns an LMDB code: if it is not 0, the transaction must be
 * aborted. */
int takt_file_run_job(takt_file_records *records, MDB_txn *txn, MDB_dbi dbi, const char *name_space,
                      int64_t now_us, takt_file_job *job);

/* The expiry of a record; -1: the value is not a record's. */
int64_t takt_file_record_expires_at(MDB_val value);

/* Checks some records, starting where the last sweep ended, and removes expired ones. */
int takt_file_sweep(takt_file_records *records, MDB_txn *txn, MDB_dbi dbi, int64_t now_us,
                    int count);

void takt_file_records_free(takt_file_records *records);

#endif
