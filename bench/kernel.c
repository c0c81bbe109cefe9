/*
 * kernel.c: what a worker that waits asks of the system: how often it wakes up, its processor time,
 * and its system calls, for each grant and for each second.
 *
 *     kernel [RATE [PROCESSES [WAITERS [SECONDS]]]]
 *
 * RATE: 200/s; with 1/h nobody is granted anything meanwhile, and what is left is what waiting
 * costs.  Every process keeps WAITERS acquires waiting over a fresh Redis server.  The first worker
 * is looked at: once from outside (/proc), and once more with ptrace, which counts its system calls
 * but wakes it up itself.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "bench.h"
#include "server.h"

#define WARM_UP_NS  2000000000
#define CALLS_MAX   512
#define PROCESS_MAX 64

typedef struct bench_counts {
    int64_t grants, store_calls, allocations; /* of the worker that is looked at, so far; shared */
} bench_counts;

typedef struct bench_look {
    bench_counts counts;
    int64_t wakeups, cpu_ns;
    int64_t calls[CALLS_MAX]; /* by the number of the system call */
} bench_look;

static const char *rate = "200/s";
static int processes = 4, waiters = 50, seconds = 5;
static bench_counts *counts;

/* ---- a worker ------------------------------------------------------------------------------- */

static takt_client *client;
static bench_counts *own; /* NULL: is not looked at */

static void granted(takt_permit *permit, int status)
{
    takt_request request = TAKT_REQUEST("bench");
    takt_stats stats;

    bench_must(status, "an acquire");
    if (own) {
        takt_get_stats(client, &stats);
        own->grants++;
        own->store_calls = stats.store_calls;
        own->allocations = bench_allocations();
    }
    takt_release(permit);
    bench_must(takt_acquire(client, permit, &request, granted), "takt_acquire");
}

static void work(void)
{
    takt_options options = {.store = bench_server()};
    takt_permit *permits = calloc((size_t)waiters, sizeof *permits);
    takt_request request = TAKT_REQUEST("bench");
    uv_loop_t loop;

    uv_loop_init(&loop);
    bench_must(takt_open(&client, &loop, bench_policy(rate, "1"), &options, NULL), "takt_open");
    for (int i = 0; i < waiters; i++)
        bench_must(takt_acquire(client, &permits[i], &request, granted), "takt_acquire");
    uv_run(&loop, UV_RUN_DEFAULT);
}

/* ---- what is seen of it ---------------------------------------------------------------------- */

static pid_t start(bool looked_at, bool traced)
{
    pid_t child = fork();

    if (child != 0)
        return child;
    own = looked_at ? counts : NULL;
    if (traced) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
    }
    work();
    _exit(1);
}

