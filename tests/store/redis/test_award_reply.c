/*
 * test_award_reply.c: replies of scripts become awards and standings; replies that no script can
 * send are refused.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "store/redis/award_reply.h"
#include "store/rig.h"

/* A call, and what came of a reply to it. */
struct answer {
    takt_limit limit;
    takt_store_inner inner[TAKT_INNER_MAX];
    struct rig_call call;
    bool read, damaged;
};

static takt_tenant_standing *tenants_to; /* the memory for those of a peek */

static int inner_count; /* of the claims */

/* The claim is of so many waiters, and the reply RESP. */
static void answer_with(struct answer *answer, takt_op op, int waiters, const char *bytes)
{
    takt_resp *resp = takt_resp_new(NULL);
    const takt_reply *reply;
    const char *why = "";

    answer->limit = rig_limit("a", 100, 1000000, 5);
    rig_call_init(&answer->call, op, &answer->limit, "k");
    answer->call.claim.waiting = waiters;
    answer->call.claim.want_count = 1;
    answer->call.claim.wants[0] = (takt_want){waiters, TAKT_NEVER, 1, 5, {{0}}};
    answer->call.call.tenants = tenants_to;
    for (int i = 0; i < TAKT_INNER_MAX; i++)
        answer->inner[i].numbers = &answer->limit.numbers;
    answer->call.call.inner = answer->inner;
    answer->call.call.inner_count = inner_count;
    answer->damaged = false;
    cr_assert_eq(takt_resp_feed(resp, bytes, strlen(bytes), &why), 0, "%s: %s", why, bytes);
    cr_assert_eq(takt_resp_next(resp, &reply, &why), 1, "%s", bytes);
    answer->read = takt_award_reply(&answer->call.call, reply, &answer->damaged);
    takt_resp_free(resp);
}

/* An array; fields are RESP, each with its line end; "n" means ":n\r\n". */
static void answer_to(struct answer *answer, takt_op op, int waiters, const char *const *fields,
                      int count)
{
    char bytes[16384];
    int size = snprintf(bytes, sizeof bytes, "*%d\r\n", count);

    for (int i = 0; i < count; i++)
        size += snprintf(bytes + size, sizeof bytes - (size_t)size,
                         strchr(fields[i], '\n') ? "%s" : ":%s\r\n", fields[i]);
    answer_with(answer, op, waiters, bytes);
}

static void answer(struct answer *answer, takt_op op, const char *const *fields, int count)
{
    answer_to(answer, op, 30, fields, count);
}

#define EMPTY "$0\r\n\r\n"

/* Two runs, of 5 and of 20. */
static const char *const award[] = {"0",
                                    "1763692800000000",
                                    "1763692800200000",
                                    "1763692800250000",
                                    "0",
                                    "5",
                                    "1",
                                    "0",
                                    "32",
                                    "-1",
                                    EMPTY,
                                    "1763692800000000",
                                    "0",
                                    "0",
                                    "0",
                                    "1",
                                    "5",
                                    "1",
                                    "1763692800010000",
                                    "1",
                                    "10000",
                                    "2",
                                    "3",
                                    "20",
                                    "1"};
#define AWARD_SIZE ((int)(sizeof award / sizeof award[0]))

static const char *const standing[] = {
    "0",  "1763692800000000",      "5", "3", "-1", "7", "1763692900000000", "4", "2",
    "50", "$11\r\n429%3B wait\r\n"};
#define STANDING_SIZE ((int)(sizeof standing / sizeof standing[0]))

Test(award_reply, an_award)
{
    struct answer got;
    const takt_award *read = &got.call.award;

    answer(&got, TAKT_OP_CLAIM, award, AWARD_SIZE);
    cr_assert(got.read && !got.damaged);
    cr_expect_eq(got.call.call.status, 0);
    cr_expect_eq(read->now_us, INT64_C(1763692800000000));
    cr_expect_eq(read->claim_again_at_us, INT64_C(1763692800200000));
    cr_expect_eq(read->next_slot_at_us, INT64_C(1763692800250000));
    cr_expect_eq(read->blocked_until_us, 0);
    cr_expect_eq(read->waiting, 5);
    cr_expect_eq(read->workers, 1);
    cr_expect_eq(read->refused, 0);
    cr_expect_eq(read->in_line, 32);
    cr_expect_eq(read->least_urgent, -1);
    cr_expect(!read->stale && !read->outdated && !read->uncontended);
    cr_assert_eq(read->run_count, 2);
    cr_expect_eq(read->runs[0].count, 5);
    cr_expect_eq(takt_run_slot(&read->runs[0], 4), INT64_C(1763692800000000));
    cr_expect_eq(takt_run_slot(&read->runs[1], 0), INT64_C(1763692800010001));
    cr_expect_eq(takt_run_slot(&read->runs[1], 1), INT64_C(1763692800020001));
    cr_expect_eq(takt_run_slot(&read->runs[1], 2), INT64_C(1763692800030002));
    cr_expect_eq(read->runs[1].cost, 1);
}

