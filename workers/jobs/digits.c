/*
 * digits.c: see digits.h.
 */
#include "digits.h"

#include <string.h>

size_t digits_put(char text[DIGITS_MAX], uint64_t number, size_t least)
{
    char digits[DIGITS_MAX];
    size_t at = sizeof(digits);

    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (sizeof(digits) - at < least)
        digits[--at] = '0';
    memcpy(text, digits + at, sizeof(digits) - at);
    return sizeof(digits) - at;
}
