/*
 * driver.c: see driver.h.
 */
#include "scheduler/driver.h"

#include "scheduler/loss.h"
#include "scheduler/permits.h"
#include "scheduler/unused.h"

static void hand_back(takt_scheduler *scheduler, const takt_driver *driver)
{
    takt_queue *queue;
    takt_run unused;

    while ((queue = takt_unused_next(scheduler, &unused)))
        driver->hand_back(scheduler->owner, queue, &unused);
}

static void tell(takt_scheduler *scheduler, const takt_driver *driver)
{
    const takt_queue *queue;
    takt_permit *permit;

    while (driver->fell_back && (queue = takt_loss_next_fallback(scheduler)))
        driver->fell_back(scheduler->owner, queue);
    while (driver->lost && (permit = takt_permits_next_loser(scheduler)))
        driver->lost(scheduler->owner, permit);
}

/* Calls back only the permits that are due by now: callbacks that acquire again could keep the loop
 * for ever. */
static int64_t call_back(takt_scheduler *scheduler, const takt_driver *driver)
{
    int64_t due = takt_scheduler_count_fired(scheduler);
    takt_permit *permit;

    for (int64_t i = 0; i < due && (permit = takt_scheduler_next_fired(scheduler)); i++)
        driver->call_back(scheduler->owner, permit);
    return due;
}

int64_t takt_driver_pass(takt_scheduler *scheduler, int64_t now_us, const takt_driver *driver)
{
    int64_t due;

    takt_scheduler_run(scheduler, now_us);
    hand_back(scheduler, driver);
    driver->send_claims(scheduler->owner, now_us);
    tell(scheduler, driver);
    due = call_back(scheduler, driver);
    if (!takt_list_empty(&scheduler->touched) || !takt_list_empty(&scheduler->fired))
        driver->ask(scheduler->owner);
    return due;
}
