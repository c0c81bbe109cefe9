/*
 * file_url.h: the file that a "file:" URL names.  It handles paths and directories; file_open.c
 * opens the file.
 */
#ifndef TAKT_STORE_FILE_URL_H
#define TAKT_STORE_FILE_URL_H

#include <limits.h>
#include <stdbool.h>

#include <takt/error.h>

typedef struct takt_file_url {
    char path[PATH_MAX]; /* as written; after takt_file_url_resolve absolute, its directory without
                            symbolic links */
    bool is_default; /* no path was given: its directory is created, and must belong to this user */
    bool sync;       /* every award is on disk before it is answered */
} takt_file_url;

/* Reads the text after "file:".  Returns 0 or TAKT_E_STORE_URL. */
int takt_file_url_parse(takt_file_url *url, const char *rest, takt_error *error);

/* The file for an empty path.  TAKT_E_STORE_URL if the environment does not define it. */
int takt_file_url_default(takt_file_url *url, takt_error *error);

/* Looks at the file system: sets the default path and creates its directory, finds the file in a
 * directory, follows links. */
int takt_file_url_resolve(takt_file_url *url, takt_error *error);

/* Returns the store's code for a system error number, with a message about `path` that says what to
 * do. */
int takt_file_fail(takt_error *error, int number, const char *what, const char *path);

#endif
