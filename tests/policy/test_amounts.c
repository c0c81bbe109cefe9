/*
 * What a request takes of the units of its limits: amounts that it states, defaults, and what is
 * refused.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "policy/amounts.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* One limit counts requests or a cost, one names units; "output" has a default. */
static const takt_limit plain = {.name = "plain"};
static const takt_limit named = {
    .name = "named",
    .unit = "input",
    .more_units = {"output"},
    .more_defaults = {{500}},
};

static const takt_limit *const plain_alone[] = {&plain};
static const takt_limit *const named_alone[] = {&named};
static const takt_limit *const both[] = {&plain, &named};

Test(amounts, only_what_a_level_counts_may_be_stated)
{
    static const struct {
        const takt_limit *const *limits;
        int count;
        takt_request request;
        const char *message; /* a part of it; NULL: possible */
    } rows[] = {
        {plain_alone, 1, {.cost = 5}, NULL},
        {plain_alone, 1, {.cost = 1, .amounts = {{"input", 1}}}, "its rules name no unit"},
        {named_alone, 1, {.cost = 1, .amounts = {{"input", 5}}}, NULL},
        {named_alone, 1, {.cost = 1, .amounts = {{"output", 5}, {"input", 5}}}, NULL},
        {named_alone, 1, {.cost = 1, .amounts = {{NULL, 0}, {"input", 5}}}, NULL},
        {named_alone, 1, {.cost = 5}, "a cost of 5, and its rules count input"},
        {named_alone, 1, {.cost = 1, .amounts = {{"bytes", 5}}}, "rules count input, output"},
        {named_alone, 1, {.cost = 1, .amounts = {{"requests", 5}}}, "each acquire is one request"},
        {named_alone, 1, {.cost = 1, .amounts = {{"", 5}}}, "its rules count input, output"},
        {named_alone,
         1,
         {.cost = 1, .amounts = {{"input", 5}, {"input", 6}}},
         "two amounts of input"},
        {named_alone, 1, {.cost = 1, .amounts = {{"input", 0}}}, "0 input; ask for 1 to"},
        {named_alone, 1, {.cost = 1, .amounts = {{"input", TAKT_COST_MAX}}}, NULL},
        {named_alone, 1, {.cost = 1, .amounts = {{"input", TAKT_COST_MAX + 1}}}, "ask for 1 to"},
        {both, 2, {.cost = 5, .amounts = {{"input", 5}}}, NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_error error = {.text = ""};
        takt_request request = rows[i].request;
        int code;
        request.limit = "a";
        code = takt_amounts_check(&request, rows[i].limits, rows[i].count, &error);
        cr_expect_eq(code, rows[i].message ? TAKT_E_INVALID : 0, "row %zu: %s", i, error.text);
        cr_expect(!rows[i].message || strstr(error.text, rows[i].message), "row %zu: %s", i,
                  error.text);
    }
}

/* The override of a key may have no rules: units are those of its limit. */
Test(amounts, a_key_without_rules_knows_the_units_of_its_limit)
{
    takt_limit forbidden = {.name = "named", .access = TAKT_ACCESS_REFUSED, .base = &named};
    const takt_limit *limits[] = {&forbidden};
    takt_request request = {.limit = "named", .cost = 1, .amounts = {{"output", 3}}};
    takt_error error;

    cr_expect_eq(takt_amounts_check(&request, limits, 1, &error), 0);
    forbidden.base = NULL;
    cr_expect_eq(takt_amounts_check(&request, limits, 1, &error), TAKT_E_INVALID);
}

Test(amounts, each_level_takes_its_own)
{
    takt_request request = {.limit = "plain", .cost = 7, .amounts = {{"input", 30}}};
    takt_error error = {.text = ""};
    takt_more more;
    int32_t cost;

    cr_assert_eq(takt_amounts_read(&request, &plain, &cost, &more, &error), 0);
    cr_expect_eq(cost, 7);
    cr_expect_eq(more.of[0], 0);
    cr_assert_eq(takt_amounts_read(&request, &named, &cost, &more, &error), 0);
    cr_expect_eq(cost, 30);
    cr_expect_eq(more.of[0], 500, "its default");
    cr_expect_eq(more.of[1], 0);
    request.amounts[1] = (takt_amount){"output", 20};
    cr_assert_eq(takt_amounts_read(&request, &named, &cost, &more, &error), 0);
    cr_expect_eq(more.of[0], 20);
}

Test(amounts, without_a_default_an_amount_is_needed)
{
    takt_request request = {.limit = "named", .cost = 1, .amounts = {{"output", 20}}};
    takt_error error = {.text = ""};
    takt_more more;
    int32_t cost;

    cr_assert_eq(takt_amounts_read(&request, &named, &cost, &more, &error), TAKT_E_INVALID);
    cr_expect(strstr(error.text, "no amount of input"), "%s", error.text);
}

Test(amounts, a_request_is_plain_without_cost_and_amounts)
{
    takt_request request = {.cost = 1};

    cr_expect(takt_amounts_are_plain(&request));
    request.amounts[TAKT_AMOUNTS_MAX - 1].unit = "input";
    cr_expect_not(takt_amounts_are_plain(&request));
    request = (takt_request){.cost = 2};
    cr_expect_not(takt_amounts_are_plain(&request));
}
