/*
 * test_script_call.c: calls as the commands that lua/PROTOCOL.md describes.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "store/redis/script.h"
#include "store/redis/script_call.h"
#include "store/rig.h"

static takt_limit two_rules(void)
{
    takt_limit limit = rig_limit("mail", 100, 1000000, 10);
    takt_limit day = rig_limit("mail", 800, RIG_DAY, 1);

    limit.numbers.rules[limit.numbers.rule_count++] = day.numbers.rules[0];
    limit.numbers.revision = 7;
    limit.numbers.max_waiting = 1000;
    return limit;
}

/* All arguments behind the script's name, parted by blanks. */
static const char *join(const takt_script_call *script_call)
{
    static char text[65536];

    text[0] = '\0';
    for (int i = 2; i < script_call->count; i++) {
        cr_assert(strlen(text) + script_call->sizes[i] + 2 < sizeof text);
        strncat(text, script_call->arguments[i], script_call->sizes[i]);
        strcat(text, i + 1 < script_call->count ? " " : "");
    }
    return text;
}

#define NAMES "3 takt:{prod/mail/a%2Fb} takt:{prod/mail/a%2Fb}:line takt:{prod/mail/a%2Fb}:places "
#define LIMIT "g1/10000*10;g1/108000000*1 86400000000 7 250000 1000 "

Test(script_call, every_operation)
{
    static const struct {
        takt_op op;
        const char *text;
    } table[] = {
        {TAKT_OP_CLAIM, NAMES LIMIT
         " beef 42 30*64,7/1763692800100000,2,9 20 1763692800000000 2 0 5 -1 1 9 1 -1 3 9 4 0 1 9"},
        {TAKT_OP_TRY, NAMES LIMIT " 3"},
        {TAKT_OP_BLOCK, NAMES LIMIT " 60000000 429%3B%20wait"},
        {TAKT_OP_PENALIZE, NAMES LIMIT " 60000000 429%3B%20wait"},
        {TAKT_OP_PEEK, NAMES LIMIT " 60000000"},
        {TAKT_OP_UNBLOCK, NAMES LIMIT},
        {TAKT_OP_RESET, NAMES LIMIT},
    };
    takt_limit limit = two_rules();
    takt_claim claim = {.worker = 0xbeef,
                        .seq = 42,
                        .waiting = 30,
                        .newcomers = 7,
                        .weight = 64,
                        .offer = {INT64_C(1763692800100000), 2, 9},
                        .want_count = 4,
                        .wants = {{20, INT64_C(1763692800000000), 2, 0, {{0}}},
                                  {5, TAKT_NEVER, 1, 9, {{0}}},
                                  {1, (INT64_C(1) << 53) + 1, 3, 9, {{0}}},
                                  {4, -17, 1, 9, {{0}}}}};

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        static takt_script_call script_call;
        takt_store_call call = {.op = table[i].op,
                                .limit = &limit,
                                .numbers = &limit.numbers,
                                .key = "a/b",
                                .claim = &claim,
                                .cost = 3,
                                .for_us = 60000000,
                                .reason = "429; wait"};
        cr_assert(takt_script_call_write(&script_call, "prod", &call));
        cr_expect_str_eq(join(&script_call), table[i].text);
        cr_expect_str_eq(script_call.arguments[0], "EVALSHA");
        cr_expect_str_eq(script_call.arguments[1], takt_scripts[table[i].op].sha1);
        cr_expect_eq(script_call.sizes[1], 40);
    }
}

Test(script_call, a_tenant_stands_behind_the_waiters)
{
    static takt_script_call script_call;
    takt_limit limit = rig_limit("mail", 100, 1000000, 10);
    takt_claim claim = {.worker = 0xbeef,
                        .seq = 42,
                        .waiting = 1,
                        .uncontended = true,
                        .tenant = "a b;c",
                        .tenant_weight = 3,
                        .process = 0xab,
                        .want_count = 1,
                        .wants = {{1, TAKT_NEVER, 1, 5, {{0}}}}};
    takt_store_call call = {.op = TAKT_OP_CLAIM,
                            .limit = &limit,
                            .numbers = &limit.numbers,
                            .key = "a/b",
                            .claim = &claim};

    cr_assert(takt_script_call_write(&script_call, "prod", &call));
    cr_expect_str_eq(join(&script_call),
                     NAMES "g1/10000*10 1000000 0 250000 0  beef 42 1@3,ab,a%20b%3Bc 1 -1 1 5",
                     "%s", join(&script_call));
    claim.waited_from = 77;
    cr_assert(takt_script_call_write(&script_call, "prod", &call));
    cr_expect_not_null(strstr(join(&script_call), " 42 1@3+77,ab,a%20b%3Bc 1 "), "%s",
                       join(&script_call));
}

