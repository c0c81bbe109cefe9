/*
 * digits.h: writes whole numbers in decimal, where printf would be too slow.
 */
#ifndef TAKT_WORKERS_TEXT_DIGITS_H
#define TAKT_WORKERS_TEXT_DIGITS_H

#include <stddef.h>
#include <stdint.h>

#define TAKT_DIGITS_MAX 20

/* Writes the number without a NUL, with leading zeros up to `min` digits; returns the number of
 * digits. */
size_t takt_digits_put(char text[TAKT_DIGITS_MAX], uint64_t number, size_t min);

/* The same for a number that may be negative. */
size_t takt_digits_put_signed(char text[TAKT_DIGITS_MAX + 1], int64_t number);

#endif
