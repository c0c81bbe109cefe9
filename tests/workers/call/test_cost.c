/*
 * What an answer states as the cost of its call: as a JSON document, and as events.
 */
#include <criterion/criterion.h>

#include <inttypes.h>
#include <string.h>

#include "call/cost.h"
#include "call/events.h"

#define POINTER     "/usage/total_tokens"
#define UNTOUCHED   INT64_C(-7)
#define FOUND       TAKT_CALLER_COST_FOUND
#define MISSING     TAKT_CALLER_COST_MISSING
#define WRONG       TAKT_CALLER_COST_WRONG
#define RANGE       "; it must be a whole number from 0 to 1000000000"
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

typedef struct row {
    const char *body;
    takt_caller_cost_verdict verdict;
    int64_t cost;
    const char *why;
} row;

static void check(const char *type, const row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        takt_caller_cost cost = {.from.pointer = POINTER, .amount = UNTOUCHED};
        takt_caller_costs_read(&cost, 1, type, rows[i].body, strlen(rows[i].body));
        cr_assert_eq(cost.verdict, rows[i].verdict, "row %zu: %d, %s", i, (int)cost.verdict,
                     cost.why);
        if (cost.verdict == FOUND)
            cr_assert_eq(cost.amount, rows[i].cost, "row %zu: %" PRId64, i, cost.amount);
        if (cost.verdict != FOUND)
            cr_assert(strstr(cost.why, rows[i].why), "row %zu: %s", i, cost.why);
    }
}

Test(cost, of_a_document)
{
    static const row rows[] = {
        {"{\"usage\": {\"total_tokens\": 18}}", FOUND, 18, NULL},
        {"{\"usage\": {\"total_tokens\": 0}}", FOUND, 0, NULL},
        {"{\"usage\": {\"total_tokens\": -0.0}}", FOUND, 0, NULL},
        {"{\"usage\": {\"total_tokens\": 12.0}}", FOUND, 12, NULL},
        {"{\"usage\": {\"total_tokens\": 1e3}}", FOUND, 1000, NULL},
        {"{\"usage\": {\"total_tokens\": 1000000000}}", FOUND, 1000000000, NULL},
        {"{\"usage\": {\"total_tokens\": 18}, \"id\": 18446744073709551616}", FOUND, 18, NULL},
        {"{\"usage\": {\"total_tokens\": 18}, \"text\": \"a\\u0000b\"}", FOUND, 18, NULL},
        {"{\"usage\": {\"total_tokens\": 1000000001}}", WRONG, 0, "is 1000000001 in the"},
        {"{\"usage\": {\"total_tokens\": 18446744073709551616}}", WRONG, 0, "is 1.84467440737096e"},
        {"{\"usage\": {\"total_tokens\": -3}}", WRONG, 0, "\" is -3 in the answer" RANGE},
        {"{\"usage\": {\"total_tokens\": 12.5}}", WRONG, 0, "\" is 12.5 in the answer" RANGE},
        {"{\"usage\": {\"total_tokens\": \"18\"}}", WRONG, 0, "is the string \"18\" in the"},
        {"{\"usage\": {\"total_tokens\": true}}", WRONG, 0, "is true in"},
        {"{\"usage\": {\"total_tokens\": false}}", WRONG, 0, "is false in"},
        {"{\"usage\": {\"total_tokens\": {}}}", WRONG, 0, "is an object in"},
        {"{\"usage\": {\"total_tokens\": [18]}}", WRONG, 0, "is a list in"},
        {"{\"usage\": {\"total_tokens\": null}}", MISSING, 0, "has no \"/usage/total_tokens\""},
        {"{\"usage\": null}", MISSING, 0, "the answer has no \"/usage/total_tokens\""},
        {"[18]", MISSING, 0, "has no"},
        {"18", MISSING, 0, "has no"},
        {"", MISSING, 0, "is empty"},
        {"<html>", MISSING, 0, "is not JSON"},
        {"{\"usage\": {\"total_tokens\": 18}", MISSING, 0, "is not JSON"},
        {"data: {\"usage\": {\"total_tokens\": 18}}\n\n", MISSING, 0, "is not JSON"},
    };
    check("application/json", rows, COUNT(rows));
    check("", rows, COUNT(rows));
}

#define EVENT(number) "data: {\"usage\": {\"total_tokens\": " number "}}\n\n"
#define OTHER         "data: {\"choices\": [], \"usage\": null}\n\n"