/* Each has two keys behind those of the call's own ledger, and its limit as a further argument. */
Test(script_call, inner_limits)
{
    static takt_script_call script_call;
    takt_limit outer = rig_limit("server", 50, 1000000, 10),
               inner = rig_limit("domain", 5, 1000000, 1),
               innermost = rig_limit("mailbox", 1, 1000000, 1);
    takt_store_inner within[] = {{&innermost, &innermost.numbers, "a@b", TAKT_UNIT_MAP_PLAIN},
                                 {&inner, &inner.numbers, "b", TAKT_UNIT_MAP_PLAIN}};
    takt_claim claim = {.worker = 0xbeef,
                        .seq = 42,
                        .waiting = 1,
                        .uncontended = true,
                        .want_count = 1,
                        .wants = {{1, TAKT_NEVER, 1, 5, {{0}}}}};
    takt_store_call call = {.op = TAKT_OP_CLAIM,
                            .limit = &outer,
                            .numbers = &outer.numbers,
                            .key = "mx",
                            .inner = within,
                            .inner_count = 2,
                            .claim = &claim};

    cr_assert(takt_script_call_write(&script_call, "prod", &call));
    cr_expect_eq(script_call.keys, TAKT_KEYS_TEXT | TAKT_KEYS_LINE);
    cr_expect_str_eq(join(&script_call),
                     "11 takt:{prod/server/mx} takt:{prod/server/mx}:line "
                     "takt:{prod/server/mx}:places takt:{prod/server/mx} takt:{prod/server/mx} "
                     "takt:{prod/mailbox/a%40b} takt:{prod/mailbox/a%40b}:held "
                     "takt:{prod/mailbox/a%40b}:log "
                     "takt:{prod/domain/b} takt:{prod/domain/b}:held takt:{prod/domain/b}:log "
                     "g1/20000*10 1000000 0 250000 0  beef 42 1 1 -1 1 5 "
                     "g1/1000000*1 1000000 0 250000 0  "
                     "g1/200000*1 1000000 0 250000 0 ",
                     "%s", join(&script_call));
    cr_expect_eq(script_call.count, 3 + 11 + 3);
}

/* A try names them as a claim does, but no tenant: it does not stand in line. */
Test(script_call, tries_with_inner_limits)
{
    static takt_script_call script_call;
    takt_limit outer = rig_limit("server", 50, 1000000, 10),
               inner = rig_limit("domain", 5, 1000000, 1);
    takt_store_inner within[] = {{&inner, &inner.numbers, "b", TAKT_UNIT_MAP_PLAIN}};
    takt_claim claim = {
        .worker = 0xbeef, .seq = 42, .holding = 3, .tenant = "a", .inner_tenant = "a"};
    takt_store_call call = {.op = TAKT_OP_TRY,
                            .limit = &outer,
                            .numbers = &outer.numbers,
                            .key = "mx",
                            .inner = within,
                            .inner_count = 1,
                            .cost = 7};

    cr_assert(takt_script_call_write(&script_call, "prod", &call));
    cr_expect_str_eq(join(&script_call),
                     "8 takt:{prod/server/mx} takt:{prod/server/mx}:line "
                     "takt:{prod/server/mx}:places takt:{prod/server/mx} takt:{prod/server/mx} "
                     "takt:{prod/domain/b} takt:{prod/domain/b}:held takt:{prod/domain/b}:log "
                     "g1/20000*10 1000000 0 250000 0  7 "
                     "g1/200000*1 1000000 0 250000 0 ",
                     "%s", join(&script_call));
    inner.numbers.concurrency = 2;
    inner.numbers.lease_us = 30000000;
    call.claim = &claim;
    script_call.keys = 0;
    cr_assert(takt_script_call_write(&script_call, "prod", &call));
    cr_expect_eq(script_call.keys, TAKT_KEYS_TEXT | TAKT_KEYS_LINE | TAKT_KEYS_HELD);
    cr_expect(strstr(join(&script_call), " 7 beef 42 3 g1/200000*1 ") != NULL, "%s",
              join(&script_call));
}

