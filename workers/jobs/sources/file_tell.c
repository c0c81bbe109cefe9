/*
 * file_tell.c: when a source of lines reports its events: never inside a call, but soon after it;
 * and the errors that end it for good.
 */
#include <inttypes.h>
#include <stdio.h>

#include "file.h"

void takt_job_file_tell_soon(takt_job_file *file, uint64_t after_ms)
{
    if (!file->closing)
        uv_timer_start(&file->soon, file->on_soon, after_ms, 0);
}

void takt_job_file_tell_fail(takt_job_file *file, const char *text)
{
    file->stopped = true;
    file->events->failed(file->data, true, text);
}

void takt_job_file_tell_change(takt_job_file *file, uint64_t line)
{
    char text[512];

    snprintf(text, sizeof(text),
             "%s:%" PRIu64 ": this line was changed; only append to the file, or move it and its "
             ".state file away and start over",
             file->path, line);
    takt_job_file_tell_fail(file, text);
}
