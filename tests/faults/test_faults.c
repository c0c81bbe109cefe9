/*
 * test_faults.c: real workers on a real server, and everything that may befall the two; in each
 * case no rule may be broken, no waiter lost, and work must go on.
 *
 *     test_faults [NAME...]    only the faults whose names begin with one of these
 *
 * It prints TAP, with the figures of each fault as JSON lines in comments.  $TAKT_FAULTS_JOBS is
 * how many faults befall fleets of their own at the same time, $TAKT_FAULTS_PERCENT how much of
 * each is done; below 100 the heavy ones only run by name.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults/faults.h"

#define FAULTS_MAX 64

static struct fault faults[FAULTS_MAX];
static pid_t processes[FAULTS_MAX];
static int count, told, failures;

static bool is_chosen(const char *name, char **chosen)
{
    if (*chosen == NULL)
        return true;
    for (; *chosen != NULL; chosen++)
        if (strncmp(name, *chosen, strlen(*chosen)) == 0)
            return true;
    return false;
}

static void choose(const struct fault *list, char **chosen)
{
    for (; list->name != NULL; list++)
        if (is_chosen(list->name, chosen) && count < FAULTS_MAX)
            faults[count++] = *list;
}

static void start(int index)
{
    struct fleet *fleet;

    fflush(NULL);
    processes[index] = fork();
    if (processes[index] < 0)
        abort();
    if (processes[index] > 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    fleet = fleet_open();
    faults[index].run(fleet, faults[index].name);
    exit(0);
}

static void tell(bool passed, const char *name)
{
    printf("%s %d - %s\n", passed ? "ok" : "not ok", ++told, name);
    fflush(stdout);
    failures += !passed;
}

static void await_one(void)
{
    int status;
    pid_t ended = wait(&status);

    for (int i = 0; i < count; i++)
        if (processes[i] == ended)
            tell(status == 0, faults[i].name);
}

static void tell_totals(void)
{
    printf("# {\"faults\":%d,\"grants\":%lld,\"store_calls\":%lld}\n", count,
           atomic_load(&totals->grants), atomic_load(&totals->calls));
}

int main(int argc, char **argv)
{
    const char *jobs_text = getenv("TAKT_FAULTS_JOBS"), *percent = getenv("TAKT_FAULTS_PERCENT");
    int jobs = jobs_text != NULL ? atoi(jobs_text) : 3;
    int running = 0;

    totals = mmap(NULL, sizeof *totals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    choose(server_faults, argv + 1);
    choose(connection_faults, argv + 1);
    choose(clock_faults, argv + 1);
    choose(cluster_faults, argv + 1);
    if (percent == NULL || atoi(percent) >= 100 || argc > 1)
        choose(heavy_faults, argv + 1);
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        for (; running >= jobs; running--)
            await_one();
        start(i);
        running++;
    }
    for (; running > 0; running--)
        await_one();
    tell_totals();
    return failures > 0;
}
