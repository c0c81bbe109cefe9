/*
 * The differences between two policies.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include <takt/policy.h>

static char told[1024];

static void tell(void *data, const takt_difference *difference)
{
    size_t used = strlen(told);

    (void)data;
    snprintf(told + used, sizeof told - used, "%s: %s -> %s\n", difference->limit,
             difference->from ? difference->from : "none",
             difference->to ? difference->to : "none");
}

static takt_policy *parse(const char *text)
{
    takt_policy *policy;
    takt_error error = {0};

    cr_assert_eq(takt_policy_parse(&policy, "p", text, strlen(text), &error), 0, "%s", error.text);
    return policy;
}

static const char *compare(const char *from, const char *to)
{
    takt_policy *a = from ? parse(from) : NULL, *b = parse(to);
    size_t count;

    told[0] = '\0';
    count = takt_policy_compare(a, b, tell, NULL);
    cr_expect_eq(count, takt_policy_compare(a, b, NULL, NULL));
    for (const char *at = told; *at; at++)
        count -= *at == '\n';
    cr_expect_eq(count, 0);
    takt_policy_free(a);
    takt_policy_free(b);
    return told;
}

#define LIMIT(name, rest) "  - {name: " name ", " rest "}\n"

#define KEYS(keys) "limits:\n" LIMIT("a", "rules: [{rate: 1/s}], overrides: [" keys "]")

Test(compare, tells_each_override)
{
    cr_expect_str_eq(compare(NULL, KEYS("{key: k, unlimited: true}, {key: p*, concurrency: 2}")),
                     "a: none -> 1/s\n"
                     "a:k: none -> unlimited\n"
                     "a:p*: none -> 1/s, concurrency 2, pattern 1\n");
    cr_expect_str_eq(compare(KEYS("{key: k, unlimited: true}, {key: l, unlimited: true}"),
                             KEYS("{key: m, rules: [{rate: 2/s}]}, {key: k, rules: [{rate: 0}]}")),
                     "a:m: none -> 2/s\n"
                     "a:k: unlimited -> refused\n"
                     "a:l: unlimited -> none\n");
    cr_expect_str_eq(compare(KEYS("{key: k, unlimited: true}, {key: l, unlimited: true}"),
                             KEYS("{key: l, unlimited: true}, {key: k, unlimited: true}")),
                     "", "the order of keys decides nothing");
    cr_expect_str_eq(compare(KEYS("{key: k*, unlimited: true}, {key: '*l', rules: [{rate: 0}]}"),
                             KEYS("{key: '*l', rules: [{rate: 0}]}, {key: k*, unlimited: true}")),
                     "a:*l: refused, pattern 2 -> refused, pattern 1\n"
                     "a:k*: unlimited, pattern 1 -> unlimited, pattern 2\n");
    cr_expect_str_eq(
        compare(KEYS("{key: k, unlimited: true}"), "limits:\n" LIMIT("b", "concurrency: 1")),
        "b: none -> concurrency 1\na: 1/s -> none\n");
}

Test(compare, tells_each_limit_once)
{
    cr_expect_str_eq(compare(NULL, "limits:\n" LIMIT("a", "rules: [{rate: 1/s}]")),
                     "a: none -> 1/s\n");
    cr_expect_str_eq(compare("limits:\n" LIMIT("a", "rules: [{rate: 1/s}]")
                                 LIMIT("b", "rules: [{rate: 2/s}]") LIMIT("c", "concurrency: 3"),
                             "limits:\n" LIMIT("d", "concurrency: 1") LIMIT("c", "concurrency: 4")
                                 LIMIT("b", "rules: [{rate: 2/s}]")),
                     "d: none -> concurrency 1\n"
                     "c: concurrency 3 -> concurrency 4\n"
                     "a: 1/s -> none\n");
}

Test(compare, what_is_written_otherwise_is_no_difference)
{
    cr_expect_str_eq(compare("limits:\n" LIMIT("a", "rules: [{rate: 1/s}]"),
                             "revision: 7\nlimits: [{name: a, rules: [{rate: 1/1s, burst: 1}]}]"),
                     "");
}

/* All that a limit can say is seen. */
Test(compare, sees_every_field)
{
    static const char *const fields[] = {
        "lookahead: 1s", "headroom: 1%",   "within: outer",          "max_waiting: 5",
        "priority: 3",   "concurrency: 2", "on_store_failure: open", "concurrency: 2, lease: 1min",
        "key_hash: true"};

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "limits:\n  - {name: outer, concurrency: 1}\n"
                 "  - {name: a, rules: [{rate: 1/s}], %s}\n",
                 fields[i]);
        cr_expect_str_neq(compare("limits:\n  - {name: outer, concurrency: 1}\n"
                                  "  - {name: a, rules: [{rate: 1/s}]}\n",
                                  text),
                          "", "%s", fields[i]);
    }
}
