/*
 * format.c: see format.h.
 */
#include "simulate/draw/format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define THIN_SPACE "\xe2\x80\x89"

const char *takt_format_count(int64_t count, char text[TAKT_FORMAT_SIZE])
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

const char *takt_format_ratio(int64_t a, int64_t b, int decimals, char text[TAKT_FORMAT_SIZE])
{
    __extension__ __int128 scaled = a;
    long long one = 1;

    if (b <= 0) {
        snprintf(text, TAKT_FORMAT_SIZE, "-");
        return text;
    }
    for (int i = 0; i < decimals; i++)
        one *= 10;
    scaled = (scaled * one * 2 + b) / b / 2;
    if (decimals == 0)
        snprintf(text, TAKT_FORMAT_SIZE, "%lld", (long long)scaled);
    else
        snprintf(text, TAKT_FORMAT_SIZE, "%lld.%0*lld", (long long)(scaled / one), decimals,
                 (long long)(scaled % one));
    return text;
}

const char *takt_format_period(int64_t period_us, char text[TAKT_FORMAT_SIZE])
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
        snprintf(text, TAKT_FORMAT_SIZE, "%s", units[i].one);
    else
        snprintf(text, TAKT_FORMAT_SIZE, "%lld %s", (long long)(period_us / units[i].us),
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
            if ((unsigned char)*text >= ' ') /* XML allows no other control characters */
                takt_page_put(page, "%c", *text);
        }
    }
}
