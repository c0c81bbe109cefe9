/*
 * text.h: what tests of takt-mail's parts compare.
 */
#ifndef TAKT_TESTS_MAIL_TEXT_H
#define TAKT_TESTS_MAIL_TEXT_H

#include <criterion/criterion.h>
#include <string.h>

#include "jobs/text/buffer.h"

/* A buffer has exactly that text. */
static inline void expect_text(takt_buffer *buffer, const char *expected, const char *what)
{
    const char *text = takt_buffer_end(buffer);

    cr_assert_not(buffer->failed);
    cr_assert_str_eq(text, expected, "%s: [%s] instead of [%s]", what, text, expected);
}

#endif
