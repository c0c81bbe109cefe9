/*
 * Slots in hand are used in the order in which they are due, in any order of their awards.
 */
#include "base/random.h"
#include "core/limits.h"
#include "scheduler/slots.h"
#include "seed.h"

#include <string.h>

static takt_run run_of(int64_t first_us, int64_t step_us, int64_t count, int32_t cost)
{
    return (takt_run){{NOW + first_us, 0}, {step_us, 0}, 1, count, cost, {{0}}, 0};
}

static void check_pops(takt_slots *in_hand, const int64_t *slots_us, int count)
{
    for (int i = 0; i < count; i++) {
        cr_assert_eq(in_hand->count, count - i);
        cr_assert_eq(takt_slots_next(in_hand), NOW + slots_us[i], "slot %d: %" PRId64, i,
                     takt_slots_next(in_hand) - NOW);
        takt_slots_pop(in_hand);
    }
    cr_assert_eq(in_hand->count, 0);
    cr_assert_eq(takt_slots_next(in_hand), TAKT_NEVER);
    cr_assert_eq(takt_slots_last(in_hand), TAKT_NEVER);
}

Test(in_hand, gives_slots_in_order)
{
    static const struct {
        int64_t runs[4][3]; /* first, step, count */
        int64_t slots_us[12];
        int count;
    } rows[] = {
        {{{0}}, {0}, 0},
        {{{5, 10, 3}}, {5, 15, 25}, 3},
        {{{5, 0, 3}}, {5, 5, 5}, 3},
        {{{0, 10, 2}, {20, 10, 2}}, {0, 10, 20, 30}, 4},
        {{{20, 10, 2}, {0, 10, 2}}, {0, 10, 20, 30}, 4},       /* the later ones came first */
        {{{0, 10, 3}, {5, 10, 3}}, {0, 5, 10, 15, 20, 25}, 6}, /* one between the other */
        {{{0, 100, 3}, {10, 10, 3}, {5, 0, 2}}, {0, 5, 5, 10, 20, 30, 100, 200}, 8},
        {{{0, 7, 4}, {0, 5, 4}, {0, 3, 2}}, {0, 0, 0, 3, 5, 7, 10, 14, 15, 21}, 10},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_slots in_hand = {0};
        for (int j = 0; j < 4 && rows[i].runs[j][2]; j++) {
            takt_run run = run_of(rows[i].runs[j][0], rows[i].runs[j][1], rows[i].runs[j][2], 1);
            cr_assert_eq(takt_slots_add(&in_hand, &run, 1, 0), 0);
        }
        if (rows[i].count)
            cr_assert_eq(takt_slots_last(&in_hand), NOW + rows[i].slots_us[rows[i].count - 1],
                         "row %zu", i);
        check_pops(&in_hand, rows[i].slots_us, rows[i].count);
        takt_slots_close(&in_hand);
        takt_slots_close(&in_hand);
    }
}

Test(in_hand, rounds_each_slot_as_its_run_does)
{
    takt_run run = {{NOW, 2}, {333333, 1}, 3, 3000, 1, {{0}}, 0};
    takt_slots in_hand = {0};

    cr_assert_eq(takt_slots_add(&in_hand, &run, 1, 0), 0);
    for (int64_t i = 0; i < 3000; i++) {
        cr_assert_eq(takt_slots_next(&in_hand), takt_run_slot(&run, i), "slot %" PRId64, i);
        takt_slots_pop(&in_hand);
    }
    takt_slots_close(&in_hand);
}

Test(in_hand, a_slot_keeps_its_cost)
{
    const takt_run runs[] = {run_of(0, 10, 3, 1), run_of(5, 10, 2, 7)};
    static const int32_t costs[] = {1, 7, 1, 7, 1};
    takt_slots in_hand = {0};

    cr_assert_eq(takt_slots_add(&in_hand, runs, 2, 0), 0);
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(takt_slots_next_run(&in_hand).cost, costs[i], "slot %d", i);
        takt_slots_pop(&in_hand);
    }
    takt_slots_close(&in_hand);
}

