/*
 * ask.c: the messages of the store "agent:", sent and received (message.h).
 */
#include "store/agent/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/integers.h"
#include "store/policy_record.h"

#define NUMBERS_SIZE 4096 /* the numbers of a statement or a question */
#define IDS_SIZE     (TAKT_LEVELS_MAX * 21)

static int64_t local_now(void)
{
    return (int64_t)(uv_hrtime() / 1000);
}

/* ---- sending ------------------------------------------------------------------------- */

/* Sends words, of which number `at`, the key, has that size. */
static bool send_words(takt_agent_store *store, int count, const char *const *words, int at,
                       size_t size)
{
    size_t sizes[8];

    for (int i = 0; i < count; i++)
        sizes[i] = i == at ? size : strlen(words[i]);
    return takt_redis_connection_send(store->connection, NULL, count, words, sizes);
}

/* The desk of a claim's or a try's queue, made if necessary; NULL: no memory. */
static takt_relay_desk *desk_of(takt_agent_store *store, const takt_store_call *call)
{
    takt_entry *entry = takt_table_find(&store->desks, call->queue, call->queue_size);
    takt_relay_desk *desk;

    if (entry != NULL)
        return TAKT_HOLDER(entry, takt_relay_desk, entry);
    desk = takt_relay_desk_new(call->queue, call->queue_size);
    if (desk != NULL)
        takt_table_add(&store->desks, &desk->entry);
    return desk;
}

/* The limit of that key, after it was stated to the agent.  NULL: no memory. */
static const takt_agent_limit *new_limit(takt_agent_store *store, const takt_numbers *numbers,
                                         const char *key, size_t size)
{
    char id[24];
    const char *words[] = {"RELAY", "LIMIT", id, key, key + strlen(key) + 1};
    takt_agent_limit *limit = calloc(1, sizeof *limit + size + 1);

    if (limit == NULL)
        return NULL;
    memcpy(limit->key, key, size);
    limit->entry.key = limit->key;
    limit->entry.size = size;
    memcpy(&limit->numbers, numbers, sizeof limit->numbers);
    limit->id = (int64_t)store->limits.count + 1;
    snprintf(id, sizeof id, "%lld", (long long)limit->id);
    if (!send_words(store, 5, words, -1, 0)) {
        free(limit);
        return NULL;
    }
    takt_table_add(&store->limits, &limit->entry);
    return limit;
}

/* The limit with those numbers, after they were stated to the agent; `last` (may be NULL) may be
 * it.  NULL: no memory. */
static const takt_agent_limit *tell_limit(takt_agent_store *store, const takt_agent_limit *last,
                                          const char *name, const takt_numbers *numbers)
{
    char key[TAKT_NAME_SIZE_MAX + 1 + TAKT_RELAY_TEXT_SIZE + 1];
    size_t size = strlen(name) + 1;
    takt_entry *entry;

    if (last != NULL && memcmp(&last->numbers, numbers, sizeof last->numbers) == 0)
        return last;
    memcpy(key, name, size);
    size += takt_relay_write_numbers(numbers, key + size);
    key[size] = '\0';
    entry = takt_table_find(&store->limits, key, size);
    return entry != NULL ? TAKT_HOLDER(entry, takt_agent_limit, entry)
                         : new_limit(store, numbers, key, size);
}

/* The call's limit and its inner limits, after they were stated to the agent; `limits` has the
 * last ones.  False: no memory. */
static bool tell_limits(takt_agent_store *store, const takt_store_call *call,
                        const takt_agent_limit *limits[TAKT_LEVELS_MAX])
{
    limits[0] = tell_limit(store, limits[0], call->limit->name, call->numbers);
    for (int i = 0; i < call->inner_count && limits[i] != NULL; i++)
        limits[i + 1] =
            tell_limit(store, limits[i + 1], call->inner[i].limit->name, call->inner[i].numbers);
    return limits[call->inner_count] != NULL;
}

/* The limit with any of its numbers; NULL: none was stated. */
static const takt_agent_limit *limit_named(const takt_agent_store *store, const char *name)
{
    for (size_t i = 0; i < store->limits.used; i++)
        for (takt_entry *entry = store->limits.buckets[i]; entry != NULL; entry = entry->next)
            if (strcmp(entry->key, name) == 0)
                return TAKT_HOLDER(entry, takt_agent_limit, entry);
    return NULL;
}

