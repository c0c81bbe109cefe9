/*
 * The queues of one limit and key that take turns: who belongs to them, and what they share.
 */
#include "scheduler/turns.h"

#include "scheduler/rigs.h"

static rig r;

static void set_up(void)
{
    open_rig(&r);
    r.limit.fair = TAKT_FAIR_TENANT;
}

static void tear_down(void)
{
    close_rig(&r);
}

TestSuite(turns, .init = set_up, .fini = tear_down);

static takt_queue *queue_of(const char *tenant, const char *key)
{
    takt_queue *queue = takt_registry_tenant(&r.s, &r.limit, key, tenant, 1);

    cr_assert_not_null(queue);
    cr_assert_not_null(queue->turn);
    return queue;
}

/* The tenants of a key, in order. */
static const char *names(const char *key)
{
    static char found[200];
    char id[sizeof r.limit.name + 40];
    size_t size = (size_t)snprintf(id, sizeof id, "%s%c%s", r.limit.name, '\0', key);
    const takt_queue *queue = NULL;

    found[0] = '\0';
    while ((queue = takt_turns_next(&r.s, id, size, queue)) != NULL) {
        strcat(found, queue->turn->tenant);
        strcat(found, " ");
    }
    return found;
}

Test(turns, those_of_a_key_are_together)
{
    takt_queue *a = queue_of("a", "k"), *b = queue_of("b", "k"), *other = queue_of("a", "l");

    cr_assert_eq(a->turn->of, b->turn->of);
    cr_assert_neq(a->turn->of, other->turn->of);
    cr_assert_eq(queue_of("a", "k"), a, "there is one queue for each");
    cr_assert_str_eq(names("k"), "a b ");
    cr_assert_str_eq(names("l"), "a ");
    cr_assert_str_eq(names("none"), "");
}

Test(turns, one_is_found_by_its_tenant)
{
    takt_queue *a = queue_of("a", "k"), *none = queue_of("", "k");

    queue_of("a", "l");
    cr_expect_eq(takt_registry_turn(&r.s, r.limit.name, "k", "a", NULL), a->turn);
    cr_expect_null(takt_registry_turn(&r.s, r.limit.name, "k", "a", a->turn));
    cr_expect_eq(takt_registry_turn(&r.s, r.limit.name, "k", "", NULL), none->turn);
    cr_expect_null(takt_registry_turn(&r.s, r.limit.name, "k", "b", NULL));
    cr_expect_null(takt_registry_turn(&r.s, r.limit.name, "m", "a", NULL));
    takt_turns_name(&r.s, none->turn, "b", true);
    cr_expect_eq(takt_registry_turn(&r.s, r.limit.name, "k", "b", NULL), none->turn);
    cr_expect_null(takt_registry_turn(&r.s, r.limit.name, "k", "", NULL));
    takt_turns_name(&r.s, none->turn, "b", false);
    cr_expect_null(takt_registry_turn(&r.s, r.limit.name, "k", "b", NULL));
    takt_registry_forget(&r.s, a);
    cr_expect_null(takt_registry_turn(&r.s, r.limit.name, "k", "a", NULL));
}

Test(turns, work_without_a_name_is_not_listed)
{
    queue_of("a", "k");
    cr_assert_not_null(queue_of("", "k"));
    queue_of("b", "k");
    cr_assert_str_eq(names("k"), "a b ");
}

Test(turns, who_steps_back_stands_no_more)
{
    takt_queue *a = queue_of("a", "k");
    takt_turns *all = a->turn->of;

    takt_turns_enter(a->turn, 3);
    takt_turns_stand(a->turn);
    cr_assert(!takt_turns_hold_up(a));
    takt_turns_step_back(a->turn);
    cr_assert(takt_turns_hold_up(a));
    cr_assert_eq(takt_turns_first_held_up(all, 3), a->turn);
    cr_assert_eq(all->standing_count, 0);
    takt_turns_step_back(a->turn);
    cr_assert_eq(all->standing_count, 0, "once");
}

/* Whether they stand in line or not. */
Test(turns, are_ordered_by_tag_then_by_who_came_first)
{
    static const char *const tenants[] = {"a", "b", "c", "d"};
    static const int64_t tags[] = {2, 1, 2, 1};
    takt_turn *turns[4];
    const takt_turns *all;

    for (int i = 0; i < 4; i++) {
        turns[i] = queue_of(tenants[i], "k")->turn;
        turns[i]->tag = tags[i];
        takt_turns_enter(turns[i], 3);
    }
    all = turns[0]->of;
    cr_expect_null(takt_turns_first(all, 4));
    cr_expect_eq(takt_turns_first(all, 3), turns[1]);
    for (int i = 3; i >= 0; i--)
        takt_turns_stand(turns[i]);
    cr_expect_null(takt_turns_first_held_up(all, 3));
    for (int i = 0; i < 4; i++) { /* b, d, a, c; those before have gone */
        static const int order[] = {1, 3, 0, 2};
        takt_turn *first = takt_turns_first(all, 3);
        cr_expect_eq(first, turns[order[i]]);
        if (i == 1) {
            takt_turns_step_back(first);
            cr_expect_eq(takt_turns_first(all, 3), first, "it keeps its turn");
        }
        takt_turns_take_out(first);
    }
    cr_expect_null(takt_turns_first(all, 3));
}

Test(turns, queues_of_which_the_ledger_has_waiters_are_counted_once)
{
    takt_queue *a = queue_of("a", "k");

    takt_turns_count(a, true);
    cr_assert_eq(a->turn->of->in_line, 1);
    a->awarded.in_line = 1;
    takt_turns_count(a, true);
    cr_assert_eq(a->turn->of->in_line, 1);
    takt_turns_count(a, false);
    cr_assert_eq(a->turn->of->in_line, 0);
    a->awarded.in_line = 0;
}

Test(turns, the_last_one_takes_the_group_away)
{
    queue_of("a", "k");
    takt_registry_close(&r.s);
    cr_assert_eq(takt_registry_init(&r.s, 7, 1, &r), 0);
    cr_assert_str_eq(names("k"), "");
}