/* The last value, with its flag. */
Test(award_reply, the_tag_of_a_tenant)
{
    const char *fields[AWARD_SIZE + 1];
    struct answer got;

    memcpy(fields, award, sizeof award);
    fields[0] = "32768";
    fields[AWARD_SIZE] = "1048576";
    answer(&got, TAKT_OP_CLAIM, fields, AWARD_SIZE + 1);
    cr_assert(got.read);
    cr_expect_eq(got.call.award.tag, 1048576);
    cr_expect_eq(got.call.award.run_count, 2);
    answer(&got, TAKT_OP_CLAIM, award, AWARD_SIZE);
    cr_assert(got.read);
    cr_expect_eq(got.call.award.tag, 0);
    answer(&got, TAKT_OP_CLAIM, fields, AWARD_SIZE);
    cr_expect(!got.read, "it is missing");
    fields[AWARD_SIZE] = "0";
    answer(&got, TAKT_OP_CLAIM, fields, AWARD_SIZE + 1);
    cr_expect(!got.read);
}

/* As text, if some leave. */
Test(award_reply, who_leaves)
{
    static const struct {
        const char *text;
        int count; /* 0: it is bad */
        takt_leave leaves[3];
    } cases[] = {
        {"$1\r\n2\r\n", 1, {{TAKT_WHEN_FULL_REFUSE, 2}}},
        {"$2\r\n3o\r\n", 1, {{TAKT_WHEN_FULL_DROP_OLDEST, 3}}},
        {"$8\r\n1 2o 12u\r\n",
         3,
         {{TAKT_WHEN_FULL_REFUSE, 1},
          {TAKT_WHEN_FULL_DROP_OLDEST, 2},
          {TAKT_WHEN_FULL_DROP_LOWEST, 12}}},
        {"$0\r\n\r\n", 0, {{0}}},
        {"$1\r\n0\r\n", 0, {{0}}},
        {"$2\r\n1x\r\n", 0, {{0}}},
        {"$4\r\n1 2 \r\n", 0, {{0}}},
        {"$9\r\n1 1 1 1 1\r\n", 0, {{0}}},
        {"$4\r\n100o\r\n", 0, {{0}}},
    };

    inner_count = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *fields[AWARD_SIZE];
        struct answer got;
        const takt_award *read = &got.call.award;
        memcpy(fields, award, sizeof fields);
        fields[7] = cases[i].text;
        answer_to(&got, TAKT_OP_CLAIM, 50, fields, AWARD_SIZE);
        cr_assert_eq(got.read, cases[i].count > 0, "%s", cases[i].text);
        cr_assert(!got.read || read->leave_count == cases[i].count, "%s", cases[i].text);
        for (int j = 0; j < cases[i].count; j++) {
            cr_expect_eq(read->leaves[j].way, cases[i].leaves[j].way);
            cr_expect_eq(read->leaves[j].count, cases[i].leaves[j].count);
        }
    }
}

Test(award_reply, one_slot_for_one_waiter)
{
    static const char *const slot[] = {"1763692800000000", "1763692800250000", "1763692800010001"};
    struct answer got;
    const takt_award *read = &got.call.award;

    answer_to(&got, TAKT_OP_CLAIM, 1, slot, 3);
    cr_assert(got.read && !got.damaged);
    cr_expect_eq(got.call.call.status, 0);
    cr_expect_eq(read->now_us, INT64_C(1763692800000000));
    cr_expect_eq(read->next_slot_at_us, INT64_C(1763692800250000));
    cr_expect_eq(read->claim_again_at_us, TAKT_NEVER);
    cr_expect_eq(read->blocked_until_us, 0);
    cr_expect_eq(read->waiting, 0);
    cr_expect_eq(read->workers, 0);
    cr_expect_eq(read->refused, 0);
    cr_expect_eq(read->in_line, 0);
    cr_expect_eq(read->least_urgent, -1);
    cr_expect(!read->stale && !read->outdated && read->uncontended);
    cr_assert_eq(read->run_count, 1);
    cr_expect_eq(read->runs[0].count, 1);
    cr_expect_eq(read->runs[0].cost, 1);
    cr_expect_eq(takt_run_slot(&read->runs[0], 0), INT64_C(1763692800010001));
    answer_to(&got, TAKT_OP_CLAIM, 2, slot, 3);
    cr_expect(!got.read, "there are two waiters");
    answer_to(&got, TAKT_OP_PEEK, 1, slot, 3);
    cr_expect(!got.read);
}