void takt_agent_store_forget_limits(takt_agent_store *store)
{
    takt_entry *entry;

    while ((entry = takt_table_any(&store->limits)) != NULL) {
        takt_table_remove(&store->limits, entry);
        free(TAKT_HOLDER(entry, takt_agent_limit, entry));
    }
}

/* The word ID of a statement. */
static void write_ids(char ids[IDS_SIZE], const takt_agent_limit *const *limits)
{
    takt_writer writer = {ids, ids + IDS_SIZE - 1, false};

    for (int i = 0; i < TAKT_LEVELS_MAX && limits[i] != NULL; i++) {
        if (i > 0)
            takt_write_char(&writer, '/');
        takt_write_int(&writer, limits[i]->id);
    }
    *writer.at = '\0';
}

/* ---- claims -------------------------------------------------------------------------- */

/* The client claims, and gets what the desk has. */
static void wake(takt_agent_store *store, const takt_relay_desk *desk)
{
    if (store->options.on_news != NULL && !store->closing)
        store->options.on_news(store->options.data, desk->key, desk->entry.size);
}

/* unlisted: the agent has not heard of the claim's waiters. */
static void award(takt_agent_store *store, takt_relay_desk *desk, takt_agent_job *job,
                  bool unlisted)
{
    int64_t now_us = local_now();
    int64_t offset_us =
        desk->store_offset_us != 0 ? desk->store_offset_us : store->clock.store_offset_us;

    takt_relay_desk_award(desk, job->call, now_us, now_us - offset_us, store->ways);
    job->call->award->unlisted = unlisted;
    desk->claiming = NULL;
    takt_agent_store_answer(store, job, 0);
    if (desk->slot_count > 0 || unlisted)
        wake(store, desk);
    if (takt_relay_desk_is_idle(desk)) {
        takt_table_remove(&store->desks, &desk->entry);
        free(desk);
    }
}

static bool send_statement(takt_agent_store *store, takt_relay_desk *desk, bool asks)
{
    char ids[IDS_SIZE], text[NUMBERS_SIZE];
    size_t size;
    const char *words[] = {"RELAY", "WANT", ids, takt_relay_desk_word(desk, &size), text};
    takt_writer writer = {text, text + sizeof text - 1, false};

    desk->seq++;
    write_ids(ids, desk->limits);
    takt_relay_write(&writer, asks ? desk->seq : 0);
    takt_relay_write(&writer, store->seen_index);
    takt_relay_write(&writer, desk->holding);
    takt_relay_write(&writer, desk->weight);
    for (int i = 0; i < desk->want_count; i++) {
        takt_relay_write(&writer, desk->wants[i].count);
        takt_relay_write_kind(&writer, desk->wants[i].kind);
    }
    *writer.at = '\0';
    return !writer.full && send_words(store, 5, words, 3, size);
}

/* States what is news to the agent: the waiters, what is held, or the numbers of a limit.  False:
 * no memory. */
static bool state(takt_agent_store *store, takt_relay_desk *desk, const takt_store_call *call,
                  bool *asks)
{
    const takt_agent_limit *limits[TAKT_LEVELS_MAX];
    bool news = takt_relay_desk_state(desk, call, local_now(), asks);

    if (!news && desk->want_count == 0)
        return true;
    memcpy(limits, desk->limits, sizeof limits);
    if (!tell_limits(store, call, limits))
        return false;
    news = news || memcmp(desk->limits, limits, sizeof limits) != 0;
    memcpy(desk->limits, limits, sizeof limits);
    return !news || send_statement(store, desk, *asks);
}

static void ask_claim(takt_agent_store *store, takt_agent_job *job)
{
    takt_store_call *call = job->call;
    takt_relay_desk *desk;
    int failed;
    bool asks = false;

    if (call->inner_count > 0 && call->claim->waiting > 0 && !store->store.nests) {
        takt_agent_store_answer(store, job, TAKT_RELAY_UNNESTED);
        return;
    }
    desk = desk_of(store, call);
    if (desk == NULL) {
        takt_agent_store_answer(store, job, TAKT_E_NOMEM);
        return;
    }
    takt_relay_desk_renew(desk, store->connections);
    failed = desk->failed;
    desk->failed = 0;
    if (failed != 0) {
        takt_agent_store_answer(store, job, failed);
        store->store.trouble = store->text;
        return;
    }
    if (desk->leaving.count > 0) { /* these leave before the others are stated */
        award(store, desk, job, true);
        return;
    }
    if (!state(store, desk, call, &asks)) {
        desk->want_count = 0; /* the agent's state is unknown: it is stated again */
        takt_agent_store_answer(store, job, TAKT_E_NOMEM);
        return;
    }
    if (!asks) {
        award(store, desk, job, false);
        return;
    }
    desk->claiming = call;
    job->sent = true;
}

