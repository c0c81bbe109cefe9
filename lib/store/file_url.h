/*
 * file_url.h: which file a "file:" URL names.  Decides on paths and directories; the file itself
 * is opened by file_open.c.
 */
#ifndef TAKT_STORE_FILE_URL_H
#define TAKT_STORE_FILE_URL_H

#include <limits.h>
#include <stdbool.h>

#include <takt/error.h>

typedef struct takt_file_url {
    char path[PATH_MAX]; /* as written; after takt_file_url_resolve absolute, its directory without
                            symbolic links */
    bool is_default;     /* nobody named it: its directory is made, and it must be our own */
    bool sync;           /* every award is on disk before it is told */
} takt_file_url;

/* Reads what follows "file:".  0 or TAKT_E_STORE_URL. */
int takt_file_url_parse(takt_file_url *url, const char *rest, takt_error *error);

/* The file that is used when nobody names one.  TAKT_E_STORE_URL where the environment does not
 * say. */
int takt_file_url_default(takt_file_url *url, takt_error *error);

/* Goes to look: fills in the default, makes its directory, finds the file in a directory, follows
 * links. */
int takt_file_url_resolve(takt_file_url *url, takt_error *error);

/* The code that a system's error number means for a store, and a sentence about `path` with what to
 * do. */
int takt_file_fail(takt_error *error, int number, const char *what, const char *path);

#endif
