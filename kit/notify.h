/*
 * notify.h: reports to a service manager by systemd's protocol (sd_notify(3)): datagrams to the
 * socket in $NOTIFY_SOCKET. Without that variable nothing is sent.
 */
#ifndef TAKT_KIT_NOTIFY_H
#define TAKT_KIT_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/un.h>
#include <uv.h>

typedef struct takt_notify {
    int fd; /* -1: no service manager */
    struct sockaddr_un address;
    socklen_t address_size;
    uv_timer_t beat;
    bool beats;
} takt_notify;

/*
 * Reads the environment. If a watchdog expects this process, a timer of the loop sends beats at
 * twice the required rate, so that the watchdog notices a stuck loop. A wrong environment counts as
 * no service manager, as in sd_notify.
 */
void takt_notify_open(takt_notify *notify, uv_loop_t *loop);

/* Sends "READY=1", "STOPPING=1" or "STATUS=..."; a datagram that cannot be sent at once is lost. */
void takt_notify_tell(const takt_notify *notify, const char *text);

/* True: the loop closes the timer and then calls `closed`. */
bool takt_notify_close(takt_notify *notify, uv_close_cb closed);

/* The time between beats, by $WATCHDOG_USEC and $WATCHDOG_PID; 0: no beats. */
int64_t takt_notify_beat_us(const char *usec, const char *pid, long own_pid);

#endif
