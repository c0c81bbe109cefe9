/*
 * presence.c: see presence.h.
 */
#include "relay/presence.h"

#include <stdlib.h>
#include <takt/relay.h>

#include "client/acquire.h"
#include "scheduler/registry.h"

struct takt_presence {
    takt_entry entry;
    struct {
        const void *process;
        takt_queue *queue;
    } of;
    int64_t begun; /* without an end yet */
};

/* A process that waits for a request: in the queue of each of its limits, or in the one queue of
 * nested work. */
struct takt_process {
    takt_client *client;
    int count;
    takt_presence *presences[TAKT_LEVELS_MAX];
};

takt_presence *takt_presence_begin(takt_client *client, const void *process, takt_queue *queue)
{
    takt_presence of = {.of = {process, queue}}, *presence;
    takt_entry *entry;

    if (client->presences.buckets == NULL &&
        takt_table_init(&client->presences, client->scheduler.random) < 0)
        return NULL;
    entry = takt_table_find(&client->presences, &of.of, sizeof of.of);
    presence = entry != NULL ? TAKT_HOLDER(entry, takt_presence, entry) : NULL;
    if (presence == NULL) {
        presence = malloc(sizeof *presence);
        if (presence == NULL)
            return NULL;
        *presence = of;
        presence->entry.key = &presence->of;
        presence->entry.size = sizeof presence->of;
        takt_table_add(&client->presences, &presence->entry);
        queue->weight++;
    }
    presence->begun++;
    return presence;
}

void takt_presence_end(takt_client *client, takt_presence *presence)
{
    if (presence == NULL || --presence->begun > 0)
        return;
    presence->of.queue->weight--;
    takt_registry_touch(&client->scheduler, presence->of.queue); /* it may be idle now */
    takt_table_remove(&client->presences, &presence->entry);
    free(presence);
}

static void enter(takt_process *entered, const void *process, takt_queue *queue)
{
    if (queue != NULL)
        entered->presences[entered->count++] = takt_presence_begin(entered->client, process, queue);
}

takt_process *takt_process_enter(takt_client *client, const void *process,
                                 const takt_request *request)
{
    takt_process *entered;
    takt_levels levels;
    takt_chain chain;
    int outermost;
    bool nested;

    if (client == NULL || takt_request_check(client->policy, client->asked, &client->key_secret,
                                             request, &levels, NULL) != 0)
        return NULL;
    if (takt_request_costs(request, &levels, NULL) != 0)
        return NULL;
    entered = malloc(sizeof *entered);
    if (entered == NULL)
        return NULL;
    *entered = (takt_process){.client = client};
    nested = takt_acquire_chain(client, request, &levels, &chain, &outermost);
    for (int level = nested ? outermost : 0; level < (nested ? outermost + 1 : levels.count);
         level++) {
        int32_t weight;
        const char *tenant = nested ? takt_acquire_tenant(request, &levels, &chain, level, &weight)
                                    : takt_request_tenant(request, &levels, level, &weight);
        enter(entered, process,
              nested ? takt_registry_nested(&client->scheduler, &chain, tenant, weight)
                     : takt_registry_tenant(&client->scheduler, levels.limits[level],
                                            takt_request_key(request, &levels, level), tenant,
                                            weight));
    }
    return entered;
}

void takt_process_leave(takt_process *process)
{
    if (process == NULL)
        return;
    for (int i = 0; i < process->count; i++)
        takt_presence_end(process->client, process->presences[i]);
    free(process);
}
