/*
 * Any replies of a server to a worker of a stream, one behind the other: nothing is read behind a
 * reply, no job is told twice, and what is told is a text or a reason.  A status that begins with
 * "!" is no reply: its letters are what happens next.
 *
 *     d x b g f    the first job that we have is done, dead, begun, given back, fetched again
 *     t            it is time to look for what others have left, and to survey
 *     l            the connections are lost, and made again
 *     r            the next reply is the reader's, whose commands block
 *     c            the worker ends
 */
#include "fuzz.h"

#include "jobs/frame/job_parse.h"
#include "jobs/stream/stream.h"
#include "redis/resp.h"

#define COMMANDS_MAX  4096
#define JOBS_MAX      64
#define ARGUMENTS_MAX (TAKT_STREAM_COMMAND_MAX + 16)

/* ---- the server ------------------------------------------------------------------------------ */

/* In the place of lib/redis/client.c: a connection that sends nothing. */
struct takt_redis {
    takt_redis_options options;
    bool ready, closed;
    takt_redis_command *under_way[COMMANDS_MAX];
    size_t first, next;
};

static takt_redis ends[2]; /* the reader and the writer */
static int opened;

int takt_redis_open(takt_redis **redis, struct uv_loop_s *loop, const char *url,
                    const takt_redis_options *options, takt_error *error)
{
    (void)loop, (void)url, (void)error;
    require(opened < 2);
    ends[opened] = (takt_redis){.options = *options};
    *redis = &ends[opened++];
    return 0;
}

int takt_redis_is_ready(const takt_redis *redis)
{
    return redis->ready;
}

int takt_redis_send(takt_redis *redis, takt_redis_command *command, int count,
                    const char *const *arguments, const size_t *sizes)
{
    require(count > 0 && count <= ARGUMENTS_MAX);
    for (int i = 0; i < count; i++)
        free(fuzz_copy(arguments[i], sizes[i])); /* which reads it */
    if (!redis->ready)
        return TAKT_E_STORE;
    if (redis->next - redis->first == COMMANDS_MAX)
        return TAKT_E_NOMEM;
    redis->under_way[redis->next++ % COMMANDS_MAX] = command;
    return 0;
}

void takt_redis_flush(takt_redis *redis)
{
    (void)redis;
}

static bool answer(takt_redis *redis, const takt_reply *reply, int code)
{
    takt_redis_command *command;

    if (redis->first == redis->next)
        return false;
    command = redis->under_way[redis->first++ % COMMANDS_MAX];
    command->answered(command, reply, code);
    return true;
}

static void give_up(takt_redis *redis, int code)
{
    for (size_t left = redis->next - redis->first; left > 0; left--)
        (void)answer(redis, NULL, code);
}

void takt_redis_reset(takt_redis *redis, int code, const char *text)
{
    if (!redis->ready)
        return;
    redis->ready = false;
    redis->options.on_lost(redis->options.data, code, text);
    give_up(redis, code);
}

int takt_redis_refused(takt_redis *redis, const takt_reply *reply, takt_error *error)
{
    require(redis == &ends[0] || redis == &ends[1]);
    require(reply->type == TAKT_REPLY_ERROR);
    *error = (takt_error){TAKT_E_STORE, "it was refused"};
    return TAKT_E_STORE;
}

void takt_redis_close(takt_redis *redis)
{
    if (redis == NULL || redis->closed)
        return;
    redis->closed = true;
    redis->ready = false;
    give_up(redis, TAKT_E_CANCELED);
}

/* ---- the worker ------------------------------------------------------------------------------ */

static takt_job_ref jobs[JOBS_MAX]; /* that we have */
static int job_count, fetched;      /* of the first: asked for again */
static bool has_closed;

static int index_of(takt_job_ref ref)
{
    for (int i = 0; i < job_count; i++)
        if (jobs[i].major == ref.major && jobs[i].minor == ref.minor)
            return i;
    return -1;
}

static void forget(int index)
{
    if (index >= 0)
        memmove(jobs + index, jobs + index + 1, (size_t)(--job_count - index) * sizeof *jobs);
}

static void took(void *data, takt_job_ref ref, const char *text, size_t size, unsigned attempts,
                 bool put_away, const char *why)
{
    takt_job_head head;
    json_t *fields;

    (void)data, (void)attempts;
    require((text != NULL) != (why != NULL));
    require((index_of(ref) >= 0) == put_away || job_count == JOBS_MAX);
    if (text != NULL && takt_job_parse(text, size, "l", &fields, &head, NULL) == 0)
        json_decref(fields);
    if (text != NULL)
        require(text[size] == '\0');
    if (!put_away && job_count < JOBS_MAX)
        jobs[job_count++] = ref;
}

