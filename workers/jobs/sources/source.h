/*
 * source.h: where jobs come from, and where is kept what became of them: a file of lines, standard
 * input (file.c), a Redis stream (stream/stream.c).
 *
 * At least once: a job that was taken and not ended comes again, to this worker's next run or to
 * another worker.  A source knows nothing of limits: it hands out texts, each with a reference, by
 * which it hears how the job ended.  A job that has to wait for long may be put away: the reader
 * keeps the reference alone, and asks for the text again when there is room.
 */
#ifndef TAKT_WORKERS_SOURCES_SOURCE_H
#define TAKT_WORKERS_SOURCES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>
#include <uv.h>

#include <takt/error.h>

/* A line's number (from 1) and its place in the file; a stream's entry ("major-minor"). */
typedef struct takt_job_ref {
    uint64_t major, minor;
} takt_job_ref;

#define TAKT_JOB_SOURCE_REF_SIZE 48
#define TAKT_JOB_SOURCE_TEXT_MAX (1024 * 1024) /* bytes of a job's line */

typedef struct takt_job_source takt_job_source;

/* What a source calls, on the loop's thread, never inside a function of this file. */
typedef struct takt_job_source_events {
    /* A job.  `text` lives during the call; NULL: it cannot be one, and `why` says so.  `attempts`
     * of others or of earlier runs were begun and not ended before; `put_away`: it was asked for
     * by takt_job_source_fetch. */
    void (*took)(void *data, takt_job_ref ref, const char *text, size_t size, unsigned attempts,
                 bool put_away, const char *why);
    /* Somebody else has taken the job meanwhile, because this worker was not heard of for too
     * long, or removed it: what is done to it is not ours any more. */
    void (*lost)(void *data, takt_job_ref ref);
    /* There are no more, and never will be; every one that was taken may still be ended. */
    void (*ended)(void *data);
    /* So many there are in all, as far as one knows. */
    void (*total)(void *data, uint64_t jobs, bool exact);
    /* It cannot be read or written.  `fatal`: nor ever will be; else it goes on by itself, and
     * recovered() tells. */
    void (*failed)(void *data, bool fatal, const char *text);
    void (*recovered)(void *data);
    /* Some that were begun are noted by now (takt_job_source_is_noted). */
    void (*noted)(void *data);
    /* After takt_job_source_close: nothing of it is left, all that was said of jobs is kept. */
    void (*closed)(void *data);
} takt_job_source_events;

/* What each kind of source implements; called by the functions below. */
typedef struct takt_job_source_calls {
    void (*want)(takt_job_source *source, unsigned count);
    void (*fetch)(takt_job_source *source, takt_job_ref ref);
    bool (*put_away)(takt_job_source *source, takt_job_ref *ref, const char *text,
                     size_t size);                                               /* or NULL */
    void (*begun)(takt_job_source *source, takt_job_ref ref, unsigned attempts); /* or NULL */
    bool (*flush)(takt_job_source *source);                                      /* or NULL */
    bool (*is_noted)(takt_job_source *source, takt_job_ref ref);                 /* or NULL */
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

/* There is room for so many more; replaces what was said before.  0: none, for now. */
static inline void takt_job_source_want(takt_job_source *source, unsigned count)
{
    source->calls->want(source, count);
}

/* Asks for the text of a job again: took() comes, or lost(). */
static inline void takt_job_source_fetch(takt_job_source *source, takt_job_ref ref)
{
    source->calls->fetch(source, ref);
}

/* The reader puts a job away that it was just given: from now on it has the reference alone, and
 * fetches the text later.  The source may set the reference, and keep the text where it could not
 * be read again.  False: there is no place, the reader must keep the text. */
static inline bool takt_job_source_put_away(takt_job_source *source, takt_job_ref *ref,
                                            const char *text, size_t size)
{
    return !source->calls->put_away || source->calls->put_away(source, ref, text, size);
}

/* It is about to be started for the n-th time.  Noted by flush(), which is called between this and
 * the start, so that a job which ends its worker is known by that. */
static inline void takt_job_source_begun(takt_job_source *source, takt_job_ref ref,
                                         unsigned attempts)
{
    if (source->calls->begun)
        source->calls->begun(source, ref, attempts);
}

/* Called once per turn of the loop: what was said of jobs is to be written.  False: it cannot be,
 * as failed() has told or will; nothing is started until it can. */
static inline bool takt_job_source_flush(takt_job_source *source)
{
    return !source->calls->flush || source->calls->flush(source);
}

/* After a flush: whether the begin of a job is noted by now, so that it may be started.  Where it
 * is not, noted() will tell. */
static inline bool takt_job_source_is_noted(takt_job_source *source, takt_job_ref ref)
{
    return !source->calls->is_noted || source->calls->is_noted(source, ref);
}

/* How a job ended.  Done: it never comes again. */
static inline void takt_job_source_done(takt_job_source *source, takt_job_ref ref)
{
    source->calls->done(source, ref);
}

/* It failed, so many times by now, and will be tried again by us; who takes it over goes on
 * counting. */
static inline void takt_job_source_tried(takt_job_source *source, takt_job_ref ref,
                                         unsigned attempts)
{
    source->calls->tried(source, ref, attempts);
}

/* It is put with the dead letters, with its text (NULL: unknown) and the reason, and never comes
 * again. */
static inline void takt_job_source_dead(takt_job_source *source, takt_job_ref ref, const char *text,
                                        size_t size, const char *id, const char *why)
{
    source->calls->dead(source, ref, text, size, id, why);
}

/* It was not begun and will not be by us: the next one may have it at once. */
static inline void takt_job_source_give_back(takt_job_source *source, takt_job_ref ref)
{
    source->calls->give_back(source, ref);
}

static inline void takt_job_source_close(takt_job_source *source)
{
    source->calls->close(source);
}

/* The reference for a person: "line 17", "entry 1763692800000-0". */
static inline void takt_job_source_name(const takt_job_source *source, takt_job_ref ref,
                                        char text[TAKT_JOB_SOURCE_REF_SIZE])
{
    source->calls->name(source, ref, text);
}

/*
 * Lines of a file (NULL or "-": standard input).  `state` is the file that records what is done
 * (NULL: FILE.state; none for standard input), `dead` where dead letters go (NULL: FILE.dead, or
 * standard error's log alone for standard input).  `alone`: no file beside the input is made where
 * none is named.  Only one worker at a time may have a state file.
 */
int takt_job_source_open_file(takt_job_source **source, uv_loop_t *loop, const char *path,
                              const char *state, const char *dead, bool alone,
                              const takt_job_source_events *events, void *data, takt_error *error);

/*
 * A stream NAME of the server that `url` names, as one consumer of a group.  Jobs of consumers that
 * were not heard of for `idle_us` are taken over; our own are kept ours by saying so.  With
 * `until_empty` it has ended when nothing is left in the stream but what this worker has.  0, or
 * TAKT_E_INVALID (the names), TAKT_E_STORE_URL, TAKT_E_STORE_ACCESS, TAKT_E_SYSTEM, TAKT_E_NOMEM.
 */
int takt_job_source_open_stream(takt_job_source **source, uv_loop_t *loop, const char *url,
                                const char *name, const char *group, int64_t idle_us,
                                bool until_empty, const takt_job_source_events *events, void *data,
                                takt_error *error);

#endif
