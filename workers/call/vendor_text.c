/*
 * vendor_text.c: see vendor_text.h.
 */
#include "vendor_text.h"

#include <stddef.h>
#include <string.h>

#include "jobs/text/instant.h"

#define EPOCH_MIN    INT64_C(1000000000)   /* a larger number is in seconds of the epoch */
#define EPOCH_MS     INT64_C(100000000000) /* a larger number is in milliseconds of the epoch */
#define DURATION_MAX INT64_C(100000000)    /* of one part of a duration, in its unit */
#define SECOND_US    INT64_C(1000000)

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

bool takt_caller_vendor_number(const char **at, int64_t *whole, int64_t *millionths)
{
    const char *from = *at;
    int64_t read = 0, part = 0, unit = SECOND_US / 10;
    bool more = false;

    for (; is_digit(**at); ++*at)
        if (read < VENDOR_NUMBER_MAX)
            read = read * 10 + (**at - '0');
    if (*at == from || read >= VENDOR_NUMBER_MAX)
        return false;
    if (**at == '.')
        for (++*at; is_digit(**at); ++*at, unit /= 10) {
            part += unit * (**at - '0');
            more |= unit == 0 && **at != '0';
        }
    *whole = read;
    *millionths = part + more;
    return true;
}

bool takt_caller_vendor_count(const char *text, int64_t *count)
{
    const char *at = skip_blanks(text);
    int64_t read, of = -1, millionths;

    if (!takt_caller_vendor_number(&at, &read, &millionths))
        return false;
    if (*at == '/') {
        at++;
        if (!takt_caller_vendor_number(&at, &of, &millionths))
            return false;
    }
    if (*skip_blanks(at) != '\0')
        return false;
    *count = of < 0 ? read : of > read ? of - read : 0;
    return true;
}

takt_caller_reset takt_caller_vendor_seconds(int64_t whole, int64_t millionths)
{
    if (whole >= EPOCH_MS)
        return (takt_caller_reset){whole * 1000, true};
    return (takt_caller_reset){whole * SECOND_US + millionths, whole >= EPOCH_MIN};
}

/* The unit of a part of a duration, in nanoseconds, and steps over it; 0: there is none. */
static int64_t read_unit(const char **at)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1},
                 {"us", 1000},
                 {"\xc2\xb5s", 1000},
                 {"\xce\xbcs", 1000},
                 {"ms", 1000000},
                 {"s", 1000 * SECOND_US},
                 {"m", 60000 * SECOND_US},
                 {"h", 3600000 * SECOND_US},
                 {"d", 86400000 * SECOND_US}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strncmp(*at, units[i].name, strlen(units[i].name)) == 0) {
            *at += strlen(units[i].name);
            return units[i].ns;
        }
    return 0;
}

/* Reads "1h2m3.5s" up to the end of the text. */
static bool read_duration(const char *at, int64_t *us)
{
    int64_t sum_us = 0, whole, millionths, ns;

    do {
        if (!takt_caller_vendor_number(&at, &whole, &millionths) || whole > DURATION_MAX ||
            (ns = read_unit(&at)) == 0)
            return false;
        if (ns >= 1000)
            sum_us += whole * (ns / 1000) + (millionths * (ns / 1000) + SECOND_US - 1) / SECOND_US;
        else
            sum_us += (whole + 999) / 1000;
    } while (is_digit(*at) && sum_us < DURATION_MAX * SECOND_US);
    *us = sum_us;
    return *skip_blanks(at) == '\0';
}

bool takt_caller_vendor_reset(const char *text, takt_caller_reset *reset)
{
    int64_t whole, millionths, us;
    const char *from = skip_blanks(text), *at = from;

    if (takt_caller_vendor_number(&at, &whole, &millionths) && *skip_blanks(at) == '\0') {
        *reset = takt_caller_vendor_seconds(whole, millionths);
        return true;
    }
    if (read_duration(from, &us)) {
        *reset = (takt_caller_reset){us, false};
        return true;
    }
    if (!takt_instant_read(from, &us))
        return false;
    *reset = (takt_caller_reset){us, true};
    return true;
}