Test(cost, of_events_is_in_the_last_one_that_states_it)
{
    static const row rows[] = {
        {OTHER EVENT("18") "data: [DONE]\n\n", FOUND, 18, NULL},
        {EVENT("5") OTHER EVENT("18") OTHER, FOUND, 18, NULL},
        {EVENT("\"5\"") EVENT("18"), FOUND, 18, NULL},
        {"data:{\"usage\":{\"total_tokens\":18}}\r\n\r\ndata: [DONE]\r\n\r\n", FOUND, 18, NULL},
        {"data: {\"usage\":\rdata: {\"total_tokens\":18}}\r\rdata: 1\r\r", FOUND, 18, NULL},
        {": comment\nevent: end\nid: 7\n" EVENT("18"), FOUND, 18, NULL},
        {"\xef\xbb\xbf" EVENT("18"), FOUND, 18, NULL},
        {"\n\n\n" EVENT("18") "\n\n", FOUND, 18, NULL},
        {"data: {\"usage\": {\"total_tokens\": 18}}", FOUND, 18, NULL},
        {"data\ndata: {\"usage\": {\"total_tokens\": 18}}\n\n", FOUND, 18, NULL},
        {EVENT("18") EVENT("1.5"), WRONG, 0, "is 1.5 in the answer"},
        {OTHER "data: [DONE]\n\n", MISSING, 0, "the answer has no \"/usage/total_tokens\""},
        {"dat: {\"usage\": {\"total_tokens\": 18}}\n\n", MISSING, 0, "has no"},
        {"datas: {\"usage\": {\"total_tokens\": 18}}\n\n", MISSING, 0, "has no"},
        {"{\"usage\": {\"total_tokens\": 18}}", MISSING, 0, "has no"},
        {"data: {\"usage\":\n\ndata: {\"total_tokens\":18}}\n\n", MISSING, 0, "has no"},
        {"", MISSING, 0, "is empty"},
    };
    check("text/event-stream", rows, COUNT(rows));
    check("Text/Event-Stream; charset=utf-8", rows, COUNT(rows));
}

Test(cost, of_a_whole_document)
{
    takt_caller_cost cost = {.from.pointer = ""};

    takt_caller_costs_read(&cost, 1, "application/json", " 42 ", 4);
    cr_assert_eq(cost.verdict, FOUND);
    cr_assert_eq(cost.amount, 42);
}

/* Each pointer counts alone; in events the last one that has it. */
Test(cost, of_several_units)
{
    static const struct {
        const char *type, *body;
        takt_caller_cost_verdict in, out;
        int64_t in_amount, out_amount;
    } rows[] = {
        {"", "{\"usage\": {\"in\": 7, \"out\": 11}}", FOUND, FOUND, 7, 11},
        {"", "{\"usage\": {\"in\": 7, \"out\": \"11\"}}", FOUND, WRONG, 7, UNTOUCHED},
        {"", "{\"usage\": {\"out\": 11}}", MISSING, FOUND, UNTOUCHED, 11},
        {"", "{", MISSING, MISSING, UNTOUCHED, UNTOUCHED},
        {"text/event-stream",
         "data: {\"usage\": {\"in\": 7, \"out\": 1}}\n\ndata: {\"usage\": {\"out\": 11}}\n\n"
         "data: {\"usage\": {\"in\": null}}\n\ndata: [DONE]\n\n",
         FOUND, FOUND, 7, 11},
        {"text/event-stream", "data: {\"usage\": {\"in\": 7}}\n\ndata: {\"usage\": []}\n\n", FOUND,
         MISSING, 7, UNTOUCHED},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_caller_cost costs[] = {{.from = {"in", "/usage/in"}, .amount = UNTOUCHED},
                                    {.from = {"out", "/usage/out"}, .amount = UNTOUCHED}};
        takt_caller_costs_read(costs, 2, rows[i].type, rows[i].body, strlen(rows[i].body));
        cr_assert_eq(costs[0].verdict, rows[i].in, "row %zu", i);
        cr_assert_eq(costs[1].verdict, rows[i].out, "row %zu", i);
        cr_assert_eq(costs[0].amount, rows[i].in_amount, "row %zu", i);
        cr_assert_eq(costs[1].amount, rows[i].out_amount, "row %zu", i);
    }
}

Test(cost, of_a_long_place_is_told_in_one_line)
{
    char pointer[600] = "/";
    takt_caller_cost cost = {.from.pointer = pointer};

    memset(pointer + 1, '\n', sizeof(pointer) - 2);
    takt_caller_costs_read(&cost, 1, "", "{}", 2);
    cr_assert_eq(cost.verdict, MISSING);
    cr_assert(strlen(cost.why) < COST_WHY_SIZE - 1 && !strchr(cost.why, '\n'), "%s", cost.why);
}

Test(events, have_one_type)
{
    static const struct {
        const char *type;
        bool is_one;
    } rows[] = {
        {"text/event-stream", true},
        {"TEXT/EVENT-STREAM;charset=utf-8", true},
        {"text/event-stream ; a=b", true},
        {"text/event-streams", false},
        {"application/json", false},
        {"text/event", false},
        {"", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        cr_assert_eq(takt_caller_events_is_type(rows[i].type), rows[i].is_one, "row %zu", i);
}