Test(in_hand, drops_what_is_due_before_an_instant)
{
    static const struct {
        int64_t instant_us, left;
    } rows[] = {{-5, 6}, {0, 6}, {1, 5}, {10, 4}, {11, 2}, {20, 2}, {21, 0}, {TAKT_NEVER - NOW, 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const takt_run runs[] = {run_of(0, 10, 3, 1), run_of(5, 5, 2, 1), run_of(20, 0, 1, 1)};
        takt_slots in_hand = {0};
        cr_assert_eq(takt_slots_add(&in_hand, runs, 3, 0), 0);
        takt_slots_drop_before(&in_hand, NOW + rows[i].instant_us);
        cr_assert_eq(in_hand.count, rows[i].left, "row %zu: %" PRId64 " left", i, in_hand.count);
        cr_assert_geq(takt_slots_next(&in_hand), NOW + rows[i].instant_us);
        takt_slots_close(&in_hand);
    }
}

static int compare_int64(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

Test(in_hand, agrees_with_a_sorted_list_whatever_comes_in)
{
    uint64_t seed = test_seed(1);

    for (uint64_t round = 0, rounds = test_rounds(100); round < rounds; round++) {
        uint64_t random = seed + round;
        int64_t slots[4000];
        int count = 0;
        takt_slots in_hand = {0};
        for (int step = 0; step < 200; step++) {
            if (takt_random_below(&random, 3) || count == 0) {
                takt_run run =
                    run_of(takt_random_below(&random, 1000), takt_random_below(&random, 50),
                           1 + takt_random_below(&random, 10), 1);
                cr_assert_eq(takt_slots_add(&in_hand, &run, 1, 0), 0);
                for (int64_t i = 0; i < run.count; i++)
                    slots[count++] = takt_run_slot(&run, i);
                qsort(slots, (size_t)count, sizeof *slots, compare_int64);
            }
            for (int64_t n = takt_random_below(&random, 8); n > 0 && count > 0; n--) {
                cr_assert_eq(takt_slots_next(&in_hand), slots[0], "seed %" PRIu64 ", step %d",
                             seed + round, step);
                takt_slots_pop(&in_hand);
                memmove(slots, slots + 1, (size_t)--count * sizeof *slots);
            }
            cr_assert_eq(in_hand.count, count);
            cr_assert_eq(takt_slots_last(&in_hand), count ? slots[count - 1] : TAKT_NEVER);
        }
        takt_slots_close(&in_hand);
    }
}

Test(in_hand, slots_keep_their_fencing_numbers)
{
    const takt_run runs[] = {run_of(0, 10, 3, 1), run_of(5, 10, 2, 7)};
    static const int64_t numbers[] = {100, 103, 101, 104, 102};
    takt_slots in_hand = {0};

    cr_assert_eq(takt_slots_add(&in_hand, runs, 2, 100), 0);
    for (size_t i = 0; i < 5; i++) {
        cr_assert_eq(takt_slots_next_fence(&in_hand), numbers[i], "slot %zu", i);
        takt_slots_pop(&in_hand);
    }
    cr_assert_eq(takt_slots_add(&in_hand, runs, 1, 0), 0);
    takt_slots_pop(&in_hand);
    cr_assert_eq(takt_slots_next_fence(&in_hand), 0, "without numbers");
    takt_slots_close(&in_hand);
}

/* A slot in the midst of a run is taken out; those behind it stay. */
Test(in_hand, one_slot_is_taken_out)
{
    static const struct {
        int64_t from_us, found_us;
        int32_t cost;
        int64_t left_us[8];
    } rows[] = {{0, 5, 1, {15, 17, 25, 35, 37}},  {6, 15, 1, {5, 17, 25, 35, 37}},
                {16, 17, 2, {5, 15, 25, 35, 37}}, {18, 25, 1, {5, 15, 17, 35, 37}},
                {26, 35, 1, {5, 15, 17, 25, 37}}, {36, 37, 2, {5, 15, 17, 25, 35}}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_slots in_hand = {0};
        takt_run runs[] = {run_of(5, 10, 4, 1), run_of(17, 20, 2, 2)};
        int32_t cost = 0;
        cr_assert_eq(takt_slots_add(&in_hand, runs, 2, 0), 0);
        int64_t at_us = takt_slots_from(&in_hand, NOW + rows[i].from_us, &cost);
        cr_assert_eq(at_us, NOW + rows[i].found_us, "row %zu: %" PRId64, i, at_us - NOW);
        cr_assert_eq(cost, rows[i].cost);
        cr_assert_eq(takt_slots_take_out(&in_hand, at_us, cost == 1 ? 2 : 1), 0);
        cr_assert_eq(in_hand.count, 6, "none of that cost");
        cr_assert_eq(takt_slots_take_out(&in_hand, at_us, cost), 0);
        check_pops(&in_hand, rows[i].left_us, 5);
        cr_assert_eq(takt_slots_from(&in_hand, NOW, &cost), TAKT_NEVER);
        takt_slots_close(&in_hand);
    }
}

/* A third of a microsecond more each, and a number more. */
Test(in_hand, what_is_behind_a_slot_taken_out_stays_exact)
{
    takt_slots in_hand = {0};
    takt_run run = {{NOW, 1}, {10, 1}, 3, 4, 1, {{0}}, 0};
    int64_t due_us[4];

    for (int i = 0; i < 4; i++)
        due_us[i] = takt_run_slot(&run, i);
    cr_assert_eq(takt_slots_add(&in_hand, &run, 1, 70), 0);
    cr_assert_eq(takt_slots_take_out(&in_hand, due_us[1], 1), 0);
    cr_assert_eq(takt_slots_next_fence(&in_hand), 70);
    cr_assert_eq(takt_slots_next(&in_hand), due_us[0]);
    takt_slots_pop(&in_hand);
    cr_assert_eq(takt_slots_next_fence(&in_hand), 72);
    cr_assert_eq(takt_slots_next(&in_hand), due_us[2]);
    takt_slots_pop(&in_hand);
    cr_assert_eq(takt_slots_next(&in_hand), due_us[3]);
    takt_slots_close(&in_hand);
}

Test(in_hand, gives_the_first_run_up_to_an_instant)
{
    takt_slots in_hand = {0};
    takt_run runs[] = {run_of(0, 10, 4, 2), run_of(15, 10, 2, 1)}, run;

    cr_assert_eq(takt_slots_add(&in_hand, runs, 2, 7), 0);
    cr_assert_not(takt_slots_pop_before(&in_hand, NOW, &run));
    cr_assert(takt_slots_pop_before(&in_hand, NOW + 21, &run));
    cr_assert_eq(takt_run_slot(&run, 0), NOW);
    cr_assert_eq(run.count, 3);
    cr_assert_eq(run.cost, 2);
    cr_assert(takt_slots_pop_before(&in_hand, NOW + 21, &run));
    cr_assert_eq(takt_run_slot(&run, 0), NOW + 15);
    cr_assert_eq(run.count, 1);
    cr_assert_not(takt_slots_pop_before(&in_hand, NOW + 21, &run));
    cr_assert_eq(in_hand.count, 2);
    cr_assert_eq(takt_slots_next(&in_hand), NOW + 25);
    cr_assert_eq(takt_slots_next_fence(&in_hand), 12);
    takt_slots_pop(&in_hand);
    cr_assert_eq(takt_slots_next(&in_hand), NOW + 30);
    cr_assert_eq(takt_slots_next_fence(&in_hand), 10);
    takt_slots_close(&in_hand);
}
