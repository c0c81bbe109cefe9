/*
 * file_fetch.c: reads texts that were put away from their place in the file. Texts that cannot be
 * read again (from a pipe) are kept in a file without a name. One read fetches a window of the
 * file, since jobs of a lane come back in their order.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

#define WINDOW_SIZE ((size_t)64 * 1024) /* of the first read */

/* The line at that offset, if the window has all of it; else NULL. */
static const char *in_window(const takt_job_file *file, uint64_t offset, size_t *size, bool at_end)
{
    if (offset < file->fetch.window_offset ||
        offset >= file->fetch.window_offset + file->fetch.window_size)
        return NULL;
    const char *text = file->fetch.window + (offset - file->fetch.window_offset);
    size_t left = file->fetch.window_size - (size_t)(offset - file->fetch.window_offset);
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

static void deliver_text(takt_job_file *file, const char *text, size_t size)
{
    takt_job_ref ref = takt_job_refs_take(&file->fetch.requested);
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

static void read_window(takt_job_file *file, uint64_t offset, size_t size);

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
    if (file->fetch.requested.count == 0 || file->stopped)
        return;
    uint64_t offset = file->fetch.requested.ring[file->fetch.requested.first].minor & OFFSET_MASK;
    size_t size;
    file->fetch.window_size = count > 0 ? (size_t)count : 0;
    const char *text =
        in_window(file, offset, &size, file->fetch.window_size < file->fetch.window_capacity);
    if (text)
        deliver_text(file, text, size);
    else if (file->fetch.window_size == file->fetch.window_capacity &&
             file->fetch.window_capacity <= TAKT_JOB_SOURCE_TEXT_MAX)
        read_window(file, offset, file->fetch.window_capacity * 4);
    else
        takt_job_file_tell_change(file,
                                  file->fetch.requested.ring[file->fetch.requested.first].major);
    takt_job_file_tell_soon(file, 0);
}

/* Reads a new window that begins at that offset. */
static void read_window(takt_job_file *file, uint64_t offset, size_t size)
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
    file->fetch.window_offset = offset;
    file->fetch.window_size = 0;
    file->fetch.request.data = file;
    file->fetch.busy = uv_fs_read(file->loop, &file->fetch.request,
                                  file->fetch.spool >= 0 ? file->fetch.spool : file->lines.fd,
                                  &space, 1, (int64_t)offset, on_fetched) == 0;
    if (!file->fetch.busy)
        takt_job_file_tell_soon(file, RETRY_MS);
}

void takt_job_file_fetch_serve(takt_job_file *file)
{
    while (file->fetch.requested.count > 0 && !file->fetch.busy && !file->stopped) {
        uint64_t offset =
            file->fetch.requested.ring[file->fetch.requested.first].minor & OFFSET_MASK;
        size_t size;
        const char *text = in_window(file, offset, &size, false);
        if (!text) {
            read_window(file, offset, WINDOW_SIZE);
            return;
        }
        deliver_text(file, text, size);
    }
}

void takt_job_file_fetch_put(takt_job_source *source, takt_job_ref ref)
{
    takt_job_file *file = (takt_job_file *)source;

    if (takt_job_refs_put(&file->fetch.requested, ref))
        takt_job_file_tell_soon(file, 0);
    else
        file->failing = ENOMEM;
}

bool takt_job_file_fetch_put_away(takt_job_source *source, takt_job_ref *ref, const char *text,
                                  size_t size)
{
    takt_job_file *file = (takt_job_file *)source;
    uint64_t offset = file->fetch.spool_size;

    if (file->lines.is_regular)
        return true;
    if (file->fetch.spool < 0) {
        const char *folder = getenv("TMPDIR");
        file->fetch.spool =
            open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    }
    if (file->fetch.spool < 0 ||
        pwrite(file->fetch.spool, text, size, (off_t)offset) != (ssize_t)size ||
        pwrite(file->fetch.spool, "\n", 1, (off_t)(offset + size)) != 1)
        return false;
    file->fetch.spool_size += size + 1;
    file->fetch.spool_count++;
    *ref = takt_job_file_ref(ref->major, offset, takt_job_file_sum(*ref));
    return true;
}

void takt_job_file_fetch_free(takt_job_file_fetch *fetch)
{
    if (fetch->spool >= 0)
        close(fetch->spool);
    takt_job_refs_free(&fetch->requested);
    free(fetch->window);
}
