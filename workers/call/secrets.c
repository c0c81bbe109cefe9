/*
 * secrets.c: see secrets.h.
 */
#include "secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"

#define BLOT_MIN  4
#define SHOWN_MAX 80 /* bytes of a name in a message */

/* "env:NAME" of "${env:NAME}". */
typedef struct reference {
    const char *name;
    size_t size;
    const char *end; /* after the brace */
} reference;

/* Finds the next reference in the text: 1, 0 if there is none, or TAKT_E_INVALID. */
static int next_reference(const char *text, reference *found, takt_error *error)
{
    const char *open = strstr(text, "${"), *close;

    if (!open)
        return 0;
    close = strchr(open, '}');
    found->name = open + 2;
    if (close && (strncmp(found->name, "env:", 4) == 0 || strncmp(found->name, "file:", 5) == 0)) {
        found->size = (size_t)(close - found->name);
        found->end = close + 1;
        if (strchr(found->name, ':') + 1 < close && found->size < 4096)
            return 1;
    }
    takt_caller_fail(error, "\"${\" begins a secret: write ${env:NAME} or ${file:PATH}");
    return TAKT_E_INVALID;
}

static bool may_go(const char *hosts, const takt_caller_origin *to)
{
    return hosts && takt_caller_hosts_has(hosts, to->host, to->port);
}

static int refuse(const reference *found, const takt_caller_origin *to, const char *what,
                  takt_error *error)
{
    int size = found->size < SHOWN_MAX ? (int)found->size : SHOWN_MAX;

    return takt_caller_fail(error, "the secret %.*s %s %s; start takt-call with --secret %.*s@%s",
                            size, found->name, what, to->host, size, found->name, to->host);
}

/* Several --secret of one name add their hosts. The prefix counts only for names without
 * --secret. */
static int check_one(const takt_caller_allowed *allowed, const reference *found,
                     const takt_caller_origin *to, takt_error *error)
{
    bool is_listed = false;

    for (int i = 0; i < allowed->secret_count; i++) {
        const struct takt_caller_allowed_secret *one = &allowed->secrets[i];
        if (one->size != found->size || memcmp(one->name, found->name, one->size) != 0)
            continue;
        if (may_go(one->hosts ? one->hosts : allowed->hosts, to))
            return 0;
        is_listed = true;
    }
    if (is_listed)
        return refuse(found, to, "may not be sent to", error);
    if (strncmp(found->name, "env:" SECRETS_PREFIX, strlen("env:" SECRETS_PREFIX)) != 0)
        return refuse(found, to, "is not allowed for", error);
    return may_go(allowed->hosts, to) ? 0 : refuse(found, to, "may not be sent to", error);
}

bool takt_caller_secrets_is_set(const char *name, size_t size)
{
    char text[4096];

    if (strncmp(name, "env:", 4) != 0 || size >= sizeof(text))
        return true;
    memcpy(text, name, size);
    text[size] = '\0';
    return getenv(text + 4) != NULL;
}

int takt_caller_secrets_check(const takt_caller_allowed *allowed, const takt_caller_origin *to,
                              const char *value, takt_error *error)
{
    reference found = {0};
    int code;

    while ((code = next_reference(value, &found, error)) > 0) {
        code = check_one(allowed, &found, to, error);
        if (code != 0)
            return code;
        if (!takt_caller_secrets_is_set(found.name, found.size))
            return takt_caller_fail(error,
                                    "the environment variable %.*s is not set; set it and start "
                                    "takt-call again",
                                    found.size - 4 < SHOWN_MAX ? (int)found.size - 4 : SHOWN_MAX,
                                    found.name + 4);
        value = found.end;
    }
    return code;
}

bool takt_caller_secrets_is_named(const char *value)
{
    return strstr(value, "${") != NULL;
}

static takt_caller_secret *keep(takt_caller_secret **read, const char *text, size_t size)
{
    takt_caller_secret *made = malloc(sizeof(*made) + size + 1);

    if (!made)
        return NULL;
    memcpy(made->text, text, size);
    made->text[size] = '\0';
    made->size = size;
    made->next = *read;
    *read = made;
    return made;
}

/* Keeps the JSON form of a secret, with a backslash before each of `marked`: servers often echo a
 * request as JSON. */
static bool keep_marked(takt_caller_secret **read, const char *text, size_t size,
                        const char *marked)
{
    char *longer = malloc(2 * size + 1);
    size_t used = 0;

    for (size_t i = 0; longer && i < size; i++) {
        if (memchr(marked, text[i], strlen(marked)))
            longer[used++] = '\\';
        longer[used++] = text[i];
    }
    bool kept = longer && (used == size || keep(read, longer, used));
    if (longer)
        explicit_bzero(longer, used);
    free(longer);
    return kept;
}

