/*
 * file.c: lines of a file, or of standard input, and what is written down of them.  Texts
 * that were put away are file_fetch.c's.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

#define TOTAL_MASK 1023 /* how often it is told how many lines there are */

static void on_soon(uv_timer_t *timer);

/* Events are never told inside a call. */
void file_source_arm(file_source *file, uint64_t after_ms)
{
    if (!file->closing)
        uv_timer_start(&file->soon, on_soon, after_ms, 0);
}

static void fail(file_source *file, const char *text)
{
    file->stopped = true;
    file->events->failed(file->data, true, text);
}

void file_source_fail_change(file_source *file, uint64_t line)
{
    char text[512];

    snprintf(text, sizeof(text),
             "%s:%" PRIu64 ": this is not the line that it was: the file was changed; only append "
             "to it, or move it and its .state away and begin anew",
             file->path, line);
    fail(file, text);
}

/* One line; false: nothing more can be read. */
static bool take(file_source *file, const line *line)
{
    unsigned attempts;
    uint32_t before, sum = line->text ? state_file_sum(line->text, line->size) : 0;
    line_status status = state_file_get(&file->state, line->number, &before, &attempts);

    if (status != LINE_NEW && before != sum) {
        file_source_fail_change(file, line->number);
        return false;
    }
    if (status == LINE_DONE || status == LINE_DEAD)
        return true;
    file->wanted--;
    file->events->took(
        file->data, ref_of(line->number, line->offset, sum), line->text, line->size, attempts,
        false,
        line->text ? NULL
                   : "it has more than 1 MiB; larger things belong into a file that the job names");
    return true;
}

static void end(file_source *file)
{
    char text[512];

    file->has_ended = true;
    if (file->lines.error) {
        snprintf(text, sizeof(text), "cannot read %s: %s", file->path,
                 uv_strerror(file->lines.error));
        fail(file, text);
    } else if (file->lines.number < state_file_last(&file->state)) {
        snprintf(text, sizeof(text),
                 "%s has only %" PRIu64 " lines, but line %" PRIu64 " was begun before: the file "
                 "was changed; only append to it, or move it and its .state away and begin anew",
                 file->path, file->lines.number, state_file_last(&file->state));
        fail(file, text);
    } else {
        file->events->ended(file->data);
    }
}

static void tell_total(file_source *file)
{
    bool exact;
    uint64_t total = lines_total(&file->lines, &exact);

    file->events->total(file->data, total, exact);
}

static void deliver(file_source *file)
{
    line line;

    while (file->wanted > 0 && !file->stopped && !file->has_ended) {
        lines_state state = lines_next(&file->lines, &line);
        if (state == LINES_LATER)
            return;
        if (state == LINES_END || (line.number & TOTAL_MASK) == 1)
            tell_total(file);
        if (state == LINES_END)
            end(file);
        else if (!take(file, &line))
            return;
    }
}

/* What could not be written is tried again, for as long as it takes. */
static bool try_writing(file_source *file)
{
    char text[512];
    int code = file->failing;

    if (file->told_failing && source_flush(&file->source))
        return true;
    if (!file->told_failing) {
        snprintf(text, sizeof(text),
                 "cannot write what is done of %s: %s; nothing is started until it can be",
                 file->path, strerror(code));
        file->told_failing = true;
        file->events->failed(file->data, false, text);
    }
    file_source_arm(file, RETRY_MS);
    return false;
}

static void on_soon(uv_timer_t *timer)
{
    file_source *file = timer->data;

    if (file->failing && !try_writing(file))
        return;
    if (file->told_failing) {
        file->told_failing = false;
        file->events->recovered(file->data);
    }
    file_source_serve(file);
    deliver(file);
}

static void on_ready(void *data)
{
    file_source_arm(data, 0);
}

static void want(source *source, unsigned count)
{
    file_source *file = (file_source *)source;

    file->wanted = count;
    if (count > 0 && !file->has_ended && !file->lines.reading)
        file_source_arm(file, 0);
}

static void note(file_source *file, source_ref ref, const char *status, unsigned attempts)
{
    if (!state_file_put(&file->state, ref.major, sum_of(ref), status, attempts))
        file->failing = ENOMEM;
}

static void begun(source *source, source_ref ref, unsigned attempts)
{
    note((file_source *)source, ref, "begun", attempts);
}

static void tried(source *source, source_ref ref, unsigned attempts)
{
    note((file_source *)source, ref, "tried", attempts);
}

static void done(source *source, source_ref ref)
{
    note((file_source *)source, ref, "done", 0);
}

