/*
 * Tenants: who stands in the table and for how long, and the shares that tenants get of a ledger,
 * by workers that claim when their awards say.
 */
#include "core/tenants.h"

#include <stdio.h>

#include "core/books.h"
#include "core/ledger_text.h"
#include "core/line.h"
#include "core/tenant_name.h"

static book b;
static int claimer_count, start_count; /* of a fleet */
static int64_t calls;

static void set_up(void)
{
    open_book(&b, limit_of(100, SECOND, 1));
    claimer_count = start_count = 0;
    calls = 0;
}

TestSuite(tenants, .init = set_up);

static const takt_tenant *tenant_of(const char *name, int priority)
{
    for (int i = 0; i < b.ledger.tenant_count; i++)
        if (strcmp(b.tenants[i].name, name) == 0 && b.tenants[i].priority == priority)
            return &b.tenants[i];
    return NULL;
}

/* A worker's claim for a tenant (NULL: none) of that weight. */
static void say_of(int64_t at_us, uint64_t worker, const char *tenant, int weight, int priority,
                   int64_t count)
{
    takt_claim claim = {.worker = takt_tenant_worker(worker, tenant),
                        .client = tenant ? worker : 0,
                        .seq = ++b.seq,
                        .waiting = count,
                        .newcomers = count,
                        .tenant = tenant,
                        .tenant_weight = weight,
                        .want_count = count > 0};

    claim.wants[0] =
        (takt_want){.count = count, .latest_us = TAKT_NEVER, .cost = 1, .priority = priority};
    send_claim(&b, at_us, &claim);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const char *encode(void)
{
    static char text[1 << 16];

    text[takt_ledger_encode(&b.ledger, text, sizeof text)] = '\0';
    return text;
}

Test(tenants, a_ledger_has_none_until_one_is_named)
{
    say_of(0, 1, NULL, 0, 5, 100);
    say_of(0, 2, NULL, 0, 5, 100);
    cr_assert_eq(b.ledger.tenant_count, 0);
    cr_assert_null(strchr(encode(), '@'));
    say_of(1000, 3, "acme", 2, 5, 100);
    cr_assert_eq(b.ledger.tenant_count, 2);
    cr_assert_eq(tenant_of("acme", 5)->weight, 2);
    cr_assert_eq(place_of(&b, 1, 5)->tenant, 1, "work that names none is of one tenant");
    cr_assert_eq(place_of(&b, 2, 5)->tenant, 1);
    cr_assert_eq(place_of(&b, takt_tenant_worker(3, "acme"), 5)->client, 3);
    say_of(2000, 1, NULL, 0, 5, 50);
    cr_assert_eq(b.ledger.line_count, 3, "it has the place that it had");
    say_of(2000, 1, "", 0, 5, 50);
    cr_assert_eq(b.ledger.line_count, 3, "and also when its policy has tenants");
}

Test(tenants, nobody_is_remembered_when_nobody_waits)
{
    say_of(0, 1, "a", 1, 5, 100);
    say_of(0, 1, "b", 1, 3, 100);
    cr_assert_eq(b.ledger.tenant_count, 2);
    say_of(1000, 1, "a", 1, 5, 0);
    cr_assert_eq(b.ledger.tenant_count, 1);
    say_of(1000, 1, "b", 1, 3, 0);
    cr_assert_eq(b.ledger.tenant_count, 0);
    cr_assert_null(strchr(encode(), 'p'));
}

Test(tenants, one_that_had_more_than_others_is_remembered)
{
    say_of(0, 1, "a", 1, 5, 100);
    say_of(0, 2, "b", 1, 5, 100);
    say_of(200 * MS, 1, "a", 1, 5, 100);
    cr_assert_gt(b.given, 5);
    say_of(200 * MS, 1, "a", 1, 5, 0);
    cr_assert_eq(tenant_of("a", 5)->tag, b.given > 0 ? 0 : tenant_of("a", 5)->tag);
    cr_assert_gt(tenant_of("a", 5)->tag, 5 * TAKT_TENANT_STEP);
    say_of(200 * MS, 1, "a", 1, 5, 100);
    cr_assert_gt(tenant_of("a", 5)->tag, 5 * TAKT_TENANT_STEP, "going and coming is no gain");
}

Test(tenants, too_many_cannot_stand_in_line)
{
    char name[16];

    for (int i = 0; i < TAKT_TENANTS_MAX; i++) {
        snprintf(name, sizeof name, "tenant %d", i);
        say_of(1000, (uint64_t)i + 1, name, 1, 5, 100);
        cr_assert_eq(b.award.in_line, 1U << 5);
    }
    say_of(2000, 9999, "one more", 1, 5, 10);
    cr_assert_eq(b.award.in_line, 0);
    cr_assert_eq(b.award.run_count, 0);
    cr_assert_eq(b.award.claim_again_at_us, NOW + 2000 + TAKT_KEEPALIVE_US);
    cr_assert_eq(b.ledger.line_count, TAKT_TENANTS_MAX);
    cr_assert_eq(b.award.least_urgent, 5, "others wait");
    say_of(2500, 1, "one more", 1, 7, 10);
    cr_assert_eq(b.award.least_urgent, 5);
    say_of(3000, 1, "tenant 0", 1, 5, 0);
    say_of(4000, 9999, "one more", 1, 5, 10);
    cr_assert_eq(b.award.in_line, 1U << 5);
}

Test(tenants, the_text_has_them)
{
    static char text[1 << 16];
    static book other;
    takt_numbers kept;
    size_t size;

    say_of(0, 1, "a b", 3, 5, 100);
    say_of(0, 2, "c", 1, 5, 100);
    say_of(0, 4, "c", 1, 0, 100);
    say_of(300 * MS, 1, "a b", 3, 5, 100);
    size = takt_ledger_encode(&b.ledger, text, sizeof text);
    cr_assert_leq(size, takt_ledger_text_size(b.ledger.line_count, 0, b.ledger.tenant_count));
    cr_assert_eq(takt_ledger_text_tenants(text, size), b.ledger.tenant_count);
    open_book(&other, b.limit);
    cr_assert_eq(takt_ledger_decode(&other.ledger, &other.limit, &kept, NOW, text, size), 0);
    cr_assert_eq(other.ledger.tenant_count, 3);
    cr_assert_str_eq(other.tenants[0].name, "a%20b");
    cr_assert_eq(takt_ledger_encode(&other.ledger, text, sizeof text), size);
    cr_assert_str_eq(text, encode());
}

#define RULE "g1/10000*1 1763692800000000;t9"

Test(tenants, half_a_table_is_not_believed)
{
    static const struct {
        const char *text;
        int status;
    } rows[] = {
        {RULE ";p5,1,0,7,a;w1,5,5,3,18,2,9,1,2@1,1", 0},
        {RULE ";p5,1,0,7,;w1,5,5,3,18,2,9,1,2,af@1,0", 0},
        {RULE ";p5,1,0,7,a;w1,5,5,3,18,2,9,1,2", -1},
        {RULE ";p5,1,0,7,a;w1,5,5,3,18,2,9,1,2@2,1", -1},
        {RULE ";p5,1,0,7,a;w1,5,5,3,18,2,9,1,2@0,1", -1},
        {RULE ";p4,1,0,7,a;w1,5,5,3,18,2,9,1,2@1,1", -1},
        {RULE ";w1,5,5,3,18,2,9,1,2@1,1", -1},
        {RULE ";p5,0,0,7,a;w1,5,5,3,18,2,9,1,2@1,1", -1},
        {RULE ";p5,1001,0,7,a;w1,5,5,3,18,2,9,1,2@1,1", -1},
        {RULE ";p5,1,0,a;w1,5,5,3,18,2,9,1,2@1,1", -1},
    };
    takt_numbers kept;

    for (size_t i = 0; i < COUNT(rows); i++)
        cr_assert_eq(
            takt_ledger_decode(&b.ledger, &b.limit, &kept, NOW, rows[i].text, strlen(rows[i].text)),
            rows[i].status, "row %zu", i);
}

Test(tenants, people_see_each_once)
{
    takt_tenant_standing told[4];

    say_of(0, 1, "a b", 3, 5, 100);
    say_of(1000, 2, "c", 1, 5, 100);
    say_of(2000, 2, "a b", 3, 0, 7);
    cr_assert_eq(takt_tenants_tell(&b.ledger, told, 4), 2);
    cr_assert_str_eq(told[0].name, "a b");
    cr_assert_eq(told[0].weight, 3);
    cr_assert_eq(told[0].since_us, NOW);
    cr_assert_eq(told[0].waiting, 74 + 7, "26 slots are in hand");
    cr_assert_str_eq(told[1].name, "c");
    cr_assert_eq(told[1].since_us, NOW + 1000);
    cr_assert_eq(takt_tenants_tell(&b.ledger, told, 1), 1);
}

/* ---- work that has used more or less --------------------------------------------------------- */

/* Work has used so many tokens more than it took, or less. */
static void correct(const char *name, int priority, int64_t weight, int64_t tokens)
{
    takt_amounts had = {{takt_max(-tokens, 0), 1}}, used = {{takt_max(tokens, 0), 1}};

    takt_tenants_correct(&b.ledger, NOW, name, priority, weight, had, used);
}

Test(tenants, one_pays_for_what_its_work_has_used)
{
    static const struct {
        const char *name;
        int priority;
        int64_t tokens, a, b, c; /* tags after it, in tokens; -1: it is not there */
    } rows[] = {
        {"a", 5, 30, 30, 0, -1},  /* others go first until they were given as much */
        {"a", 5, -10, 20, 0, -1}, /* it gets back what it has not used */
        {"b", 5, -10, 30, 0, -1}, /* only differences count: the first one is never below 0 */
        {"b", 5, 100, 0, 70, -1},  {"c", 5, 7, 0, 70, 7}, /* it does not wait, and owes */
        {"c", 5, -100, 0, 70, -1},                        /* but saves nothing */
        {"c", 5, -1, 0, 70, -1},                          /* nor is it remembered for that */
        {"a", 4, 50, 0, 70, -1},                          /* nobody waits with that priority */
        {"a", 5, 0, 0, 70, -1},
    };

    say_of(0, 1, "a", 1, 5, 100);
    say_of(0, 2, "b", 1, 5, 100);
    b.tenants[0].tag = b.tenants[1].tag = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        correct(rows[i].name, rows[i].priority, 1, rows[i].tokens);
        cr_expect_eq(tenant_of("a", 5)->tag, rows[i].a * TAKT_TENANT_STEP, "row %zu", i);
        cr_expect_eq(tenant_of("b", 5)->tag, rows[i].b * TAKT_TENANT_STEP, "row %zu", i);
        cr_expect_eq(tenant_of("c", 5) ? tenant_of("c", 5)->tag / TAKT_TENANT_STEP : -1, rows[i].c,
                     "row %zu", i);
        cr_expect_null(tenant_of("a", 4));
    }
    correct("c", 5, 4, 8);
    cr_expect_eq(tenant_of("c", 5)->tag, 2 * TAKT_TENANT_STEP, "by its weight");
    for (int i = 0; i < 9; i++)
        correct("a", 5, 1, TAKT_SETTLED_MAX);
    cr_expect_leq(tenant_of("a", 5)->tag, TAKT_EXACT_MAX / 2, "what a text can hold");
    for (int i = 0; i < 9; i++)
        correct("b", 5, 1, -TAKT_SETTLED_MAX);
    cr_expect_leq(tenant_of("a", 5)->tag, TAKT_EXACT_MAX / 2);
}

