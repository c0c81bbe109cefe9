/*
 * The shares that tenants get of a ledger, by workers that claim when their awards say.
 */
#include "core/tenant_turns.h"

#include <stdio.h>

#include "core/tenant_books.h"

static int claimer_count, start_count; /* of a fleet */
static int64_t calls;

static void set_up(void)
{
    open_book(&b, limit_of(100, SECOND, 1));
    claimer_count = start_count = 0;
    calls = 0;
}

TestSuite(tenant_turns, .init = set_up);

/* ---- permits --------------------------------------------------------------------------------- */

/* A claim of a worker that holds permits. */
static void hold(int64_t at_us, uint64_t worker, const char *tenant, int64_t holding, int64_t count)
{
    takt_claim claim = {.worker = takt_tenant_worker(worker, tenant),
                        .process = worker,
                        .seq = ++b.seq,
                        .waiting = count,
                        .holding = holding,
                        .tenant = tenant,
                        .want_count = count > 0};

    claim.wants[0] = (takt_want){count, TAKT_NEVER, 1, 5, {{0}}};
    send_claim(&b, at_us, &claim);
}

Test(tenant_turns, the_workers_of_one_share_its_turn)
{
    say_of(0, 1, "acme", 1, 5, 100);
    say_of(0, 2, "acme", 1, 5, 100);
    cr_assert_eq(b.given, 0);
    say_of(260 * MS, 1, "acme", 1, 5, 100);
    cr_assert_eq(b.given, 13, "half of the 26 that are there");
    say_of(260 * MS, 2, "acme", 1, 5, 100);
    cr_assert_eq(b.given, 12, "half of the 25 that a lookahead has");
}

Test(tenant_turns, a_permit_goes_to_the_tenant_whose_turn_it_is)
{
    open_book(&b, (takt_numbers){.lookahead_us = TAKT_LOOKAHEAD_US,
                                 .concurrency = 2,
                                 .lease_us = TAKT_LEASE_US});
    hold(0, 1, "a", 0, 100);
    cr_assert_eq(b.award.holding, 2);
    hold(1000, 2, "a", 0, 100);
    hold(2000, 3, "b", 0, 100);
    hold(3000, 1, "a", 1, 98);
    cr_assert_eq(b.award.holding, 2, "of equal tenants the first goes first");
    hold(4000, 1, "a", 1, 97);
    cr_assert_eq(b.award.holding, 1, "it leaves the other permit to b");
    cr_assert_eq(b.award.wake_count, 1);
    cr_assert_eq(b.award.wakes[0], 3, "the worker, not its number for the tenant");
    hold(5000, 3, "b", 0, 100);
    cr_assert_eq(b.award.holding, 1);
}

/* ---- a fleet --------------------------------------------------------------------------------- */

#define CLAIMERS 256
#define NOTED    8192

/* A worker's work of one tenant. A silent one does not claim any more. */
typedef struct claimer {
    uint64_t worker;
    const char *tenant;
    int weight;
    int priority;
    int64_t waiting;
    int64_t next_us; /* after NOW; TAKT_NEVER: it has nothing to say */
    int64_t silent_from_us;
} claimer;

/* A slot that a claimer was given. */
typedef struct start {
    int64_t slot_us;
    const claimer *of;
} start;

static claimer claimers[CLAIMERS];
static start starts[NOTED];

static claimer *add(uint64_t worker, const char *tenant, int weight, int64_t waiting,
                    int64_t from_us)
{
    claimers[claimer_count] = (claimer){worker, tenant, weight, 5, waiting, from_us, TAKT_NEVER};
    return &claimers[claimer_count++];
}

static void claim_now(claimer *one)
{
    b.slot_count = 0;
    say_of(one->next_us, one->worker, one->tenant, one->weight, one->priority, one->waiting);
    calls++;
    for (int i = 0; i < b.slot_count; i++) {
        cr_assert_lt(start_count, NOTED);
        starts[start_count++] = (start){b.slots[i].slot_us - NOW, one};
    }
    one->waiting -= b.slot_count;
    one->next_us =
        b.award.claim_again_at_us == TAKT_NEVER ? TAKT_NEVER : b.award.claim_again_at_us - NOW;
}

static int by_slot(const void *a, const void *c)
{
    const start *x = a, *y = c;

    return (x->slot_us > y->slot_us) - (x->slot_us < y->slot_us);
}

/* Lets them claim when they are told to, until then. */
static void run_until(int64_t until_us)
{
    for (;;) {
        claimer *first = NULL;
        for (int i = 0; i < claimer_count; i++) {
            claimer *one = &claimers[i];
            if (one->next_us < one->silent_from_us && one->next_us < until_us &&
                (!first || one->next_us < first->next_us))
                first = one;
        }
        if (!first)
            break;
        claim_now(first);
    }
    qsort(starts, (size_t)start_count, sizeof *starts, by_slot);
}

static int64_t count_of(const char *tenant, int64_t from_us, int64_t until_us)
{
    int64_t count = 0;

    for (int i = 0; i < start_count; i++)
        count += strcmp(starts[i].of->tenant, tenant) == 0 && starts[i].slot_us >= from_us &&
                 starts[i].slot_us < until_us;
    return count;
}

static void is_over(void)
{
    static taken slots[NOTED];

    for (int i = 0; i < start_count; i++)
        slots[i] = (taken){NOW + starts[i].slot_us, 1};
    cr_assert_eq(broken_promise(&b.limit.rules[0], slots, start_count), -1, "the rule holds");
}

