/*
 * zone_load.c: finds, reads and keeps timezones (zone_load.h). tzif.c decodes the files.
 */
#include "zone/zone_load.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/quote.h"
#include "zone/tzif.h"

#define FOLDER "/usr/share/zoneinfo"

typedef struct loaded {
    struct loaded *next;
    takt_zone zone;
} loaded;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static loaded *all; /* under the mutex; never freed, because rules point to zones */

static const char *zoneinfo_directory(void)
{
    const char *given = getenv("TZDIR");

    return given && *given ? given : FOLDER;
}

/* Names of the database are words with slashes between them. Other names are never used as a path.
 */
static bool is_name(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/";
    size_t size = strlen(name);

    return size > 0 && size <= TAKT_ZONE_NAME_MAX && strspn(name, allowed) == size &&
           name[0] != '/' && name[size - 1] != '/' && strstr(name, "//") == NULL;
}

static int no_such(takt_error *error, const char *name)
{
    char quoted[TAKT_QUOTE_SIZE], there[TAKT_QUOTE_SIZE];
    struct stat status;

    takt_quote(name, quoted);
    takt_quote(zoneinfo_directory(), there);
    if (stat(zoneinfo_directory(), &status) != 0)
        return takt_fail(error, TAKT_E_POLICY,
                         "%s: this host has no timezones in %s; install the package tzdata, or set "
                         "TZDIR to where they are",
                         quoted, there);
    return takt_fail(error, TAKT_E_POLICY,
                     "%s: there is no such timezone in %s; write a name like America/Los_Angeles",
                     quoted, there);
}

/* Reads the whole file. If the file is too long, *size is above the maximum. */
static int read_file(const char *path, unsigned char *bytes, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    ssize_t n = 0;

    if (fd < 0)
        return errno;
    *size = 0;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        return EISDIR;
    }
    while (*size <= TAKT_TZIF_SIZE_MAX &&
           (n = read(fd, bytes + *size, TAKT_TZIF_SIZE_MAX + 1 - *size)) > 0)
        *size += (size_t)n;
    close(fd);
    return n < 0 ? EIO : 0;
}

/* The error of an unreadable file. A missing file is an error of the policy; other failures may be
 * temporary. */
static int unread(takt_error *error, const char *name, const char *path, int number)
{
    char quoted[TAKT_QUOTE_SIZE];

    if (number == ENOENT || number == ENOTDIR || number == EISDIR)
        return no_such(error, name);
    return takt_fail(error, number == ENOMEM ? TAKT_E_NOMEM : TAKT_E_SYSTEM, "cannot read %s: %s",
                     takt_quote(path, quoted), strerror(number));
}

static int load(loaded *made, takt_error *error)
{
    char path[PATH_MAX], quoted[TAKT_QUOTE_SIZE];
    unsigned char *bytes;
    takt_zone_change *changes = NULL;
    size_t size = 0;
    int code;
    int length = snprintf(path, sizeof path, "%s/%s", zoneinfo_directory(), made->zone.name);

    if (length < 0 || (size_t)length >= sizeof path)
        return no_such(error, made->zone.name);
    bytes = malloc(TAKT_TZIF_SIZE_MAX + 1);
    if (!bytes)
        return takt_fail(error, TAKT_E_NOMEM, "no memory for a timezone");
    code = read_file(path, bytes, &size);
    if (code != 0) {
        free(bytes);
        return unread(error, made->zone.name, path, code);
    }
    if (size > TAKT_TZIF_SIZE_MAX)
        code = takt_fail(error, TAKT_E_POLICY, "is no timezone file: it is too large");
    else
        code = takt_tzif_read(bytes, size, &changes, &made->zone.count, error);
    free(bytes);
    if (code != 0) {
        takt_fail_prefix(error, "%s: ", takt_quote(path, quoted));
        return code;
    }
    made->zone.changes = changes;
    return 0;
}

static const takt_zone *find(const char *name)
{
    for (const loaded *at = all; at; at = at->next)
        if (strcmp(at->zone.name, name) == 0)
            return &at->zone;
    return NULL;
}

static int load_new(const char *name, const takt_zone **zone, takt_error *error)
{
    loaded *made = calloc(1, sizeof *made);
    int code;

    if (!made)
        return takt_fail(error, TAKT_E_NOMEM, "no memory for a timezone");
    memcpy(made->zone.name, name, strlen(name) + 1);
    code = load(made, error);
    if (code != 0) {
        free(made);
        return code;
    }
    made->next = all;
    all = made;
    *zone = &made->zone;
    return 0;
}

int takt_zone_load(const char *name, const takt_zone **zone, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE];
    const takt_zone *found;
    int code = 0;

    if (!is_name(name))
        return takt_fail(error, TAKT_E_POLICY,
                         "%s: is not the name of a timezone; write one like America/Los_Angeles",
                         takt_quote(name, quoted));
    pthread_mutex_lock(&mutex);
    found = find(name);
    if (found)
        *zone = found;
    else
        code = load_new(name, zone, error);
    pthread_mutex_unlock(&mutex);
    return code;
}

const takt_zone *takt_zone_named(const char *name, size_t size)
{
    char copy[TAKT_ZONE_NAME_MAX + 1];
    const takt_zone *zone = NULL;

    if (size > TAKT_ZONE_NAME_MAX || memchr(name, '\0', size))
        return NULL;
    memcpy(copy, name, size);
    copy[size] = '\0';
    return takt_zone_load(copy, &zone, NULL) == 0 ? zone : NULL;
}
