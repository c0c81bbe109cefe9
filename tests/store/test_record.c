/*
 * test_record.c: what names ledgers are kept under, and when a record is written, left and dropped.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "store/record.h"
#include "store/rig.h"

Test(record, names_tell_ledgers_apart)
{
    static const struct {
        const char *name_space, *limit, *key;
        const char *name;
        size_t size;
    } table[] = {
        {"n", "l", "", "n\0l\0", 4},         {"n", "l", "k", "n\0l\0k", 5},
        {"nl", "k", "", "nl\0k\0", 5},       {"n", "lk", "", "n\0lk\0", 5},
        {"n", "l", "\xff", "n\0l\0\xff", 5},
    };
    char name[TAKT_RECORD_NAME_MAX];

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        cr_expect_eq(takt_record_name(name, table[i].name_space, table[i].limit, table[i].key),
                     table[i].size);
        cr_expect_arr_eq(name, table[i].name, table[i].size);
    }
}

Test(record, names_fit)
{
    char name[TAKT_RECORD_NAME_MAX], part[TAKT_NAME_SIZE_MAX + 2], key[TAKT_KEY_SIZE_MAX + 2];

    memset(part, 'p', sizeof part);
    memset(key, 'k', sizeof key);
    part[TAKT_NAME_SIZE_MAX] = key[TAKT_KEY_SIZE_MAX] = '\0';
    cr_expect_eq(takt_record_name(name, part, part, key), TAKT_RECORD_NAME_MAX);
    key[TAKT_KEY_SIZE_MAX] = 'k';
    key[TAKT_KEY_SIZE_MAX + 1] = '\0';
    cr_expect_eq(takt_record_name(name, "n", "l", key), 0);
    part[TAKT_NAME_SIZE_MAX] = 'p';
    part[TAKT_NAME_SIZE_MAX + 1] = '\0';
    cr_expect_eq(takt_record_name(name, part, "l", "k"), 0);
    cr_expect_eq(takt_record_name(name, "n", part, "k"), 0);
}

/* One after the other on the same record, a limit of 2 tokens a second. */
Test(record, is_written_only_when_it_says_something_new)
{
    static const struct {
        takt_op op;
        int64_t at_us;
        int status, what;
    } table[] = {
        {TAKT_OP_PEEK, 0, 0, TAKT_RECORD_KEEP},
        {TAKT_OP_RESET, 0, 0, TAKT_RECORD_KEEP},
        {TAKT_OP_TRY, 0, 0, TAKT_RECORD_PUT},
        {TAKT_OP_PEEK, 0, 0, TAKT_RECORD_KEEP},
        {TAKT_OP_TRY, 10, TAKT_E_NO_SLOT, TAKT_RECORD_KEEP},
        {TAKT_OP_TRY, 500000, 0, TAKT_RECORD_PUT},
        {TAKT_OP_RESET, 600000, 0, TAKT_RECORD_DROP},
        {TAKT_OP_TRY, 600000, 0, TAKT_RECORD_PUT},
        {TAKT_OP_PEEK, 9000000, 0, TAKT_RECORD_KEEP},
        {TAKT_OP_UNBLOCK, 9000000, 0, TAKT_RECORD_DROP},
    };
    const int64_t start_us = 1700000000000000;
    takt_limit limit = rig_limit("a", 2, 1000000, 1);
    takt_record_scratch scratch = {0};
    char kept[1000];
    size_t size = 0;

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_record_change change;
        struct rig_call call;
        rig_call_init(&call, table[i].op, &limit, "");
        takt_record_run(&scratch, size ? kept : NULL, size, start_us + table[i].at_us, &call.call,
                        &change);
        cr_expect_eq(call.call.status, table[i].status, "row %zu", i);
        cr_assert_eq((int)change.what, table[i].what, "row %zu: %d", i, (int)change.what);
        cr_expect_not(change.damaged);
        if (change.what == TAKT_RECORD_PUT) {
            cr_assert_leq(change.size, sizeof kept);
            memcpy(kept, change.text, size = change.size);
            cr_expect_eq(change.expires_at_us, start_us + table[i].at_us + 500000, "row %zu", i);
        } else if (change.what == TAKT_RECORD_DROP) {
            size = 0;
        }
    }
    takt_record_scratch_free(&scratch);
}

/* A watch is kept, also without a ledger, until it ends. */
Test(record, is_written_by_who_watches)
{
    takt_limit limit = rig_limit("a", 2, 1000000, 1);
    takt_record_scratch scratch = {0};
    takt_record_change change;
    struct rig_call call;
    char kept[1000];
    size_t size;

    rig_call_init(&call, TAKT_OP_PEEK, &limit, "");
    call.call.for_us = 3000000;
    takt_record_run(&scratch, NULL, 0, 5000000, &call.call, &change);
    cr_assert_eq((int)change.what, TAKT_RECORD_PUT);
    cr_expect_eq(change.expires_at_us, 8000000);
    cr_expect_eq(call.call.standing.watched_since_us, 5000000);
    memcpy(kept, change.text, size = change.size);
    rig_call_init(&call, TAKT_OP_PEEK, &limit, "");
    takt_record_run(&scratch, kept, size, 7999999, &call.call, &change);
    cr_expect_eq((int)change.what, TAKT_RECORD_KEEP);
    cr_expect_eq(call.call.standing.watched_since_us, 5000000);
    rig_call_init(&call, TAKT_OP_UNBLOCK, &limit, "");
    takt_record_run(&scratch, kept, size, 8000000, &call.call, &change);
    cr_expect_eq((int)change.what, TAKT_RECORD_DROP);
    cr_expect_eq(call.call.standing.watched_since_us, 0);
    takt_record_scratch_free(&scratch);
}

