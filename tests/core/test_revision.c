/*
 * Two workers whose policies differ, through the text that a store keeps: the newer numbers are
 * valid, in any order of claims, and taken tokens stay taken. An unreadable text is a fresh ledger,
 * blocked for the longest period.
 */
#include "core/award.h"
#include "core/ledger_text.h"
#include "rules/promises.h"

/* A ledger at rest, as a store keeps it. */
typedef struct shelf {
    takt_memory_pages pages;
    takt_place line[64];
    takt_numbers kept;
    char text[8192];
    size_t size;
    bool damaged;
} shelf;

static takt_numbers policy_of(const takt_algorithm *algorithm, int64_t tokens, int64_t period_us,
                              int64_t revision)
{
    takt_numbers limit = {.rule_count = 1, .lookahead_us = TAKT_LOOKAHEAD_US, .revision = revision};

    limit.rules[0] = rule_by(algorithm, tokens, period_us);
    return limit;
}

/* One call of a worker whose policy has `limit`: takes up to `count` tokens now and returns the
 * award. */
static int64_t claim(shelf *s, const takt_numbers *limit, int64_t now_us, int64_t seq,
                     int64_t count, takt_award *award)
{
    takt_ledger ledger = {
        .line = s->line, .line_capacity = COUNT(s->line), .pages = &s->pages.pages};
    takt_claim asked = {
        .worker = (uint64_t)(limit->revision + 1), .seq = seq, .waiting = count, .want_count = 1};
    int64_t given;

    asked.wants[0] = (takt_want){count, now_us, 1, TAKT_PRIORITY_DEFAULT, {{0}}};
    s->damaged = false;
    if (s->size == 0)
        takt_ledger_init(&ledger, limit, now_us);
    else
        s->damaged = takt_ledger_decode(&ledger, limit, &s->kept, now_us, s->text, s->size) < 0;
    takt_ledger_claim(&ledger, now_us, &asked, award);
    takt_ledger_tell_newer(&ledger, 0, limit, award);
    given = takt_award_given(award);
    cr_assert_eq(s->pages.pages.trouble, TAKT_PAGES_FINE);
    takt_memory_pages_end(&s->pages, true);
    s->size = takt_ledger_encode(&ledger, s->text, sizeof s->text);
    return given;
}

static const takt_algorithm *const algorithms[] = {&takt_token_bucket, &takt_fixed_window,
                                                   &takt_sliding_window, &takt_sliding_log};

Test(revision, the_newer_numbers_hold_and_the_older_worker_learns_them)
{
    for (size_t i = 0; i < COUNT(algorithms); i++) {
        takt_numbers older = policy_of(algorithms[i], 10, HOUR, 1),
                     newer = policy_of(algorithms[i], 30, HOUR, 2);
        int64_t now_us = NOW - NOW % HOUR + MINUTE;
        static takt_award award;
        static shelf s;
        s.size = 0;
        takt_memory_pages_init(&s.pages);
        cr_expect_eq(claim(&s, &older, now_us, 1, 4, &award), 4);
        cr_expect_not(award.outdated);
        cr_expect_eq(claim(&s, &newer, now_us, 1, 100, &award), 26, "%s: four are taken",
                     algorithms[i]->name);
        cr_expect_not(award.outdated);
        cr_expect_eq(claim(&s, &older, now_us, 2, 100, &award), 0,
                     "%s: its ten do not count any more", algorithms[i]->name);
        cr_assert(award.outdated);
        cr_expect_eq(award.newer[0].revision, 2);
        cr_expect(takt_numbers_same(&award.newer[0], &newer));
        older = award.newer[0]; /* as a worker does */
        cr_expect_eq(claim(&s, &older, now_us + 3 * HOUR, 3, 100, &award), 30, "%s",
                     algorithms[i]->name);
        cr_expect_not(award.outdated);
        takt_memory_pages_close(&s.pages);
    }
}

/* In any order of claims the rules that were there first stay valid, and the other worker gets an
 * event. */
Test(revision, of_one_revision_the_first_holds)
{
    for (size_t i = 0; i < COUNT(algorithms); i++) {
        takt_numbers one = policy_of(algorithms[i], 10, HOUR, 0),
                     two = policy_of(algorithms[i], 20, HOUR, 0);
        int64_t now_us = NOW - NOW % HOUR + MINUTE, given = 0;
        static takt_award award;
        static shelf s;
        s.size = 0;
        takt_memory_pages_init(&s.pages);
        for (int64_t seq = 1; seq < 40; seq++) {
            given += claim(&s, seq % 2 ? &one : &two, now_us, seq, 3, &award);
            cr_expect_eq(award.outdated, seq % 2 == 0);
            if (award.outdated)
                cr_expect(takt_numbers_same(&award.newer[0], &one));
        }
        cr_expect_eq(given, 10, "%s: %" PRId64, algorithms[i]->name, given);
        takt_memory_pages_close(&s.pages);
    }
}

