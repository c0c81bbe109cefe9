/*
 * test_file_pages.c: ledgers whose logs are in pages of their own: the awards are those of a ledger
 * that stays in memory, useless pages leave the file, and missing pages are reported. On a database
 * of LMDB and virtual time; the transactions are the test's.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory_pages.h"
#include "base/random.h"
#include "seed.h"
#include "store/file_record.h"
#include "store/rig.h"

#define NOW    INT64_C(1763692800000000)
#define SECOND INT64_C(1000000)

typedef struct base {
    char directory[PATH_MAX];
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    takt_file_records records;
    takt_file_job job;
} base;

static void must(int rc)
{
    cr_assert_eq(rc, 0, "%s", mdb_strerror(rc));
}

static void begin(base *b)
{
    must(mdb_txn_begin(b->env, NULL, 0, &b->txn));
    must(mdb_dbi_open(b->txn, NULL, 0, &b->dbi));
}

static void open_base(base *b)
{
    memset(b, 0, sizeof *b);
    rig_directory(b->directory);
    must(mdb_env_create(&b->env));
    must(mdb_env_set_mapsize(b->env, (size_t)1 << 30));
    must(mdb_env_open(b->env, b->directory, MDB_NOSYNC, 0600));
    begin(b);
}

static void close_base(base *b)
{
    mdb_txn_abort(b->txn);
    mdb_env_close(b->env);
    takt_file_records_free(&b->records);
    rig_remove(b->directory);
}

static size_t count(const base *b)
{
    MDB_stat status;

    must(mdb_stat(b->txn, b->dbi, &status));
    return status.ms_entries;
}

static void prepare(takt_rule *rule)
{
    takt_error error;

    cr_assert_eq(takt_rule_prepare(rule, &error), 0, "%s", error.text);
}

static takt_limit limit_of_logs(const char *name, int64_t tokens, int64_t period_us)
{
    takt_limit limit = {.numbers.rule_count = 1, .numbers.lookahead_us = TAKT_LOOKAHEAD_US};

    snprintf(limit.name, sizeof limit.name, "%s", name);
    limit.numbers.rules[0] =
        (takt_rule){.algorithm = &takt_sliding_log, .limit = tokens, .period_us = period_us};
    prepare(&limit.numbers.rules[0]);
    return limit;
}

static takt_file_job *fill(base *b, takt_op op, const takt_limit *limit, const char *key)
{
    b->job.limit = *limit;
    strcpy(b->job.key, key);
    b->job.own = (takt_store_call){.op = op,
                                   .limit = &b->job.limit,
                                   .numbers = &b->job.limit.numbers,
                                   .key = b->job.key,
                                   .claim = &b->job.claim,
                                   .award = &b->job.award,
                                   .cost = 1};
    return &b->job;
}

static int run(base *b, takt_op op, const takt_limit *limit, const char *key, int64_t now_us)
{
    must(takt_file_run_job(&b->records, b->txn, b->dbi, "n", now_us, fill(b, op, limit, key)));
    return b->job.own.status;
}

/* ---- the same answers as in memory --------------------------------------------------------- */

enum { PLACES = 200, WORKERS = 4 };

static void draw_claim(takt_claim *claim, int64_t step, uint64_t *random)
{
    *claim = (takt_claim){.worker = (uint64_t)takt_random_below(random, WORKERS) + 1, .seq = step};
    for (int64_t left = takt_random_below(random, 4); left > 0; left--) {
        takt_want *want = &claim->wants[claim->want_count++];
        *want = (takt_want){1 + takt_random_below(random, 300),
                            TAKT_NEVER,
                            (int32_t)(1 + takt_random_below(random, 2)),
                            (int32_t)left,
                            {{0}}};
        claim->waiting += want->count;
    }
}

static void expect_same(const takt_award *award, const takt_award *expected, int64_t step)
{
    cr_assert_eq(award->run_count, expected->run_count, "step %" PRId64, step);
    cr_assert_eq(award->claim_again_at_us, expected->claim_again_at_us, "step %" PRId64, step);
    cr_assert_eq(award->next_slot_at_us, expected->next_slot_at_us, "step %" PRId64, step);
    for (int i = 0; i < award->run_count; i++) {
        const takt_run *run = &award->runs[i], *other = &expected->runs[i];
        cr_assert_eq(run->count, other->count, "step %" PRId64, step);
        cr_assert_eq(takt_run_slot(run, run->count - 1), takt_run_slot(other, run->count - 1),
                     "step %" PRId64, step);
    }
}

