/*
 * redis_rights.h: the commands that takt needs, and those that a server refuses our user. Each
 * command is tried on names of this checkup, in a way that leaves nothing behind. Pure.
 */
#ifndef TAKT_DOCTOR_REDIS_RIGHTS_H
#define TAKT_DOCTOR_REDIS_RIGHTS_H

#include "doctor/checkup.h"
#include "redis/resp.h"

typedef struct takt_redis_trial {
    const char *words; /* the command: "@" begins a name, "$N" stands for a script's source */
    const char *grant; /* the grant that allows it: "+get" */
    bool loads;        /* not needed if another user loads the scripts */
    bool hint;         /* optional: without it wake-ups come late */
    bool may_lack;     /* older servers do not have it */
    bool last;         /* changes the connection, so it is sent last */
} takt_redis_trial;

#define TAKT_REDIS_TRIALS 32 /* at most */

extern const takt_redis_trial takt_redis_trials[];
extern const int takt_redis_trial_count;

/* The rights refused so far. Zeros at first. */
typedef struct takt_redis_rights {
    char missing[512], lacking[256]; /* grants, each after a blank */
    char missing_hints[128];
    bool keys, channels; /* the keys, or the channels, are not allowed */
} takt_redis_rights;

/* Notes the server's answer to a trial. */
void takt_redis_rights_note(takt_redis_rights *rights, const takt_redis_trial *trial,
                            const takt_reply *reply);

void takt_redis_rights_tell(const takt_redis_rights *rights, takt_checkup *checkup, bool hints);

#endif
