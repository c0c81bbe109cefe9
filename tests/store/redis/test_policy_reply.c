/*
 * test_policy_reply.c: replies about the stored policy, and replies that are refused.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "store/policy_record.h"
#include "store/redis/policy_reply.h"
#include "store/redis/script.h"
#include "store/redis/script_call.h"

#define TEXT(words)                                                                                \
    {                                                                                              \
        .type = TAKT_REPLY_STRING, .text = (words), .size = sizeof(words) - 1                      \
    }
#define NUMBER(value)                                                                              \
    {                                                                                              \
        .type = TAKT_REPLY_INTEGER, .integer = (value), .text = ""                                 \
    }

#define LINE "7\t9\t1\t4\twho\twhat\n"

static const struct {
    takt_op op;
    int count;
    takt_reply values[4];
    bool fine;
    int status;
    const char *kept;
} table[] = {
    {TAKT_OP_POLICY, 2, {NUMBER(0), NUMBER(0)}, true, 0, NULL},
    {TAKT_OP_POLICY, 2, {NUMBER(5), NUMBER(6)}, true, 0, NULL}, /* the one that was seen */
    {TAKT_OP_POLICY, 2, {NUMBER(5), NUMBER(7)}, false, 0, NULL},
    {TAKT_OP_POLICY, 2, {NUMBER(0), NUMBER(6)}, false, 0, NULL},
    {TAKT_OP_POLICY, 2, {NUMBER(-1), NUMBER(-1)}, false, 0, NULL},
    {TAKT_OP_POLICY, 2, {TEXT("5"), NUMBER(6)}, false, 0, NULL},
    {TAKT_OP_POLICY, 1, {NUMBER(5)}, false, 0, NULL},
    {TAKT_OP_POLICY, 4, {NUMBER(7), NUMBER(9), TEXT(LINE), TEXT("a: b")}, true, 0, LINE "\na: b"},
    {TAKT_OP_POLICY, 4, {NUMBER(7), NUMBER(9), TEXT(LINE), TEXT("")}, true, 0, LINE "\n"},
    {TAKT_OP_POLICY, 4, {NUMBER(0), NUMBER(0), TEXT(LINE), TEXT("a")}, false, 0, NULL},
    {TAKT_OP_POLICY, 4, {NUMBER(7), NUMBER(9), TEXT(""), TEXT("a")}, false, 0, NULL},
    {TAKT_OP_POLICY, 4, {NUMBER(7), NUMBER(9), TEXT("\n"), TEXT("a")}, false, 0, NULL},
    {TAKT_OP_POLICY, 4, {NUMBER(7), NUMBER(9), TEXT("x"), TEXT("a")}, false, 0, NULL},
    {TAKT_OP_POLICY, 4, {NUMBER(7), NUMBER(9), TEXT("x\n\ny\n"), TEXT("a")}, false, 0, NULL},
    {TAKT_OP_POLICY, 4, {NUMBER(7), NUMBER(9), TEXT(LINE), NUMBER(1)}, false, 0, NULL},
    {TAKT_OP_APPLY, 3, {NUMBER(6), NUMBER(9), NUMBER(1)}, true, 0, NULL},
    {TAKT_OP_APPLY, 3, {NUMBER(6), NUMBER(9), NUMBER(0)}, true, TAKT_E_OVERTAKEN, NULL},
    {TAKT_OP_APPLY, 3, {NUMBER(6), NUMBER(9), NUMBER(2)}, false, 0, NULL},
    {TAKT_OP_APPLY, 2, {NUMBER(5), NUMBER(6)}, false, 0, NULL},
};

Test(policy_reply, is_read_strictly)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_policy_exchange exchange = {.seen_version = 5, .seen_at_us = 6};
        takt_reply reply[5] = {{.type = TAKT_REPLY_ARRAY, .count = table[i].count, .text = ""}};
        takt_store_call call;

        memcpy(reply + 1, table[i].values, sizeof table[i].values);
        takt_policy_call(&call, table[i].op, &exchange);
        cr_expect_eq(takt_policy_reply(&call, reply), table[i].fine, "row %zu", i);
        if (table[i].fine) {
            cr_expect_eq(call.status, table[i].status, "row %zu", i);
            cr_expect_eq(exchange.version, table[i].values[0].integer);
            cr_expect_eq(exchange.at_us, table[i].values[1].integer);
        }
        cr_assert_eq(exchange.kept == NULL, table[i].kept == NULL, "row %zu", i);
        if (exchange.kept)
            cr_expect_str_eq(exchange.kept, table[i].kept);
        free(exchange.kept);
    }
}

Test(policy_reply, what_is_asked)
{
    static takt_script_call script_call;
    static const char *const words[] = {"EVALSHA", "",  "1",      "takt:{a%20b//}:policy",
                                        "5",       "6", "change", "te"};
    takt_policy_exchange exchange = {
        .seen_version = 5, .seen_at_us = 6, .text = "text", .size = 2, .change = "change"};

    for (int op = TAKT_OP_POLICY; op <= TAKT_OP_APPLY; op++) {
        takt_store_call call;
        takt_policy_call(&call, (takt_op)op, &exchange);
        cr_assert(takt_script_call_write(&script_call, "a b", &call));
        cr_assert_eq(script_call.count, op == TAKT_OP_APPLY ? 8 : 6);
        cr_expect_str_eq(script_call.arguments[1], takt_scripts[op].sha1);
        for (int i = 2; i < script_call.count; i++) {
            cr_expect_eq(script_call.sizes[i], strlen(words[i]), "%d", i);
            cr_expect_eq(memcmp(script_call.arguments[i], words[i], script_call.sizes[i]), 0, "%d",
                         i);
        }
    }
}