Test(award_reply, one_number_is_one_slot_now)
{
    static const char number[] = ":1763692800000000\r\n";
    struct answer got;
    const takt_award *read = &got.call.award;

    answer_with(&got, TAKT_OP_CLAIM, 1, number);
    cr_assert(got.read && !got.damaged);
    cr_expect_eq(got.call.call.status, 0);
    cr_expect_eq(read->now_us, INT64_C(1763692800000000));
    cr_expect_eq(read->next_slot_at_us, INT64_C(1763692800000000));
    cr_expect_eq(read->claim_again_at_us, TAKT_NEVER);
    cr_expect_eq(read->in_line, 0);
    cr_expect_eq(read->least_urgent, -1);
    cr_assert_eq(read->run_count, 1);
    cr_expect_eq(read->runs[0].count, 1);
    cr_expect_eq(read->runs[0].cost, 1);
    cr_expect_eq(takt_run_slot(&read->runs[0], 0), INT64_C(1763692800000000));
    answer_with(&got, TAKT_OP_CLAIM, 2, number);
    cr_expect(!got.read, "there are two waiters");
    answer_with(&got, TAKT_OP_PEEK, 1, number);
    cr_expect(!got.read);
    answer_with(&got, TAKT_OP_CLAIM, 1, ":-1\r\n");
    cr_expect(!got.read);
    answer_with(&got, TAKT_OP_CLAIM, 1, ":9007199254740993\r\n");
    cr_expect(!got.read);
}

Test(award_reply, flags_and_never)
{
    const char *fields[AWARD_SIZE];
    struct answer got;

    memcpy(fields, award, sizeof fields);
    fields[0] = "3";
    fields[2] = fields[3] = "-1";
    fields[9] = "9";
    answer(&got, TAKT_OP_CLAIM, fields, 11);
    cr_assert(got.read && got.damaged);
    cr_expect(got.call.award.stale && !got.call.award.outdated);
    cr_expect_eq(got.call.award.claim_again_at_us, TAKT_NEVER);
    cr_expect_eq(got.call.award.next_slot_at_us, TAKT_NEVER);
    cr_expect_eq(got.call.award.least_urgent, 9);
    cr_expect_eq(got.call.award.run_count, 0);
    cr_expect(!got.call.award.parked);
    fields[0] = "2048";
    answer(&got, TAKT_OP_CLAIM, fields, 11);
    cr_expect(got.read && got.call.award.parked && !got.call.award.stale);
}

Test(award_reply, newer_numbers)
{
    const char *fields[AWARD_SIZE];
    char text[128];
    struct answer got;
    const char ledger[] = "g1/20000*5 1763692800123456;r9,300000,50;b1763692900000";

    snprintf(text, sizeof text, "$%zu\r\n%s\r\n", strlen(ledger), ledger);
    memcpy(fields, award, sizeof fields);
    fields[0] = "4";
    fields[10] = text;
    answer(&got, TAKT_OP_CLAIM, fields, 11);
    cr_assert(got.read);
    cr_expect(got.call.award.outdated);
    cr_expect_eq(got.call.award.newer[0].revision, 9);
    cr_expect_eq(got.call.award.newer[0].lookahead_us, 300000);
    cr_expect_eq(got.call.award.newer[0].max_waiting, 50);
    cr_expect_eq(got.call.award.newer[0].rules[0].span_us, 20000);
}