Test(tenants, nobody_owes_while_nobody_waits)
{
    correct("a", 5, 1, 100);
    cr_assert_eq(b.ledger.tenant_count, 0);
}

/* The tag of one that took the first amounts and has used the second, in the priced unit. */
static int64_t corrected(takt_amounts had, takt_amounts used)
{
    say_of(0, 1, "a", 1, 5, 100);
    say_of(0, 2, "b", 1, 5, 100);
    b.tenants[0].tag = b.tenants[1].tag = 0;
    takt_tenants_correct(&b.ledger, NOW, "a", 5, 1, had, used);
    return tenant_of("a", 5)->tag / TAKT_TENANT_STEP;
}

Test(tenants, one_pays_for_the_unit_that_is_scarce)
{
    takt_numbers both = limit_of(100, SECOND, 1);

    both.rules[1] = both.rules[0]; /* a request takes as long as 10 tokens */
    both.rules[1].limit = 10;
    both.rules[1].unit = TAKT_UNIT_REQUESTS;
    both.rule_count = 2;
    cr_assert_eq(takt_rule_prepare(&both.rules[1], NULL), 0);
    open_book(&b, both);
    cr_expect_eq(corrected((takt_amounts){{5, 1}}, (takt_amounts){{9, 1}}), 0);
    open_book(&b, both);
    cr_expect_eq(corrected((takt_amounts){{5, 1}}, (takt_amounts){{30, 1}}), 20);
    open_book(&b, both);
    cr_expect_eq(corrected((takt_amounts){{0, 0}}, (takt_amounts){{5, 1}}), 10);
    both.rules[0] = both.rules[1];
    both.rule_count = 1;
    open_book(&b, both);
    cr_expect_eq(corrected((takt_amounts){{5, 1}}, (takt_amounts){{900, 1}}), 0, "requests alone");
    open_book(&b, both);
    cr_expect_eq(corrected((takt_amounts){{0, 0}}, (takt_amounts){{900, 2}}), 2);
    open_book(&b, (takt_numbers){.lookahead_us = TAKT_LOOKAHEAD_US,
                                 .concurrency = 2,
                                 .lease_us = TAKT_LEASE_US});
    cr_expect_eq(corrected((takt_amounts){{0, 0}}, (takt_amounts){{900, 2}}), 2, "permits");
}

