/*
 * standard_files.c: see standard_files.h.
 */
#include "kit/standard_files.h"

#include <fcntl.h>
#include <unistd.h>

bool takt_standard_files_hold(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}
