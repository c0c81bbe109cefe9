/*
 * Permits: which worker holds how many, which permits a claim gets, which workers are woken, and
 * the effects of a lease's end, a lost ledger and a lower bound.
 */
#include "core/holders.h"

#include "core/permits.h"

typedef struct step {
    int64_t at_us;
    uint64_t worker;
    int64_t holding, wanting;
    int64_t given, held; /* by the worker, and by all */
    uint64_t woken;      /* the only worker; 0: none */
} step;

static void check_steps(const char *name, takt_numbers limit, const step *steps, size_t count)
{
    static book b;

    open_book(&b, limit);
    for (size_t i = 0; i < count; i++) {
        const step *s = &steps[i];
        state(&b, s->at_us, s->worker, s->holding, s->wanting);
        cr_assert_eq(b.given, s->given, "%s, step %zu: %" PRId64 " given", name, i, b.given);
        cr_assert_eq(b.award.holding, s->holding + s->given, "%s, step %zu: holds %" PRId64, name,
                     i, b.award.holding);
        cr_assert_eq(takt_holders_held(&b.ledger), s->held, "%s, step %zu: %" PRId64 " held", name,
                     i, takt_holders_held(&b.ledger));
        cr_assert_eq(b.award.wake_count, s->woken != 0, "%s, step %zu: %d woken", name, i,
                     b.award.wake_count);
        if (s->woken)
            cr_assert_eq(b.award.wakes[0], s->woken, "%s, step %zu", name, i);
    }
}

#define CHECK(name, limit, ...)                                                                    \
    do {                                                                                           \
        static const step steps[] = {__VA_ARGS__};                                                 \
        check_steps(name, limit, steps, COUNT(steps));                                             \
    } while (0)

Test(holders, as_many_as_there_are_permits)
{
    CHECK("alone", permits(3), {0, 1, 0, 5, 3, 3, 0}, {1, 1, 3, 2, 0, 3, 0}, {2, 1, 2, 2, 1, 3, 0},
          {3, 1, 0, 0, 0, 0, 0});
    CHECK("a release wakes who is first in line", permits(1), {0, 1, 0, 1, 1, 1, 0},
          {1, 2, 0, 1, 0, 1, 0}, {2, 3, 0, 1, 0, 1, 0}, {3, 1, 0, 0, 0, 0, 2},
          {4, 3, 0, 1, 0, 0, 2}, /* not its turn */
          {5, 2, 0, 1, 1, 1, 0}, {6, 2, 0, 0, 0, 0, 3}, {7, 3, 0, 1, 1, 1, 0});
    CHECK("who was served goes behind who waits", permits(1), {0, 1, 0, 3, 1, 1, 0},
          {1, 2, 0, 3, 0, 1, 0}, {2, 1, 0, 2, 1, 1, 0}, /* it stood before worker 2 */
          {3, 1, 0, 1, 0, 0, 2}, {4, 2, 0, 3, 1, 1, 0}, {5, 2, 0, 2, 0, 0, 1},
          {6, 1, 0, 1, 1, 1, 0});
    CHECK("a share each", permits(8), {0, 1, 0, 1, 1, 1, 0}, {0, 2, 0, 20, 7, 8, 0},
          {1, 1, 1, 20, 0, 8, 0}, {2, 2, 0, 20, 4, 5, 1}, {3, 1, 1, 20, 3, 8, 0},
          {4, 2, 4, 20, 0, 8, 0});
}

Test(holders, a_lost_or_repeated_message_neither_leaks_nor_doubles)
{
    static book b;
    takt_claim claim = {.worker = 1, .seq = 7, .waiting = 2, .want_count = 1};

    claim.wants[0] = (takt_want){2, TAKT_NEVER, 1, 5, {{0}}};
    open_book(&b, permits(4));
    send_claim(&b, 0, &claim);
    cr_assert_eq(b.given, 2);
    send_claim(&b, 1, &claim); /* comes twice */
    cr_assert(b.award.stale);
    cr_assert_eq(b.given, 0);
    cr_assert_eq(takt_holders_held(&b.ledger), 2);
    claim.seq = 8; /* the answer was lost: it states that it holds no permit */
    send_claim(&b, 2, &claim);
    cr_assert_eq(b.given, 2);
    cr_assert_eq(takt_holders_held(&b.ledger), 2);
    claim.seq = 9;
    claim.holding = 2;
    claim.want_count = 0;
    claim.waiting = 0;
    send_claim(&b, 3, &claim);
    claim.seq = 8; /* late on its way */
    claim.holding = 0;
    send_claim(&b, 4, &claim);
    cr_assert(b.award.stale, "also where it waits for nothing");
    cr_assert_eq(takt_holders_held(&b.ledger), 2);
}

