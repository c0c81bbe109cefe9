/*
 * A time-out counts the time in which the program runs, and little of a pause.
 */
#include <criterion/criterion.h>

#include "base/timeout.h"

#define MS UINT64_C(1000000)

Test(timeout, is_over_after_the_time_out)
{
    takt_timeout timeout;
    uint64_t now_ns = 77 * MS, due_ns;
    int looks = 0;

    takt_timeout_begin(&timeout, 1000 * MS, 5 * MS);
    due_ns = takt_timeout_due(&timeout, now_ns);
    do {
        uint64_t next_ms = takt_timeout_next_ms(&timeout, due_ns);
        cr_assert_gt(next_ms, 0);
        now_ns += next_ms * MS;
        looks++;
    } while (takt_timeout_look(&timeout, now_ns) < due_ns);
    cr_expect_eq(now_ns, 77 * MS + 1001 * MS, "%llu", (unsigned long long)now_ns);
    cr_expect_eq(looks, TAKT_TIMEOUT_LOOKS);
    cr_expect_eq(takt_timeout_next_ms(&timeout, due_ns), 0);
}

/* A later timer is due later, however many requests there are. */
Test(timeout, counts_between_questions)
{
    takt_timeout timeout;
    uint64_t first_ns;

    takt_timeout_begin(&timeout, 1000 * MS, 0);
    first_ns = takt_timeout_due(&timeout, 0);
    for (uint64_t now_ns = 0; now_ns <= 600 * MS; now_ns += MS)
        cr_expect_eq(takt_timeout_due(&timeout, now_ns), first_ns + now_ns);
}

Test(timeout, a_pause_costs_a_quarter)
{
    static const uint64_t pauses_ms[] = {250, 251, 1000, 3600000};

    for (size_t i = 0; i < sizeof pauses_ms / sizeof pauses_ms[0]; i++) {
        takt_timeout timeout;
        uint64_t due_ns;
        takt_timeout_begin(&timeout, 1000 * MS, 0);
        due_ns = takt_timeout_due(&timeout, 0);
        cr_expect_eq(takt_timeout_look(&timeout, pauses_ms[i] * MS), due_ns - 750 * MS);
        cr_expect_eq(takt_timeout_next_ms(&timeout, due_ns), 126);
    }
}
