/*
 * libcyaml hands over every value as the text that was written, takes no aliases, and prints
 * nothing.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <string.h>

#include "policy/document.h"

static int load(const char *text, takt_document **document, takt_error *error)
{
    takt_source source;
    takt_source_init(&source, "takt.yaml", text, strlen(text));
    return takt_document_load(document, &source, error);
}

Test(document, every_value_is_a_text)
{
    takt_document *document = NULL;
    takt_error error = {0};
    cr_assert_eq(
        load("store: 1\nnamespace: maybe\nlimits:\n- name: ~\n  lookahead: 0x10\n  headroom: 2%\n"
             "  within: true\n  max_waiting: 1e3\n  rules: [{rate: 10/s, burst: 010}, {rate: "
             "null}]\n"
             "- name: b\n",
             &document, &error),
        0, "%s", error.text);
    cr_assert_str_eq(document->store, "1");
    cr_assert_str_eq(document->name_space, "maybe");
    cr_assert_eq(document->limit_count, 2);
    const takt_limit_text *limit = &document->limits[0];
    cr_assert_str_eq(limit->name, "~");
    cr_assert_str_eq(limit->lookahead, "0x10");
    cr_assert_str_eq(limit->headroom, "2%");
    cr_assert_str_eq(limit->within, "true");
    cr_assert_str_eq(limit->max_waiting, "1e3");
    cr_assert_eq(limit->rule_count, 2);
    cr_assert_str_eq(limit->rules[0].rate, "10/s");
    cr_assert_str_eq(limit->rules[0].burst, "010");
    cr_assert_str_eq(limit->rules[1].rate, "null");
    cr_assert_null(limit->rules[1].burst);
    cr_assert_eq(document->limits[1].rule_count, 0);
    cr_assert_null(document->limits[1].rules);
    takt_document_free(document);
    takt_document_free(NULL);
}

Test(document, refuses_in_silence)
{
    static const char *const texts[] = {
        "", "# nothing\n", "limits: {}\n", "other: x\n", "- a\n", "store: &x a\nnamespace: *x\n",
    };
    cr_redirect_stdout();
    cr_redirect_stderr();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        takt_document *document = NULL;
        takt_error error = {0};
        cr_assert_eq(load(texts[i], &document, &error), TAKT_E_POLICY, "row %zu was taken", i);
        cr_assert_null(document);
        cr_assert_eq(strncmp(error.text, "takt.yaml:1: libcyaml cannot read it: ", 38), 0, "%s",
                     error.text);
        cr_assert_null(strchr(error.text, '\n'));
    }
    fflush(stdout);
    fflush(stderr);
    cr_assert_stdout_eq_str("");
    cr_assert_stderr_eq_str("");
}
