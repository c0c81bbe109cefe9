/*
 * redis_ask.c: see redis_ask.h.
 */
#include "doctor/redis_ask.h"

#include <string.h>

#include "base/fail.h"

/* The map of a large cluster is longer than the answers of scripts. */
static const takt_resp_max reply_max = {TAKT_RESP_DEPTH_MAX, 65536, TAKT_RESP_BYTES_MAX,
                                        TAKT_E_STORE};

struct asking {
    takt_redis_command command;
    const takt_redis_question *question;
};

struct visit {
    uv_loop_t loop;
    uv_timer_t timer;
    takt_redis_connection *connection;
    struct asking askings[TAKT_REDIS_ASK_MAX];
    int count, left;
    void *data;
    bool over;
    int code;
    takt_error *error;
};

static void end(struct visit *visit)
{
    if (visit->over)
        return;
    visit->over = true;
    uv_close((uv_handle_t *)&visit->timer, NULL);
    takt_redis_connection_close(visit->connection);
}

static void on_answered(takt_redis_command *command, const takt_reply *reply, int code)
{
    struct asking *asking = (struct asking *)command;
    struct visit *visit = command->data;

    (void)code;
    if (visit->over || reply == NULL) /* on_lost reports the loss */
        return;
    asking->question->answered(visit->data, reply);
    if (--visit->left == 0)
        end(visit);
}

static void on_ready(void *data)
{
    struct visit *visit = data;

    if (visit->count == 0) {
        end(visit);
        return;
    }
    for (int i = 0; i < visit->count; i++) {
        struct asking *asking = &visit->askings[i];
        size_t sizes[TAKT_REDIS_ASK_WORDS];
        int words = 0;
        for (; words < TAKT_REDIS_ASK_WORDS && asking->question->words[words]; words++)
            sizes[words] = strlen(asking->question->words[words]);
        visit->left += takt_redis_connection_send(visit->connection, &asking->command, words,
                                                  asking->question->words, sizes);
    }
    if (visit->left < visit->count)
        takt_redis_connection_leave(visit->connection, true, TAKT_E_NOMEM, "no memory");
}

static void on_lost(void *data, int code, const char *text)
{
    struct visit *visit = data;

    if (!visit->over)
        visit->code = takt_fail(visit->error, code, "%s", text);
    end(visit);
}

static void on_closed(void *data)
{
    (void)data;
}

static void on_timer(uv_timer_t *timer)
{
    takt_redis_connection_leave(((struct visit *)timer->data)->connection, true,
                                TAKT_E_STORE_TIMEOUT, "it did not answer in time");
}

static const takt_redis_connection_events events = {on_ready, on_lost, NULL, on_closed};

int takt_redis_ask(const takt_redis_url *url, takt_tls_trust *trust, int64_t timeout_us,
                   const takt_redis_question *questions, int count, void *data, takt_error *error)
{
    struct visit visit = {.count = count, .data = data, .error = error};
    uint64_t timeout_ms = (uint64_t)(timeout_us / 1000 + 1);

    if (uv_loop_init(&visit.loop) != 0)
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    for (int i = 0; i < count; i++)
        visit.askings[i] =
            (struct asking){{.answered = on_answered, .data = &visit}, &questions[i]};
    visit.connection = takt_redis_connection_open(&visit.loop, url, trust, &reply_max, timeout_ms,
                                                  &events, &visit);
    if (visit.connection == NULL) {
        uv_loop_close(&visit.loop);
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    }
    uv_timer_init(&visit.loop, &visit.timer);
    visit.timer.data = &visit;
    uv_timer_start(&visit.timer, on_timer, 2 * timeout_ms, 0); /* connecting has its own */
    uv_run(&visit.loop, UV_RUN_DEFAULT);
    uv_loop_close(&visit.loop);
    return visit.code;
}

void takt_redis_ask_at(takt_redis_url *node, const takt_redis_url *url,
                       const takt_redis_address *address)
{
    *node = *url;
    if (node->transport == TAKT_REDIS_UNIX)
        node->transport = TAKT_REDIS_TCP; /* its cluster is reached by the network */
    node->primary[0] = '\0';
    node->seed_count = 0;
    memcpy(node->host, address->host, sizeof node->host);
    node->port = address->port;
}
