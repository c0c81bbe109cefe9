/*
 * checkup.c: see checkup.h.
 */
#include "doctor/checkup.h"

#include <stdarg.h>
#include <stdio.h>

#include <uv.h>

#include "base/random.h"

static void tell(takt_checkup *checkup, takt_finding_level level, const char *subject,
                 const char *format, va_list arguments)
{
    char text[2 * TAKT_ERROR_TEXT_SIZE];
    takt_finding finding = {level, subject, text};

    vsnprintf(text, sizeof text, format, arguments);
    checkup->on_finding(checkup->data, &finding);
}

void takt_checkup_tell(takt_checkup *checkup, takt_finding_level level, const char *subject,
                       const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell(checkup, level, subject, format, arguments);
    va_end(arguments);
}

void takt_checkup_fail(takt_checkup *checkup, int code, const char *subject, const char *format,
                       ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell(checkup, TAKT_FINDING_ERROR, subject, format, arguments);
    va_end(arguments);
    if (checkup->code == 0)
        checkup->code = code;
}

void takt_checkup_key(char key[TAKT_CHECKUP_KEY_SIZE])
{
    uint64_t state = uv_hrtime() ^ (uint64_t)(uintptr_t)key;

    /* else the clock and an address serve as the seed */
    (void)uv_random(NULL, NULL, &state, sizeof state, 0, NULL);
    snprintf(key, TAKT_CHECKUP_KEY_SIZE, "%016llx", (unsigned long long)takt_random(&state));
}

const char *takt_checkup_bytes(int64_t bytes, char text[TAKT_CHECKUP_BYTES_SIZE])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;

    for (; bytes >= 10240 && unit < sizeof units / sizeof units[0] - 1; unit++)
        bytes /= 1024;
    snprintf(text, TAKT_CHECKUP_BYTES_SIZE, "%lld %s", (long long)bytes, units[unit]);
    return text;
}
