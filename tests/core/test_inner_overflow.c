/*
 * max_waiting of inner limits: which waiters leave, on which levels, who hears of it, and what that
 * costs.  Accounts are within a domain, which is within the outermost limit.
 */
#include "core/overflow.h"

#include "core/books.h"
#include "core/line.h"
#include "core/tenants.h"

enum { DOMAIN, FIRST, SECOND_ONE, LEDGERS }; /* the domain's ledger, and those of two accounts */

static book b;
static takt_ledger inner[LEDGERS];
static takt_place lines[LEDGERS][30];
static takt_tenant tenants[LEDGERS][60];
static takt_numbers account, domain;

/* An account has one start an hour, so that the others of its waiters are parked. */
static void set_up_each(int64_t account_most, takt_when_full of_account, int64_t domain_most,
                        takt_when_full of_domain)
{
    open_book(&b, limit_of(1000, SECOND, 1));
    account = limit_of(1, HOUR, 1);
    domain = limit_of(100, SECOND, 100);
    account.max_waiting = account_most;
    domain.max_waiting = domain_most;
    account.when_full = of_account;
    domain.when_full = of_domain;
    for (int i = 0; i < LEDGERS; i++) {
        inner[i] = (takt_ledger){
            .line = lines[i], .line_capacity = 30, .tenants = tenants[i], .tenant_capacity = 60};
        takt_ledger_init(&inner[i], i == DOMAIN ? &domain : &account, NOW);
    }
}

static void set_up(int64_t account_most, int64_t domain_most, takt_when_full when_full)
{
    set_up_each(account_most, when_full, domain_most, when_full);
}

static uint64_t name_of(uint64_t worker, int at)
{
    return worker + 100 * (uint64_t)at;
}

static void claim_with(int64_t at_us, uint64_t worker, int at, int priority, int64_t waiting,
                       int64_t newcomers)
{
    static takt_ledger *levels[2];
    takt_claim claim = {.worker = name_of(worker, at),
                        .process = worker,
                        .seq = ++b.seq,
                        .waiting = waiting,
                        .newcomers = newcomers,
                        .tenant = at == FIRST ? "first" : "second",
                        .tenant_weight = 1,
                        .want_count = waiting > 0};

    claim.wants[0] =
        (takt_want){.count = waiting, .latest_us = TAKT_NEVER, .cost = 1, .priority = priority};
    levels[0] = &inner[at];
    levels[1] = &inner[DOMAIN];
    b.ledger.inner = levels;
    b.ledger.inner_count = 2;
    send_claim(&b, at_us, &claim);
}

/* All of its waiters are newcomers. */
static void claim(int64_t at_us, uint64_t worker, int at, int64_t waiting)
{
    claim_with(at_us, worker, at, 5, waiting, waiting);
}

static int64_t waiting_at(const takt_ledger *ledger)
{
    int64_t waiting, workers;

    takt_line_count(ledger, &waiting, &workers);
    return waiting;
}

static const takt_place *place_at(const takt_ledger *ledger, uint64_t worker, int at)
{
    int index = takt_line_find(ledger, name_of(worker, at), 5);

    return index < 0 ? NULL : &ledger->line[index];
}

TestSuite(inner_overflow);

Test(inner_overflow, newcomers_over_the_bound_leave_all_levels_and_cost_nothing)
{
    set_up(2, 0, TAKT_WHEN_FULL_REFUSE);
    claim(0, 1, FIRST, 5);
    cr_expect_eq(b.given, 1);
    cr_expect_eq(b.award.refused, 2);
    cr_expect_eq(waiting_at(&inner[FIRST]), 2);
    cr_expect_eq(waiting_at(&inner[DOMAIN]), 2);
    cr_expect_eq(takt_numbers_room(&domain, &inner[DOMAIN].state, NOW, NOW).of[0], 99);
    cr_expect(b.award.parked);
    claim_with(MS, 1, FIRST, 5, 2, 0);
    cr_expect_eq(b.award.refused, 0);
    claim(2 * MS, 2, FIRST, 1);
    cr_expect_eq(b.award.refused, 1);
    cr_expect_not(b.award.parked, "nothing waits");
    cr_expect_eq(b.award.claim_again_at_us, TAKT_NEVER);
    cr_expect_null(place_at(&inner[FIRST], 2, FIRST));
    cr_expect_null(place_at(&inner[DOMAIN], 2, FIRST));
    claim(3 * MS, 2, SECOND_ONE, 3);
    cr_expect_eq(b.award.refused, 0, "another account");
}

