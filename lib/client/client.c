/*
 * client.c: what the other files of the client share: asking for a pass, sending events, counting
 * answers, and noting that the store is lost or back.
 */
#include "client/client.h"

#include <string.h>

#include "base/fail.h"
#include "scheduler/registry.h"
#include "shadow/shadow.h"

const char *takt_version(void)
{
    return TAKT_VERSION;
}

void takt_get_stats(const takt_client *client, takt_stats *stats)
{
    *stats = client->stats;
}

int takt_get_shadow(const takt_client *client, const char *limit, takt_shadow *shadow)
{
    if (!client || !limit || !shadow)
        return TAKT_E_INVALID;
    if (!takt_policy_find(client->policy, limit))
        return TAKT_E_NO_LIMIT;
    takt_shadow_tell(&client->shadows, limit, shadow);
    return 0;
}

void takt_client_count(takt_client *client, int status, int64_t sent_us)
{
    if (status != 0 && status != TAKT_E_NO_SLOT)
        return;
    client->stats.store_answers++;
    client->stats.store_us += takt_timer_now() - sent_us;
}

static void pass_due(uv_idle_t *handle)
{
    takt_client *client = TAKT_HOLDER(handle, takt_client, pass);

    client->run_passes(client);
}

/* Handles the effects of an answer in the same turn of the loop. */
static void pass_soon(uv_check_t *handle)
{
    takt_client *client = TAKT_HOLDER(handle, takt_client, pass_soon);

    client->run_passes(client);
}

void takt_client_ask(takt_client *client)
{
    if (client->closing_store) /* the handles may be closing */
        return;
    uv_idle_start(&client->pass, pass_due); /* does nothing if it is started already */
    uv_check_start(&client->pass_soon, pass_soon);
}

void takt_client_tell(takt_client *client, takt_event_type type, int code, const char *text,
                      const char *limit)
{
    takt_event event = {type, code, text, limit, NULL};

    if (client->options.on_event)
        client->options.on_event(client, &event, client->options.data);
}

void takt_client_note(takt_client *client, int number, int status)
{
    takt_server *server = takt_servers_get(&client->scheduler.servers, number);

    if (status == 0 && server->reported) {
        server->reported = false;
        client->lost--;
        for (size_t i = 0; i <= client->policy->limit_count; i++)
            client->told[i] &= (uint8_t)~TAKT_TOLD_FALLBACK;
        takt_client_tell(client, TAKT_EVENT_STORE_BACK, 0, "the store answers again", NULL);
    } else if (takt_is_of_store(status) && !server->reported) {
        const char *trouble = client->store->trouble;
        server->reported = true;
        client->lost++;
        takt_client_tell(client, TAKT_EVENT_STORE_LOST, status,
                         trouble ? trouble : takt_strerror(status), NULL);
    }
}

const takt_limit *takt_client_limit(const takt_client *client, const char *name)
{
    const takt_limit *limit = takt_policy_find(client->policy, name);
    const takt_brought_limit *brought = client->brought;

    for (; !limit && brought; brought = brought->next)
        if (strcmp(brought->limit.name, name) == 0)
            limit = &brought->limit;
    return limit;
}

takt_queue *takt_client_queue(takt_client *client, const takt_limit *limit, const char *key,
                              const char *tenant, int32_t weight)
{
    const takt_limit *present =
        client->renewed ? takt_policy_renewed(client->policy, limit, key) : NULL;

    return takt_registry_tenant(&client->scheduler, present ? present : limit, key, tenant, weight);
}

void takt_client_aim(takt_store_call *call, takt_store_inner *inner, const takt_queue *queue)
{
    const takt_nest *nest = queue->nest;

    call->limit = queue->limit;
    call->numbers = takt_queue_stated(queue);
    call->key = queue->key;
    call->queue = queue->registry.entry.key;
    call->queue_size = queue->registry.entry.size;
    call->inner = inner;
    call->inner_count = nest ? nest->count : 0;
    for (int i = 0; i < call->inner_count; i++)
        inner[i] = (takt_store_inner){nest->inner[i].limit, takt_inner_stated(&nest->inner[i]),
                                      nest->inner[i].key, nest->inner[i].units};
}

bool takt_client_tells_first(takt_client *client, const takt_limit *limit, uint8_t what)
{
    bool gone = !takt_policy_find(client->policy, limit->name); /* the policy has been replaced */
    size_t index =
        gone ? client->policy->limit_count : takt_policy_index(client->policy, limit->name);
    bool told = client->told[index] & what;

    client->told[index] |= what;
    return !told;
}
