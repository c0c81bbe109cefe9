/*
 * key_hash.h: the keyed hash that replaces a key in the store, for limits with `key_hash`. A reader
 * of the store cannot see or guess the key (such as ann@example.org) without the secret. All
 * workers of the fleet share the secret.
 *
 * The hash is HMAC-SHA-256 (RFC 2104) of the limit's name, a NUL and the key. It is cut to 128 bits
 * and written as "#" and 32 hexadecimal digits. The same key has different hashes in two limits.
 */
#ifndef TAKT_CRYPTO_KEY_HASH_H
#define TAKT_CRYPTO_KEY_HASH_H

#include <takt/error.h>

#define TAKT_KEY_HASH_SIZE  (1 + 32 + 1) /* with the NUL */
#define TAKT_KEY_SECRET_MIN 16           /* bytes; a shorter secret could be guessed */
#define TAKT_KEY_SECRET_MAX 255

typedef struct takt_key_secret {
    char text[TAKT_KEY_SECRET_MAX + 1]; /* "": no secret */
} takt_key_secret;

/*
 * Finds the secret: `given` (NULL: none), else $TAKT_KEY_SECRET, else the first line of the file
 * that $TAKT_KEY_SECRET_FILE names. A missing secret is no error: secret->text is empty then.
 * Returns 0, or TAKT_E_POLICY if the secret is too short, too long or unreadable.
 */
int takt_key_secret_find(takt_key_secret *secret, const char *given, takt_error *error);

/* Checks that keys can be hashed: 0, or TAKT_E_POLICY with an error that says what to do. Call it
 * before the first hash. */
int takt_key_hash_check(const takt_key_secret *secret, const char *limit, takt_error *error);

/* Hashes a key. The text of a hash (such as a key from a store) and the empty key stay unchanged.
 * Returns 0 or TAKT_E_NOMEM. */
int takt_key_hash(const takt_key_secret *secret, const char *limit, const char *key,
                  char hash[TAKT_KEY_HASH_SIZE]);

#endif
