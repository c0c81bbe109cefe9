/*
 * redis_rights.h: which commands takt needs, and which of them a server refuses our user.  Each is
 * tried on names of the checkup's own, in such a way that it leaves nothing behind.  Pure.
 */
#ifndef TAKT_DOCTOR_REDIS_RIGHTS_H
#define TAKT_DOCTOR_REDIS_RIGHTS_H

#include "doctor/checkup.h"
#include "redis/resp.h"

typedef struct takt_redis_trial {
    const char *words; /* the command: "@" begins a name, "$N" is a script's source */
    const char *grant; /* what allows it: "+get" */
    bool loads;        /* not needed where others load the scripts */
    bool hint;         /* work goes on without it, only wake-ups come late */
    bool may_lack;     /* older servers do not have it */
    bool last;         /* changes the connection: to be said when all else is done */
} takt_redis_trial;

#define TAKT_REDIS_TRIALS 32 /* at most */

extern const takt_redis_trial takt_redis_trials[];
extern const int takt_redis_trial_count;

/* What was refused so far.  Begins as zeros. */
typedef struct takt_redis_rights {
    char missing[512], lacking[256]; /* grants, a blank before each */
    char missing_hints[128];
    bool keys, channels; /* our user may not touch our names */
} takt_redis_rights;

/* The server's answer to a trial. */
void takt_redis_rights_note(takt_redis_rights *rights, const takt_redis_trial *trial,
                            const takt_reply *reply);

void takt_redis_rights_tell(const takt_redis_rights *rights, takt_checkup *checkup, bool hints);

#endif
