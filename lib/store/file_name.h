/*
 * file_name.h: the name of a record in an LMDB file. It is the name of record.h, except for long
 * keys: LMDB names have at most 511 bytes, and a page's name is longer than its ledger's. So a key
 * of more than 255 bytes is stored as its first 192 bytes and the 64 digits of its SHA-256: 256
 * bytes, which no other key has.
 */
#ifndef TAKT_STORE_FILE_NAME_H
#define TAKT_STORE_FILE_NAME_H

#include "store/record.h"

#define TAKT_FILE_KEY_PLAIN 255 /* bytes of the longest key stored unchanged */
#define TAKT_FILE_LEDGER_MAX                                                                       \
    (2 * (TAKT_NAME_SIZE_MAX + 1) + TAKT_FILE_KEY_PLAIN + 1) /* bytes of a ledger's name */
#define TAKT_FILE_NAME_MAX (TAKT_FILE_LEDGER_MAX + 10)       /* of a ledger's or a page's */

/* Writes the name of a ledger's record and returns its length; 0: a part is too long, or a long key
 * cannot be hashed since OpenSSL cannot be loaded. */
size_t takt_file_name(char name[TAKT_RECORD_NAME_MAX], const char *name_space, const char *limit,
                      const char *key);

#endif