/* The second worker's rules hold when the first one's were not stated for ten seconds, not sooner.
 */
Test(revision, of_one_revision_the_other_holds_when_the_first_is_gone)
{
    takt_numbers one = policy_of(&takt_sliding_log, 10, DAY, 0),
                 two = policy_of(&takt_sliding_log, 20, DAY, 0);
    static takt_award award;
    static shelf s;

    s.size = 0;
    takt_memory_pages_init(&s.pages);
    cr_expect_eq(claim(&s, &one, NOW, 1, 10, &award), 10);
    cr_expect_eq(claim(&s, &two, NOW + HOUR, 2, 5, &award), 0, "it may still be there");
    cr_expect_eq(claim(&s, &two, NOW + HOUR + 10 * SECOND, 3, 5, &award), 0);
    cr_expect(award.outdated);
    cr_expect_eq(claim(&s, &one, NOW + HOUR + 10 * SECOND, 4, 5, &award), 0);
    cr_expect_eq(claim(&s, &two, NOW + HOUR + 20 * SECOND, 5, 5, &award), 0, "it was");
    cr_expect(award.outdated);
    cr_expect_eq(claim(&s, &two, NOW + HOUR + 20 * SECOND + 1, 6, 20, &award), 10);
    cr_expect_not(award.outdated);
    cr_expect_eq(claim(&s, &one, NOW + HOUR + 20 * SECOND + 2, 7, 5, &award), 0);
    cr_expect(award.outdated, "it comes too late");
    takt_memory_pages_close(&s.pages);
}

/* A contest that is over leaves nothing in the text, and a clock that goes back ends none. */
Test(revision, a_contest_is_forgotten)
{
    takt_numbers one = policy_of(&takt_sliding_log, 10, DAY, 0),
                 two = policy_of(&takt_sliding_log, 20, DAY, 0);
    static takt_award award;
    static shelf s;

    s.size = 0;
    takt_memory_pages_init(&s.pages);
    claim(&s, &one, NOW, 1, 1, &award);
    claim(&s, &two, NOW, 2, 1, &award);
    s.text[s.size] = '\0';
    cr_expect(strstr(s.text, ";c"), "%s", s.text);
    claim(&s, &one, NOW + 10 * SECOND, 3, 1, &award);
    s.text[s.size] = '\0';
    cr_expect(strstr(s.text, ";c"));
    claim(&s, &one, NOW + 10 * SECOND + 1, 4, 1, &award);
    s.text[s.size] = '\0';
    cr_expect_not(strstr(s.text, ";c"), "%s", s.text);
    claim(&s, &two, NOW, 5, 1, &award);
    cr_expect(award.outdated);
    claim(&s, &two, NOW - HOUR, 6, 1, &award);
    cr_expect(award.outdated);
    claim(&s, &two, NOW - HOUR + 10 * SECOND + 1, 7, 1, &award);
    cr_expect_not(award.outdated);
    takt_memory_pages_close(&s.pages);
}

/* 920 starts in two seconds, where 20 and 40 are allowed: two clients with the same revision. */
Test(revision, two_algorithms_of_one_revision_do_not_undo_each_other)
{
    for (size_t i = 0; i < COUNT(algorithms) * COUNT(algorithms); i++) {
        takt_numbers limits[] = {
            policy_of(algorithms[i % COUNT(algorithms)], 20, 2 * SECOND, 0),
            policy_of(algorithms[i / COUNT(algorithms)], 20, 2 * SECOND, 0),
        };
        int64_t given = 0;
        static takt_award award;
        static shelf s;
        s.size = 0;
        takt_memory_pages_init(&s.pages);
        for (int64_t seq = 1; seq <= 2000; seq++)
            given += claim(&s, &limits[seq % 2], NOW + seq * 5 * MS, seq, 100, &award);
        cr_expect_leq(given, 6 * 20, "%s, %s: %" PRId64 " in ten seconds",
                      limits[1].rules[0].algorithm->name, limits[0].rules[0].algorithm->name,
                      given);
        takt_memory_pages_close(&s.pages);
    }
}

/* What the rules that go have given delays those that come: no two seconds see more than the more
 * generous of the two allows. */
