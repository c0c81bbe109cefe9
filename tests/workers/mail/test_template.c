/*
 * Fields in texts: each place gets its value, written so that it stays one value.
 */
#include "text.h"

#include <jansson.h>

#include "mail/template.h"

static const char job[] =
    "{\"name\": \"Ann\", \"n\": 42, \"total\": 19.9, \"html\": \"<a href='x'>\\\"&\", \"lines\": "
    "\"a\\r\\nBcc: x\", \"tab\": \"a\\tb\", \"order\": {\"id\": \"o/1 \\u00fc\", \"of\": {\"x\": "
    "\"deep\"}}, \"list\": [1], \"yes\": true, \"none\": null, \"brace\": \"{name}\"}";

Test(template, good_ones)
{
    static const struct {
        const char *text;
        takt_mail_template_form form;
        const char *expanded;
    } rows[] = {
        {"", TEMPLATE_TEXT, ""},
        {"no field", TEMPLATE_TEXT, "no field"},
        {"Hello {name}!", TEMPLATE_TEXT, "Hello Ann!"},
        {"{name}{n}{total}", TEMPLATE_TEXT, "Ann4219.9"},
        {"{order.id} {order.of.x}", TEMPLATE_TEXT, "o/1 \xc3\xbc deep"},
        {"{{ } }} {{{name}", TEMPLATE_TEXT, "{ } }} {Ann"},
        {"{{color: red}", TEMPLATE_HTML, "{color: red}"},
        {"{brace}", TEMPLATE_TEXT, "{name}"},
        {"<p>{html}</p>", TEMPLATE_HTML, "<p>&lt;a href=&#39;x&#39;&gt;&quot;&amp;</p>"},
        {"{html}", TEMPLATE_TEXT, "<a href='x'>\"&"},
        {"{lines}\r\n", TEMPLATE_TEXT, "a\r\nBcc: x\r\n"},
        {"{html}", TEMPLATE_HEADER, "<a href='x'>\"&"},
        {"https://e.org/{order.id}?n={n}", TEMPLATE_URL, "https://e.org/o%2F1%20%C3%BC?n=42"},
    };
    json_t *fields = json_loads(job, 0, NULL);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_buffer out = {0};
        takt_error error = {0};
        cr_assert_eq(
            takt_mail_template_expand("text", rows[i].text, fields, rows[i].form, &out, &error), 0,
            "%s: %s", rows[i].text, error.text);
        expect_text(&out, rows[i].expanded, rows[i].text);
        cr_assert_eq(
            takt_mail_template_expand("text", rows[i].text, NULL, rows[i].form, NULL, NULL), 0);
        takt_buffer_free(&out);
    }
    json_decref(fields);
}

Test(template, bad_ones)
{
    static const struct {
        const char *text;
        takt_mail_template_form form;
        const char *words;
        int seen_alone; /* without a job, too */
    } rows[] = {
        {"a\nb {nope}", TEMPLATE_TEXT, "text: line 2: {nope}: the job has no such field", 0},
        {"{none}", TEMPLATE_TEXT, "no such field", 0},
        {"{order.nope}", TEMPLATE_TEXT, "{order.nope}: the job has no such field", 0},
        {"{name.x}", TEMPLATE_TEXT, "no such field", 0},
        {"{order}", TEMPLATE_TEXT, "neither a string nor a number", 0},
        {"{list}", TEMPLATE_TEXT, "neither a string nor a number", 0},
        {"{yes}", TEMPLATE_TEXT, "neither a string nor a number", 0},
        {"a { b", TEMPLATE_TEXT, "a brace as {{", 1},
        {"\n\n{", TEMPLATE_TEXT, "line 3", 1},
        {"{}", TEMPLATE_TEXT, "a brace as {{", 1},
        {"{ name }", TEMPLATE_TEXT, "a brace as {{", 1},
        {"{name", TEMPLATE_TEXT, "a brace as {{", 1},
        {"{.name}", TEMPLATE_TEXT, "a brace as {{", 1},
        {"{name.}", TEMPLATE_TEXT, "a brace as {{", 1},
        {"{{name}}", TEMPLATE_TEXT, "with one brace", 1},
        {"{{ name }}", TEMPLATE_TEXT, "with one brace", 1},
        {"a{lines}", TEMPLATE_HEADER, "the field lines has a control character", 0},
        {"a{tab}", TEMPLATE_HEADER, "the field tab has a control character", 0},
        {"a{lines}", TEMPLATE_URL, "the field lines has a control character", 0},
        {"a\nBcc: x", TEMPLATE_HEADER, "a header is one line", 1},
        {"a\rBcc: x", TEMPLATE_HEADER, "a header is one line", 1},
        {"a\tb", TEMPLATE_HEADER, "a header is one line", 1},
        {"a\x7f", TEMPLATE_URL, "a header is one line", 1},
    };
    json_t *fields = json_loads(job, 0, NULL);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_buffer out = {0};
        takt_error error = {0};
        cr_assert_eq(
            takt_mail_template_expand("text", rows[i].text, fields, rows[i].form, &out, &error),
            TAKT_E_INVALID, "%s", rows[i].text);
        cr_assert(strstr(error.text, rows[i].words), "%s: %s", rows[i].text, error.text);
        cr_assert_eq(
            takt_mail_template_expand("text", rows[i].text, NULL, rows[i].form, NULL, NULL) != 0,
            rows[i].seen_alone, "%s", rows[i].text);
        takt_buffer_free(&out);
    }
    json_decref(fields);
}

Test(template, what_grows_without_end_is_refused)
{
    static char text[60 * 6 + 1];
    static char value[1024 * 1024];
    takt_buffer out = {0};
    takt_error error = {0};

    for (size_t i = 0; i < 60; i++)
        memcpy(text + 6 * i, "{long}", 6);
    memset(value, 'x', sizeof value - 1);
    json_t *fields = json_pack("{s:s}", "long", value);
    cr_assert_eq(takt_mail_template_expand("text", text, fields, TEMPLATE_TEXT, &out, &error),
                 TAKT_E_INVALID);
    cr_assert(strstr(error.text, "too long"), "%s", error.text);
    takt_buffer_free(&out);
    json_decref(fields);
}
