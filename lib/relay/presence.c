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

/* A process that waits for a request, in the queues that its work is in. */
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

takt_process *takt_process_enter(takt_client *client, const void *process,
                                 const takt_request *request)
{
    takt_process *entered;
    takt_demand demand;
    takt_path path;

    if (client == NULL || takt_request_check(client->policy, client->asked, &client->key_secret,
                                             request, &demand, NULL) != 0)
        return NULL;
    if (takt_request_costs(request, &demand, NULL) != 0)
        return NULL;
    entered = malloc(sizeof *entered);
    if (entered == NULL)
        return NULL;
    *entered = (takt_process){.client = client};
    (void)takt_acquire_path(client, request, &demand, &path); /* those for which there is memory */
    for (int i = 0; i < path.count; i++)
        entered->presences[entered->count++] = takt_presence_begin(client, process, path.queues[i]);
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
