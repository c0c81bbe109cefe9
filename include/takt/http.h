/*
 * takt/http.h: how a limit stands, as fields of an HTTP response: for services that pass on what
 * takt_try_acquire or takt_peek told them.
 *
 *     Retry-After: 2
 *     X-RateLimit-Limit: 10
 *     X-RateLimit-Remaining: 0
 *     X-RateLimit-Reset: 10
 *     RateLimit-Policy: "api";q=100;w=60
 *     RateLimit: "api";r=0;t=10
 *
 * Retry-After is of RFC 9110, RateLimit and RateLimit-Policy of the IETF's draft "RateLimit header
 * fields for HTTP" (draft-ietf-httpapi-ratelimit-headers-10); X-RateLimit-* is what many services
 * send, Reset as seconds from now.  Seconds are rounded up: who waits as long as is said is not
 * sent away again.
 *
 * And the other way round: the Retry-After of a vendor's answer, for takt_penalize.
 */
#ifndef TAKT_HTTP_H
#define TAKT_HTTP_H

#include <takt/takt.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAKT_HTTP_FIELDS_SIZE 2048 /* enough for any limit */

/*
 * Writes the fields, each ended by CR LF, and a NUL.  `status` and `standing` are those of the
 * callback; Retry-After is only written with TAKT_E_NO_SLOT, and not where the cost can never be
 * given.  With several rules RateLimit-Policy names them NAME-1, NAME-2, ... behind NAME, which is
 * what RateLimit tells of: the tokens that all of them let start.  `limit` is the one that was
 * tried; with `within` the policy told is its own, what remains that of the level with the least
 * left.
 *
 * Returns the length without the NUL, or TAKT_E_NO_LIMIT, or TAKT_E_INVALID (no standing, or `size`
 * is too small: then `text` is empty).
 */
TAKT_EXPORT int takt_http_fields(const takt_policy *policy, const char *limit, int status,
                                 const takt_standing *standing, char *text, size_t size);

/*
 * Reads the value of a Retry-After field: seconds ("120"), or a date ("Sun, 06 Nov 1994 08:49:37
 * GMT"), which counts from `date`, the value of the same answer's Date field (NULL: there is none,
 * and a date cannot be read), so that no clock of this host plays a part.  A date that has passed
 * is 0, and more than 50 years are 50 years.  Blanks around a value do not matter; the two older
 * forms of dates are not read.
 *
 * 0, or TAKT_E_INVALID: it is neither; *for_us is as it was.
 */
TAKT_EXPORT int takt_http_retry_after(const char *value, const char *date, int64_t *for_us);

#ifdef __cplusplus
}
#endif
#endif
