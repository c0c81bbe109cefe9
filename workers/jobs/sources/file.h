/*
 * file.h: what the parts of a source of lines share: reading lines (file.c) and reading them again
 * (file_fetch.c).
 *
 * A reference has the offset of a line in 40 bits and its sum in the other 24, so that a changed
 * line is noticed when the line is read again or ends.
 */
#ifndef TAKT_WORKERS_SOURCES_FILE_H
#define TAKT_WORKERS_SOURCES_FILE_H

#include "kit/lines.h"
#include "refs.h"
#include "source.h"
#include "state_file.h"

#define OFFSET_BITS 40
#define OFFSET_MASK ((UINT64_C(1) << OFFSET_BITS) - 1)
#define RETRY_MS    1000 /* until a failed read or write is tried again */

/* Reads texts that were put away (file_fetch.c). */
typedef struct takt_job_file_fetch {
    takt_job_refs requested;
    bool busy;
    uv_fs_t request;
    char *window; /* the part of the file that was read again last */
    size_t window_capacity, window_size;
    uint64_t window_offset;
    int spool; /* keeps texts that cannot be read again; -1: none */
    uint64_t spool_size, spool_count;
} takt_job_file_fetch;

typedef struct takt_job_file {
    takt_job_source source;
    uv_loop_t *loop;
    const char *path; /* for messages */
    bool alone;       /* only files that the user named are written */
    const takt_job_source_events *events;
    void *data;
    takt_lines lines;
    takt_state_file state;
    takt_append dead;
    unsigned wanted;
    takt_job_file_fetch fetch;
    int failing;  /* errno of the failed write of the state; 0: none */
    bool held_up; /* a write has failed, and the worker was not told yet that it can go on */
    bool has_ended, told_failing, stopped, closing;
    uv_timer_t soon;
    uv_timer_cb on_soon;
} takt_job_file;

static inline takt_job_ref takt_job_file_ref(uint64_t line, uint64_t offset, uint32_t sum)
{
    return (takt_job_ref){line, (uint64_t)sum << OFFSET_BITS | (offset & OFFSET_MASK)};
}

static inline uint32_t takt_job_file_sum(takt_job_ref ref)
{
    return (uint32_t)(ref.minor >> OFFSET_BITS);
}

/* ---- file_tell.c ----------------------------------------------------------------------------- */

/* Events are never reported inside a call, but soon after it. */
void takt_job_file_tell_soon(takt_job_file *file, uint64_t after_ms);

void takt_job_file_tell_fail(takt_job_file *file, const char *text); /* for good */
void takt_job_file_tell_change(takt_job_file *file, uint64_t line);  /* the line has changed */

/* ---- file_fetch.c ---------------------------------------------------------------------------- */

void takt_job_file_fetch_serve(takt_job_file *file);
void takt_job_file_fetch_put(takt_job_source *source, takt_job_ref ref);
bool takt_job_file_fetch_put_away(takt_job_source *source, takt_job_ref *ref, const char *text,
                                  size_t size);

/* Frees its memory; no read may be under way. */
void takt_job_file_fetch_free(takt_job_file_fetch *fetch);

#endif
