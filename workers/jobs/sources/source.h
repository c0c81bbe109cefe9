/*
 * source.h: where jobs come from, and where their ends are recorded: a file of lines or standard
 * input (file.c), or a Redis stream (stream/stream.c).
 *
 * Delivery is at least once: a job that was taken and did not end comes again, to the next run or
 * to another worker. A source knows no limits: it hands out texts with references, and the reader
 * reports the end of each job by its reference. A job that has to wait long may be put away: the
 * reader keeps only the reference, and asks for the text again when it has room.
 */
#ifndef TAKT_WORKERS_SOURCES_SOURCE_H
#define TAKT_WORKERS_SOURCES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>
#include <uv.h>

#include <takt/error.h>

/* A line's number (from 1) and its offset in the file; or a stream's entry ("major-minor"). */
typedef struct takt_job_ref {
    uint64_t major, minor;
} takt_job_ref;

#define TAKT_JOB_SOURCE_REF_SIZE 48
#define TAKT_JOB_SOURCE_TEXT_MAX (1024 * 1024) /* bytes of a job's line */

typedef struct takt_job_source takt_job_source;

/* Called by a source, on the loop's thread, never inside a function of this file. */
typedef struct takt_job_source_events {
    /* A job. `text` is valid during the call; NULL: the entry cannot be a job, and `why` says so.
     * `attempts` counts earlier attempts, by any worker, that began and did not end. `put_away`:
     * the text was asked for by takt_job_source_fetch. */
    void (*took)(void *data, takt_job_ref ref, const char *text, size_t size, unsigned attempts,
                 bool put_away, const char *why);
    /* Another worker has taken the job, because this worker was silent for too long; or somebody
     * has removed it. The job no longer belongs to this worker. */
    void (*lost)(void *data, takt_job_ref ref);
    /* No more jobs will come. Jobs that were taken may still end. */
    void (*ended)(void *data);
    /* The number of jobs in all, as far as known. */
    void (*total)(void *data, uint64_t jobs, bool exact);
    /* The source cannot be read or written. `fatal`: for ever; otherwise it recovers by itself and
     * calls recovered(). */
    void (*failed)(void *data, bool fatal, const char *text);
    void (*recovered)(void *data);
    /* The begin of some jobs is recorded by now (takt_job_source_is_noted). */
    void (*noted)(void *data);
    /* After takt_job_source_close: the source is freed, and everything reported to it is
     * recorded. */
    void (*closed)(void *data);
} takt_job_source_events;

/* What each kind of source implements; the functions below call it. */
typedef struct takt_job_source_calls {
    void (*want)(takt_job_source *source, unsigned count);
    void (*fetch)(takt_job_source *source, takt_job_ref ref);
    bool (*put_away)(takt_job_source *source, takt_job_ref *ref, const char *text,
                     size_t size);                                               /* may be NULL */
    void (*begun)(takt_job_source *source, takt_job_ref ref, unsigned attempts); /* may be NULL */
    bool (*flush)(takt_job_source *source);                                      /* may be NULL */
    bool (*is_noted)(takt_job_source *source, takt_job_ref ref);                 /* may be NULL */
    void (*done)(takt_job_source *source, takt_job_ref ref);
    void (*tried)(takt_job_source *source, takt_job_ref ref, unsigned attempts);
    void (*dead)(takt_job_source *source, takt_job_ref ref, const char *text, size_t size,
                 const char *id, const char *why);
    void (*give_back)(takt_job_source *source, takt_job_ref ref);
    void (*close)(takt_job_source *source);
    void (*name)(const takt_job_source *source, takt_job_ref ref,
                 char text[TAKT_JOB_SOURCE_REF_SIZE]);
} takt_job_source_calls;

struct takt_job_source {
    const takt_job_source_calls *calls;
};

/* The reader has room for `count` more jobs; replaces the last number. 0: no room for now. */
static inline void takt_job_source_want(takt_job_source *source, unsigned count)
{
    source->calls->want(source, count);
}