static int64_t wakeups_of(pid_t process)
{
    char line[128];
    int64_t times = -1;

    snprintf(line, sizeof line, "/proc/%d/status", (int)process);
    FILE *status = fopen(line, "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "voluntary_ctxt_switches: %" SCNd64, &times) == 1)
            break;
    bench_must(status && times >= 0 ? 0 : TAKT_E_SYSTEM, "/proc/PID/status");
    fclose(status);
    return times;
}

static int64_t cpu_ns_of(pid_t process)
{
    struct timespec used = {0};
    clockid_t clock;

    bench_must(clock_getcpuclockid(process, &clock) == 0 && clock_gettime(clock, &used) == 0
                   ? 0
                   : TAKT_E_SYSTEM,
               "processor time");
    return used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
}

static void take(bench_look *look, pid_t process, int64_t sign)
{
    look->counts.grants += sign * counts->grants;
    look->counts.store_calls += sign * counts->store_calls;
    look->counts.allocations += sign * counts->allocations;
    look->wakeups += sign * wakeups_of(process);
    look->cpu_ns += sign * cpu_ns_of(process);
}

static void look_from_outside(bench_look *look, pid_t process, int64_t from_ns, int64_t until_ns)
{
    while (bench_now_ns() < from_ns)
        usleep(1000);
    take(look, process, -1);
    while (bench_now_ns() < until_ns)
        usleep(1000);
    take(look, process, 1);
}

/* Stops at each system call; counts those that begin in the time that counts. */
static void look_inside(bench_look *look, pid_t process, int64_t from_ns, int64_t until_ns)
{
    struct __ptrace_syscall_info info;
    bool began = false;
    int status, signal = 0;

    waitpid(process, &status, 0);
    ptrace(PTRACE_SETOPTIONS, process, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
    while (bench_now_ns() < until_ns) {
        ptrace(PTRACE_SYSCALL, process, NULL, (void *)(intptr_t)signal);
        bench_must(waitpid(process, &status, 0) == process && WIFSTOPPED(status) ? 0
                                                                                 : TAKT_E_SYSTEM,
                   "the worker that is traced");
        signal = WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
        if (signal != 0 || bench_now_ns() < from_ns)
            continue;
        if (!began)
            take(look, process, -1);
        began = true;
        if (ptrace(PTRACE_GET_SYSCALL_INFO, process, (void *)sizeof info, &info) > 0 &&
            info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr < CALLS_MAX)
            look->calls[info.entry.nr]++;
    }
    take(look, process, 1);
}

static bench_look look_at(bool traced)
{
    bench_look look = {0};
    pid_t children[PROCESS_MAX];
    int64_t from_ns = bench_now_ns() + WARM_UP_NS, until_ns;

    from_ns += rate[strlen(rate) - 1] == 'h' ? WARM_UP_NS : 0;
    until_ns = from_ns + seconds * INT64_C(1000000000);
    bench_server_say("FLUSHALL");
    *counts = (bench_counts){0};
    for (int i = 0; i < processes; i++)
        children[i] = start(i == 0, traced && i == 0);
    if (traced)
        look_inside(&look, children[0], from_ns, until_ns);
    else
        look_from_outside(&look, children[0], from_ns, until_ns);
    for (int i = 0; i < processes; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    return look;
}

/* ---- what is told ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int number;
} known[] = {
    {"epoll_wait", SYS_epoll_wait},
    {"epoll_pwait", SYS_epoll_pwait},
    {"epoll_ctl", SYS_epoll_ctl},
    {"timerfd_settime", SYS_timerfd_settime},
    {"read", SYS_read},
    {"recvfrom", SYS_recvfrom},
    {"write", SYS_write},
    {"writev", SYS_writev},
    {"sendto", SYS_sendto},
    {"sendmsg", SYS_sendmsg},
};

static void tell(const bench_look *outside, const bench_look *inside)
{
    int64_t all = 0, named = 0;
    double grants = (double)inside->counts.grants, each = grants > 0 ? grants : seconds;

    for (int i = 0; i < CALLS_MAX; i++)
        all += inside->calls[i];
    printf("{\"bench\":\"kernel\",\"rate\":\"%s\",\"processes\":%d,\"waiters\":%d,\"seconds\":%d,"
           "\"grants\":%" PRId64 ",\"wakeups_per_second\":%.2f,\"processor_percent\":%.4f",
           rate, processes, waiters, seconds, outside->counts.grants,
           (double)outside->wakeups / seconds, (double)outside->cpu_ns / 1e7 / seconds);
    if (outside->counts.grants > 0)
        printf(",\"allocations_per_grant\":%.3f,\"store_calls_per_grant\":%.4f",
               (double)outside->counts.allocations / (double)outside->counts.grants,
               (double)outside->counts.store_calls / (double)outside->counts.grants);
    printf(",\"system_calls_per_%s\":{\"all\":%.3f", grants > 0 ? "grant" : "second",
           (double)all / each);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int64_t times = inside->calls[known[i].number];
        named += times;
        if (times > 0)
            printf(",\"%s\":%.3f", known[i].name, (double)times / each);
    }
    printf(",\"others\":%.3f}}\n", (double)(all - named) / each);
}

int main(int argc, char **argv)
{
    bench_look outside, inside;

    rate = argc > 1 ? argv[1] : rate;
    processes = argc > 2 ? atoi(argv[2]) : processes;
    waiters = argc > 3 ? atoi(argv[3]) : waiters;
    seconds = argc > 4 ? atoi(argv[4]) : seconds;
    if (processes < 1 || processes > PROCESS_MAX)
        return fputs("usage: kernel [RATE [PROCESSES [WAITERS [SECONDS]]]]\n", stderr), 64;
    bench_server();
    counts = bench_shared(sizeof *counts);
    outside = look_at(false);
    inside = look_at(true);
    tell(&outside, &inside);
    return 0;
}