/* The innermost line has the claim's tenants, or its own, within the turns of a subject. */
Test(script_call, tenants_of_the_innermost_limit)
{
    static takt_script_call script_call;
    takt_limit outer = rig_limit("server", 50, 1000000, 10),
               inner = rig_limit("domain", 5, 1000000, 1);
    takt_store_inner within[] = {{&inner, &inner.numbers, "b", {{1, -1, 0, 0}, 0}}};
    takt_claim claim = {.worker = 0xbeef,
                        .seq = 42,
                        .waiting = 1,
                        .tenant = "b",
                        .tenant_weight = 1,
                        .inner_tenant = "a b;c",
                        .inner_weight = 3,
                        .within_turns = true,
                        .want_count = 1,
                        .wants = {{1, TAKT_NEVER, 1, 5, {{0}}}}};
    takt_store_call call = {.op = TAKT_OP_CLAIM,
                            .limit = &outer,
                            .numbers = &outer.numbers,
                            .key = "mx",
                            .inner = within,
                            .inner_count = 1,
                            .claim = &claim};

    cr_assert(takt_script_call_write(&script_call, "prod", &call));
    cr_expect_not_null(
        strstr(join(&script_call), "g1/200000*1 1000000 0 250000 0  1023 @3,a%20b%3Bc"), "%s",
        join(&script_call));
    claim.within_turns = false;
    within[0].units = TAKT_UNIT_MAP_PLAIN;
    cr_assert(takt_script_call_write(&script_call, "prod", &call));
    cr_expect_not_null(strstr(join(&script_call), "g1/200000*1 1000000 0 250000 0  @"), "%s",
                       join(&script_call));
}