/* Asks for the text of a job again: took() or lost() follows. */
static inline void takt_job_source_fetch(takt_job_source *source, takt_job_ref ref)
{
    source->calls->fetch(source, ref);
}

/* Puts away a job that was just taken: the reader keeps only the reference and fetches the text
 * later. The source may set the reference, and keeps the text if it cannot be read again. False: no
 * room; the reader must keep the text. */
static inline bool takt_job_source_put_away(takt_job_source *source, takt_job_ref *ref,
                                            const char *text, size_t size)
{
    return !source->calls->put_away || source->calls->put_away(source, ref, text, size);
}

/* The job is about to start for the n-th time. flush(), which is called before the start, records
 * this, so that a job that kills its worker is found. */
static inline void takt_job_source_begun(takt_job_source *source, takt_job_ref ref,
                                         unsigned attempts)
{
    if (source->calls->begun)
        source->calls->begun(source, ref, attempts);
}

/* Called once per turn of the loop to record what was reported. False: recording fails, as failed()
 * reports; no job starts until it works. */
static inline bool takt_job_source_flush(takt_job_source *source)
{
    return !source->calls->flush || source->calls->flush(source);
}

/* After a flush: whether the begin of the job is recorded, so that the job may start. If not,
 * noted() follows. */
static inline bool takt_job_source_is_noted(takt_job_source *source, takt_job_ref ref)
{
    return !source->calls->is_noted || source->calls->is_noted(source, ref);
}

/* The job is done and never comes again. */
static inline void takt_job_source_done(takt_job_source *source, takt_job_ref ref)
{
    source->calls->done(source, ref);
}

/* The job has failed for the `attempts`-th time, and this worker will try it again. A worker that
 * takes it over continues the count. */
static inline void takt_job_source_tried(takt_job_source *source, takt_job_ref ref,
                                         unsigned attempts)
{
    source->calls->tried(source, ref, attempts);
}

/* Adds the job to the dead letters, with its text (NULL: unknown) and the reason. It never comes
 * again. */
static inline void takt_job_source_dead(takt_job_source *source, takt_job_ref ref, const char *text,
                                        size_t size, const char *id, const char *why)
{
    source->calls->dead(source, ref, text, size, id, why);
}

/* The job did not begin and will not begin here: another worker may take it at once. */
static inline void takt_job_source_give_back(takt_job_source *source, takt_job_ref ref)
{
    source->calls->give_back(source, ref);
}

static inline void takt_job_source_close(takt_job_source *source)
{
    source->calls->close(source);
}

/* The reference in messages: "line 17", "entry 1763692800000-0". */
static inline void takt_job_source_name(const takt_job_source *source, takt_job_ref ref,
                                        char text[TAKT_JOB_SOURCE_REF_SIZE])
{
    source->calls->name(source, ref, text);
}

/*
 * Opens a file of lines (NULL or "-": standard input). `state`: the file that records ended jobs
 * (NULL: FILE.state; none for standard input). `dead`: the file of dead letters (NULL: FILE.dead;
 * for standard input only the log on standard error). `alone`: creates no file that is not named.
 * Only one worker at a time may use a state file.
 */
int takt_job_source_open_file(takt_job_source **source, uv_loop_t *loop, const char *path,
                              const char *state, const char *dead, bool alone,
                              const takt_job_source_events *events, void *data, takt_error *error);

/*
 * Opens stream NAME on the server at `url`, as one consumer of a group. Takes over jobs of
 * consumers that were silent for `idle_us`, and renews its own. `until_empty`: ends when the stream
 * has only jobs of this worker. 0, or TAKT_E_INVALID (the names), TAKT_E_STORE_URL,
 * TAKT_E_STORE_ACCESS, TAKT_E_SYSTEM, TAKT_E_NOMEM.
 */
int takt_job_source_open_stream(takt_job_source **source, uv_loop_t *loop, const char *url,
                                const char *name, const char *group, int64_t idle_us,
                                bool until_empty, const takt_job_source_events *events, void *data,
                                takt_error *error);

#endif
