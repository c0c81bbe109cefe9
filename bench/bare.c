/*
 * bare.c: the least that a program can do to be told by a server: hiredis alone, and one EVALSHA.
 * Prints the instant of the answer (monotonic nanoseconds).  Started by cold.c.
 *
 *     bare SOCKET SHA1
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <hiredis/hiredis.h>

int main(int argc, char **argv)
{
    redisContext *server = argc > 2 ? redisConnectUnix(argv[1]) : NULL;
    redisReply *reply;
    struct timespec now;

    if (server == NULL || server->err != 0)
        return 1;
    reply = redisCommand(server, "EVALSHA %s 1 takt:{default/bench/direct} 1 1000000", argv[2]);
    if (reply == NULL || reply->type != REDIS_REPLY_INTEGER)
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%" PRId64 "\n", now.tv_sec * INT64_C(1000000000) + now.tv_nsec);
    freeReplyObject(reply);
    redisFree(server);
    return 0;
}
