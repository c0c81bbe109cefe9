/*
 * redis_facts.c: see redis_facts.h. Decides which settings of a server endanger a quota, and what
 * each one can cost. Facts that could not be read are reported, too, with the command to read them.
 */
#include "doctor/redis_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time_text.h"
#define OLDEST_MAJOR 6 /* SET ... PXAT came with 6.2 */
#define OLDEST_MINOR 2

int64_t takt_redis_clock_ahead(int64_t asked_at_us, int64_t told_us, int64_t seen_at_us)
{
    return told_us >= asked_at_us && told_us <= seen_at_us ? 0 : told_us - seen_at_us;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The destination of a fact: a text or a number. */
struct slot {
    const char *name;
    char *text;
    int64_t *number;
};

#define SLOTS_MAX 24

static int slots_of(takt_redis_facts *facts, struct slot slots[SLOTS_MAX])
{
    const struct slot all[] = {
        {"redis_version", facts->version, NULL},
        {"valkey_version", facts->version, NULL},
        {"redis_mode", facts->mode, NULL},
        {"server_mode", facts->mode, NULL},
        {"uptime_in_seconds", NULL, &facts->uptime_s},
        {"maxmemory_policy", facts->policy, NULL},
        {"maxmemory", NULL, &facts->maxmemory},
        {"used_memory", NULL, &facts->used_memory},
        {"evicted_keys", NULL, &facts->evicted},
        {"aof_enabled", NULL, &facts->aof},
        {"save", facts->save, NULL},
        {"appendfsync", facts->fsync, NULL},
        {"rdb_last_bgsave_status", facts->last_save, NULL},
        {"aof_last_write_status", facts->last_write, NULL},
        {"loading", NULL, &facts->loading},
        {"role", facts->role, NULL},
        {"master_host", facts->primary, NULL},
        {"master_port", facts->primary_port, NULL},
        {"master_link_status", facts->link, NULL},
        {"connected_slaves", NULL, &facts->replicas},
        {"min-replicas-to-write", facts->min_replicas, NULL},
    };
    _Static_assert(sizeof all / sizeof all[0] <= SLOTS_MAX, "room for all");

    memcpy(slots, all, sizeof all);
    return (int)(sizeof all / sizeof all[0]);
}

/* Facts are shown on a terminal, so only plain characters are kept. */
static void copy_text(char *to, const char *from, size_t size)
{
    size = size < TAKT_FACT_SIZE - 1 ? size : TAKT_FACT_SIZE - 1;
    for (size_t i = 0; i < size; i++)
        to[i] = from[i];
    for (size_t i = 0; i < size; i++)
        if (to[i] < ' ' || to[i] > '~')
            to[i] = '?';
    to[size] = '\0';
}

static void learn(takt_redis_facts *facts, const char *name, size_t name_size, const char *value,
                  size_t size)
{
    struct slot slots[SLOTS_MAX];
    int count = slots_of(facts, slots);
    char digits[TAKT_FACT_SIZE];

    for (int i = 0; i < count; i++) {
        if (strlen(slots[i].name) != name_size || memcmp(slots[i].name, name, name_size) != 0)
            continue;
        /* Valkey also reports the version of Redis that it is compatible with */
        if (facts->valkey && strcmp(slots[i].name, "redis_version") == 0)
            return;
        facts->valkey |= strcmp(slots[i].name, "valkey_version") == 0;
        facts->saw_save |= slots[i].text == facts->save;
        if (slots[i].text != NULL) {
            copy_text(slots[i].text, value, size);
        } else {
            copy_text(digits, value, size);
            *slots[i].number = strtoll(digits, NULL, 10);
        }
        return;
    }
}

void takt_redis_facts_init(takt_redis_facts *facts)
{
    struct slot slots[SLOTS_MAX];
    int count;

    memset(facts, 0, sizeof *facts);
    count = slots_of(facts, slots);
    for (int i = 0; i < count; i++)
        if (slots[i].number != NULL)
            *slots[i].number = -1;
}

void takt_redis_facts_info(takt_redis_facts *facts, const char *text, size_t size)
{
    const char *end = text + size;

    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        const char *next = line_end ? line_end + 1 : end;
        const char *colon;
        line_end = line_end ? line_end : end;
        if (line_end > text && line_end[-1] == '\r')
            line_end--;
        colon = memchr(text, ':', (size_t)(line_end - text));
        if (colon != NULL)
            learn(facts, text, (size_t)(colon - text), colon + 1, (size_t)(line_end - colon - 1));
        text = next;
    }
}

