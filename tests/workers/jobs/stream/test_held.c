/*
 * test_held.c: the table of the entries that a worker of a stream has, against a plain list, in any
 * order of adding and removing.
 */
#include <criterion/criterion.h>

#include "base/random.h"
#include "jobs/stream/held.h"
#include "seed.h"

#define REFS 3000

/* Names as servers give them: many of one millisecond, and milliseconds in a row. */
static takt_job_ref takt_job_file_ref(int i)
{
    return (takt_job_ref){UINT64_C(1763692800000) + (uint64_t)(i / 3), (uint64_t)(i % 3)};
}

static void check(const takt_stream_held *held, const bool *there)
{
    size_t count = 0;

    for (int i = 0; i < REFS; i++) {
        const takt_stream_held_row *row = takt_stream_held_find(held, takt_job_file_ref(i));
        cr_assert_eq(row != NULL, there[i], "%d", i);
        cr_assert(row == NULL || row->count == i, "%d has another one's row", i);
        count += there[i];
    }
    cr_assert_eq(held->count, count);
}

Test(stream_held, like_a_list)
{
    static bool there[REFS];
    uint64_t random = test_seed(1);
    takt_stream_held held = {0};

    cr_assert_null(takt_stream_held_find(&held, takt_job_file_ref(0)));
    takt_stream_held_remove(&held, takt_job_file_ref(0));
    for (int round = 0; round < 20; round++) {
        int adding = round % 4 < 2 ? 3 : 1; /* of 4 steps */
        for (int step = 0; step < 2000; step++) {
            int i = (int)takt_random_below(&random, REFS);
            if ((int)takt_random_below(&random, 4) >= adding) {
                takt_stream_held_remove(&held, takt_job_file_ref(i));
                there[i] = false;
            } else if (!there[i]) {
                takt_stream_held_row *row =
                    takt_stream_held_add(&held, takt_job_file_ref(i), TAKT_STREAM_HELD_OURS);
                cr_assert_not_null(row);
                row->count = (uint16_t)i;
                there[i] = true;
            }
        }
        check(&held, there);
    }
    takt_stream_held_free(&held);
}

Test(stream_held, knows_whether_any_is_in_a_state)
{
    takt_stream_held held = {0};

    cr_assert_not(takt_stream_held_has(&held, TAKT_STREAM_HELD_TAKING));
    cr_assert_not_null(takt_stream_held_add(&held, takt_job_file_ref(1), TAKT_STREAM_HELD_OURS));
    cr_assert_not(takt_stream_held_has(&held, TAKT_STREAM_HELD_TAKING));
    cr_assert_not_null(takt_stream_held_add(&held, takt_job_file_ref(2), TAKT_STREAM_HELD_TAKING));
    cr_assert(takt_stream_held_has(&held, TAKT_STREAM_HELD_TAKING) &&
              takt_stream_held_has(&held, TAKT_STREAM_HELD_OURS));
    takt_stream_held_remove(&held, takt_job_file_ref(2));
    cr_assert_not(takt_stream_held_has(&held, TAKT_STREAM_HELD_TAKING));
    takt_stream_held_free(&held);
}
