/*
 * server.c: see server.h.
 */
#include "store/redis/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ftw.h>
#include <netdb.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS_MAX 96
#define PORTS_FIRST 20000 /* these are below those that systems give to outgoing connections */
#define PORTS       10000
#define PORTS_STEP  7919    /* tests that begin one after the other begin far from each other */
#define LOG_SIZE    1048576 /* what a ready server writes is not read: room for it */

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    abort();
}

/* Whether a socket could be bound there; claim: it then stays open, until the process ends. */
static bool bound(int family, const void *address, socklen_t size, bool claim)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_bound;

    must(fd >= 0, "socket");
    is_bound = bind(fd, address, size) == 0;
    if (!is_bound || !claim)
        close(fd);
    return is_bound;
}

int free_port(void)
{
    static unsigned tried;

    tried = tried == 0 ? (unsigned)getpid() : tried;
    for (int i = 0; i < PORTS; i++) {
        int port = PORTS_FIRST + (int)(tried++ * PORTS_STEP % PORTS);
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
        struct sockaddr_un name = {.sun_family = AF_UNIX};
        int length =
            snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "takt-test-port-%d", port);

        /* the claim comes first: no other test binds the port, not even for this moment, once it is
         * ours */
        if (bound(AF_UNIX, &name,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1) + (socklen_t)length,
                  true) &&
            bound(AF_INET, &address, sizeof address, false))
            return port;
    }
    fprintf(stderr, "no port from %d to %d is free\n", PORTS_FIRST, PORTS_FIRST + PORTS - 1);
    abort();
}

bool knows_localhost(void)
{
    struct addrinfo *found = NULL;
    bool known = getaddrinfo("localhost", NULL, NULL, &found) == 0;

    if (known)
        freeaddrinfo(found);
    return known;
}

/* Returns when the server reports that it is ready; false: it ended. */
static bool await_ready(int log)
{
    FILE *lines = fdopen(log, "r");
    char line[512];
    bool ready = false;

    must(lines != NULL, "fdopen");
    while (!ready && fgets(line, sizeof line, lines) != NULL) {
        ready = strstr(line, "eady to accept connections") != NULL;
        if (!ready && getenv("TAKT_TEST_LOG") != NULL)
            fputs(line, stderr);
    }
    /* the end that we read stays open: a server that writes on must not get a signal */
    return ready;
}

static void run(const struct server *server, const char *const *options, int log)
{
    char port[16], tls_port[16], bus[16];
    const char *program = getenv("REDIS_SERVER"); /* so that others, such as Valkey, can be tried */
    const char *arguments[OPTIONS_MAX] = {program ? program : "redis-server",
                                          "--port",
                                          port,
                                          "--unixsocket",
                                          server->socket,
                                          "--save",
                                          "",
                                          "--appendonly",
                                          "no",
                                          "--dir",
                                          server->directory,
                                          "--daemonize",
                                          "no",
                                          "--bind",
                                          "127.0.0.1",
                                          "--tls-port",
                                          tls_port};
    int count = 17;

    snprintf(port, sizeof port, "%d", server->port);
    snprintf(tls_port, sizeof tls_port, "%d", server->tls_port);
    snprintf(bus, sizeof bus, "%d", server->bus);
    if (server->tls_port == 0)
        count -= 2;
    if (server->has_bus) {
        arguments[count++] = "--cluster-port";
        arguments[count++] = bus;
    }
    while (*options != NULL && count < OPTIONS_MAX - 1)
        arguments[count++] = *options++;
    arguments[count] = NULL;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    must(chdir(server->directory) == 0 && dup2(log, 1) == 1 && dup2(log, 2) == 2, "redirect");
    signal(SIGPIPE, SIG_IGN);
    execvp(arguments[0], (char *const *)(size_t)arguments);
    _exit(127);
}

static bool start(struct server *server, const char *const *options)
{
    static const char *const none[] = {NULL};
    int log[2];

    must(pipe2(log, O_CLOEXEC) == 0, "pipe");
    (void)fcntl(log[0], F_SETPIPE_SZ, LOG_SIZE);
    fflush(NULL);
    server->process = fork();
    must(server->process >= 0, "fork");
    if (server->process == 0)
        run(server, options != NULL ? options : none, log[1]);
    close(log[1]);
    if (await_ready(log[0]))
        return true;
    waitpid(server->process, NULL, 0);
    server->process = 0;
    return false;
}

void server_directory(struct server *server)
{
    memset(server, 0, sizeof *server);
    strcpy(server->directory, "/tmp/takt-redis-XXXXXX");
    must(mkdtemp(server->directory) != NULL, "mkdtemp");
    snprintf(server->socket, sizeof server->socket, "%s/redis.sock", server->directory);
    snprintf(server->url, sizeof server->url, "unix:%s", server->socket);
}

void server_start(struct server *server, const char *const *options)
{
    server_directory(server);
    must(start(server, options), "redis-server (is it installed?)");
}

void server_start_tcp(struct server *server, bool tls, const char *const *options)
{
    const char *all[OPTIONS_MAX] = {"--tls-cert-file", "server.crt",         "--tls-key-file",
                                    "server.key",      "--tls-ca-cert-file", "ca.crt"};
    int count = tls ? 6 : 0;

    while (options != NULL && *options != NULL && count < OPTIONS_MAX - 1)
        all[count++] = *options++;
    all[count] = NULL;
    for (int tries = 0; tries < 10; tries++) { /* somebody else may be given the port meanwhile */
        server->port = free_port();
        server->tls_port = tls ? free_port() : 0;
        server->bus = server->has_bus ? free_port() : 0;
        if (start(server, all))
            return;
    }
    must(false, "redis-server with ports");
}

void server_kill(struct server *server, int signal)
{
    if (server->process == 0)
        return;
    kill(server->process, signal);
    kill(server->process, SIGCONT);
    waitpid(server->process, NULL, 0);
    server->process = 0;
}

void server_restart(struct server *server, const char *const *options)
{
    server_kill(server, SIGKILL);
    must(start(server, options), "redis-server again");
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *walk)
{
    (void)status;
    (void)flag;
    (void)walk;
    return remove(path);
}

void server_stop(struct server *server)
{
    server_kill(server, SIGKILL);
    nftw(server->directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *server_say(const struct server *server, const char *words)
{
    static char answer[65536];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char line[1024];
    size_t size = 0;
    ssize_t n;

    memcpy(address.sun_path, server->socket, strlen(server->socket) + 1);
    must(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    n = snprintf(line, sizeof line, "%s\r\nQUIT\r\n", words);
    must(write(fd, line, (size_t)n) == n, "write");
    while ((n = read(fd, answer + size, sizeof answer - 1 - size)) > 0)
        size += (size_t)n;
    close(fd);
    answer[size] = '\0';
    if (size >= 5 && strcmp(answer + size - 5, "+OK\r\n") == 0) /* QUIT's own */
        answer[size - 5] = '\0';
    return answer;
}
