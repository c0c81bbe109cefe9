/*
 * name.c: see name.h.
 */
#include "base/name.h"

#include <string.h>

#include <takt/policy.h>

#include "base/fail.h"
#include "base/quote.h"

int takt_name_check(const char *name, takt_error *error)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    char quoted[TAKT_QUOTE_SIZE];
    size_t size = strlen(name);
    if (size == 0)
        return takt_fail(error, TAKT_E_INVALID, "is empty; write 1 to %d of a-z A-Z 0-9 . _ -",
                         TAKT_NAME_SIZE_MAX);
    if (strspn(name, allowed) != size)
        return takt_fail(error, TAKT_E_INVALID, "%s: a name is made of a-z A-Z 0-9 . _ - only",
                         takt_quote(name, quoted));
    if (size > TAKT_NAME_SIZE_MAX)
        return takt_fail(error, TAKT_E_INVALID, "%s: has %zu characters; write at most %d",
                         takt_quote(name, quoted), size, TAKT_NAME_SIZE_MAX);
    return 0;
}

int takt_name_space_check(const char *name_space, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE], inner[TAKT_NAME_SIZE_MAX + 1];
    size_t size = strlen(name_space);
    bool opens = *name_space == '{', closes = size > 0 && name_space[size - 1] == '}';

    if (size > TAKT_NAME_SIZE_MAX || !(opens || closes))
        return takt_name_check(name_space, error);
    if (!opens || !closes || size < 2)
        return takt_fail(error, TAKT_E_INVALID,
                         "%s: has a brace at one end; write one at each end, as in "
                         "\"{mail}\", or none",
                         takt_quote(name_space, quoted));
    memcpy(inner, name_space + 1, size - 2);
    inner[size - 2] = '\0';
    return takt_name_check(inner, error);
}
