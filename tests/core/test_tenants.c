/*
 * Tenants: who stands in the table and for how long, and what they pay for.
 */
#include "core/tenants.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/ledger_text.h"
#include "core/tenant_books.h"

static void set_up(void)
{
    open_book(&b, limit_of(100, SECOND, 1));
}

TestSuite(tenants, .init = set_up);

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
    cr_assert_eq(place_of(&b, takt_tenant_worker(3, "acme"), 5)->process, 3);
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
static int64_t correct(const char *name, int priority, int64_t weight, int64_t tokens)
{
    takt_amounts had = {{takt_max(-tokens, 0), 1}}, used = {{takt_max(tokens, 0), 1}};

    return takt_tenants_correct(&b.ledger, NOW, name, priority, weight, had, used);
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
        {"b", 5, -10, 30, 0, -1}, /* only differences count: no tag is below 0 */
        {"c", 5, -1, 30, 0, -1},  /* it does not wait: it saves nothing */
        {"b", 5, 100, 30, 100, -1},  {"c", 5, 7, 30, 100, 37}, /* it owes, from the lowest tag on */
        {"c", 5, -100, 30, 100, 30},                           /* but saves nothing */
        {"a", 4, 50, 30, 100, 30},                             /* nobody waits with that priority */
        {"a", 5, 0, 30, 100, 30},
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
    cr_expect_eq(correct("d", 5, 4, 8), 2 * TAKT_TENANT_STEP, "by its weight");
    cr_expect_eq(tenant_of("d", 5)->tag, (30 + 2) * TAKT_TENANT_STEP);
    cr_expect_eq(correct("d", 5, 4, -8), -2 * TAKT_TENANT_STEP);
    cr_expect_eq(correct("d", 5, 4, 0), 0);
    cr_expect_eq(correct("e", 5, 1, -3), 0, "it is not there");
    for (int i = 0; i < 9; i++)
        correct("a", 5, 1, TAKT_SETTLED_MAX);
    cr_expect_leq(tenant_of("a", 5)->tag, TAKT_EXACT_MAX / 2, "what a text can hold");
    for (int i = 0; i < 9; i++)
        correct("b", 5, 1, -TAKT_SETTLED_MAX);
    cr_expect_leq(tenant_of("a", 5)->tag, TAKT_EXACT_MAX / 2);
}

Test(tenants, nobody_owes_while_nobody_waits)
{
    cr_expect_eq(correct("a", 5, 1, 100), 0);
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

/* That one waited in its worker from that tag on, in tokens, and stands in line now. */
static int64_t tag_after_wait(int64_t waited_from)
{
    takt_claim claim = {.worker = takt_tenant_worker(4, "late"),
                        .seq = ++b.seq,
                        .waiting = 1,
                        .tenant = "late",
                        .tenant_weight = 1,
                        .waited_from = waited_from * TAKT_TENANT_STEP,
                        .want_count = 1,
                        .wants = {{1, TAKT_NEVER, 1, 5, {{0}}}}};

    takt_ledger_claim(&b.ledger, NOW, &claim, &b.award);
    cr_assert_eq(b.award.in_line, 1U << 5);
    cr_assert_eq(b.award.tag, tenant_of("late", 5)->tag);
    return b.award.tag / TAKT_TENANT_STEP;
}

/* Of 25 tokens of a lookahead each of three tenants has a turn of eight or nine, and a request one.
 */
Test(tenants, one_that_has_waited_in_its_worker_is_behind_by_some_turns)
{
    static const struct {
        int64_t waited_from, tag;
    } rows[] = {{0, 1000}, {990, 990}, {1001, 1000}, {1, 963}, {INT64_C(1) << 30, 1000}};

    say_of(0, 1, "a", 1, 5, 1000);
    say_of(0, 2, "b", 1, 5, 1000);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        b.tenants[0].tag = 1000 * TAKT_TENANT_STEP;
        b.tenants[1].tag = 2000 * TAKT_TENANT_STEP;
        cr_expect_eq(tag_after_wait(rows[i].waited_from), rows[i].tag, "row %zu: %" PRId64, i,
                     b.award.tag / TAKT_TENANT_STEP);
        say_of(0, 4, "late", 1, 5, 0);
        cr_assert_eq(b.ledger.tenant_count, 3);
        b.tenants[2].tag = 0; /* it may be forgotten */
        say_of(0, 1, "a", 1, 5, 1000);
        cr_assert_null(tenant_of("late", 5));
    }
}

/* As long as a claim may begin with a lower tag. */
Test(tenants, one_that_has_gone_is_remembered_for_some_turns)
{
    say_of(0, 1, "a", 1, 5, 1000);
    say_of(0, 2, "b", 1, 5, 1000);
    b.tenants[0].tag = b.tenants[1].tag = 1000 * TAKT_TENANT_STEP;
    cr_assert_eq(tag_after_wait(0), 1000);
    say_of(0, 4, "late", 1, 5, 0);
    b.tenants[0].tag = b.tenants[1].tag = 1030 * TAKT_TENANT_STEP;
    cr_expect_eq(tag_after_wait(1010), 1010);
    say_of(0, 4, "late", 1, 5, 0);
    cr_expect_eq(tag_after_wait(1000), 1010, "it was given that much");
}

/* Those of each priority for themselves. */
Test(tenants, high_tags_are_lowered)
{
    say_of(0, 1, "a", 1, 5, 1000);
    say_of(0, 2, "b", 1, 5, 1000);
    say_of(0, 4, "b", 1, 6, 1000);
    b.tenants[0].tag = TAKT_TENANT_TAG_HIGH + 7;
    b.tenants[1].tag = TAKT_TENANT_TAG_HIGH;
    b.tenants[2].tag = TAKT_TENANT_TAG_HIGH - 1;
    say_of(0, 3, "c", 1, 5, 1000);
    cr_expect_eq(tenant_of("a", 5)->tag, 7);
    cr_expect_eq(tenant_of("b", 5)->tag, 0);
    cr_expect_eq(tenant_of("c", 5)->tag, 0);
    cr_expect_eq(tenant_of("b", 6)->tag, TAKT_TENANT_TAG_HIGH - 1);
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
    cr_assert_eq(tenant_of("third", 5)->tag, 1000 * TAKT_TENANT_STEP);
    cr_assert_gt(tenant_of("second", 5)->tag, 900 * TAKT_TENANT_STEP, "a few turns at most");
    cr_assert_lt(tenant_of("second", 5)->tag, 1000 * TAKT_TENANT_STEP);
    cr_assert_eq(tenant_of("first", 5)->tag, tenant_of("second", 5)->tag - 3 * TAKT_TENANT_STEP);
}
