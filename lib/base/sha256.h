/*
 * sha256.h: SHA-256 (FIPS 180-4) of a short text, for names of a fixed length.  Secrets are hashed
 * by OpenSSL (crypto/key_hash.h).
 */
#ifndef TAKT_BASE_SHA256_H
#define TAKT_BASE_SHA256_H

#include <stddef.h>

#define TAKT_SHA256_DIGITS 64

/* Writes the hash as lower-case hexadecimal digits, without a NUL. */
void takt_sha256(const char *bytes, size_t size, char digits[TAKT_SHA256_DIGITS]);

#endif