/* With inner limits the texts of all levels stand behind each other, the outermost one first. */
Test(award_reply, newer_numbers_of_inner_limits)
{
#define NEWER(revision) "g1/20000*5 1763692800123456;r" revision ",300000,50"
    static const struct {
        const char *text;
        unsigned outdated; /* 0: refused */
        int64_t revisions[3];
    } rows[] = {
        {NEWER("9"), 1, {9}},
        {"\n" NEWER("8"), 2, {0, 8}},
        {NEWER("9") "\n" NEWER("8"), 3, {9, 8}},
        {"\n\n" NEWER("7"), 4, {0, 0, 7}},
        {NEWER("9") "\n\n" NEWER("7"), 5, {9, 0, 7}},
        {"\n\n\n" NEWER("7"), 0, {0}}, /* there are three levels */
        {NEWER("9") "\n", 0, {0}},
        {"\n", 0, {0}},
        {"\nx", 0, {0}},
        {"", 0, {0}},
    };

    inner_count = 2;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *fields[AWARD_SIZE];
        char text[256];
        struct answer got;
        snprintf(text, sizeof text, "$%zu\r\n%s\r\n", strlen(rows[i].text), rows[i].text);
        memcpy(fields, award, sizeof fields);
        fields[0] = "4";
        fields[10] = text;
        answer(&got, TAKT_OP_CLAIM, fields, 11);
        cr_expect_eq(got.read, rows[i].outdated > 0, "%zu", i);
        if (!got.read)
            continue;
        cr_expect_eq(got.call.award.outdated, rows[i].outdated, "%zu", i);
        for (int level = 0; level < 3; level++)
            if (rows[i].outdated >> level & 1)
                cr_expect_eq(got.call.award.newer[level].revision, rows[i].revisions[level]);
    }
    inner_count = 0;
}

