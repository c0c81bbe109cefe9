/*
 * The memory of shadow waiters is reused, the longest unused first, and a permit notices that its
 * shadow waiter was replaced.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "shadow/shadow_waiter.h"

enum { BLOCK = 64 }; /* shadow waiters that memory is taken for at a time */

static takt_shadows shadows;

static void open_shades(void)
{
    takt_shadows_init(&shadows, NULL);
}

static void close_shades(void)
{
    takt_shadows_close(&shadows);
}

TestSuite(shadow_waiter, .init = open_shades, .fini = close_shades);

static takt_shadow_ref shade_of(takt_shadow_waiter *shadow_waiter)
{
    return (takt_shadow_ref){shadow_waiter, shadow_waiter->number};
}

Test(shadow_waiter, one_tally_for_each_limit)
{
    takt_shadow_stats *mail = takt_shadows_stats(&shadows, "mail");

    cr_assert_null(takt_shadows_find_stats(&shadows, "call"));
    cr_assert_str_eq(mail->limit, "mail");
    cr_assert_eq(takt_shadows_stats(&shadows, "mail"), mail);
    cr_assert_eq(takt_shadows_find_stats(&shadows, "mail"), mail);
    cr_assert_neq(takt_shadows_stats(&shadows, "mai"), mail);
}

Test(shadow_waiter, is_new_each_time)
{
    takt_shadow_stats *home = takt_shadows_stats(&shadows, "mail");
    takt_shadow_waiter *shadow_waiter = takt_shadow_waiter_new(&shadows, home);
    takt_permit none = {0};

    cr_assert_eq(shadow_waiter->home, home);
    cr_assert_eq(shadow_waiter->stats_count, 0);
    cr_assert_eq(shadow_waiter->work_us, TAKT_SHADOW_UNKNOWN);
    cr_assert_eq(shadow_waiter->used.of[TAKT_UNIT_TOKENS], TAKT_SHADOW_UNKNOWN);
    cr_assert_eq(shadow_waiter->ends_at_us, TAKT_NEVER);
    cr_assert_eq(shadow_waiter->permit.cost, none.cost);
    for (int i = 0; i < BLOCK; i++) { /* until it is this one's turn again */
        shadow_waiter->permit.cost = 7;
        shadow_waiter->gone = shadow_waiter->resting = true;
        shadow_waiter->work_us = shadow_waiter->used.of[TAKT_UNIT_TOKENS] = 1;
        takt_shadow_waiter_free(&shadows, shadow_waiter);
        shadow_waiter = takt_shadow_waiter_new(&shadows, home);
        cr_assert_eq(shadow_waiter->permit.cost, none.cost);
        cr_assert(!shadow_waiter->gone && !shadow_waiter->resting);
        cr_assert_eq(shadow_waiter->work_us, TAKT_SHADOW_UNKNOWN);
        cr_assert_eq(shadow_waiter->used.of[TAKT_UNIT_TOKENS], TAKT_SHADOW_UNKNOWN);
    }
}

Test(shadow_waiter, that_is_gone_is_nobodys)
{
    takt_shadow_stats *home = takt_shadows_stats(&shadows, "mail");
    takt_shadow_waiter *first = takt_shadow_waiter_new(&shadows, home), *again;
    takt_shadow_ref shade = shade_of(first), none = {NULL, 0};
    int others = 0;

    cr_assert_eq(takt_shadow_waiter_of(&shade), first);
    cr_assert_null(takt_shadow_waiter_of(&none));
    takt_shadow_waiter_free(&shadows, first);
    while ((again = takt_shadow_waiter_new(&shadows, home)) != first)
        others++;
    cr_assert_eq(others, BLOCK - 1, "its memory is used again when all others have been");
    cr_assert_null(takt_shadow_waiter_of(&shade), "and is another shadow_waiter's");
    cr_assert_eq(shadows.count, BLOCK);
}

Test(shadow_waiter, numbers_tell_of_all_that_ever_were)
{
    takt_shadow_stats *home = takt_shadows_stats(&shadows, "mail");
    int64_t last = 0;

    for (int i = 0; i < 3 * BLOCK; i++) {
        takt_shadow_waiter *shadow_waiter = takt_shadow_waiter_new(&shadows, home);
        cr_assert_gt(shadow_waiter->number, last);
        last = shadow_waiter->number;
        if (i % 2)
            takt_shadow_waiter_free(&shadows, shadow_waiter);
    }
    cr_assert_eq(shadows.count, 3 * BLOCK / 2);
    cr_assert_eq(home->shadow_waiters, 3 * BLOCK / 2);
}

Test(shadow_waiter, are_bounded_limit_by_limit)
{
    takt_shadow_stats *full = takt_shadows_stats(&shadows, "full"), *other;
    takt_shadow_waiter *shadow_waiter = NULL;

    other = takt_shadows_stats(&shadows, "other");
    for (int64_t i = 0; i < TAKT_SHADOW_WAITERS_MAX; i++)
        shadow_waiter = takt_shadow_waiter_new(&shadows, full);
    cr_assert_not_null(shadow_waiter);
    cr_assert_null(takt_shadow_waiter_new(&shadows, full));
    cr_assert_not_null(takt_shadow_waiter_new(&shadows, other));
    shadow_waiter->stats[0] = other; /* it waits there by now, and counts where it came to be */
    takt_shadow_waiter_free(&shadows, shadow_waiter);
    cr_assert_eq(other->shadow_waiters, 1);
    cr_assert_not_null(takt_shadow_waiter_new(&shadows, full));
}
