/*
 * takt/plan.h: computes when work would start, from the policy alone.
 *
 * A plan has no store and takes nothing.  It begins as if every limit were unused, and as if
 * nothing else used the limits.  Work of one limit and key starts in the order in which it is
 * added; priorities are ignored.  With `within` that holds for each level: work that waits for its
 * inner limit holds up what is added after it, so that later times are upper bounds.  Permits of
 * `concurrency` do not count, because nobody knows how long the work will take (takt/simulate.h
 * asks for that).
 *
 * A plan belongs to one thread at a time.  Its memory grows with the keys, not with the work,
 * except for sliding logs, which are kept as a store keeps them.
 */
#ifndef TAKT_PLAN_H
#define TAKT_PLAN_H

#include <stdint.h>

#include <takt/takt.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct takt_plan takt_plan;

/* A plan of work that begins at from_us (microseconds since the Unix epoch).  The policy must
 * outlive it.  0 or TAKT_E_NOMEM. */
TAKT_EXPORT int takt_plan_new(takt_plan **plan, const takt_policy *policy, int64_t from_us);
TAKT_EXPORT void takt_plan_free(takt_plan *plan); /* NULL is harmless */

/* Adds a request: *at_us is when it would start, on the clock of from_us.  max_wait_us is ignored.
 * 0, or a code of takt_check_request, with its message in `error` (NULL: not wanted), and nothing
 * was added.  After TAKT_E_NOMEM the plan is only to be freed. */
TAKT_EXPORT int takt_plan_add(takt_plan *plan, const takt_request *request, int64_t *at_us,
                              takt_error *error);

#ifdef __cplusplus
}
#endif

#endif