void takt_redis_facts_config(takt_redis_facts *facts, const takt_reply *reply)
{
    for (int i = 1; reply->type == TAKT_REPLY_ARRAY && i + 1 <= reply->count; i += 2)
        if (reply[i].type == TAKT_REPLY_STRING && reply[i + 1].type == TAKT_REPLY_STRING)
            learn(facts, reply[i].text, reply[i].size, reply[i + 1].text, reply[i + 1].size);
}

/* ---- findings -------------------------------------------------------------------------------- */

static void tell_server(const takt_redis_facts *facts, takt_checkup *checkup, const char *address)
{
    const char *name = facts->valkey ? "Valkey" : "Redis";
    char span[TAKT_SPAN_SIZE];
    char *rest;
    long major = strtol(facts->version, &rest, 10);
    long minor = *rest == '.' ? strtol(rest + 1, NULL, 10) : 0;

    if (facts->version[0] == '\0') {
        takt_checkup_tell(checkup, TAKT_FINDING_NOTE, "server",
                          "%s answers, but this user may not run INFO, which tells its version and "
                          "settings; check as an administrator that redis-cli INFO shows "
                          "redis_version 6.2 or newer, maxmemory_policy noeviction, role master",
                          address);
        return;
    }
    if (strcmp(facts->mode, "sentinel") == 0)
        takt_checkup_fail(
            checkup, TAKT_E_STORE, "server",
            "%s is a Sentinel, which keeps no data: write redis-sentinel://HOST:PORT/NAME, "
            "with the name of the primary that it watches",
            address);
    else if (major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR))
        takt_checkup_fail(checkup, TAKT_E_STORE, "server",
                          "%s %s at %s is too old: takt needs Redis 6.2 or newer, or Valkey", name,
                          facts->version, address);
    else
        takt_checkup_tell(
            checkup, TAKT_FINDING_GOOD, "server", "%s %s at %s, %s%s", name, facts->version,
            address, facts->uptime_s > 0 ? "up for " : "just started",
            facts->uptime_s > 0 ? takt_format_rough_span(facts->uptime_s * 1000000, span) : "");
}

static void tell_eviction(const takt_redis_facts *facts, takt_checkup *checkup)
{
    char used[TAKT_CHECKUP_BYTES_SIZE], max[TAKT_CHECKUP_BYTES_SIZE];

    takt_checkup_bytes(facts->used_memory, used);
    takt_checkup_bytes(facts->maxmemory, max);
    if (facts->policy[0] == '\0')
        return; /* reported with the server */
    if (strcmp(facts->policy, "noeviction") != 0 && facts->maxmemory > 0)
        takt_checkup_tell(
            checkup, TAKT_FINDING_WARNING, "eviction",
            "MAXMEMORY-POLICY IS %s: when its %s are full (%s are used) it evicts ledgers, and "
            "each evicted ledger silently lets its whole burst pass again (%lld keys were evicted "
            "since it started); run there: CONFIG SET maxmemory-policy noeviction",
            facts->policy, max, used, (long long)facts->evicted);
    else if (strcmp(facts->policy, "noeviction") != 0)
        takt_checkup_tell(checkup, TAKT_FINDING_WARNING, "eviction",
                          "maxmemory-policy is %s: if maxmemory is ever set, ledgers are evicted, "
                          "and each evicted ledger silently lets its whole burst pass again; run "
                          "there: CONFIG SET maxmemory-policy noeviction",
                          facts->policy);
    else if (facts->maxmemory > 0)
        takt_checkup_tell(
            checkup,
            facts->used_memory > facts->maxmemory / 10 * 9 ? TAKT_FINDING_WARNING
                                                           : TAKT_FINDING_GOOD,
            "eviction",
            "nothing is evicted; %s of %s are used; when they are full, no slots are granted", used,
            max);
    else
        takt_checkup_tell(checkup, TAKT_FINDING_GOOD, "eviction",
                          "nothing is evicted; maxmemory is not set, %s are used", used);
}

/* Reports what a restart loses when there is an append-only file. */
static void tell_aof(const takt_redis_facts *facts, takt_checkup *checkup)
{
    if (strcmp(facts->fsync, "always") == 0)
        takt_checkup_tell(checkup, TAKT_FINDING_GOOD, "persistence",
                          "every award is on disk before it is answered (appendfsync always)");
    else if (strcmp(facts->fsync, "no") == 0)
        takt_checkup_tell(checkup, TAKT_FINDING_NOTE, "persistence",
                          "appendonly with appendfsync no: a crash of its host loses about the "
                          "last half minute; with everysec it loses about a second");
    else
        takt_checkup_tell(checkup, TAKT_FINDING_GOOD, "persistence",
                          "appendonly%s: a crash of its host can lose the last second or two; a "
                          "restart loses nothing",
                          facts->fsync[0] ? " with appendfsync everysec" : "");
}

