/*
 * takt/http.h: the state of a limit as fields of an HTTP response, for services that pass on the
 * result of takt_try_acquire or takt_peek.
 *
 *     Retry-After: 2
 *     X-RateLimit-Limit: 10
 *     X-RateLimit-Remaining: 0
 *     X-RateLimit-Reset: 10
 *     RateLimit-Policy: "api";q=100;w=60
 *     RateLimit: "api";r=0;t=10
 *
 * Retry-After follows RFC 9110.  RateLimit and RateLimit-Policy follow the IETF's draft "RateLimit
 * header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers-10).  X-RateLimit-* are the common
 * older fields, with Reset in one of the forms in use.  Seconds are rounded up, so a caller that
 * waits that long is not refused again.
 *
 * It also reads the Retry-After of a vendor's answer, for takt_penalize.
 */
#ifndef TAKT_HTTP_H
#define TAKT_HTTP_H

#include <takt/takt.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAKT_HTTP_FIELDS_SIZE 4096 /* enough for any limit */

/* What X-RateLimit-Reset says: seconds from now ("10"), seconds since the Unix epoch
 * ("1763692810"), or an instant of RFC 3339 ("2025-11-21T02:40:10Z").  Instants follow the store's
 * clock. */
typedef enum takt_http_reset {
    TAKT_HTTP_RESET_SECONDS,
    TAKT_HTTP_RESET_UNIX_TIME,
    TAKT_HTTP_RESET_RFC3339
} takt_http_reset;

/*
 * Writes the fields, each ended by CR LF, and a NUL.  `status` and `standing` are those of the
 * callback, `limit` and `key` (NULL: none) are those that were tried.  Retry-After appears only
 * with TAKT_E_NO_SLOT, and not if the cost can never be given.  With several rules NAME stands for
 * what all of them allow, and NAME-1, NAME-2, ... for each; `qu` is a unit that the policy names.
 * With `within` RateLimit-Policy is the limit's own, and RateLimit has the level with the least
 * remaining, without its rules.
 *
 * Returns the length without the NUL, TAKT_E_NO_LIMIT, or TAKT_E_INVALID (no standing, or `size` is
 * too small; `text` is then empty).
 */
TAKT_EXPORT int takt_http_fields(const takt_policy *policy, const char *limit, const char *key,
                                 int status, const takt_standing *standing, takt_http_reset reset,
                                 char *text, size_t size);

/*
 * Reads the value of a Retry-After field: seconds ("120"; "1.5" is 2), or a date ("Sun, 06 Nov 1994
 * 08:49:37 GMT", or one of the two older forms of RFC 9110), relative to `date`, the value of the
 * same answer's Date field (NULL: none; then a date cannot be read).  No clock of this host
 * matters.  A past date is 0; more than 50 years are 50 years.  Blanks around the value are
 * ignored.
 *
 * 0, or TAKT_E_INVALID: it is neither, and *for_us does not change.
 */
TAKT_EXPORT int takt_http_retry_after(const char *value, const char *date, int64_t *for_us);

#ifdef __cplusplus
}
#endif
#endif