/* ---- permits --------------------------------------------------------------------------------- */

/* A claim of a worker that holds permits. */
static void hold(int64_t at_us, uint64_t worker, const char *tenant, int64_t holding, int64_t count)
{
    takt_claim claim = {.worker = takt_tenant_worker(worker, tenant),
                        .client = worker,
                        .seq = ++b.seq,
                        .waiting = count,
                        .holding = holding,
                        .tenant = tenant,
                        .want_count = count > 0};

    claim.wants[0] = (takt_want){count, TAKT_NEVER, 1, 5, {{0}}};
    send_claim(&b, at_us, &claim);
}

Test(tenants, the_workers_of_one_share_its_turn)
{
    say_of(0, 1, "acme", 1, 5, 100);
    say_of(0, 2, "acme", 1, 5, 100);
    cr_assert_eq(b.given, 0);
    say_of(260 * MS, 1, "acme", 1, 5, 100);
    cr_assert_eq(b.given, 13, "half of the 26 that are there");
    say_of(260 * MS, 2, "acme", 1, 5, 100);
    cr_assert_eq(b.given, 12, "half of the 25 that a lookahead has");
}

Test(tenants, a_permit_goes_to_the_tenant_whose_turn_it_is)
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

Test(tenants, ten_jobs_do_not_wait_for_fifty_thousand)
{
    for (int64_t trip_us = 0; trip_us < 100 * MS; trip_us += 7 * MS) {
        open_book(&b, limit_of(100, SECOND, 1));
        claimer_count = start_count = 0;
        cr_assert_leq(slots_until_done(trip_us), 20, "at %" PRId64 " us", trip_us);
        is_over();
    }
}

