/*
 * test_redis_facts.c: findings about INFO of servers that are not available here: other programs,
 * old versions, clusters, broken disks, and malformed lines.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "doctor/redis_facts.h"

/* Findings as lines: "LEVEL SUBJECT: TEXT". */
struct told {
    takt_checkup checkup;
    char text[8192];
    size_t size;
};

static void on_finding(void *data, const takt_finding *finding)
{
    struct told *told = data;

    told->size +=
        (size_t)snprintf(told->text + told->size, sizeof told->text - told->size, "%s %s: %s\n",
                         takt_finding_level_name(finding->level), finding->subject, finding->text);
}

static const char *tell_awaiting(struct told *told, const char *info, int awaited)
{
    takt_redis_facts facts;

    memset(told, 0, sizeof *told);
    told->checkup.on_finding = on_finding;
    told->checkup.data = told;
    takt_redis_facts_init(&facts);
    takt_redis_facts_info(&facts, info, strlen(info));
    takt_redis_facts_tell(&facts, &told->checkup, "redis://h:1/0", awaited);
    return told->text;
}

static const char *tell(struct told *told, const char *info)
{
    return tell_awaiting(told, info, 0);
}

#define SOUND                                                                                      \
    "redis_version:7.2.4\r\nredis_mode:standalone\r\nuptime_in_seconds:7300\r\n"                   \
    "maxmemory_policy:noeviction\r\nmaxmemory:0\r\nused_memory:1048576\r\naof_enabled:1\r\n"       \
    "role:master\r\nconnected_slaves:0\r\n"

Test(redis_facts, means)
{
    static const struct {
        const char *info, *says;
        int code;
    } table[] = {
        {SOUND, "ok server: Redis 7.2.4 at redis://h:1/0, up for 2 h\n", 0},
        {SOUND "valkey_version:8.0.1\r\n", "ok server: Valkey 8.0.1 at", 0},
        {"valkey_version:8.0.1\r\n" SOUND, "ok server: Valkey 8.0.1 at", 0},
        {SOUND "redis_version:6.2.0\r\n", "ok server: Redis 6.2.0 at", 0},
        {SOUND "redis_version:6.0.16\r\n", "error server: Redis 6.0.16 at redis://h:1/0 is too old",
         TAKT_E_STORE},
        {SOUND "redis_version:5.0.14\r\n", "is too old", TAKT_E_STORE},
        {SOUND "redis_version:10.0\r\n", "ok server: Redis 10.0 at", 0},
        {SOUND "redis_mode:sentinel\r\n", "error server: redis://h:1/0 is a Sentinel",
         TAKT_E_STORE},
        {SOUND "redis_mode:cluster\r\nrole:slave\r\n", "ok role: it is a replica; takt goes to", 0},
        {SOUND "rdb_last_bgsave_status:err\r\n", "warning disk: its last save to disk failed", 0},
        {SOUND "aof_last_write_status:err\r\n", "warning disk: its last save to disk failed", 0},
        {SOUND "loading:1\r\n", "error role: it is still loading", TAKT_E_STORE},
        {SOUND "role:slave\r\nmaster_host:10.0.0.7\r\nmaster_port:6380\r\n"
               "master_link_status:down\r\n",
         "name its primary, 10.0.0.7:6380 (the link to it is down)", TAKT_E_STORE},
        {SOUND "connected_slaves:2\r\n", "note failover: replicas: 2;", 0},
        {SOUND "maxmemory_policy:allkeys-lfu\r\nmaxmemory:104857600\r\nevicted_keys:17\r\n",
         "warning eviction: MAXMEMORY-POLICY IS allkeys-lfu: when its 100 MiB are full (1024 KiB "
         "are used) it evicts ledgers, and each evicted ledger silently lets its whole burst pass "
         "again (17 keys",
         0},
        {SOUND "maxmemory:1100000\r\n", "warning eviction: nothing is evicted", 0},
        {SOUND "maxmemory:2200000\r\n", "ok eviction: nothing is evicted", 0},
        {SOUND "aof_enabled:0\r\n", "note persistence: there is no append-only file, and this user",
         0},
        {"", "note server: redis://h:1/0 answers, but this user may not run INFO", 0},
        {"no colon\r\n:\r\n\r\nredis_version\r\n", "note server: ", 0},
        {"redis_version:7.0\x1b[31m", "Redis 7.0?[31m at", 0},
    };
    struct told told;

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        cr_expect(strstr(tell(&told, table[i].info), table[i].says) != NULL,
                  "row %zu: wanted \"%s\" in\n%s", i, table[i].says, told.text);
        cr_expect_eq(told.checkup.code, table[i].code, "row %zu: %d", i, told.checkup.code);
    }
}

Test(redis_facts, awards_that_wait_for_replicas)
{
    static const struct {
        const char *info, *says;
        int awaited, code;
    } table[] = {
        {SOUND, "error failover: replicas: 0; replicas=1 in the URL waits for 1", 1, TAKT_E_STORE},
        {SOUND "connected_slaves:1\r\n", "error failover: replicas: 1; replicas=2", 2,
         TAKT_E_STORE},
        {SOUND "connected_slaves:1\r\n",
         "ok failover: replicas: 1; an award waits for 1 of them: no failover loses one", 1, 0},
        {SOUND "connected_slaves:2\r\n", "note failover: replicas: 2; an award waits for 1 of", 1,
         0},
        {SOUND "connected_slaves:2\r\n", "note failover: replicas: 2; awards do not wait", 0, 0},
        {SOUND "connected_slaves:0\r\nredis_mode:cluster\r\n", "ok role: it is a primary", 1, 0},
    };
    struct told told;

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        cr_expect(strstr(tell_awaiting(&told, table[i].info, table[i].awaited), table[i].says) !=
                      NULL,
                  "row %zu: wanted \"%s\" in\n%s", i, table[i].says, told.text);
        cr_expect_eq(told.checkup.code, table[i].code, "row %zu: %d", i, told.checkup.code);
    }
}

/* What cannot be seen is not taken for bad, nor for good. */
Test(redis_facts, nothing_is_made_up)
{
    struct told told;

    cr_expect_str_eq(strchr(tell(&told, ""), '\n'), "\n", "%s", told.text);
}

Test(redis_facts, long_values_are_cut)
{
    char info[400] = "redis_version:";
    struct told told;

    memset(info + strlen(info), '9', 300);
    cr_expect(strlen(tell(&told, info)) < 400);
}

/* A late answer says nothing about a clock. */
Test(redis_facts, clocks)
{
    static const struct {
        int64_t asked_at_us, told_us, seen_at_us, ahead_us;
    } rows[] = {
        {1000, 1000, 1000, 0},   {1000, 1010, 1020, 0},   {1000, 1010, 9000000, 0},
        {1000, 900, 1020, -120}, {1000, 1120, 1020, 100}, {1000, 8999999, 9000000, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_eq(
            takt_redis_clock_ahead(rows[i].asked_at_us, rows[i].told_us, rows[i].seen_at_us),
            rows[i].ahead_us, "row %zu", i);
}
