/*
 * The functions of a connection that is the test's: nothing is sent.  Each test has its own
 * takt_redis_send, which keeps the commands.
 */
#ifndef TAKT_TESTS_WORKERS_JOBS_STREAM_UNSENT_H
#define TAKT_TESTS_WORKERS_JOBS_STREAM_UNSENT_H

#include "jobs/stream/stream.h"

int takt_redis_open(takt_redis **redis, struct uv_loop_s *loop, const char *url,
                    const takt_redis_options *options, takt_error *error)
{
    (void)redis, (void)loop, (void)url, (void)options, (void)error;
    return TAKT_E_SYSTEM;
}

int takt_redis_is_ready(const takt_redis *redis)
{
    (void)redis;
    return 0;
}

void takt_redis_flush(takt_redis *redis)
{
    (void)redis;
}

void takt_redis_reset(takt_redis *redis, int code, const char *text)
{
    (void)redis, (void)code, (void)text;
}

int takt_redis_refused(takt_redis *redis, const takt_reply *reply, takt_error *error)
{
    (void)redis, (void)reply, (void)error;
    return TAKT_E_STORE;
}

void takt_redis_close(takt_redis *redis)
{
    (void)redis;
}

static void on_answered(takt_stream *of)
{
    (void)of;
}

#endif
