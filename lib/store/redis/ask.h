/*
 * ask.h: a call of store.h as the command that runs its script: EVALSHA, the names of the ledger's
 * parts, and the fields of what is asked in one argument, as lua/PROTOCOL.md has them.  Pure.
 */
#ifndef TAKT_STORE_REDIS_ASK_H
#define TAKT_STORE_REDIS_ASK_H

#include <stdbool.h>

#include "store/redis/key.h"
#include "store/redis/zone_text.h"
#include "store/store.h"

/* How many of its ledger's keys a call names. */
enum {
    TAKT_ASK_BRIEF = 1,       /* the text alone: an uncontended claim */
    TAKT_ASK_WHOLE = 4,       /* and the line, the places, the log */
    TAKT_ASK_WITH_PERMITS = 5 /* and who holds permits */
};

#define TAKT_ASK_NAMES TAKT_ASK_WITH_PERMITS
#define TAKT_ASK_MAX   (3 + TAKT_ASK_NAMES + 1)
#define TAKT_ASK_INTS  (3 + 3 + 4 + 4 * TAKT_WANTS_MAX)
#define TAKT_ASK_ZONES (TAKT_RULES_MAX + TAKT_ZONE_TEXT_MORE)
#define TAKT_ASK_TEXT                                                                              \
    (TAKT_RULES_MAX * TAKT_RULE_TEXT_SIZE + TAKT_ASK_ZONES * TAKT_ZONE_TEXT_SIZE +                 \
     TAKT_REASON_TEXT_MAX + 21 * TAKT_ASK_INTS)

/* Memory that one command after the other uses.  Begins as zeros. */
typedef struct takt_ask {
    int64_t about_us;     /* when the call will run, roughly: which years of a timezone matter */
    takt_zone_list zones; /* that ledgers have asked for */
    int keys;             /* in: that the next call is to name at least; out: that it names */
    int count;
    const char *arguments[TAKT_ASK_MAX];
    size_t sizes[TAKT_ASK_MAX];
    char names[TAKT_ASK_NAMES][TAKT_REDIS_KEY_SIZE];
    char text[TAKT_ASK_TEXT];
} takt_ask;

/* False: a part of the ledger's name is longer than it may be. */
bool takt_ask_call(takt_ask *ask, const char *name_space, const takt_store_call *call);

#endif
