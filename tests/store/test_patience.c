/*
 * Patience counts the time in which a program looks, and hardly any in which it could not.
 */
#include <criterion/criterion.h>

#include "store/patience.h"

#define MS UINT64_C(1000000)

Test(patience, is_over_after_the_time_out)
{
    takt_patience patience;
    uint64_t now_ns = 77 * MS, due_ns;
    int looks = 0;

    takt_patience_begin(&patience, 1000 * MS, 5 * MS);
    due_ns = takt_patience_due(&patience, now_ns);
    do {
        uint64_t next_ms = takt_patience_next_ms(&patience, due_ns);
        cr_assert_gt(next_ms, 0);
        now_ns += next_ms * MS;
        looks++;
    } while (takt_patience_look(&patience, now_ns) < due_ns);
    cr_expect_eq(now_ns, 77 * MS + 1001 * MS, "%llu", (unsigned long long)now_ns);
    cr_expect_eq(looks, TAKT_PATIENCE_LOOKS);
    cr_expect_eq(takt_patience_next_ms(&patience, due_ns), 0);
}

/* What is asked for later is due later, however often somebody asks. */
Test(patience, counts_between_questions)
{
    takt_patience patience;
    uint64_t first_ns;

    takt_patience_begin(&patience, 1000 * MS, 0);
    first_ns = takt_patience_due(&patience, 0);
    for (uint64_t now_ns = 0; now_ns <= 600 * MS; now_ns += MS)
        cr_expect_eq(takt_patience_due(&patience, now_ns), first_ns + now_ns);
}

Test(patience, a_pause_costs_a_quarter)
{
    static const uint64_t pauses_ms[] = {250, 251, 1000, 3600000};

    for (size_t i = 0; i < sizeof pauses_ms / sizeof pauses_ms[0]; i++) {
        takt_patience patience;
        uint64_t due_ns;
        takt_patience_begin(&patience, 1000 * MS, 0);
        due_ns = takt_patience_due(&patience, 0);
        cr_expect_eq(takt_patience_look(&patience, pauses_ms[i] * MS), due_ns - 750 * MS);
        cr_expect_eq(takt_patience_next_ms(&patience, due_ns), 126);
    }
}
