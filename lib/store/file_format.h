/*
 * file_format.h: recognises a file of takt, and its version.
 */
#ifndef TAKT_STORE_FILE_FORMAT_H
#define TAKT_STORE_FILE_FORMAT_H

#include "store/file_env.h"

/* The record that identifies the file.  Its name begins with NUL, which no namespace does. */
#define TAKT_FILE_FORMAT_NAME "\0format"
#define TAKT_FILE_FORMAT_TEXT "takt 1"

/* Whether a file begins like an LMDB file: with a page header and the magic number. */
bool takt_file_has_magic(int fd);

/* Whether a file that LMDB cannot read was one of ours: it holds our mark, or only zeros (a power
 * cut leaves them for pages that had not reached the disk), or it is an LMDB file in the default
 * directory, where only takt puts files. */
bool takt_file_was_ours(int fd, bool is_default);

/* Fails with "this is not our file". */
int takt_file_not_ours(takt_error *error, const char *path);

/* Reads the format record, or writes it to an empty file.  Returns 0, a code of LMDB or of the
 * system (their ranges differ from ours), or one of takt/error.h with `error` filled. */
int takt_file_check_format(takt_file_env *env, takt_error *error);

#endif
