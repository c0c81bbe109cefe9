/*
 * Lanes: what fits into memory, and in which order what was put away comes back.
 */
#include <criterion/criterion.h>

#include "jobs/frame/waiting.h"

#define SIZE_MAX_TOLD ((size_t)1024 * 1024)

static waiting room = {.lane_max = 10, .size_max = SIZE_MAX_TOLD};

static job *kept[100000]; /* so that none of them counts as lost */
static int kept_count;

static job *make(lane *lane, int priority)
{
    job *made = kept[kept_count++] = calloc(1, sizeof(*made));

    made->lane = lane;
    made->priority = (int8_t)priority;
    waiting_join(lane);
    waiting_hold(&room, made);
    return made;
}

static void drop(job *job)
{
    waiting_let_go(&room, job);
    waiting_leave(&room, job->lane);
    free(job);
}

Test(waiting, lanes_are_by_limit_and_key)
{
    lane *whole = waiting_get(&room, "a", NULL), *keyed = waiting_get(&room, "a", "k");

    cr_assert_neq(whole, keyed);
    cr_assert_eq(waiting_get(&room, "a", NULL), whole);
    cr_assert_eq(waiting_get(&room, "a", "k"), keyed);
    cr_assert_neq(waiting_get(&room, "b", "k"), keyed);
}

Test(waiting, the_last_one_takes_its_lane_along)
{
    job *one = make(waiting_get(&room, "a", NULL), 5);
    job *two = make(waiting_get(&room, "a", NULL), 5);

    drop(one);
    cr_assert_gt(room.size, 0);
    drop(two);
    cr_assert_eq(room.size + room.lanes_size, 0);
    cr_assert_null(room.tree);
    cr_assert_null(room.shares);
}

Test(waiting, a_lane_has_so_many)
{
    lane *lane = waiting_get(&room, "a", NULL);

    for (int i = 0; i < 10; i++) {
        cr_assert(waiting_has_room(&room, lane, 100));
        make(lane, 5);
    }
    cr_assert_not(waiting_has_room(&room, lane, 100));
    cr_assert(waiting_has_room(&room, waiting_get(&room, "b", NULL), 100));
}

/* A limit gets as much as it leaves over, so that there is always something left for another,
 * however many keys it has. */
Test(waiting, the_memory_that_is_left_bounds_a_limit)
{
    lane *first = waiting_get(&room, "a", NULL), *second = waiting_get(&room, "b", NULL);
    char key[16];

    room.lane_max = 1000000;
    for (int i = 0; waiting_has_room(&room, first, 400); i++) {
        make(first, 5);
        snprintf(key, sizeof(key), "%d", i);
        make(waiting_get(&room, "a", key), 5);
    }
    cr_assert_gt(first->share->size, SIZE_MAX_TOLD / 3);
    cr_assert_lt(first->share->size, SIZE_MAX_TOLD * 2 / 3);
    cr_assert(waiting_has_room(&room, second, 400));
    cr_assert_not(waiting_has_room(&room, waiting_get(&room, "a", "another"), 400));
    while (kept_count > 0)
        drop(kept[--kept_count]);
    cr_assert_eq(room.size, 0);
}

Test(waiting, the_urgent_go_first)
{
    static const int priorities[] = {5, 9, 0, TAKT_PRIORITY_POLICY, 0};
    static const int order[] = {2, 4, 0, 3, 1};
    lane *lane = waiting_get(&room, "a", NULL);
    source_ref ref;
    job *jobs[5];

    for (int i = 0; i < 5; i++) {
        jobs[i] = make(lane, priorities[i]);
        waiting_line_up(&room, jobs[i], false);
        waiting_put_away(&room, lane, job_urgency(jobs[i]), (source_ref){(uint64_t)i, 0});
    }
    cr_assert_eq(room.busy_count, 1);
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(lane->line.first, jobs[order[i]]);
        waiting_step_out(&room, lane->line.first);
        cr_assert(waiting_take_away(&room, lane, &ref));
        cr_assert_eq(ref.major, (uint64_t)order[i]);
    }
    cr_assert_not(waiting_take_away(&room, lane, &ref));
    cr_assert_eq(room.busy_count, 0);
    waiting_line_up(&room, jobs[0], false);
    waiting_line_up(&room, jobs[3], true);
    cr_assert_eq(lane->line.first, jobs[3], "who goes before its like");
}

Test(waiting, a_queue_of_references_keeps_their_order)
{
    refs refs = {0};
    uint64_t put = 0, taken = 0;

    for (int round = 0; round < 1000; round++) {
        for (int i = 0; i < 7; i++)
            cr_assert(refs_put(&refs, (source_ref){put++, 0}));
        for (int i = 0; i < 5; i++)
            cr_assert_eq(refs_take(&refs).major, taken++);
    }
    while (refs.count > 0)
        cr_assert_eq(refs_take(&refs).major, taken++);
    cr_assert_eq(taken, put);
    cr_assert_null(refs.ring);
}