static takt_limit mixed(void)
{
    takt_limit limit = limit_of_logs("a", 3000, SECOND);

    limit.numbers.rule_count = 4;
    limit.numbers.rules[1] =
        (takt_rule){.algorithm = &takt_sliding_log, .limit = 40000, .period_us = 20 * SECOND};
    limit.numbers.rules[2] =
        (takt_rule){.algorithm = &takt_fixed_window, .limit = 70000, .period_us = 30 * SECOND};
    limit.numbers.rules[3] =
        (takt_rule){.algorithm = &takt_sliding_window, .limit = 500, .period_us = SECOND / 10};
    for (int i = 1; i < limit.numbers.rule_count; i++)
        prepare(&limit.numbers.rules[i]);
    return limit;
}

Test(file_pages, answers_are_those_of_a_ledger_in_memory)
{
    static takt_place line[PLACES];
    static takt_award expected;
    static base b;
    takt_limit limits[] = {limit_of_logs("a", 3000, SECOND), mixed()};
    uint64_t random = test_seed(1);

    for (int i = 0; i < 2; i++) {
        takt_memory_pages pages;
        takt_ledger ledger = {.line = line, .line_capacity = PLACES, .pages = &pages.pages};
        int64_t now_us = NOW;
        takt_memory_pages_init(&pages);
        takt_ledger_init(&ledger, &limits[i].numbers, now_us);
        open_base(&b);
        for (int64_t step = 1; step < 1500; step++) {
            int64_t kind = takt_random_below(&random, 60);
            now_us += takt_random_below(&random, SECOND / 20);
            draw_claim(&b.job.claim, step, &random);
            if (kind == 0) {
                run(&b, TAKT_OP_RESET, &limits[i], "", now_us);
                takt_ledger_reset(&ledger, now_us);
            } else if (kind == 1) {
                fill(&b, TAKT_OP_BLOCK, &limits[i], "")->own.for_us = SECOND / 3;
                must(takt_file_run_job(&b.records, b.txn, b.dbi, "n", now_us, &b.job));
                takt_ledger_block(&ledger, now_us, SECOND / 3, NULL);
            } else {
                run(&b, TAKT_OP_CLAIM, &limits[i], "", now_us);
                takt_ledger_claim(&ledger, now_us, &b.job.claim, &expected);
                expect_same(&b.job.award, &expected, step);
            }
            cr_assert_not(b.job.damaged);
            cr_assert_eq(pages.pages.trouble, TAKT_PAGES_FINE);
            takt_memory_pages_end(&pages, true);
            cr_assert_leq(count(&b), takt_memory_pages_count(&pages) + 1);
            if (kind == 2) { /* a transaction of its own, as after a restart */
                must(mdb_txn_commit(b.txn));
                begin(&b);
            }
        }
        cr_expect_gt(count(&b), 2, "logs were long enough to need pages");
        takt_memory_pages_close(&pages);
        close_base(&b);
    }
}

/* ---- what leaves the file -------------------------------------------------------------------- */

/* Fills a log with single tokens, a microsecond apart. */
static void fill_log(base *b, const takt_limit *limit, const char *key, int64_t tokens,
                     int64_t now_us)
{
    for (int64_t n = 0; n < tokens; n++)
        cr_assert_eq(run(b, TAKT_OP_TRY, limit, key, now_us + n), 0);
}

Test(file_pages, go_when_they_are_of_no_use)
{
    static base b;
    takt_limit limit = limit_of_logs("a", 2000, SECOND);
    enum { PAGES = 2000 / TAKT_LOG_PAGE_ENTRIES };

    open_base(&b);
    fill_log(&b, &limit, "", 2000, NOW);
    cr_expect_eq(count(&b), PAGES + 2, "%zu", count(&b));
    cr_expect_eq(run(&b, TAKT_OP_TRY, &limit, "", NOW + 2000), TAKT_E_NO_SLOT);
    cr_expect_eq(run(&b, TAKT_OP_PEEK, &limit, "", NOW + SECOND + 1000), 0);
    cr_expect_eq(b.job.own.standing.remaining, 1001);
    cr_expect_eq(count(&b), PAGES + 2, "a look changes nothing");
    cr_expect_eq(run(&b, TAKT_OP_TRY, &limit, "", NOW + SECOND + 1000), 0);
    cr_expect_eq(count(&b), PAGES + 2 - 1000 / TAKT_LOG_PAGE_ENTRIES, "%zu", count(&b));
    cr_expect_eq(run(&b, TAKT_OP_RESET, &limit, "", NOW + SECOND + 1000), 0);
    cr_expect_eq(count(&b), 0, "%zu", count(&b));
    fill_log(&b, &limit, "", 2000, NOW + 3 * SECOND);
    cr_expect_eq(run(&b, TAKT_OP_UNBLOCK, &limit, "", NOW + 9 * SECOND), 0);
    cr_expect_eq(count(&b), 0, "an expired ledger goes with its pages");
    close_base(&b);
}

