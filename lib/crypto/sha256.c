/*
 * sha256.c: hashes with OpenSSL and writes hexadecimal digits (sha256.h).
 */
#include "crypto/sha256.h"

#include "crypto/openssl.h"

bool takt_sha256(const void *data, size_t size, char digits[TAKT_SHA256_DIGITS])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char digest[EVP_MAX_MD_SIZE];

    if (takt_openssl_load() != NULL ||
        takt_openssl.EVP_Digest(data, size, digest, NULL, takt_openssl.EVP_sha256(), NULL) != 1)
        return false;
    for (int i = 0; i < TAKT_SHA256_DIGITS / 2; i++) {
        digits[2 * i] = hex[digest[i] >> 4];
        digits[2 * i + 1] = hex[digest[i] & 15];
    }
    return true;
}
