/*
 * file_name.c: see file_name.h.
 */
#include "store/file_name.h"

#include <string.h>

#include "crypto/sha256.h"

#define KEY_HASHED (TAKT_FILE_KEY_PLAIN + 1)

size_t takt_file_name(char name[TAKT_RECORD_NAME_MAX], const char *name_space, const char *limit,
                      const char *key)
{
    size_t size = takt_record_name(name, name_space, limit, key), key_size = strlen(key);

    if (size == 0 || key_size <= TAKT_FILE_KEY_PLAIN)
        return size;
    size = size - key_size + KEY_HASHED;
    return takt_sha256(key, key_size, name + size - TAKT_SHA256_DIGITS) ? size : 0;
}
