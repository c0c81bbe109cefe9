/*
 * template.c: expands a template in one pass.
 */
#include "template.h"

#include <stdio.h>
#include <string.h>

#include "jobs/text/digits.h"
#include "refuse.h"

#define FIELD_MAX    128                        /* bytes of a field's name */
#define EXPANDED_MAX ((size_t)16 * 1024 * 1024) /* bytes that a template may become */

typedef struct template_position {
    const char *what; /* the template's name */
    unsigned line;
} template_position;

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

static void put_html(takt_buffer *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        switch (text[i]) {
        case '&':
            takt_buffer_text(out, "&amp;");
            break;
        case '<':
            takt_buffer_text(out, "&lt;");
            break;
        case '>':
            takt_buffer_text(out, "&gt;");
            break;
        case '"':
            takt_buffer_text(out, "&quot;");
            break;
        case '\'':
            takt_buffer_text(out, "&#39;");
            break;
        default:
            takt_buffer_char(out, text[i]);
        }
    }
}

static void put_url(takt_buffer *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char code[4];
        if (is_name(text[i]) || text[i] == '~') {
            takt_buffer_char(out, text[i]);
        } else {
            snprintf(code, sizeof(code), "%%%02X", (unsigned char)text[i]);
            takt_buffer_text(out, code);
        }
    }
}

static int put_value(const template_position *position, const char *name, const char *text,
                     size_t size, takt_mail_template_form form, takt_buffer *out, takt_error *error)
{
    for (size_t i = 0; i < size && form >= TEMPLATE_HEADER; i++)
        if (is_control(text[i]))
            return takt_mail_refuse(error,
                                    "%s: the field %s has a control character (a newline, a tab) "
                                    "at byte %zu; a header cannot contain one",
                                    position->what, name, i);
    if (form == TEMPLATE_HTML)
        put_html(out, text, size);
    else if (form == TEMPLATE_URL)
        put_url(out, text, size);
    else
        takt_buffer_put(out, text, size);
    return 0;
}

/* The field that a.b.c names; NULL: no such field. */
static const json_t *find_field(const json_t *fields, const char *name, size_t size)
{
    char part[FIELD_MAX + 1];

    while (fields && size > 0) {
        const char *dot = memchr(name, '.', size);
        size_t part_size = dot ? (size_t)(dot - name) : size;
        memcpy(part, name, part_size);
        part[part_size] = '\0';
        fields = json_object_get(fields, part);
        name += dot ? part_size + 1 : part_size;
        size -= dot ? part_size + 1 : part_size;
    }
    return fields;
}

static int put_field(const template_position *position, const char *name, size_t size,
                     const json_t *fields, takt_mail_template_form form, takt_buffer *out,
                     takt_error *error)
{
    char shown[FIELD_MAX + 1], number[64];
    const json_t *field = find_field(fields, name, size);
    size_t digits;

    memcpy(shown, name, size);
    shown[size] = '\0';
    if (json_is_string(field))
        return put_value(position, shown, json_string_value(field), json_string_length(field), form,
                         out, error);
    if (json_is_integer(field))
        digits = takt_digits_put_signed(number, json_integer_value(field));
    else if (json_is_real(field))
        digits = (size_t)snprintf(number, sizeof(number), "%.15g", json_real_value(field));
    else if (!field || json_is_null(field))
        return takt_mail_refuse(error, "%s: line %u: {%s}: the job has no such field",
                                position->what, position->line, shown);
    else
        return takt_mail_refuse(error,
                                "%s: line %u: {%s}: this field is neither a string nor a number",
                                position->what, position->line, shown);
    return put_value(position, shown, number, digits, form, out, error);
}

/* The size of the field's name after a brace; 0 after a refusal. */
static size_t name_size(const template_position *position, const char *text, takt_error *error)
{
    size_t size = 0;

    while (is_name(text[size]))
        size++;
    if (size == 0 || size > FIELD_MAX || text[size] != '}' || text[0] == '.' ||
        text[size - 1] == '.') {
        takt_mail_refuse(error, "%s: line %u: write a field as {name}, and a brace as {{",
                         position->what, position->line);
        return 0;
    }
    return size;
}

/* {{name}} means a brace, a name and a brace here. Its author probably expects the syntax of
 * another template language. */
static bool is_doubled(const char *text)
{
    size_t size = strspn(text, " ");
    size_t start = size;

    while (is_name(text[size]))
        size++;
    if (size == start)
        return false;
    size += strspn(text + size, " ");
    return strncmp(text + size, "}}", 2) == 0;
}

/* How much of the text a header can contain as it is. */
static size_t header_size(const char *text)
{
    size_t size = 0;

    while (text[size] && text[size] != '{' && !is_control(text[size]))
        size++;
    return size;
}

/* Checked after each field, since a field has at most a megabyte. */
static bool is_too_long(const takt_buffer *out)
{
    return out && (out->failed || out->size > EXPANDED_MAX);
}

int takt_mail_template_expand(const char *what, const char *text, const json_t *fields,
                              takt_mail_template_form form, takt_buffer *out, takt_error *error)
{
    template_position position = {.what = what, .line = 1};

    for (const char *at = text; *at && !is_too_long(out);) {
        size_t plain = form >= TEMPLATE_HEADER ? header_size(at) : strcspn(at, "{\n");
        if (fields)
            takt_buffer_put(out, at, plain);
        at += plain;
        if (*at == '{' && at[1] == '{') {
            if (is_doubled(at + 2))
                return takt_mail_refuse(error,
                                        "%s: line %u: a field is written {name}, with one brace",
                                        what, position.line);
            if (fields)
                takt_buffer_char(out, '{');
            at += 2;
        } else if (*at == '{') {
            size_t size = name_size(&position, at + 1, error);
            int failed = size == 0 ? TAKT_E_INVALID
                         : fields  ? put_field(&position, at + 1, size, fields, form, out, error)
                                   : 0;
            if (failed)
                return failed;
            at += size + 2;
        } else if (*at && form >= TEMPLATE_HEADER) {
            return takt_mail_refuse(
                error,
                "%s: it has a newline, a tab or another control character; a header is one line",
                what);
        } else if (*at) {
            if (fields)
                takt_buffer_char(out, *at);
            position.line++;
            at++;
        }
    }
    if (out && out->failed) {
        *error = (takt_error){TAKT_E_NOMEM, "no memory"};
        return TAKT_E_NOMEM;
    }
    if (is_too_long(out))
        return takt_mail_refuse(error, "%s: with its fields it is too long", what);
    return 0;
}