/* Its pages go when a call writes the record anew, and when a call only looks at it. */
Test(file_pages, of_an_expired_ledger_count_as_absent)
{
    static base b;
    takt_limit limit = limit_of_logs("a", 2000, SECOND), edited = limit_of_logs("a", 5, SECOND);

    open_base(&b);
    fill_log(&b, &limit, "", 2000, NOW);
    cr_expect_eq(run(&b, TAKT_OP_TRY, &edited, "", NOW + 9 * SECOND), 0);
    cr_expect_eq(b.job.own.standing.limit, 5);
    cr_expect_eq(b.job.own.standing.remaining, 4);
    cr_expect_leq(count(&b), 2, "%zu", count(&b));
    fill_log(&b, &limit, "b", 2000, NOW);
    cr_expect_eq(run(&b, TAKT_OP_PEEK, &edited, "b", NOW + 9 * SECOND), 0);
    cr_expect_eq(b.job.own.standing.remaining, 5);
    cr_expect_leq(count(&b), 2, "%zu", count(&b));
    close_base(&b);
}

/* One call awards slots over far more than a period: a page that it writes and drops is never
 * stored. */
Test(file_pages, what_one_call_makes_and_drops_leaves_nothing)
{
    static base b;
    takt_limit limit = limit_of_logs("a", 5, 50);

    limit.numbers.rules[limit.numbers.rule_count++] =
        (takt_rule){.algorithm = &takt_gcra, .limit = 1, .period_us = 10};
    prepare(&limit.numbers.rules[1]);
    open_base(&b);
    b.job.claim = (takt_claim){.worker = 1, .seq = 1, .waiting = 900, .want_count = 1};
    b.job.claim.wants[0] = (takt_want){900, TAKT_NEVER, 1, 5, {{0}}};
    cr_expect_eq(run(&b, TAKT_OP_CLAIM, &limit, "", NOW), 0);
    cr_expect_eq(b.job.award.run_count, 1);
    cr_expect_eq(b.job.award.runs[0].count, 900);
    cr_expect_leq(count(&b), 2, "%zu", count(&b));
    close_base(&b);
}

/* A name that none of ours can be: damage, or somebody else's. */
Test(file_pages, sweeping_leaves_records_whose_names_are_too_long)
{
    static const char value[] = "takt 0000000000000001 l1/1 1";
    char bytes[TAKT_FILE_NAME_MAX + 1];
    base b;

    open_base(&b);
    memset(bytes, 'a', sizeof bytes);
    for (size_t size = TAKT_FILE_LEDGER_MAX; size <= sizeof bytes; size++) {
        MDB_val name = {size, bytes}, record = {sizeof value - 1, (void *)(uintptr_t)value};
        must(mdb_put(b.txn, b.dbi, &name, &record, 0));
    }
    size_t before = count(&b);
    must(takt_file_sweep(&b.records, b.txn, b.dbi, NOW, 100));
    cr_expect_eq(count(&b), before - 1, "the one that is no longer than a name may be");
    close_base(&b);
}

/* Ledgers with similar names, swept when half of them have expired. */
Test(file_pages, sweeping_takes_the_pages_along_and_no_others)
{
    static const char *const keys[] = {"", "a", "a\1", "a\xff", "b", "ab"};
    static base b;
    takt_limit soon = limit_of_logs("l", 800, SECOND), late = limit_of_logs("l", 800, 60 * SECOND);
    size_t of_one, names = sizeof keys / sizeof keys[0];

    open_base(&b);
    fill_log(&b, &soon, "", 800, NOW);
    of_one = count(&b);
    for (size_t i = 1; i < names; i++)
        fill_log(&b, i % 2 ? &late : &soon, keys[i], 800, NOW);
    cr_assert_eq(count(&b), names * of_one);
    for (int i = 0; i < 20; i++)
        must(takt_file_sweep(&b.records, b.txn, b.dbi, NOW + 5 * SECOND, 2));
    cr_expect_eq(count(&b), names / 2 * of_one, "%zu", count(&b));
    for (size_t i = 0; i < names; i++) {
        run(&b, TAKT_OP_PEEK, i % 2 ? &late : &soon, keys[i], NOW + 5 * SECOND);
        cr_expect_eq(b.job.own.standing.remaining, i % 2 ? 0 : 800);
        cr_expect_not(b.job.damaged);
    }
    for (int i = 0; i < 20; i++)
        must(takt_file_sweep(&b.records, b.txn, b.dbi, NOW + 90 * SECOND, 2));
    cr_expect_eq(count(&b), 0);
    close_base(&b);
}

