/*
 * takt/sync.h: acquire for threads that block.
 *
 * A takt_sync runs a client on a loop and thread of its own.  Call these functions from any thread,
 * any number at a time; each returns when its answer is there.  In a child after fork each returns
 * at once with TAKT_E_FORKED.  Arguments, codes and units are those of takt/takt.h.
 *
 *     takt_permit permit = {0};
 *     takt_request request = TAKT_REQUEST("sendgrid");
 *     if (takt_sync_acquire(sync, &permit, &request) == 0) {
 *         do_work();
 *         takt_sync_release(sync, &permit);
 *     }
 */
#ifndef TAKT_SYNC_H
#define TAKT_SYNC_H

#include <takt/takt.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct takt_sync takt_sync;

/*
 * Starts the thread.  It also calls options->on_event, with the takt_sync's own client.  There, use
 * the functions of takt/takt.h with that client; those of this header would wait for themselves.
 * The policy may be freed after takt_sync_close.
 */
TAKT_EXPORT int takt_sync_open(takt_sync **sync, const takt_policy *policy,
                               const takt_options *options, takt_error *error);

/* Waits until the slot is due: 0, or a code.  TAKT_E_CANCELED: takt_sync_close was called. */
TAKT_EXPORT int takt_sync_acquire(takt_sync *sync, takt_permit *permit,
                                  const takt_request *request);

/* Now or never: 0 or TAKT_E_NO_SLOT, both fill *standing (may be NULL); else a code. */
TAKT_EXPORT int takt_sync_try_acquire(takt_sync *sync, takt_permit *permit,
                                      const takt_request *request, takt_standing *standing);

/* Gives a permit back.  Safe twice.  A thread that still waits for it returns with
 * TAKT_E_CANCELED. */
TAKT_EXPORT void takt_sync_release(takt_sync *sync, takt_permit *permit);

/* Reports what a permit's work has actually used, like takt_settle. */
TAKT_EXPORT int takt_sync_settle(takt_sync *sync, takt_permit *permit, const takt_request *request,
                                 const takt_amount *used, int count);

/* Like takt_peek, takt_watch, takt_block and so on; 0 fills *standing (may be NULL). */
TAKT_EXPORT int takt_sync_peek(takt_sync *sync, const char *limit, const char *key,
                               takt_standing *standing);
TAKT_EXPORT int takt_sync_watch(takt_sync *sync, const char *limit, const char *key, int64_t for_us,
                                takt_standing *standing);
TAKT_EXPORT int takt_sync_block(takt_sync *sync, const char *limit, const char *key, int64_t for_us,
                                const char *reason, takt_standing *standing);
TAKT_EXPORT int takt_sync_penalize(takt_sync *sync, const char *limit, const char *key,
                                   int64_t for_us, const char *reason, takt_standing *standing);
TAKT_EXPORT int takt_sync_lower(takt_sync *sync, const char *limit, const char *key,
                                const char *unit, int64_t remaining, takt_standing *standing);
TAKT_EXPORT int takt_sync_unblock(takt_sync *sync, const char *limit, const char *key,
                                  takt_standing *standing);
TAKT_EXPORT int takt_sync_reset(takt_sync *sync, const char *limit, const char *key,
                                takt_standing *standing);

/* Like takt_is_held: 1 or 0.  It asks the loop's thread and waits for the answer, so a thread that
 * is held up delays it. */
TAKT_EXPORT int takt_sync_is_held(takt_sync *sync, const takt_permit *permit);

/* Statistics over all threads; 0, or a code, and *stats does not change. */
TAKT_EXPORT int takt_sync_get_stats(takt_sync *sync, takt_stats *stats);

/* What a shadow limit would have done; likewise. */
TAKT_EXPORT int takt_sync_get_shadow(takt_sync *sync, const char *limit, takt_shadow *shadow);

/* Changes the policy, like takt_reload. */
TAKT_EXPORT int takt_sync_reload(takt_sync *sync, const takt_policy *policy, takt_error *error);

/*
 * Wakes all waiting threads with TAKT_E_CANCELED, ends the thread and frees the memory.  Calls
 * under way return first; do not begin another one.  NULL is harmless.  In a child after fork it
 * frees nothing.
 */
TAKT_EXPORT void takt_sync_close(takt_sync *sync);

#ifdef __cplusplus
}
#endif
#endif