Test(holders, permits_are_free_when_their_lease_is_over)
{
    CHECK("crashed", permits(2), {0, 1, 0, 2, 2, 2, 0}, {SECOND, 2, 0, 1, 0, 2, 0},
          {30 * SECOND, 2, 0, 1, 0, 2, 0}, {30 * SECOND + 1, 2, 0, 1, 1, 1, 0});
    CHECK("each statement prolongs it", permits(2), {0, 1, 0, 2, 2, 2, 0},
          {20 * SECOND, 1, 2, 0, 0, 2, 0}, {50 * SECOND, 2, 0, 1, 0, 2, 0},
          {50 * SECOND + 1, 2, 0, 1, 1, 1, 0});
}

Test(holders, a_ledger_that_has_forgotten_believes_its_holders)
{
    static book b;

    CHECK("all is free", permits(3), {0, 1, 2, 0, 0, 2, 0}, {0, 2, 1, 1, 0, 3, 0});
    open_book(&b, permits(3));
    state(&b, 0, 1, 0, 2);
    state(&b, 1, 2, 2, 0); /* it had two, and one of them is somebody else's by now */
    cr_assert_eq(b.award.holding, 1);
    cr_assert_eq(takt_holders_held(&b.ledger), 3);
}

Test(holders, a_lower_bound_takes_from_nobody)
{
    static book b;
    takt_numbers lower = permits(2);

    open_book(&b, permits(5));
    state(&b, 0, 1, 0, 4);
    lower.revision = 1;
    takt_ledger_adopt(&b.ledger, &lower, NOW + 1);
    state(&b, 1, 1, 4, 1);
    cr_assert_eq(b.award.holding, 4);
    cr_assert_eq(b.given, 0);
    state(&b, 2, 1, 2, 1);
    cr_assert_eq(b.given, 0);
    state(&b, 3, 1, 1, 1);
    cr_assert_eq(b.given, 1);
}

/* A worker that got a longer lease relies on it until it learns of the shorter one. */
Test(holders, a_shorter_lease_takes_from_nobody)
{
    static book b;
    takt_numbers shorter = permits(2);

    open_book(&b, permits(2));
    state(&b, 0, 1, 0, 1);
    shorter.lease_us = 5 * SECOND;
    takt_ledger_adopt(&b.ledger, &shorter, NOW + SECOND);
    state(&b, SECOND, 2, 0, 2);
    cr_assert_eq(b.given, 1);
    state(&b, 6 * SECOND + 1, 3, 0, 2);
    cr_assert_eq(b.given, 1, "that of the worker with the shorter one is over");
    cr_assert_eq(b.ledger.leased_until_us, NOW + 30 * SECOND);
    state(&b, 6 * SECOND + 2, 3, 1, 1);
    cr_assert_eq(b.given, 0);
    state(&b, 10 * SECOND, 3, 1, 1);
    state(&b, 14 * SECOND, 3, 1, 1);
    cr_assert_eq(b.given, 0);
    state(&b, 18 * SECOND, 3, 1, 1);
    state(&b, 22 * SECOND, 3, 1, 1);
    state(&b, 26 * SECOND, 3, 1, 1);
    cr_assert_eq(b.given, 0);
    state(&b, 30 * SECOND + 1, 3, 1, 1);
    cr_assert_eq(b.given, 1);
}

/* A waiter reserves as many permits as its cost, only until it claims again. */
Test(holders, a_large_cost_keeps_others_waiting_until_it_has_come)
{
    static book b;
    takt_claim urgent = {.worker = 2, .seq = 100, .waiting = 1, .want_count = 1};

    open_book(&b, permits(3));
    state(&b, 0, 1, 0, 3);
    cr_assert_eq(b.given, 3);
    urgent.wants[0] = (takt_want){1, TAKT_NEVER, 5, 0, {{0}}};
    send_claim(&b, 1, &urgent);
    b.seq = 100;
    state(&b, 2, 3, 0, 2);
    cr_assert_eq(b.given, 0);
    state(&b, 3, 1, 0, 0);
    cr_assert_eq(b.award.wake_count, 1);
    cr_assert_eq(b.award.wakes[0], 2);
    state(&b, 4, 3, 0, 2);
    cr_assert_eq(b.given, 0, "the urgent one has not come yet");
    urgent.seq = 200;
    send_claim(&b, 5, &urgent);
    cr_assert_eq(b.given, 1);
    cr_assert_eq(b.award.wake_count, 1);
    cr_assert_eq(b.award.wakes[0], 3, "two are free");
    b.seq = 200;
    state(&b, 6, 3, 0, 2);
    cr_assert_eq(b.given, 2);
}

