/*
 * child.c: see child.h.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Our handlers are not to run in the child, not even before exec ends them. */
static void unhandle_signals(void)
{
    for (int number = 1; number < NSIG; number++) {
        struct sigaction found;
        if (sigaction(number, NULL, &found) == 0 && found.sa_handler != SIG_IGN)
            signal(number, SIG_DFL);
    }
}

/* In the child: does not return. */
static void become(char **command, const sigset_t *unblocked, int report)
{
    int failed;
    ssize_t written;

    unhandle_signals();
    pthread_sigmask(SIG_SETMASK, unblocked, NULL);
    execvp(command[0], command);
    failed = errno;
    written = write(report, &failed, sizeof failed);
    _exit(written == sizeof failed ? 127 : 126);
}

/* Why exec failed; 0: it did not, and the pipe is closed. */
static int read_report(int report)
{
    int failed = 0;
    ssize_t n;

    do
        n = read(report, &failed, sizeof failed);
    while (n < 0 && errno == EINTR);
    return n == sizeof failed ? failed : 0;
}

int takt_cli_start_child(char **command, pid_t *child)
{
    sigset_t all, before;
    int report[2], failed;

    if (pipe2(report, O_CLOEXEC) != 0)
        return errno;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    *child = fork();
    failed = errno;
    if (*child == 0)
        become(command, &before, report[1]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(report[1]);
    if (*child > 0) {
        failed = read_report(report[0]);
        if (failed)
            waitpid(*child, NULL, 0);
    }
    close(report[0]);
    return failed;
}
