/*
 * script_call.h: writes a store call as the command that runs its script: EVALSHA, the keys of the
 * ledger and those of inner limits, all fields of the call in one argument, and an argument for
 * each inner limit (lua/PROTOCOL.md). Pure.
 */
#ifndef TAKT_STORE_REDIS_SCRIPT_CALL_H
#define TAKT_STORE_REDIS_SCRIPT_CALL_H

#include <stdbool.h>

#include "store/redis/key.h"
#include "store/redis/protocol.h"
#include "store/redis/zone_text.h"
#include "store/store.h"

#define TAKT_SCRIPT_CALL_OWN   5 /* keys of its ledger */
#define TAKT_SCRIPT_CALL_INNER 3 /* keys of an inner ledger: its text, its holders and its log */
#define TAKT_SCRIPT_CALL_NAMES (TAKT_SCRIPT_CALL_OWN + TAKT_SCRIPT_CALL_INNER * TAKT_INNER_MAX)
#define TAKT_SCRIPT_CALL_MAX   (3 + TAKT_SCRIPT_CALL_NAMES + 1 + TAKT_INNER_MAX)
#define TAKT_SCRIPT_CALL_INTS  (3 + 3 + 11 + 4 * TAKT_WANTS_MAX)
#define TAKT_SCRIPT_CALL_ZONES (TAKT_RULES_MAX + TAKT_ZONE_TEXT_MORE)
#define TAKT_SCRIPT_CALL_LIMIT                                                                     \
    (TAKT_RULES_MAX * TAKT_RULE_TEXT_SIZE + TAKT_SCRIPT_CALL_ZONES * TAKT_ZONE_TEXT_SIZE +         \
     21 * (3 + 11))
#define TAKT_SCRIPT_CALL_TEXT                                                                      \
    (TAKT_LEVELS_MAX * TAKT_SCRIPT_CALL_LIMIT + TAKT_REASON_TEXT_MAX +                             \
     2 * (TAKT_TENANT_TEXT_MAX + 6) + 21 * TAKT_SCRIPT_CALL_INTS)

/* The memory of one command, reused by the next. Zeros at first. */
typedef struct takt_script_call {
    int64_t about_us;     /* roughly when the call will run: selects the years of a timezone */
    takt_zone_list zones; /* zones that ledgers have asked for */
    /* in: the keys to name (TAKT_KEYS_...), besides that of the holders where there are permits; 0:
     * those that the call probably needs. out: the keys that it names; 0: it has the short form. */
    int keys;
    int count;
    const char *arguments[TAKT_SCRIPT_CALL_MAX];
    size_t sizes[TAKT_SCRIPT_CALL_MAX];
    char names[TAKT_SCRIPT_CALL_NAMES][TAKT_REDIS_KEY_SIZE];
    char text[TAKT_SCRIPT_CALL_TEXT];
} takt_script_call;

/* False: a part of the ledger's name is too long. */
bool takt_script_call_write(takt_script_call *script_call, const char *name_space,
                            const takt_store_call *call);

#endif
