/*
 * session.c: see session.h.
 *
 * A session is idle, connects, greets over TLS and then the server, is ready, and leaves until its
 * socket is gone.
 */
#include "redis/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timeout.h"
#include "redis/greeting.h"
#include "redis/reply_error.h"
#include "redis/socket.h"

#define PLAIN_SIZE 16384
#define TEXT_SIZE  400
/* of memory kept for commands; scripts, which are loaded once, need more */
#define OUT_KEPT 65536

enum state { IDLE, CONNECTING, TLS_GREETING, GREETING, READY, LEAVING };

struct takt_redis_session {
    uv_timer_t timer;          /* the time-out of connecting and greeting */
    uv_prepare_t flush;        /* runs before the loop waits, while there is something to write */
    takt_redis_socket *socket; /* NULL while idle */
    takt_tls *tls;
    takt_resp *resp;
    takt_resp_out out;
    enum state state;
    bool closing;
    bool works;       /* a command has succeeded since it is ready */
    takt_link flight; /* commands under way, in the order of their answers */
    takt_redis_greeting greeting;

    uv_loop_t *loop;
    const takt_redis_url *url; /* of the present server */
    takt_tls_trust *trust;
    takt_timeout timeout; /* of the conversation with a connected and greeted server */
    uint64_t due_ns;
    const takt_redis_session_events *events;
    void *data;
    int handles; /* handles not closed yet */
};

bool takt_redis_session_idle(const takt_redis_session *session)
{
    return session->state == IDLE;
}

bool takt_redis_session_ready(const takt_redis_session *session)
{
    return session->state == READY;
}

bool takt_redis_session_works(const takt_redis_session *session)
{
    return session->works;
}

takt_redis_command *takt_redis_session_oldest(const takt_redis_session *session)
{
    return takt_list_empty(&session->flight)
               ? NULL
               : TAKT_HOLDER(session->flight.next, takt_redis_command, link);
}

/* ---- leaving --------------------------------------------------------------------------------- */

static void on_handle_closed(uv_handle_t *handle)
{
    takt_redis_session *session = handle->data;
    const takt_redis_session_events *events = session->events;
    void *data = session->data;

    if (--session->handles > 0)
        return;
    takt_resp_free(session->resp);
    free(session->out.bytes);
    free(session);
    events->closed(data);
}

static void close_handles(takt_redis_session *session)
{
    session->handles = 2;
    uv_close((uv_handle_t *)&session->timer, on_handle_closed);
    uv_close((uv_handle_t *)&session->flush, on_handle_closed);
}

static void on_gone(void *data)
{
    takt_redis_session *session = data;

    session->socket = NULL;
    session->state = IDLE;
    if (session->closing)
        close_handles(session);
    else
        session->events->idle(session->data);
}

static void answer_all(takt_redis_session *session, int code)
{
    takt_link lost;

    takt_list_init(&lost);
    takt_list_move(&lost, &session->flight);
    while (!takt_list_empty(&lost)) {
        takt_redis_command *command = TAKT_HOLDER(lost.next, takt_redis_command, link);
        takt_list_remove(&command->link);
        command->answered(command, NULL, code);
    }
}

static void let_go(takt_redis_session *session, bool reset)
{
    session->state = LEAVING;
    uv_timer_stop(&session->timer);
    uv_prepare_stop(&session->flush);
    session->out.size = 0;
    takt_tls_free(session->tls);
    session->tls = NULL;
    takt_redis_socket_close(session->socket, reset);
}

void takt_redis_session_leave(takt_redis_session *session, bool reset, int code, const char *text)
{
    if (session->state == IDLE || session->state == LEAVING)
        return;
    let_go(session, reset);
    if (!session->closing)
        session->events->ended(session->data, code, text);
    answer_all(session, code);
}

void takt_redis_session_close(takt_redis_session *session)
{
    if (session->closing)
        return;
    session->closing = true;
    if (session->state == IDLE)
        close_handles(session);
    else if (session->state != LEAVING)
        let_go(session, !takt_list_empty(&session->flight));
    answer_all(session, TAKT_E_CANCELED);
}

