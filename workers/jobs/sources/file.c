/*
 * file.c: jobs from the lines of a file or of standard input, and the record of how they ended.
 * file_fetch.c reads texts that were put away.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "kit/text.h"

#define TOTAL_MASK 1023 /* how often the number of lines is reported */

/* Takes one line. False: reading has to stop. */
static bool take(takt_job_file *file, const takt_text_line *line)
{
    unsigned attempts;
    uint32_t before, sum = line->text ? takt_state_file_sum(line->text, line->size) : 0;
    takt_line_status status = takt_state_file_get(&file->state, line->number, &before, &attempts);

    if (status != TAKT_LINE_NEW && before != sum) {
        takt_job_file_tell_change(file, line->number);
        return false;
    }
    if (status == TAKT_LINE_DONE || status == TAKT_LINE_DEAD)
        return true;
    file->wanted--;
    file->events->took(
        file->data, takt_job_file_ref(line->number, line->offset, sum), line->text, line->size,
        attempts, false,
        line->text
            ? NULL
            : "it has more than 1 MiB; put larger data into a file, and name the file in the job");
    return true;
}

static void end(takt_job_file *file)
{
    char text[512];

    file->has_ended = true;
    if (file->lines.error) {
        snprintf(text, sizeof(text), "cannot read %s: %s", file->path,
                 uv_strerror(file->lines.error));
        takt_job_file_tell_fail(file, text);
    } else if (file->lines.number < takt_state_file_last(&file->state)) {
        snprintf(text, sizeof(text),
                 "%s has only %" PRIu64 " line%s, but line %" PRIu64
                 " was started before: the file was changed; only append to it, or move it and its "
                 ".state file away and start over",
                 file->path, file->lines.number, takt_plural(file->lines.number),
                 takt_state_file_last(&file->state));
        takt_job_file_tell_fail(file, text);
    } else {
        file->events->ended(file->data);
    }
}

static void tell_total(takt_job_file *file)
{
    bool exact;
    uint64_t total = takt_lines_total(&file->lines, &exact);

    file->events->total(file->data, total, exact);
}

static void deliver(takt_job_file *file)
{
    takt_text_line line;

    while (file->wanted > 0 && !file->stopped && !file->has_ended) {
        takt_lines_state state = takt_lines_next(&file->lines, &line);
        if (state == TAKT_LINES_LATER)
            return;
        if (state == TAKT_LINES_END || (line.number & TOTAL_MASK) == 1)
            tell_total(file);
        if (state == TAKT_LINES_END)
            end(file);
        else if (!take(file, &line))
            return;
    }
}

/* A failed write is repeated until it succeeds. */
static bool try_writing(takt_job_file *file)
{
    char text[512];
    int code = file->failing;

    if (file->told_failing && takt_job_source_flush(&file->source))
        return true;
    if (!file->told_failing) {
        snprintf(text, sizeof(text),
                 "cannot record which jobs of %s are done: %s; no job starts until this works",
                 file->path, strerror(code));
        file->told_failing = true;
        file->events->failed(file->data, false, text);
    }
    takt_job_file_tell_soon(file, RETRY_MS);
    return false;
}

static void on_soon(uv_timer_t *timer)
{
    takt_job_file *file = timer->data;

    if (file->failing && !try_writing(file))
        return;
    if (file->held_up || file->told_failing) {
        file->held_up = file->told_failing = false;
        file->events->recovered(file->data);
    }
    takt_job_file_fetch_serve(file);
    deliver(file);
}

static void on_ready(void *data)
{
    takt_job_file_tell_soon(data, 0);
}

static void want(takt_job_source *source, unsigned count)
{
    takt_job_file *file = (takt_job_file *)source;

    file->wanted = count;
    if (count > 0 && !file->has_ended && !file->lines.reading)
        takt_job_file_tell_soon(file, 0);
}

static void note(takt_job_file *file, takt_job_ref ref, const char *status, unsigned attempts)
{
    if (!takt_state_file_put(&file->state, ref.major, takt_job_file_sum(ref), status, attempts))
        file->failing = ENOMEM;
}

static void begun(takt_job_source *source, takt_job_ref ref, unsigned attempts)
{
    note((takt_job_file *)source, ref, "begun", attempts);
}

static void tried(takt_job_source *source, takt_job_ref ref, unsigned attempts)
{
    note((takt_job_file *)source, ref, "tried", attempts);
}

static void done(takt_job_source *source, takt_job_ref ref)
{
    note((takt_job_file *)source, ref, "done", 0);
}

/* The job as it was written. A line that is not JSON becomes a string, with bytes that are not
 * UTF-8 replaced. NULL: no memory. */
