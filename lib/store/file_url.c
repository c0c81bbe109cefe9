/*
 * file_url.c: see file_url.h.
 */
#include "store/file_url.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/quote.h"

#define FILE_NAME "ledgers.mdb"
#define LONGEST   (PATH_MAX - 64) /* leaves room for a suffix: "/ledgers.mdb.damaged-1-lock" */

int takt_file_fail(takt_error *error, int number, const char *what, const char *path)
{
    switch (number) {
    case EACCES:
    case EPERM:
    case EROFS:
        return takt_fail(
            error, TAKT_E_STORE_ACCESS,
            "%s %s: %s; give this user the right to read and write it and its directory, or name "
            "another file with file:PATH",
            what, path, strerror(number));
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return takt_fail(error, TAKT_E_STORE_SPACE,
                         "%s %s: %s; make room there, or name another file with file:PATH", what,
                         path, strerror(number));
    case ENOMEM:
        return takt_fail(error, TAKT_E_NOMEM, "%s %s: no memory", what, path);
    case ELOOP:
        return takt_fail(
            error, TAKT_E_STORE_ACCESS,
            "%s %s: it is a symbolic link; name the file that it points to with file:PATH", what,
            path);
    default:
        return takt_fail(error, TAKT_E_STORE, "%s %s: %s", what, path, strerror(number));
    }
}

/* Other programs write "file:/a/b" as "file:///a/b". */
static const char *skip_authority(const char *rest, takt_error *error)
{
    if (strncmp(rest, "//", 2) != 0)
        return rest;
    if (rest[2] == '/')
        return rest + 2;
    takt_fail(error, TAKT_E_STORE_URL,
              "a file store lies on this host: write file:PATH or file:///PATH");
    return NULL;
}

int takt_file_url_parse(takt_file_url *url, const char *rest, takt_error *error)
{
    const char *path = skip_authority(rest, error);
    size_t size = path ? strcspn(path, "?") : 0;
    const char *query = path ? path + size : NULL;
    char quoted[TAKT_QUOTE_SIZE];

    if (path == NULL)
        return TAKT_E_STORE_URL;
    if (*query != '\0' && strcmp(query, "?sync=always") != 0)
        return takt_fail(error, TAKT_E_STORE_URL,
                         "%s: the only option of a file store is \"?sync=always\"",
                         takt_quote(query, quoted));
    if (size > LONGEST)
        return takt_fail(error, TAKT_E_STORE_URL, "the path is longer than %d bytes", LONGEST);
    memcpy(url->path, path, size);
    url->path[size] = '\0';
    url->is_default = size == 0;
    url->sync = *query != '\0';
    return 0;
}

/* Returns a directory from the environment.  A relative one counts as not set, as in the XDG
 * specification. */
static const char *directory_in(const char *variable)
{
    const char *value = getenv(variable);

    return value != NULL && value[0] == '/' &&
                   strlen(value) <= LONGEST - sizeof "/.local/state/takt/" FILE_NAME
               ? value
               : NULL;
}

int takt_file_url_default(takt_file_url *url, takt_error *error)
{
    const char *state = directory_in("XDG_STATE_HOME"), *home = directory_in("HOME");

    if (state != NULL)
        snprintf(url->path, sizeof url->path, "%s/takt/" FILE_NAME, state);
    else if (home != NULL)
        snprintf(url->path, sizeof url->path, "%s/.local/state/takt/" FILE_NAME, home);
    else
        return takt_fail(
            error, TAKT_E_STORE_URL,
            "neither $XDG_STATE_HOME nor $HOME names a directory for the default store: set one of "
            "them, or name a store with file:PATH");
    url->is_default = true;
    url->sync = false;
    return 0;
}

/* Creates the directories above the file, accessible to this user only. */
static int make_directories(char *path, takt_error *error)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        int code = 0;
        *slash = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST) {
            int failed =
                errno; /* a read-only file system returns this even for existing directories */
            if (access(path, F_OK) < 0)
                code = takt_file_fail(error, failed, "cannot make the directory", path);
        }
        *slash = '/';
        if (code != 0)
            return code;
    }
    return 0;
}

/* Checks the directory of the default store.  No other user may replace what is in it, so it must
 * belong to this user, be no link, and be writable by this user only.  Root is no exception: the
 * owner of a directory controls the quota that is kept in it. */
