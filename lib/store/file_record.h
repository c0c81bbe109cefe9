/*
 * file_record.h: records in an LMDB file.  A record's value is "takt ", the moment from which it
 * may be dropped as sixteen digits, a blank, and then the ledger's text.  (The word is there so
 * that what is left of a damaged file can be recognised as ours: file_format.c.)
 */
#ifndef TAKT_STORE_FILE_RECORD_H
#define TAKT_STORE_FILE_RECORD_H

#include <lmdb.h>

#include "store/file_pages.h"
#include "store/file_thread.h"
#include "store/record.h"

#define TAKT_FILE_WORD         "takt "
#define TAKT_FILE_EXPIRES_AT   (sizeof TAKT_FILE_WORD - 1)
#define TAKT_FILE_EXPIRES_SIZE 16
#define TAKT_FILE_PREFIX_SIZE  (TAKT_FILE_EXPIRES_AT + TAKT_FILE_EXPIRES_SIZE + 1)

/* What is used again in one transaction after the other.  Begins as zeros. */
typedef struct takt_file_records {
    takt_record_scratch scratch;
    char *value;
    size_t value_capacity;
    takt_file_pages pages;
    char swept[TAKT_FILE_NAME_MAX]; /* the record at which the sweep goes on */
    size_t swept_size;              /* 0: at the first */
} takt_file_records;

/* Runs one job in a transaction.  Returns an LMDB code: if it is not 0, the transaction is to be
 * given up. */
int takt_file_run_job(takt_file_records *records, MDB_txn *txn, MDB_dbi dbi, const char *name_space,
                      int64_t now_us, takt_file_job *job);

/* From when on a record may be dropped; -1: the value is not a record's. */
int64_t takt_file_record_expires_at(MDB_val value);

/* Looks at some records, going on where it left off, and drops those that have expired. */
int takt_file_sweep(takt_file_records *records, MDB_txn *txn, MDB_dbi dbi, int64_t now_us,
                    int count);

void takt_file_records_free(takt_file_records *records);

#endif
