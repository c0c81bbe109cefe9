/*
 * close.c: see close.h.  The order: waiters leave, permits and unused slots are given back, the
 * store closes, then the handles close.
 */
#include "client/close.h"

#include <stdlib.h>
#include <string.h>

#include "client/call.h"
#include "client/follow.h"
#include "client/pass.h"
#include "scheduler/registry.h"
#include "shadow/shadow.h"

void takt_close_free(void *data)
{
    takt_client *client = data;

    while (client->spare_claimings) {
        takt_claiming *claiming = client->spare_claimings;
        client->spare_claimings = claiming->next;
        free(claiming);
    }
    while (client->calls.spare) {
        takt_calling *calling = client->calls.spare;
        client->calls.spare = calling->next;
        free(calling);
    }
    takt_registry_close(&client->scheduler);
    while (client->brought) {
        takt_brought_limit *limit = client->brought;
        client->brought = limit->next;
        free(limit);
    }
    takt_table_close(&client->presences);
    takt_shadows_close(&client->shadows);
    takt_follow_close(client);
    free(client->told);
    explicit_bzero(&client->key_secret, sizeof client->key_secret);
    free(client);
}

static void handle_closed(takt_client *client)
{
    takt_close_cb closed = client->closed;
    void *data = client->closed_data;

    if (--client->handles > 0)
        return;
    takt_close_free(client);
    if (closed)
        closed(data);
}

static void pass_closed(uv_handle_t *handle)
{
    handle_closed(TAKT_HOLDER(handle, takt_client, pass));
}

static void follow_closed(uv_handle_t *handle)
{
    handle_closed(TAKT_HOLDER(handle, takt_client, follow.timer));
}

static void pass_soon_closed(uv_handle_t *handle)
{
    handle_closed(TAKT_HOLDER(handle, takt_client, pass_soon));
}

static void timer_closed(takt_timer *timer)
{
    handle_closed(TAKT_HOLDER(timer, takt_client, timer));
}

static void store_closed(void *data)
{
    takt_client *client = data;

    client->handles = 4;
    uv_close((uv_handle_t *)&client->pass, pass_closed);
    uv_close((uv_handle_t *)&client->follow.timer, follow_closed);
    uv_close((uv_handle_t *)&client->pass_soon, pass_soon_closed);
    takt_timer_close(&client->timer, timer_closed);
}

void takt_close_parts(takt_client *client)
{
    client->closing_store = true;
    takt_timer_arm(&client->timer, INT64_MAX);
    takt_store_close(client->store, store_closed, client);
}

void takt_close(takt_client *client, takt_close_cb callback, void *data)
{
    if (!client || client->closing)
        return;
    client->closing = true;
    client->closed = callback;
    client->closed_data = data;
    takt_follow_stop(client);
    takt_shadow_leave_all(&client->shadows, TAKT_E_CANCELED);
    takt_client_ask(client);
}
