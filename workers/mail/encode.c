/*
 * encode.c: the two transfer encodings of RFC 2045.
 */
#include "encode.h"

#include <string.h>

#include "jobs/text/base64.h"

static const char hex[] = "0123456789ABCDEF";

/* The output line being written. */
typedef struct qp_line {
    takt_buffer *out;
    size_t size;
} qp_line;

static size_t line_end_size(const char *text, size_t size)
{
    if (size == 0 || (text[0] != '\r' && text[0] != '\n'))
        return 0;
    return text[0] == '\r' && size > 1 && text[1] == '\n' ? 2 : 1;
}

/* Writes one character; starts a new line if this one has no room for it and a "=". */
static void put(qp_line *line, unsigned char c, bool coded)
{
    size_t size = coded ? 3 : 1;
    char code[3] = {'=', hex[c >> 4], hex[c & 15]};
    char plain = (char)c;

    if (line->size + size > ENCODE_LINE - 1) {
        takt_buffer_text(line->out, "=\r\n");
        line->size = 0;
        if (c == '.' && !coded) {
            put(line, c, true);
            return;
        }
    }
    takt_buffer_put(line->out, coded ? code : &plain, size);
    line->size += size;
}

void takt_mail_encode_quoted_printable(takt_buffer *out, const char *text, size_t size)
{
    qp_line line = {.out = out};

    for (size_t i = 0; i < size;) {
        size_t end = line_end_size(text + i, size - i);
        if (end > 0) {
            takt_buffer_text(out, "\r\n");
            line.size = 0;
            i += end;
            continue;
        }
        unsigned char c = (unsigned char)text[i];
        bool last = i + 1 == size || line_end_size(text + i + 1, size - i - 1) > 0;
        bool blank = c == ' ' || c == '\t';
        bool coded = c == '=' || c > 126 || (c < 33 && !blank) || (blank && last) ||
                     (line.size == 0 && c == '.') ||
                     (c == 'F' && size - i >= 5 && memcmp(text + i, "From ", 5) == 0);
        put(&line, c, coded);
        i++;
    }
}

void takt_mail_encode_base64_text(takt_buffer *out, const char *text, size_t size)
{
    char group[3];
    size_t count = 0, written = 0;

    for (size_t i = 0; i < size;) {
        size_t end = line_end_size(text + i, size - i);
        for (size_t k = 0; k < (end ? 2u : 1u); k++) {
            group[count++] = end ? "\r\n"[k] : text[i];
            if (count < sizeof(group))
                continue;
            if (written > 0 && written % ENCODE_LINE == 0)
                takt_buffer_text(out, "\r\n");
            takt_base64_put(out, group, count);
            written += 4;
            count = 0;
        }
        i += end ? end : 1;
    }
    if (count > 0 && written > 0 && written % ENCODE_LINE == 0)
        takt_buffer_text(out, "\r\n");
    if (count > 0)
        takt_base64_put(out, group, count);
}

bool takt_mail_encode_prefers_base64(const char *text, size_t size)
{
    size_t coded = 0;

    for (size_t i = 0; i < size; i++)
        coded += (unsigned char)text[i] > 126;
    return coded > size / 4;
}