/* Counted waiters stay, however low the bound is now, and when they leave there is room again. */
Test(inner_overflow, a_parked_place_keeps_its_count)
{
    set_up(5, 0, TAKT_WHEN_FULL_REFUSE);
    claim(0, 1, FIRST, 6);
    cr_expect_eq(waiting_at(&inner[FIRST]), 5);
    account.max_waiting = 3;
    claim_with(MS, 1, FIRST, 5, 5, 0);
    cr_expect_eq(b.award.refused, 0);
    claim_with(2 * MS, 1, FIRST, 5, 7, 2);
    cr_expect_eq(b.award.refused, 2, "the newcomers alone");
    claim_with(3 * MS, 1, FIRST, 5, 2, 0);
    claim(4 * MS, 2, FIRST, 2);
    cr_expect_eq(b.award.refused, 1);
    cr_expect_eq(waiting_at(&inner[FIRST]), 3);
}

/* Of several full levels the most that one of them refuses. */
Test(inner_overflow, the_level_with_the_most_too_many_decides)
{
    set_up(4, 1, TAKT_WHEN_FULL_REFUSE);
    claim(0, 1, FIRST, 7);
    cr_expect_eq(b.given, 1);
    cr_expect_eq(b.award.refused, 5);
    cr_expect_eq(waiting_at(&inner[FIRST]), 1);
    set_up(1, 4, TAKT_WHEN_FULL_REFUSE);
    claim(0, 1, FIRST, 7);
    cr_expect_eq(b.award.refused, 5);
    cr_expect_eq(waiting_at(&inner[DOMAIN]), 1);
    claim(MS, 2, SECOND_ONE, 5);
    cr_expect_eq(b.award.refused, 3, "one is served, one may wait in this account");
    cr_expect_eq(waiting_at(&inner[DOMAIN]), 2);
}

Test(inner_overflow, the_outermost_bound_counts_beside_it)
{
    set_up(9, 0, TAKT_WHEN_FULL_REFUSE);
    account = limit_of(100, SECOND, 100);
    account.max_waiting = 9;
    b.limit = limit_of(1, HOUR, 1);
    b.limit.max_waiting = 4;
    claim(0, 1, FIRST, 7);
    cr_expect_eq(b.given, 1);
    cr_expect_eq(b.award.refused, 2);
    cr_expect_eq(b.award.waiting, 4);
    cr_expect_eq(waiting_at(&inner[FIRST]), 4, "they leave all levels");
}

Test(inner_overflow, the_oldest_waiters_of_the_key_are_dropped)
{
    set_up(2, 0, TAKT_WHEN_FULL_DROP_OLDEST);
    claim(0, 9, FIRST, 1);
    claim_with(MS, 1, FIRST, 5, 2, 0);
    claim_with(2 * MS, 2, FIRST, 5, 1, 0);
    cr_expect_eq(b.award.refused, 0);
    cr_assert_eq(b.award.wake_count, 1);
    cr_expect_eq(b.award.wakes[0], 1);
    cr_expect_eq(b.award.wake_ledgers[0], 1, "for the account");
    cr_expect_eq(place_at(&inner[FIRST], 1, FIRST)->waiting, 1);
    cr_expect_eq(place_at(&inner[DOMAIN], 1, FIRST)->waiting, 1, "they leave all levels");
    claim_with(3 * MS, 1, FIRST, 5, 2, 0);
    cr_expect_eq(b.award.refused, 1);
    cr_expect_eq(waiting_at(&inner[FIRST]), 2);
}

/* Its places behind may come sooner than they were told. */
Test(inner_overflow, who_comes_to_the_front_of_the_key_is_woken)
{
    set_up(2, 0, TAKT_WHEN_FULL_DROP_OLDEST);
    claim(0, 9, FIRST, 1);
    claim_with(MS, 1, FIRST, 5, 1, 0);
    claim_with(2 * MS, 2, FIRST, 5, 1, 0);
    cr_expect_eq(b.award.wake_count, 0);
    claim_with(3 * MS, 3, FIRST, 5, 1, 0);
    cr_assert_eq(b.award.wake_count, 2);
    cr_expect_eq(b.award.wakes[0], 1, "it has lost its waiter");
    cr_expect_eq(b.award.wakes[1], 2);
}

Test(inner_overflow, the_least_urgent_are_dropped)
{
    set_up(2, 0, TAKT_WHEN_FULL_DROP_LOWEST);
    claim(0, 9, FIRST, 1);
    claim_with(MS, 1, FIRST, 5, 1, 0);
    claim_with(2 * MS, 2, FIRST, 7, 2, 0);
    cr_expect_eq(b.award.refused, 1);
    claim_with(3 * MS, 3, FIRST, 6, 1, 0);
    cr_assert_eq(b.award.wake_count, 1);
    cr_expect_eq(b.award.wakes[0], 2);
    claim_with(4 * MS, 4, FIRST, 7, 1, 0);
    cr_expect_eq(b.award.refused, 1);
}

