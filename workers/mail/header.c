/*
 * header.c: RFC 5322's fields, RFC 2047's words.
 */
#include "header.h"

#include <assert.h>
#include <string.h>

#include "encode.h"
#include "jobs/text/base64.h"
#include "kit/text.h"

#define WORD_START "=?UTF-8?B?"
#define WORD_END   "?="
#define WORD_BYTES 36 /* in base64, with start and end: */
#define WORD_SIZE  60 /* RFC 2047 allows 75 for a word, and 76 for its line */

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

/* Whether the text needs no encoding. */
static bool is_plain(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (is_control(text[i]) || (unsigned char)text[i] >= 0x80 ||
            (text[i] == '=' && i + 1 < size && text[i + 1] == '?'))
            return false;
    return size == 0 || (text[0] != ' ' && text[size - 1] != ' ');
}

/* Writes encoded words, one per line, none of which ends inside a character. */
static void put_words(takt_buffer *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t count = size - i < WORD_BYTES ? size - i : WORD_BYTES;
        if (i + count < size)
            count = takt_utf8_whole(text + i, count);
        if (i > 0)
            takt_buffer_text(out, "\r\n ");
        takt_buffer_text(out, WORD_START);
        takt_base64_put(out, text + i, count);
        takt_buffer_text(out, WORD_END);
        i += count;
    }
}

static void put_name(takt_buffer *out, const char *name)
{
    takt_buffer_text(out, name);
    takt_buffer_text(out, ": ");
}

void takt_mail_header_put_text(takt_buffer *out, const char *name, const char *value, size_t size)
{
    bool plain = is_plain(value, size) && strlen(name) + 2 + size <= ENCODE_LINE;

    for (size_t i = 0; i < size; i++)
        assert(!is_control(value[i]));
    put_name(out, name);
    if (!plain && strlen(name) + 2 + WORD_SIZE > ENCODE_LINE)
        takt_buffer_text(out, "\r\n ");
    if (plain)
        takt_buffer_put(out, value, size);
    else
        put_words(out, value, size);
    takt_buffer_text(out, "\r\n");
}

void takt_mail_header_put_plain(takt_buffer *out, const char *name, const char *value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        assert(!is_control(value[i]) && (unsigned char)value[i] < 0x80);
    put_name(out, name);
    takt_buffer_put(out, value, size);
    takt_buffer_text(out, "\r\n");
}

/* A name of letters, digits and blanks needs no quotes. */
static bool is_phrase(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              *c == ' '))
            return false;
    return name[0] != ' ' && !strstr(name, "  ");
}

static void put_quoted(takt_buffer *out, const char *text)
{
    takt_buffer_char(out, '"');
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            takt_buffer_char(out, '\\');
        takt_buffer_char(out, *c);
    }
    takt_buffer_char(out, '"');
}

static void put_address(takt_buffer *out, const takt_mail_address *address)
{
    size_t size = strlen(address->name);

    if (size == 0) {
        takt_buffer_text(out, address->mailbox);
        return;
    }
    if (!is_plain(address->name, size) || size > ENCODE_LINE)
        put_words(out, address->name, size);
    else if (is_phrase(address->name))
        takt_buffer_text(out, address->name);
    else
        put_quoted(out, address->name);
    if (size + strlen(address->mailbox) + 4 > ENCODE_LINE || !is_plain(address->name, size))
        takt_buffer_text(out, "\r\n");
    takt_buffer_text(out, " <");
    takt_buffer_text(out, address->mailbox);
    takt_buffer_char(out, '>');
}

void takt_mail_header_put_addresses(takt_buffer *out, const char *name,
                                    const takt_mail_address *addresses, size_t count)
{
    put_name(out, name);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            takt_buffer_text(out, ",\r\n ");
        put_address(out, &addresses[i]);
    }
    takt_buffer_text(out, "\r\n");
}
