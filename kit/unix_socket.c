/*
 * unix_socket.c: see unix_socket.h.
 */
#include "kit/unix_socket.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <takt/error.h>

/* Whether a server accepts connections there; *code: 0, or errno of another failure. */
static bool is_listened_at(const char *path, int *code)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    *code = fd < 0 ? errno : 0;
    if (fd < 0)
        return false;
    strcpy(address.sun_path, path); /* the caller has checked the length */
    int failed = connect(fd, (struct sockaddr *)&address, sizeof(address)) ? errno : 0;
    close(fd);
    if (failed == 0 || failed == EAGAIN) /* EAGAIN: its queue is full */
        return true;
    *code = failed == ECONNREFUSED || failed == ENOENT ? 0 : failed;
    return false;
}

int takt_unix_socket_clear(const char *path, const char **why)
{
    struct stat about;
    int code;

    *why = "a socket's path has 1 to 107 bytes";
    if (strlen(path) == 0 || strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
        return TAKT_E_INVALID;
    if (lstat(path, &about) != 0)
        return 0;
    *why = "the path exists and is not a socket; use another path";
    if (!S_ISSOCK(about.st_mode))
        return TAKT_E_SYSTEM;
    *why = "another process listens there; give each process a path of its own";
    if (is_listened_at(path, &code))
        return TAKT_E_SYSTEM;
    if (code == 0 && unlink(path) != 0)
        code = errno;
    *why = strerror(code);
    return code ? TAKT_E_SYSTEM : 0;
}
