/*
 * words.c: see words.h.
 */
#include "simulate/draw/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define THIN_SPACE "\xe2\x80\x89"

/* "1 min 40 s", without the second part where it is 0. */
static void put_two(char text[TAKT_WORDS_SIZE], long long a, const char *a_name, long long b,
                    const char *b_name)
{
    if (b == 0)
        snprintf(text, TAKT_WORDS_SIZE, "%lld %s", a, a_name);
    else
        snprintf(text, TAKT_WORDS_SIZE, "%lld %s %lld %s", a, a_name, b, b_name);
}

const char *takt_words_span(int64_t span_us, char text[TAKT_WORDS_SIZE])
{
    long long us = span_us, s = us / 1000000, min = s / 60, h = min / 60;

    if (us <= 0)
        snprintf(text, TAKT_WORDS_SIZE, "0");
    else if (us < 1000)
        put_two(text, us, "us", 0, "");
    else if (us < 1000000)
        put_two(text, us / 1000, "ms", 0, "");
    else if (s < 60 && us % 1000000 == 0)
        put_two(text, s, "s", 0, "");
    else if (s < 60)
        snprintf(text, TAKT_WORDS_SIZE, "%lld.%lld s", s, us / 100000 % 10);
    else if (min < 60)
        put_two(text, min, "min", s % 60, "s");
    else if (h < 48)
        put_two(text, h, "h", min % 60, "min");
    else
        put_two(text, h / 24, "days", h % 24, "h");
    return text;
}

const char *takt_words_count(int64_t count, char text[TAKT_WORDS_SIZE])
{
    char digits[24];
    size_t size = (size_t)snprintf(digits, sizeof digits, "%lld", (long long)count);

    text[0] = '\0';
    for (size_t i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0 && digits[i - 1] != '-')
            strcat(text, THIN_SPACE);
        strncat(text, &digits[i], 1);
    }
    return text;
}

const char *takt_words_ratio(int64_t a, int64_t b, int decimals, char text[TAKT_WORDS_SIZE])
{
    __extension__ __int128 scaled = a;
    long long one = 1;

    if (b <= 0) {
        snprintf(text, TAKT_WORDS_SIZE, "-");
        return text;
    }
    for (int i = 0; i < decimals; i++)
        one *= 10;
    scaled = (scaled * one * 2 + b) / b / 2;
    if (decimals == 0)
        snprintf(text, TAKT_WORDS_SIZE, "%lld", (long long)scaled);
    else
        snprintf(text, TAKT_WORDS_SIZE, "%lld.%0*lld", (long long)(scaled / one), decimals,
                 (long long)(scaled % one));
    return text;
}

const char *takt_words_period(int64_t period_us, char text[TAKT_WORDS_SIZE])
{
    static const struct {
        int64_t us;
        const char *one, *many;
    } units[] = {{INT64_C(86400000000), "day", "days"},
                 {INT64_C(3600000000), "hour", "h"},
                 {60000000, "minute", "min"},
                 {1000000, "second", "s"},
                 {1000, "ms", "ms"},
                 {1, "us", "us"}};
    int i = 0;

    while (period_us % units[i].us != 0)
        i++;
    if (period_us == units[i].us)
        snprintf(text, TAKT_WORDS_SIZE, "%s", units[i].one);
    else
        snprintf(text, TAKT_WORDS_SIZE, "%lld %s", (long long)(period_us / units[i].us),
                 units[i].many);
    return text;
}

void takt_page_put(takt_page *page, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (page->status == 0 && size > 0)
        page->status = page->write(
            text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1, page->data);
}

void takt_page_put_raw(takt_page *page, const char *text)
{
    if (page->status == 0)
        page->status = page->write(text, strlen(text), page->data);
}

void takt_page_put_text(takt_page *page, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '<':
            takt_page_put(page, "&lt;");
            break;
        case '>':
            takt_page_put(page, "&gt;");
            break;
        case '&':
            takt_page_put(page, "&amp;");
            break;
        case '"':
            takt_page_put(page, "&quot;");
            break;
        default:
            if ((unsigned char)*text >= ' ') /* XML has no other control characters */
                takt_page_put(page, "%c", *text);
        }
    }
}
