/*
 * digits.c: see digits.h.
 */
#include "digits.h"

#include <string.h>

size_t takt_digits_put(char text[TAKT_DIGITS_MAX], uint64_t number, size_t min)
{
    char digits[TAKT_DIGITS_MAX];
    size_t at = sizeof(digits);

    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (sizeof(digits) - at < min)
        digits[--at] = '0';
    memcpy(text, digits + at, sizeof(digits) - at);
    return sizeof(digits) - at;
}

size_t takt_digits_put_signed(char text[TAKT_DIGITS_MAX + 1], int64_t number)
{
    if (number >= 0)
        return takt_digits_put(text, (uint64_t)number, 1);
    text[0] = '-';
    return 1 + takt_digits_put(text + 1, -(uint64_t)number, 1);
}
