/*
 * key.c: see key.h.
 */
#include "store/redis/key.h"

#include <stdbool.h>
#include <string.h>

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-' || c == '~';
}

/* Appends a part, percent-encoded; NULL: longer than `max`. */
static char *append(char *at, const char *part, size_t max)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t size = at ? strnlen(part, max + 1) : 0;

    if (at == NULL || size > max)
        return NULL;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)part[i];
        if (is_plain(part[i])) {
            *at++ = part[i];
            continue;
        }
        *at++ = '%';
        *at++ = digits[c >> 4];
        *at++ = digits[c & 15];
    }
    return at;
}

size_t takt_redis_key(char name[TAKT_REDIS_KEY_SIZE], const char *name_space, const char *limit,
                      const char *key, const char *rest)
{
    size_t rest_size = strnlen(rest, TAKT_REDIS_REST_MAX + 1);
    char *at = name + strlen(TAKT_REDIS_KEY_PREFIX);

    memcpy(name, TAKT_REDIS_KEY_PREFIX, strlen(TAKT_REDIS_KEY_PREFIX));
    at = append(at, name_space, TAKT_NAME_SIZE_MAX);
    if (at != NULL)
        *at++ = '/';
    at = append(at, limit, TAKT_NAME_SIZE_MAX);
    if (at != NULL)
        *at++ = '/';
    at = append(at, key, TAKT_KEY_SIZE_MAX);
    if (at == NULL || rest_size > TAKT_REDIS_REST_MAX)
        return 0;
    *at++ = '}';
    memcpy(at, rest, rest_size);
    at[rest_size] = '\0';
    return (size_t)(at - name) + rest_size;
}
