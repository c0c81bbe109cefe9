/*
 * The estimate of the store's clock: never later than the awards prove, with any delays.
 */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "base/random.h"
#include "scheduler/clock.h"
#include "seed.h"

#define SECOND INT64_C(1000000)
#define STORE                                                                                      \
    INT64_C(1763692800000000) /* the store's clock at the beginning, this process's being 0 */

typedef struct note {
    int64_t sent_us, received_us, store_us; /* the last after STORE */
    int64_t offset_us;                      /* the estimate of local - store, after -STORE */
} note;

static void check_notes(const char *name, const note *notes, size_t count)
{
    takt_clock clock = {0};

    for (size_t i = 0; i < count; i++) {
        const note *n = &notes[i];
        takt_clock_note(&clock, n->sent_us, n->received_us, STORE + n->store_us);
        cr_assert(clock.known);
        int64_t offset_us = n->received_us - takt_clock_store(&clock, n->received_us) + STORE;
        cr_assert_eq(offset_us, n->offset_us, "%s, note %zu: %" PRId64, name, i, offset_us);
    }
}

#define CHECK(name, ...)                                                                           \
    do {                                                                                           \
        static const note notes[] = {__VA_ARGS__};                                                 \
        check_notes(name, notes, sizeof notes / sizeof notes[0]);                                  \
    } while (0)

Test(clock, keeps_the_lowest_bound_that_an_answer_gave)
{
    CHECK("one answer", {0, 100, 40, 60});
    CHECK("a faster one helps", {0, 100, 40, 60}, {200, 210, 205, 5});
    CHECK("a slower one does no harm", {0, 10, 5, 5}, {200, 900, 250, 6});
    CHECK("the clocks may drift apart", {0, 10, 5, 5},
          {SECOND, 2 * SECOND, SECOND + 500000, 5 + 400},
          {3 * SECOND, 3 * SECOND + 10, 3 * SECOND + 3, 7});
    CHECK("the store's clock was set back", {0, 10, 5, 5},
          {SECOND, SECOND + 10, 1000, SECOND - 990});
    CHECK("the store's clock was set forward", {0, 10, 5, 5},
          {SECOND, SECOND + 10, 9 * SECOND, 10 - 8 * SECOND});
    CHECK("and back again", {0, 10, 5, 5}, {SECOND, SECOND + 10, 9 * SECOND, 10 - 8 * SECOND},
          {2 * SECOND, 2 * SECOND + 10, 2 * SECOND, 10});
}

Test(clock, both_ways_agree)
{
    takt_clock clock = {0};

    takt_clock_note(&clock, 0, 10, STORE + 5);
    for (int64_t us = -20000; us < 20000; us++) {
        int64_t local_us = takt_clock_local(&clock, STORE + us);
        /* a sleeper wakes when it is due, and not a microsecond earlier */
        cr_assert_geq(takt_clock_store(&clock, local_us), STORE + us, "%" PRId64, us);
        cr_assert_lt(takt_clock_store(&clock, local_us - 1), STORE + us, "%" PRId64, us);
    }
}

/* Answers with random delays, two clocks that drift apart: an instant that the estimate takes for
 * past is past. */
Test(clock, is_never_early)
{
    uint64_t seed = test_seed(1);

    for (uint64_t round = 0, rounds = test_rounds(200); round < rounds; round++) {
        uint64_t random = seed + round;
        int64_t ppm = takt_random_below(&random, 401) -
                      200; /* this process's clock runs that much too fast */
        int64_t store_us = STORE, ahead_us = takt_random_below(&random, 3600 * SECOND);
        takt_clock clock = {0};
#define LOCAL(store) ((store)-STORE + ahead_us + ((store)-STORE) * ppm / 1000000)
        for (int i = 0; i < 100; i++) {
            int64_t there_us = takt_random_below(&random, 80000),
                    back_us = takt_random_below(&random, 5);
            takt_clock_note(&clock, LOCAL(store_us - there_us), LOCAL(store_us + back_us),
                            store_us);
            store_us += back_us;
            for (int j = 0; j < 10; j++) {
                int64_t later_us = store_us + takt_random_below(&random, 10 * SECOND);
                int64_t said_us = takt_clock_store(&clock, LOCAL(later_us));
                cr_assert_leq(said_us, later_us, "seed %" PRIu64 ": %" PRId64 " us too early",
                              seed + round, said_us - later_us);
            }
            store_us += takt_random_below(&random, 2 * SECOND) + 100000;
        }
#undef LOCAL
    }
}
