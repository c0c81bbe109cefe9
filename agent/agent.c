/*
 * agent.c: opens and closes the parts of the agent. A close happens at once, or when all permits
 * have been released.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/random.h"
#include "kit/message.h"
#include "kit/signals.h"
#include "kit/text.h"
#include "run.h"

#define READ_SIZE 65536

/* ---- the end --------------------------------------------------------------------------------- */

static void end(takt_agent *agent)
{
    if (agent->ended)
        return;
    agent->ended = true;
    takt_agent_status_last(agent);
    takt_agent_listen_no_more(agent);
    takt_agent_connections_turn(agent); /* the last answers */
    while (!takt_list_empty(&agent->connections.all))
        takt_agent_connection_end(
            TAKT_HOLDER(agent->connections.all.next, takt_agent_connection, link));
    while (takt_table_any(&agent->permits.tokens)) /* detached */
        takt_agent_permit_release(
            agent, TAKT_HOLDER(takt_table_any(&agent->permits.tokens), takt_agent_permit, named));
    takt_signals_close(&agent->signals);
    takt_status_server_close(agent->status.server);
    takt_notify_close(&agent->status.notify, NULL);
    uv_close((uv_handle_t *)&agent->connections.turn, NULL);
    uv_close((uv_handle_t *)&agent->alarms.timer, NULL);
    uv_close((uv_handle_t *)&agent->drain, NULL);
    uv_close((uv_handle_t *)&agent->slow, NULL);
    takt_relays_close(agent->relays);
    if (agent->limits.own.client)
        takt_close(agent->limits.own.client, NULL, NULL);
    if (agent->limits.brought.client)
        takt_close(agent->limits.brought.client, NULL, NULL);
}

static void on_drained(uv_timer_t *timer)
{
    takt_agent *agent = timer->data;

    if (takt_agent_held(agent) > 0)
        agent->exit_status = 1;
    end(agent);
}

static void end_soon(takt_agent *agent, uint64_t after_ms)
{
    uv_timer_start(&agent->drain, on_drained, after_ms, 0);
}

static void refuse_waiters(takt_agent *agent)
{
    takt_link *at = agent->connections.all.next;

    while (at != &agent->connections.all) {
        takt_agent_connection *connection = TAKT_HOLDER(at, takt_agent_connection, link);
        at = at->next;
        while (!connection->closing && !takt_list_empty(&connection->waiters))
            takt_agent_waiter_refused(
                TAKT_HOLDER(connection->waiters.next, takt_agent_waiter, in_connection),
                TAKT_E_CANCELED, 0);
    }
}

/* The holder of a detached permit returns on a new connection. */
static void drain(takt_agent *agent)
{
    agent->draining = true;
    takt_message("draining: %zu waiters leave, %zu permits are held", takt_agent_waiting(agent),
                 takt_agent_held(agent));
    takt_agent_status_tell(agent, "STOPPING=1");
    refuse_waiters(agent);
    takt_relays_drain(agent->relays);
    if (agent->permits.held == 0)
        takt_agent_listen_no_more(agent);
    end_soon(agent, takt_agent_held(agent) > 0 ? (uint64_t)agent->options.drain_us / 1000 : 0);
}

static void on_signal(uv_signal_t *signal, int number)
{
    takt_agent *agent = signal->data;

    if (takt_signals_reread(&agent->signals, number)) {
        takt_agent_limits_reread(agent);
    } else if (!agent->draining) {
        drain(agent);
    } else {
        agent->exit_status = 128 + number;
        end(agent);
    }
}

/* ---- what lower parts call ------------------------------------------------------------------- */

static void on_left(takt_agent_connection *connection)
{
    takt_link *held[] = {&connection->permits, &connection->settled_later};

    if (connection->call)
        connection->call->connection = NULL;
    takt_relay_close(connection->relay);
    connection->relay = NULL;
    while (!takt_list_empty(&connection->waiters)) {
        connection->agent->figures.gone++;
        takt_agent_waiter_leave(
            TAKT_HOLDER(connection->waiters.next, takt_agent_waiter, in_connection));
    }
    for (int i = 0; i < 2; i++)
        while (!takt_list_empty(held[i]))
            takt_agent_permit_leave(TAKT_HOLDER(held[i]->next, takt_agent_permit, in_connection));
}

