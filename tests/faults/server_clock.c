/*
 * server_clock.c: see server_clock.h.
 */
#include "faults/server_clock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "faults/fleet.h"

_Atomic int64_t *server_clock_begin(const struct server *server)
{
    const char *shim = getenv("TAKT_CLOCK_SHIM");
    _Atomic int64_t *shift;
    char path[96];
    int fd;

    if (shim == NULL)
        fleet_fail("$TAKT_CLOCK_SHIM does not name the clock shim");
    snprintf(path, sizeof path, "%s/clock", server->directory);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *shift) < 0)
        fleet_fail("%s cannot be made", path);
    shift = mmap(NULL, sizeof *shift, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    setenv("LD_PRELOAD", shim, 1);
    setenv("TAKT_TEST_CLOCK", path, 1);
    return shift;
}

void server_clock_end(void)
{
    unsetenv("LD_PRELOAD");
}

int64_t server_clock_ahead_us(const struct server *server)
{
    const char *answer =
        server_say(server, "EVAL \"local t = redis.call('TIME') return t[1] * 1000000 + t[2]\" 0");
    int64_t now_us;

    if (sscanf(answer, ":%" SCNd64, &now_us) != 1)
        fleet_fail("TIME: %s", answer);
    return now_us - notes_wall_us();
}
