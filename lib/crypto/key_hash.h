/*
 * key_hash.h: what a store gets to see of the keys of a limit with `key_hash`: a keyed hash, so
 * that whoever reads the store does not learn whom they name (ann@example.org), and cannot guess it
 * either without the secret that all workers of the fleet share.
 *
 * The hash is HMAC-SHA-256 (RFC 2104) of the limit's name, a NUL and the key, cut to 128 bits and
 * written as "#" and 32 hexadecimal digits.  The same key of two limits has two hashes.
 */
#ifndef TAKT_CRYPTO_KEY_HASH_H
#define TAKT_CRYPTO_KEY_HASH_H

#include <takt/error.h>

#define TAKT_KEY_HASH_SIZE  (1 + 32 + 1) /* with the NUL */
#define TAKT_KEY_SECRET_MIN 16           /* bytes: what is shorter could be guessed */
#define TAKT_KEY_SECRET_MAX 255

typedef struct takt_key_secret {
    char text[TAKT_KEY_SECRET_MAX + 1]; /* "": there is none */
} takt_key_secret;

/*
 * Finds the secret: `given` (NULL: none), else $TAKT_KEY_SECRET, else the first line of the file
 * that $TAKT_KEY_SECRET_FILE names.  None at all is no error: secret->text is empty then.  Returns
 * 0 or TAKT_E_POLICY: too short, too long, or not to be read.
 */
int takt_key_secret_find(takt_key_secret *secret, const char *given, takt_error *error);

/* Whether keys can be hashed here: 0 or TAKT_E_POLICY, with an error that says what to do.  Call it
 * before the first hash. */
int takt_key_hash_check(const takt_key_secret *secret, const char *limit, takt_error *error);

/* A key that is the text of a hash already, such as one that was found in a store, stays as it is;
 * so does the empty key.  0 or TAKT_E_NOMEM. */
int takt_key_hash(const takt_key_secret *secret, const char *limit, const char *key,
                  char hash[TAKT_KEY_HASH_SIZE]);

#endif
