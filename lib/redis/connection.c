/*
 * connection.c: see connection.h.
 *
 * A connection cycles through these states: a pause, a connecting socket, the greetings of TLS and
 * of the server, ready, and closing until the socket is gone.
 */
#include "redis/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/timeout.h"
#include "redis/backoff.h"
#include "redis/greeting.h"
#include "redis/reply_error.h"
#include "redis/socket.h"

#define PLAIN_SIZE 16384
#define TEXT_SIZE  400
/* of memory kept for commands; scripts, which are loaded once, need more */
#define OUT_KEPT 65536

enum state { PAUSE, CONNECTING, TLS_GREETING, GREETING, READY, LEAVING };

struct takt_redis_connection {
    uv_timer_t timer;          /* the end of a pause, or the time-out of connecting */
    uv_prepare_t flush;        /* runs before the loop waits, while there is something to write */
    takt_redis_socket *socket; /* NULL during a pause */
    takt_tls *tls;
    takt_resp *resp;
    takt_resp_out out;
    enum state state;
    bool closing;
    bool held;        /* no attempt to connect may begin */
    takt_link flight; /* commands under way, in the order of their answers */
    takt_redis_greeting greeting;
    unsigned attempts;
    takt_backoff backoff;

    uv_loop_t *loop;
    const takt_redis_url *url;
    takt_tls_trust *trust;
    takt_timeout timeout; /* of the conversation with a connected and greeted server */
    uint64_t due_ns;
    const takt_redis_connection_events *events;
    void *data;
    int handles; /* handles not closed yet */
};

static void on_timer(uv_timer_t *timer);

bool takt_redis_connection_ready(const takt_redis_connection *connection)
{
    return connection->state == READY;
}

takt_redis_command *takt_redis_connection_oldest(const takt_redis_connection *connection)
{
    return takt_list_empty(&connection->flight)
               ? NULL
               : TAKT_HOLDER(connection->flight.next, takt_redis_command, link);
}

/* ---- leaving --------------------------------------------------------------------------------- */

static void on_handle_closed(uv_handle_t *handle)
{
    takt_redis_connection *connection = handle->data;
    const takt_redis_connection_events *events = connection->events;
    void *data = connection->data;

    if (--connection->handles > 0)
        return;
    takt_resp_free(connection->resp);
    free(connection->out.bytes);
    free(connection);
    events->closed(data);
}

static void close_handles(takt_redis_connection *connection)
{
    connection->handles = 2;
    uv_close((uv_handle_t *)&connection->timer, on_handle_closed);
    uv_close((uv_handle_t *)&connection->flush, on_handle_closed);
}

static void pause_now(takt_redis_connection *connection)
{
    uint64_t pause_ms = takt_backoff_pause_ms(&connection->backoff, uv_now(connection->loop));

    connection->state = PAUSE;
    if (connection->held)
        uv_timer_stop(&connection->timer);
    else
        uv_timer_start(&connection->timer, on_timer, pause_ms, 0);
}

void takt_redis_connection_hold(takt_redis_connection *connection, bool held)
{
    if (connection->held == held || connection->closing)
        return;
    connection->held = held;
    if (connection->state == PAUSE)
        pause_now(connection);
}

static void on_gone(void *data)
{
    takt_redis_connection *connection = data;

    connection->socket = NULL;
    if (connection->closing)
        close_handles(connection);
    else
        pause_now(connection);
}

static void answer_all(takt_redis_connection *connection, int code)
{
    takt_link lost;

    takt_list_init(&lost);
    takt_list_move(&lost, &connection->flight);
    while (!takt_list_empty(&lost)) {
        takt_redis_command *command = TAKT_HOLDER(lost.next, takt_redis_command, link);
        takt_list_remove(&command->link);
        command->answered(command, NULL, code);
    }
}

static void let_go(takt_redis_connection *connection, bool reset)
{
    connection->state = LEAVING;
    uv_timer_stop(&connection->timer);
    uv_prepare_stop(&connection->flush);
    connection->out.size = 0;
    takt_tls_free(connection->tls);
    connection->tls = NULL;
    takt_redis_socket_close(connection->socket, reset);
}

static void tell_lost(takt_redis_connection *connection, int code, const char *text)
{
    char place[TAKT_REDIS_PLACE_SIZE];
    takt_error error;

    if (connection->closing)
        return;
    takt_redis_url_place(connection->url, place);
    takt_fail(&error, code, "%s: %s", place, text);
    connection->events->lost(connection->data, code, error.text);
}

void takt_redis_connection_leave(takt_redis_connection *connection, bool reset, int code,
                                 const char *text)
{
    if (connection->state == PAUSE || connection->state == LEAVING)
        return;
    let_go(connection, reset);
    tell_lost(connection, code, text);
    answer_all(connection, code);
}

void takt_redis_connection_close(takt_redis_connection *connection)
{
    if (connection->closing)
        return;
    connection->closing = true;
    if (connection->state == PAUSE)
        close_handles(connection);
    else if (connection->state != LEAVING)
        let_go(connection, !takt_list_empty(&connection->flight));
    answer_all(connection, TAKT_E_CANCELED);
}