static void lost(void *data, takt_job_ref ref)
{
    (void)data;
    forget(index_of(ref));
}

static void nothing(void *data)
{
    (void)data;
}

static void failed(void *data, bool fatal, const char *text)
{
    (void)data, (void)fatal;
    require(text[0] != '\0');
}

static void closed(void *data)
{
    (void)data;
    has_closed = true;
}

static const takt_job_source_events events = {.took = took,
                                              .lost = lost,
                                              .ended = nothing,
                                              .failed = failed,
                                              .recovered = nothing,
                                              .noted = nothing,
                                              .closed = closed};

static void act_on_first(takt_job_source *source, char what)
{
    takt_job_ref ref = jobs[0];

    if (what == 'b')
        takt_job_source_begun(source, ref, (unsigned)(fetched++ % 3));
    else if (what == 'f')
        takt_job_source_fetch(source, ref);
    else
        forget(0);
    if (what == 'd')
        takt_job_source_done(source, ref);
    else if (what == 'x')
        takt_job_source_dead(source, ref, fetched % 2 ? "{}" : NULL, 2, "id", "why");
    else if (what == 'g')
        takt_job_source_give_back(source, ref);
}

static void act(takt_job_source *source, char what)
{
    takt_stream *stream = (takt_stream *)source;

    if (what == 't' && stream->phase == TAKT_STREAM_WORKS && !stream->closing) {
        takt_stream_survey_start(stream);
        takt_stream_takeover_look(stream);
    }
    if (what == 'l')
        takt_redis_reset(stream->connection.writer, TAKT_E_STORE, "it was lost");
    if (what == 'c')
        takt_job_source_close(source);
    if (what != '\0' && strchr("dxbgf", what) && job_count > 0 && !stream->closing)
        act_on_first(source, what);
}

/* Prepares whatever is not ready again. */
static void make_ready(void)
{
    for (int i = 0; i < 2; i++)
        if (!ends[i].ready && !ends[i].closed) {
            ends[i].ready = true;
            ends[i].options.on_ready(ends[i].options.data);
        }
}

/* The same in memory of its size. */
static takt_reply *copy(const takt_reply *reply)
{
    size_t size = (size_t)(takt_reply_after(reply) - reply) * sizeof *reply;
    takt_reply *made = malloc(size);

    require(made != NULL);
    return memcpy(made, reply, size);
}

static void hear(takt_job_source *source, const takt_reply *reply)
{
    static bool is_readers;

    if (reply->type == TAKT_REPLY_STATUS && reply->text[0] == '!') {
        for (size_t i = 1; i < reply->size && !ends[0].closed; i++) {
            is_readers = reply->text[i] == 'r';
            act(source, reply->text[i]);
        }
    } else if (is_readers || !answer(&ends[1], reply, 0)) {
        is_readers = false;
        (void)answer(&ends[0], reply, 0);
    }
    if (ends[0].closed)
        return;
    takt_job_source_want(source, 5);
    (void)takt_job_source_flush(source);
    make_ready();
}

static void end(takt_job_source *source, uv_loop_t *loop)
{
    if (!ends[0].closed)
        takt_job_source_close(source);
    for (int i = 0; i < 2; i++)
        takt_redis_reset(&ends[i], TAKT_E_STORE, "it was lost");
    while (!ends[0].closed)
        uv_run(loop, UV_RUN_NOWAIT);
    for (int i = 0; i < 2; i++)
        ends[i].options.on_closed(ends[i].options.data);
    uv_run(loop, UV_RUN_DEFAULT);
    require(has_closed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const takt_resp_max max = {6, 8192, 1 << 20, TAKT_E_STORE_SPACE};
    static uv_loop_t loop;
    static takt_resp *resp;
    const takt_reply *reply = NULL;
    const char *why;
    takt_job_source *source;
    takt_error error;

    if (resp == NULL)
        require((resp = takt_resp_new(&max)) != NULL && uv_loop_init(&loop) == 0);
    require(takt_resp_restart(resp));
    if (size == 0 || takt_resp_feed(resp, (const char *)data + 1, size - 1, &why) != 0)
        return 0;
    opened = job_count = fetched = 0;
    has_closed = false;
    require(takt_job_source_open_stream(&source, &loop, "redis://h", "s", "g", 100000, data[0] & 1,
                                        &events, NULL, &error) == 0);
    takt_job_source_want(source, 5);
    make_ready();
    while (!ends[0].closed && takt_resp_next(resp, &reply, &why) == 1) {
        takt_reply *own = copy(reply);
        hear(source, own);
        free(own);
    }
    end(source, &loop);
    return 0;
}
