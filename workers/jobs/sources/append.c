/*
 * append.c: see append.h.
 */
#include "append.h"

#include <errno.h>
#include <unistd.h>

bool takt_append_put(takt_append *file, const char *text, size_t size)
{
    size_t before = file->text.size;

    if (file->fd < 0 || takt_buffer_put(&file->text, text, size))
        return true;
    takt_buffer_cut(&file->text, before);
    return false;
}

int takt_append_flush(takt_append *file)
{
    size_t done = 0;
    int failed = 0;

    while (done < file->text.size && !failed) {
        ssize_t count = write(file->fd, file->text.at + done, file->text.size - done);
        if (count >= 0)
            done += (size_t)count;
        else if (errno != EINTR)
            failed = errno;
    }
    takt_buffer_drop(&file->text, done);
    return failed;
}

void takt_append_close(takt_append *file)
{
    if (file->fd >= 0)
        close(file->fd);
    takt_buffer_free(&file->text);
    file->fd = -1;
}
