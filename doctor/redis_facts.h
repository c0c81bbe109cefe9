/*
 * redis_facts.h: reads INFO and CONFIG GET of a server, and decides what the facts mean for the
 * quotas kept there. Pure.
 */
#ifndef TAKT_DOCTOR_REDIS_FACTS_H
#define TAKT_DOCTOR_REDIS_FACTS_H

#include "doctor/checkup.h"
#include "redis/resp.h"

#define TAKT_FACT_SIZE 80

/* An empty text or a number of -1: not read. */
typedef struct takt_redis_facts {
    char version[TAKT_FACT_SIZE];
    bool valkey;
    char mode[TAKT_FACT_SIZE]; /* "standalone", "cluster", "sentinel" */
    int64_t uptime_s;

    char policy[TAKT_FACT_SIZE];
    int64_t maxmemory, used_memory, evicted;

    int64_t aof;               /* 1: the server has an append-only file */
    char save[TAKT_FACT_SIZE]; /* CONFIG: when a snapshot is made */
    bool saw_save;             /* ... which is empty if it makes none */
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

/* How far the server's clock is ahead of ours, roughly (negative: behind); 0 if the clocks may
 * agree: the server read its clock at some moment between our question and its answer. */
int64_t takt_redis_clock_ahead(int64_t asked_at_us, int64_t told_us, int64_t seen_at_us);

/* Reports what the facts mean. `address` names the server in messages; awards wait for `awaited`
 * replicas (0: for none). */
void takt_redis_facts_tell(const takt_redis_facts *facts, takt_checkup *checkup,
                           const char *address, int awaited);

#endif
