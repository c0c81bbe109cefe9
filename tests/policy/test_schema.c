/*
 * The lists of fields in messages.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "policy/document.h"
#include "policy/schema.h"

Test(schema, lists_the_fields)
{
    char text[256], cut[10];
    takt_schema_list(&takt_document_schema, text, sizeof text);
    cr_assert_str_eq(text, "store, namespace, revision, policy and limits");
    takt_schema_list(&takt_document_schema, cut, sizeof cut);
    cr_assert_str_eq(cut, "store, na");
}

Test(schema, advises)
{
    static const struct {
        const char *key, *advice;
    } rows[] = {
        {"stoer", "unknown field; did you mean \"store\"?"},
        {"rate", "unknown field here; did you mean limits[].rules[].rate?"},
        {"within", "unknown field here; did you mean limits[].within?"},
        {"elephant", "unknown field; known here are store, namespace, revision, policy and limits"},
        {"", "unknown field; known here are store, namespace, revision, policy and limits"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256], cut[8];
        takt_schema_advise(&takt_document_schema, &takt_document_schema, rows[i].key, text,
                           sizeof text);
        cr_assert_str_eq(text, rows[i].advice, "%s: %s", rows[i].key, text);
        takt_schema_advise(&takt_document_schema, &takt_document_schema, rows[i].key, cut,
                           sizeof cut);
        cr_assert_str_eq(cut, "unknown");
    }
}

Test(schema, writes_paths)
{
    static const struct {
        const char *parent, *key, *path;
    } rows[] = {
        {"", "store", "store"},
        {"limits[0]", "name", "limits[0].name"},
        {"limits[0]", "", "limits[0].\"\""},
        {"limits[0]", "a.b", "limits[0].\"a.b\""},
        {"", "a b", "\"a b\""},
        {"", "\n", "\"\\x0a\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[256];
        takt_schema_path(rows[i].parent, rows[i].key, strlen(rows[i].key), path, sizeof path);
        cr_assert_str_eq(path, rows[i].path);
    }
}
