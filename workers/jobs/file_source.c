/*
 * file_source.c: lines of a file, or of standard input.  A text that was put away is read again
 * where it stands; what cannot be read again (a pipe) is kept in a file without a name.
 *
 * The place of a line is 40 bits, its sum the other 24, so that it is known for what it is when it
 * is read again, and when it has ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lines.h"
#include "refs.h"
#include "source.h"
#include "state_file.h"

#define PLACE_BITS 40
#define PLACE_MASK ((UINT64_C(1) << PLACE_BITS) - 1)
#define RETRY_MS   1000 /* until what could not be written is tried again */
#define TOTAL_MASK 1023 /* how often it is told how many lines there are */

typedef struct file_source {
    source source;
    uv_loop_t *loop;
    const char *path; /* for messages */
    const source_events *events;
    void *data;
    lines lines;
    state_file state;
    append dead;
    unsigned wanted;
    refs fetches;
    bool fetch_busy;
    uv_fs_t fetch_request;
    char *window; /* what was read again last */
    size_t window_capacity, window_size;
    uint64_t window_place;
    int spool; /* texts that were put away, of what cannot be read again; -1 */
    uint64_t spool_size, spool_count;
    int failing; /* why what is done cannot be written; 0 */
    bool has_ended, told_failing, stopped, closing;
    uv_timer_t soon;
} file_source;

static void on_soon(uv_timer_t *timer);

/* Events are never told inside a call. */
static void arm(file_source *file, uint64_t after_ms)
{
    if (!file->closing)
        uv_timer_start(&file->soon, on_soon, after_ms, 0);
}

static void fail(file_source *file, const char *text)
{
    file->stopped = true;
    file->events->failed(file->data, true, text);
}

static void fail_change(file_source *file, uint64_t line)
{
    char text[512];

    snprintf(text, sizeof(text),
             "%s:%" PRIu64 ": this is not the line that it was: the file was changed; only append "
             "to it, or move it and its .state away and begin anew",
             file->path, line);
    fail(file, text);
}

static source_ref ref_of(uint64_t line, uint64_t place, uint32_t sum)
{
    return (source_ref){line, (uint64_t)sum << PLACE_BITS | (place & PLACE_MASK)};
}

static uint32_t sum_of(source_ref ref)
{
    return (uint32_t)(ref.minor >> PLACE_BITS);
}