static void on_ended(void *data, int code, const char *text)
{
    takt_redis_connection_leave(data, false, code, text);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void no_memory(takt_redis_connection *connection)
{
    takt_redis_connection_leave(connection, true, TAKT_E_NOMEM, "no memory for what is to be sent");
}

/* Sends the bytes that TLS has made. */
static void send_tls(takt_redis_connection *connection)
{
    char bytes[PLAIN_SIZE];
    size_t size;

    while ((size = takt_tls_take(connection->tls, bytes, sizeof bytes)) > 0)
        if (!takt_redis_socket_write(connection->socket, bytes, size)) {
            no_memory(connection);
            return;
        }
}

static void flush(takt_redis_connection *connection)
{
    takt_resp_out *out = &connection->out;
    bool written = true;

    uv_prepare_stop(&connection->flush);
    if (out->size == 0)
        return;
    if (connection->tls == NULL)
        written = takt_redis_socket_write(connection->socket, out->bytes, out->size);
    else if (takt_tls_write(connection->tls, out->bytes, out->size))
        send_tls(connection); /* a failure is reported by the next read */
    out->size = 0;
    if (out->capacity > OUT_KEPT) {
        free(out->bytes);
        *out = (takt_resp_out){0};
    }
    if (!written)
        no_memory(connection);
}

static void on_flush(uv_prepare_t *prepare)
{
    flush(prepare->data);
}

bool takt_redis_connection_send(takt_redis_connection *connection, takt_redis_command *command,
                                int count, const char *const *arguments, const size_t *sizes)
{
    if (connection->state != READY || !takt_resp_command(&connection->out, count, arguments, sizes))
        return false;
    if (command != NULL)
        takt_list_append(&connection->flight, &command->link);
    uv_prepare_start(&connection->flush, on_flush);
    return true;
}

void takt_redis_connection_flush(takt_redis_connection *connection)
{
    if (connection->state == READY)
        flush(connection);
}

/* ---- greeting -------------------------------------------------------------------------------- */

static void become_ready(takt_redis_connection *connection)
{
    connection->state = READY;
    uv_timer_stop(&connection->timer);
    connection->events->ready(connection->data);
}

/* Closes the connection to a server that answered with an error. */
static void give_up(takt_redis_connection *connection, const takt_redis_trouble *trouble)
{
    char text[TEXT_SIZE];

    snprintf(text, sizeof text, "%s%s%s%s", trouble->text, trouble->word[0] ? " (" : "",
             trouble->word, trouble->word[0] ? ")" : "");
    takt_redis_connection_leave(connection, false, trouble->code, text);
}

static void on_greeted(void *data, const takt_redis_trouble *trouble)
{
    if (trouble != NULL)
        give_up(data, trouble);
    else
        become_ready(data);
}

static void greet(takt_redis_connection *connection)
{
    connection->state = GREETING;
    if (!takt_redis_greet(&connection->greeting, connection->url, &connection->out,
                          &connection->flight)) {
        no_memory(connection);
        return;
    }
    flush(connection);
    if (connection->url->authenticates && connection->out.bytes != NULL)
        explicit_bzero(connection->out.bytes, connection->out.capacity);
}

static void greet_tls(takt_redis_connection *connection)
{
    char text[TAKT_TLS_TEXT_SIZE];
    int result = takt_tls_greet(connection->tls, text);

    send_tls(connection); /* also sends the alert that tells the server the reason */
    if (connection->state != TLS_GREETING)
        return;
    if (result < 0)
        takt_redis_connection_leave(connection, false, TAKT_E_STORE_ACCESS, text);
    else if (result > 0)
        greet(connection);
}

static void on_opened(void *data)
{
    takt_redis_connection *connection = data;

    if (!takt_resp_restart(connection->resp)) {
        no_memory(connection);
        return;
    }
    if (connection->trust == NULL) {
        greet(connection);
        return;
    }
    connection->tls = takt_tls_new(connection->trust, connection->url->host);
    if (connection->tls == NULL) {
        no_memory(connection);
        return;
    }
    connection->state = TLS_GREETING;
    greet_tls(connection);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A successful greeting does not prove that a connection works: a replica, and a server that loads
 * its data, accept it as well. */
static bool shows_that_it_works(const takt_redis_connection *connection, const takt_reply *reply)
{
    return connection->state == READY && reply->type != TAKT_REPLY_ERROR;
}

static void on_reply(takt_redis_connection *connection, const takt_reply *reply)
{
    takt_redis_trouble trouble;
    takt_redis_command *command;

    if (shows_that_it_works(connection, reply))
        connection->backoff.away_at_ms = 0;
    if (!takt_list_empty(&connection->flight)) {
        /* "-ERR max number of clients reached" is no answer, but counts as an error */
        command = TAKT_HOLDER(connection->flight.next, takt_redis_command, link);
        takt_list_remove(&command->link);
        command->answered(command, reply, 0);
    } else if (connection->state == READY && connection->events->pushed != NULL) {
        connection->events->pushed(connection->data, reply);
    } else if (reply->type == TAKT_REPLY_ERROR) {
        takt_redis_judge(&trouble, reply->text, reply->size);
        give_up(connection, &trouble);
    } else {
        takt_redis_connection_leave(connection, true, TAKT_E_STORE,
                                    "it sent an answer that nobody asked for");
    }
}

static bool is_open(const takt_redis_connection *connection)
{
    return connection->state == GREETING || connection->state == READY;
}

/* Reads bytes of replies. Any callback may close the connection. */
static void read_replies(takt_redis_connection *connection, const char *bytes, size_t size)
{
    const takt_reply *reply;
    const char *why = "";
    int result = takt_resp_feed(connection->resp, bytes, size, &why);

    while (result >= 0 && (result = takt_resp_next(connection->resp, &reply, &why)) > 0) {
        on_reply(connection, reply);
        if (!is_open(connection))
            return;
    }
    if (result < 0)
        takt_redis_connection_leave(connection, true, result, why);
}

static void read_tls(takt_redis_connection *connection)
{
    char bytes[PLAIN_SIZE], text[TAKT_TLS_TEXT_SIZE];
    int size = 0;

    while (is_open(connection)) {
        size = takt_tls_read(connection->tls, bytes, sizeof bytes, text);
        if (size <= 0)
            break;
        read_replies(connection, bytes, (size_t)size);
    }
    if (is_open(connection) && size < 0)
        takt_redis_connection_leave(connection, false, TAKT_E_STORE, text);
    if (is_open(connection))
        send_tls(connection); /* TLS may have bytes of its own to send, such as new keys */
}

static void on_received(void *data, const char *bytes, size_t size)
{
    takt_redis_connection *connection = data;

    if (connection->tls == NULL) {
        read_replies(connection, bytes, size);
        return;
    }
    if (!takt_tls_feed(connection->tls, bytes, size)) {
        no_memory(connection);
        return;
    }
    if (connection->state == TLS_GREETING)
        greet_tls(connection);
    if (is_open(connection))
        read_tls(connection);
}

void takt_redis_connection_drain(takt_redis_connection *connection)
{
    if (connection->state == READY)
        takt_redis_socket_drain(connection->socket);
}

/* ---- connecting ------------------------------------------------------------------------------ */

static const takt_redis_socket_events socket_events = {on_opened, on_received, on_ended, on_gone};

static void wait_on(takt_redis_connection *connection)
{
    uv_timer_start(&connection->timer, on_timer,
                   takt_timeout_next_ms(&connection->timeout, connection->due_ns), 0);
}

static void connect_now(takt_redis_connection *connection)
{
    takt_error error;
    int code;

    connection->state = CONNECTING;
    code = takt_redis_socket_open(&connection->socket, connection->loop, connection->url,
                                  connection->attempts++, &socket_events, connection, &error);
    if (code == 0) {
        connection->due_ns = takt_timeout_due(&connection->timeout, uv_hrtime());
        wait_on(connection);
        return;
    }
    pause_now(connection);
    tell_lost(connection, code, error.text);
}

static void on_timer(uv_timer_t *timer)
{
    takt_redis_connection *connection = timer->data;

    if (connection->state == PAUSE)
        connect_now(connection);
    else if (takt_timeout_look(&connection->timeout, uv_hrtime()) < connection->due_ns)
        wait_on(connection);
    else
        takt_redis_connection_leave(connection, true, TAKT_E_STORE_TIMEOUT,
                                    connection->state == CONNECTING
                                        ? "it does not answer"
                                        : "it takes connections but does not answer");
}

takt_redis_connection *takt_redis_connection_open(uv_loop_t *loop, const takt_redis_url *url,
                                                  takt_tls_trust *trust, const takt_resp_max *max,
                                                  uint64_t timeout_ms,
                                                  const takt_redis_connection_events *events,
                                                  void *data)
{
    takt_redis_connection *connection = calloc(1, sizeof *connection);

    if (connection == NULL)
        return NULL;
    connection->resp = takt_resp_new(max);
    if (connection->resp == NULL) {
        free(connection);
        return NULL;
    }
    connection->loop = loop;
    connection->url = url;
    connection->trust = trust;
    takt_timeout_begin(&connection->timeout, timeout_ms * 1000000, uv_hrtime());
    connection->events = events;
    connection->data = data;
    connection->backoff.random = uv_hrtime() ^ (uint64_t)(uintptr_t)connection;
    (void)uv_random(NULL, NULL, &connection->backoff.random, sizeof connection->backoff.random, 0,
                    NULL); /* if it fails, the clock and an address serve as the seed */
    takt_list_init(&connection->flight);
    connection->greeting.greeted = on_greeted;
    connection->greeting.data = connection;
    uv_timer_init(loop, &connection->timer);
    uv_prepare_init(loop, &connection->flush);
    uv_unref((uv_handle_t *)&connection->timer);
    uv_unref((uv_handle_t *)&connection->flush);
    connection->timer.data = connection->flush.data = connection;
    connection->state = PAUSE;
    uv_timer_start(&connection->timer, on_timer, 0, 0); /* in the loop's first turn */
    return connection;
}
