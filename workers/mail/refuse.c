/*
 * refuse.c: writes a message into a takt_error. The old message may be among the arguments.
 */
#include "refuse.h"

#include <stdarg.h>
#include <stdio.h>

int takt_mail_refuse(takt_error *error, const char *format, ...)
{
    takt_error made = {.code = TAKT_E_INVALID};
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(made.text, sizeof(made.text), format, arguments);
    va_end(arguments);
    if (error)
        *error = made;
    return TAKT_E_INVALID;
}
