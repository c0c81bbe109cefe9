/*
 * results.c: two buffers: one is filled while the other is written.
 */
#include "results.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FULL_SIZE ((size_t)1024 * 1024)

typedef struct batch {
    takt_buffer lines;
    takt_job_ref *refs;
    size_t ref_count, ref_capacity;
} batch;

struct takt_results {
    uv_loop_t *loop;
    const takt_results_events *events;
    void *data;
    int fd;
    takt_report *above; /* the report whose picture is on this terminal; NULL: none */
    bool busy, failed;
    size_t written; /* bytes written of the buffer being written */
    batch filling, writing;
    uv_fs_t request;
};

int takt_results_open(takt_results **results, uv_loop_t *loop, const char *path,
                      takt_report *report, const takt_results_events *events, void *data,
                      takt_error *error)
{
    bool named = path && strcmp(path, "-") != 0;
    int fd = named ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : STDOUT_FILENO;
    takt_results *made = fd < 0 ? NULL : calloc(1, sizeof(*made));

    if (!made) {
        *error = (takt_error){.code = TAKT_E_SYSTEM};
        snprintf(error->text, sizeof(error->text), "cannot write results to %s: %s",
                 named ? path : "standard output", strerror(errno));
        if (named && fd >= 0)
            close(fd);
        return error->code;
    }
    *made = (takt_results){.loop = loop, .events = events, .data = data, .fd = fd};
    if (!named && takt_report_has_picture(report) && isatty(fd))
        made->above = report;
    *results = made;
    return 0;
}

static void write_more(takt_results *results);

static void fail(takt_results *results, int code)
{
    char text[128];

    results->failed = true;
    snprintf(text, sizeof(text), "cannot write results: %s", uv_strerror(code));
    results->events->failed(results->data, text);
}

static void on_written(uv_fs_t *request)
{
    takt_results *results = request->data;
    batch *batch = &results->writing;
    ssize_t count = request->result;

    uv_fs_req_cleanup(request);
    results->busy = false;
    if (count < 0 && count != UV_EAGAIN && count != UV_EINTR) {
        fail(results, (int)count);
        return;
    }
    results->written += count > 0 ? (size_t)count : 0;
    if (results->written == batch->lines.size) {
        for (size_t i = 0; i < batch->ref_count; i++)
            results->events->written(results->data, batch->refs[i]);
        batch->lines.size = batch->ref_count = results->written = 0;
    }
    write_more(results);
}

static void write_more(takt_results *results)
{
    if (results->busy || results->failed)
        return;
    if (results->writing.lines.size == 0) {
        batch full = results->filling;
        if (full.lines.size == 0)
            return;
        results->filling = results->writing;
        results->writing = full;
    }
    uv_buf_t rest = uv_buf_init(results->writing.lines.at + results->written,
                                (unsigned)(results->writing.lines.size - results->written));
    results->request.data = results;
    int failed =
        uv_fs_write(results->loop, &results->request, results->fd, &rest, 1, -1, on_written);
    results->busy = !failed;
    if (failed)
        fail(results, failed);
}

static bool put_ref(batch *batch, takt_job_ref ref)
{
    if (batch->ref_count == batch->ref_capacity) {
        size_t count = batch->ref_capacity ? batch->ref_capacity * 2 : 64;
        takt_job_ref *refs = realloc(batch->refs, count * sizeof(*refs));
        if (!refs)
            return false;
        batch->refs = refs;
        batch->ref_capacity = count;
    }
    batch->refs[batch->ref_count++] = ref;
    return true;
}

/* On a terminal results are shown at once. */
static void print_above(takt_results *results)
{
    batch *batch = &results->filling;

    takt_report_print(results->above, batch->lines.at, batch->lines.size);
    for (size_t i = 0; i < batch->ref_count; i++)
        results->events->written(results->data, batch->refs[i]);
    batch->lines.size = batch->ref_count = 0;
}

static int add(const char *bytes, size_t size, void *lines)
{
    takt_buffer_put(lines, bytes, size);
    return 0;
}

/* The id comes first, whatever the order of the other fields. */
void takt_results_write(takt_buffer *lines, json_t *result, const char *id)
{
    const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(15);
    json_t *first = json_string_nocheck(id);

    json_object_del(result, "id");
    takt_buffer_text(lines, "{\"id\":");
    lines->failed |= json_dump_callback(first, add, lines, flags | JSON_ENCODE_ANY) != 0;
    if (json_object_size(result) > 0)
        takt_buffer_char(lines, ',');
    lines->failed |= json_dump_callback(result, add, lines, flags | JSON_EMBED) != 0;
    takt_buffer_text(lines, "}\n");
    json_decref(first);
}

bool takt_results_put(takt_results *results, json_t *result, const char *id, takt_job_ref ref)
{
    takt_buffer *lines = &results->filling.lines;
    size_t before = lines->size;

    takt_results_write(lines, result, id);
    if (lines->failed || !put_ref(&results->filling, ref)) {
        takt_buffer_cut(lines, before);
        return false;
    }
    if (results->above)
        print_above(results);
    else
        write_more(results);
    return true;
}

bool takt_results_is_full(const takt_results *results)
{
    return results->failed || results->filling.lines.size >= FULL_SIZE;
}

bool takt_results_is_idle(const takt_results *results)
{
    return results->failed
               ? !results->busy
               : !results->busy && results->filling.lines.size + results->writing.lines.size == 0;
}

void takt_results_free(takt_results *results)
{
    if (!results)
        return;
    if (results->fd != STDOUT_FILENO)
        close(results->fd);
    takt_buffer_free(&results->filling.lines);
    free(results->filling.refs);
    takt_buffer_free(&results->writing.lines);
    free(results->writing.refs);
    free(results);
}
