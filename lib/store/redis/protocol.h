/*
 * protocol.h: the numbers that the scripts and their caller share, for both: the build puts them
 * into lua/ (c_constants.py).  lua/PROTOCOL.md says what they mean.
 */
#ifndef TAKT_STORE_REDIS_PROTOCOL_H
#define TAKT_STORE_REDIS_PROTOCOL_H

/* The first number of a reply is a sum of these. */
#define TAKT_FLAG_DAMAGED  1   /* the ledger could not be read: it was begun anew */
#define TAKT_FLAG_STALE    2   /* a younger statement of the worker had come before */
#define TAKT_FLAG_OUTDATED 4   /* other numbers hold than the caller's */
#define TAKT_FLAG_TAKEN    8   /* a try has taken its cost, or a claim's ledger its offer */
#define TAKT_FLAG_ZONE     16  /* nothing was done: the caller is to name a timezone as well */
#define TAKT_FLAG_PERMITS  32  /* permits are told of; alone: all five keys are needed for that */
#define TAKT_FLAG_WATCHED  64  /* the ledger counts what is taken */
#define TAKT_FLAG_KEYS     128 /* nothing was done: four keys are needed */
#define TAKT_FLAG_NEWS     256 /* the others should claim now */

/* How many values a reply has. */
#define TAKT_AWARD_SHORT     3  /* of a claim that is given one slot */
#define TAKT_AWARD_HEAD      11 /* of any other claim, */
#define TAKT_AWARD_RUN       7  /* and for each run of slots */
#define TAKT_STANDING_VALUES 11
#define TAKT_WATCHED_VALUES  2 /* more, with that flag */
#define TAKT_PERMITS_VALUES  3 /* more, where there are permits; a try has them twice */

#endif