/* ---- other calls --------------------------------------------------------------------- */

static bool ask_policy(takt_agent_store *store, const takt_agent_job *job)
{
    const takt_policy_exchange *exchange = job->call->exchange;
    bool apply = job->call->op == TAKT_OP_APPLY;
    char number[24], seen[64];
    const char *words[] = {"RELAY", apply ? "APPLY" : "POLICY", number,
                           seen,    exchange->change,           exchange->text};
    size_t sizes[6];

    snprintf(number, sizeof number, "%lld", (long long)job->number);
    snprintf(seen, sizeof seen, "%lld %lld ", (long long)exchange->seen_version,
             (long long)exchange->seen_at_us);
    for (int i = 0; i < 5; i++)
        sizes[i] = strlen(words[i]);
    sizes[5] = exchange->size;
    return takt_redis_connection_send(store->connection, NULL, apply ? 6 : 4, words, sizes);
}

/* The word KEY of a call: with the tenant of a try's queue, or of settled work.  Returns its size.
 */
static size_t write_key(const takt_store_call *call, const char *tenant,
                        char key[TAKT_RELAY_KEY_MAX])
{
    size_t before = strlen(call->limit->name) + 1, size = strlen(call->key);

    if (call->queue != NULL) {
        memcpy(key, call->queue + before, call->queue_size - before);
        return call->queue_size - before;
    }
    memcpy(key, call->key, size);
    if (tenant == NULL || tenant[0] == '\0')
        return size;
    key[size++] = '\0';
    memcpy(key + size, tenant, strlen(tenant));
    return size + strlen(tenant);
}

static bool ask_ledger(takt_agent_store *store, const takt_agent_job *job)
{
    const takt_store_call *call = job->call;
    const char *tenant = store->pays && call->op == TAKT_OP_SETTLE ? call->tenant : NULL;
    const takt_agent_limit *limit = tell_limit(store, NULL, call->limit->name, call->numbers);
    char number[24], id[24], text[320], key[TAKT_RELAY_KEY_MAX];
    size_t size = write_key(call, tenant, key);
    const char *words[] = {
        "RELAY", "CALL", number, id, key, text, call->reason ? call->reason : ""};
    takt_writer writer = {text, text + sizeof text - 1, false};

    snprintf(number, sizeof number, "%lld", (long long)job->number);
    snprintf(id, sizeof id, "%lld", limit != NULL ? (long long)limit->id : 0);
    takt_relay_write(&writer, call->op);
    takt_relay_write_amounts(&writer, call->cost, call->more);
    takt_relay_write(&writer, call->for_us);
    takt_relay_write(&writer, call->slot_us);
    takt_relay_write(&writer, call->requests);
    takt_relay_write_amounts(&writer, call->actual, call->actual_more);
    if (tenant != NULL) {
        takt_relay_write(&writer, call->tenant_weight);
        takt_relay_write(&writer, call->priority);
    }
    *writer.at = '\0';
    return limit != NULL && !writer.full && send_words(store, 7, words, 4, size);
}

void takt_agent_store_ask(takt_agent_store *store, takt_agent_job *job)
{
    takt_op op = job->call->op;
    bool sent;

    if (op == TAKT_OP_CLAIM) {
        ask_claim(store, job);
        return;
    }
    job->number = ++store->numbers;
    job->sent = true;
    sent = op == TAKT_OP_POLICY || op == TAKT_OP_APPLY ? ask_policy(store, job)
                                                       : ask_ledger(store, job);
    if (!sent)
        takt_agent_store_answer(store, job, TAKT_E_NOMEM);
}

/* ---- hearing ------------------------------------------------------------------------- */

/* The words of a message. */
typedef struct message {
    const takt_reply *words[8];
    int count;
} message;

static bool is_word(const message *said, int at, const char *text)
{
    return at < said->count && strcmp(said->words[at]->text, text) == 0;
}

