/*
 * text.c: writes and reads numbers and single characters (text.h). The callers define the formats.
 */
#include "base/text.h"

#include <string.h>

void takt_write_char(takt_writer *writer, char c)
{
    if (writer->at < writer->end)
        *writer->at++ = c;
    else
        writer->full = true;
}

static void write_bytes(takt_writer *writer, const char *bytes, size_t size)
{
    if ((size_t)(writer->end - writer->at) < size) {
        writer->full = true;
        return;
    }
    memcpy(writer->at, bytes, size);
    writer->at += size;
}

void takt_write_text(takt_writer *writer, const char *text)
{
    write_bytes(writer, text, strlen(text));
}

void takt_write_int(takt_writer *writer, int64_t value)
{
    char digits[20];
    char *first = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do {
        *--first = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        takt_write_char(writer, '-');
    write_bytes(writer, first, (size_t)(digits + sizeof digits - first));
}

void takt_write_hex(takt_writer *writer, uint64_t value)
{
    char digits[16];
    char *first = digits + sizeof digits;

    do {
        *--first = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value > 0);
    write_bytes(writer, first, (size_t)(digits + sizeof digits - first));
}

bool takt_read_if(takt_reader *reader, char c)
{
    if (reader->at >= reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

void takt_read_char(takt_reader *reader, char c)
{
    if (!takt_read_if(reader, c))
        reader->bad = true;
}

void takt_read_text(takt_reader *reader, const char *text)
{
    for (; *text; text++)
        takt_read_char(reader, *text);
}

int64_t takt_read_int(takt_reader *reader, int64_t min, int64_t max)
{
    bool negative = min < 0 && takt_read_if(reader, '-');
    uint64_t bound = negative ? 0 - (uint64_t)min : (uint64_t)(max < 0 ? 0 : max);
    const char *first = reader->at, *at = first;
    uint64_t value = 0;

    for (; at < reader->end; at++) {
        unsigned digit = (unsigned)((unsigned char)*at) - '0';
        if (digit > 9)
            break;
        if (value > INT64_MAX / 10) { /* one digit more is beyond every bound */
            reader->bad = true;
            return min;
        }
        value = value * 10 + digit;
    }
    reader->at = at;
    if (at == first || value > bound || (!negative && min > 0 && value < (uint64_t)min)) {
        reader->bad = true;
        return min;
    }
    return negative ? (int64_t)(0 - value) : (int64_t)value;
}

uint64_t takt_read_hex(takt_reader *reader)
{
    const char *first = reader->at, *at = first;
    uint64_t value = 0;

    for (; at < reader->end; at++) {
        char c = *at;
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a') + 10;
        else
            break;
        value = value << 4 | digit;
    }
    reader->at = at;
    if (at == first || at - first > 16)
        reader->bad = true;
    return value;
}

bool takt_read_done(const takt_reader *reader)
{
    return !reader->bad && reader->at == reader->end;
}
