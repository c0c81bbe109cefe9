/*
 * One pass of a driver: in which order the scheduler's results are taken out, and when another pass
 * is needed.
 */
#include "scheduler/claims.h"
#include "scheduler/rigs.h"

#include "scheduler/driver.h"

static rig r;
static char steps[100];      /* a letter each: Back, Claim, call; ? asks for another pass */
static takt_permit *cancels; /* canceled by the next callback */

static void note(char step)
{
    size_t size = strlen(steps);

    cr_assert_lt(size + 1, sizeof steps);
    steps[size] = step;
    steps[size + 1] = '\0';
}

static void hand_back(void *owner, takt_queue *queue, const takt_run *unused)
{
    cr_assert_eq(owner, &r);
    cr_assert_eq(queue, r.queue);
    cr_assert_gt(unused->count, 0);
    note('B');
}

static void send_claims(void *owner, int64_t now_us)
{
    takt_queue *queue;

    cr_assert_eq(owner, &r);
    while ((queue = takt_claims_next(&r.s, now_us, &r.claim))) {
        r.sent_us = now_us - NOW;
        note('C');
    }
}

static void call_back(void *owner, takt_permit *permit)
{
    cr_assert_eq(owner, &r);
    note((char)('a' + (permit - r.permits)));
    if (cancels)
        takt_waiter_leave(&r.s, cancels, TAKT_E_CANCELED);
    cancels = NULL;
}

static void ask(void *owner)
{
    cr_assert_eq(owner, &r);
    note('?');
}

static const takt_driver driver = {
    .hand_back = hand_back, .send_claims = send_claims, .call_back = call_back, .ask = ask};

/* The steps of a pass. */
static const char *drive(int64_t at_us, int64_t due)
{
    steps[0] = '\0';
    cr_assert_eq(takt_driver_pass(&r.s, NOW + at_us, &driver), due);
    return steps;
}

static void open_fresh(void)
{
    open_rig(&r);
    cancels = NULL;
}

static void close_fresh(void)
{
    close_rig(&r);
}

TestSuite(driver, .init = open_fresh, .fini = close_fresh);

static void award_now(int64_t step_us, int64_t count)
{
    takt_award award = award_of(0, 0, step_us, count, 1);

    answer(&r, 0, &award);
}

Test(driver, claims_go_before_callbacks)
{
    acquire(&r, 5, 1, ALWAYS);
    cr_assert_str_eq(drive(0, 0), "C");
    acquire(&r, 5, 1, ALWAYS);
    award_now(0, 1);
    cr_assert_str_eq(drive(0, 1), "Ca", "b needs another slot");
}

Test(driver, slots_go_back_before_claims)
{
    acquire(&r, 5, 1, ALWAYS);
    drive(0, 0);
    award_now(100 * MS, 2);
    acquire(&r, 5, 1, ALWAYS);
    takt_waiter_leave(&r.s, &r.permits[1], 0);
    takt_waiter_leave(&r.s, &r.permits[0], TAKT_E_CANCELED);
    takt_claims_outdated(&r.s, r.queue);
    cr_assert_str_eq(drive(0, 1), "BCa");
}

Test(driver, permits_that_become_due_in_a_callback_wait_for_another_pass)
{
    acquire_many(&r, 3);
    drive(0, 0);
    award_now(0, 2);
    cancels = &r.permits[2];
    cr_assert_str_eq(drive(0, 2), "Cab?", "%s", steps);
    cr_assert_str_eq(drive(0, 1), "c", "%s", steps);
}
