/*
 * limit.h: a limit as one worker's policy has it: the numbers that it shares with the fleet, and
 * what it decides for itself, of which no ledger knows.
 */
#ifndef TAKT_CORE_LIMIT_H
#define TAKT_CORE_LIMIT_H

#include "core/numbers.h"

typedef struct takt_limit {
    char name[TAKT_NAME_SIZE_MAX + 1];
    takt_numbers numbers;
    int priority; /* of acquires that name none */
    takt_on_store_failure on_store_failure;
    takt_mode mode;
    takt_learn learn;
    bool key_hash;                   /* stores get hashes of its keys (crypto/key_hash.h) */
    const struct takt_limit *within; /* owned by the same policy; NULL: none */
} takt_limit;

#endif
