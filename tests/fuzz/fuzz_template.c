/*
 * Any text as a template: a template that is refused without a job is refused with one; an expanded
 * header is one line, for any job.
 */
#include "fuzz.h"

#include "mail/template.h"

static void check_line(takt_buffer *out)
{
    for (size_t i = 0; i < out->size; i++)
        require((unsigned char)out->at[i] >= 0x20 && out->at[i] != 0x7f);
}

/* The first line is the text of {value}, the rest the template. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    json_t *value = end ? json_stringn((const char *)data, (size_t)(end - data)) : NULL;
    json_t *fields = value ? json_pack("{s:o, s:{s:i}}", "value", value, "a", "b", 7) : NULL;
    char *text = fields ? malloc(size) : NULL;

    if (text) {
        size_t rest = size - (size_t)(end + 1 - data);
        memcpy(text, end + 1, rest);
        text[rest] = '\0';
    }
    for (int form = TEMPLATE_TEXT; text && form <= TEMPLATE_URL; form++) {
        takt_buffer out = {0};
        takt_error error = {0};
        int alone = takt_mail_template_expand("it", text, NULL, (takt_mail_template_form)form, NULL,
                                              &error);
        require(alone == 0 || error.text[0] != '\0');
        int failed = takt_mail_template_expand("it", text, fields, (takt_mail_template_form)form,
                                               &out, &error);
        require(alone == 0 || failed != 0);
        if (!failed && form >= TEMPLATE_HEADER)
            check_line(&out);
        takt_buffer_free(&out);
    }
    free(text);
    json_decref(fields);
    return 0;
}
