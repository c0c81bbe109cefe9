/*
 * Memory of ghosts is used again, the longest unused first, and a permit whose ghost is another's
 * by now is told so.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "scheduler/ghost.h"

enum { BLOCK = 64 }; /* ghosts that memory is taken for at a time */

static takt_shades shades;

static void open_shades(void)
{
    takt_shades_init(&shades);
}

static void close_shades(void)
{
    takt_shades_close(&shades);
}

TestSuite(ghost, .init = open_shades, .fini = close_shades);

static takt_shade shade_of(takt_ghost *ghost)
{
    return (takt_shade){ghost, ghost->number};
}

Test(ghost, one_tally_for_each_limit)
{
    takt_tally *mail = takt_shades_tally(&shades, "mail");

    cr_assert_null(takt_shades_find(&shades, "call"));
    cr_assert_str_eq(mail->limit, "mail");
    cr_assert_eq(takt_shades_tally(&shades, "mail"), mail);
    cr_assert_eq(takt_shades_find(&shades, "mail"), mail);
    cr_assert_neq(takt_shades_tally(&shades, "mai"), mail);
}

Test(ghost, is_new_each_time)
{
    takt_tally *home = takt_shades_tally(&shades, "mail");
    takt_ghost *ghost = takt_ghost_new(&shades, home);
    takt_permit none = {0};

    cr_assert_eq(ghost->home, home);
    cr_assert_eq(ghost->tally, home);
    cr_assert_eq(ghost->work_us, TAKT_GHOST_UNKNOWN);
    cr_assert_eq(ghost->actual, TAKT_GHOST_UNKNOWN);
    cr_assert_eq(ghost->ends_at_us, TAKT_NEVER);
    cr_assert_eq(ghost->permit.cost, none.cost);
    for (int i = 0; i < BLOCK; i++) { /* until it is this one's turn again */
        ghost->permit.cost = 7;
        ghost->gone = ghost->resting = true;
        ghost->work_us = ghost->actual = 1;
        takt_ghost_free(&shades, ghost);
        ghost = takt_ghost_new(&shades, home);
        cr_assert_eq(ghost->permit.cost, none.cost);
        cr_assert(!ghost->gone && !ghost->resting);
        cr_assert_eq(ghost->work_us, TAKT_GHOST_UNKNOWN);
        cr_assert_eq(ghost->actual, TAKT_GHOST_UNKNOWN);
    }
}

Test(ghost, that_is_gone_is_nobodys)
{
    takt_tally *home = takt_shades_tally(&shades, "mail");
    takt_ghost *first = takt_ghost_new(&shades, home), *again;
    takt_shade shade = shade_of(first), none = {NULL, 0};
    int others = 0;

    cr_assert_eq(takt_ghost_of(&shade), first);
    cr_assert_null(takt_ghost_of(&none));
    takt_ghost_free(&shades, first);
    while ((again = takt_ghost_new(&shades, home)) != first)
        others++;
    cr_assert_eq(others, BLOCK - 1, "its memory is used again when all others have been");
    cr_assert_null(takt_ghost_of(&shade), "and is another ghost's");
    cr_assert_eq(shades.count, BLOCK);
}

Test(ghost, numbers_tell_of_all_that_ever_were)
{
    takt_tally *home = takt_shades_tally(&shades, "mail");
    int64_t last = 0;

    for (int i = 0; i < 3 * BLOCK; i++) {
        takt_ghost *ghost = takt_ghost_new(&shades, home);
        cr_assert_gt(ghost->number, last);
        last = ghost->number;
        if (i % 2)
            takt_ghost_free(&shades, ghost);
    }
    cr_assert_eq(shades.count, 3 * BLOCK / 2);
    cr_assert_eq(home->ghosts, 3 * BLOCK / 2);
}

Test(ghost, are_bounded_limit_by_limit)
{
    takt_tally *full = takt_shades_tally(&shades, "full"), *other;
    takt_ghost *ghost = NULL;

    other = takt_shades_tally(&shades, "other");
    for (int64_t i = 0; i < TAKT_GHOSTS_MAX; i++)
        ghost = takt_ghost_new(&shades, full);
    cr_assert_not_null(ghost);
    cr_assert_null(takt_ghost_new(&shades, full));
    cr_assert_not_null(takt_ghost_new(&shades, other));
    ghost->tally = other; /* it waits for another limit by now, and counts where it came to be */
    takt_ghost_free(&shades, ghost);
    cr_assert_eq(other->ghosts, 1);
    cr_assert_not_null(takt_ghost_new(&shades, full));
}
