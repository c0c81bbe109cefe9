/*
 * vendor_text.h: reads the numbers and resets of quotas in the forms that vendors write.
 * vendor_fields.h knows the headers.
 */
#ifndef TAKT_WORKERS_CALL_VENDOR_TEXT_H
#define TAKT_WORKERS_CALL_VENDOR_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#define VENDOR_NUMBER_MAX INT64_C(1000000000000000) /* what structured fields allow */

/* When a quota is refilled: so long after the answer, or at an instant of the Unix epoch. */
typedef struct takt_caller_reset {
    int64_t us;
    bool is_instant;
} takt_caller_reset;

/* Reads "10", "10.5" and steps over it: a whole number from 0 and millionths, which are rounded up.
 */
bool takt_caller_vendor_number(const char **at, int64_t *whole, int64_t *millionths);

/* Reads what is left: "10", or "32/40", which is used and allowed. A fraction is cut off. */
bool takt_caller_vendor_count(const char *text, int64_t *count);

/*
 * Reads a reset:
 *
 *     5    1.5                          seconds
 *     6m0s    20ms    1h2m3.5s          d, h, m, s, ms, us, ns
 *     1763692800    1763692800000       an instant in seconds or milliseconds
 *     2026-11-22T12:00:00Z              an instant (RFC 3339)
 */
bool takt_caller_vendor_reset(const char *text, takt_caller_reset *reset);

/* The same of a number of seconds, or of seconds or milliseconds of the Unix epoch. */
takt_caller_reset takt_caller_vendor_seconds(int64_t whole, int64_t millionths);

#endif