static json_t *letter_of(const char *text, size_t size)
{
    json_t *job = text ? json_loadb(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;

    if (job || !text)
        return text ? job : json_null();
    job = json_stringn(text, size);
    if (job)
        return job;
    char *copy = malloc(size);
    if (!copy)
        return NULL;
    for (size_t i = 0; i < size; i++)
        copy[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    job = json_stringn(copy, size);
    free(copy);
    return job;
}

static void dead(takt_job_source *source, takt_job_ref ref, const char *text, size_t size,
                 const char *id, const char *why)
{
    takt_job_file *file = (takt_job_file *)source;
    json_t *letter = json_pack("{s:I, s:s*, s:s, s:o}", "line", (json_int_t)ref.major, "id", id,
                               "why", why, "job", letter_of(text, size));
    char *line = letter ? json_dumps(letter, JSON_COMPACT) : NULL;

    json_decref(letter);
    if (!line || !takt_append_put(&file->dead, line, strlen(line)) ||
        !takt_append_put(&file->dead, "\n", 1))
        file->failing = ENOMEM;
    else
        note(file, ref, "dead", 0);
    free(line);
}

static void give_back(takt_job_source *source, takt_job_ref ref)
{
    (void)source;
    (void)ref;
}

/* A dead letter is written before the job is recorded as dead. */
static bool flush(takt_job_source *source)
{
    takt_job_file *file = (takt_job_file *)source;
    int failed = takt_append_flush(&file->dead);

    if (!failed)
        failed = takt_append_flush(&file->state.file);
    if (failed && !file->failing)
        takt_job_file_tell_soon(file, 0); /* reports the failure, and later that it is over */
    file->held_up = file->held_up || failed != 0;
    file->failing = failed;
    return !failed;
}

static void on_all_closed(uv_handle_t *handle)
{
    takt_job_file *file = handle->data;

    takt_append_flush(&file->dead);
    takt_append_flush(&file->state.file);
    takt_append_close(&file->dead);
    takt_state_file_close(&file->state);
    takt_job_file_fetch_free(&file->fetch);
    file->events->closed(file->data);
    free(file);
}

static void on_lines_closed(void *data)
{
    takt_job_file *file = data;

    uv_close((uv_handle_t *)&file->soon, on_all_closed);
}

static void close_source(takt_job_source *source)
{
    takt_job_file *file = (takt_job_file *)source;

    file->closing = true;
    if (!file->fetch.busy) /* otherwise the end of the fetch closes the source */
        takt_lines_close(&file->lines, on_lines_closed);
}

static void name(const takt_job_source *source, takt_job_ref ref,
                 char text[TAKT_JOB_SOURCE_REF_SIZE])
{
    (void)source;
    snprintf(text, TAKT_JOB_SOURCE_REF_SIZE, "line %" PRIu64, ref.major);
}

static const takt_job_source_calls calls = {
    .want = want,
    .fetch = takt_job_file_fetch_put,
    .put_away = takt_job_file_fetch_put_away,
    .begun = begun,
    .flush = flush,
    .done = done,
    .tried = tried,
    .dead = dead,
    .give_back = give_back,
    .close = close_source,
    .name = name,
};

/* The name of a file beside the input, unless the user gave one; NULL: none. The caller frees it.
 * False: no memory, which must not look like a worker that keeps no file. */
static bool beside(const takt_job_file *file, const char *given, const char *suffix, char **path)
{
    *path = NULL;
    if (given)
        return (*path = strdup(given)) != NULL;
    if (file->alone || !file->lines.is_regular || file->lines.fd == STDIN_FILENO)
        return true;
    if (asprintf(path, "%s%s", file->path, suffix) >= 0)
        return true;
    *path = NULL;
    return false;
}

static int open_dead(takt_job_file *file, const char *path, takt_error *error)
{
    file->dead.fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (!path || file->dead.fd >= 0)
        return 0;
    snprintf(error->text, sizeof(error->text), "cannot open %s for dead letters: %s", path,
             strerror(errno));
    return error->code = TAKT_E_SYSTEM;
}

/* Opens the state file and the file of dead letters. */
static int open_beside(takt_job_file *file, const char *state, const char *dead, takt_error *error)
{
    char *state_path, *dead_path = NULL;
    int failed;

    if (!beside(file, state, ".state", &state_path) || !beside(file, dead, ".dead", &dead_path)) {
        *error = (takt_error){TAKT_E_NOMEM, "no memory"};
        failed = TAKT_E_NOMEM;
    } else if ((failed = takt_state_file_open(&file->state, state_path, file->path, error)) == 0 &&
               (failed = open_dead(file, dead_path, error)) != 0) {
        takt_state_file_close(&file->state);
    }
    free(state_path);
    free(dead_path);
    return failed;
}

static void forget(void *data)
{
    free(data);
}

int takt_job_source_open_file(takt_job_source **source, uv_loop_t *loop, const char *path,
                              const char *state, const char *dead, bool alone,
                              const takt_job_source_events *events, void *data, takt_error *error)
{
    takt_job_file *file = calloc(1, sizeof(*file));

    if (!file)
        return error->code = TAKT_E_NOMEM;
    *file = (takt_job_file){.source.calls = &calls,
                            .loop = loop,
                            .alone = alone,
                            .events = events,
                            .data = data,
                            .fetch.spool = -1};
    file->path = path && strcmp(path, "-") != 0 ? path : "standard input";
    int failed =
        takt_lines_open(&file->lines, loop, path, TAKT_JOB_SOURCE_TEXT_MAX, on_ready, file, error);
    if (failed) {
        free(file);
        return failed;
    }
    failed = open_beside(file, state, dead, error);
    if (failed) {
        takt_lines_close(&file->lines, forget);
        return failed;
    }
    uv_timer_init(loop, &file->soon);
    file->soon.data = file;
    file->on_soon = on_soon;
    *source = &file->source;
    return 0;
}
