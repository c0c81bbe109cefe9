/*
 * own_agent.c: see own_agent.h.
 */
#include "own_agent.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "server.h"

static pid_t starter, process;
static char path[80];

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void end(void)
{
    if (process == 0 || getpid() != starter)
        return;
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
    unlink(path);
}

/* -1: nobody listens there. */
static int try_connect(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        fail("socket");
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static void run(const char *name)
{
    const char *program = realpath(name, NULL); /* it runs in another folder */
    const char *arguments[] = {program, "--listen", path, "--store", bench_server(), NULL};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    unsetenv("TAKT_POLICY");
    if (!program || !freopen("/dev/null", "w", stderr) ||
        chdir(bench_directory()) != 0) /* no takt.yaml */
        _exit(127);
    execv(program, (char *const *)(size_t)arguments);
    _exit(127);
}

static void await_ready(const char *program)
{
    struct timespec moment = {0, 10000000};
    int fd;

    while ((fd = try_connect()) < 0) {
        if (waitpid(process, NULL, WNOHANG) != 0) {
            process = 0;
            fprintf(stderr, "%s does not serve; name the program takt-agent by its path\n",
                    program);
            exit(1);
        }
        nanosleep(&moment, NULL);
    }
    close(fd);
}

void bench_agent_start(const char *program)
{
    bench_server();
    snprintf(path, sizeof path, "%s/agent.sock", bench_directory());
    fflush(NULL);
    process = fork();
    if (process < 0)
        fail("fork");
    if (process == 0)
        run(program);
    starter = getpid();
    atexit(end);
    await_ready(program);
}

int64_t bench_agent_cpu_ns(void)
{
    struct timespec used;
    clockid_t clock;

    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) < 0)
        fail("the agent's processor time");
    return used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
}

int64_t bench_agent_memory_kb(void)
{
    char name[64], line[256];
    long long kb = -1;
    FILE *file;

    snprintf(name, sizeof name, "/proc/%d/status", (int)process);
    file = fopen(name, "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "VmRSS: %lld", &kb) != 1)
        ;
    if (!file || kb < 0)
        fail(name);
    fclose(file);
    return kb;
}

/* ---- clients --------------------------------------------------------------------------------- */

#define WORDS_MAX 8

static _Noreturn void stop(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

bench_client bench_agent_connect(void)
{
    bench_client client = {.fd = try_connect()};

    if (client.fd < 0)
        fail(path);
    return client;
}

void bench_client_close(bench_client *client)
{
    close(client->fd);
    free(client->out.bytes);
}

void bench_client_put(bench_client *client, const char *const *words)
{
    size_t sizes[WORDS_MAX];
    int count = 0;

    for (; words[count]; count++)
        sizes[count] = strlen(words[count]);
    if (!takt_resp_command(&client->out, count, words, sizes))
        bench_fail(TAKT_E_NOMEM, "a command");
}

void bench_client_send(bench_client *client)
{
    const char *at = client->out.bytes, *end = at + client->out.size;

    while (at < end) {
        ssize_t sent = write(client->fd, at, (size_t)(end - at));
        if (sent < 0)
            stop("the agent does not read");
        at += sent;
    }
    client->out.size = 0;
}

void bench_client_read(bench_client *client)
{
    char bytes[65536];
    const char *at = bytes, *end;
    ssize_t size = read(client->fd, bytes, sizeof bytes - 1);

    if (size <= 0)
        stop("the agent has closed a connection");
    bytes[size] = '\0';
    for (end = bytes + size; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!client->in_line && *at == '-')
            stop(at);
        client->answers += !client->in_line && *at == client->mark;
        client->lines += newline != NULL;
        client->in_line = newline == NULL;
        at = newline ? newline + 1 : end;
    }
}

void bench_client_do(bench_client *client, int answers)
{
    client->mark = '+';
    client->answers = 0;
    bench_client_send(client);
    while (client->answers < answers)
        bench_client_read(client);
    client->answers = client->lines = 0;
}
