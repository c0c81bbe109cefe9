/*
 * proxy.h: a proxy between workers and their server. It delays messages, splits them, cuts
 * connections in the middle of an answer, freezes, and records when each client connects. It is a
 * process of its own, which ends with its parent.
 */
#ifndef TAKT_TESTS_FAULTS_PROXY_H
#define TAKT_TESTS_FAULTS_PROXY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROXY_NOTES_MAX 100000

/* Set at any time; proxy_change sends them to the proxy. */
struct proxy_settings {
    char target[108]; /* the server's socket, or the port of the loopback where it is a number */
    int delay_us;     /* added to each way */
    int slice;        /* at most so many bytes are handed on at once; 0: as they come */
    int cut_within;   /* a connection is cut after a random number of answered bytes up to that; 0:
                         never */
    bool frozen;      /* passes no bytes on; connections stay open */
    int cuts_all;     /* changed: every connection is cut now */
};

struct proxy_shared {
    struct proxy_settings settings;
    atomic_int accepted; /* connections so far */
    atomic_int cuts;     /* by cut_within */
    int64_t accepted_at_us[PROXY_NOTES_MAX];
};

struct proxy {
    pid_t process;
    int port;    /* of the loopback */
    int control; /* a pipe's end */
    char url[64];
    struct proxy_shared *shared;
};

void proxy_start(struct proxy *proxy, const char *target);
void proxy_change(struct proxy *proxy);
void proxy_cut_all(struct proxy *proxy);
void proxy_stop(struct proxy *proxy);

#endif
