/*
 * ask.c: sends the calls of the store "agent:"; claims.c sends the claims.
 */
#include <stdio.h>
#include <string.h>

#include "store/agent/agent.h"
#include "store/policy_record.h"

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

/* The word KEY of a call: with the tenant and the inner limits of a try's queue, or the tenant of
 * settled work.  Returns its size. */
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
    const char *tenant = call->op == TAKT_OP_SETTLE ? call->tenant : NULL;
    const takt_agent_limit *limits[TAKT_LEVELS_MAX] = {NULL};
    bool told = takt_agent_store_tell_limits(store, call, limits) &&
                (call->claim == NULL || takt_agent_store_hold(store, call, limits));
    char number[24], ids[TAKT_AGENT_IDS_SIZE], text[320], key[TAKT_RELAY_KEY_MAX];
    size_t size = write_key(call, tenant, key);
    const char *words[] = {
        "RELAY", "CALL", number, ids, key, text, call->reason ? call->reason : ""};
    takt_writer writer = {text, text + sizeof text - 1, false};

    snprintf(number, sizeof number, "%lld", (long long)job->number);
    takt_agent_store_write_ids(ids, limits);
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
    return told && !writer.full && takt_agent_store_send(store, 7, words, 4, size);
}

void takt_agent_store_ask(takt_agent_store *store, takt_agent_job *job)
{
    takt_op op = job->call->op;
    bool sent;

    if (op == TAKT_OP_CLAIM) {
        takt_agent_store_claim(store, job);
        return;
    }
    job->number = ++store->numbers;
    job->sent = true;
    sent = op == TAKT_OP_POLICY || op == TAKT_OP_APPLY ? ask_policy(store, job)
                                                       : ask_ledger(store, job);
    if (!sent)
        takt_agent_store_answer(store, job, TAKT_E_NOMEM);
}
