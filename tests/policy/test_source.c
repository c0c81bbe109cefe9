/*
 * Bytes that are no text, files that cannot be read, and names too long to be shown.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/source.h"

Test(source, refuses_what_is_no_text_at_its_line)
{
    static const struct {
        const char *text;
        size_t size;
        const char *words; /* NULL: as it should be */
    } rows[] = {
        {"", 0, NULL},
        {"a: b\n\tc\r\nd", 10, NULL},
        {"\xef\xbb\xbf# \xe2\x82\xac \xf0\x9f\x98\x80\n", 13, NULL},
        {"a\nb\0c\n", 6, "takt.yaml:2: has a NUL byte; write plain text"},
        {"a\n\nb\xff\n", 5, "takt.yaml:3: is not UTF-8; save the file as UTF-8"},
        {"caf\xe9\n", 5, "takt.yaml:1: is not UTF-8"},
        {"a\n\xc0\xaf", 4, "takt.yaml:2: is not UTF-8"},
        {"a\n\xe2\x82", 4, "takt.yaml:2: is not UTF-8"},
        {"\xff\xfe"
         "a\0",
         4, "takt.yaml:1: is UTF-16; save the file as UTF-8"},
        {"\xfe\xff\0a", 4, "takt.yaml:1: is UTF-16; save the file as UTF-8"},
        {"a\rb\n", 4, "takt.yaml:1: has a carriage return without a line feed"},
        {"a\r\nb\r", 5, "takt.yaml:2: has a carriage return without a line feed"},
        {"a\n\x1b[2J", 6, "takt.yaml:2: has a control character; take it out"},
        {"\x07", 1, "takt.yaml:1: has a control character"},
        {"a\x7f", 2, "takt.yaml:1: has a control character"},
        {"a\xc2\x85", 3, "takt.yaml:1: has a control character"},
        {"a\n\xe2\x80\xa8", 5, "takt.yaml:2: has a line separator"},
        {"a\n\n\n\xe2\x80\xa9", 7, "takt.yaml:4: has a line separator"},
        {"a\n\xef\xbb\xbf", 5, "takt.yaml:2: has a byte order mark inside"},
        {"\xef\xbf\xbf", 3, "takt.yaml:1: has a character that is none"},
        {"\xef\xbf\xbe", 3, "takt.yaml:1: has a character that is none"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_source source;
        takt_error error = {0};
        takt_source_init(&source, "takt.yaml", rows[i].text, rows[i].size);
        int code = takt_source_check(&source, &error);
        cr_assert_eq(code, rows[i].words == NULL ? 0 : TAKT_E_POLICY, "row %zu: %s", i, error.text);
        if (rows[i].words != NULL)
            cr_assert_eq(strncmp(error.text, rows[i].words, strlen(rows[i].words)), 0,
                         "row %zu: %s", i, error.text);
    }
}

Test(source, passes_over_a_byte_order_mark)
{
    takt_source source;
    takt_source_init(&source, "takt.yaml",
                     "\xef\xbb\xbf"
                     "a",
                     4);
    cr_assert_eq(takt_source_check(&source, NULL), 0);
    cr_assert_eq(source.size, 1);
    cr_assert_eq(source.text[0], 'a');
}

Test(source, bounds_the_size)
{
    char *text = malloc(TAKT_SOURCE_SIZE_MAX + 1);
    takt_source source;
    takt_error error = {0};
    cr_assert_not_null(text);
    memset(text, '#', TAKT_SOURCE_SIZE_MAX + 1);
    takt_source_init(&source, "takt.yaml", text, TAKT_SOURCE_SIZE_MAX);
    cr_assert_eq(takt_source_check(&source, &error), 0);
    takt_source_init(&source, "takt.yaml", text, TAKT_SOURCE_SIZE_MAX + 1);
    cr_assert_eq(takt_source_check(&source, &error), TAKT_E_POLICY);
    cr_assert_str_eq(error.text, "takt.yaml:1: is larger than 1 MiB; write a smaller policy");
    free(text);
}

Test(source, reads_files_of_all_sizes)
{
    static const size_t sizes[] = {0,     1,       4095,    4096,    4097,   8192,
                                   65536, 1048575, 1048576, 1048577, 3000000};
    char path[] = "/tmp/takt-test-source-XXXXXX";
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t size = sizes[i], read = 1;
        char *text = NULL;
        takt_error error = {0};
        cr_assert_eq(ftruncate(file, (off_t)size), 0);
        if (size > 0)
            cr_assert_eq(pwrite(file, "$", 1, (off_t)size - 1), 1);
        cr_assert_eq(takt_source_read(path, &text, &read, &error), 0, "%s", error.text);
        cr_assert_eq(read, size > TAKT_SOURCE_SIZE_MAX ? TAKT_SOURCE_SIZE_MAX + 1 : size,
                     "%zu of %zu", read, size);
        if (size > 0 && size <= TAKT_SOURCE_SIZE_MAX)
            cr_assert_eq(text[size - 1], '$');
        free(text);
    }
    close(file);
    unlink(path);
}

Test(source, says_why_a_file_cannot_be_read)
{
    static const struct {
        const char *path, *words;
    } rows[] = {
        {"/nowhere/takt.yaml", "/nowhere/takt.yaml: cannot be read: No such file or directory"},
        {"", ": cannot be read: No such file or directory"},
        {"/", "/: cannot be read: Is a directory"},
        {"/dev/null/takt.yaml", "/dev/null/takt.yaml: cannot be read: Not a directory"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = NULL;
        size_t size = 7;
        takt_error error = {0};
        cr_assert_eq(takt_source_read(rows[i].path, &text, &size, &error), TAKT_E_POLICY);
        cr_assert_str_eq(error.text, rows[i].words);
        cr_assert(text == NULL && size == 7);
    }
}

Test(source, shows_the_end_of_a_long_name)
{
    char name[301];
    takt_source source;
    for (size_t cut = 0; cut < 4; cut++) { /* wherever the cut falls, no half character is shown */
        memset(name, 'x', sizeof name);
        for (size_t at = cut; at + 3 < sizeof name; at += 3)
            memcpy(name + at, "\xe2\x82\xac", 3);
        strcpy(name + sizeof name - 11, "/takt.yaml");
        takt_source_init(&source, name, "", 0);
        size_t length = strlen(source.name);
        cr_assert(length <= TAKT_SOURCE_NAME_MAX && length >= TAKT_SOURCE_NAME_MAX - 3);
        cr_assert_eq(strncmp(source.name, "...", 3), 0);
        cr_assert_neq((unsigned char)source.name[3] & 0xc0, 0x80);
        cr_assert_str_eq(source.name + length - 10, "/takt.yaml");
    }
}