static void on_event(takt_client *client, const takt_event *event, void *data)
{
    takt_agent *agent = data;

    if (takt_relays_event(agent->relays, event))
        return;
    if (client == agent->limits.own.client && event->type == TAKT_EVENT_STORE_LOST) {
        agent->store.lost = true;
        snprintf(agent->store.trouble, sizeof(agent->store.trouble), "%s", event->text);
    } else if (client == agent->limits.own.client && event->type == TAKT_EVENT_STORE_BACK) {
        agent->store.lost = false;
    }
    if (event->type == TAKT_EVENT_POLICY)
        agent->limits.changes++;
    takt_message("%s", event->text);
    takt_agent_status_tell(agent, NULL);
    if (event->type == TAKT_EVENT_PERMIT_LOST)
        takt_agent_permit_lost(agent, event->permit);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void on_turn(uv_prepare_t *turn)
{
    takt_agent *agent = turn->data;

    takt_agent_connections_turn(agent);
    if (!agent->draining || agent->ended)
        return;
    if (agent->permits.held == 0)
        takt_agent_listen_no_more(agent);
    if (takt_agent_held(agent) == 0)
        end_soon(agent, 0);
}

static int open_tables(takt_agent *agent)
{
    takt_table *tables[] = {&agent->waiters.wishes, &agent->waiters.lines, &agent->waiters.flows,
                            &agent->waiters.seats,  &agent->waiters.tags,  &agent->permits.tokens};
    int code = 0;

    if (uv_random(NULL, NULL, &agent->permits.random, sizeof(agent->permits.random), 0, NULL) != 0)
        agent->permits.random = uv_hrtime();
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && code == 0; i++)
        code = takt_table_init(tables[i], takt_random(&agent->permits.random));
    agent->connections.buffer = malloc(READ_SIZE);
    return agent->connections.buffer ? code : TAKT_E_NOMEM;
}

static void open_handles(takt_agent *agent)
{
    uv_prepare_init(&agent->loop, &agent->connections.turn);
    takt_agent_alarms_open(agent);
    uv_timer_init(&agent->loop, &agent->drain);
    uv_timer_init(&agent->loop, &agent->slow);
    agent->connections.turn.data = agent->drain.data = agent->slow.data = agent;
    uv_prepare_start(&agent->connections.turn, on_turn);
    agent->signals.rereads = true;
    takt_signals_open(&agent->signals, &agent->loop, takt_signals_ending, on_signal, agent);
}

static int start(takt_agent *agent)
{
    int status = takt_agent_limits_open(agent);

    if (status == 0)
        status = takt_agent_status_open(agent);
    if (status == 0)
        status = takt_agent_listen(agent);
    if (status == 0) {
        if (agent->listening.path)
            takt_message("serving %zu limit%s at %s",
                         takt_policy_count(takt_get_policy(agent->limits.own.client)),
                         takt_plural(takt_policy_count(takt_get_policy(agent->limits.own.client))),
                         agent->listening.path);
        takt_agent_status_tell(agent, "READY=1");
    }
    return status;
}

static void free_parts(takt_agent *agent)
{
    takt_agent_status_close(agent);
    takt_agent_limits_free(agent);
    takt_resp_free(agent->connections.spare_resp);
    free(agent->connections.buffer);
    takt_table_close(&agent->waiters.wishes);
    takt_table_close(&agent->waiters.lines);
    takt_table_close(&agent->waiters.flows);
    takt_table_close(&agent->waiters.seats);
    takt_table_close(&agent->waiters.tags);
    takt_table_close(&agent->permits.tokens);
}

int takt_agent_open(takt_agent *agent, const takt_agent_options *options)
{
    int status;

    *agent = (takt_agent){.options = *options,
                          .callbacks = {.command = takt_agent_command,
                                        .joins = takt_agent_acquire_joins,
                                        .left = on_left,
                                        .granted = takt_agent_waiter_granted,
                                        .refused = takt_agent_waiter_refused,
                                        .on_event = on_event},
                          .status.notify.fd = -1};
    takt_signals_ignore_broken_pipes();
    takt_list_init(&agent->connections.all);
    takt_list_init(&agent->connections.to_do);
    takt_list_init(&agent->permits.detached);
    if (uv_loop_init(&agent->loop) != 0) {
        takt_message("%s", takt_strerror(TAKT_E_NOMEM));
        return EX_OSERR;
    }
    if (open_tables(agent) != 0) {
        takt_message("%s", takt_strerror(TAKT_E_NOMEM));
        free_parts(agent);
        uv_loop_close(&agent->loop);
        return EX_OSERR;
    }
    open_handles(agent);
    status = start(agent);
    if (status != 0)
        takt_agent_close(agent);
    return status;
}

void takt_agent_close(takt_agent *agent)
{
    end(agent);
    uv_run(&agent->loop, UV_RUN_DEFAULT);
    free_parts(agent);
    uv_loop_close(&agent->loop);
}

int takt_agent_run(const takt_agent_options *options)
{
    takt_agent agent;
    int status = takt_agent_open(&agent, options);

    if (status != 0)
        return status;
    uv_run(&agent.loop, UV_RUN_DEFAULT);
    takt_agent_close(&agent);
    return agent.exit_status;
}
