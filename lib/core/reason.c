/*
 * reason.c: see reason.h.
 */
#include "core/reason.h"

#include <string.h>

#include "base/fail.h"
#include "base/utf8.h"

/* Whether a character moves a terminal's cursor or ends a line. */
static bool is_control(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0);
}

int takt_check_reason(const char *reason, takt_error *error)
{
    size_t size = reason ? strnlen(reason, TAKT_REASON_SIZE_MAX + 1) : 0;

    if (size > TAKT_REASON_SIZE_MAX)
        return takt_fail(error, TAKT_E_INVALID, "the reason is too long; write at most %d bytes",
                         TAKT_REASON_SIZE_MAX);
    for (size_t at = 0; at < size;) {
        uint32_t character = 0;
        size_t taken = takt_utf8_decode(reason + at, size - at, &character);
        if (taken == 0)
            return takt_fail(error, TAKT_E_INVALID, "the reason is not UTF-8; write it in UTF-8");
        if (is_control(character))
            return takt_fail(error, TAKT_E_INVALID,
                             "the reason has a control character; write one line of plain text");
        at += taken;
    }
    return 0;
}

size_t takt_reason_write(const char *reason, char text[TAKT_REASON_TEXT_MAX + 1])
{
    char *at = text;

    for (; reason && *reason && at <= text + TAKT_REASON_TEXT_MAX - 3; reason++) {
        if (*reason == '%' || *reason == ';' || *reason == ' ') {
            memcpy(at, *reason == '%' ? "%25" : *reason == ';' ? "%3B" : "%20", 3);
            at += 3;
        } else {
            *at++ = *reason;
        }
    }
    *at = '\0';
    return (size_t)(at - text);
}

void takt_reason_read(const char *text, size_t size, char reason[TAKT_REASON_SIZE_MAX + 1])
{
    size_t read = 0;

    for (size_t at = 0; at < size && read < TAKT_REASON_SIZE_MAX; at++) {
        reason[read++] = text[at];
        if (text[at] == '%' && size - at >= 3) {
            reason[read - 1] = memcmp(text + at, "%3B", 3) == 0   ? ';'
                               : memcmp(text + at, "%20", 3) == 0 ? ' '
                                                                  : '%';
            at += 2;
        }
    }
    reason[read] = '\0';
    if (takt_check_reason(reason, NULL) != 0)
        reason[0] = '\0';
}