Test(record, that_cannot_be_read_is_written_anew)
{
    static const takt_op ops[] = {TAKT_OP_PEEK, TAKT_OP_TRY};
    takt_limit limit = rig_limit("a", 2, 1000000, 1);
    takt_record_scratch scratch = {0};

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        takt_record_change change;
        struct rig_call call;
        rig_call_init(&call, ops[i], &limit, "");
        takt_record_run(&scratch, "nonsense", 8, 5000000, &call.call, &change);
        cr_expect(change.damaged);
        cr_expect_eq((int)change.what, TAKT_RECORD_PUT);
        cr_expect_eq(call.call.standing.blocked_until_us, 6000000 + limit.numbers.lookahead_us);
    }
    takt_record_scratch_free(&scratch);
}

/* Then the claim gets nothing, and the outer ledger has given nothing. */
Test(record, of_an_inner_limit_that_cannot_be_read_is_written_anew)
{
    takt_limit outer = rig_limit("a", 100, 1000000, 1), limit = rig_limit("b", 2, 1000000, 1);
    takt_store_inner inner[] = {{&limit, &limit.numbers, "k", TAKT_UNIT_MAP_PLAIN}};
    takt_record_part parts[2] = {{0}, {.text = "nonsense", .size = 8}};
    takt_record_scratch scratch = {0};
    struct rig_call call;

    rig_call_init(&call, TAKT_OP_CLAIM, &outer, "");
    call.claim.worker = 1;
    call.claim.seq = call.claim.waiting = call.claim.want_count = 1;
    call.claim.tenant = "k";
    call.claim.wants[0] = (takt_want){1, TAKT_NEVER, 1, TAKT_PRIORITY_DEFAULT, {{0}}};
    call.call.inner = inner;
    call.call.inner_count = 1;
    takt_record_run_nested(&scratch, parts, 5000000, &call.call);
    cr_expect(parts[1].change.damaged);
    cr_expect_eq((int)parts[1].change.what, TAKT_RECORD_PUT);
    cr_expect_not(parts[0].change.damaged);
    cr_expect_eq((int)parts[0].change.what, TAKT_RECORD_KEEP);
    cr_expect_eq(call.award.run_count, 0);
    cr_expect(call.award.parked);
    cr_expect_eq(call.award.blocked_until_us, 6000000 + limit.numbers.lookahead_us);
    takt_record_scratch_free(&scratch);
}

/* A limit of many tokens and, from the second policy on, of 3 images a minute as well. */
static takt_limit counting(const char *name, int64_t revision, takt_unit images)
{
    takt_limit limit = rig_limit(name, 1000000, 1000000, 1000000);

    limit.numbers.revision = revision;
    if (images > 0) {
        limit.numbers.rules[1] = rig_limit(name, 3, 60000000, 3).numbers.rules[0];
        limit.numbers.rules[1].unit = images;
        limit.numbers.rule_count = 2;
    }
    return limit;
}

/* Four waiters that take 100 tokens and 4000 of a second unit claim from two ledgers, one of which
 * has newer numbers that count images, and has given one.  Returns how many start. */
static int64_t claim_with_newer(const takt_limit *outer, const takt_limit *limit,
                                const takt_limit *newer, int level)
{
    const int64_t now_us = 1700000000000000;
    takt_store_inner inner[] = {{limit, &limit->numbers, "k", TAKT_UNIT_MAP_PLAIN}};
    takt_record_part parts[2] = {{0}, {0}};
    takt_record_scratch scratch = {0};
    takt_record_change change;
    struct rig_call call;
    char kept[1000];
    int64_t count = 0;

    rig_call_init(&call, TAKT_OP_TRY, newer, "");
    takt_record_run(&scratch, NULL, 0, now_us, &call.call, &change);
    cr_assert_eq((int)change.what, TAKT_RECORD_PUT);
    cr_assert_leq(change.size, sizeof kept);
    memcpy(kept, change.text, change.size);
    parts[level] = (takt_record_part){.text = kept, .size = change.size};
    rig_call_init(&call, TAKT_OP_CLAIM, outer, "");
    call.claim.worker = 1;
    call.claim.seq = 1;
    call.claim.want_count = 1;
    call.claim.waiting = 4;
    call.claim.tenant = "k";
    call.claim.wants[0] = (takt_want){4, TAKT_NEVER, 100, TAKT_PRIORITY_DEFAULT, {{4000}}};
    call.call.inner = inner;
    call.call.inner_count = 1;
    takt_record_run_nested(&scratch, parts, now_us, &call.call);
    for (int i = 0; i < call.award.run_count; i++) {
        count += call.award.runs[i].count;
        cr_expect_eq(call.award.runs[i].more.of[0], 4000);
    }
    takt_record_scratch_free(&scratch);
    return count;
}

/* What a claim states of units of another level is not taken for them: a request takes 1. */
Test(record, newer_numbers_count_one_of_a_unit_that_a_claim_does_not_state)
{
    takt_limit outer = counting("a", 0, 0), newer = counting("a", 1, TAKT_UNIT_MORE);
    takt_limit two = counting("b", 0, TAKT_UNIT_MORE), one = counting("b", 0, 0);
    takt_limit newer_inside = counting("b", 1, TAKT_UNIT_MORE);

    two.numbers.rules[1] = rig_limit("b", 1000000, 1000000, 1000000).numbers.rules[0];
    two.numbers.rules[1].unit = TAKT_UNIT_MORE;
    cr_expect_eq(claim_with_newer(&outer, &two, &newer, 0), 2, "output is not the outer images");
    strcpy(two.name, "a");
    cr_expect_eq(claim_with_newer(&two, &one, &newer_inside, 1), 2, "nor the inner ones");
}