/* Where a want has amounts of further units, its slots have its text instead of the cost. */
Test(award_reply, further_amounts)
{
    static const struct {
        const char *text;
        int32_t cost, more[TAKT_MORE_MAX]; /* cost 0: refused */
    } rows[] = {
        {"5/7", 5, {7, 0, 0}},
        {"1/0/1000000", 1, {0, 1000000, 0}},
        {"5/7/8/9", 5, {7, 8, 9}},
        {"5", 0, {0}},
        {"5/", 0, {0}},
        {"/7", 0, {0}},
        {"0/7", 0, {0}},
        {"5/1000001", 0, {0}},
        {"5/7/8/9/1", 0, {0}},
        {"5/7 ", 0, {0}},
        {"5/-7", 0, {0}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *fields[AWARD_SIZE];
        char text[64];
        struct answer got;
        snprintf(text, sizeof text, "$%zu\r\n%s\r\n", strlen(rows[i].text), rows[i].text);
        memcpy(fields, award, sizeof fields);
        fields[17] = text;
        answer(&got, TAKT_OP_CLAIM, fields, AWARD_SIZE);
        cr_expect_eq(got.read, rows[i].cost > 0, "%s", rows[i].text);
        if (!got.read)
            continue;
        cr_expect_eq(got.call.award.runs[0].cost, rows[i].cost, "%s", rows[i].text);
        for (int j = 0; j < TAKT_MORE_MAX; j++)
            cr_expect_eq(got.call.award.runs[0].more.of[j], rows[i].more[j], "%s", rows[i].text);
    }
}

/* Other valid rules of the caller's revision: the text has nothing else. */
Test(award_reply, numbers_of_the_same_revision)
{
    const char *fields[AWARD_SIZE];
    char text[128];
    struct answer got;
    const char ledger[] = "g1/20000*5 1763692800123456";

    snprintf(text, sizeof text, "$%zu\r\n%s\r\n", strlen(ledger), ledger);
    memcpy(fields, award, sizeof fields);
    fields[0] = "4";
    fields[10] = text;
    answer(&got, TAKT_OP_CLAIM, fields, 11);
    cr_assert(got.read);
    cr_expect(got.call.award.outdated);
    cr_expect_eq(got.call.award.newer[0].revision, 0);
    cr_expect_eq(got.call.award.newer[0].rules[0].span_us, 20000);
    cr_expect_eq(got.call.award.newer[0].lookahead_us, got.limit.numbers.lookahead_us);
}

Test(award_reply, standings)
{
    static const struct {
        takt_op op;
        const char *flags;
        int status; /* 1: refused */
        bool damaged;
    } table[] = {
        {TAKT_OP_TRY, "8", 0, false},
        {TAKT_OP_TRY, "9", 0, true},
        {TAKT_OP_TRY, "0", TAKT_E_NO_SLOT, false},
        {TAKT_OP_TRY, "1", TAKT_E_NO_SLOT, true},
        {TAKT_OP_PEEK, "0", 0, false},
        {TAKT_OP_BLOCK, "1", 0, true},
        {TAKT_OP_UNBLOCK, "0", 0, false},
        {TAKT_OP_RESET, "0", 0, false},
        {TAKT_OP_PEEK, "8", 1, false},
        {TAKT_OP_TRY, "2", 1, false},
        {TAKT_OP_TRY, "4", 1, false},
        {TAKT_OP_TRY, "16", 1, false},
        {TAKT_OP_BLOCK, "2", 1, false},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const char *fields[STANDING_SIZE];
        struct answer got;
        const takt_standing *read = &got.call.call.standing;
        memcpy(fields, standing, sizeof fields);
        fields[0] = table[i].flags;
        answer(&got, table[i].op, fields, STANDING_SIZE);
        cr_expect_eq(got.read, table[i].status != 1, "%zu", i);
        if (!got.read)
            continue;
        cr_expect_eq(got.call.call.status, table[i].status);
        cr_expect_eq(got.damaged, table[i].damaged);
        cr_expect_eq(read->now_us, INT64_C(1763692800000000));
        cr_expect_eq(read->limit, 5);
        cr_expect_eq(read->remaining, 3);
        cr_expect_eq(read->retry_after_us, TAKT_NEVER);
        cr_expect_eq(read->reset_after_us, 7);
        cr_expect_eq(read->blocked_until_us, INT64_C(1763692900000000));
        cr_expect_eq(read->waiting, 4);
        cr_expect_eq(read->workers, 2);
        cr_expect_eq(read->rate_percent, 50);
        cr_expect_str_eq(read->reason, "429; wait");
    }
}

/* What may stand in no place of either reply. */
static const char *const wrong[] = {"-2",           "9007199254740993", "-9223372036854775808",
                                    "+OK\r\n",      "$1\r\n1\r\n",      "$-1\r\n",
                                    "*1\r\n:1\r\n", "*0\r\n",           "*-1\r\n",
                                    "-ERR x\r\n"};
#define WRONG_SIZE ((int)(sizeof wrong / sizeof wrong[0]))

static int refused_everywhere(takt_op op, const char *const *fields, int count)
{
    int cases = 0;

    for (int at = 0; at < count; at++)
        for (int i = 0; i < WRONG_SIZE; i++) {
            const char *changed[64];
            if (op == TAKT_OP_PEEK && fields[at][0] == '$' && wrong[i][0] == '$' &&
                wrong[i][1] != '-')
                continue; /* any text may be a reason */
            struct answer got;
            memcpy(changed, fields, (size_t)count * sizeof *fields);
            changed[at] = wrong[i];
            answer(&got, op, changed, count);
            cr_expect(!got.read, "field %d as %s", at, wrong[i]);
            cases++;
        }
    return cases;
}

Test(award_reply, refuses_wrong_fields)
{
    cr_expect_gt(refused_everywhere(TAKT_OP_CLAIM, award, AWARD_SIZE), 200);
    cr_expect_gt(refused_everywhere(TAKT_OP_PEEK, standing, STANDING_SIZE), 80);
}

Test(award_reply, refuses_wrong_sizes)
{
    const char *fields[11 + 7 * (TAKT_RUNS_MAX + 1)];
    struct answer got;

    for (int i = 0; i < (int)(sizeof fields / sizeof fields[0]); i++)
        fields[i] = i < 11 ? award[i] : i % 7 == (11 + 5) % 7 ? "1" : award[11 + (i - 11) % 7];
    for (int count = 0; count <= 11 + 7 * (TAKT_RUNS_MAX + 1); count++) {
        bool fine = count >= 11 && (count - 11) % 7 == 0 && (count - 11) / 7 <= 30;
        answer(&got, TAKT_OP_CLAIM, fields, count);
        cr_expect_eq(got.read, fine, "%d values; there are 30 waiters", count);
    }
    for (int count = 0; count <= 12; count++) {
        answer(&got, TAKT_OP_PEEK, award, count);
        cr_expect(!got.read || count == STANDING_SIZE);
    }
}

/* Numbers that are ones, and yet none that a ledger would say. */
Test(award_reply, refuses_wrong_numbers)
{
    static const struct {
        int at;
        const char *value;
    } table[] = {
        {0, "16"},
        {0, "4"},
        {7, "6"},
        {7, "31"},
        {8, "1024"},
        {8, "-1"},
        {9, "10"},
        {11, "-1"},
        {12, "1"},
        {14, "1"},
        {15, "0"},
        {15, "1000000001"},
        {16, "0"},
        {16, "11"},
        {17, "0"},
        {17, "1000001"},
        {19, "3"},
        {21, "3"},
        {22, "2"},
        {22, "1"},
        {23, "26"},
        {23, "1000000001"},
        {20, "9007199254740992"},
        {20, "400000000000000"},
        {18, "9007199254740992"},
        {10, "$1\r\nx\r\n"},
    };
    static const char *const texts[] = {"",
                                        "x",
                                        "g1/10000*5 1",      /* these are the caller's own rules */
                                        "g1/20000*5 1;c1,1", /* no worker states them any more */
                                        "g1/20000*5 1;r9,1",
                                        "g1/20000*5 1;r9,1,1;t1;w1,1,1,1,1,1,1,1,1",
                                        "g1/20000*5 1763692800123456;r0,300000,50",
                                        "g0/20000*5 1;r9,300000,50"};

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const char *fields[AWARD_SIZE];
        struct answer got;
        memcpy(fields, award, sizeof fields);
        fields[table[i].at] = table[i].value;
        answer(&got, TAKT_OP_CLAIM, fields, AWARD_SIZE);
        cr_expect(!got.read, "field %d as %s", table[i].at, table[i].value);
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *fields[AWARD_SIZE];
        char text[128];
        struct answer got;
        memcpy(fields, award, sizeof fields);
        snprintf(text, sizeof text, "$%zu\r\n%s\r\n", strlen(texts[i]), texts[i]);
        fields[0] = "4";
        fields[10] = text;
        answer(&got, TAKT_OP_CLAIM, fields, AWARD_SIZE);
        cr_expect(!got.read, "%s", texts[i]);
    }
}

