/*
 * takt/sync.h: acquire for threads that block.
 *
 * A takt_sync runs a client on a loop and a thread of its own.  Every function here may be called
 * from any thread, any number at a time, and returns when its answer is there.  Arguments, codes
 * and units are those of takt/takt.h.
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

/* Starts the thread.  options->on_event is called on that thread, with the takt_sync's own client:
 * there, takt/takt.h's functions may be called with it, while those of this header would wait for
 * themselves. */
TAKT_EXPORT int takt_sync_open(takt_sync **sync, const takt_policy *policy,
                               const takt_options *options, takt_error *error);

/* Waits until the slot is due: 0, or a code.  TAKT_E_CANCELED: takt_sync_close was called
 * meanwhile. */
TAKT_EXPORT int takt_sync_acquire(takt_sync *sync, takt_permit *permit,
                                  const takt_request *request);

/* Now or never: 0 or TAKT_E_NO_SLOT, both with *standing (may be NULL) filled in; else a code. */
TAKT_EXPORT int takt_sync_try_acquire(takt_sync *sync, takt_permit *permit,
                                      const takt_request *request, takt_standing *standing);

/* Gives a permit back.  Safe twice.  Where a thread still waits for it, that thread returns with
 * TAKT_E_CANCELED. */
TAKT_EXPORT void takt_sync_release(takt_sync *sync, takt_permit *permit);

/* The real cost of a permit's work, as takt_settle has it. */
TAKT_EXPORT int takt_sync_settle(takt_sync *sync, takt_permit *permit, const takt_request *request,
                                 int64_t actual_cost);

/* *standing (may be NULL) is filled in when 0 is returned. */
TAKT_EXPORT int takt_sync_peek(takt_sync *sync, const char *limit, const char *key,
                               takt_standing *standing);
TAKT_EXPORT int takt_sync_watch(takt_sync *sync, const char *limit, const char *key, int64_t for_us,
                                takt_standing *standing);
TAKT_EXPORT int takt_sync_block(takt_sync *sync, const char *limit, const char *key, int64_t for_us,
                                const char *reason, takt_standing *standing);
TAKT_EXPORT int takt_sync_penalize(takt_sync *sync, const char *limit, const char *key,
                                   int64_t for_us, const char *reason, takt_standing *standing);
TAKT_EXPORT int takt_sync_lower(takt_sync *sync, const char *limit, const char *key,
                                int64_t remaining, takt_standing *standing);
TAKT_EXPORT int takt_sync_unblock(takt_sync *sync, const char *limit, const char *key,
                                  takt_standing *standing);
TAKT_EXPORT int takt_sync_reset(takt_sync *sync, const char *limit, const char *key,
                                takt_standing *standing);

/* What takt_is_held says: whether a granted permit's holder may go on; 1 or 0.  It reads what the
 * loop's thread knows by now, which may be held up itself: asks it, and waits for the answer. */
TAKT_EXPORT int takt_sync_is_held(takt_sync *sync, const takt_permit *permit);

/* What all threads together have done; 0, or a code and *stats as it was. */
TAKT_EXPORT int takt_sync_get_stats(takt_sync *sync, takt_stats *stats);

/* What a limit in shadow would have done to them; likewise. */
TAKT_EXPORT int takt_sync_get_shadow(takt_sync *sync, const char *limit, takt_shadow *shadow);

/* Another policy from now on, as takt_reload has it. */
TAKT_EXPORT int takt_sync_reload(takt_sync *sync, const takt_policy *policy, takt_error *error);

/* Wakes all who wait with TAKT_E_CANCELED, ends the thread and frees the memory.  No other call may
 * begin any more once this one has; those under way return first.  NULL is harmless. */
TAKT_EXPORT void takt_sync_close(takt_sync *sync);

#ifdef __cplusplus
}
#endif
#endif
