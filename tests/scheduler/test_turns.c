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

    a->turn->stands = true;
    a->turn->priority = 3;
    all->standing[3] = all->standing_count = 1;
    cr_assert(!takt_turns_hold_up(a));
    takt_turns_step_back(a->turn);
    cr_assert(takt_turns_hold_up(a));
    cr_assert_eq(all->standing[3], 0);
    cr_assert_eq(all->standing_count, 0);
    takt_turns_step_back(a->turn);
    cr_assert_eq(all->standing_count, 0, "once");
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
