/*
 * Places in JSON documents: the examples of RFC 6901, and pointers that are none.
 */
#include <criterion/criterion.h>

#include <string.h>

#include "call/pointer.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

Test(pointer, finds_what_rfc_6901_says)
{
    static const struct {
        const char *pointer, *found; /* NULL: nothing */
    } rows[] = {
        {"/foo", "[\"bar\",\"baz\"]"},
        {"/foo/0", "\"bar\""},
        {"/foo/1", "\"baz\""},
        {"/foo/2", NULL},
        {"/foo/01", NULL},
        {"/foo/-", NULL},
        {"/foo/", NULL},
        {"/foo/0x", NULL},
        {"/foo/9999999999999999999999", NULL},
        {"/", "0"},
        {"/a~1b", "1"},
        {"/a/b", NULL},
        {"/c%d", "2"},
        {"/e^f", "3"},
        {"/i\\j", "5"},
        {"/ ", "7"},
        {"/m~0n", "8"},
        {"/~01", "9"},
        {"/usage/total", "12"},
        {"/usage/total/more", NULL},
        {"/usage/", NULL},
        {"/none", NULL},
        {"/USAGE/total", NULL},
    };
    json_t *document = json_loads("{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,"
                                  "\"i\\\\j\":5,\" \":7,\"m~n\":8,\"~1\":9,\"usage\":{\"total\":"
                                  "12}}",
                                  0, NULL);

    cr_assert_not_null(document);
    for (size_t i = 0; i < COUNT(rows); i++) {
        cr_assert_null(takt_caller_pointer_check(rows[i].pointer), "row %zu", i);
        const json_t *found = takt_caller_pointer_find(document, rows[i].pointer);
        char *text = found ? json_dumps(found, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
        cr_assert_eq(text != NULL, rows[i].found != NULL, "%s", rows[i].pointer);
        if (text)
            cr_assert_str_eq(text, rows[i].found, "%s", rows[i].pointer);
        free(text);
    }
    cr_assert_eq(takt_caller_pointer_find(document, ""), document);
    cr_assert_null(takt_caller_pointer_find(NULL, ""));
    json_decref(document);
}

Test(pointer, of_another_form_is_refused)
{
    static const char *const rows[][2] = {
        {"usage/total_tokens", "begin it with a slash"},
        {"$.usage.total_tokens", "begin it with a slash"},
        {"#/usage", "begin it with a slash"},
        {" /usage", "begin it with a slash"},
        {"/a~", "write ~0 for a tilde"},
        {"/~0~2", "write ~0 for a tilde"},
        {"/~~0", "write ~0 for a tilde"},
    };
    char longest[CALL_POINTER_MAX + 2];

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *wrong = takt_caller_pointer_check(rows[i][0]);
        cr_assert(wrong && strstr(wrong, rows[i][1]), "%s: %s", rows[i][0], wrong);
    }
    memset(longest, '/', sizeof(longest));
    longest[CALL_POINTER_MAX] = '\0';
    cr_assert_null(takt_caller_pointer_check(longest));
    longest[CALL_POINTER_MAX] = '/';
    longest[CALL_POINTER_MAX + 1] = '\0';
    cr_assert(strstr(takt_caller_pointer_check(longest), "1024"));
}