static takt_reader numbers_of(const message *said, int at)
{
    const takt_reply *word = said->words[at];

    return (takt_reader){word->text, word->text + word->size, false};
}

static int64_t number_of(const message *said, int at)
{
    takt_reader reader = numbers_of(said, at);
    int64_t number = takt_read_int(&reader, 0, INT64_MAX);

    return reader.bad ? 0 : number;
}

/* The clock of a server of the store, as the agent read it before it sent this message. */
static void hear_clock(int64_t *offset_us, int64_t store_us)
{
    if (store_us > 0)
        *offset_us = local_now() - store_us;
}

static bool hear_open(takt_agent_store *store, const message *said)
{
    takt_reader reader = numbers_of(said, 1);
    int64_t agent_us = takt_relay_read(&reader, 0, INT64_MAX);
    int64_t store_us = takt_relay_read(&reader, 0, INT64_MAX);

    if (reader.bad)
        return false;
    store->store.nests = takt_relay_read(&reader, 0, INT64_MAX) > 0 && !reader.bad;
    store->pays = takt_relay_read(&reader, 0, INT64_MAX) > 0 && !reader.bad;
    store->ways = takt_relay_read(&reader, 0, INT64_MAX) > 0 && !reader.bad &&
                  send_words(store, 2, (const char *const[]){"RELAY", "WAYS"}, -1, 0);
    store->store.nests = store->store.nests && store->ways;
    store->clock.offset_us = store->clock.opened_us - agent_us;
    hear_clock(&store->clock.store_offset_us, store_us);
    return true;
}

/* The name of the ledger that a message is about, with a NUL behind it.  Returns its size; 0: it is
 * too long. */
static size_t name_of(const message *said, char name[TAKT_RELAY_NAME_MAX + 1])
{
    const char *limit = said->words[1]->text;
    size_t limit_size = strlen(limit), key_size = said->words[2]->size;

    if (limit_size > TAKT_NAME_SIZE_MAX || key_size > TAKT_RELAY_KEY_MAX)
        return 0;
    memcpy(name, limit, limit_size + 1);
    memcpy(name + limit_size + 1, said->words[2]->text, key_size);
    name[limit_size + 1 + key_size] = '\0';
    return limit_size + 1 + key_size;
}

/* The desk that a message names; NULL: it is of an older statement and there is nothing to say. */
static takt_relay_desk *named_desk(takt_agent_store *store, const message *said)
{
    char name[TAKT_RELAY_NAME_MAX + 1];
    size_t size = name_of(said, name);
    takt_entry *entry = takt_table_find(&store->desks, name, size);

    return entry != NULL ? TAKT_HOLDER(entry, takt_relay_desk, entry) : NULL;
}

/* Ends the claim that waits for the report, or lets the client claim. */
static void go_on(takt_agent_store *store, takt_relay_desk *desk, int64_t seq)
{
    takt_agent_job *job = desk->claiming != NULL && seq == desk->seq
                              ? takt_agent_store_job_of(store, desk->claiming, 0)
                              : NULL;

    if (job != NULL)
        award(store, desk, job, false);
    else if (desk->claiming == NULL)
        wake(store, desk);
}

static bool hear_slots(takt_relay_desk *desk, takt_reader *reader)
{
    while (!reader->bad && reader->at < reader->end) {
        takt_relay_slot slot;
        slot.slot_us = takt_relay_read(reader, 0, INT64_MAX);
        slot.kind = takt_relay_read_kind(reader);
        slot.fence = takt_relay_read(reader, 0, INT64_MAX);
        if (!reader->bad && !takt_relay_desk_arrived(desk, &slot))
            return false;
    }
    return !reader->bad;
}

/* Slots or refusals have come for a ledger without a desk: the last waiter left while they were
 * under way.  The agent keeps them, and the permits of the slots, until it knows that this program
 * has seen them and holds no permit. */
static bool send_back(takt_agent_store *store, const message *said)
{
    char ids[IDS_SIZE], text[80], name[TAKT_RELAY_NAME_MAX + 1];
    const takt_agent_limit *limits[TAKT_LEVELS_MAX] = {NULL};
    const char *words[] = {"RELAY", "WANT", ids, said->words[2]->text, text};
    takt_relay_parts parts;
    size_t size = name_of(said, name);

    if (size == 0 || !takt_relay_read_name(&parts, name, size))
        return true;
    for (int i = 0; i <= parts.inner_count; i++) {
        limits[i] = limit_named(store, i == 0 ? name : parts.inner[i - 1].limit);
        if (limits[i] == NULL)
            return true;
    }
    write_ids(ids, limits);
    snprintf(text, sizeof text, "0 %lld 0 0 ", (long long)store->seen_index);
    return send_words(store, 5, words, 3, said->words[2]->size);
}

