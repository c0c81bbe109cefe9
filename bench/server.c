/*
 * server.c: see server.h.
 */
#include "server.h"

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

static pid_t starter, process;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void end(void)
{
    if (getpid() != starter)
        return;
    bench_server_kill(SIGKILL);
    unlink(bench_server_socket());
}

const char *bench_server_socket(void)
{
    static char path[80];

    if (path[0] == '\0')
        snprintf(path, sizeof path, "%s/redis.sock", bench_directory());
    return path;
}

static void run(int output)
{
    const char *program = getenv("REDIS_SERVER");
    const char *arguments[] = {program ? program : "redis-server",
                               "--port",
                               "0",
                               "--unixsocket",
                               bench_server_socket(),
                               "--save",
                               "",
                               "--appendonly",
                               "no",
                               "--dir",
                               bench_directory(),
                               NULL};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(output, 1);
    signal(SIGPIPE, SIG_IGN);
    execvp(arguments[0], (char *const *)(size_t)arguments);
    _exit(127);
}

static void await_ready(int output)
{
    FILE *lines = fdopen(output, "r");
    char line[512];

    while (lines != NULL && fgets(line, sizeof line, lines) != NULL)
        if (strstr(line, "eady to accept connections") != NULL)
            return; /* the end that we read stays open */
    fprintf(stderr, "no redis-server could be started (is it installed?)\n");
    exit(1);
}

const char *bench_server(void)
{
    static char url[96];
    int output[2];

    if (process != 0)
        return url;
    snprintf(url, sizeof url, "unix:%s", bench_server_socket());
    if (pipe(output) < 0)
        fail("pipe");
    fflush(NULL);
    process = fork();
    if (process < 0)
        fail("fork");
    if (process == 0)
        run(output[1]);
    close(output[1]);
    await_ready(output[0]);
    if (starter == 0)
        atexit(end);
    starter = getpid();
    return url;
}

void bench_server_kill(int signal)
{
    if (process == 0)
        return;
    kill(process, signal);
    if (signal != SIGKILL)
        return;
    waitpid(process, NULL, 0);
    process = 0;
}

int64_t bench_server_cpu_ns(void)
{
    struct timespec used;
    clockid_t clock;

    if (process == 0)
        return 0;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) < 0)
        fail("the server's processor time");
    return used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
}

const char *bench_server_say(const char *words)
{
    static char answer[65536];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char line[1024];
    size_t size = 0;
    ssize_t n;

    memcpy(address.sun_path, bench_server_socket(), strlen(bench_server_socket()) + 1);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
        fail("connect");
    n = snprintf(line, sizeof line, "%s\r\nQUIT\r\n", words);
    if (write(fd, line, (size_t)n) != n)
        fail("write");
    while ((n = read(fd, answer + size, sizeof answer - 1 - size)) > 0)
        size += (size_t)n;
    close(fd);
    answer[size] = '\0';
    return answer;
}

int64_t bench_server_info(const char *name)
{
    const char *at = bench_server_say("INFO everything");
    size_t size = strlen(name);

    while ((at = strstr(at, name)) != NULL) {
        if (at[-1] == '\n' && at[size] == ':')
            return strtoll(at + size + 1, NULL, 10);
        at += size;
    }
    fprintf(stderr, "the server tells no %s\n", name);
    exit(1);
}