Test(holders, numbers_only_grow)
{
    static book b;
    int64_t last = 0;

    open_book(&b, permits(2));
    for (int i = 0; i < 50; i++) {
        state(&b, i / 10, (uint64_t)(1 + i % 3), 0, 1);
        if (b.given == 0)
            continue;
        cr_assert_gt(b.award.fence, last);
        cr_assert_geq(b.award.fence, NOW + i / 10);
        cr_assert_eq(b.award.reuses, b.award.least_urgent < 0 ? TAKT_REUSES : 0);
        last = b.award.fence + b.given + b.award.reuses - 1;
        cr_assert_geq(takt_ledger_expires_at(&b.ledger), last, "it is not forgotten before");
    }
    cr_assert_gt(last, NOW);
}

Test(holders, a_slot_needs_a_permit_and_the_rules)
{
    static book b;
    takt_numbers limit = limit_of(10, SECOND, 5);

    limit.concurrency = 3;
    limit.lease_us = 30 * SECOND;
    open_book(&b, limit);
    state(&b, 0, 1, 0, 9);
    cr_assert_eq(b.given, 3, "a burst of five, and three permits");
    cr_assert_eq(b.award.claim_again_at_us, TAKT_NEVER, "nobody knows when one comes free");
    cr_assert_eq(b.award.reuses, 0, "a permit handed on would need a slot");
    state(&b, 1, 1, 0, 9);
    cr_assert_eq(b.given, 3);
    cr_assert_eq(b.first_us, 1);
    state(&b, 2, 1, 2, 9);
    cr_assert_eq(b.given, 1);
    cr_assert_eq(b.first_us, 200 * MS, "by the rules");
    check_never_over(&b);
}

Test(holders, now_or_never_takes_a_permit_too)
{
    static book b;
    takt_claim claim = {.worker = 1, .seq = 1};
    int64_t retry_us;

    open_book(&b, permits(2));
    cr_assert(takt_ledger_try_permit(&b.ledger, NOW, &claim, 1, TAKT_NO_MORE, &retry_us, &b.award));
    cr_assert_eq(b.award.holding, 1);
    cr_assert_eq(b.award.fence, NOW);
    state(&b, 1, 2, 0, 2);
    cr_assert_eq(b.given, 1);
    claim.seq = 100;
    claim.holding = 1;
    cr_assert_not(
        takt_ledger_try_permit(&b.ledger, NOW + 2, &claim, 1, TAKT_NO_MORE, &retry_us, &b.award));
    cr_assert_eq(b.award.holding, 1);
    cr_assert_gt(retry_us, NOW + 2);
    b.seq = 200;
    state(&b, 3, 2, 0, 0);
    state(&b, 4, 3, 0, 1);
    state(&b, 5, 4, 0, 1); /* waits */
    state(&b, 6, 3, 0, 0);
    claim.seq = 300;
    cr_assert_not(
        takt_ledger_try_permit(&b.ledger, NOW + 7, &claim, 1, TAKT_NO_MORE, &retry_us, &b.award),
        "who waits is not overtaken");
    b.seq = 400;
    state(&b, 8, 4, 0, 1);
    cr_assert_eq(b.given, 1);
}

Test(holders, now_or_never_takes_no_permit_that_there_is_not)
{
    static book b;
    takt_numbers limit = permits(1);
    takt_claim claim = {.worker = 1, .seq = 1};
    int64_t retry_us;

    limit.lookahead_us = 0;
    open_book(&b, limit);
    cr_assert_not(takt_ledger_try(&b.ledger, NOW, 1, TAKT_NO_MORE, &retry_us),
                  "who does not say who it is");
    cr_assert_gt(retry_us, NOW);
    cr_assert(takt_ledger_try_permit(&b.ledger, NOW, &claim, 1, TAKT_NO_MORE, &retry_us, &b.award));
    claim = (takt_claim){.worker = 2, .seq = 1};
    cr_assert_not(
        takt_ledger_try_permit(&b.ledger, NOW + 1, &claim, 1, TAKT_NO_MORE, &retry_us, &b.award));
    cr_assert_gt(retry_us, NOW + 1);
    cr_assert_eq(takt_holders_held(&b.ledger), 1);
}

Test(holders, the_dead_head_of_a_line_is_stepped_round)
{
    CHECK("within a keepalive", permits(1), {0, 1, 0, 1, 1, 1, 0}, {1, 2, 0, 1, 0, 1, 0},
          {2, 3, 0, 1, 0, 1, 0}, {3, 1, 0, 0, 0, 0, 2}, {2 * SECOND, 3, 0, 1, 0, 0, 2},
          {2 * SECOND + 250 * MS + 2, 3, 0, 1, 1, 1, 0});
}