/* How many slots pass after those in hand until B's last one. */
static int64_t slots_until_done(int64_t trip_us)
{
    const claimer *few;
    int64_t last_us = 0;

    for (uint64_t worker = 1; worker <= 8; worker++)
        add(worker, "a", 1, 50000, (int64_t)worker * MS);
    few = add(9, "b", 1, 10, 5 * SECOND + trip_us);
    run_until(10 * SECOND);
    cr_assert_eq(few->waiting, 0);
    for (int i = 0; i < start_count; i++)
        last_us = starts[i].of == few ? starts[i].slot_us : last_us;
    return count_of("a", 5 * SECOND + trip_us + 250 * MS, last_us) +
           count_of("b", 5 * SECOND + trip_us, last_us + 1);
}

Test(tenant_turns, ten_jobs_do_not_wait_for_fifty_thousand)
{
    for (int64_t trip_us = 0; trip_us < 100 * MS; trip_us += 7 * MS) {
        open_book(&b, limit_of(100, SECOND, 1));
        claimer_count = start_count = 0;
        cr_assert_leq(slots_until_done(trip_us), 20, "at %" PRId64 " us", trip_us);
        is_over();
    }
}

Test(tenant_turns, equal_ones_have_equal_parts_in_any_two_seconds)
{
    static const char *const names[] = {"a", "b", "c", "d"};

    for (int i = 0; i < 8; i++)
        add((uint64_t)i + 1, names[i < 5 ? 0 : i - 4], 1, 50000, i * MS);
    run_until(20 * SECOND);
    for (int64_t from_us = SECOND; from_us < 17 * SECOND; from_us += 100 * MS) {
        int64_t sum = 0, squares = 0;
        for (int i = 0; i < 4; i++) {
            int64_t n = count_of(names[i], from_us, from_us + 2 * SECOND);
            sum += n;
            squares += n * n;
        }
        cr_assert_geq(sum, 199);
        cr_assert_geq(100 * sum * sum, 99 * 4 * squares, "Jain's index, from %" PRId64 " us on",
                      from_us);
    }
    cr_assert_leq(calls, start_count, "and costs no more than a call a slot");
    is_over();
}

Test(tenant_turns, weights_are_kept)
{
    int64_t a, rest;

    add(1, "a", 3, 50000, 0);
    add(2, "b", 1, 50000, 1 * MS);
    add(3, "b", 1, 50000, 2 * MS);
    run_until(42 * SECOND);
    a = count_of("a", SECOND, 41 * SECOND);
    rest = count_of("b", SECOND, 41 * SECOND);
    cr_assert_geq(a + rest, 3999);
    cr_assert_geq(a, 2940);
    cr_assert_leq(a, 3060);
    is_over();
}

Test(tenant_turns, one_alone_has_everything)
{
    add(1, "a", 3, 50000, 0);
    add(2, "a", 3, 50000, 3 * MS);
    run_until(21 * SECOND);
    cr_assert_eq(count_of("a", SECOND, 20 * SECOND), 1900);
    is_over();
}

Test(tenant_turns, a_silent_one_is_waited_for_no_longer_than_a_lookahead)
{
    add(1, "a", 1, 50000, 0);
    add(2, "b", 1, 50000, 3 * MS)->silent_from_us = 5 * SECOND;
    run_until(21 * SECOND);
    cr_assert_geq(count_of("a", 5 * SECOND + 500 * MS, 20 * SECOND), 1450 - 25);
    is_over();
}

Test(tenant_turns, what_was_not_used_is_not_saved)
{
    int64_t a, rest;

    add(1, "a", 1, 50000, 0);
    add(2, "b", 1, 5, 1 * MS);
    add(3, "b", 1, 50000, 10 * SECOND);
    run_until(14 * SECOND);
    a = count_of("a", 10 * SECOND + 250 * MS, 13 * SECOND);
    rest = count_of("b", 10 * SECOND + 250 * MS, 13 * SECOND);
    cr_assert_geq(a, 115);
    cr_assert_geq(rest, 115);
    is_over();
}

Test(tenant_turns, urgent_work_of_any_goes_first)
{
    add(1, "a", 1, 50000, 0);
    add(2, "b", 1, 50000, 1 * MS);
    add(3, "a", 1, 200, 5 * SECOND)->priority = 0;
    run_until(10 * SECOND);
    cr_assert_eq(count_of("b", 5 * SECOND + 300 * MS, 7 * SECOND), 0);
    cr_assert_geq(count_of("b", 7 * SECOND + 500 * MS, 9 * SECOND), 70);
    is_over();
}

Test(tenant_turns, fifty_take_turns)
{
    static char names[50][16];

    for (int i = 0; i < 50; i++) {
        snprintf(names[i], sizeof names[i], "tenant %d", i);
        add((uint64_t)i % 4 + 1, names[i], 1, 1000, i * 100);
    }
    run_until(22 * SECOND);
    for (int i = 0; i < 50; i++) {
        int64_t n = count_of(names[i], SECOND, 21 * SECOND);
        cr_assert(n >= 38 && n <= 42, "%s had %" PRId64, names[i], n);
    }
    is_over();
}

/* A place that left more than a turn to each tenant before it would sleep too long. */
Test(tenant_turns, many_on_several_workers_use_the_whole_rate)
{
    static char names[60][16];

    for (int i = 0; i < 60; i++) {
        snprintf(names[i], sizeof names[i], "tenant %d", i);
        for (int worker = i % 3; worker < 8; worker += 3)
            add((uint64_t)worker + 1, names[i], 1, 1000, (i * 37 + worker * 11) % 50 * MS);
    }
    run_until(22 * SECOND);
    cr_assert_geq(start_count, 2200);
    for (int i = 0; i < 60; i++) {
        int64_t n = count_of(names[i], SECOND, 21 * SECOND);
        cr_assert(n >= 31 && n <= 36, "%s had %" PRId64, names[i], n);
    }
    is_over();
}
