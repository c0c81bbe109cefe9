/*
 * url_password.c: where the passwords of a URL come from (url.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "redis/url.h"

#define PASSWORD_VARIABLE "TAKT_REDIS_PASSWORD"

/* The first line of a file; `option` names it. */
static int read_file(const char *file, const char *option, char password[TAKT_REDIS_SECRET_MAX + 1],
                     takt_error *error)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, password, TAKT_REDIS_SECRET_MAX + 1);
    int number = errno;
    char *end;

    if (fd >= 0)
        close(fd);
    if (size < 0) {
        password[0] = '\0';
        return takt_fail(error, TAKT_E_STORE_ACCESS, "redis: cannot read the %s: %s", option,
                         strerror(number));
    }
    end = memchr(password, '\n', (size_t)size);
    if (end)
        size = end - password;
    if (size > 0 && password[size - 1] == '\r')
        size--;
    if (size == 0 || size > TAKT_REDIS_SECRET_MAX)
        return takt_fail(error, TAKT_E_STORE_ACCESS,
                         "redis: the first line of the %s is the password, 1 to %d bytes", option,
                         TAKT_REDIS_SECRET_MAX);
    password[size] = '\0';
    return 0;
}

static int find_own(takt_redis_url *url, takt_error *error)
{
    const char *secret = getenv(PASSWORD_VARIABLE);

    if (url->authenticates)
        return 0;
    if (url->password_file[0] != '\0') {
        int code = read_file(url->password_file, "password_file", url->password, error);
        if (code < 0)
            return code;
    } else if (secret != NULL && secret[0] != '\0') {
        if (strlen(secret) > TAKT_REDIS_SECRET_MAX)
            return takt_fail(error, TAKT_E_STORE_ACCESS,
                             "redis: the password in $" PASSWORD_VARIABLE
                             " is longer than %d bytes",
                             TAKT_REDIS_SECRET_MAX);
        memcpy(url->password, secret, strlen(secret) + 1);
    } else if (url->user[0] != '\0') {
        return takt_fail(error, TAKT_E_STORE_ACCESS,
                         "redis: there is a user but no password: set $" PASSWORD_VARIABLE
                         ", or name a file with ?password_file=FILE");
    } else {
        return 0;
    }
    url->authenticates = true;
    return 0;
}

int takt_redis_url_find_password(takt_redis_url *url, takt_error *error)
{
    int code = find_own(url, error);

    if (code == 0 && url->sentinel_password_file[0] != '\0')
        code = read_file(url->sentinel_password_file, "sentinel_password_file",
                         url->sentinel_password, error);
    return code;
}