/* ---- levels that differ in when_full --------------------------------------------------------- */

static void expect_leaves(int at, takt_when_full way, int64_t count)
{
    cr_assert_gt(b.award.leave_count, at);
    cr_expect_eq(b.award.leaves[at].way, way);
    cr_expect_eq(b.award.leaves[at].count, count, "%lld", (long long)b.award.leaves[at].count);
}

Test(inner_overflow, levels_that_refuse_come_first_and_the_award_says_who_leaves)
{
    set_up_each(2, TAKT_WHEN_FULL_DROP_OLDEST, 3, TAKT_WHEN_FULL_REFUSE);
    claim(0, 1, FIRST, 6);
    cr_expect_eq(b.given, 1);
    cr_expect_eq(b.award.refused, 3);
    cr_assert_eq(b.award.leave_count, 2);
    expect_leaves(0, TAKT_WHEN_FULL_REFUSE, 2);
    expect_leaves(1, TAKT_WHEN_FULL_DROP_OLDEST, 1);
    cr_expect_eq(waiting_at(&inner[FIRST]), 2);
    cr_expect_eq(waiting_at(&inner[DOMAIN]), 2, "they leave all levels");
    claim_with(MS, 1, FIRST, 5, 2, 0);
    cr_expect_eq(b.award.refused, 0);
    cr_expect_eq(b.award.leave_count, 0);
}

/* The worker may know an older policy. */
Test(inner_overflow, one_way_of_all_levels_is_named_too)
{
    set_up_each(2, TAKT_WHEN_FULL_DROP_OLDEST, 0, TAKT_WHEN_FULL_REFUSE);
    claim(0, 1, FIRST, 6);
    cr_expect_eq(b.award.refused, 3);
    cr_assert_eq(b.award.leave_count, 1);
    expect_leaves(0, TAKT_WHEN_FULL_DROP_OLDEST, 3);
}

/* The account drops one, so that the domain has only one more to drop. */
Test(inner_overflow, levels_that_drop_do_so_from_the_innermost)
{
    set_up_each(2, TAKT_WHEN_FULL_DROP_LOWEST, 1, TAKT_WHEN_FULL_DROP_OLDEST);
    claim(0, 1, FIRST, 4);
    cr_expect_eq(b.given, 1);
    cr_expect_eq(b.award.refused, 2);
    cr_assert_eq(b.award.leave_count, 2);
    expect_leaves(0, TAKT_WHEN_FULL_DROP_LOWEST, 1);
    expect_leaves(1, TAKT_WHEN_FULL_DROP_OLDEST, 1);
    cr_expect_eq(waiting_at(&inner[DOMAIN]), 1);
}

/* Worker 1 could keep the waiter that it loses if the domain had space by then. So the account does
 * not give its place away before the worker has claimed. */
Test(inner_overflow, a_level_that_refuses_counts_dropped_waiters_until_their_worker_claims)
{
    set_up_each(3, TAKT_WHEN_FULL_REFUSE, 2, TAKT_WHEN_FULL_DROP_OLDEST);
    claim(0, 9, FIRST, 1);
    claim(MS, 1, FIRST, 2);
    claim(2 * MS, 2, FIRST, 1);
    cr_expect_eq(b.award.refused, 0);
    cr_assert_eq(b.award.wake_count, 1);
    cr_expect_eq(b.award.wakes[0], 1);
    cr_expect_eq(waiting_at(&inner[DOMAIN]), 2);
    cr_expect_eq(waiting_at(&inner[FIRST]), 3);
    claim_with(3 * MS, 3, FIRST, 5, 1, 1);
    cr_assert_eq(b.award.leave_count, 1);
    expect_leaves(0, TAKT_WHEN_FULL_REFUSE, 1);
    claim_with(4 * MS, 1, FIRST, 5, 2, 0);
    cr_assert_eq(b.award.leave_count, 1);
    expect_leaves(0, TAKT_WHEN_FULL_DROP_OLDEST, 1);
    cr_expect_eq(waiting_at(&inner[FIRST]), 2);
    claim_with(5 * MS, 3, FIRST, 5, 1, 1);
    cr_expect_eq(b.award.leave_count, 0, "there is a place now, and the domain drops the oldest");
    cr_assert_eq(b.award.wake_count, 1);
    cr_expect_eq(b.award.wakes[0], 1);
}

