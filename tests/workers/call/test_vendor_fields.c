/*
 * What is left of a vendor's quota, in all forms of header fields.
 */
#include <criterion/criterion.h>

#include <inttypes.h>

#include "call/learn.h"
#include "call/vendor_fields.h"

#define NOW         INT64_C(1763692800)
#define UNSAID      VENDOR_UNSAID
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

Test(vendor_fields, are_read)
{
    static const struct {
        const char *fields[4][2];
        int64_t remaining, reset;
    } rows[] = {
        {{{"ratelimit", "\"default\";r=50;t=30"}}, 50, 30},
        {{{"ratelimit", "\"burst\";r=10;t=1, \"day\";r=5;t=3600"}}, 5, 3600},
        {{{"ratelimit", "\"a\";r=5;t=3600,\"b\";r=5;t=10"}}, 5, 3600},
        {{{"ratelimit", " \"a, \\\"b;r=1\" ; r=7 ; t=9 "}}, 7, 9},
        {{{"ratelimit", "\"a\";pk=:cHsdsRa894==:;r=7;t=9;x=\"r=1\";y;z=?1"}}, 7, 9},
        {{{"ratelimit", "\"a\";r=7"}}, 7, UNSAID},
        {{{"ratelimit", "\"a\";t=7"}}, UNSAID, UNSAID},
        {{{"ratelimit", "a;r=0;t=4"}}, 0, 4},
        {{{"ratelimit", "\"a\";q=100;w=60"}}, UNSAID, UNSAID},
        {{{"ratelimit", "\"a\";r=-1;t=4"}}, UNSAID, UNSAID},
        {{{"ratelimit", "\"a\";r=x, \"b\";r=3"}}, 3, UNSAID},
        {{{"ratelimit", "\"a;r=3"}}, UNSAID, UNSAID},
        {{{"ratelimit", "limit=100, remaining=10, reset=5"}}, 10, 5},
        {{{"ratelimit", "limit=100,remaining=10"}}, 10, UNSAID},
        {{{"ratelimit", "remaining = 10"}}, UNSAID, UNSAID},
        {{{"ratelimit", ""}}, UNSAID, UNSAID},
        {{{"ratelimit", ",;=,\"\\"}}, UNSAID, UNSAID},
        {{{"ratelimit", "\"a\";r=999999999999999999999;t=4"}}, UNSAID, UNSAID},
        {{{"ratelimit-remaining", "10"}, {"ratelimit-reset", "5"}, {"ratelimit-limit", "9"}},
         10,
         5},
        {{{"x-ratelimit-remaining", " 10 "}, {"x-ratelimit-reset", "5.2"}}, 10, 6},
        {{{"x-ratelimit-remaining", "10"}, {"x-ratelimit-reset", "1763692860"}}, 10, 60},
        {{{"x-ratelimit-remaining", "10"}, {"x-ratelimit-reset", "1763692859001"}}, 10, 60},
        {{{"x-ratelimit-remaining", "10"}, {"x-ratelimit-reset", "1763692700"}}, 10, 0},
        {{{"x-ratelimit-remaining", "10"}, {"x-ratelimit-reset", "6m0s"}}, 10, UNSAID},
        {{{"x-ratelimit-remaining", "10, 20"}}, UNSAID, UNSAID},
        {{{"x-ratelimit-remaining", "-1"}}, UNSAID, UNSAID},
        {{{"x-ratelimit-remaining", ""}}, UNSAID, UNSAID},
        {{{"x-ratelimit-reset", "5"}}, UNSAID, UNSAID},
        {{{"x-rate-limit-remaining", "10"}, {"x-rate-limit-reset", "5"}}, 10, 5},
        {{{"x-ratelimit-remaining", "10"}, {"ratelimit", "\"a\";r=3;t=60"}}, 3, 60},
        {{{"x-ratelimit-remaining-day", "10"}}, UNSAID, UNSAID},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_caller_vendor_fields fields;
        takt_caller_vendor_word word;
        takt_caller_vendor_fields_begin(&fields);
        for (int j = 0; j < 4 && rows[i].fields[j][0]; j++)
            takt_caller_vendor_fields_read(&fields, rows[i].fields[j][0], rows[i].fields[j][1]);
        takt_caller_vendor_fields_tell(&fields, NOW, &word);
        cr_assert_eq(word.remaining, rows[i].remaining, "row %zu: %" PRId64, i, word.remaining);
        cr_assert_eq(word.reset, rows[i].reset, "row %zu: %" PRId64, i, word.reset);
    }
}

Test(vendor_fields, a_word_holds_for_a_while)
{
    static const struct {
        takt_caller_vendor_word word;
        int64_t age_us;
        bool holds;
    } rows[] = {
        {{10, UNSAID}, 1000000, true},
        {{10, UNSAID}, 1000001, false},
        {{10, 1}, 0, false},
        {{10, 2}, 999999, true},
        {{10, 2}, 1000000, false},
        {{10, 3600}, 1000001, false},
        {{0, 3600}, 30000000, true},
        {{0, 31}, 30000000, false},
        {{0, UNSAID}, 1000001, false},
        {{0, 1000000000000}, 30000000, true},
        {{0, 1000000000000}, 86400000000, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        cr_assert_eq(takt_caller_learn_holds(&rows[i].word, rows[i].age_us), rows[i].holds,
                     "row %zu", i);
}
