/*
 * append.c: a file that only grows, by one write for all that has come together.
 */
#include "append.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool append_put(append *file, const char *text, size_t size)
{
    size_t capacity = file->capacity ? file->capacity : 4096;

    if (file->fd < 0)
        return true;
    while (capacity < file->size + size)
        capacity *= 2;
    if (capacity > file->capacity) {
        char *larger = realloc(file->text, capacity);
        if (!larger)
            return false;
        file->text = larger;
        file->capacity = capacity;
    }
    memcpy(file->text + file->size, text, size);
    file->size += size;
    return true;
}

int append_flush(append *file)
{
    size_t done = 0;
    int failed = 0;

    while (done < file->size && !failed) {
        ssize_t count = write(file->fd, file->text + done, file->size - done);
        if (count >= 0)
            done += (size_t)count;
        else if (errno != EINTR)
            failed = errno;
    }
    if (done > 0)
        memmove(file->text, file->text + done, file->size - done);
    file->size -= done;
    return failed;
}

void append_close(append *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->text);
    *file = (append){.fd = -1};
}
