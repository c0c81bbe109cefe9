/*
 * program.c: `takt mail` runs the program takt-mail from takt's own folder or from $PATH, as git
 * does. Kinds of workers are programs of their own, and this makes them commands of takt.
 */
#include "program.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "kit/message.h"

#define PREFIX "takt-"

static bool is_program(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Looks into a folder; true: stop looking. */
typedef bool looker(const char *folder, const char *name, char *found, size_t found_size);

/* Looks for FOLDER/takt-NAME itself. */
static bool look_for_it(const char *folder, const char *name, char *found, size_t found_size)
{
    int length = snprintf(found, found_size, "%s/" PREFIX "%s", folder, name);

    return length > 0 && (size_t)length < found_size && is_program(found);
}

/* Looks for a takt-NAME with a similar name. */
static bool look_for_like(const char *folder, const char *name, char *found, size_t found_size)
{
    DIR *listed = opendir(folder);
    const struct dirent *entry;
    char path[PATH_MAX];
    takt_suggestion meant;
    bool is_like = false;

    while (listed && !is_like && (entry = readdir(listed)) != NULL) {
        const char *other = entry->d_name + strlen(PREFIX);
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        takt_suggest_begin(&meant, name);
        takt_suggest_offer(&meant, other);
        is_like = meant.best && look_for_it(folder, other, path, sizeof(path)) &&
                  (size_t)snprintf(found, found_size, "%s", other) < found_size;
    }
    if (listed)
        closedir(listed);
    return is_like;
}

static bool look_beside(looker *look, const char *name, char *found, size_t found_size)
{
    char own[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", own, sizeof(own) - 1);

    if (size <= 0)
        return false;
    own[size] = '\0';
    *strrchr(own, '/') = '\0';
    return look(own, name, found, found_size);
}

static bool look_in_path(looker *look, const char *name, char *found, size_t found_size)
{
    char folder[PATH_MAX];

    for (const char *at = getenv("PATH"); at && *at;) {
        size_t size = strcspn(at, ":");
        if (size > 0 && size < sizeof(folder)) {
            snprintf(folder, sizeof(folder), "%.*s", (int)size, at);
            if (look(folder, name, found, found_size))
                return true;
        }
        at += size + (at[size] == ':');
    }
    return false;
}

static bool look_everywhere(looker *look, const char *name, char *found, size_t found_size)
{
    return look_beside(look, name, found, found_size) ||
           look_in_path(look, name, found, found_size);
}

/* takt's own options come first, then the program's words. */
static char **words_of(int argc, char **argv, const takt_cli_settings *settings, char *path)
{
    char **words = calloc((size_t)argc + 5, sizeof(*words));
    int count = 0;

    if (!words)
        return NULL;
    words[count++] = path;
    if (settings->policy) {
        words[count++] = (char *)(uintptr_t) "--policy";
        words[count++] = (char *)(uintptr_t)settings->policy;
    }
    if (settings->store) {
        words[count++] = (char *)(uintptr_t) "--store";
        words[count++] = (char *)(uintptr_t)settings->store;
    }
    memcpy(words + count, argv + 1, (size_t)(argc - 1) * sizeof(*words));
    return words;
}

void takt_cli_become_program(int argc, char **argv, const takt_cli_settings *settings)
{
    char path[PATH_MAX];

    if (strchr(argv[0], '/') || !look_everywhere(look_for_it, argv[0], path, sizeof(path)))
        return;
    char **words = words_of(argc, argv, settings, path);
    if (words)
        execv(path, words);
    takt_message("cannot run %s: %s", path, strerror(errno));
    exit(EX_OSERR);
}

bool takt_cli_find_like(const char *name, char like[TAKT_CLI_PROGRAM_SIZE])
{
    return look_everywhere(look_for_like, name, like, TAKT_CLI_PROGRAM_SIZE);
}