/* Keeps the secret that is sent (the last one kept) and the forms in which it may come back: some
 * servers write / as \/. */
static takt_caller_secret *keep_all(takt_caller_secret **read, const char *text, size_t size)
{
    if (!keep_marked(read, text, size, "\"\\") || !keep_marked(read, text, size, "\"\\/"))
        return NULL;
    return keep(read, text, size);
}

/* The file is read for each call, so that a replaced file counts at once. It should be small and
 * local. */
static takt_caller_secret *read_file(const char *path, takt_caller_secret **read_so_far,
                                     takt_error *error)
{
    char text[SECRET_SIZE_MAX + 1];
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    takt_caller_secret *made = NULL;

    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        takt_caller_fail(error, "the file of a secret cannot be read: %s",
                         fd < 0 ? strerror(errno) : "it is not a regular file");
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    ssize_t size = read(fd, text, sizeof(text));
    close(fd);
    if (size < 0 || size > SECRET_SIZE_MAX) {
        takt_caller_fail(error, "the file of a secret %s",
                         size < 0 ? "cannot be read" : "has more than 8 KiB");
        return NULL;
    }
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
        size--;
    made = keep_all(read_so_far, text, (size_t)size);
    explicit_bzero(text, sizeof(text));
    if (!made)
        takt_caller_fail(error, "no memory");
    return made;
}

static takt_caller_secret *read_one(const reference *found, takt_caller_secret **read_so_far,
                                    takt_error *error)
{
    char name[4096];
    const char *value;

    memcpy(name, found->name, found->size);
    name[found->size] = '\0';
    if (strncmp(name, "file:", 5) == 0)
        return read_file(name + 5, read_so_far, error);
    value = getenv(name + 4); /* it was set when it was checked */
    takt_caller_secret *made = value ? keep_all(read_so_far, value, strlen(value)) : NULL;
    if (!made)
        takt_caller_fail(error, "no memory");
    return made;
}

/* Whether the secret has no line end in it. */
static bool is_plain(const takt_caller_secret *one)
{
    for (size_t i = 0; i < one->size; i++)
        if ((unsigned char)one->text[i] < 0x20 || one->text[i] == 0x7f)
            return false;
    return true;
}

static bool append(char **text, size_t *size, const char *more, size_t more_size)
{
    char *longer = malloc(*size + more_size + 1);

    if (!longer)
        return false;
    memcpy(longer, *text ? *text : "", *size);
    memcpy(longer + *size, more, more_size);
    takt_caller_secrets_wipe(*text);
    *size += more_size;
    longer[*size] = '\0';
    *text = longer;
    return true;
}

char *takt_caller_secrets_fill(const char *value, takt_caller_secret **read, takt_error *error)
{
    char *text = NULL;
    size_t size = 0;
    reference found = {0};
    int code;

    while ((code = next_reference(value, &found, error)) > 0) {
        takt_caller_secret *one = read_one(&found, read, error);
        if (one && !is_plain(one)) {
            takt_caller_fail(
                error,
                "a secret has a control character, such as a newline; a header cannot contain one");
            one = NULL;
        }
        if (!one || !append(&text, &size, value, (size_t)(found.name - 2 - value)) ||
            !append(&text, &size, one->text, one->size)) {
            takt_caller_secrets_wipe(text);
            return NULL;
        }
        value = found.end;
    }
    if (code == 0 && append(&text, &size, value, strlen(value)))
        return text;
    takt_caller_secrets_wipe(text);
    return NULL;
}

/* The search runs on a copy, since blotting one secret may overwrite a part of another. */
void takt_caller_secrets_blot(const takt_caller_secret *read, char *text, size_t size)
{
    char *whole = malloc(size + 1);

    if (!whole) {
        memset(text, '*', size); /* better no value than a secret */
        return;
    }
    memcpy(whole, text, size);
    for (; read; read = read->next) {
        char *at = whole, *found;
        if (read->size < BLOT_MIN)
            continue;
        while ((found = memmem(at, size - (size_t)(at - whole), read->text, read->size)) != NULL) {
            memset(text + (found - whole), '*', read->size);
            at = found + read->size;
        }
    }
    explicit_bzero(whole, size);
    free(whole);
}

void takt_caller_secrets_wipe(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

void takt_caller_secrets_forget(takt_caller_secret **read)
{
    while (*read) {
        takt_caller_secret *next = (*read)->next;
        explicit_bzero((*read)->text, (*read)->size);
        free(*read);
        *read = next;
    }
}
