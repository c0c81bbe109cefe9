/*
 * test_policy_record.c: the policy that a store holds for a namespace: the same contract for every
 * kind of store.
 */
#include <stdlib.h>
#include <string.h>

#include "store/places.h"
#include "store/policy_record.h"

static int run(struct rig *rig, takt_op op, takt_policy_exchange *exchange)
{
    struct rig_call call;

    rig_call_init(&call, op, NULL, "");
    takt_policy_call(&call.call, op, exchange);
    call.call.data = &call;
    call.call.done = rig_call_done;
    return rig_run(rig, &call);
}

static int apply(struct rig *rig, takt_policy_exchange *seen, const char *text, const char *change)
{
    takt_policy_exchange exchange = {.seen_version = seen->seen_version,
                                     .seen_at_us = seen->seen_at_us};
    int status;

    exchange.text = text;
    exchange.size = strlen(text);
    strcpy(exchange.change, change);
    status = run(rig, TAKT_OP_APPLY, &exchange);
    if (status == 0) {
        seen->seen_version = exchange.version;
        seen->seen_at_us = exchange.at_us;
    }
    return status;
}

/* The stored record, to be freed. */
static takt_policy_exchange look(struct rig *rig)
{
    takt_policy_exchange exchange = {0};

    cr_expect_eq(run(rig, TAKT_OP_POLICY, &exchange), 0);
    return exchange;
}

static const char *text_of(const takt_policy_exchange *exchange)
{
    return strstr(exchange->kept, "\n\n") + 2;
}

CONTRACT(tells_what_was_applied)
{
    takt_policy_exchange seen = {0}, there;
    struct place at;
    struct rig rig, other;

    find_place(&at, *kind);
    rig_open(&rig, at.url);
    rig_open(&other, at.url);
    there = look(&other);
    cr_expect_eq(there.version, 0);
    cr_expect_eq(there.at_us, 0);
    cr_expect_null(there.kept);

    cr_expect_eq(apply(&rig, &seen, "a: \"\xc3\xa4\"\n\nb\r\n", "3\t9\tann@host\tmail changed"), 0);
    cr_expect_eq(seen.seen_version, 1);
    cr_expect_gt(seen.seen_at_us, 0);
    there = look(&other);
    cr_expect_eq(there.version, 1);
    cr_expect_eq(there.at_us, seen.seen_at_us);
    cr_expect_str_eq(text_of(&there), "a: \"\xc3\xa4\"\n\nb\r\n");
    cr_expect_eq(there.kept_size, strlen(there.kept));
    cr_expect_eq(strncmp(there.kept, "1\t", 2), 0);
    cr_expect_not_null(strstr(there.kept, "\t3\t9\tann@host\tmail changed\n\na: "));
    free(there.kept);

    /* a caller that has this version does not get it again */
    cr_expect_eq(run(&other, TAKT_OP_POLICY, &seen), 0);
    cr_expect_eq(seen.version, 1);
    cr_expect_null(seen.kept);
    rig_close(&other);
    rig_close(&rig);
    leave_place(&at);
}

CONTRACT(replaces_only_what_was_seen)
{
    takt_policy_exchange first = {0}, late = {0}, there;
    struct place at;
    struct rig rig;

    find_place(&at, *kind);
    rig_open(&rig, at.url);
    cr_expect_eq(apply(&rig, &first, "one", "1\t3\ta\tx"), 0);
    cr_expect_eq(apply(&rig, &late, "two", "1\t3\tb\ty"), TAKT_E_OVERTAKEN);
    late = first;
    late.seen_at_us++; /* the same version, but of a store that was lost since */
    cr_expect_eq(apply(&rig, &late, "two", "1\t3\tb\ty"), TAKT_E_OVERTAKEN);
    there = look(&rig);
    cr_expect_eq(there.version, 1);
    cr_expect_str_eq(text_of(&there), "one");
    free(there.kept);
    late = (takt_policy_exchange){.seen_version = 1, .seen_at_us = late.seen_at_us};
    cr_expect_eq(run(&rig, TAKT_OP_POLICY, &late), 0);
    cr_expect_not_null(late.kept, "nor is it taken for the one that is there");
    free(late.kept);

    late = first;
    cr_expect_eq(apply(&rig, &late, "two", "2\t3\tb\ty"), 0);
    cr_expect_eq(apply(&rig, &first, "three", "2\t5\ta\tz"), TAKT_E_OVERTAKEN);
    there = look(&rig);
    cr_expect_str_eq(text_of(&there), "two");
    free(there.kept);
    rig_close(&rig);
    leave_place(&at);
}

CONTRACT(keeps_the_last_changes)
{
    takt_policy_exchange seen = {0}, there;
    struct place at;
    struct rig rig;
    int lines = 0;
    char *line;

    find_place(&at, *kind);
    rig_open(&rig, at.url);
    for (int i = 1; i <= 25; i++) {
        int64_t before = seen.seen_at_us;
        char change[64];
        snprintf(change, sizeof change, "%d\t4\twho\twhat %d", i, i);
        cr_assert_eq(apply(&rig, &seen, "text", change), 0);
        cr_expect_gt(seen.seen_at_us, before, "each has a moment of its own");
    }
    there = look(&rig);
    cr_expect_str_eq(text_of(&there), "text");
    for (line = there.kept; *line != '\n'; line = strchr(line, '\n') + 1, lines++) {
        char end[32];
        snprintf(end, sizeof end, "what %d\n", 25 - lines);
        cr_expect_eq(atoi(line), 25 - lines);
        cr_expect_eq(strncmp(strchr(line, '\n') + 1 - strlen(end), end, strlen(end)), 0);
    }
    cr_expect_eq(lines, TAKT_CHANGES_KEPT);
    free(there.kept);
    rig_close(&rig);
    leave_place(&at);
}