static bool hear_report(takt_agent_store *store, const message *said)
{
    takt_relay_desk *desk = named_desk(store, said);
    takt_reader reader = numbers_of(said, 3);
    int64_t seq, agent_us, store_us, leased_us, index;
    takt_relay_desk stranger = {0}, *heard = desk != NULL ? desk : &stranger;

    seq = takt_relay_read(&reader, 0, INT64_MAX);
    agent_us = takt_relay_read(&reader, 0, INT64_MAX);
    store_us = takt_relay_read(&reader, 0, INT64_MAX);
    heard->next_slot_us = takt_relay_read(&reader, 0, INT64_MAX);
    heard->blocked_until_us = takt_relay_read(&reader, 0, INT64_MAX);
    heard->waiting = takt_relay_read(&reader, 0, INT64_MAX);
    heard->workers = takt_relay_read(&reader, 0, INT64_MAX);
    takt_relay_read_leaves(&reader, &heard->leaving);
    heard->lost |= takt_relay_read(&reader, 0, 1) > 0;
    leased_us = takt_relay_read(&reader, 0, INT64_MAX);
    index = takt_relay_read(&reader, 0, INT64_MAX);
    if (!hear_slots(heard, &reader))
        return false;
    store->seen_index = takt_max(store->seen_index, index);
    hear_clock(&store->clock.store_offset_us, store_us);
    if (desk == NULL)
        return (stranger.slot_count == 0 && stranger.leaving.count == 0) || send_back(store, said);
    desk->unsure |= desk->leaving.count > 0;
    hear_clock(&desk->store_offset_us, store_us);
    desk->leased_until_us = leased_us > 0 ? leased_us + store->clock.offset_us : 0;
    desk->heard_us = agent_us + store->clock.offset_us;
    desk->outdated =
        said->words[4]->size > 0 &&
        takt_relay_read_numbers(&desk->newer, said->words[4]->text, said->words[4]->size);
    go_on(store, desk, seq);
    return true;
}

static bool hear_fail(takt_agent_store *store, const message *said)
{
    takt_relay_desk *desk = named_desk(store, said);
    takt_reader reader = numbers_of(said, 3);
    int code = (int)takt_read_int(&reader, INT32_MIN, -1);
    takt_agent_job *job;

    if (reader.bad)
        return false;
    if (desk == NULL)
        return true;
    snprintf(store->text, sizeof store->text, "agent: %.200s", said->words[4]->text);
    desk->want_count = 0; /* the agent has dropped them */
    if (code == TAKT_RELAY_UNNESTED)
        store->store.nests = false;
    job = desk->claiming != NULL ? takt_agent_store_job_of(store, desk->claiming, 0) : NULL;
    desk->claiming = NULL;
    if (job != NULL) {
        takt_agent_store_answer(store, job, code);
        store->store.trouble = store->text;
        return true;
    }
    desk->failed = code;
    wake(store, desk);
    return true;
}

static void take_policy(takt_policy_exchange *exchange, const message *said, takt_reader *reader)
{
    exchange->version = takt_relay_read(reader, 0, INT64_MAX);
    exchange->at_us = takt_relay_read(reader, 0, INT64_MAX);
    if (said->words[4]->size == 0)
        return;
    exchange->kept = malloc(said->words[4]->size + 1);
    if (exchange->kept == NULL)
        return;
    memcpy(exchange->kept, said->words[4]->text, said->words[4]->size + 1);
    exchange->kept_size = said->words[4]->size;
}