Test(revision, a_changed_algorithm_adds_nothing_to_what_was_given)
{
    for (size_t i = 0; i < COUNT(algorithms) * COUNT(algorithms); i++) {
        const takt_algorithm *from = algorithms[i % COUNT(algorithms)],
                             *to = algorithms[i / COUNT(algorithms)];
        takt_numbers older = policy_of(from, 20, 2 * SECOND, 1),
                     newer = policy_of(to, 20, 2 * SECOND, 2);
        int64_t given[800], allowed = 20;
        static takt_award award;
        static shelf s;
        if (from == to)
            continue;
        if (from != &takt_sliding_log || to != &takt_sliding_log)
            allowed = 40; /* a bucket's burst and its refill, or two windows */
        if ((from == &takt_sliding_log || to == &takt_sliding_log) &&
            (from == &takt_sliding_window || to == &takt_sliding_window))
            allowed = 39;
        s.size = 0;
        takt_memory_pages_init(&s.pages);
        for (int64_t step = 0; step < 800; step++) {
            int64_t now_us = NOW + 700 * MS + step * 10 * MS;
            given[step] = claim(&s, step < 400 ? &older : &newer, now_us, step + 1, 100, &award);
        }
        for (int64_t step = 0, sum = 0; step < 800; step++) {
            sum += given[step] - (step < 200 ? 0 : given[step - 200]);
            cr_expect_leq(sum, allowed,
                          "%s to %s: %" PRId64 " in the two seconds up to step %" PRId64,
                          from->name, to->name, sum, step);
        }
        takt_memory_pages_close(&s.pages);
    }
}

/* Another algorithm begins as if it had been full a moment ago: no burst. */
Test(revision, a_changed_algorithm_begins_without_a_burst)
{
    static const struct {
        const takt_algorithm *from, *to;
        int64_t max;
    } rows[] = {
        {&takt_fixed_window, &takt_sliding_log, 1},   {&takt_sliding_log, &takt_sliding_window, 1},
        {&takt_sliding_log, &takt_token_bucket, 1},   {&takt_sliding_window, &takt_gcra, 1},
        {&takt_token_bucket, &takt_fixed_window, 50}, /* half of the hour remains */
        {&takt_gcra, &takt_sliding_log, 1},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_numbers from = policy_of(rows[i].from, 600, HOUR, 1),
                     to = policy_of(rows[i].to, 100, HOUR, 2);
        int64_t now_us = NOW - NOW % HOUR + HOUR / 2;
        static takt_award award;
        static shelf s;
        s.size = 0;
        takt_memory_pages_init(&s.pages);
        for (int64_t n = 0; n < 400; n++) /* a log long enough for pages */
            claim(&s, &from, now_us + n * 10 * SECOND / 400, n + 1, 1, &award);
        cr_expect_leq(claim(&s, &to, now_us + 10 * SECOND, 1, 1000, &award), rows[i].max, "row %zu",
                      i);
        cr_expect_eq(takt_memory_pages_count(&s.pages), 0,
                     "the log of an algorithm that is gone is gone");
        takt_memory_pages_close(&s.pages);
    }
}

Test(revision, what_cannot_be_read_is_blocked_for_the_longest_period)
{
    static const char *const texts[] = {
        "nonsense",
        "l10/3600000000 1763692800000000,5,0#1,0,3;",
        "l10/3600000000 1763692800000000,5,0#1,0,3;l10/3600000000 1763692800000000,5,0#1,0,3",
        "f10/3600000000@Mars/Utopia 1763692800000000,5",
        "s10/3600000000 17,5,5",
        "x10/3600000000 0",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        takt_numbers limit = policy_of(&takt_sliding_log, 10, SECOND, 0);
        static takt_award award;
        static shelf s;
        limit.rules[limit.rule_count++] = rule_by(&takt_fixed_window, 500, HOUR);
        takt_memory_pages_init(&s.pages);
        s.size = strlen(texts[i]);
        memcpy(s.text, texts[i], s.size);
        cr_expect_eq(claim(&s, &limit, NOW, 1, 5, &award), 0, "row %zu", i);
        cr_expect(s.damaged, "row %zu", i);
        cr_expect_eq(award.blocked_until_us, NOW + HOUR + limit.lookahead_us, "row %zu", i);
        cr_expect_eq(claim(&s, &limit, NOW + HOUR + limit.lookahead_us, 2, 1, &award), 1,
                     "then paced");
        cr_expect_not(s.damaged);
        takt_memory_pages_close(&s.pages);
    }
}