Test(tenants, equal_ones_have_equal_parts_in_any_two_seconds)
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

Test(tenants, weights_are_kept)
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

Test(tenants, one_alone_has_everything)
{
    add(1, "a", 3, 50000, 0);
    add(2, "a", 3, 50000, 3 * MS);
    run_until(21 * SECOND);
    cr_assert_eq(count_of("a", SECOND, 20 * SECOND), 1900);
    is_over();
}

Test(tenants, a_silent_one_is_waited_for_no_longer_than_a_lookahead)
{
    add(1, "a", 1, 50000, 0);
    add(2, "b", 1, 50000, 3 * MS)->silent_from_us = 5 * SECOND;
    run_until(21 * SECOND);
    cr_assert_geq(count_of("a", 5 * SECOND + 500 * MS, 20 * SECOND), 1450 - 25);
    is_over();
}

Test(tenants, what_was_not_used_is_not_saved)
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

/* Two that lag behind a third keep their order: their key may hold up both. */
Test(tenants, those_that_lag_keep_their_distance)
{
    say_of(0, 1, "first", 1, 5, 1000);
    say_of(0, 2, "second", 1, 5, 1000);
    say_of(0, 3, "third", 1, 5, 1000);
    b.tenants[0].tag = 0;
    b.tenants[1].tag = 3 * TAKT_TENANT_STEP;
    b.tenants[2].tag = 1000 * TAKT_TENANT_STEP;
    say_of(100, 2, "second", 1, 5, 1000);
    cr_assert_gt(tenant_of("third", 5)->tag, 0);
    cr_assert_lt(tenant_of("third", 5)->tag, 100 * TAKT_TENANT_STEP, "a few turns at most");
    cr_assert_eq(tenant_of("first", 5)->tag, 0);
    cr_assert_geq(tenant_of("second", 5)->tag, 3 * TAKT_TENANT_STEP);
}

Test(tenants, urgent_work_of_any_goes_first)
{
    add(1, "a", 1, 50000, 0);
    add(2, "b", 1, 50000, 1 * MS);
    add(3, "a", 1, 200, 5 * SECOND)->priority = 0;
    run_until(10 * SECOND);
    cr_assert_eq(count_of("b", 5 * SECOND + 300 * MS, 7 * SECOND), 0);
    cr_assert_geq(count_of("b", 7 * SECOND + 500 * MS, 9 * SECOND), 70);
    is_over();
}

Test(tenants, fifty_take_turns)
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
Test(tenants, many_on_several_workers_use_the_whole_rate)
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
