/*
 * sentinel.c: see sentinel.h.
 *
 * A question is three commands in one write: UNSUBSCRIBE, since a subscribed connection answers
 * nothing else, the question, and SUBSCRIBE. A Sentinel runs them in a row, so no message is missed
 * between them. Messages may come before each answer.
 */
#include "redis/sentinel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "redis/reply_error.h"
#include "redis/sentinel_reply.h"
#include "redis/session.h"

/* A silent Sentinel is asked again after this time and up to as much again: it may have stopped. */
#define LOOK_MS 10000

#define CHANNEL "+switch-master"

/* The answers to a question, in their order. */
enum { UNSUBSCRIBED, ADDRESS, SUBSCRIBED, ANSWERS };

struct takt_redis_sentinel {
    uv_timer_t timer; /* the time-out of a question, or when to look or to connect again */
    takt_redis_session *session;
    const takt_redis_url *url;
    takt_redis_url asked;  /* the Sentinel of the session */
    takt_redis_url server; /* the primary */
    int next;              /* the Sentinel to ask next */
    int in_vain;           /* how many have been asked in vain */
    bool asking;           /* found() or not_found() is owed */
    int answer;            /* which answer comes next; ANSWERS: none */
    bool closing;
    takt_backoff backoff;
    takt_pace *pace;
    uint64_t timeout_ms;
    takt_error trouble; /* why the last one was asked in vain */

    const takt_redis_sentinel_events *events;
    void *data;
    int left; /* parts not closed yet: the timer, the session */
};

static void go_on(takt_redis_sentinel *sentinel);

const takt_redis_url *takt_redis_sentinel_server(const takt_redis_sentinel *sentinel)
{
    return &sentinel->server;
}

/* ---- time ------------------------------------------------------------------------------------ */

static void on_timer(uv_timer_t *timer);

static void set_timer(takt_redis_sentinel *sentinel, uint64_t wait_ms)
{
    uv_timer_start(&sentinel->timer, on_timer, wait_ms, 0);
}

static void look_later(takt_redis_sentinel *sentinel)
{
    set_timer(sentinel,
              LOOK_MS + (uint64_t)takt_random_below(&sentinel->backoff.random, LOOK_MS + 1));
}

