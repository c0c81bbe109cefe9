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

/* Space for so many bytes, which are the caller's to write; NULL: there is none. */
static char *take(takt_writer *writer, int size)
{
    char *at = writer->at;

    if (writer->end - at < size) {
        writer->full = true;
        return NULL;
    }
    writer->at += size;
    return at;
}

static int count_digits(uint64_t value)
{
    int count = 1;

    for (; value >= 10000; value /= 10000)
        count += 4;
    return count + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* The digits are written where they stay: half of the time of a ledger's text is theirs, and a copy
 * of bytes that were just written one by one is slow. */
void takt_write_int(takt_writer *writer, int64_t value)
{
    static const char pairs[] = "0001020304050607080910111213141516171819"
                                "2021222324252627282930313233343536373839"
                                "4041424344454647484950515253545556575859"
                                "6061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int count = count_digits(rest);
    char *at;

    if (value < 0)
        takt_write_char(writer, '-');
    at = take(writer, count);
    if (!at)
        return;
    for (; count > 1; count -= 2, rest /= 100)
        memcpy(at + count - 2, pairs + 2 * (rest % 100), 2);
    if (count == 1)
        *at = (char)('0' + rest);
}

void takt_write_hex(takt_writer *writer, uint64_t value)
{
    int count = 1;
    char *at;

    while (count < 16 && value >> (4 * count) > 0)
        count++;
    at = take(writer, count);
    for (; at && count > 0; value >>= 4)
        at[--count] = "0123456789abcdef"[value & 15];
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
