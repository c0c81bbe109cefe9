/*
 * redis_rights.c: see redis_rights.h. A server checks a user's rights before anything else, so any
 * other error means that the command is allowed.
 */
#include "doctor/redis_rights.h"

#include <stdio.h>
#include <string.h>

/* The commands of the scripts (lua/), then those of the client itself. Later commands remove
 * what earlier ones have written, and written keys expire where possible. Hints come on two
 * channels: one of a ledger, and one of a worker, with a colon; a user may have rights to the
 * first one only. */
const takt_redis_trial takt_redis_trials[] = {
    {.words = "TIME", .grant = "+time"},
    {.words = "SET @ x PX 1000", .grant = "+set"},
    {.words = "GET @", .grant = "+get"},
    {.words = "HSET @:log all x", .grant = "+hset"},
    {.words = "PEXPIREAT @:log 1", .grant = "+pexpireat"},
    {.words = "HGET @:places all", .grant = "+hget"},
    {.words = "HMGET @:places all", .grant = "+hmget"},
    {.words = "HLEN @:places", .grant = "+hlen"},
    {.words = "HGETALL @:held", .grant = "+hgetall"},
    {.words = "HDEL @:places all", .grant = "+hdel"},
    {.words = "ZADD @:line XX 1 x", .grant = "+zadd"},
    {.words = "ZREM @:line x", .grant = "+zrem"},
    {.words = "ZCOUNT @:line 0 1", .grant = "+zcount"},
    {.words = "ZRANGE @:line 0 1", .grant = "+zrange"},
    {.words = "ZRANGEBYSCORE @:line 0 1", .grant = "+zrangebyscore"},
    {.words = "ZREVRANGEBYSCORE @:line 1 0", .grant = "+zrevrangebyscore"},
    {.words = "UNLINK @ @:log", .grant = "+unlink"},
    {.words = "DEL @", .grant = "+del"},
    {.words = "EVALSHA 0000000000000000000000000000000000000000 1 @", .grant = "+evalsha"},
    {.words = "SCRIPT LOAD $2", .grant = "+script|load", .loads = true},
    {.words = "PUBLISH @ x", .grant = "+publish", .hint = true},
    {.words = "PUBLISH @:1 x", .grant = "+publish", .hint = true},
    {.words = "SPUBLISH @ x", .grant = "+spublish", .hint = true, .may_lack = true},
    {.words = "SPUBLISH @:1 x", .grant = "+spublish", .hint = true, .may_lack = true},
    {.words = "SUBSCRIBE @", .grant = "+subscribe", .hint = true, .last = true},
    {.words = "SUBSCRIBE @:1", .grant = "+subscribe", .hint = true, .last = true},
    {.words = "UNSUBSCRIBE @", .grant = "+unsubscribe", .hint = true, .last = true},
    {.words = "SSUBSCRIBE @", .grant = "+ssubscribe", .hint = true, .may_lack = true, .last = true},
    {.words = "SSUBSCRIBE @:1",
     .grant = "+ssubscribe",
     .hint = true,
     .may_lack = true,
     .last = true},
    {.words = "SUNSUBSCRIBE @",
     .grant = "+sunsubscribe",
     .hint = true,
     .may_lack = true,
     .last = true},
};
const int takt_redis_trial_count = sizeof takt_redis_trials / sizeof takt_redis_trials[0];
_Static_assert(sizeof takt_redis_trials / sizeof takt_redis_trials[0] <= TAKT_REDIS_TRIALS, "room");

static bool says(const takt_reply *reply, const char *words)
{
    return memmem(reply->text, reply->size, words, strlen(words)) != NULL;
}

/* Appends a grant once, even if several trials need it. */
static void append(char *list, size_t list_size, const char *grant)
{
    size_t size = strlen(list), grant_size = strlen(grant);

    for (const char *at = list; (at = strstr(at, grant)) != NULL; at++)
        if (at[-1] == ' ' && (at[grant_size] == ' ' || at[grant_size] == '\0'))
            return;
    snprintf(list + size, list_size - size, " %s", grant);
}

void takt_redis_rights_note(takt_redis_rights *rights, const takt_redis_trial *trial,
                            const takt_reply *reply)
{
    if (reply->type != TAKT_REPLY_ERROR)
        return;
    if (says(reply, "unknown command") || says(reply, "unknown subcommand")) {
        if (!trial->may_lack)
            append(rights->lacking, sizeof rights->lacking, trial->grant + 1);
    } else if (!says(reply, "NOPERM")) {
        return;
        /* the right to a key or a channel is missing, not the command */
    } else if (!says(reply, " to run ")) {
        rights->keys |= !says(reply, "channel");
        rights->channels |= says(reply, "channel");
    } else if (trial->hint) {
        append(rights->missing_hints, sizeof rights->missing_hints, trial->grant);
    } else {
        append(rights->missing, sizeof rights->missing, trial->grant);
    }
}

static void tell_hints(const takt_redis_rights *rights, takt_checkup *checkup, bool hints)
{
    if (!hints)
        takt_checkup_tell(checkup, TAKT_FINDING_NOTE, "hints",
                          "switched off (hints=off): waiters notice a block, its end, a reset or a "
                          "free permit up to two seconds late");
    else if (rights->channels || rights->missing_hints[0] != '\0')
        takt_checkup_tell(
            checkup, TAKT_FINDING_WARNING, "hints",
            "this user may not use them, so waiters notice a block, its end, a reset or a free "
            "permit up to two seconds late; grant them: ACL SETUSER USER%s%s",
            rights->channels ? " &takt:*" : "", rights->missing_hints);
    else
        takt_checkup_tell(checkup, TAKT_FINDING_GOOD, "hints",
                          "this user may send and receive them");
}

void takt_redis_rights_tell(const takt_redis_rights *rights, takt_checkup *checkup, bool hints)
{
    if (rights->lacking[0] != '\0')
        takt_checkup_fail(checkup, TAKT_E_STORE_ACCESS, "commands",
                          "it lacks commands that takt needs, or has them under other names:%s",
                          rights->lacking);
    if (rights->keys || rights->missing[0] != '\0')
        takt_checkup_fail(
            checkup, TAKT_E_STORE_ACCESS, "rights",
            "this user lacks rights that takt needs; grant them: ACL SETUSER USER%s%s",
            rights->keys ? " ~takt:*" : "", rights->missing);
    else
        takt_checkup_tell(checkup, TAKT_FINDING_GOOD, "rights",
                          "this user may run every command that takt needs, on takt's keys");
    tell_hints(rights, checkup, hints);
}