static void tell_persistence(const takt_redis_facts *facts, takt_checkup *checkup)
{
    if (strcmp(facts->last_save, "err") == 0 || strcmp(facts->last_write, "err") == 0)
        takt_checkup_tell(checkup, TAKT_FINDING_WARNING, "disk",
                          "its last save to disk failed (see its log): it may refuse writes, and "
                          "then no slots are granted");
    if (facts->aof < 0)
        return; /* reported with the server */
    if (facts->aof > 0)
        tell_aof(facts, checkup);
    else if (facts->saw_save && facts->save[0] == '\0')
        takt_checkup_tell(checkup, TAKT_FINDING_WARNING, "persistence",
                          "there is none (neither appendonly nor save): a restart loses all counts "
                          "and blocks, and each limit starts again with its whole burst or window; "
                          "run there: CONFIG SET appendonly yes");
    else if (facts->saw_save)
        takt_checkup_tell(
            checkup, TAKT_FINDING_WARNING, "persistence",
            "snapshots only (save %s): a crash loses everything since the last snapshot, and each "
            "limit then lets that much pass again; run there: CONFIG SET appendonly yes",
            facts->save);
    else
        takt_checkup_tell(
            checkup, TAKT_FINDING_NOTE, "persistence",
            "there is no append-only file, and this user may not run CONFIG to see if there are "
            "snapshots: a restart can lose all counts; check with redis-cli CONFIG GET save");
}

static void tell_failover(const takt_redis_facts *facts, takt_checkup *checkup, int awaited)
{
    const char *min = facts->min_replicas;
    long long replicas = (long long)facts->replicas;
    char setting[TAKT_FACT_SIZE + 40] = "";

    if (min[0] != '\0')
        snprintf(setting, sizeof setting, " (min-replicas-to-write is %s)", min);
    if (replicas < awaited)
        takt_checkup_fail(checkup, TAKT_E_STORE, "failover",
                          "replicas: %lld; replicas=%d in the URL waits for %d, so no award can be "
                          "used: add replicas, or write a smaller number",
                          replicas, awaited, awaited);
    else if (awaited > 0)
        takt_checkup_tell(
            checkup, awaited < replicas ? TAKT_FINDING_NOTE : TAKT_FINDING_GOOD, "failover",
            "replicas: %lld; an award waits for %d of them: %s%s", replicas, awaited,
            awaited < replicas ? "a failover to one of these loses none, one to another replica may"
                               : "no failover loses one",
            setting);
    else if (replicas == 0)
        takt_checkup_tell(checkup, TAKT_FINDING_NOTE, "failover",
                          "it has no replica: if it fails, work waits until it is back");
    else
        takt_checkup_tell(checkup, TAKT_FINDING_NOTE, "failover",
                          "replicas: %lld; awards do not wait for them: a failover loses what they "
                          "have not received yet, and each limit then lets that much pass again, "
                          "at most one burst more; replicas=1 in the URL prevents that%s",
                          replicas, setting);
}

static void tell_role(const takt_redis_facts *facts, takt_checkup *checkup, int awaited)
{
    bool is_node = strcmp(facts->mode, "cluster") == 0;

    if (strcmp(facts->role, "slave") == 0 && is_node)
        takt_checkup_tell(checkup, TAKT_FINDING_GOOD, "role",
                          "it is a replica; takt goes to the primaries of its cluster");
    else if (strcmp(facts->role, "slave") == 0)
        takt_checkup_fail(checkup, TAKT_E_STORE, "role",
                          "it is a replica and cannot be written to: name its primary, %s:%s (the "
                          "link to it is %s)",
                          facts->primary, facts->primary_port, facts->link);
    else if (facts->loading > 0)
        takt_checkup_fail(checkup, TAKT_E_STORE, "role", "it is still loading its data");
    else if (strcmp(facts->role, "master") == 0)
        takt_checkup_tell(checkup, TAKT_FINDING_GOOD, "role", "it is a primary");
    if (strcmp(facts->role, "master") == 0 && facts->loading <= 0 && !is_node)
        tell_failover(facts, checkup, awaited); /* in a cluster for each shard */
}

void takt_redis_facts_tell(const takt_redis_facts *facts, takt_checkup *checkup,
                           const char *address, int awaited)
{
    tell_server(facts, checkup, address);
    tell_role(facts, checkup, awaited);
    tell_eviction(facts, checkup);
    tell_persistence(facts, checkup);
}
