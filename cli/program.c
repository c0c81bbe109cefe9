/*
 * program.c: `takt mail` is the program takt-mail, which lies beside takt or in $PATH, as git has
 * it: kinds of workers come as programs of their own, and are found under one name.
 */
#include "program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "message.h"

static bool is_program(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* FOLDER/takt-NAME. */
static bool find_in(const char *folder, size_t size, const char *name, char path[PATH_MAX])
{
    int length = snprintf(path, PATH_MAX, "%.*s/takt-%s", (int)size, folder, name);

    return length < PATH_MAX && is_program(path);
}

static bool find_beside(const char *name, char path[PATH_MAX])
{
    char own[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", own, sizeof(own) - 1);

    if (size <= 0)
        return false;
    own[size] = '\0';
    return find_in(own, (size_t)(strrchr(own, '/') - own), name, path);
}

static bool find_in_path(const char *name, char path[PATH_MAX])
{
    for (const char *at = getenv("PATH"); at && *at;) {
        size_t size = strcspn(at, ":");
        if (size > 0 && find_in(at, size, name, path))
            return true;
        at += size + (at[size] == ':');
    }
    return false;
}

/* takt's own options come first, the program's words after them. */
static char **words_of(int argc, char **argv, const cli_settings *settings, char *path)
{
    char **words = calloc((size_t)argc + 5, sizeof(*words));
    int count = 0;

    if (!words)
        return NULL;
    words[count++] = path;
    if (settings->policy) {
        words[count++] = strdup("--policy");
        words[count++] = strdup(settings->policy);
    }
    if (settings->store) {
        words[count++] = strdup("--store");
        words[count++] = strdup(settings->store);
    }
    memcpy(words + count, argv + 1, (size_t)(argc - 1) * sizeof(*words));
    return words;
}

void takt_cli_become_program(int argc, char **argv, const cli_settings *settings)
{
    char path[PATH_MAX];

    if (strchr(argv[0], '/') || (!find_beside(argv[0], path) && !find_in_path(argv[0], path)))
        return;
    char **words = words_of(argc, argv, settings, path);
    if (words)
        execv(path, words);
    takt_cli_say("cannot run %s: %s", path, strerror(errno));
    exit(EX_OSERR);
}
