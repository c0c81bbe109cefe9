/*
 * notify.c: speaks the protocol without libsystemd: it is stable and needs one datagram per
 * message.
 */
#include "kit/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The number, if the text is a number and nothing else; else -1. */
static int64_t read_number(const char *text)
{
    char *end;

    if (*text < '0' || *text > '9')
        return -1;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    return *end || errno ? -1 : number;
}

int64_t takt_notify_beat_us(const char *usec, const char *pid, long own_pid)
{
    int64_t number = usec ? read_number(usec) : -1;

    if (number <= 0 || (pid && read_number(pid) != own_pid))
        return 0;
    return number / 2;
}

static bool read_address(takt_notify *notify, const char *path)
{
    size_t size = path ? strlen(path) : 0;

    if (size < 2 || size >= sizeof(notify->address.sun_path) || (*path != '/' && *path != '@'))
        return false;
    notify->address.sun_family = AF_UNIX;
    memcpy(notify->address.sun_path, path, size);
    if (*path == '@') /* an abstract name begins with NUL and ends without one */
        notify->address.sun_path[0] = '\0';
    notify->address_size =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size + (*path == '/'));
    return true;
}

static void on_beat(uv_timer_t *timer)
{
    takt_notify_tell(timer->data, "WATCHDOG=1");
}

void takt_notify_open(takt_notify *notify, uv_loop_t *loop)
{
    *notify = (takt_notify){.fd = -1};
    if (!read_address(notify, getenv("NOTIFY_SOCKET")))
        return;
    notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int64_t beat_us =
        takt_notify_beat_us(getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"), (long)getpid());
    if (notify->fd < 0 || beat_us == 0)
        return;
    uint64_t beat_ms = beat_us < 1000 ? 1 : (uint64_t)beat_us / 1000;
    uv_timer_init(loop, &notify->beat);
    notify->beat.data = notify;
    notify->beats = true;
    uv_timer_start(&notify->beat, on_beat, 0, beat_ms);
    uv_unref((uv_handle_t *)&notify->beat);
}

void takt_notify_tell(const takt_notify *notify, const char *text)
{
    if (notify->fd >= 0)
        (void)sendto(notify->fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL,
                     (const struct sockaddr *)&notify->address, notify->address_size);
}

bool takt_notify_close(takt_notify *notify, uv_close_cb closed)
{
    bool beats = notify->beats;

    if (notify->fd >= 0)
        close(notify->fd);
    notify->fd = -1;
    if (beats)
        uv_close((uv_handle_t *)&notify->beat, closed);
    notify->beats = false;
    return beats;
}
