/*
 * test_key_hash.c: hashes of keys, the sources of their secret, and errors.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <takt/policy.h>

#include "crypto/key_hash.h"
#include "crypto/openssl.h"

#define SECRET "0123456789abcdef"

static takt_key_secret secret;
static takt_error error;

static const char *hash_of(const char *limit, const char *key)
{
    static char hash[TAKT_KEY_HASH_SIZE];

    cr_assert_eq(takt_key_hash(&secret, limit, key, hash), 0);
    return hash;
}

static void begin(void)
{
    unsetenv("TAKT_KEY_SECRET");
    unsetenv("TAKT_KEY_SECRET_FILE");
    cr_assert_eq(takt_key_secret_find(&secret, SECRET, &error), 0, "%s", error.text);
    cr_assert_eq(takt_key_hash_check(&secret, "mail", &error), 0, "%s", error.text);
}

TestSuite(key_hash, .init = begin);

/* The rows come from Python's hmac. */
Test(key_hash, is_hmac_sha_256_of_limit_and_key)
{
    cr_expect_str_eq(hash_of("mail", "ann@example.org"), "#3796feccaa56f1dd283b515d881ba815");
    cr_expect_str_eq(hash_of("call", "ann@example.org"), "#31bd8b381db52f9a61399735e06e4f09");
    cr_assert_eq(takt_key_secret_find(&secret, "0123456789abcdeg", &error), 0);
    cr_expect_str_neq(hash_of("mail", "ann@example.org"), "#3796feccaa56f1dd283b515d881ba815");
}

Test(key_hash, takes_keys_and_names_of_any_length)
{
    char name[TAKT_NAME_SIZE_MAX + 1], key[TAKT_KEY_SIZE_MAX + 1];

    memset(name, 'n', sizeof name);
    memset(key, '#', sizeof key);
    name[sizeof name - 1] = key[sizeof key - 1] = '\0';
    cr_expect_eq(strlen(hash_of(name, key)), TAKT_KEY_HASH_SIZE - 1);
    cr_expect_eq(strlen(hash_of(name, "x")), TAKT_KEY_HASH_SIZE - 1);
}

Test(key_hash, leaves_hashes_and_the_empty_key_alone)
{
    cr_expect_str_eq(hash_of("mail", ""), "");
    cr_expect_str_eq(hash_of("mail", "#3796feccaa56f1dd283b515d881ba815"),
                     "#3796feccaa56f1dd283b515d881ba815");
    cr_expect_str_neq(hash_of("mail", "#3796FECCaa56f1dd283b515d881ba815"),
                      "#3796FECCaa56f1dd283b515d881ba815");
    cr_expect_str_neq(hash_of("mail", "#3796"), "#3796");
}

static unsigned char *no_memory(const EVP_MD *digest, const void *key, int key_size,
                                const unsigned char *data, size_t size, unsigned char *made,
                                unsigned *made_size)
{
    (void)digest, (void)key, (void)key_size, (void)data, (void)size, (void)made, (void)made_size;
    return NULL;
}

/* Uninitialised bytes would name a ledger of their own. */
Test(key_hash, fails_without_memory)
{
    char hash[TAKT_KEY_HASH_SIZE];

    takt_openssl.HMAC = no_memory;
    cr_expect_eq(takt_key_hash(&secret, "mail", "ann@example.org", hash), TAKT_E_NOMEM);
    cr_expect_eq(takt_key_hash(&secret, "mail", "", hash), 0, "there is nothing to hash");
}

static void write_secret(char *path, const char *text, size_t size)
{
    int fd = mkstemp(path);

    cr_assert(fd >= 0 && write(fd, text, size) == (ssize_t)size);
    close(fd);
    setenv("TAKT_KEY_SECRET_FILE", path, 1);
}

Test(key_hash, finds_its_secret)
{
    static const struct {
        const char *text;
        const char *found; /* NULL: refused */
    } rows[] = {{SECRET, SECRET},
                {SECRET "\n", SECRET},
                {SECRET "\r\nanother line", SECRET},
                {"short\n" SECRET, NULL},
                {"", NULL}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[] = "/tmp/takt-secret-XXXXXX";
        int code;
        write_secret(path, rows[i].text, strlen(rows[i].text));
        code = takt_key_secret_find(&secret, NULL, &error);
        cr_expect_eq(code, rows[i].found ? 0 : TAKT_E_POLICY, "row %zu", i);
        cr_expect_str_eq(secret.text, rows[i].found ? rows[i].found : "");
        unlink(path);
    }
    setenv("TAKT_KEY_SECRET_FILE", "/nowhere", 1);
    cr_expect_eq(takt_key_secret_find(&secret, NULL, &error), TAKT_E_POLICY);
    cr_expect(strstr(error.text, "No such file"), "%s", error.text);
    setenv("TAKT_KEY_SECRET", "fedcba9876543210", 1);
    cr_expect_eq(takt_key_secret_find(&secret, NULL, &error), 0, "it goes before the file");
    cr_expect_str_eq(secret.text, "fedcba9876543210");
    cr_expect_eq(takt_key_secret_find(&secret, SECRET, &error), 0, "what is given goes first");
    cr_expect_str_eq(secret.text, SECRET);
}

Test(key_hash, refuses_what_is_too_short_or_long_or_is_not_there)
{
    char text[TAKT_KEY_SECRET_MAX + 2];

    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    cr_expect_eq(takt_key_secret_find(&secret, text, &error), TAKT_E_POLICY);
    text[TAKT_KEY_SECRET_MAX] = '\0';
    cr_expect_eq(takt_key_secret_find(&secret, text, &error), 0);
    text[TAKT_KEY_SECRET_MIN - 1] = '\0';
    cr_expect_eq(takt_key_secret_find(&secret, text, &error), TAKT_E_POLICY);
    cr_expect(strstr(error.text, "openssl rand -hex 32"), "%s", error.text);
    cr_expect_eq(takt_key_secret_find(&secret, NULL, &error), 0, "that is no error");
    cr_expect_eq(takt_key_hash_check(&secret, "mail", &error), TAKT_E_POLICY);
    cr_expect(strstr(error.text, "TAKT_KEY_SECRET"), "%s", error.text);
}
