/*
 * child.c: see child.h.
 */
#include "kit/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/environment.h"

/* The child must not run our handlers in the time before exec removes them. */
static void unhandle_signals(bool also_ignored)
{
    for (int number = 1; number < NSIG; number++) {
        struct sigaction found;
        if (sigaction(number, NULL, &found) == 0 && (also_ignored || found.sa_handler != SIG_IGN))
            signal(number, SIG_DFL);
    }
}

/* Programs that write to a terminal or a pipe expect a blocking write. */
static void wait_for_writes(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags >= 0 && (flags & O_NONBLOCK))
        fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

/* Starts a session of its own, with /dev/null as input. False with errno set. */
static bool go_apart(void)
{
    int empty = open("/dev/null", O_RDONLY);

    if (empty < 0 || dup2(empty, STDIN_FILENO) < 0)
        return false;
    if (empty > STDERR_FILENO)
        close(empty);
    wait_for_writes(STDOUT_FILENO);
    wait_for_writes(STDERR_FILENO);
    return setsid() > 0;
}

/* Runs in the child; does not return. */
static void become(char **command, char **environment, bool apart, const sigset_t *blocked,
                   int report)
{
    int failed;
    ssize_t written;

    unhandle_signals(apart);
    if (!apart || go_apart()) {
        pthread_sigmask(SIG_SETMASK, blocked, NULL);
        execvpe(command[0], command, environment);
    }
    failed = errno;
    written = write(report, &failed, sizeof failed);
    _exit(written == sizeof failed ? 127 : 126);
}

/* The errno of exec; 0: exec has succeeded and closed the pipe. */
static int read_report(int report)
{
    int failed = 0;
    ssize_t n;

    do
        n = read(report, &failed, sizeof failed);
    while (n < 0 && errno == EINTR);
    return n == sizeof failed ? failed : 0;
}

static int start(char **command, bool apart, pid_t *child)
{
    sigset_t all, none, before;
    int report[2], failed;

    char **environment = takt_environment_for_commands();
    if (!environment)
        return ENOMEM;
    if (pipe2(report, O_CLOEXEC) != 0) {
        failed = errno;
        free(environment);
        return failed;
    }
    sigfillset(&all);
    sigemptyset(&none);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    *child = fork();
    failed = errno;
    if (*child == 0)
        become(command, environment, apart, apart ? &none : &before, report[1]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(environment);
    close(report[1]);
    if (*child > 0) {
        failed = read_report(report[0]);
        if (failed)
            waitpid(*child, NULL, 0);
    }
    close(report[0]);
    return failed;
}

int takt_child_start(char **command, pid_t *child)
{
    return start(command, false, child);
}

int takt_child_start_apart(char **command, pid_t *child)
{
    return start(command, true, child);
}
