/*
 * connection.c: see connection.h.
 *
 * A connection pauses, then asks where its server is, if Sentinels know, and then has a session
 * with the server until that ends.
 */
#include "redis/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "redis/backoff.h"
#include "redis/sentinel.h"
#include "redis/session.h"

/* While the server is away, the Sentinel is asked this often whether there is another one. */
#define ASK_MS 1000

enum state { PAUSE, ASKING, SESSION };

struct takt_redis_connection {
    uv_timer_t timer; /* the end of a pause */
    takt_redis_session *session;
    takt_redis_sentinel *sentinel; /* NULL: the URL names the server */
    enum state state;
    bool closing;
    bool held; /* no attempt to connect may begin */
    unsigned attempts;
    takt_backoff backoff;
    uint64_t due_ms;           /* the end of the pause */
    takt_pace *pace, own_pace; /* of attempts: a connection beside another one has the other's */
    char at[TAKT_REDIS_ADDRESS_SIZE]; /* the server of the session */

    uv_loop_t *loop;
    const takt_redis_url *url; /* the server's */
    takt_tls_trust *trust;
    uint64_t timeout_ms;
    const takt_redis_connection_events *events;
    void *data;
    int left; /* parts not closed yet: the timer, the session, the sentinel */
};

static void on_timer(uv_timer_t *timer);

const takt_redis_url *takt_redis_connection_server(const takt_redis_connection *connection)
{
    return connection->url;
}

bool takt_redis_connection_ready(const takt_redis_connection *connection)
{
    return takt_redis_session_ready(connection->session);
}

takt_redis_command *takt_redis_connection_oldest(const takt_redis_connection *connection)
{
    return takt_redis_session_oldest(connection->session);
}

bool takt_redis_connection_send(takt_redis_connection *connection, takt_redis_command *command,
                                int count, const char *const *arguments, const size_t *sizes)
{
    return takt_redis_session_send(connection->session, command, count, arguments, sizes);
}

void takt_redis_connection_flush(takt_redis_connection *connection)
{
    takt_redis_session_flush(connection->session);
}

void takt_redis_connection_drain(takt_redis_connection *connection)
{
    takt_redis_session_drain(connection->session);
}

/* ---- pauses ---------------------------------------------------------------------------------- */

/* Sets the timer for the end of the pause, or for the next question to the Sentinel. */
static void wait_on(takt_redis_connection *connection)
{
    uint64_t now_ms = uv_now(connection->loop);
    uint64_t wait_ms = connection->due_ms > now_ms ? connection->due_ms - now_ms : 0;

    if (connection->sentinel != NULL && wait_ms > ASK_MS)
        wait_ms = ASK_MS;
    if (connection->held)
        uv_timer_stop(&connection->timer);
    else
        uv_timer_start(&connection->timer, on_timer, wait_ms, 0);
}

static void pause_now(takt_redis_connection *connection)
{
    uint64_t now_ms = uv_now(connection->loop);

    connection->state = PAUSE;
    connection->due_ms = now_ms + takt_backoff_pause_ms(&connection->backoff, now_ms);
    wait_on(connection);
}

static void tell_lost(takt_redis_connection *connection, int code, const char *text)
{
    takt_error error;

    takt_fail(&error, code, "%s: %s", connection->at, text);
    connection->events->lost(connection->data, code, error.text);
}

void takt_redis_connection_leave(takt_redis_connection *connection, bool reset, int code,
                                 const char *text)
{
    takt_redis_session_leave(connection->session, reset, code, text);
}

/* The session is with a server that is no longer that of the URL. */
static bool is_elsewhere(const takt_redis_connection *connection)
{
    char address[TAKT_REDIS_ADDRESS_SIZE];

    takt_redis_url_address(connection->url, address);
    return strcmp(address, connection->at) != 0;
}

static void leave_if_elsewhere(takt_redis_connection *connection)
{
    if (connection->state == SESSION && is_elsewhere(connection))
        takt_redis_session_leave(connection->session, true, TAKT_E_STORE,
                                 "the Sentinels name another primary now");
}

void takt_redis_connection_hold(takt_redis_connection *connection, bool held)
{
    if (connection->held == held || connection->closing)
        return;
    connection->held = held;
    if (connection->state == PAUSE)
        pause_now(connection);
    else if (!held)
        leave_if_elsewhere(connection);
}

/* ---- the session ----------------------------------------------------------------------------- */

static void on_ready(void *data)
{
    takt_redis_connection *connection = data;

    connection->events->ready(connection->data);
}

static void on_ended(void *data, int code, const char *text)
{
    takt_redis_connection *connection = data;

    if (!connection->closing)
        tell_lost(connection, code, text);
}

static void on_idle(void *data)
{
    takt_redis_connection *connection = data;

    if (takt_redis_session_works(connection->session))
        connection->backoff.away_at_ms = 0;
    if (!connection->closing)
        pause_now(connection);
}

static void on_pushed(void *data, const takt_reply *reply)
{
    takt_redis_connection *connection = data;

    connection->events->pushed(connection->data, reply);
}

static void connect_now(takt_redis_connection *connection)
{
    takt_error error;
    int code;

    takt_redis_url_address(connection->url, connection->at);
    connection->state = SESSION;
    code = takt_redis_session_connect(connection->session, connection->url, connection->attempts++,
                                      &error);
    takt_pace_note(connection->pace, takt_pace_now_ms());
    if (code == 0)
        return;
    pause_now(connection);
    tell_lost(connection, code, error.text);
}

