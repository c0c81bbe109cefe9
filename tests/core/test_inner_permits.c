/*
 * Claims whose slots take permits of inner limits: one of each level or none, who is woken, which
 * number a permit has, and for how long it is held.
 */
#include "core/inner_permits.h"

#include "core/books.h"
#include "core/holders.h"
#include "core/tenants.h"

#define LEASE (30 * SECOND)

static book b;
static takt_ledger inner[2];
static takt_place lines[2][20];
static takt_tenant tenants[2][40];
static takt_holder holders[2][10];
static takt_numbers numbers[2];

/* The outermost limit, and how many permits each level has, the innermost first; 0: it has none. */
static void set_up(int64_t account, int64_t domain, int64_t vendor)
{
    takt_numbers limit = limit_of(1000, SECOND, 100);

    limit.concurrency = vendor;
    limit.lease_us = LEASE;
    open_book(&b, limit);
    for (int i = 0; i < 2; i++) {
        numbers[i] = (takt_numbers){.lookahead_us = TAKT_LOOKAHEAD_US,
                                    .concurrency = i == 0 ? account : domain,
                                    .lease_us = LEASE};
        inner[i] = (takt_ledger){.line = lines[i],
                                 .line_capacity = 20,
                                 .tenants = tenants[i],
                                 .tenant_capacity = 40,
                                 .holders = holders[i],
                                 .holder_capacity = 10};
        takt_ledger_init(&inner[i], &numbers[i], NOW);
    }
}

/* The worker holds that many permits, and has so many waiters. */
static void claim(int64_t at_us, uint64_t worker, int64_t holding, int64_t waiting)
{
    takt_ledger *levels[] = {&inner[0], &inner[1]};
    takt_claim claim = {.worker = worker + 100,
                        .process = worker,
                        .seq = ++b.seq,
                        .waiting = waiting,
                        .holding = holding,
                        .tenant = "a/d",
                        .tenant_weight = 1,
                        .want_count = waiting > 0};

    claim.wants[0] =
        (takt_want){.count = waiting, .latest_us = TAKT_NEVER, .cost = 1, .priority = 5};
    b.ledger.inner = levels;
    b.ledger.inner_count = 2;
    send_claim(&b, at_us, &claim);
    b.ledger.inner_count = 0;
}

static void check_held(int64_t account, int64_t domain, int64_t vendor)
{
    cr_expect_eq(takt_holders_held(&inner[0]), account);
    cr_expect_eq(takt_holders_held(&inner[1]), domain);
    cr_expect_eq(takt_holders_held(&b.ledger), vendor);
}

TestSuite(inner_permits);

Test(inner_permits, a_slot_takes_one_of_each_level)
{
    set_up(2, 5, 7);
    claim(0, 1, 0, 4);
    cr_expect_eq(b.given, 2, "as many as the account has");
    cr_expect_eq(b.award.holding, 2);
    check_held(2, 2, 2);
}

Test(inner_permits, the_outer_levels_bound_it_as_well)
{
    set_up(9, 3, 0);
    claim(0, 1, 0, 4);
    cr_expect_eq(b.given, 3);
    check_held(3, 3, 0);
    set_up(9, 0, 1);
    claim(0, 1, 0, 4);
    cr_expect_eq(b.given, 1);
    check_held(1, 0, 1);
}

/* It is parked, and stands in the line of the account alone. */
Test(inner_permits, who_lacks_one_takes_none_and_is_woken)
{
    set_up(1, 5, 0);
    claim(0, 1, 0, 1);
    claim(MS, 2, 0, 3);
    cr_expect_eq(b.given, 0);
    cr_expect(b.award.parked);
    cr_expect_eq(b.award.claim_again_at_us, NOW + MS + TAKT_KEEPALIVE_US, "a release comes first");
    cr_expect_eq(b.ledger.line_count, 0);
    cr_assert_eq(inner[0].line_count, 1);
    cr_expect(lines[0][0].lacking);
    check_held(1, 1, 0);
    claim(2 * MS, 1, 0, 0);
    cr_assert_eq(b.award.wake_count, 1);
    cr_expect_eq(b.award.wakes[0], 2);
    cr_expect_eq(b.award.wake_ledgers[0], 1, "for the account");
    claim(3 * MS, 2, 0, 3);
    cr_expect_eq(b.given, 1);
    check_held(1, 1, 0);
}

