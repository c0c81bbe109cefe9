/*
 * The lowest backlog since a slot: compared with the list of all slots, and as text.
 */
#include <inttypes.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/integers.h"
#include "base/random.h"
#include "rules/lows.h"
#include "seed.h"

#define NOW   INT64_C(1763692800000000)
#define DEPTH INT64_C(1000000)
#define SLOTS 400

/* The slots of a run, with the backlog before each, minus the tokens taken back since. */
typedef struct history {
    takt_lows lows;
    int64_t slot_us[SLOTS], backlog_us[SLOTS];
    int count;
} history;

static void note(history *h, int64_t slot_us, int64_t backlog_us)
{
    h->slot_us[h->count] = slot_us;
    h->backlog_us[h->count++] = backlog_us;
    takt_lows_note(&h->lows, slot_us, backlog_us, DEPTH);
}

static int64_t lowest_after(const history *h, int64_t slot_us)
{
    int64_t low_us = TAKT_LOWS_UNKNOWN;

    for (int i = 0; i < h->count; i++)
        if (h->slot_us[i] > slot_us)
            low_us = takt_min(low_us, h->backlog_us[i]);
    return low_us;
}

static void take_back(history *h, int64_t slot_us, int64_t by_us)
{
    takt_lows_lower(&h->lows, slot_us, by_us);
    for (int i = 0; i < h->count; i++)
        if (h->slot_us[i] > slot_us)
            h->backlog_us[i] -= by_us;
}

Test(lows, nothing_is_kept_before_the_first_settled_call)
{
    static history h;

    note(&h, NOW, 5000);
    cr_assert_eq(h.lows.count, 0);
    cr_assert_eq(takt_lows_of(&h.lows, NOW), -1);
    takt_lows_learn(&h.lows, NOW + 1000, NOW + 1000, NOW + 1250);
    cr_assert_eq(h.lows.count, 0, "a slot that is handed back is no call");
    takt_lows_learn(&h.lows, NOW + 1000, 0, NOW + 1250);
    cr_assert_eq(h.lows.count, 0, "no slot at all");
    takt_lows_learn(&h.lows, NOW + 1000, NOW, NOW + 1250);
    cr_assert_eq(takt_lows_of(&h.lows, NOW + 1250), -1, "it may have been given before");
    cr_assert_eq(takt_lows_of(&h.lows, NOW + 1251), TAKT_LOWS_UNKNOWN);
}

/* A slot has the backlogs of later slots alone, those of its own instant left out. */
Test(lows, a_slot_has_those_after_it)
{
    static history h;

    takt_lows_learn(&h.lows, NOW + 6000000, NOW, NOW + 6000000);
    note(&h, NOW + 7000000, 0);
    note(&h, NOW + 7000000, 300000);
    note(&h, NOW + 9000000, 700000);
    cr_assert_eq(takt_lows_of(&h.lows, NOW + 6900000), -1);
    cr_assert_eq(takt_lows_of(&h.lows, NOW + 7000000), 700000);
    take_back(&h, NOW + 7000000, 200000);
    cr_assert_eq(takt_lows_of(&h.lows, NOW + 7000000), 500000);
    cr_assert_eq(takt_lows_of(&h.lows, NOW + 9000000), TAKT_LOWS_UNKNOWN);
}

/* It never returns more than the truth, and of a steady load at least half. */
Test(lows, what_is_kept_is_never_too_high)
{
    uint64_t random = test_seed(3);

    for (int round = 0; round < 300; round++) {
        static history h;
        int64_t now_us = NOW, calls_us = 1 + takt_random_below(&random, 100 * DEPTH / SLOTS);
        bool steady = round % 2;
        int open = 0, known = 0;
        h.count = 0;
        h.lows = (takt_lows){.count = 0};
        while (h.count < SLOTS) {
            int64_t low_us, backlog_us = takt_random_below(&random, DEPTH);
            now_us += takt_random_below(&random, DEPTH / 20);
            if (steady || takt_random_below(&random, 10) > 0)
                backlog_us = DEPTH * 9 / 10 + backlog_us / 20;
            note(&h, now_us, backlog_us);
            for (; h.slot_us[open] + calls_us <= now_us; open++) {
                int64_t slot_us = h.slot_us[open], back_us;
                low_us = takt_lows_of(&h.lows, slot_us);
                cr_assert_leq(low_us, lowest_after(&h, slot_us), "round %d", round);
                known += low_us >= 0;
                if (steady && low_us >= 0)
                    cr_assert_geq(2 * low_us, lowest_after(&h, slot_us), "round %d", round);
                back_us = low_us > 0 ? takt_random_below(&random, low_us / 64 + 1) : 0;
                if (back_us > DEPTH / 200)
                    back_us = DEPTH / 200;
                take_back(&h, slot_us, back_us);
                takt_lows_learn(&h.lows, now_us, slot_us, now_us + 1000);
            }
        }
        cr_assert_gt(known, h.count / 8, "round %d: %d", round, known);
    }
}

Test(lows, those_of_another_clock_are_not_kept)
{
    takt_lows lows = {.count = 0};

    takt_lows_learn(&lows, NOW + 1000, NOW, NOW + 1000);
    takt_lows_learn(&lows, NOW - 999000, NOW - 1000000, NOW - 999000);
    cr_assert_eq(takt_lows_of(&lows, NOW - 998999), TAKT_LOWS_UNKNOWN);
}

Test(lows, they_stand_in_the_text)
{
    static const char *const texts[] = {
        "", "~1@2", "~1@2,0", "~333333@1763692800123456,5000000@1763692800456789",
        "~86400000000@1,1@2,2@3,3@4,4@5,5@6,6@7,7@8,9007199254740992"};
    static const char *const bad[] = {
        "~",      "~1",     "~0@2",    "~1@",  "~1@2,",          "~1@2@2",
        "~1@2@1", "~1@2,a", "~1@2,1@", "~1@0", "~86400000001@1", "~1@1@2@3@4@5@6@7@8@9"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[300];
        takt_writer writer = {text, text + sizeof text, false};
        takt_reader reader = {texts[i], texts[i] + strlen(texts[i]), false};
        takt_lows lows;
        takt_lows_read(&lows, &reader);
        cr_assert(takt_read_done(&reader), "%s", texts[i]);
        takt_lows_write(&lows, &writer);
        cr_assert_eq((size_t)(writer.at - text), strlen(texts[i]));
        cr_assert_arr_eq(text, texts[i], strlen(texts[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        takt_reader reader = {bad[i], bad[i] + strlen(bad[i]), false};
        takt_lows lows;
        takt_lows_read(&lows, &reader);
        cr_assert(!takt_read_done(&reader), "%s", bad[i]);
    }
}
