/*
 * names.h: the keys of a stream of jobs in Redis, the fields of its entries, and the text form of
 * an entry's id: what workers and the command `takt-jobs` must agree on.
 *
 *     takt:jobs:{NAME}         a stream; an entry's field `job` is the job's line
 *     takt:jobs:{NAME}:dead    a stream; `job` and the job's `id`, as far as they are known, the
 *                              `entry` that it was, and `why`
 *
 * A job that is done or dead is acknowledged and deleted, so the stream contains only jobs to be
 * done. The delivery count of an entry is one more than the number of attempts begun.
 */
#ifndef TAKT_WORKERS_STREAM_NAMES_H
#define TAKT_WORKERS_STREAM_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "redis/client.h"

#include "jobs/sources/source.h"

#define TAKT_STREAM_NAME_MAX   128 /* bytes of the name of a stream or a group */
#define TAKT_STREAM_KEY_SIZE   (TAKT_STREAM_NAME_MAX + 24)
#define TAKT_STREAM_ENTRY_SIZE 42 /* "18446744073709551615-18446744073709551615" with its NUL */

#define TAKT_STREAM_FIELD_JOB   "job"
#define TAKT_STREAM_FIELD_ID    "id"
#define TAKT_STREAM_FIELD_ENTRY "entry"
#define TAKT_STREAM_FIELD_WHY   "why"

#define TAKT_STREAM_GROUP "takt" /* the default group */

/* The consumer that owns entries given back, until a worker takes them over. */
#define TAKT_STREAM_NOBODY "given-back"

/* Checks a name: letters, digits and . _ - : / @. 0, or TAKT_E_INVALID and why; `what` is "stream"
 * or "group". */
int takt_stream_names_check(const char *name, const char *what, takt_error *error);

void takt_stream_names_key(char key[TAKT_STREAM_KEY_SIZE], const char *name);
void takt_stream_names_dead_key(char key[TAKT_STREAM_KEY_SIZE], const char *name);

/* Writes "1763692800000-0"; returns its length. */
size_t takt_stream_names_write_entry(char text[TAKT_STREAM_ENTRY_SIZE], takt_job_ref ref);

/* False: the value is not an entry's id. */
bool takt_stream_names_read_entry(const takt_reply *value, takt_job_ref *ref);

/* The value of an entry's field; `fields` is the array of fields and values. NULL: no such
 * field. */
const takt_reply *takt_stream_names_field(const takt_reply *fields, const char *name);

#endif