/* The end of a lease wakes nobody. */
Test(inner_permits, the_first_in_line_comes_when_a_lease_ends)
{
    set_up(1, 0, 0);
    claim(0, 1, 0, 1);
    claim(LEASE - SECOND, 2, 0, 1);
    cr_expect_eq(b.award.claim_again_at_us, NOW + LEASE + 1);
    claim(LEASE - SECOND, 3, 0, 1);
    cr_expect_eq(b.award.claim_again_at_us, NOW + LEASE - SECOND + TAKT_KEEPALIVE_US);
    claim(LEASE + 1, 2, 0, 1);
    cr_expect_eq(b.given, 1);
}

/* What a level has forgotten, and has given to others, is lost on all levels. */
Test(inner_permits, all_levels_record_what_each_accepts)
{
    set_up(3, 3, 3);
    claim(0, 1, 0, 2);
    takt_ledger_init(&inner[1], &numbers[1], NOW);
    inner[1].holder_count = 1;
    holders[1][0] = (takt_holder){7, 1, 2, NOW + LEASE};
    claim(MS, 1, 2, 0);
    cr_expect_eq(b.award.holding, 1);
    check_held(1, 3, 1);
}

Test(inner_permits, the_number_is_that_of_the_innermost)
{
    set_up(5, 5, 5);
    inner[0].fence = NOW + 40 * SECOND;
    inner[1].fence = NOW + 70 * SECOND;
    claim(0, 1, 0, 2);
    cr_expect_eq(b.award.fence, NOW + 40 * SECOND + 1);
    cr_expect_eq(inner[0].fence, NOW + 40 * SECOND + 2);
    cr_expect_eq(inner[1].fence, NOW + 70 * SECOND + 2, "each level has numbers of its own");
    cr_expect_eq(b.ledger.fence, NOW + 1);
    cr_expect_eq(b.award.reuses, 0, "each permit is given by a claim");
    set_up(0, 5, 5);
    inner[1].fence = NOW + 70 * SECOND;
    claim(0, 1, 0, 1);
    cr_expect_eq(b.award.fence, NOW + 70 * SECOND + 1);
}

/* The caller counts the lease of its own policy. */
Test(inner_permits, a_longer_lease_of_the_caller_is_kept)
{
    set_up(1, 0, 0);
    inner[0].lease_min_us = 2 * LEASE;
    claim(0, 1, 0, 1);
    cr_expect_eq(holders[0][0].expires_at_us, NOW + 2 * LEASE);
    inner[0].lease_min_us = LEASE / 2;
    claim(0, 1, 1, 0);
    cr_expect_eq(holders[0][0].expires_at_us, NOW + LEASE);
}

/* It holds something of an inner level alone, and an old claim comes late. */
Test(inner_permits, a_claim_that_is_older_does_nothing)
{
    set_up(2, 0, 0);
    claim(0, 1, 0, 1);
    b.seq -= 2;
    claim(MS, 1, 0, 1);
    cr_expect(b.award.stale);
    check_held(1, 0, 0);
}

/* Two workers have half of the permits each. */
Test(inner_permits, workers_take_turns)
{
    set_up(4, 0, 0);
    claim(0, 1, 0, 9);
    cr_expect_eq(b.given, 4, "it is alone");
    claim(MS, 2, 0, 9);
    claim(2 * MS, 1, 2, 9);
    cr_expect_eq(b.given, 2, "it has waited for longer");
    claim(3 * MS, 1, 2, 9);
    cr_expect_eq(b.given, 0, "these are left to the other");
    cr_expect_eq(b.award.wake_count, 1);
    claim(4 * MS, 2, 0, 9);
    cr_expect_eq(b.given, 2);
}
