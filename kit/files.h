/*
 * Finds a file that a command line uses twice: results appended to the input would be read as
 * input, and a file that is rewritten would lose the other one's text. A file that is not regular
 * (a terminal, a pipe) may have several uses.
 */
#ifndef TAKT_KIT_FILES_H
#define TAKT_KIT_FILES_H

#include <limits.h>
#include <sys/types.h>

#include <takt/error.h>

typedef struct takt_used_file {
    const char *use; /* the option, for the message: "--results" */
    dev_t device;
    ino_t number;
    char name[NAME_MAX + 1]; /* of a file that does not exist yet; "" */
} takt_used_file;

/* Zeros at first. */
typedef struct takt_files {
    takt_error error; /* the first two uses of one file; code 0: there is none */
    takt_used_file known[8];
    int count;
} takt_files;

/* Adds a file by its path (NULL: none), or as an open file. */
void takt_files_add(takt_files *files, const char *use, const char *path);
void takt_files_add_open(takt_files *files, const char *use, int fd);

#endif
