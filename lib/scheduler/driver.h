/*
 * driver.h: one pass of a program that drives a scheduler, and the order in which it takes out the
 * results.  The driver carries out each result, and decides when the next pass comes.
 */
#ifndef TAKT_SCHEDULER_DRIVER_H
#define TAKT_SCHEDULER_DRIVER_H

#include "scheduler/scheduler.h"

/* What a driver does with each result; `owner` is the scheduler's.  NULL: results of that kind are
 * not taken out. */
typedef struct takt_driver {
    /* Slots that no waiter here needs: one settle call of actual 0, which is not repeated. */
    void (*hand_back)(void *owner, takt_queue *queue, const takt_run *unused);
    /* Takes out the claims and sends them, after the calls that had to wait. */
    void (*send_claims)(void *owner, int64_t now_us);
    /* From now on the queue is served without the store. */
    void (*fell_back)(void *owner, const takt_queue *queue);
    /* A running job has lost its permit. */
    void (*lost)(void *owner, takt_permit *permit);
    /* The callback of a permit is due. */
    void (*call_back)(void *owner, takt_permit *permit);
    /* Asks for another pass at the same time. */
    void (*ask)(void *owner);
} takt_driver;

/*
 * Runs the scheduler and takes out its results.  Calls to the store go first, because a callback
 * may begin something new.  Slots are handed back before the claims that state what is held.
 * Permits that become due during the callbacks wait for another pass.  Returns how many callbacks
 * were due.
 */
int64_t takt_driver_pass(takt_scheduler *scheduler, int64_t now_us, const takt_driver *driver);

#endif