static void on_timer(uv_timer_t *timer)
{
    takt_redis_sentinel *sentinel = timer->data;

    if (sentinel->answer != ANSWERS)
        takt_redis_session_leave(sentinel->session, true, TAKT_E_STORE_TIMEOUT,
                                 "it does not answer in time");
    else if (sentinel->asking)
        go_on(sentinel);
    else
        takt_redis_sentinel_ask(sentinel);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static bool send_words(takt_redis_sentinel *sentinel, int count, const char *const *words)
{
    size_t sizes[3];

    for (int i = 0; i < count; i++)
        sizes[i] = strlen(words[i]);
    return takt_redis_session_send(sentinel->session, NULL, count, words, sizes);
}

static void put_question(takt_redis_sentinel *sentinel)
{
    const char *unsubscribe[] = {"UNSUBSCRIBE", CHANNEL};
    const char *question[] = {"SENTINEL", "get-master-addr-by-name", sentinel->url->primary};
    const char *subscribe[] = {"SUBSCRIBE", CHANNEL};

    if (sentinel->answer != ANSWERS)
        return; /* it is under way */
    sentinel->answer = UNSUBSCRIBED;
    set_timer(sentinel, sentinel->timeout_ms);
    if (!send_words(sentinel, 2, unsubscribe) || !send_words(sentinel, 3, question) ||
        !send_words(sentinel, 2, subscribe))
        takt_redis_session_leave(sentinel->session, true, TAKT_E_NOMEM, "no memory for a command");
}

static void note_trouble(takt_redis_sentinel *sentinel, int code, const char *text)
{
    const takt_redis_url *asked = &sentinel->asked;
    bool address = strchr(asked->host, ':') != NULL;

    takt_fail(&sentinel->trouble, code, "the Sentinel %s%s%s:%d: %s%s", address ? "[" : "",
              asked->host, address ? "]" : "", asked->port, text,
              code == TAKT_E_STORE_ACCESS
                  ? "; the login at Sentinels is ?sentinel_user= and sentinel_password_file="
                  : "");
}

/* The present Sentinel is of no use: the next one is asked. */
static void pass_on(takt_redis_sentinel *sentinel)
{
    sentinel->next = (sentinel->next + 1) % sentinel->url->seed_count;
    if (!sentinel->asking) {
        set_timer(sentinel,
                  takt_backoff_pause_ms(&sentinel->backoff, uv_now(sentinel->timer.loop)));
    } else if (++sentinel->in_vain < sentinel->url->seed_count) {
        go_on(sentinel);
    } else {
        sentinel->asking = false;
        set_timer(sentinel,
                  takt_backoff_pause_ms(&sentinel->backoff, uv_now(sentinel->timer.loop)));
        sentinel->events->not_found(sentinel->data, sentinel->trouble.code, sentinel->trouble.text);
    }
}

static void connect_next(takt_redis_sentinel *sentinel)
{
    const takt_redis_address *seed = &sentinel->url->seeds[sentinel->next];
    takt_error error;
    int code;

    memcpy(sentinel->asked.host, seed->host, sizeof seed->host);
    sentinel->asked.port = seed->port;
    code = takt_redis_session_connect(sentinel->session, &sentinel->asked, 0, &error);
    takt_pace_note(sentinel->pace, takt_pace_now_ms());
    if (code == 0)
        return;
    note_trouble(sentinel, code, error.text);
    pass_on(sentinel);
}

/* The next step to an answer. */
static void go_on(takt_redis_sentinel *sentinel)
{
    uint64_t wait_ms = takt_pace_wait_ms(sentinel->pace, uv_now(sentinel->timer.loop));

    if (takt_redis_session_ready(sentinel->session))
        put_question(sentinel);
    else if (!takt_redis_session_idle(sentinel->session))
        return; /* ready or idle soon */
    else if (wait_ms > 0)
        set_timer(sentinel, wait_ms);
    else
        connect_next(sentinel);
}

void takt_redis_sentinel_ask(takt_redis_sentinel *sentinel)
{
    if (sentinel->asking || sentinel->closing)
        return;
    sentinel->asking = true;
    sentinel->in_vain = 0;
    go_on(sentinel);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void on_address(takt_redis_sentinel *sentinel, const takt_redis_address *named)
{
    takt_redis_url *server = &sentinel->server;
    bool changed = strcmp(named->host, server->host) != 0 || named->port != server->port;

    memcpy(server->host, named->host, sizeof named->host);
    server->port = named->port;
    sentinel->asking = false;
    sentinel->backoff.away_at_ms = 0;
    sentinel->events->found(sentinel->data, changed);
}

static void on_no_address(takt_redis_sentinel *sentinel, takt_sentinel_word word,
                          const takt_reply *reply)
{
    char text[TAKT_ERROR_TEXT_SIZE];
    takt_redis_trouble trouble = {.code = TAKT_E_STORE, .text = "its answer is not an address"};

    if (reply->type == TAKT_REPLY_ERROR)
        takt_redis_judge(&trouble, reply->text, reply->size);
    if (trouble.code == TAKT_E_STORE_ACCESS && strcmp(trouble.word, "NOPERM") == 0)
        trouble.text = "our user may not ask it; grant it +sentinel|get-master-addr-by-name "
                       "+subscribe +unsubscribe &" CHANNEL;
    else if (trouble.code == TAKT_E_STORE_ACCESS && strcmp(trouble.word, "ERR") == 0)
        trouble = (takt_redis_trouble){.code = TAKT_E_STORE,
                                       .text = "it is no Sentinel: name a Sentinel's port, usually "
                                               "26379, or write redis://HOST for a server"};
    if (word == TAKT_SENTINEL_UNKNOWN)
        snprintf(text, sizeof text, "it watches no primary named %s: see SENTINEL MASTERS there",
                 sentinel->url->primary);
    else
        snprintf(text, sizeof text, "%s%s%s%s", trouble.text, trouble.word[0] ? " (" : "",
                 trouble.word, trouble.word[0] ? ")" : "");
    takt_redis_session_leave(sentinel->session, false, trouble.code, text);
}

static void on_pushed(void *data, const takt_reply *reply)
{
    takt_redis_sentinel *sentinel = data;
    takt_redis_address named;
    takt_sentinel_word word = takt_sentinel_reply(reply, &named);

    if (word == TAKT_SENTINEL_MESSAGE) {
        if (takt_sentinel_moves(reply, sentinel->url->primary))
            takt_redis_sentinel_ask(sentinel);
        return;
    }
    switch (sentinel->answer) {
    case ANSWERS:
        takt_redis_session_leave(sentinel->session, true, TAKT_E_STORE,
                                 "it sent an answer without a command");
        return;
    case ADDRESS:
        if (word != TAKT_SENTINEL_ADDRESS) {
            on_no_address(sentinel, word, reply);
            return;
        }
        sentinel->answer++;
        on_address(sentinel, &named);
        return;
    default:
        /* a user who may not subscribe learns of a move when the server is lost, or at the next
         * question */
        if (++sentinel->answer < ANSWERS)
            return;
        if (sentinel->asking)
            put_question(sentinel);
        else
            look_later(sentinel);
        return;
    }
}

/* ---- the session ----------------------------------------------------------------------------- */

static void on_ready(void *data)
{
    put_question(data);
}

static void on_ended(void *data, int code, const char *text)
{
    takt_redis_sentinel *sentinel = data;

    uv_timer_stop(&sentinel->timer);
    sentinel->answer = ANSWERS;
    note_trouble(sentinel, code, text);
}

static void on_idle(void *data)
{
    pass_on(data);
}

/* ---- opening and closing --------------------------------------------------------------------- */

static void closed_one(void *data)
{
    takt_redis_sentinel *sentinel = data;
    const takt_redis_sentinel_events *events = sentinel->events;
    void *events_data = sentinel->data;

    if (--sentinel->left > 0)
        return;
    takt_redis_url_close(&sentinel->asked);
    takt_redis_url_close(&sentinel->server);
    free(sentinel);
    events->closed(events_data);
}

static void on_timer_closed(uv_handle_t *handle)
{
    closed_one(handle->data);
}

static const takt_redis_session_events session_events = {on_ready, on_ended, on_idle, on_pushed,
                                                         closed_one};

/* The login at the Sentinels is not that of the server. */
static void fill_asked(takt_redis_url *asked, const takt_redis_url *url)
{
    *asked = *url;
    asked->primary[0] = '\0';
    asked->db = 0;
    memcpy(asked->user, url->sentinel_user, sizeof asked->user);
    memcpy(asked->password, url->sentinel_password, sizeof asked->password);
    asked->authenticates = url->sentinel_password[0] != '\0';
}

takt_redis_sentinel *takt_redis_sentinel_open(uv_loop_t *loop, const takt_redis_url *url,
                                              takt_tls_trust *trust, uint64_t timeout_ms,
                                              takt_pace *pace,
                                              const takt_redis_sentinel_events *events, void *data)
{
    takt_redis_sentinel *sentinel = calloc(1, sizeof *sentinel);

    if (sentinel == NULL)
        return NULL;
    sentinel->session =
        takt_redis_session_new(loop, trust, NULL, timeout_ms, &session_events, sentinel);
    if (sentinel->session == NULL) {
        free(sentinel);
        return NULL;
    }
    sentinel->url = url;
    sentinel->server = *url;
    fill_asked(&sentinel->asked, url);
    sentinel->answer = ANSWERS;
    sentinel->pace = pace;
    sentinel->timeout_ms = timeout_ms;
    sentinel->events = events;
    sentinel->data = data;
    takt_backoff_init(&sentinel->backoff);
    sentinel->next = (int)takt_random_below(&sentinel->backoff.random, url->seed_count);
    uv_timer_init(loop, &sentinel->timer);
    uv_unref((uv_handle_t *)&sentinel->timer);
    sentinel->timer.data = sentinel;
    return sentinel;
}

void takt_redis_sentinel_close(takt_redis_sentinel *sentinel)
{
    if (sentinel->closing)
        return;
    sentinel->closing = true;
    sentinel->left = 2;
    uv_close((uv_handle_t *)&sentinel->timer, on_timer_closed);
    takt_redis_session_close(sentinel->session);
}
