/*
 * key.c: see key.h.
 */
#include "store/redis/key.h"

#include <string.h>

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-' || c == '~';
}

/* Appends a part of that size, percent-encoded; NULL: longer than `max`. */
static char *append_some(char *at, const char *part, size_t size, size_t max)
{
    static const char digits[] = "0123456789ABCDEF";

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

static char *append(char *at, const char *part, size_t max)
{
    return append_some(at, part, strnlen(part, max + 1), max);
}

bool takt_redis_key_shares_slot(const char *name_space)
{
    size_t size = strnlen(name_space, TAKT_NAME_SIZE_MAX + 1);

    /* the inner part ends at the first brace, and has at least one byte */
    return name_space[0] == '{' && size > 2 && size <= TAKT_NAME_SIZE_MAX &&
           1 + strcspn(name_space + 1, "{}") == size - 1 && name_space[size - 1] == '}';
}

/* "NAMESPACE/", or of one in braces "NAMESPACE}/". */
static char *append_name_space(char *at, const char *name_space)
{
    bool shared = takt_redis_key_shares_slot(name_space);

    at = shared ? append_some(at, name_space + 1, strlen(name_space) - 2, TAKT_NAME_SIZE_MAX)
                : append(at, name_space, TAKT_NAME_SIZE_MAX);
    if (at != NULL && shared)
        *at++ = '}';
    if (at != NULL)
        *at++ = '/';
    return at;
}

size_t takt_redis_key(char name[TAKT_REDIS_KEY_SIZE], const char *name_space, const char *limit,
                      const char *key, const char *rest)
{
    size_t rest_size = strnlen(rest, TAKT_REDIS_REST_MAX + 1);
    char *at = name + strlen(TAKT_REDIS_KEY_PREFIX);

    memcpy(name, TAKT_REDIS_KEY_PREFIX, strlen(TAKT_REDIS_KEY_PREFIX));
    at = append_name_space(at, name_space);
    at = append(at, limit, TAKT_NAME_SIZE_MAX);
    if (at != NULL)
        *at++ = '/';
    at = append(at, key, TAKT_KEY_SIZE_MAX);
    if (at == NULL || rest_size > TAKT_REDIS_REST_MAX)
        return 0;
    if (!takt_redis_key_shares_slot(name_space))
        *at++ = '}';
    memcpy(at, rest, rest_size);
    at[rest_size] = '\0';
    return (size_t)(at - name) + rest_size;
}
