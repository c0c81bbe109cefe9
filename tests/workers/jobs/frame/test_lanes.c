/*
 * Lanes: which jobs fit into memory, and in which order the others return.
 */
#include <criterion/criterion.h>

#include "jobs/frame/lanes.h"

#define SIZE_MAX_TOLD ((size_t)1024 * 1024)

static takt_lanes room = {.lane_max = 10, .size_max = SIZE_MAX_TOLD};

static takt_job *kept[100000]; /* so that none of them counts as lost */
static int kept_count;

static takt_job *make(takt_lane *lane, int priority)
{
    takt_job *made = kept[kept_count++] = calloc(1, sizeof(*made));

    made->lane = lane;
    made->priority = (int8_t)priority;
    takt_lanes_join(lane);
    takt_lanes_hold(&room, made);
    return made;
}

static void drop(takt_job *job)
{
    takt_lanes_let_go(&room, job);
    takt_lanes_leave(&room, job->lane);
    free(job);
}

Test(lanes, lanes_are_by_limit_and_key)
{
    takt_lane *whole = takt_lanes_get(&room, "a", NULL, NULL),
              *keyed = takt_lanes_get(&room, "a", "k", NULL);

    cr_assert_neq(whole, keyed);
    cr_assert_eq(takt_lanes_get(&room, "a", NULL, NULL), whole);
    cr_assert_eq(takt_lanes_get(&room, "a", "k", NULL), keyed);
    cr_assert_neq(takt_lanes_get(&room, "b", "k", NULL), keyed);
    cr_assert_neq(takt_lanes_get(&room, "a", "k", "acme"), keyed);
    cr_assert_eq(takt_lanes_get(&room, "a", "k", "acme"), takt_lanes_get(&room, "a", "k", "acme"));
    cr_assert_str_eq(takt_lanes_get(&room, "a", NULL, "acme")->tenant, "acme");
}

Test(lanes, the_last_one_takes_its_lane_along)
{
    takt_job *one = make(takt_lanes_get(&room, "a", NULL, NULL), 5);
    takt_job *two = make(takt_lanes_get(&room, "a", NULL, NULL), 5);

    drop(one);
    cr_assert_gt(room.size, 0);
    drop(two);
    cr_assert_eq(room.size + room.lanes_size, 0);
    cr_assert_null(room.tree);
    cr_assert_null(room.shares);
}

Test(lanes, a_lane_has_so_many)
{
    takt_lane *lane = takt_lanes_get(&room, "a", NULL, NULL);

    for (int i = 0; i < 10; i++) {
        cr_assert(takt_lanes_has_room(&room, lane, 100));
        make(lane, 5);
    }
    cr_assert_not(takt_lanes_has_room(&room, lane, 100));
    cr_assert(takt_lanes_has_room(&room, takt_lanes_get(&room, "b", NULL, NULL), 100));
}

/* A limit gets as much as it leaves over, so that there is always something left for another,
 * however many keys it has. */
Test(lanes, the_memory_that_is_left_bounds_a_limit)
{
    takt_lane *first = takt_lanes_get(&room, "a", NULL, NULL),
              *second = takt_lanes_get(&room, "b", NULL, NULL);
    char key[16];

    room.lane_max = 1000000;
    for (int i = 0; takt_lanes_has_room(&room, first, 400); i++) {
        make(first, 5);
        snprintf(key, sizeof(key), "%d", i);
        make(takt_lanes_get(&room, "a", key, NULL), 5);
    }
    cr_assert_gt(first->share->size, SIZE_MAX_TOLD / 3);
    cr_assert_lt(first->share->size, SIZE_MAX_TOLD * 2 / 3);
    cr_assert(takt_lanes_has_room(&room, second, 400));
    cr_assert_not(takt_lanes_has_room(&room, takt_lanes_get(&room, "a", "another", NULL), 400));
    while (kept_count > 0)
        drop(kept[--kept_count]);
    cr_assert_eq(room.size, 0);
}

Test(lanes, the_urgent_go_first)
{
    static const int priorities[] = {5, 9, 0, TAKT_PRIORITY_POLICY, 0};
    static const int order[] = {2, 4, 0, 3, 1};
    takt_lane *lane = takt_lanes_get(&room, "a", NULL, NULL);
    takt_job_ref ref;
    takt_job *jobs[5];

    for (int i = 0; i < 5; i++) {
        jobs[i] = make(lane, priorities[i]);
        takt_lanes_line_up(&room, jobs[i], false);
        takt_lanes_put_away(&room, lane, takt_job_urgency(jobs[i]), (takt_job_ref){(uint64_t)i, 0});
    }
    cr_assert_eq(room.busy_count, 1);
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(lane->line.first, jobs[order[i]]);
        takt_lanes_step_out(&room, lane->line.first);
        cr_assert(takt_lanes_take_away(&room, lane, &ref));
        cr_assert_eq(ref.major, (uint64_t)order[i]);
    }
    cr_assert_not(takt_lanes_take_away(&room, lane, &ref));
    cr_assert_eq(room.busy_count, 0);
    takt_lanes_line_up(&room, jobs[0], false);
    takt_lanes_line_up(&room, jobs[3], true);
    cr_assert_eq(lane->line.first, jobs[3], "who goes before its like");
}

Test(lanes, a_queue_of_references_keeps_their_order)
{
    takt_job_refs refs = {0};
    uint64_t put = 0, taken = 0;

    for (int round = 0; round < 1000; round++) {
        for (int i = 0; i < 7; i++)
            cr_assert(takt_job_refs_put(&refs, (takt_job_ref){put++, 0}));
        for (int i = 0; i < 5; i++)
            cr_assert_eq(takt_job_refs_take(&refs).major, taken++);
    }
    while (refs.count > 0)
        cr_assert_eq(takt_job_refs_take(&refs).major, taken++);
    cr_assert_eq(taken, put);
    cr_assert_null(refs.ring);
}
