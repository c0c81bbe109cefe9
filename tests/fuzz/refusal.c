/*
 * refusal.c: see refusal.h.
 */
#include "refusal.h"

#include <argp.h>
#include <stdarg.h>
#include <stdio.h>

static bool refused;

void argp_error(const struct argp_state *state, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    (void)state;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments); /* so that its text is read */
    va_end(arguments);
    refused = true;
}

bool fuzz_was_refused(void)
{
    bool was = refused;

    refused = false;
    return was;
}
