/*
 * notify.h: what a service manager is told by systemd's protocol (sd_notify(3)): datagrams to the
 * socket that $NOTIFY_SOCKET names.  Without one nothing is told.
 */
#ifndef TAKT_WORKERS_REPORT_NOTIFY_H
#define TAKT_WORKERS_REPORT_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/un.h>
#include <uv.h>

typedef struct takt_notify {
    int fd; /* -1: nobody wants to hear */
    struct sockaddr_un address;
    socklen_t address_size;
    uv_timer_t beat;
    bool beats;
} takt_notify;

/*
 * Reads the environment.  Where a watchdog waits for this process, the loop beats for it, twice as
 * often as need be: a loop that is stuck is noticed.  What is wrong with the environment is taken
 * for nobody being there, as sd_notify does.
 */
void takt_notify_open(takt_notify *notify, uv_loop_t *loop);

/* "READY=1", "STOPPING=1", "STATUS=..."; lost where nobody takes it at once. */
void takt_notify_tell(const takt_notify *notify, const char *text);

/* True: the beat is closed by the loop, and `closed` will be called then. */
bool takt_notify_close(takt_notify *notify, uv_close_cb closed);

/* How often to beat, by $WATCHDOG_USEC and $WATCHDOG_PID; 0: never. */
int64_t takt_notify_beat_us(const char *usec, const char *pid, long own_pid);

#endif
