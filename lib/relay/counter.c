/*
 * counter.c: what programs share that wait for the same ledgers: the limits in force, and the
 * queue.
 */
#include <stdlib.h>
#include <string.h>

#include "relay/relay.h"
#include "scheduler/registry.h"
#include "scheduler/renew_queue.h"

/* Of one level the limit that the agent's own policy has, if the program's is no newer. */
static const takt_limit *in_force(const takt_counter *counter, int level)
{
    const takt_policy *policy = counter->relays->client->policy;
    const takt_limit *said = counter->said.limits[level];
    const takt_limit *own = takt_policy_find(policy, said->name);

    return own == NULL || own->numbers.revision < said->numbers.revision
               ? said
               : takt_policy_renewed(policy, own, counter->said.keys[level]);
}

/* The limits in force; those that the programs say if one claim cannot decide about the others, or
 * these count units of which the programs' waiters state no amounts. */
takt_chain takt_counter_chain(const takt_counter *counter)
{
    takt_chain chain = counter->said;

    for (int level = 0; level < chain.count; level++)
        chain.limits[level] = in_force(counter, level);
    return chain.count == 1 || (takt_chain_is_nested(&chain) && takt_chain_follows(&chain))
               ? chain
               : counter->said;
}

static int32_t weight_of(const takt_counter *counter)
{
    return counter->weight > 0 ? counter->weight : 1;
}

takt_queue *takt_counter_queue(const takt_counter *counter)
{
    takt_scheduler *scheduler = &counter->relays->client->scheduler;
    takt_chain chain = takt_counter_chain(counter);
    const char *tenant = takt_counter_tenant(counter);
    takt_queue *queue;

    if (chain.count > 1) {
        queue = takt_registry_nested(scheduler, &chain, tenant, weight_of(counter));
        if (queue != NULL && !takt_nest_has(queue, &chain))
            takt_renew_nested(scheduler, queue, &chain);
        return queue;
    }
    queue =
        takt_registry_tenant(scheduler, chain.limits[0], chain.keys[0], tenant, weight_of(counter));
    if (queue != NULL && queue->limit != chain.limits[0])
        takt_renew_queue(scheduler, queue, chain.limits[0]);
    return queue;
}

const takt_limit *takt_counter_limit(const takt_counter *counter)
{
    return takt_counter_chain(counter).limits[counter->said.count - 1];
}

static void name_levels(takt_counter *counter)
{
    takt_relay_parts parts;
    takt_chain *said = &counter->said;

    (void)takt_relay_read_name(&parts, counter->name, counter->entry.size); /* it was checked */
    counter->tenant_name = parts.tenant;
    said->count = parts.inner_count + 1;
    said->numbered = true;
    memcpy(said->maps, parts.units, sizeof said->maps);
    for (int i = 0; i < said->count; i++)
        said->keys[i] = i < parts.inner_count ? parts.inner[i].key : parts.key;
}

takt_counter *takt_counter_of(takt_relays *relays, const char *name, size_t size)
{
    takt_entry *entry = takt_table_find(&relays->counters, name, size);
    takt_counter *counter = entry != NULL ? TAKT_HOLDER(entry, takt_counter, entry)
                                          : calloc(1, sizeof *counter + size + 1);

    if (counter == NULL || entry != NULL)
        return counter;
    counter->relays = relays;
    memcpy(counter->name, name, size);
    counter->entry.key = counter->name;
    counter->entry.size = size;
    name_levels(counter);
    takt_list_init(&counter->desks);
    takt_table_add(&relays->counters, &counter->entry);
    return counter;
}

void takt_counter_say(takt_counter *counter, const takt_limit *const *limits)
{
    size_t size = (size_t)counter->said.count * sizeof *limits;

    if (memcmp(counter->said.limits, limits, size) == 0)
        return;
    memcpy(counter->said.limits, limits, size);
    takt_chain_state(&counter->said);
    if (takt_counter_find_queue(counter) == NULL)
        return;
    (void)takt_counter_queue(counter); /* its tickets continue with them */
    takt_client_ask(counter->relays->client);
}

void takt_counter_tidy(takt_counter *counter)
{
    if (!takt_list_empty(&counter->desks))
        return;
    for (int i = 0; i < counter->class_count; i++)
        if (counter->classes[i].count > 0)
            return;
    takt_table_remove(&counter->relays->counters, &counter->entry);
    free(counter->classes);
    free(counter);
}