static int check_own_directory(const char *directory, takt_error *error)
{
    struct stat status;

    if (lstat(directory, &status) < 0)
        return takt_file_fail(error, errno, "cannot look at the directory", directory);
    if (S_ISLNK(status.st_mode))
        return takt_fail(error, TAKT_E_STORE_ACCESS,
                         "the directory %s is a symbolic link: set XDG_STATE_HOME to the directory "
                         "above the one that it points to, or name a file with file:PATH",
                         directory);
    if (status.st_uid != geteuid())
        return takt_fail(error, TAKT_E_STORE_ACCESS,
                         "the directory %s belongs to another user: set XDG_STATE_HOME to a "
                         "directory of your own, or name a file with file:PATH",
                         directory);
    if (status.st_mode & (S_IWGRP | S_IWOTH))
        return takt_fail(error, TAKT_E_STORE_ACCESS,
                         "other users can write to the directory %s: run chmod go-w %s, or name a "
                         "file with file:PATH",
                         directory, directory);
    return 0;
}

/* If the path is a directory, the file is the one in it. */
static void enter_directory(char path[PATH_MAX])
{
    struct stat status;
    size_t size = strlen(path);

    if (path[size - 1] != '/' && (stat(path, &status) < 0 || !S_ISDIR(status.st_mode)))
        return;
    snprintf(path + size, PATH_MAX - size, "%s" FILE_NAME, path[size - 1] == '/' ? "" : "/");
}

/* Replaces the directory part of the path by its real name.  The file itself need not exist. */
static int resolve_directory(char path[PATH_MAX], takt_error *error)
{
    char directory[PATH_MAX], resolved[PATH_MAX], name[NAME_MAX + 1];
    const char *slash = strrchr(path, '/');
    size_t size = slash ? (size_t)(slash - path) : 0;
    const char *file = slash ? slash + 1 : path;

    if (strlen(file) > NAME_MAX - sizeof ".damaged-1000-lock")
        return takt_fail(error, TAKT_E_STORE_URL, "the file's name in %s is too long", path);
    memcpy(name, file, strlen(file) + 1);
    memcpy(directory, slash == path ? "/" : slash ? path : ".", slash == path || !slash ? 1 : size);
    directory[slash == path || !slash ? 1 : size] = '\0';
    if (realpath(directory, resolved) == NULL) {
        if (errno == ENOENT || errno == ENOTDIR)
            return takt_fail(
                error, TAKT_E_STORE_ACCESS,
                "there is no directory %s for the store's file: make it first (mkdir -p), or name "
                "another file with file:PATH",
                directory);
        return takt_file_fail(error, errno, "cannot reach the directory", directory);
    }
    if (strlen(resolved) + 1 + strlen(name) > LONGEST)
        return takt_fail(error, TAKT_E_STORE_URL, "the path %s is longer than %d bytes", path,
                         LONGEST);
    size = strcmp(resolved, "/") == 0 ? 0 : strlen(resolved);
    memcpy(path, resolved, size);
    path[size] = '/';
    memcpy(path + size + 1, name, strlen(name) + 1);
    return 0;
}

/* Follows one link, which the user may have made on purpose: LMDB names its lock file after the
 * path, and a file with two names would have two locks. */
static int follow_link(char path[PATH_MAX], takt_error *error)
{
    struct stat status;
    char target[PATH_MAX];

    if (lstat(path, &status) < 0 || !S_ISLNK(status.st_mode))
        return 0;
    if (realpath(path, target) == NULL)
        return takt_file_fail(error, errno, "cannot follow the link", path);
    if (strlen(target) > LONGEST)
        return takt_fail(error, TAKT_E_STORE_URL, "the path %s is longer than %d bytes", target,
                         LONGEST);
    memcpy(path, target, strlen(target) + 1);
    return 0;
}

/* Checks the file's directory, by its name before links are followed. */
static int check_default(char *path, takt_error *error)
{
    char *slash = strrchr(path, '/');
    int code;

    *slash = '\0';
    code = check_own_directory(path, error);
    *slash = '/';
    return code;
}

int takt_file_url_resolve(takt_file_url *url, takt_error *error)
{
    bool sync = url->sync;
    int code = 0;

    if (url->is_default) {
        code = takt_file_url_default(url, error);
        url->sync = sync;
        if (code == 0)
            code = make_directories(url->path, error);
        if (code == 0)
            code = check_default(url->path, error);
    } else {
        enter_directory(url->path);
    }
    if (code == 0)
        code = resolve_directory(url->path, error);
    if (code == 0 && !url->is_default)
        code = follow_link(url->path, error);
    return code;
}