Test(award_reply, refuses_rates_that_cannot_be)
{
    static const char *const rates[] = {"0", "101", "-1"};
    const char *fields[STANDING_SIZE];
    struct answer got;

    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        memcpy(fields, standing, sizeof fields);
        fields[9] = rates[i];
        answer(&got, TAKT_OP_PEEK, fields, STANDING_SIZE);
        cr_expect_not(got.read, "%s", rates[i]);
    }
}

Test(award_reply, refuses_what_is_no_array)
{
    static const takt_reply_type types[] = {TAKT_REPLY_NIL, TAKT_REPLY_STATUS, TAKT_REPLY_INTEGER,
                                            TAKT_REPLY_STRING};
    takt_limit limit = rig_limit("a", 1, 1000000, 1);
    struct rig_call call;
    bool damaged;

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        for (int op = 0; op < 6; op++) {
            takt_reply reply = {.type = types[i], .text = ""};
            rig_call_init(&call, (takt_op)op, &limit, "k");
            cr_expect(!takt_award_reply(&call.call, &reply, &damaged));
        }
}

Test(award_reply, watched)
{
    static const char *const told[] = {"1763692790000000", "4711", "20", "7", "2", "3", "5", "0"};
    const char *fields[STANDING_SIZE + 8];
    struct answer got;

    memcpy(fields, standing, sizeof standing);
    memcpy(fields + STANDING_SIZE, told, sizeof told);
    fields[0] = "64";
    answer(&got, TAKT_OP_PEEK, fields, STANDING_SIZE + 2);
    cr_assert(got.read);
    cr_expect_eq(got.call.call.standing.watched_since_us, INT64_C(1763692790000000));
    cr_expect_eq(got.call.call.standing.taken, 4711);
    cr_expect_eq(got.call.call.standing.concurrency, 0);
    answer(&got, TAKT_OP_PEEK, fields, STANDING_SIZE + 5);
    cr_assert(got.read);
    cr_expect_eq(got.call.call.standing.taken, 4711);
    cr_expect_eq(got.call.call.standing.holders, 2);
    fields[0] = "72";
    answer(&got, TAKT_OP_TRY, fields, STANDING_SIZE + 8);
    cr_assert(got.read);
    cr_expect_eq(got.call.call.standing.taken, 4711);
    cr_expect_eq(got.call.award.holding, 3);
    fields[0] = "66";
    answer(&got, TAKT_OP_TRY, fields, STANDING_SIZE + 2);
    cr_expect_not(got.read, "stale, and nothing of permits");
    for (int more = 0; more < 8; more++) {
        fields[0] = "64";
        answer(&got, TAKT_OP_TRY, fields, STANDING_SIZE + more);
        cr_expect_eq(got.read, more == 2, "%d more", more);
        fields[0] = "0";
        answer(&got, TAKT_OP_PEEK, fields, STANDING_SIZE + more);
        cr_expect_eq(got.read, more == 0, "%d more, and not watched", more);
        fields[0] = "64";
        answer(&got, TAKT_OP_CLAIM, fields, STANDING_SIZE + more);
        cr_expect_not(got.read);
    }
    fields[STANDING_SIZE] = "0";
    answer(&got, TAKT_OP_PEEK, fields, STANDING_SIZE + 2);
    cr_expect_not(got.read, "watched, and since when?");
}

