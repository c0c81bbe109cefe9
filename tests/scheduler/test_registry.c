/*
 * Queues are found by limit and key, are in one list at a time, and the queue that is due first is
 * known.
 */
#include <string.h>

#include "core/limits.h"
#include "scheduler/nest.h"
#include "scheduler/registry.h"

static takt_scheduler scheduler;
static takt_limit limit, longer;

static void open_scheduler(void)
{
    limit = limit_named(10, SECOND, 1);
    longer = limit_named(10, SECOND, 1);
    strcpy(longer.name, "testa");
    cr_assert_eq(takt_registry_init(&scheduler, 1, 2, &limit), 0);
}

static void close_scheduler(void)
{
    takt_registry_close(&scheduler);
}

TestSuite(registry, .init = open_scheduler, .fini = close_scheduler);

Test(registry, a_queue_for_each_limit_and_key)
{
    takt_queue *queue = takt_registry_queue(&scheduler, &limit, "ab");
    takt_limit same = limit; /* of a policy that was read again */

    cr_assert_str_eq(queue->key, "ab");
    cr_assert_eq(queue->limit, &limit);
    cr_assert_eq(queue->owner, &limit);
    cr_assert_eq(takt_registry_queue(&scheduler, &limit, "ab"), queue);
    cr_assert_neq(takt_registry_queue(&scheduler, &limit, ""), queue);
    cr_assert_neq(takt_registry_queue(&scheduler, &longer, "b"), queue, "testa:b is not test:ab");
    cr_assert_eq(takt_registry_queue(&scheduler, &same, "ab"), queue);
    cr_assert_eq(takt_registry_find(&scheduler, &limit, "ab"), queue);
    cr_assert_null(takt_registry_find(&scheduler, &limit, "a"), "looking makes none");
    cr_assert_null(takt_registry_find(&scheduler, &limit, "a"));
}

Test(registry, that_is_forgotten_is_made_anew)
{
    takt_queue *queue = takt_registry_queue(&scheduler, &limit, "a");

    takt_registry_put(&scheduler, queue, IDLE);
    takt_registry_pass_at(&scheduler, queue, NOW);
    takt_registry_forget(&scheduler, queue);
    cr_assert_null(scheduler.last, "the one that was used last is nobody");
    cr_assert_null(takt_registry_find(&scheduler, &limit, "a"));
    cr_assert_eq(scheduler.idle_count, 0);
    cr_assert_eq(takt_scheduler_pass_at(&scheduler), TAKT_NEVER);
    queue = takt_registry_queue(&scheduler, &limit, "a");
    cr_assert_eq(queue->registry.list, TOUCHED, "the next pass finds out whether it is idle");
}

Test(registry, lies_in_one_list_at_a_time)
{
    takt_queue *a = takt_registry_queue(&scheduler, &limit, "a");
    takt_queue *b = takt_registry_queue(&scheduler, &limit, "b");

    takt_registry_put(&scheduler, a, IDLE);
    takt_registry_put(&scheduler, b, IDLE);
    takt_registry_put(&scheduler, a, IDLE);
    cr_assert_eq(scheduler.idle_count, 2);
    cr_assert_eq(scheduler.idle.next, &a->registry.link, "who is there keeps its place");
    takt_registry_touch(&scheduler, a);
    cr_assert_eq(scheduler.idle_count, 1);
    cr_assert_eq(scheduler.idle.next, &b->registry.link);
    cr_assert_eq(scheduler.touched.next, &a->registry.link);
    takt_registry_put(&scheduler, a, CLAIMING);
    takt_registry_touch(&scheduler, a);
    cr_assert_eq(a->registry.list, CLAIMING, "who is about to claim does so");
    cr_assert(takt_list_empty(&scheduler.touched));
    takt_registry_put(&scheduler, a, NOWHERE);
    cr_assert(takt_list_empty(&scheduler.claiming));
}

Test(registry, wakes_the_earliest_first)
{
    static const char *const keys[] = {"a", "b", "c"};
    takt_queue *queues[3];

    for (int i = 0; i < 3; i++) {
        queues[i] = takt_registry_queue(&scheduler, &limit, keys[i]);
        takt_registry_pass_at(&scheduler, queues[i], NOW + (3 - i) * SECOND);
    }
    cr_assert_eq(takt_scheduler_pass_at(&scheduler), NOW + SECOND);
    takt_registry_pass_at(&scheduler, queues[2], NOW + 9 * SECOND);
    cr_assert_eq(takt_scheduler_pass_at(&scheduler), NOW + 2 * SECOND);
    takt_registry_pass_at(&scheduler, queues[0], NOW);
    cr_assert_eq(takt_scheduler_pass_at(&scheduler), NOW);
    for (int i = 0; i < 3; i++)
        takt_registry_pass_at(&scheduler, queues[i], TAKT_NEVER);
    cr_assert_eq(takt_scheduler_pass_at(&scheduler), TAKT_NEVER);
}

/* A policy that was read again may give another level the unit that is not the outermost one's. */
Test(registry, work_whose_levels_count_other_units_waits_apart)
{
    takt_limit levels[3] = {limit, limit, limit};
    takt_chain chain = {.count = 3};
    takt_queue *alike, *inmost, *middle;

    for (int i = 0; i < 3; i++) {
        levels[i].name[0] = (char)('a' + i);
        chain.limits[i] = &levels[i];
        chain.keys[i] = "k";
        chain.costs[i] = 1;
    }
    alike = takt_registry_nested(&scheduler, &chain, NULL, 1);
    strcpy(levels[0].unit, "images");
    inmost = takt_registry_nested(&scheduler, &chain, NULL, 1);
    strcpy(levels[0].unit, levels[1].unit);
    strcpy(levels[1].unit, "images");
    middle = takt_registry_nested(&scheduler, &chain, NULL, 1);
    cr_assert_neq(inmost, alike);
    cr_assert_neq(middle, alike);
    cr_assert_neq(middle, inmost);
    cr_assert_eq(takt_registry_nested(&scheduler, &chain, NULL, 1), middle);
}

/* A limit and its key may look like the places of units. */
Test(registry, units_are_told_apart_from_a_level)
{
    takt_limit levels[3] = {limit, limit, limit};
    takt_chain chain = {.count = 3}, four = {.count = 4};
    takt_limit odd = limit;
    takt_queue *queue;

    strcpy(odd.name, "1123");
    for (int i = 0; i < 3; i++) {
        levels[i].name[0] = (char)('a' + i);
        four.limits[i == 2 ? 3 : i] = chain.limits[i] = &levels[i];
        four.keys[i == 2 ? 3 : i] = chain.keys[i] = "k";
    }
    four.limits[2] = &odd;
    four.keys[2] = "1123";
    for (int i = 0; i < 2; i++)
        strcpy(levels[i].unit, "images");
    queue = takt_registry_nested(&scheduler, &chain, NULL, 1);
    for (int i = 0; i < 2; i++)
        strcpy(levels[i].unit, "");
    cr_assert_neq(takt_registry_nested(&scheduler, &four, NULL, 1), queue);
}
