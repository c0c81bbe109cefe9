/*
 * claims.c: the claims of the store "agent:": what a desk has is their award, and what is news to
 * the agent becomes a statement.  A try states what is held.
 */
#include <stdlib.h>
#include <string.h>

#include "store/agent/agent.h"

#define NUMBERS_SIZE 4096 /* the numbers of a statement */

takt_agent_desk *takt_agent_store_desk_of(takt_agent_store *store, const takt_store_call *call)
{
    takt_entry *entry = takt_table_find(&store->desks, call->queue, call->queue_size);
    takt_agent_desk *desk;

    if (entry != NULL)
        return TAKT_HOLDER(entry, takt_agent_desk, entry);
    desk = takt_agent_desk_new(call->queue, call->queue_size);
    if (desk != NULL)
        takt_table_add(&store->desks, &desk->entry);
    return desk;
}

void takt_agent_store_wake(takt_agent_store *store, const takt_agent_desk *desk)
{
    if (store->options.on_news != NULL && !store->closing)
        store->options.on_news(store->options.data, desk->key, desk->entry.size);
}

void takt_agent_store_award(takt_agent_store *store, takt_agent_desk *desk, takt_agent_job *job,
                            bool unlisted)
{
    int64_t now_us = takt_agent_now();
    int64_t offset_us =
        desk->store_offset_us != 0 ? desk->store_offset_us : store->clock.store_offset_us;

    takt_agent_desk_award(desk, job->call, now_us, now_us - offset_us);
    job->call->award->unlisted = unlisted;
    desk->claiming = NULL;
    takt_agent_store_answer(store, job, 0);
    if (desk->slot_count > 0 || unlisted)
        takt_agent_store_wake(store, desk);
    if (takt_agent_desk_is_idle(desk)) {
        takt_table_remove(&store->desks, &desk->entry);
        free(desk);
    }
}

static bool send_statement(takt_agent_store *store, takt_agent_desk *desk, bool asks)
{
    char ids[TAKT_AGENT_IDS_SIZE], text[NUMBERS_SIZE];
    size_t size;
    const char *words[] = {"RELAY", "WANT", ids, takt_agent_desk_word(desk, &size), text};
    takt_writer writer = {text, text + sizeof text - 1, false};

    desk->seq++;
    takt_agent_store_write_ids(ids, desk->limits);
    takt_relay_write(&writer, asks ? desk->seq : 0);
    takt_relay_write(&writer, store->seen_index);
    takt_relay_write(&writer, desk->holding);
    takt_relay_write(&writer, desk->weight);
    takt_relay_write(&writer, desk->inside);
    for (int i = 0; i < desk->want_count; i++) {
        if (desk->wants[i].count == 0) /* its slots have come since */
            continue;
        takt_relay_write(&writer, desk->wants[i].count);
        takt_relay_write_kind(&writer, desk->wants[i].kind);
    }
    *writer.at = '\0';
    return !writer.full && takt_agent_store_send(store, 5, words, 3, size);
}

/* States what is news to the agent: the waiters, what is held, or the numbers of a limit.  False:
 * no memory. */
static bool state(takt_agent_store *store, takt_agent_desk *desk, const takt_store_call *call,
                  bool *asks)
{
    const takt_agent_limit *limits[TAKT_LEVELS_MAX];
    bool news = takt_agent_desk_state(desk, call, takt_agent_now(), asks);

    if (!news && desk->want_count == 0)
        return true;
    memcpy(limits, desk->limits, sizeof limits);
    if (!takt_agent_store_tell_limits(store, call, limits))
        return false;
    news = news || memcmp(desk->limits, limits, sizeof limits) != 0;
    memcpy(desk->limits, limits, sizeof limits);
    return !news || send_statement(store, desk, *asks);
}

bool takt_agent_store_hold(takt_agent_store *store, const takt_store_call *call,
                           const takt_agent_limit *const *limits)
{
    takt_entry *entry = takt_table_find(&store->desks, call->queue, call->queue_size);
    takt_agent_desk *desk = entry != NULL ? TAKT_HOLDER(entry, takt_agent_desk, entry) : NULL;

    if (desk == NULL)
        return true;
    takt_agent_desk_renew(desk, store->connections);
    if (!takt_agent_desk_hold(desk, call))
        return true;
    memcpy(desk->limits, limits, sizeof desk->limits);
    return send_statement(store, desk, false);
}

void takt_agent_store_claim(takt_agent_store *store, takt_agent_job *job)
{
    takt_store_call *call = job->call;
    takt_agent_desk *desk;
    int failed;
    bool asks = false;

    desk = takt_agent_store_desk_of(store, call);
    if (desk == NULL) {
        takt_agent_store_answer(store, job, TAKT_E_NOMEM);
        return;
    }
    takt_agent_desk_renew(desk, store->connections);
    failed = desk->failed;
    desk->failed = 0;
    if (failed != 0) {
        takt_agent_store_answer(store, job, failed);
        store->store.trouble = store->text;
        return;
    }
    if (desk->leaving.count > 0) { /* these leave before the others are stated */
        takt_agent_store_award(store, desk, job, true);
        return;
    }
    if (!state(store, desk, call, &asks)) {
        desk->want_count = 0; /* the agent's state is unknown: it is stated again */
        takt_agent_store_answer(store, job, TAKT_E_NOMEM);
        return;
    }
    if (!asks) {
        takt_agent_store_award(store, desk, job, false);
        return;
    }
    desk->claiming = call;
    job->sent = true;
}

void takt_agent_store_forget(takt_agent_store *store)
{
    for (size_t i = 0; i < store->desks.used; i++)
        for (takt_entry *entry = store->desks.buckets[i]; entry; entry = entry->next) {
            takt_agent_desk *desk = TAKT_HOLDER(entry, takt_agent_desk, entry);
            desk->claiming = NULL;
            takt_agent_store_wake(store, desk);
        }
}