/* The job as it was written; of what is no JSON, a string with what is no UTF-8 replaced. */
static json_t *letter_of(const char *text, size_t size)
{
    json_t *job = text ? json_loadb(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;

    if (job || !text)
        return job ? job : json_null();
    job = json_stringn(text, size);
    if (job)
        return job;
    char *copy = malloc(size);
    if (!copy)
        return json_null();
    for (size_t i = 0; i < size; i++)
        copy[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    job = json_stringn(copy, size);
    free(copy);
    return job ? job : json_null();
}

static void dead(source *source, source_ref ref, const char *text, size_t size, const char *id,
                 const char *why)
{
    file_source *file = (file_source *)source;
    json_t *letter = json_pack("{s:I, s:s*, s:s, s:o}", "line", (json_int_t)ref.major, "id", id,
                               "why", why, "job", letter_of(text, size));
    char *line = letter ? json_dumps(letter, JSON_COMPACT) : NULL;

    json_decref(letter);
    if (!line || !append_put(&file->dead, line, strlen(line)) || !append_put(&file->dead, "\n", 1))
        file->failing = ENOMEM;
    else
        note(file, ref, "dead", 0);
    free(line);
}

static void give_back(source *source, source_ref ref)
{
    (void)source;
    (void)ref;
}

/* A dead letter is kept before it is said that it is dead. */
static bool flush(source *source)
{
    file_source *file = (file_source *)source;
    int failed = append_flush(&file->dead);

    if (!failed)
        failed = append_flush(&file->state.file);
    if (failed && !file->failing)
        file_source_arm(file, 0); /* which tells */
    file->failing = failed;
    return !failed;
}

static void on_all_closed(uv_handle_t *handle)
{
    file_source *file = handle->data;

    append_flush(&file->dead);
    append_flush(&file->state.file);
    append_close(&file->dead);
    state_file_close(&file->state);
    if (file->spool >= 0)
        close(file->spool);
    refs_free(&file->fetches);
    free(file->window);
    file->events->closed(file->data);
    free(file);
}

static void on_lines_closed(void *data)
{
    file_source *file = data;

    uv_close((uv_handle_t *)&file->soon, on_all_closed);
}

static void close_source(source *source)
{
    file_source *file = (file_source *)source;

    file->closing = true;
    if (!file->fetch_busy) /* else its end closes */
        lines_close(&file->lines, on_lines_closed);
}

static void name(const source *source, source_ref ref, char text[SOURCE_REF_SIZE])
{
    (void)source;
    snprintf(text, SOURCE_REF_SIZE, "line %" PRIu64, ref.major);
}

static const source_calls calls = {
    .want = want,
    .fetch = file_source_fetch,
    .put_away = file_source_put_away,
    .begun = begun,
    .flush = flush,
    .done = done,
    .tried = tried,
    .dead = dead,
    .give_back = give_back,
    .close = close_source,
    .name = name,
};

/* A file's name beside the input, unless it was given; NULL: none.  The caller's to free. */
static char *beside(const file_source *file, const char *given, const char *suffix)
{
    char *made;

    if (given)
        return strdup(given);
    if (file->alone || !file->lines.is_regular || file->lines.fd == STDIN_FILENO ||
        asprintf(&made, "%s%s", file->path, suffix) < 0)
        return NULL;
    return made;
}

static int open_dead(file_source *file, const char *path, takt_error *error)
{
    file->dead.fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (!path || file->dead.fd >= 0)
        return 0;
    snprintf(error->text, sizeof(error->text), "cannot open %s, where dead letters go: %s", path,
             strerror(errno));
    return error->code = TAKT_E_SYSTEM;
}

static void forget(void *data)
{
    free(data);
}

int source_open_file(source **source, uv_loop_t *loop, const char *path, const char *state,
                     const char *dead, bool alone, const source_events *events, void *data,
                     takt_error *error)
{
    file_source *file = calloc(1, sizeof(*file));

    if (!file)
        return error->code = TAKT_E_NOMEM;
    *file = (file_source){.source.calls = &calls,
                          .loop = loop,
                          .alone = alone,
                          .events = events,
                          .data = data,
                          .spool = -1};
    file->path = path && strcmp(path, "-") != 0 ? path : "standard input";
    int failed = lines_open(&file->lines, loop, path, on_ready, file, error);
    if (failed) {
        free(file);
        return failed;
    }
    char *state_path = beside(file, state, ".state"), *dead_path = beside(file, dead, ".dead");
    failed = state_file_open(&file->state, state_path, file->path, error);
    if (!failed && (failed = open_dead(file, dead_path, error)) != 0)
        state_file_close(&file->state);
    free(state_path);
    free(dead_path);
    if (failed) {
        lines_close(&file->lines, forget);
        return failed;
    }
    uv_timer_init(loop, &file->soon);
    file->soon.data = file;
    *source = &file->source;
    return 0;
}
