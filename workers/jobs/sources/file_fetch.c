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

/* The line at that place of the window.  NULL: it is not there as a whole. */
static const char *in_window(const takt_job_file *file, uint64_t place, size_t *size, bool at_end)
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

static void leave_spool(takt_job_file *file)
{
    if (file->spool < 0 || --file->spool_count > 0)
        return;
    file->spool_size = 0;
    file->window_size = 0;
    if (ftruncate(file->spool, 0) != 0)
        file->failing = ENOMEM;
}

static void hand_out(takt_job_file *file, const char *text, size_t size)
{
    takt_job_ref ref = takt_job_refs_take(&file->fetches);
    uint32_t sum;
    unsigned attempts;

    if (takt_state_file_sum(text, size) != takt_job_file_sum(ref)) {
        takt_job_file_fail_change(file, ref.major);
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
    file->fetch_busy = false;
    if (file->closing) {
        takt_job_source_close(&file->source);
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
    else if (file->window_size == file->window_capacity &&
             file->window_capacity <= TAKT_JOB_SOURCE_TEXT_MAX)
        read_window(file, place, file->window_capacity * 4);
    else
        takt_job_file_fail_change(file, file->fetches.ring[file->fetches.first].major);
    takt_job_file_arm(file, 0);
}

/* Reads the window anew, from that place on. */
static void read_window(takt_job_file *file, uint64_t place, size_t size)
{
    if (size > file->window_capacity) {
        char *window = realloc(file->window, size);
        if (!window) {
            takt_job_file_arm(file, RETRY_MS);
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
        takt_job_file_arm(file, RETRY_MS);
}

void takt_job_file_serve(takt_job_file *file)
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

void takt_job_file_fetch(takt_job_source *source, takt_job_ref ref)
{
    takt_job_file *file = (takt_job_file *)source;

    if (takt_job_refs_put(&file->fetches, ref))
        takt_job_file_arm(file, 0);
    else
        file->failing = ENOMEM;
}

bool takt_job_file_put_away(takt_job_source *source, takt_job_ref *ref, const char *text,
                            size_t size)
{
    takt_job_file *file = (takt_job_file *)source;
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
    *ref = takt_job_file_ref(ref->major, place, takt_job_file_sum(*ref));
    return true;
}
