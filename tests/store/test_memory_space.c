/*
 * test_memory_space.c: a space forgets expired ledgers, and no others.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "store/memory_space.h"
#include "store/rig.h"

static int run(takt_space *space, takt_op op, const takt_limit *limit, const char *key)
{
    struct rig_call call;
    takt_link calls;

    rig_call_init(&call, op, limit, key);
    takt_list_init(&calls);
    takt_list_append(&calls, &call.call.link);
    takt_space_run(space, "test", &calls);
    return call.call.status;
}

static void take(takt_space *space, const takt_limit *limit, int count, int status)
{
    char key[16];

    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof key, "%d", i);
        cr_expect_eq(run(space, TAKT_OP_TRY, limit, key), status);
    }
}

Test(memory_space, forgets_what_has_expired_and_nothing_else)
{
    enum { SHORT = 1000, LONG = 50 };
    takt_limit soon = rig_limit("soon", 1000000, 1000000, 1),
               late = rig_limit("late", 1, RIG_DAY, 1);
    takt_space *space = takt_space_open("");

    take(space, &late, LONG, 0);
    take(space, &soon, SHORT, 0);
    for (int i = 0; i < SHORT; i++)
        run(space, TAKT_OP_PEEK, &soon, "a look takes part in the sweep");
    cr_expect_eq(takt_space_count(space), LONG);
    take(space, &late, LONG, TAKT_E_NO_SLOT);
    takt_space_close(space);
}

Test(memory_space, names)
{
    takt_space *one = takt_space_open("x"), *same = takt_space_open("x"),
               *other = takt_space_open("y");
    takt_space *own = takt_space_open(""), *own_too = takt_space_open("");

    cr_expect_eq(one, same);
    cr_expect_neq(one, other);
    cr_expect_neq(own, own_too);
    takt_space_close(one);
    takt_space_close(same);
    takt_space_close(other);
    takt_space_close(own);
    takt_space_close(own_too);
}