/* ---- where the server is --------------------------------------------------------------------- */

/* Connects, or where Sentinels watch, waits until the pace permits it. */
static void connect_when_allowed(takt_redis_connection *connection)
{
    uint64_t now_ms = uv_now(connection->loop);
    uint64_t wait_ms =
        connection->url->primary[0] != '\0' ? takt_pace_wait_ms(connection->pace, now_ms) : 0;

    if (wait_ms == 0) {
        connect_now(connection);
        return;
    }
    connection->state = PAUSE;
    connection->due_ms = now_ms + wait_ms;
    wait_on(connection);
}

/* The Sentinel has said where the primary is. Another one than before is tried after a short pause,
 * random so that a fleet does not come at once. */
static void on_found(void *data, bool changed)
{
    takt_redis_connection *connection = data;

    if (connection->state == ASKING) {
        connect_when_allowed(connection);
    } else if (changed) {
        connection->backoff.away_at_ms = 0;
        if (connection->state == PAUSE)
            pause_now(connection);
        else
            leave_if_elsewhere(connection);
    }
}

static void on_not_found(void *data, int code, const char *text)
{
    takt_redis_connection *connection = data;

    if (connection->state != ASKING)
        return;
    pause_now(connection);
    connection->events->lost(connection->data, code, text);
}

/* A pause is over, or one of its seconds. */
static void on_timer(uv_timer_t *timer)
{
    takt_redis_connection *connection = timer->data;

    if (connection->sentinel == NULL) {
        connect_when_allowed(connection);
        return;
    }
    if (uv_now(connection->loop) >= connection->due_ms)
        connection->state = ASKING;
    else
        wait_on(connection);
    takt_redis_sentinel_ask(connection->sentinel);
}

/* ---- opening and closing --------------------------------------------------------------------- */

static void closed_one(void *data)
{
    takt_redis_connection *connection = data;
    const takt_redis_connection_events *events = connection->events;
    void *events_data = connection->data;

    if (--connection->left > 0)
        return;
    free(connection);
    events->closed(events_data);
}

static void on_timer_closed(uv_handle_t *handle)
{
    closed_one(handle->data);
}

void takt_redis_connection_close(takt_redis_connection *connection)
{
    if (connection->closing)
        return;
    connection->closing = true;
    connection->left = connection->sentinel != NULL ? 3 : 2;
    uv_close((uv_handle_t *)&connection->timer, on_timer_closed);
    if (connection->sentinel != NULL)
        takt_redis_sentinel_close(connection->sentinel);
    takt_redis_session_close(connection->session);
}

static void ignore_closed(void *data)
{
    (void)data;
}

static const takt_redis_connection_events no_events = {NULL, NULL, NULL, ignore_closed};
static const takt_redis_session_events session_events = {on_ready, on_ended, on_idle, NULL,
                                                         closed_one};
static const takt_redis_session_events session_events_with_pushed = {on_ready, on_ended, on_idle,
                                                                     on_pushed, closed_one};
static const takt_redis_sentinel_events sentinel_events = {on_found, on_not_found, closed_one};

static takt_redis_connection *connection_new(uv_loop_t *loop, const takt_redis_url *url,
                                             takt_tls_trust *trust, const takt_resp_max *max,
                                             uint64_t timeout_ms,
                                             const takt_redis_connection_events *events, void *data)
{
    takt_redis_connection *connection = calloc(1, sizeof *connection);

    if (connection == NULL)
        return NULL;
    connection->session = takt_redis_session_new(
        loop, trust, max, timeout_ms,
        events->pushed != NULL ? &session_events_with_pushed : &session_events, connection);
    if (connection->session == NULL) {
        free(connection);
        return NULL;
    }
    connection->loop = loop;
    connection->url = url;
    connection->trust = trust;
    connection->timeout_ms = timeout_ms;
    connection->pace = &connection->own_pace;
    connection->events = events;
    connection->data = data;
    takt_backoff_init(&connection->backoff);
    uv_timer_init(loop, &connection->timer);
    uv_unref((uv_handle_t *)&connection->timer);
    connection->timer.data = connection;
    uv_timer_start(&connection->timer, on_timer, 0, 0); /* in the loop's first turn */
    return connection;
}

takt_redis_connection *takt_redis_connection_open(uv_loop_t *loop, const takt_redis_url *url,
                                                  takt_tls_trust *trust, const takt_resp_max *max,
                                                  uint64_t timeout_ms,
                                                  const takt_redis_connection_events *events,
                                                  void *data)
{
    takt_redis_connection *connection =
        connection_new(loop, url, trust, max, timeout_ms, events, data);

    if (connection == NULL || url->primary[0] == '\0')
        return connection;
    connection->sentinel = takt_redis_sentinel_open(loop, url, trust, timeout_ms, connection->pace,
                                                    &sentinel_events, connection);
    if (connection->sentinel == NULL) {
        connection->events = &no_events;
        takt_redis_connection_close(connection);
        return NULL;
    }
    connection->url = takt_redis_sentinel_server(connection->sentinel);
    return connection;
}

takt_redis_connection *takt_redis_connection_open_beside(takt_redis_connection *other,
                                                         const takt_resp_max *max,
                                                         const takt_redis_connection_events *events,
                                                         void *data)
{
    takt_redis_connection *connection =
        connection_new(other->loop, other->url, other->trust, max, other->timeout_ms, events, data);

    if (connection != NULL)
        connection->pace = other->pace;
    return connection;
}
