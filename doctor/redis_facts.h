/*
 * redis_facts.h: what INFO and CONFIG GET say of a server, and what that means for the quotas kept
 * there.  Pure.
 */
#ifndef TAKT_DOCTOR_REDIS_FACTS_H
#define TAKT_DOCTOR_REDIS_FACTS_H

#include "doctor/checkup.h"
#include "redis/resp.h"

#define TAKT_FACT_SIZE 80

/* A text that is empty and a number that is -1 were not seen. */
typedef struct takt_redis_facts {
    char version[TAKT_FACT_SIZE];
    bool valkey;
    char mode[TAKT_FACT_SIZE]; /* "standalone", "cluster", "sentinel" */
    int64_t uptime_s;

    char policy[TAKT_FACT_SIZE];
    int64_t maxmemory, used_memory, evicted;

    int64_t aof;               /* 1: there is one */
    char save[TAKT_FACT_SIZE]; /* CONFIG: when a snapshot is made */
    bool saw_save;             /* ... which is empty where none is */
    char fsync[TAKT_FACT_SIZE];
    char last_save[TAKT_FACT_SIZE], last_write[TAKT_FACT_SIZE]; /* "ok", "err" */
    int64_t loading;

    char role[TAKT_FACT_SIZE]; /* "master", "slave" */
    char primary[TAKT_FACT_SIZE], primary_port[TAKT_FACT_SIZE], link[TAKT_FACT_SIZE];
    int64_t replicas;
    char min_replicas[TAKT_FACT_SIZE];
} takt_redis_facts;

void takt_redis_facts_init(takt_redis_facts *facts);

/* Reads a section of INFO: lines NAME:VALUE. */
void takt_redis_facts_info(takt_redis_facts *facts, const char *text, size_t size);

/* Reads an answer to CONFIG GET: names and values in turn. */
void takt_redis_facts_config(takt_redis_facts *facts, const takt_reply *reply);

/* By how much a server's clock is ahead of ours, roughly (negative: behind); 0 where it can agree:
 * it told its time at some moment between that at which it was asked and that at which the answer
 * was seen. */
int64_t takt_redis_clock_ahead(int64_t asked_at_us, int64_t told_us, int64_t seen_at_us);

/* Tells what they mean.  `place` is how the server is shown. */
void takt_redis_facts_tell(const takt_redis_facts *facts, takt_checkup *checkup, const char *place);

#endif