/* Of a try with inner limits the last value says which level the standing is of. */
Test(award_reply, tries_with_inner_limits)
{
    const char *fields[STANDING_SIZE + 7];
    struct answer got;

    inner_count = 2;
    memcpy(fields, standing, sizeof standing);
    fields[0] = "8";
    fields[STANDING_SIZE] = "2";
    answer(&got, TAKT_OP_TRY, fields, STANDING_SIZE + 1);
    cr_assert(got.read);
    cr_expect_eq(got.call.call.ledger_no, 2);
    cr_expect_eq(got.call.call.standing.concurrency, 0);
    fields[STANDING_SIZE] = "3";
    answer(&got, TAKT_OP_TRY, fields, STANDING_SIZE + 1);
    cr_expect_not(got.read, "there are two inner levels");
    answer(&got, TAKT_OP_TRY, fields, STANDING_SIZE);
    cr_expect_not(got.read, "no level is said");
    for (int i = 0; i < 7; i++) /* 4 of 7 are held by 3, 2 of them ours, the number is 1 */
        fields[STANDING_SIZE + i] = (const char *[]){"7", "4", "3", "2", "1", "0", "1"}[i];
    answer(&got, TAKT_OP_TRY, fields, STANDING_SIZE + 7);
    cr_assert(got.read);
    cr_expect_eq(got.call.call.ledger_no, 1);
    cr_expect_eq(got.call.call.standing.concurrency, 7);
    cr_expect_eq(got.call.award.holding, 2);
    cr_expect_eq(got.call.award.fence, 1);
    answer(&got, TAKT_OP_TRY, fields, STANDING_SIZE + 6);
    cr_expect_not(got.read);
    inner_count = 0;
}

Test(award_reply, rules)
{
    static const char *const told[] = {"2", "1",  "5", "4", "9", "0", "800", "500",
                                       "7", "20", "7", "2", "3", "5", "0"};
    const char *fields[STANDING_SIZE + 15];
    const takt_standing *read;
    struct answer got;

    memcpy(fields, standing, sizeof standing);
    memcpy(fields + STANDING_SIZE, told, sizeof told);
    fields[0] = "512";
    answer(&got, TAKT_OP_PEEK, fields, STANDING_SIZE + 9);
    cr_assert(got.read);
    read = &got.call.call.standing;
    cr_assert_eq(read->rule_count, 2);
    cr_expect_str_eq(read->rules[0].unit, "requests");
    cr_expect_eq(read->rules[0].limit, 5);
    cr_expect_eq(read->rules[0].remaining, 4);
    cr_expect_eq(read->rules[0].reset_after_us, 9);
    cr_expect_str_eq(read->rules[1].unit, "tokens");
    cr_expect_eq(read->rules[1].remaining, 500);
    cr_expect_eq(read->concurrency, 0);
    answer(&got, TAKT_OP_PEEK, fields, STANDING_SIZE + 12);
    cr_assert(got.read);
    cr_expect_eq(got.call.call.standing.holders, 2);
    for (int more = 0; more < 15; more++) {
        answer(&got, TAKT_OP_PEEK, fields, STANDING_SIZE + more);
        cr_expect_eq(got.read, more == 9 || more == 12, "%d more", more);
        answer(&got, TAKT_OP_CLAIM, fields, STANDING_SIZE + more);
        cr_expect_not(got.read);
    }
    fields[STANDING_SIZE + 1] = "4";
    answer(&got, TAKT_OP_PEEK, fields, STANDING_SIZE + 9);
    cr_assert(got.read);
    cr_expect_str_eq(read->rules[0].unit, "unit 4");
    fields[STANDING_SIZE + 1] = "5";
    answer(&got, TAKT_OP_PEEK, fields, STANDING_SIZE + 9);
    cr_expect_not(got.read, "a unit that there is not");
    fields[STANDING_SIZE] = "9";
    answer(&got, TAKT_OP_PEEK, fields, STANDING_SIZE + 9);
    cr_expect_not(got.read, "more rules than a limit has");
    fields[STANDING_SIZE] = "0";
    answer(&got, TAKT_OP_PEEK, fields, STANDING_SIZE + 1);
    cr_expect(got.read && got.call.call.standing.rule_count == 0);
    answer(&got, TAKT_OP_PEEK, standing, STANDING_SIZE);
    cr_assert(got.read);
    cr_expect_eq(got.call.call.standing.rule_count, 1, "the limit is a rule");
    cr_expect_eq(got.call.call.standing.rules[0].remaining, 3);
    cr_expect_eq(got.call.call.standing.rules[0].limit, 5);
    cr_expect_eq(got.call.call.standing.rules[0].reset_after_us, 7);
}