/* In the domain's line a place that its account parks is aside. It counts until it is late. */
Test(inner_overflow, parked_places_count_on_the_levels_between)
{
    set_up(0, 3, TAKT_WHEN_FULL_DROP_OLDEST);
    claim(0, 9, FIRST, 1);
    claim(0, 9, SECOND_ONE, 1);
    claim_with(MS, 1, FIRST, 5, 3, 0);
    cr_assert(b.award.parked);
    cr_assert(place_at(&inner[DOMAIN], 1, FIRST)->aside);
    claim_with(2 * MS, 2, SECOND_ONE, 5, 2, 0);
    cr_assert_eq(b.award.wake_count, 1);
    cr_expect_eq(b.award.wakes[0], 1);
    cr_expect_eq(b.award.wake_ledgers[0], 2, "for the domain");
    cr_expect_eq(place_at(&inner[DOMAIN], 1, FIRST)->waiting, 1);
    claim_with(40 * SECOND, 3, SECOND_ONE, 5, 3, 0);
    cr_expect_eq(b.award.wake_count, 0, "all others are silent");
    cr_expect_eq(b.award.refused, 0);
}

/* More than half of the bound: newcomers should claim at once. */
Test(inner_overflow, the_award_says_that_the_key_is_crowded)
{
    set_up(4, 0, TAKT_WHEN_FULL_REFUSE);
    claim(0, 1, FIRST, 3);
    cr_expect_not(b.award.crowded);
    claim(MS, 2, FIRST, 1);
    cr_expect(b.award.crowded);
    claim(2 * MS, 2, SECOND_ONE, 1);
    cr_expect_not(b.award.crowded);
}

/* Nothing has counted the waiters, so that they are newcomers at the next claim, too. */
Test(inner_overflow, the_award_says_that_too_many_tenants_wait)
{
    set_up(1, 0, TAKT_WHEN_FULL_REFUSE);
    claim(0, 1, FIRST, 2);
    cr_expect_not(b.award.unlisted);
    for (int i = 0; i < TAKT_TENANTS_MAX; i++) {
        takt_claim other = {.worker = 1000 + (uint64_t)i,
                            .seq = ++b.seq,
                            .waiting = 5000,
                            .tenant = (char[]){(char)('a' + i / 16), (char)('a' + i % 16), '\0'},
                            .want_count = 1};
        other.wants[0] = (takt_want){5000, TAKT_NEVER, 1, 5, {{0}}};
        b.ledger.inner_count = 0;
        send_claim(&b, MS, &other);
    }
    claim(2 * MS, 2, SECOND_ONE, 5);
    cr_expect(b.award.unlisted);
    cr_expect_eq(b.award.refused, 0);
    cr_expect_eq(waiting_at(&inner[SECOND_ONE]), 0);
}

/* The domain's line can have no other tenant.  It does not count the waiters, who stay newcomers,
 * but these alone may not exceed its bound either. */
Test(inner_overflow, a_level_between_has_too_many_tenants)
{
    set_up(0, 4, TAKT_WHEN_FULL_REFUSE);
    claim(0, 1, FIRST, 4);
    cr_assert_eq(waiting_at(&inner[DOMAIN]), 3);
    inner[DOMAIN].tenant_capacity = inner[DOMAIN].tenant_count;
    claim(MS, 2, SECOND_ONE, 5);
    cr_expect(b.award.unlisted);
    cr_expect_eq(b.given, 1);
    cr_expect_eq(b.award.refused, 3);
    cr_expect_eq(waiting_at(&inner[SECOND_ONE]), 1);
    cr_expect_eq(waiting_at(&inner[DOMAIN]), 3);
    claim(2 * MS, 2, SECOND_ONE, 1);
    cr_expect_eq(b.award.refused, 0);
    claim(3 * MS, 1, FIRST, 0);
    claim(4 * MS, 2, SECOND_ONE, 6);
    cr_expect_not(b.award.unlisted);
    cr_expect_eq(b.award.refused, 2);
    cr_expect_eq(waiting_at(&inner[DOMAIN]), 4);
}

/* A place that stood there with one priority does not stay when another one finds no space. */
Test(inner_overflow, a_claim_stands_in_a_line_with_all_its_priorities_or_none)
{
    takt_claim both = {.worker = name_of(1, FIRST),
                       .process = 1,
                       .waiting = 4,
                       .newcomers = 4,
                       .tenant = "first",
                       .tenant_weight = 1,
                       .want_count = 2,
                       .wants = {{2, TAKT_NEVER, 1, 5, {{0}}}, {2, TAKT_NEVER, 1, 7, {{0}}}}};

    set_up(0, 0, TAKT_WHEN_FULL_REFUSE);
    claim(0, 1, FIRST, 4);
    inner[DOMAIN].tenant_capacity = inner[DOMAIN].tenant_count;
    both.seq = ++b.seq;
    send_claim(&b, MS, &both);
    cr_expect_not(b.award.unlisted, "the domain has no bound");
    cr_expect_eq(waiting_at(&inner[DOMAIN]), 0);
    cr_expect_eq(waiting_at(&inner[FIRST]), 4);
}
