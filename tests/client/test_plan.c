/*
 * Plans: when work would start by the policy alone, at one level and at several.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <takt/plan.h>
#include <takt/policy.h>

#define FROM_US INT64_C(1800000000000000)

static takt_policy *policy;
static takt_plan *plan;

static void begin(const char *text)
{
    takt_error error = {0};

    cr_assert_eq(takt_policy_parse(&policy, "p", text, strlen(text), &error), 0, "%s", error.text);
    cr_assert_eq(takt_plan_new(&plan, policy, FROM_US), 0);
}

static void end(void)
{
    takt_plan_free(plan);
    takt_policy_free(policy);
}

/* When it would start, in milliseconds after the beginning. */
static int64_t add(const char *limit, const char *key, int32_t cost, const char *outer)
{
    takt_request request = TAKT_REQUEST(limit);
    takt_error error = {0};
    int64_t at_us;

    request.key = key;
    request.cost = cost;
    request.within_keys[0] = outer;
    cr_assert_eq(takt_plan_add(plan, &request, &at_us, &error), 0, "%s", error.text);
    return (at_us - FROM_US) / 1000;
}

Test(plan, one_after_the_other_at_the_rate)
{
    begin("limits:\n"
          "  - name: mail\n"
          "    rules: [{rate: 10/s}]\n"
          "  - name: calls\n"
          "    rules: [{rate: 2/s, algorithm: sliding-log}, {rate: 3/min, algorithm: "
          "sliding-log}]\n");
    for (int i = 0; i < 5; i++)
        cr_expect_eq(add("mail", NULL, 1, NULL), 100 * i);
    cr_expect_eq(add("mail", "other", 1, NULL), 0, "each key has its own pace");
    cr_expect_eq(add("calls", NULL, 1, NULL), 0);
    cr_expect_eq(add("calls", NULL, 1, NULL), 0);
    cr_expect_eq(add("calls", NULL, 1, NULL), 1050, "with the guard of sliding logs");
    cr_expect_eq(add("calls", NULL, 1, NULL), 60050);
    end();
}

Test(plan, tokens_and_requests_are_counted_apart)
{
    begin("limits:\n"
          "  - name: model\n"
          "    rules:\n"
          "      - {rate: 2/s, burst: 2, counts: requests}\n"
          "      - {rate: 100/s, burst: 100}\n");
    cr_expect_eq(add("model", NULL, 50, NULL), 0);
    cr_expect_eq(add("model", NULL, 50, NULL), 0);
    cr_expect_eq(add("model", NULL, 1, NULL), 500, "two requests are taken");
    cr_expect_eq(add("model", NULL, 100, NULL), 1010, "of 100 tokens one is taken");
    end();
}

Test(plan, a_level_waits_for_all_others_and_takes_nothing_before)
{
    begin("limits:\n"
          "  - {name: server, rules: [{rate: 2/s}]}\n"
          "  - {name: domain, within: server, rules: [{rate: 1/s}]}\n");
    cr_expect_eq(add("domain", "a", 1, NULL), 0);
    cr_expect_eq(add("domain", "b", 1, NULL), 500, "the server's next slot");
    cr_expect_eq(add("domain", "a", 1, NULL), 1000);
    cr_expect_eq(add("domain", "c", 1, NULL), 1500);
    cr_expect_eq(add("domain", "c", 1, "elsewhere"), 2500, "a server of another key");
    cr_expect_eq(add("server", NULL, 1, NULL), 2000);
    end();
}

Test(plan, overrides_and_refusals_hold)
{
    takt_request request = TAKT_REQUEST("api");
    takt_error error = {0};
    int64_t at_us = 7;

    begin("limits:\n"
          "  - name: api\n"
          "    rules: [{rate: 1/h}]\n"
          "    overrides: [{key: free, unlimited: true}, {key: bad, rules: [{rate: 0}]}]\n"
          "  - {name: seen, mode: shadow, rules: [{rate: 1/h}]}\n");
    cr_expect_eq(add("api", "x", 1, NULL), 0);
    cr_expect_eq(add("api", "x", 1, NULL), 3600000);
    cr_expect_eq(add("api", "free", 1, NULL), 0);
    cr_expect_eq(add("api", "free", 1, NULL), 0);
    cr_expect_eq(add("seen", NULL, 1, NULL), 0);
    cr_expect_eq(add("seen", NULL, 1, NULL), 0, "a limit in shadow holds nothing up");
    request.key = "bad";
    cr_expect_eq(takt_plan_add(plan, &request, &at_us, &error), TAKT_E_COST);
    request.key = "x";
    request.cost = 2;
    cr_expect_eq(takt_plan_add(plan, &request, &at_us, &error), TAKT_E_COST);
    request.limit = "none";
    cr_expect_eq(takt_plan_add(plan, &request, &at_us, NULL), TAKT_E_NO_LIMIT);
    cr_expect_eq(at_us, 7);
    cr_expect_eq(add("api", "x", 1, NULL), 7200000, "what is refused takes nothing");
    end();
}
