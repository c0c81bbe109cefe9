/*
 * key_hash.c: finds the secret and hashes keys with it (key_hash.h). The policy decides which
 * limits hash their keys.
 */
#include "crypto/key_hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <takt/policy.h>

#include "base/fail.h"
#include "crypto/openssl.h"

#define SECRET_VARIABLE "TAKT_KEY_SECRET"
#define FILE_VARIABLE   "TAKT_KEY_SECRET_FILE"
#define DIGITS          32

/* ---- the secret ------------------------------------------------------------------------------ */

static int take(takt_key_secret *secret, const char *from, const char *text, size_t size,
                takt_error *error)
{
    if (size < TAKT_KEY_SECRET_MIN || size > TAKT_KEY_SECRET_MAX)
        return takt_fail(error, TAKT_E_POLICY,
                         "the secret of key_hash in %s has %zu bytes; write %d to %d, such as the "
                         "output of `openssl rand -hex 32`",
                         from, size, TAKT_KEY_SECRET_MIN, TAKT_KEY_SECRET_MAX);
    memcpy(secret->text, text, size);
    secret->text[size] = '\0';
    return 0;
}

static int read_file(takt_key_secret *secret, const char *path, takt_error *error)
{
    char text[TAKT_KEY_SECRET_MAX + 2];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text);
    int number = errno, code;

    if (fd >= 0)
        close(fd);
    if (size < 0)
        return takt_fail(error, TAKT_E_POLICY, "cannot read the file in $" FILE_VARIABLE ": %s",
                         strerror(number));
    size_t line = 0;
    while (line < (size_t)size && text[line] != '\n' && text[line] != '\0')
        line++;
    if (line > 0 && text[line - 1] == '\r')
        line--;
    code = take(secret, "the file in $" FILE_VARIABLE, text, line, error);
    explicit_bzero(text, sizeof text);
    return code;
}

int takt_key_secret_find(takt_key_secret *secret, const char *given, takt_error *error)
{
    const char *text = getenv(SECRET_VARIABLE), *path = getenv(FILE_VARIABLE);

    secret->text[0] = '\0';
    if (given)
        return take(secret, "takt_options.key_secret", given, strlen(given), error);
    if (text && text[0])
        return take(secret, "$" SECRET_VARIABLE, text, strlen(text), error);
    return path && path[0] ? read_file(secret, path, error) : 0;
}

/* ---- hashes ---------------------------------------------------------------------------------- */

int takt_key_hash_check(const takt_key_secret *secret, const char *limit, takt_error *error)
{
    const char *trouble;

    if (secret->text[0] == '\0')
        return takt_fail(error, TAKT_E_POLICY,
                         "limit \"%s\": key_hash needs a secret that all workers share; set "
                         "$" SECRET_VARIABLE ", or name a file with it in $" FILE_VARIABLE,
                         limit);
    trouble = takt_openssl_load();
    if (trouble)
        return takt_fail(error, TAKT_E_POLICY, "limit \"%s\": key_hash: %s", limit, trouble);
    return 0;
}

static int is_hash(const char *key)
{
    return key[0] == '#' && strlen(key) == 1 + DIGITS &&
           strspn(key + 1, "0123456789abcdef") == DIGITS;
}

int takt_key_hash(const takt_key_secret *secret, const char *limit, const char *key,
                  char hash[TAKT_KEY_HASH_SIZE])
{
    unsigned char message[TAKT_NAME_SIZE_MAX + 1 + TAKT_KEY_SIZE_MAX], digest[EVP_MAX_MD_SIZE];
    size_t limit_size = strlen(limit) + 1, key_size = strlen(key);

    if (key_size == 0 || is_hash(key)) {
        memcpy(hash, key, key_size + 1);
        return 0;
    }
    memcpy(message, limit, limit_size);
    memcpy(message + limit_size, key, key_size);
    if (!takt_openssl.HMAC(takt_openssl.EVP_sha256(), secret->text, (int)strlen(secret->text),
                           message, limit_size + key_size, digest, NULL))
        return TAKT_E_NOMEM; /* the only possible failure after takt_key_hash_check */
    hash[0] = '#';
    for (int i = 0; i < DIGITS / 2; i++)
        snprintf(hash + 1 + 2 * i, 3, "%02x", digest[i]);
    return 0;
}
