/*
 * sha256.h: SHA-256 as hexadecimal digits, computed by OpenSSL.
 */
#ifndef TAKT_CRYPTO_SHA256_H
#define TAKT_CRYPTO_SHA256_H

#include <stdbool.h>
#include <stddef.h>

#define TAKT_SHA256_DIGITS 64

/* Writes the digits, lower case and without a NUL.  False: OpenSSL cannot be loaded. */
bool takt_sha256(const void *data, size_t size, char digits[TAKT_SHA256_DIGITS]);

#endif