static void on_ended(void *data, int code, const char *text)
{
    takt_redis_session_leave(data, false, code, text);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void no_memory(takt_redis_session *session)
{
    takt_redis_session_leave(session, true, TAKT_E_NOMEM, "no memory for a command");
}

/* Sends the bytes that TLS has made. */
static void send_tls(takt_redis_session *session)
{
    char bytes[PLAIN_SIZE];
    size_t size;

    while ((size = takt_tls_take(session->tls, bytes, sizeof bytes)) > 0)
        if (!takt_redis_socket_write(session->socket, bytes, size)) {
            no_memory(session);
            return;
        }
}

static void flush(takt_redis_session *session)
{
    takt_resp_out *out = &session->out;
    bool written = true;

    uv_prepare_stop(&session->flush);
    if (out->size == 0)
        return;
    if (session->tls == NULL)
        written = takt_redis_socket_write(session->socket, out->bytes, out->size);
    else if (takt_tls_write(session->tls, out->bytes, out->size))
        send_tls(session); /* a failure is reported by the next read */
    out->size = 0;
    if (out->capacity > OUT_KEPT) {
        free(out->bytes);
        *out = (takt_resp_out){0};
    }
    if (!written)
        no_memory(session);
}

static void on_flush(uv_prepare_t *prepare)
{
    flush(prepare->data);
}

bool takt_redis_session_send(takt_redis_session *session, takt_redis_command *command, int count,
                             const char *const *arguments, const size_t *sizes)
{
    if (session->state != READY || !takt_resp_command(&session->out, count, arguments, sizes))
        return false;
    if (command != NULL)
        takt_list_append(&session->flight, &command->link);
    uv_prepare_start(&session->flush, on_flush);
    return true;
}

void takt_redis_session_flush(takt_redis_session *session)
{
    if (session->state == READY)
        flush(session);
}

/* ---- greeting -------------------------------------------------------------------------------- */

static void become_ready(takt_redis_session *session)
{
    session->state = READY;
    uv_timer_stop(&session->timer);
    session->events->ready(session->data);
}

/* Closes the connection to a server that answered with an error. */
static void give_up(takt_redis_session *session, const takt_redis_trouble *trouble)
{
    char text[TEXT_SIZE];

    snprintf(text, sizeof text, "%s%s%s%s", trouble->text, trouble->word[0] ? " (" : "",
             trouble->word, trouble->word[0] ? ")" : "");
    takt_redis_session_leave(session, false, trouble->code, text);
}

static void on_greeted(void *data, const takt_redis_trouble *trouble)
{
    if (trouble != NULL)
        give_up(data, trouble);
    else
        become_ready(data);
}

static void greet(takt_redis_session *session)
{
    session->state = GREETING;
    if (!takt_redis_greet(&session->greeting, session->url, &session->out, &session->flight)) {
        no_memory(session);
        return;
    }
    flush(session);
    if (session->url->authenticates && session->out.bytes != NULL)
        explicit_bzero(session->out.bytes, session->out.capacity);
}

static void greet_tls(takt_redis_session *session)
{
    char text[TAKT_TLS_TEXT_SIZE];
    int result = takt_tls_greet(session->tls, text);

    send_tls(session); /* also sends the alert with the reason */
    if (session->state != TLS_GREETING)
        return;
    if (result < 0)
        takt_redis_session_leave(session, false, TAKT_E_STORE_ACCESS, text);
    else if (result > 0)
        greet(session);
}

static void on_opened(void *data)
{
    takt_redis_session *session = data;

    if (!takt_resp_restart(session->resp)) {
        no_memory(session);
        return;
    }
    if (session->trust == NULL) {
        greet(session);
        return;
    }
    session->tls = takt_tls_new(session->trust, session->url->host);
    if (session->tls == NULL) {
        no_memory(session);
        return;
    }
    session->state = TLS_GREETING;
    greet_tls(session);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A successful greeting does not prove that a connection works: a replica, and a server that loads
 * its data, accept it as well. */
static bool shows_that_it_works(const takt_redis_session *session, const takt_reply *reply)
{
    return session->state == READY && reply->type != TAKT_REPLY_ERROR;
}

static void on_reply(takt_redis_session *session, const takt_reply *reply)
{
    takt_redis_trouble trouble;
    takt_redis_command *command;

    if (shows_that_it_works(session, reply))
        session->works = true;
    if (!takt_list_empty(&session->flight)) {
        /* "-ERR max number of clients reached" is no answer, but counts as an error */
        command = TAKT_HOLDER(session->flight.next, takt_redis_command, link);
        takt_list_remove(&command->link);
        command->answered(command, reply, 0);
    } else if (session->state == READY && session->events->pushed != NULL) {
        session->events->pushed(session->data, reply);
    } else if (reply->type == TAKT_REPLY_ERROR) {
        takt_redis_judge(&trouble, reply->text, reply->size);
        give_up(session, &trouble);
    } else {
        takt_redis_session_leave(session, true, TAKT_E_STORE,
                                 "it sent an answer without a command");
    }
}

static bool is_open(const takt_redis_session *session)
{
    return session->state == GREETING || session->state == READY;
}

/* Reads bytes of replies. Any callback may close the connection. */
static void read_replies(takt_redis_session *session, const char *bytes, size_t size)
{
    const takt_reply *reply;
    const char *why = "";
    int result = takt_resp_feed(session->resp, bytes, size, &why);

    while (result >= 0 && (result = takt_resp_next(session->resp, &reply, &why)) > 0) {
        on_reply(session, reply);
        if (!is_open(session))
            return;
    }
    if (result < 0)
        takt_redis_session_leave(session, true, result, why);
}

static void read_tls(takt_redis_session *session)
{
    char bytes[PLAIN_SIZE], text[TAKT_TLS_TEXT_SIZE];
    int size = 0;

    while (is_open(session)) {
        size = takt_tls_read(session->tls, bytes, sizeof bytes, text);
        if (size <= 0)
            break;
        read_replies(session, bytes, (size_t)size);
    }
    if (is_open(session) && size < 0)
        takt_redis_session_leave(session, false, TAKT_E_STORE, text);
    if (is_open(session))
        send_tls(session); /* TLS may have bytes of its own to send, such as new keys */
}

static void on_received(void *data, const char *bytes, size_t size)
{
    takt_redis_session *session = data;

    if (session->tls == NULL) {
        read_replies(session, bytes, size);
        return;
    }
    if (!takt_tls_feed(session->tls, bytes, size)) {
        no_memory(session);
        return;
    }
    if (session->state == TLS_GREETING)
        greet_tls(session);
    if (is_open(session))
        read_tls(session);
}

void takt_redis_session_drain(takt_redis_session *session)
{
    if (session->state == READY)
        takt_redis_socket_drain(session->socket);
}

/* ---- connecting ------------------------------------------------------------------------------ */

static const takt_redis_socket_events socket_events = {on_opened, on_received, on_ended, on_gone};

static void on_timer(uv_timer_t *timer);

static void wait_on(takt_redis_session *session)
{
    uv_timer_start(&session->timer, on_timer,
                   takt_timeout_next_ms(&session->timeout, session->due_ns), 0);
}

static void on_timer(uv_timer_t *timer)
{
    takt_redis_session *session = timer->data;

    if (takt_timeout_look(&session->timeout, uv_hrtime()) < session->due_ns)
        wait_on(session);
    else
        takt_redis_session_leave(session, true, TAKT_E_STORE_TIMEOUT,
                                 session->state == CONNECTING
                                     ? "it does not answer"
                                     : "it accepts connections but does not answer");
}

int takt_redis_session_connect(takt_redis_session *session, const takt_redis_url *url,
                               unsigned attempt, takt_error *error)
{
    int code = takt_redis_socket_open(&session->socket, session->loop, url, attempt, &socket_events,
                                      session, error);

    session->works = false;
    if (code < 0)
        return code;
    session->url = url;
    session->state = CONNECTING;
    session->due_ns = takt_timeout_due(&session->timeout, uv_hrtime());
    wait_on(session);
    return 0;
}

takt_redis_session *takt_redis_session_new(uv_loop_t *loop, takt_tls_trust *trust,
                                           const takt_resp_max *max, uint64_t timeout_ms,
                                           const takt_redis_session_events *events, void *data)
{
    takt_redis_session *session = calloc(1, sizeof *session);

    if (session == NULL)
        return NULL;
    session->resp = takt_resp_new(max);
    if (session->resp == NULL) {
        free(session);
        return NULL;
    }
    session->loop = loop;
    session->trust = trust;
    takt_timeout_begin(&session->timeout, timeout_ms * 1000000, uv_hrtime());
    session->events = events;
    session->data = data;
    takt_list_init(&session->flight);
    session->greeting.greeted = on_greeted;
    session->greeting.data = session;
    uv_timer_init(loop, &session->timer);
    uv_prepare_init(loop, &session->flush);
    uv_unref((uv_handle_t *)&session->timer);
    uv_unref((uv_handle_t *)&session->flush);
    session->timer.data = session->flush.data = session;
    return session;
}
