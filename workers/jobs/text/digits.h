/*
 * digits.h: whole numbers in decimal, where there are too many of them for printf.
 */
#ifndef TAKT_WORKERS_TEXT_DIGITS_H
#define TAKT_WORKERS_TEXT_DIGITS_H

#include <stddef.h>
#include <stdint.h>

#define TAKT_DIGITS_MAX 20

/* Writes the number, with zeros before it up to `least` digits, and no NUL; how many there are. */
size_t takt_digits_put(char text[TAKT_DIGITS_MAX], uint64_t number, size_t min);

/* The same of a number that may be negative. */
size_t takt_digits_put_signed(char text[TAKT_DIGITS_MAX + 1], int64_t number);

#endif
