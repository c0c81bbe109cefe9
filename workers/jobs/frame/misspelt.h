/*
 * misspelt.h: fields of jobs that are probably misspelt. A job may have fields of its own, so one
 * of an unknown name is no error; but "kye" means that the job runs without its key.
 */
#ifndef TAKT_WORKERS_FRAME_MISSPELT_H
#define TAKT_WORKERS_FRAME_MISSPELT_H

#include <jansson.h>

/* The optional field of all jobs that `name` is probably meant to be: it differs in one letter or
 * swaps two, and begins alike ("host" is not "cost"). NULL: none. */
const char *takt_misspelt_meant(const char *name);

/* Writes a message about each probably misspelt field of a job that lacks the right one; once for
 * each name, and about at most 16 names. `told` keeps the names; NULL at first, the caller's to
 * decref. */
void takt_misspelt_tell(json_t **told, json_t *fields, const char *id);

#endif
