/*
 * file_fetch.c: texts that were put away are read again where they stand; what cannot be read again
 * (a pipe) is kept in a file without a name.  A window of the file is read at a time, since whoever
 * waits in a line comes back in its order.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

#define WINDOW_SIZE ((size_t)64 * 1024) /* of the first read at a place */

/* The line at that place of the window.  NULL: it is not there as a whole. */
static const char *in_window(const takt_job_file *file, uint64_t place, size_t *size, bool at_end)
{
    if (place < file->fetch.window_place ||
        place >= file->fetch.window_place + file->fetch.window_size)
        return NULL;
    const char *text = file->fetch.window + (place - file->fetch.window_place);
    size_t left = file->fetch.window_size - (size_t)(place - file->fetch.window_place);
    const char *newline = memchr(text, '\n', left);
    if (!newline && !at_end)
        return NULL;
    *size = newline ? (size_t)(newline - text) : left;
    return text;
}

static void leave_spool(takt_job_file *file)
{
    if (file->fetch.spool < 0 || --file->fetch.spool_count > 0)
        return;
    file->fetch.spool_size = 0;
    file->fetch.window_size = 0;
    if (ftruncate(file->fetch.spool, 0) != 0)
        file->failing = ENOMEM;
}

static void hand_out(takt_job_file *file, const char *text, size_t size)
{
    takt_job_ref ref = takt_job_refs_take(&file->fetch.asked);
    uint32_t sum;
    unsigned attempts;

    if (takt_state_file_sum(text, size) != takt_job_file_sum(ref)) {
        takt_job_file_tell_change(file, ref.major);
        return;
    }
    takt_state_file_get(&file->state, ref.major, &sum, &attempts);
    file->events->took(file->data, ref, text, size, attempts, true, NULL);
    leave_spool(file);
}

static void read_window(takt_job_file *file, uint64_t place, size_t size);

static void on_fetched(uv_fs_t *request)
{
    takt_job_file *file = request->data;
    ssize_t count = request->result;

    uv_fs_req_cleanup(request);
    file->fetch.busy = false;
    if (file->closing) {
        takt_job_source_close(&file->source);
        return;
    }
    if (file->fetch.asked.count == 0 || file->stopped)
        return;
    uint64_t place = file->fetch.asked.ring[file->fetch.asked.first].minor & PLACE_MASK;
    size_t size;
    file->fetch.window_size = count > 0 ? (size_t)count : 0;
    const char *text =
        in_window(file, place, &size, file->fetch.window_size < file->fetch.window_capacity);
    if (text)
        hand_out(file, text, size);
    else if (file->fetch.window_size == file->fetch.window_capacity &&
             file->fetch.window_capacity <= TAKT_JOB_SOURCE_TEXT_MAX)
        read_window(file, place, file->fetch.window_capacity * 4);
    else
        takt_job_file_tell_change(file, file->fetch.asked.ring[file->fetch.asked.first].major);
    takt_job_file_tell_soon(file, 0);
}

/* Reads the window anew, from that place on. */
static void read_window(takt_job_file *file, uint64_t place, size_t size)
{
    if (size > file->fetch.window_capacity) {
        char *window = realloc(file->fetch.window, size);
        if (!window) {
            takt_job_file_tell_soon(file, RETRY_MS);
            return;
        }
        file->fetch.window = window;
        file->fetch.window_capacity = size;
    }
    uv_buf_t space = uv_buf_init(file->fetch.window, (unsigned)file->fetch.window_capacity);
    file->fetch.window_place = place;
    file->fetch.window_size = 0;
    file->fetch.request.data = file;
    file->fetch.busy = uv_fs_read(file->loop, &file->fetch.request,
                                  file->fetch.spool >= 0 ? file->fetch.spool : file->lines.fd,
                                  &space, 1, (int64_t)place, on_fetched) == 0;
    if (!file->fetch.busy)
        takt_job_file_tell_soon(file, RETRY_MS);
}

void takt_job_file_fetch_serve(takt_job_file *file)
{
    while (file->fetch.asked.count > 0 && !file->fetch.busy && !file->stopped) {
        uint64_t place = file->fetch.asked.ring[file->fetch.asked.first].minor & PLACE_MASK;
        size_t size;
        const char *text = in_window(file, place, &size, false);
        if (!text) {
            read_window(file, place, WINDOW_SIZE);
            return;
        }
        hand_out(file, text, size);
    }
}

void takt_job_file_fetch_put(takt_job_source *source, takt_job_ref ref)
{
    takt_job_file *file = (takt_job_file *)source;

    if (takt_job_refs_put(&file->fetch.asked, ref))
        takt_job_file_tell_soon(file, 0);
    else
        file->failing = ENOMEM;
}

bool takt_job_file_fetch_put_away(takt_job_source *source, takt_job_ref *ref, const char *text,
                                  size_t size)
{
    takt_job_file *file = (takt_job_file *)source;
    uint64_t place = file->fetch.spool_size;

    if (file->lines.is_regular)
        return true;
    if (file->fetch.spool < 0) {
        const char *folder = getenv("TMPDIR");
        file->fetch.spool =
            open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    }
    if (file->fetch.spool < 0 ||
        pwrite(file->fetch.spool, text, size, (off_t)place) != (ssize_t)size ||
        pwrite(file->fetch.spool, "\n", 1, (off_t)(place + size)) != 1)
        return false;
    file->fetch.spool_size += size + 1;
    file->fetch.spool_count++;
    *ref = takt_job_file_ref(ref->major, place, takt_job_file_sum(*ref));
    return true;
}

void takt_job_file_fetch_free(takt_job_file_fetch *fetch)
{
    if (fetch->spool >= 0)
        close(fetch->spool);
    takt_job_refs_free(&fetch->asked);
    free(fetch->window);
}
