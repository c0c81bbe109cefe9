/*
 * hear.c: reads what the agent sends to the store "agent:" (message.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/integers.h"
#include "store/agent/agent.h"

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
        *offset_us = takt_agent_now() - store_us;
}

static bool hear_open(takt_agent_store *store, const message *said)
{
    takt_reader reader = numbers_of(said, 1);
    int64_t agent_us = takt_relay_read(&reader, 0, INT64_MAX);
    int64_t store_us = takt_relay_read(&reader, 0, INT64_MAX);

    if (reader.bad)
        return false;
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
static takt_agent_desk *named_desk(takt_agent_store *store, const message *said)
{
    char name[TAKT_RELAY_NAME_MAX + 1];
    size_t size = name_of(said, name);
    takt_entry *entry = takt_table_find(&store->desks, name, size);

    return entry != NULL ? TAKT_HOLDER(entry, takt_agent_desk, entry) : NULL;
}

/* Ends the claim that waits for the report, or lets the client claim. */
static void go_on(takt_agent_store *store, takt_agent_desk *desk, int64_t seq)
{
    takt_agent_job *job = desk->claiming != NULL && seq == desk->seq
                              ? takt_agent_store_job_of(store, desk->claiming, 0)
                              : NULL;

    if (job != NULL)
        takt_agent_store_award(store, desk, job, false);
    else if (desk->claiming == NULL)
        takt_agent_store_wake(store, desk);
}

static bool hear_slots(takt_agent_desk *desk, takt_reader *reader)
{
    while (!reader->bad && reader->at < reader->end) {
        takt_relay_slot slot;
        slot.slot_us = takt_relay_read(reader, 0, INT64_MAX);
        slot.kind = takt_relay_read_kind(reader);
        slot.fence = takt_relay_read(reader, 0, INT64_MAX);
        if (!reader->bad && !takt_agent_desk_arrived(desk, &slot))
            return false;
    }
    return !reader->bad;
}

/* Slots or refusals have come for a ledger without a desk: the last waiter left while they were
 * under way.  The agent keeps them, and the permits of the slots, until it knows that this program
 * has seen them and holds no permit. */
static bool send_back(takt_agent_store *store, const message *said)
{
    char ids[TAKT_AGENT_IDS_SIZE], text[80], name[TAKT_RELAY_NAME_MAX + 1];
    const takt_agent_limit *limits[TAKT_LEVELS_MAX] = {NULL};
    const char *words[] = {"RELAY", "WANT", ids, said->words[2]->text, text};
    takt_relay_parts parts;
    size_t size = name_of(said, name);

    if (size == 0 || !takt_relay_read_name(&parts, name, size))
        return true;
    for (int i = 0; i <= parts.inner_count; i++) {
        limits[i] = takt_agent_store_limit_named(store, i == 0 ? name : parts.inner[i - 1].limit);
        if (limits[i] == NULL)
            return true;
    }
    takt_agent_store_write_ids(ids, limits);
    snprintf(text, sizeof text, "0 %lld 0 0 0 ", (long long)store->seen_index);
    return takt_agent_store_send(store, 5, words, 3, said->words[2]->size);
}

static bool hear_report(takt_agent_store *store, const message *said)
{
    takt_agent_desk *desk = named_desk(store, said);
    takt_reader reader = numbers_of(said, 3);
    int64_t seq, agent_us, store_us, leased_us, index;
    takt_agent_desk stranger = {0}, *heard = desk != NULL ? desk : &stranger;

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
    takt_relay_read_newer(&desk->newer, said->words[4]->text, said->words[4]->size);
    go_on(store, desk, seq);
    return true;
}

static bool hear_fail(takt_agent_store *store, const message *said)
{
    takt_agent_desk *desk = named_desk(store, said);
    takt_reader reader = numbers_of(said, 3);
    int code = (int)takt_read_int(&reader, INT32_MIN, -1);
    takt_agent_job *job;

    if (reader.bad)
        return false;
    if (desk == NULL)
        return true;
    snprintf(store->text, sizeof store->text, "agent: %.200s", said->words[4]->text);
    desk->want_count = 0; /* the agent has dropped them */
    job = desk->claiming != NULL ? takt_agent_store_job_of(store, desk->claiming, 0) : NULL;
    desk->claiming = NULL;
    if (job != NULL) {
        takt_agent_store_answer(store, job, code);
        store->store.trouble = store->text;
        return true;
    }
    desk->failed = code;
    takt_agent_store_wake(store, desk);
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
    takt_agent_desk *desk = takt_agent_store_desk_of(store, call);
    int64_t lease_us = takt_agent_desk_lease(desk, call);
    takt_more more;

    memset(award, 0, offsetof(takt_award, runs));
    award->now_us = call->standing.now_us;
    award->claim_again_at_us = TAKT_NEVER;
    award->least_urgent = -1;
    award->tag = 0;
    award->run_count = 0;
    award->holding = call->claim->holding;
    if (leased_us > 0 && lease_us != TAKT_NEVER)
        award->lease_spent_us =
            takt_max(takt_agent_now() + lease_us - (leased_us + store->clock.offset_us), 0);
    if (call->status != 0)
        return;
    award->holding++;
    award->fence = fence;
    award->run_count = 1;
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        more.of[i] = (int32_t)call->more[i];
    award->runs[0] = takt_run_at(call->standing.now_us, 1, (int32_t)call->cost, more);
    if (desk != NULL) {
        takt_agent_desk_renew(desk, store->connections);
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
        call->ledger_no = (int)takt_relay_read(&reader, 0, call->inner_count);
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
