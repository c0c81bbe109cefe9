/*
 * protocol.h: the numbers that the scripts and their caller share: the build puts them into lua/
 * (c_constants.py). lua/PROTOCOL.md explains them.
 */
#ifndef TAKT_STORE_REDIS_PROTOCOL_H
#define TAKT_STORE_REDIS_PROTOCOL_H

/* The first number of a reply is a sum of these. */
#define TAKT_FLAG_DAMAGED  1     /* the ledger was unreadable: it is fresh now */
#define TAKT_FLAG_STALE    2     /* a younger statement of the worker came before */
#define TAKT_FLAG_OUTDATED 4     /* a ledger's numbers are newer than the caller's */
#define TAKT_FLAG_TAKEN    8     /* a try has taken its cost, or a claim's ledger its offer */
#define TAKT_FLAG_ZONE     16    /* nothing was done: the caller must add a timezone */
#define TAKT_FLAG_PERMITS  32    /* the reply has the permits */
#define TAKT_FLAG_WATCHED  64    /* the ledger counts the tokens taken */
#define TAKT_FLAG_KEYS     128   /* nothing was done: the caller must name these keys, too */
#define TAKT_FLAG_NEWS     256   /* the other workers should claim now */
#define TAKT_FLAG_RULES    512   /* the reply has the remaining amount of each rule */
#define TAKT_FLAG_TENANTS  1024  /* the reply has the tenants that have waiters */
#define TAKT_FLAG_PARKED   2048  /* of a claim: it does not stand in line, see takt_award.parked */
#define TAKT_FLAG_CROWDED  4096  /* of a claim: takt_award.crowded */
#define TAKT_FLAG_UNLISTED 8192  /* of a claim: takt_award.unlisted */
#define TAKT_FLAG_PROMPT   16384 /* of a claim: takt_award.prompt */
#define TAKT_FLAG_TAG      32768 /* the reply has takt_award.tag, or takt_store_call.tag_change */

/* The keys of a ledger that a call names: a sum of these. */
#define TAKT_KEYS_TEXT 1
#define TAKT_KEYS_LINE 2 /* two keys: the line and the places */
#define TAKT_KEYS_HELD 4
#define TAKT_KEYS_LOG  8

/* The number of values in a reply. */
#define TAKT_AWARD_SHORT     3  /* of a claim that gets one slot */
#define TAKT_AWARD_HEAD      11 /* of any other claim, ... */
#define TAKT_AWARD_RUN       7  /* ... and of each run of slots */
#define TAKT_AWARD_TAG       1  /* the last value, with that flag */
#define TAKT_STANDING_VALUES 11
#define TAKT_WATCHED_VALUES  2 /* additional values with that flag */
#define TAKT_RULE_VALUES     4 /* with that flag, of each rule; their number comes first */
#define TAKT_TENANT_VALUES   4 /* with that flag, of each tenant; their number comes first */
#define TAKT_PERMITS_VALUES  3 /* additional values with permits; a try has them twice */

/* A reply to several claims with more values than that ends: the longest reply to a further one
 * might exceed TAKT_RESP_NODES_MAX. */
#define TAKT_CLAIMS_VALUES_MAX 559

#endif