CONTRACT(stays_beside_ledgers_that_expire)
{
    takt_limit limit = rig_limit("a", 1000000, 1000000, 1000000),
               slow = rig_limit("a", 1, RIG_DAY, 1);
    takt_policy_exchange seen = {0}, there;
    struct place at;
    struct rig rig, elsewhere;
    takt_error error = {0};

    find_place(&at, *kind);
    rig_open(&rig, at.url);
    cr_assert_eq(apply(&rig, &seen, "text", "1\t4\twho\twhat"), 0);
    cr_expect_eq(rig_try(&rig, &slow, "", 1), 0);
    cr_expect_eq(rig_take_each(&rig, &limit, 0, 300, 0), 300); /* many are swept away meanwhile */
    cr_expect_eq(rig_take_each(&rig, &limit, 0, 300, 0), 300);
    there = look(&rig);
    cr_expect_eq(there.version, 1);
    free(there.kept);
    cr_expect_eq(rig_try(&rig, &slow, "", 1), TAKT_E_NO_SLOT);

    /* each namespace has its own */
    cr_assert_eq(rig_try_open(&elsewhere, at.url, "tes", 30000000, &error), 0);
    there = look(&elsewhere);
    cr_expect_eq(there.version, 0);
    rig_close(&elsewhere);
    rig_close(&rig);
    leave_place(&at);
}

CONTRACT(takes_a_large_one)
{
    size_t size = 1024 * 1024;
    char *text = malloc(size + 1);
    takt_policy_exchange seen = {0}, there;
    struct place at;
    struct rig rig;

    memset(text, 'x', size);
    text[size] = '\0';
    find_place(&at, *kind);
    rig_open(&rig, at.url);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(apply(&rig, &seen, text, "1\t1048576\twho\twhat"), 0);
    there = look(&rig);
    cr_expect_eq(there.version, 3);
    cr_expect_str_eq(text_of(&there), text);
    free(there.kept);
    free(text);
    rig_close(&rig);
    leave_place(&at);
}

/* A record in another format counts as none, so that an operator can store text there. */
Test(policy_record, a_record_that_cannot_be_read)
{
    static const char *const bad[] = {"",
                                      "p1",
                                      "p1 0 1\nx",
                                      "p1 1 1",
                                      "p2 1 1\nx",
                                      "p1 1 -1\nx",
                                      "p1 x 1\nx",
                                      "p1 9223372036854775807 1\n\nx",
                                      "p1 1 9223372036854775807\n\nx"};
    takt_record_scratch scratch = {0};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        takt_policy_exchange exchange = {.text = "new", .size = 3, .change = "1\t3\ta\tx"};
        takt_record_change change = {0};
        takt_store_call call;
        takt_policy_call(&call, TAKT_OP_POLICY, &exchange);
        takt_policy_record_run(&scratch, bad[i], strlen(bad[i]), 5, &call, &change);
        cr_expect_eq(exchange.version, 0, "%s", bad[i]);
        cr_expect_null(exchange.kept);
        takt_policy_call(&call, TAKT_OP_APPLY, &exchange);
        takt_policy_record_run(&scratch, bad[i], strlen(bad[i]), 5, &call, &change);
        cr_expect_eq(call.status, 0);
        cr_expect_eq(exchange.version, 1);
        cr_expect_eq(change.size, strlen("p1 1 5\n1\t5\t1\t3\ta\tx\n\nnew"));
        cr_expect_eq(memcmp(change.text, "p1 1 5\n1\t5\t1\t3\ta\tx\n\nnew", change.size), 0);
    }
    takt_record_scratch_free(&scratch);
}

/* A change whose line has no end would include the text of the new policy. */
Test(policy_record, a_history_that_was_cut_off)
{
    static const char record[] = "p1 3 4\n3\t4\t1\t3\ta\tx\n2\t3\t1";
    static const char expected[] = "p1 4 5\n4\t5\t2\t3\tb\ty\n3\t4\t1\t3\ta\tx\n\nnew";
    takt_policy_exchange exchange = {
        .seen_version = 3, .seen_at_us = 4, .text = "new", .size = 3, .change = "2\t3\tb\ty"};
    takt_record_scratch scratch = {0};
    takt_record_change change = {0};
    takt_store_call call;

    takt_policy_call(&call, TAKT_OP_APPLY, &exchange);
    takt_policy_record_run(&scratch, record, strlen(record), 5, &call, &change);
    cr_assert_eq(call.status, 0);
    cr_assert_eq(change.size, strlen(expected), "%.*s", (int)change.size, change.text);
    cr_expect_eq(memcmp(change.text, expected, change.size), 0);
    takt_record_scratch_free(&scratch);
}