/* ---- missing pages --------------------------------------------------------------------------- */

static MDB_val a_page(char bytes[20])
{
    memcpy(bytes, "n\0a\0\0\1\0\0\0\0\0\0\0\1", 14);
    return (MDB_val){14, bytes};
}

Test(file_pages, a_damaged_page_begins_the_ledger_anew_blocked_and_told)
{
    static base b;
    takt_limit limit = limit_of_logs("a", 1000, SECOND);
    char garbage[TAKT_PAGE_SIZE], bytes[20];
    const size_t sizes[] = {0, 16, 17, TAKT_PAGE_SIZE};

    memset(garbage, 0x77, sizeof garbage);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        MDB_val name = a_page(bytes), value = {sizes[i], garbage};
        int64_t ends_us = NOW + 2 * SECOND + 300 + limit.numbers.lookahead_us;
        open_base(&b);
        fill_log(&b, &limit, "", 1000, NOW);
        must(mdb_del(b.txn, b.dbi, &name, NULL));
        if (sizes[i] > 0)
            must(mdb_put(b.txn, b.dbi, &name, &value, 0));
        cr_expect_eq(run(&b, TAKT_OP_TRY, &limit, "", NOW + SECOND + 300), TAKT_E_NO_SLOT, "%zu",
                     i);
        cr_expect(b.job.damaged, "%zu", i);
        cr_expect_eq(b.job.own.standing.blocked_until_us, ends_us);
        cr_expect_eq(count(&b), 1, "nothing is left of the old log");
        cr_expect_eq(run(&b, TAKT_OP_TRY, &limit, "", ends_us), 0);
        cr_expect_not(b.job.damaged, "it is told once");
        cr_expect_eq(run(&b, TAKT_OP_TRY, &limit, "", ends_us), TAKT_E_NO_SLOT, "paced, no burst");
        close_base(&b);
    }
}

Test(file_pages, an_unreadable_ledger_loses_its_pages)
{
    static base b;
    takt_limit limit = limit_of_logs("a", 1000, SECOND);
    MDB_val name = {4, "n\0a\0"}, value = {8, "nonsense"};

    open_base(&b);
    fill_log(&b, &limit, "", 1000, NOW);
    must(mdb_put(b.txn, b.dbi, &name, &value, 0));
    cr_expect_eq(run(&b, TAKT_OP_PEEK, &limit, "", NOW + 5000), 0);
    cr_expect(b.job.damaged);
    cr_expect_eq(count(&b), 1);
    close_base(&b);
}

Test(file_pages, names)
{
    static const struct {
        const char *name;
        size_t size;
        bool is_page;
    } rows[] = {
        {"n\0l\0k\0\1\0\0\0\0\0\0\0\7", 15, true},
        {"n\0l\0\0\1\0\0\0\0\0\0\0\7", 14, true},
        {"n\0l\0k\0\1\0\0\0\0\0\0\7", 14, false},
        {"n\0l\0k", 5, false},
        {"n\0l\0", 4, false},
        {"\0format", 7, false},
        {"\0\0\0", 3, false},
        {"", 0, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        MDB_val name = {rows[i].size, (void *)rows[i].name};
        char bytes[TAKT_FILE_NAME_MAX];
        cr_expect_eq(takt_file_pages_is_page(&name), rows[i].is_page, "row %zu", i);
        if (!rows[i].is_page)
            continue;
        takt_file_pages_pass(&name, bytes);
        cr_expect_eq(name.mv_size, rows[i].size - 9, "row %zu", i);
        cr_expect_arr_eq(name.mv_data, rows[i].name, name.mv_size - 1);
        cr_expect_eq(bytes[name.mv_size - 1], '\1');
    }
}
