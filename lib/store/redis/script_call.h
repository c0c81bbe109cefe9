/*
 * script_call.h: writes a store call as the command that runs its script: EVALSHA, the keys of the
 * ledger, and all fields of the call in one argument (lua/PROTOCOL.md). Pure.
 */
#ifndef TAKT_STORE_REDIS_SCRIPT_CALL_H
#define TAKT_STORE_REDIS_SCRIPT_CALL_H

#include <stdbool.h>

#include "store/redis/key.h"
#include "store/redis/zone_text.h"
#include "store/store.h"

/* The number of keys that a call names. */
enum {
    TAKT_SCRIPT_CALL_BRIEF = 1,       /* the text alone: an uncontended claim */
    TAKT_SCRIPT_CALL_WHOLE = 4,       /* and the line, the places, the log */
    TAKT_SCRIPT_CALL_WITH_PERMITS = 5 /* and the holders of permits */
};

#define TAKT_SCRIPT_CALL_NAMES TAKT_SCRIPT_CALL_WITH_PERMITS
#define TAKT_SCRIPT_CALL_MAX   (3 + TAKT_SCRIPT_CALL_NAMES + 1)
#define TAKT_SCRIPT_CALL_INTS  (3 + 3 + 8 + 4 * TAKT_WANTS_MAX)
#define TAKT_SCRIPT_CALL_ZONES (TAKT_RULES_MAX + TAKT_ZONE_TEXT_MORE)
#define TAKT_SCRIPT_CALL_TEXT                                                                      \
    (TAKT_RULES_MAX * TAKT_RULE_TEXT_SIZE + TAKT_SCRIPT_CALL_ZONES * TAKT_ZONE_TEXT_SIZE +         \
     TAKT_REASON_TEXT_MAX + 21 * TAKT_SCRIPT_CALL_INTS)

/* The memory of one command, reused by the next. Zeros at first. */
typedef struct takt_script_call {
    int64_t about_us;     /* roughly when the call will run: selects the years of a timezone */
    takt_zone_list zones; /* zones that ledgers have asked for */
    int keys; /* in: keys that the next call must name at least; out: keys that it names */
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
