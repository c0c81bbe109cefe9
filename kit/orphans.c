/*
 * orphans.c: see orphans.h.
 */
#include "kit/orphans.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

void takt_orphans_adopt(void)
{
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
}

/* The parent of a process; 0: no such process. */
static pid_t parent_of(pid_t pid)
{
    char path[64];
    int parent = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    /* The name ends at the last closing bracket and may contain brackets. */
    for (int c, depth = 0; (c = getc(file)) != EOF;) {
        depth = c == ')' ? 1 : depth;
        if (depth && c == ')' && fscanf(file, " %*c %d", &parent) == 1)
            break;
    }
    fclose(file);
    return parent;
}

static int signal_one(pid_t pid, int number)
{
    return pid > 0 && getpgid(pid) == getpgrp() && kill(pid, number) == 0;
}

/* If the kernel does not list children, all processes are searched. */
static int signal_all_found(int number)
{
    DIR *folder = opendir("/proc");
    int count = 0;

    if (!folder)
        return 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 0 && parent_of(pid) == getpid())
            count += signal_one(pid, number);
    }
    closedir(folder);
    return count;
}

int takt_orphans_signal(int signal)
{
    char path[64];
    FILE *file;
    int count = 0, pid;

    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    file = fopen(path, "re");
    if (!file)
        return signal_all_found(signal);
    while (fscanf(file, "%d", &pid) == 1)
        count += signal_one(pid, signal);
    fclose(file);
    return count;
}
