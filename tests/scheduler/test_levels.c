/*
 * A permit whose shadow waiter will come to a queue keeps that queue until its work starts or it
 * has ended.
 */
#include "rigs.h"
#include "scheduler/claims.h"
#include "scheduler/registry.h"
#include "scheduler/unused.h"

enum { OTHERS = 1100 /* more idle queues than are kept */ };

static rig r;
static takt_limit shade;
static takt_queue *shaded;

static void wait_until(int64_t deadline_us)
{
    takt_waiter_expect(&r.s, shaded, 1, TAKT_NO_MORE, acquire(&r, 5, 1, deadline_us));
}

static void set_up(void)
{
    open_rig(&r);
    shade = r.limit;
    strcpy(shade.name, "shade");
    shade.mode = TAKT_MODE_SHADOW;
    shaded = takt_registry_queue(&r.s, &shade, "red");
    wait_until(ALWAYS);
}

static void tear_down(void)
{
    close_rig(&r);
}

TestSuite(scheduler_levels, .init = set_up, .fini = tear_down);

/* So many queues become idle that the others are forgotten. */
static void crowd(int64_t at_us)
{
    char key[16];

    for (int i = 0; i < OTHERS; i++) {
        snprintf(key, sizeof key, "%d", i);
        takt_claims_nudge(&r.s, takt_registry_queue(&r.s, &r.limit, key));
    }
    for (int i = 0; i < 2; i++) {
        takt_claim claim;
        takt_scheduler_run(&r.s, NOW + at_us);
        while (takt_claims_next(&r.s, NOW + at_us, &claim))
            ;
    }
}

static bool is_kept(void)
{
    return takt_registry_find(&r.s, &shade, "red") != NULL;
}

Test(scheduler_levels, a_queue_that_a_shadow_waiter_is_to_come_to_is_kept)
{
    crowd(0);
    cr_assert(is_kept());
    takt_waiter_leave(&r.s, &r.permits[0], TAKT_E_CANCELED);
    cr_assert_eq(shaded->coming, 0);
    cr_assert_str_eq(pass(&r, 0), "a-8");
    crowd(0);
    crowd(0);
    cr_assert_not(is_kept(), "nobody comes any more");
}

/* Whichever way it ends. */
Test(scheduler_levels, who_ends_is_not_expected_any_more)
{
    takt_waiter_leave(&r.s, &r.permits[0], 0);
    cr_assert_eq(shaded->coming, 0);
    r.permit_count = 0;
    wait_until(SECOND);
    cr_assert_eq(shaded->coming, 1);
    pass(&r, 0);
    cr_assert_str_eq(pass(&r, 2 * SECOND), "a-6", "its deadline");
    cr_assert_eq(shaded->coming, 0);
    r.permit_count = 0;
    wait_until(ALWAYS);
    takt_scheduler_leave_all(&r.s, TAKT_E_CANCELED);
    cr_assert_eq(shaded->coming, 0);
}

/* A burst gives up before its callbacks: one call hands it back. */
Test(scheduler_levels, the_slots_of_one_instant_are_handed_back_together)
{
    takt_award award = award_of(0, 10 * MS, 0, 3, 1);
    takt_claim claim;
    takt_run run;

    wait_until(ALWAYS);
    wait_until(ALWAYS);
    takt_scheduler_run(&r.s, NOW);
    cr_assert_eq(takt_claims_next(&r.s, NOW, &claim), r.queue);
    takt_scheduler_award(&r.s, r.queue, &award, NOW, NOW);
    takt_scheduler_run(&r.s, NOW + 11 * MS);
    for (int i = 0; i < 3; i++)
        takt_waiter_leave(&r.s, &r.permits[i], 0);
    takt_scheduler_run(&r.s, NOW + 11 * MS);
    cr_assert_eq(takt_unused_next(&r.s, &run), r.queue);
    cr_assert_eq(takt_run_slot(&run, 0), NOW + 10 * MS);
    cr_assert_eq(run.count, 3);
    cr_assert_null(takt_unused_next(&r.s, &run));
}
