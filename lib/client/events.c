/*
 * events.c: see events.h.
 */
#include "client/events.h"

#include <stdio.h>
#include <string.h>

#include "policy/rule_text.h"
#include "scheduler/loss.h"

static void tell_fallback(takt_client *client, const takt_limit *limit)
{
    static const char *const what[] = {
        [TAKT_ON_STORE_FAILURE_CLOSED] = "nothing starts",
        [TAKT_ON_STORE_FAILURE_OPEN] = "everything starts at once",
        [TAKT_ON_STORE_FAILURE_SHARE] = "this worker paces alone",
    };
    char text[TAKT_NAME_SIZE_MAX + 80];

    snprintf(text, sizeof text, "limit \"%s\": %s until the store is back (on_store_failure: %s)",
             limit->name, what[limit->on_store_failure],
             takt_on_store_failure_name(limit->on_store_failure));
    takt_client_tell(client, TAKT_EVENT_FALLBACK, 0, text, limit->name);
}

/* A limit has many keys, and one event for all of them. */
static void tell_fallback_first(takt_client *client, const takt_limit *limit)
{
    if (takt_client_tells_first(client, limit, TAKT_TOLD_FALLBACK) &&
        limit->mode == TAKT_MODE_ENFORCE)
        tell_fallback(client, limit);
}

void takt_events_fallback(takt_client *client, const takt_queue *queue)
{
    takt_on_store_failure mode = takt_loss_mode(queue);

    if (queue->limit->on_store_failure == mode)
        tell_fallback_first(client, queue->limit);
    for (int i = 0; queue->nest && i < queue->nest->count; i++)
        if (queue->nest->inner[i].limit->on_store_failure == mode)
            tell_fallback_first(client, queue->nest->inner[i].limit);
}

void takt_events_permit_lost(takt_client *client, takt_permit *permit)
{
    takt_event event = {TAKT_EVENT_PERMIT_LOST, TAKT_E_LEASE, takt_strerror(TAKT_E_LEASE), NULL,
                        permit};

    if (client->options.on_event)
        client->options.on_event(client, &event, client->options.data);
}

static void describe_rules(const takt_numbers *numbers, char *text, size_t size)
{
    *text = '\0';
    for (int i = 0; i < numbers->rule_count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s", i > 0 ? ", " : "");
        takt_rule_describe(&numbers->rules[i], "", text, size);
    }
}

void takt_events_difference(takt_client *client, const char *name, const takt_numbers *ours,
                            const takt_numbers *held)
{
    char here[160], there[160], text[TAKT_NAME_SIZE_MAX + 600];

    describe_rules(ours, here, sizeof here);
    describe_rules(held, there, sizeof there);
    snprintf(text, sizeof text,
             "limit \"%s\": %s here, but %s is in force, which the store has from other workers or "
             "an earlier policy; it holds for ten seconds, and as long as workers claim with it; "
             "use the same rules everywhere, or increase `revision` (now %lld) in the newer policy",
             name, ours->rule_count > 0 ? here : "no rules",
             held->rule_count > 0 ? there : "no rules", (long long)held->revision);
    takt_client_tell(client, TAKT_EVENT_POLICY_DIFFERS, 0, text, name);
}
