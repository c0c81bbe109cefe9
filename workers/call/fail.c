/*
 * fail.c: see fail.h.
 */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int takt_caller_fail(takt_error *error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return error->code = TAKT_E_INVALID;
}

int takt_caller_fail_in(takt_error *error, const char *format, ...)
{
    char what[sizeof(error->text)];
    va_list arguments;

    memcpy(what, error->text, sizeof(what));
    va_start(arguments, format);
    int size = vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    if (size >= 0 && (size_t)size < sizeof(error->text))
        snprintf(error->text + size, sizeof(error->text) - (size_t)size, "%s", what);
    return error->code = TAKT_E_INVALID;
}