/* A try with permits is also answered by an award. */
static void fill_award(takt_agent_store *store, takt_store_call *call, int64_t fence,
                       int64_t leased_us)
{
    takt_award *award = call->award;
    takt_relay_desk *desk = desk_of(store, call);
    int64_t lease_us = call->numbers->lease_us;
    takt_more more;

    memset(award, 0, offsetof(takt_award, runs));
    award->now_us = call->standing.now_us;
    award->claim_again_at_us = TAKT_NEVER;
    award->least_urgent = -1;
    award->run_count = 0;
    award->holding = call->claim->holding;
    if (leased_us > 0)
        award->lease_spent_us =
            takt_max(local_now() + lease_us - (leased_us + store->clock.offset_us), 0);
    if (call->status != 0)
        return;
    award->holding++;
    award->fence = fence;
    award->run_count = 1;
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        more.of[i] = (int32_t)call->more[i];
    award->runs[0] = takt_run_at(call->standing.now_us, 1, (int32_t)call->cost, more);
    if (desk != NULL) {
        takt_relay_desk_renew(desk, store->connections);
        desk->holding++;
    }
}

static bool hear_answer(takt_agent_store *store, const message *said)
{
    takt_agent_job *job = takt_agent_store_job_of(store, NULL, number_of(said, 1));
    takt_reader reader = numbers_of(said, 2);
    takt_store_call *call = job != NULL ? job->call : NULL;
    int status = (int)takt_relay_read(&reader, INT32_MIN, 0);
    int64_t fence, leased_us;

    if (job == NULL)
        return !reader.bad;
    fence = takt_relay_read(&reader, 0, INT64_MAX);
    leased_us = takt_relay_read(&reader, 0, INT64_MAX);
    call->status = status;
    if (call->op == TAKT_OP_POLICY || call->op == TAKT_OP_APPLY) {
        take_policy(call->exchange, said, &reader);
    } else if (status == 0 || status == TAKT_E_NO_SLOT) {
        call->standing = (takt_standing){0};
        takt_relay_read_standing(&reader, &call->standing);
        snprintf(call->standing.reason, sizeof call->standing.reason, "%s", said->words[3]->text);
        if (call->op == TAKT_OP_TRY && call->claim != NULL)
            fill_award(store, call, fence, leased_us);
    }
    takt_agent_store_answer(store, job, status);
    if (takt_is_of_store(status)) {
        snprintf(store->text, sizeof store->text, "agent: %.200s", said->words[3]->text);
        store->store.trouble = store->text;
    }
    return !reader.bad;
}

/* The words of an array of strings; none of another reply. */
static message read_message(const takt_reply *reply)
{
    message said = {.count = 0};

    if (reply->type != TAKT_REPLY_ARRAY || reply->count > 8)
        return said;
    for (int i = 0; i < reply->count; i++) {
        if (reply[i + 1].type != TAKT_REPLY_STRING)
            return (message){.count = 0};
        said.words[said.count++] = &reply[i + 1];
    }
    return said;
}

/* Leaves an agent that refuses this program, or something else that listens at its socket. */
static void leave(takt_agent_store *store, const takt_reply *reply)
{
    static const char closing[] = "CLOSING ", unknown[] = "ERR unknown command";
    bool is_error = reply->type == TAKT_REPLY_ERROR;
    const char *text = is_error ? reply->text : unknown, *sentence = strchr(text, ' ');
    bool passes = store->state == TAKT_AGENT_READY || strncmp(text, closing, 8) == 0;

    if (strncmp(text, unknown, sizeof unknown - 1) == 0)
        sentence = " this is no agent: name the socket of one, or start takt-agent there";
    takt_redis_connection_leave(store->connection, true,
                                passes ? TAKT_E_STORE : TAKT_E_STORE_ACCESS,
                                sentence != NULL ? sentence + 1 : text);
}

bool takt_agent_store_hear(takt_agent_store *store, const takt_reply *reply)
{
    message said = read_message(reply);
    bool understood = false, opened = false;

    store->heard = true;
    if (is_word(&said, 0, "report") && said.count == 5)
        understood = hear_report(store, &said);
    else if (is_word(&said, 0, "answer") && said.count == 5)
        understood = hear_answer(store, &said);
    else if (is_word(&said, 0, "fail") && said.count == 5)
        understood = hear_fail(store, &said);
    else if (is_word(&said, 0, "open") && said.count == 2)
        understood = opened = hear_open(store, &said);
    if (!understood)
        leave(store, reply);
    return opened;
}

void takt_agent_store_forget(takt_agent_store *store)
{
    for (size_t i = 0; i < store->desks.used; i++)
        for (takt_entry *entry = store->desks.buckets[i]; entry; entry = entry->next) {
            takt_relay_desk *desk = TAKT_HOLDER(entry, takt_relay_desk, entry);
            desk->claiming = NULL;
            wake(store, desk);
        }
}