/* One line; false: nothing more can be read. */
static bool take(file_source *file, const line *line)
{
    unsigned attempts;
    uint32_t before, sum = line->text ? state_file_sum(line->text, line->size) : 0;
    line_status status = state_file_get(&file->state, line->number, &before, &attempts);

    if (status != LINE_NEW && before != sum) {
        fail_change(file, line->number);
        return false;
    }
    if (status == LINE_DONE || status == LINE_DEAD)
        return true;
    file->wanted--;
    file->events->took(file->data, ref_of(line->number, line->offset, sum), line->text, line->size,
                       attempts, false,
                       line->text ? NULL
                                  : "it has more than 1 MiB; larger things "
                                    "belong into a file that the job names");
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

/* The line at that place of the window.  NULL: it is not there as a whole. */
static const char *in_window(const file_source *file, uint64_t place, size_t *size, bool at_end)
{
    if (place < file->window_place || place >= file->window_place + file->window_size)
        return NULL;
    const char *text = file->window + (place - file->window_place);
    size_t left = file->window_size - (size_t)(place - file->window_place);
    const char *newline = memchr(text, '\n', left);
    if (!newline && !at_end)
        return NULL;
    *size = newline ? (size_t)(newline - text) : left;
    return text;
}

static void leave_spool(file_source *file)
{
    if (file->spool < 0 || --file->spool_count > 0)
        return;
    file->spool_size = 0;
    file->window_size = 0;
    if (ftruncate(file->spool, 0) != 0)
        file->failing = ENOMEM;
}

static void hand_out(file_source *file, const char *text, size_t size)
{
    source_ref ref = refs_take(&file->fetches);
    uint32_t sum;
    unsigned attempts;

    if (state_file_sum(text, size) != sum_of(ref)) {
        fail_change(file, ref.major);
        return;
    }
    state_file_get(&file->state, ref.major, &sum, &attempts);
    file->events->took(file->data, ref, text, size, attempts, true, NULL);
    leave_spool(file);
}

static void read_window(file_source *file, uint64_t place, size_t size);

static void on_fetched(uv_fs_t *request)
{
    file_source *file = request->data;
    ssize_t count = request->result;

    uv_fs_req_cleanup(request);
    file->fetch_busy = false;
    if (file->closing) {
        source_close(&file->source);
        return;
    }
    if (file->fetches.count == 0 || file->stopped)
        return;
    uint64_t place = file->fetches.ring[file->fetches.first].minor & PLACE_MASK;
    size_t size;
    file->window_size = count > 0 ? (size_t)count : 0;
    const char *text = in_window(file, place, &size, file->window_size < file->window_capacity);
    if (text)
        hand_out(file, text, size);
    else if (file->window_size == file->window_capacity && file->window_capacity <= JOB_TEXT_MAX)
        read_window(file, place, file->window_capacity * 4);
    else
        fail_change(file, file->fetches.ring[file->fetches.first].major);
    arm(file, 0);
}

/* Reads the window anew, from that place on. */
static void read_window(file_source *file, uint64_t place, size_t size)
{
    if (size > file->window_capacity) {
        char *window = realloc(file->window, size);
        if (!window) {
            arm(file, RETRY_MS);
            return;
        }
        file->window = window;
        file->window_capacity = size;
    }
    uv_buf_t space = uv_buf_init(file->window, (unsigned)file->window_capacity);
    file->window_place = place;
    file->window_size = 0;
    file->fetch_request.data = file;
    file->fetch_busy = uv_fs_read(file->loop, &file->fetch_request,
                                  file->spool >= 0 ? file->spool : file->lines.fd, &space, 1,
                                  (int64_t)place, on_fetched) == 0;
    if (!file->fetch_busy)
        arm(file, RETRY_MS);
}

static void serve_fetches(file_source *file)
{
    while (file->fetches.count > 0 && !file->fetch_busy && !file->stopped) {
        uint64_t place = file->fetches.ring[file->fetches.first].minor & PLACE_MASK;
        size_t size;
        const char *text = in_window(file, place, &size, false);
        if (!text) {
            read_window(file, place, LINES_CHUNK_SIZE);
            return;
        }
        hand_out(file, text, size);
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
    arm(file, RETRY_MS);
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
    serve_fetches(file);
    deliver(file);
}

static void on_ready(void *data)
{
    arm(data, 0);
}

static void want(source *source, unsigned count)
{
    file_source *file = (file_source *)source;

    file->wanted = count;
    if (count > 0 && !file->has_ended && !file->lines.reading)
        arm(file, 0);
}

static void fetch(source *source, source_ref ref)
{
    file_source *file = (file_source *)source;

    if (refs_put(&file->fetches, ref))
        arm(file, 0);
    else
        file->failing = ENOMEM;
}

static bool put_away(source *source, source_ref *ref, const char *text, size_t size)
{
    file_source *file = (file_source *)source;
    uint64_t place = file->spool_size;

    if (file->lines.is_regular)
        return true;
    if (file->spool < 0) {
        const char *folder = getenv("TMPDIR");
        file->spool =
            open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    }
    if (file->spool < 0 || pwrite(file->spool, text, size, (off_t)place) != (ssize_t)size ||
        pwrite(file->spool, "\n", 1, (off_t)(place + size)) != 1)
        return false;
    file->spool_size += size + 1;
    file->spool_count++;
    *ref = ref_of(ref->major, place, sum_of(*ref));
    return true;
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
        arm(file, 0); /* which tells */
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

static const source_calls calls = {.want = want,
                                   .fetch = fetch,
                                   .put_away = put_away,
                                   .begun = begun,
                                   .flush = flush,
                                   .done = done,
                                   .tried = tried,
                                   .dead = dead,
                                   .give_back = give_back,
                                   .close = close_source,
                                   .name = name};

/* A file's name beside the input, unless it was given; NULL: none.  The caller's to free. */
static char *beside(const file_source *file, const char *given, const char *suffix)
{
    char *made;

    if (given)
        return strdup(given);
    if (!file->lines.is_regular || file->lines.fd == STDIN_FILENO ||
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
                     const char *dead, const source_events *events, void *data, takt_error *error)
{
    file_source *file = calloc(1, sizeof(*file));

    if (!file)
        return error->code = TAKT_E_NOMEM;
    *file = (file_source){
        .source.calls = &calls, .loop = loop, .events = events, .data = data, .spool = -1};
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