/* The longest of everything fits. */
Test(script_call, largest)
{
    static takt_script_call script_call;
    char longest[TAKT_KEY_SIZE_MAX + 2];
    takt_limit limit = rig_limit("a", 999999937, TAKT_SPAN_MAX_US - 1, 1);
    takt_claim claim = {
        .worker = UINT64_MAX, .seq = INT64_MAX, .waiting = INT64_MAX, .want_count = TAKT_WANTS_MAX};
    takt_store_inner inner[TAKT_INNER_MAX];
    takt_store_call call = {.op = TAKT_OP_CLAIM,
                            .limit = &limit,
                            .numbers = &limit.numbers,
                            .key = longest,
                            .inner = inner,
                            .inner_count = TAKT_INNER_MAX,
                            .claim = &claim};

    for (int i = 0; i < TAKT_INNER_MAX; i++)
        inner[i] = (takt_store_inner){&limit, &limit.numbers, longest, TAKT_UNIT_MAP_PLAIN};
    memset(longest, '\xff', sizeof longest);
    longest[TAKT_KEY_SIZE_MAX] = '\0';
    memset(limit.name, 'n', TAKT_NAME_SIZE_MAX);
    for (int i = 1; i < TAKT_RULES_MAX; i++)
        limit.numbers.rules[i] = limit.numbers.rules[0];
    limit.numbers.rule_count = TAKT_RULES_MAX;
    limit.numbers.revision = limit.numbers.lookahead_us = limit.numbers.max_waiting = INT64_MAX;
    limit.numbers.concurrency = limit.numbers.lease_us = INT64_MAX;
    claim.holding = claim.weight = INT64_MAX;
    limit.numbers.adapt = (takt_adapt){INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    for (int i = 0; i < TAKT_WANTS_MAX; i++)
        claim.wants[i] = (takt_want){INT64_MAX, INT64_C(1) << 53, INT32_MAX, INT32_MAX, {{0}}};
    script_call.keys = TAKT_KEYS_TEXT | TAKT_KEYS_LINE | TAKT_KEYS_LOG;
    cr_assert(takt_script_call_write(&script_call, "n", &call));
    cr_expect_eq(script_call.count, TAKT_SCRIPT_CALL_MAX);
    cr_expect_str_eq(script_call.arguments[2], "14");
    longest[TAKT_KEY_SIZE_MAX] = '\xff';
    longest[TAKT_KEY_SIZE_MAX + 1] = '\0';
    cr_expect(!takt_script_call_write(&script_call, "n", &call));
}

/* A claim that has the short form, and what makes it one that has not. */
Test(script_call, uncontended)
{
    static takt_script_call script_call;
    const takt_claim one = {.worker = 1,
                            .seq = 1,
                            .waiting = 1,
                            .uncontended = true,
                            .want_count = 1,
                            .wants = {{1, TAKT_NEVER, 3, 5, {{0}}}}};
    const takt_limit plain = rig_limit("mail", 100, 1000000, 10);
    takt_claim claims[] = {one, one, one, one, one, one, one, one, one, one, one};
    takt_limit limits[] = {plain, plain, plain, plain, plain, plain,
                           plain, plain, plain, plain, plain};
    const int count = sizeof limits / sizeof *limits, line = TAKT_KEYS_TEXT | TAKT_KEYS_LINE;

    claims[1].uncontended = false;
    claims[2].waiting = 2;
    claims[3].waiting = claims[3].wants[0].count = 2;
    claims[4].waiting = claims[4].want_count = 2;
    claims[5].wants[0].latest_us = INT64_C(1763692800000000);
    limits[6].numbers.rules[limits[6].numbers.rule_count++] = plain.numbers.rules[0];
    limits[7].numbers.rules[0].algorithm = takt_algorithm_named("sliding-log");
    limits[8].numbers.revision = 1;
    limits[9].numbers.concurrency = 1;
    limits[10].numbers.adapt = (takt_adapt){50, 10, 60000000, 5};
    for (int i = 0; i < count; i++) {
        takt_store_call call = {.op = TAKT_OP_CLAIM,
                                .limit = &limits[i],
                                .numbers = &limits[i].numbers,
                                .key = "a",
                                .claim = &claims[i]};
        script_call.keys = 0;
        cr_assert(takt_script_call_write(&script_call, "prod", &call));
        cr_expect_eq(script_call.keys,
                     i == 0 ? 0
                            : line + (i == 9 ? TAKT_KEYS_HELD : 0) + (i == 7 ? TAKT_KEYS_LOG : 0),
                     "%d", i);
        if (i == 0)
            cr_expect_str_eq(join(&script_call), "1 takt:{prod/mail/a} g1/10000*10 250000 3");
        script_call.keys = line; /* it was in vain */
        cr_assert(takt_script_call_write(&script_call, "prod", &call));
        cr_expect_eq(script_call.keys, line + (i == 9 ? TAKT_KEYS_HELD : 0), "%d", i);
    }
}

/* The keys that a call is told to name, each at its place: the first one stands for the others. */
Test(script_call, keys)
{
    static const struct {
        int keys, permits;
        const char *names;
    } table[] = {
        {TAKT_KEYS_TEXT, 0, "1 {} "},
        {TAKT_KEYS_TEXT, 1, "4 {} {} {} {}:held "},
        {TAKT_KEYS_TEXT | TAKT_KEYS_LINE, 1, "4 {} {}:line {}:places {}:held "},
        {TAKT_KEYS_TEXT | TAKT_KEYS_LINE | TAKT_KEYS_HELD, 0, "4 {} {}:line {}:places {}:held "},
        {TAKT_KEYS_TEXT | TAKT_KEYS_LOG, 0, "5 {} {} {} {} {}:log "},
        {TAKT_KEYS_TEXT | TAKT_KEYS_LINE | TAKT_KEYS_LOG, 1,
         "5 {} {}:line {}:places {}:held {}:log "},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        static takt_script_call script_call;
        takt_limit limit = rig_limit("mail", 100, 1000000, 10);
        takt_store_call call = {
            .op = TAKT_OP_PEEK, .limit = &limit, .numbers = &limit.numbers, .key = "a"};
        char names[256] = "";
        limit.numbers.concurrency = table[i].permits;
        script_call.keys = table[i].keys;
        cr_assert(takt_script_call_write(&script_call, "prod", &call));
        for (const char *at = table[i].names; *at; at++)
            strncat(names, *at == '{' ? "takt:{prod/mail/a" : at, *at == '{' ? 20 : 1);
        cr_expect(strncmp(join(&script_call), names, strlen(names)) == 0, "%s", join(&script_call));
    }
}

/* `adapt` is behind the permits, or behind their empty place. */
Test(script_call, adapt)
{
    static takt_script_call script_call;
    takt_limit limit = two_rules();
    takt_store_call call = {
        .op = TAKT_OP_PEEK, .limit = &limit, .numbers = &limit.numbers, .key = "a"};

    limit.numbers.adapt = (takt_adapt){50, 10, 60000000, 5};
    cr_assert(takt_script_call_write(&script_call, "prod", &call));
    cr_expect(strstr(join(&script_call), " 250000 1000;50,10,60000000,5 "));
    limit.numbers.concurrency = 20;
    limit.numbers.lease_us = 30000000;
    cr_assert(takt_script_call_write(&script_call, "prod", &call));
    cr_expect(strstr(join(&script_call), " 250000 1000,20,30000000;50,10,60000000,5 "));
}