Test(award_reply, tenants)
{
    static const char *const told[] = {
        "2", "$6\r\na%3Bb%\r\n", "3", "40", "1763692700000000", EMPTY, "1", "2", "0", "20", "7",
        "2"};
    static const struct {
        int at;
        const char *value;
    } bad[] = {{0, "1"},    {0, "3"}, {0, "-1"}, {0, EMPTY}, {1, "7"}, {2, "0"},
               {2, "1001"}, {3, "0"}, {3, "-1"}, {4, "-1"},  {6, "0"}, {8, EMPTY}};
    const char *fields[STANDING_SIZE + 12];
    takt_tenant_standing read[TAKT_TENANTS_MAX];
    struct answer got;

    memcpy(fields, standing, sizeof standing);
    memcpy(fields + STANDING_SIZE, told, sizeof told);
    fields[0] = "1024";
    for (int permits = 0; permits < 2; permits++) {
        tenants_to = read;
        answer(&got, TAKT_OP_PEEK, fields, STANDING_SIZE + 9 + 3 * permits);
        cr_assert(got.read);
        cr_expect_eq(got.call.call.standing.tenant_count, 2);
        cr_expect_eq(got.call.call.standing.tenants, read);
        cr_expect_str_eq(read[0].name, "a;b?");
        cr_expect_eq(read[0].weight, 3);
        cr_expect_eq(read[0].waiting, 40);
        cr_expect_eq(read[0].since_us, INT64_C(1763692700000000));
        cr_expect_str_eq(read[1].name, "");
        cr_expect_eq(got.call.call.standing.held, permits ? 7 : 0);
    }
    tenants_to = NULL;
    answer(&got, TAKT_OP_PEEK, fields, STANDING_SIZE + 9);
    cr_assert(got.read);
    cr_expect_eq(got.call.call.standing.tenant_count, 0);
    answer(&got, TAKT_OP_TRY, fields, STANDING_SIZE + 9);
    cr_expect_not(got.read, "a try does not ask");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memcpy(fields + STANDING_SIZE, told, sizeof told);
        fields[STANDING_SIZE + bad[i].at] = bad[i].value;
        answer(&got, TAKT_OP_PEEK, fields, STANDING_SIZE + 9);
        cr_expect_not(got.read, "value %d", bad[i].at);
    }
}

Test(award_reply, permits)
{
    static const char *const told[] = {"20", "7", "2", "3", "1763692800000000", "0"};
    const char *fields[STANDING_SIZE + 6];
    struct answer got;

    memcpy(fields, standing, sizeof standing);
    memcpy(fields + STANDING_SIZE, told, sizeof told);
    fields[0] = "8";
    answer(&got, TAKT_OP_TRY, fields, STANDING_SIZE + 6);
    cr_assert(got.read);
    cr_expect_eq(got.call.call.standing.concurrency, 20);
    cr_expect_eq(got.call.call.standing.held, 7);
    cr_expect_eq(got.call.call.standing.holders, 2);
    cr_expect_eq(got.call.award.holding, 3);
    cr_expect_eq(got.call.award.fence, INT64_C(1763692800000000));
    cr_expect_eq(got.call.award.run_count, 1);
    fields[0] = "2";
    answer(&got, TAKT_OP_TRY, fields, STANDING_SIZE + 6);
    cr_assert(got.read);
    cr_expect(got.call.award.stale);
    cr_expect_eq(got.call.award.run_count, 0);
    fields[0] = "0";
    answer(&got, TAKT_OP_PEEK, fields, STANDING_SIZE + 3);
    cr_assert(got.read);
    cr_expect_eq(got.call.call.standing.held, 7);
    for (int more = 1; more < 6; more++) {
        answer(&got, TAKT_OP_TRY, fields, STANDING_SIZE + more);
        cr_expect_not(got.read, "%d more", more);
    }
    memcpy(fields, award, 11 * sizeof *fields);
    memcpy(fields + 11, told + 3, 3 * sizeof *told);
    fields[0] = "32";
    answer(&got, TAKT_OP_CLAIM, fields, 14);
    cr_assert(got.read);
    cr_expect_eq(got.call.award.holding, 3);
    fields[13] = "1001";
    answer(&got, TAKT_OP_CLAIM, fields, 14);
    cr_expect_not(got.read, "more than it may hand on");
}
