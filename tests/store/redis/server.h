/*
 * server.h: a Redis server of a test's own, on a socket in a scratch directory and, if asked for,
 * on ports of the loopback.  It dies with the test, however that ends.
 */
#ifndef TAKT_TESTS_STORE_REDIS_SERVER_H
#define TAKT_TESTS_STORE_REDIS_SERVER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct server {
    pid_t process;
    char directory[64];
    char socket[96];
    char url[160]; /* by the socket */
    int port;      /* plain; 0: none */
    int bus;       /* of a node of a cluster, to the others; 0: none */
    bool has_bus;  /* it is one */
    int tls_port;  /* 0: none */
};

/* Starts a server with these options behind ours (NULL at the end), and returns when it takes
 * connections. */
void server_start(struct server *server, const char *const *options);

/* The same with ports; tls: server.crt, server.key and ca.crt lie in server->directory, which
 * server_directory has made. */
void server_directory(struct server *server);
void server_start_tcp(struct server *server, bool tls, const char *const *options);

/* Stops it with a signal and waits for its end; server_restart starts it again at the same place.
 */
void server_kill(struct server *server, int signal);
void server_restart(struct server *server, const char *const *options);

/* Ends it and removes its directory. */
void server_stop(struct server *server);

/* Sends a line of words on a connection of its own, and returns the raw answer (static memory). */
const char *server_say(const struct server *server, const char *words);

/*
 * A free port for a server, for as long as this process runs: the tests that run beside it, in Python as well, claim
 * theirs by the name of an abstract socket, and no outgoing connection gets one of these ports.
 */
int free_port(void);

/* Whether this host knows the name localhost: one that is only a folder, for chroot, need not. */
bool knows_localhost(void);
#define NO_LOCALHOST "localhost is not known here: put \"127.0.0.1 localhost\" into /etc/hosts"

#endif
