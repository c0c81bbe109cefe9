/*
 * Appended bytes come out, after any removal at either end.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "jobs/text/buffer.h"

Test(buffer, grows)
{
    takt_buffer buffer = {0};

    cr_assert_str_eq(takt_buffer_end(&buffer), "");
    cr_assert(takt_buffer_put(&buffer, NULL, 0));
    for (int i = 0; i < 10000; i++)
        cr_assert(takt_buffer_put(&buffer, "0123456789", 10));
    cr_assert_eq(buffer.size, 100000);
    for (size_t i = 0; i < buffer.size; i++)
        cr_assert_eq(buffer.at[i], '0' + (int)(i % 10));
    takt_buffer_free(&buffer);
    cr_assert_eq(buffer.size, 0);
}

Test(buffer, both_ends)
{
    takt_buffer buffer = {0};

    takt_buffer_drop(&buffer, 0);
    takt_buffer_text(&buffer, "abcdef");
    takt_buffer_drop(&buffer, 2);
    cr_assert_str_eq(takt_buffer_end(&buffer), "cdef");
    takt_buffer_cut(&buffer, 3);
    takt_buffer_char(&buffer, 'x');
    cr_assert_str_eq(takt_buffer_end(&buffer), "cdex");
    takt_buffer_clear(&buffer);
    cr_assert_str_eq(takt_buffer_end(&buffer), "");
    takt_buffer_free(&buffer);
}

/* The state after a failed allocation. */
Test(buffer, failed)
{
    takt_buffer buffer = {0};

    takt_buffer_text(&buffer, "kept");
    buffer.failed = true;
    cr_assert_not(takt_buffer_put(&buffer, "lost", 4));
    cr_assert_str_eq(takt_buffer_end(&buffer), "");
    takt_buffer_cut(&buffer, 4);
    cr_assert(takt_buffer_put(&buffer, "!", 1));
    cr_assert_str_eq(takt_buffer_end(&buffer), "kept!");
    takt_buffer_free(&buffer);
}
