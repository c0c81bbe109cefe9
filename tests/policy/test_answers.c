/*
 * The fields learn and settle, as a text or as a mapping, and errors with what to write instead.
 */
#include "policy/broken.h"
#include "policy/policy.h"

#define TOKENS(line)                                                                               \
    "limits:\n  - name: a\n    rules: [{rate: 5/s, counts: tokens}, {rate: 9/min, counts: "        \
    "requests}]\n    " line "\n"
#define PLAIN(line) "limits:\n  - name: a\n    rules: [{rate: 5/s}]\n    " line "\n"
#define AT          "limits[0]."
#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))
#define SIXTY_FIVE  "X234567890123456789012345678901234567890123456789012345678901234_"

static const broken broken_answers[] = {
    {PLAIN("learn: opanai"), 4, AT "learn: there is no \"opanai\"; did you mean \"openai\"?"},
    {PLAIN("learn: [openai]"), 4,
     AT "learn: is a list; write one value, or a mapping such as {NAME: VALUE}"},
    {PLAIN("learn: openai"), 4,
     AT "learn: openai says what is left of requests and tokens, which no rule counts; write "
        "counts: requests or counts: tokens in a rule"},
    {PLAIN("learn: anthropic"), 4,
     AT "learn: anthropic says what is left of requests and tokens, input_tokens and "
        "output_tokens, which no rule counts; write counts: requests"},
    {PLAIN("learn: {}"), 4, AT "learn: an entry is empty; write {NAME: VALUE, "},
    {PLAIN("learn: {reset: X-Reset}"), 4,
     AT "learn: has no remaining; write the header that says what is left, like {remaining: "
        "X-RateLimit-Remaining}"},
    {PLAIN("learn: {remaning: X-Left}"), 4,
     AT "learn: there is no \"remaning\"; did you mean \"remaining\"?"},
    {PLAIN("learn: {left: X-Left}"), 4,
     AT "learn: there is no \"left\"; write remaining, reset or unit"},
    {PLAIN("learn: {remaining: X-Left, remaining: X-Left}"), 4,
     AT "learn: \"remaining\" is repeated; write it once"},
    {PLAIN("learn: {remaining: 'X Left'}"), 4,
     AT "learn: remaining: \"X Left\" is not a header's name; write letters, digits and -, at most "
        "64, like X-RateLimit-Remaining"},
    {PLAIN("learn: {remaining: 'X-Left:'}"), 4, AT "learn: remaining: \"X-Left:\" is not a"},
    {PLAIN("learn: {remaining: " SIXTY_FIVE "}"), 4, AT "learn: remaining: \"X23"},
    {PLAIN("learn: {remaining: [X-Left]}"), 4, AT "learn: has a list inside; write NAME: VALUE"},
    {PLAIN("learn: {remaining: {a: b}}"), 4, AT "learn: has a mapping inside; write NAME: VALUE"},
    {PLAIN("learn: {remaining: }"), 4, AT "learn: has an empty name or value, or one with a comma"},
    {PLAIN("learn: {remaining: 'a,b'}"), 4, AT "learn: has an empty name or value, or one with a"},
    {PLAIN("learn: {remaining: &x X-Left}"), 4, AT "learn: anchors (&x) are not taken"},
    {TOKENS("learn: {remaining: X-Left, unit: token}"), 4,
     AT "learn: unit: no rule counts \"token\"; write the unit of a rule's counts, or leave it "
        "out"},
    {PLAIN("learn: {remaining: X-Left, unit: requests}"), 4,
     AT "learn: unit: no rule counts \"requests\""},
    {PLAIN("settle: usage.total_tokens"), 4,
     AT "settle: \"usage.total_tokens\": write a JSON pointer, which begins with a slash, like "
        "/usage/total_tokens; or openai or anthropic"},
    {PLAIN("settle: github"), 4, AT "settle: \"github\": write a JSON pointer"},
    {PLAIN("settle: /a~2b"), 4, AT "settle: has a ~ without 0 or 1 behind it; write ~0 for"},
    {PLAIN("settle: openai"), 4,
     AT "settle: openai states tokens, input_tokens and output_tokens, which no rule counts; write "
        "counts with one of them in a rule, or a JSON pointer"},
    {TOKENS("settle: anthropic"), 4,
     AT "settle: anthropic states input_tokens and output_tokens, which no rule counts"},
    {TOKENS("settle: {token: /usage}"), 4,
     AT "settle: no rule counts token; write the unit of a rule's counts, here or in a limit that "
        "this one is within"},
    {TOKENS("settle: {requests: /usage}"), 4,
     AT "settle: \"requests\" is not a unit that an answer states; write the unit of a rule's "
        "counts, like {tokens: /usage/total_tokens}"},
    {TOKENS("settle: {Tokens: /usage}"), 4, AT "settle: \"Tokens\" is not a unit"},
    {TOKENS("settle: {tokens: usage}"), 4,
     AT "settle: tokens: must be a JSON pointer; begin it with a slash"},
    {TOKENS("settle: {tokens: /a~}"), 4, AT "settle: tokens: has a ~ without"},
    {TOKENS("settle: {a: /a, b: /a, c: /a, d: /a, e: /a}"), 4,
     AT "settle: has more than 4 entries; write fewer"},
    {TOKENS("settle:\n      - /a"), 5, AT "settle: is a list; write one value, or a mapping"},
    {TOKENS("settle: /a\n    settle: /b"), 5, AT "settle: is repeated; line 4 has it already"},
};

Test(answers, what_is_refused)
{
    check_broken(broken_answers, COUNT(broken_answers));
}

static takt_policy *parse(const char *text)
{
    takt_policy *policy = NULL;
    takt_error error = {0};

    cr_assert_eq(takt_policy_parse(&policy, "takt.yaml", text, strlen(text), &error), 0, "%s",
                 error.text);
    return policy;
}

static void check_text(const char *word, const char *expected, const char *text)
{
    cr_assert(expected ? word && strcmp(word, expected) == 0 : !word, "%s: %s", text,
              word ? word : "(none)");
}

Test(answers, what_is_learned_from)
{
    static const struct {
        const char *text;
        takt_learn learn;
        const char *remaining, *reset, *unit, *words;
    } rows[] = {
        {PLAIN("learn: 'off'"), TAKT_LEARN_OFF, NULL, NULL, NULL, "5/s"},
        {PLAIN("learn: headers"), TAKT_LEARN_HEADERS, NULL, NULL, NULL, "5/s, learn headers"},
        {PLAIN("learn: github"), TAKT_LEARN_GITHUB, NULL, NULL, NULL, "5/s, learn github"},
        {PLAIN("learn: shopify"), TAKT_LEARN_SHOPIFY, NULL, NULL, NULL, "5/s, learn shopify"},
        {PLAIN("learn: discord"), TAKT_LEARN_DISCORD, NULL, NULL, NULL, "5/s, learn discord"},
        {TOKENS("learn: openai"), TAKT_LEARN_OPENAI, NULL, NULL, NULL,
         "5/s tokens, 9/min requests, learn openai"},
        {TOKENS("learn: anthropic"), TAKT_LEARN_ANTHROPIC, NULL, NULL, NULL,
         "5/s tokens, 9/min requests, learn anthropic"},
        {PLAIN("learn: {remaining: X-Left}"), TAKT_LEARN_FIELDS, "x-left", NULL, NULL,
         "5/s, learn {remaining: x-left}"},
        {TOKENS("learn:\n      unit: tokens\n      remaining: X-Left\n      reset: \"X-Reset\""),
         TAKT_LEARN_FIELDS, "x-left", "x-reset", "tokens",
         "5/s tokens, 9/min requests, learn {remaining: x-left, reset: x-reset, unit: tokens}"},
        {TOKENS("learn: '{remaining: X-Left,unit: requests }'"), TAKT_LEARN_FIELDS, "x-left", NULL,
         "requests", "5/s tokens, 9/min requests, learn {remaining: x-left, unit: requests}"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_policy *policy = parse(rows[i].text);
        takt_learn learn = TAKT_LEARN_OFF;
        char words[256];
        cr_assert_eq(takt_policy_learn(policy, "a", &learn), 0);
        cr_assert_eq(learn, rows[i].learn, "row %zu", i);
        check_text(takt_policy_learn_field(policy, "a", "remaining"), rows[i].remaining,
                   rows[i].text);
        check_text(takt_policy_learn_field(policy, "a", "reset"), rows[i].reset, rows[i].text);
        check_text(takt_policy_learn_field(policy, "a", "unit"), rows[i].unit, rows[i].text);
        takt_policy_describe(policy, "a", words, sizeof words);
        cr_assert_str_eq(words, rows[i].words);
        check_text(takt_policy_learn_field(policy, "b", "unit"), NULL, "no such limit");
        check_text(takt_policy_learn_field(policy, "a", "units"), NULL, "no such field");
        takt_policy_free(policy);
    }
    cr_assert_str_eq(takt_learn_name(TAKT_LEARN_FIELDS), "fields");
}

/* What a vendor's fields say of one unit. */
Test(answers, what_is_learned_of_a_unit)
{
    static const struct {
        const char *text, *unit;
        int code;
        takt_learn learn;
    } rows[] = {
        {TOKENS("learn: openai"), "tokens", 0, TAKT_LEARN_OPENAI},
        {TOKENS("learn: openai"), "requests", 0, TAKT_LEARN_OPENAI},
        {TOKENS("learn: openai"), "bytes", TAKT_E_INVALID, TAKT_LEARN_OFF},
        {TOKENS("learn: openai"), NULL, TAKT_E_INVALID, TAKT_LEARN_OFF},
        {TOKENS("learn: github"), "requests", 0, TAKT_LEARN_GITHUB},
        {TOKENS("learn: github"), "tokens", 0, TAKT_LEARN_OFF},
        {TOKENS("learn: 'off'"), "tokens", 0, TAKT_LEARN_OFF},
        {TOKENS("learn: '{remaining: X-Left, unit: tokens}'"), "tokens", 0, TAKT_LEARN_FIELDS},
        {TOKENS("learn: '{remaining: X-Left, unit: tokens}'"), "requests", 0, TAKT_LEARN_OFF},
        {TOKENS("learn: '{remaining: X-Left}'"), "requests", 0, TAKT_LEARN_FIELDS},
        {PLAIN("learn: headers"), "tokens", 0, TAKT_LEARN_HEADERS},
        {PLAIN("learn: headers"), "requests", TAKT_E_INVALID, TAKT_LEARN_OFF},
        {PLAIN("learn: '{remaining: X-Left}'"), "tokens", 0, TAKT_LEARN_FIELDS},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_policy *policy = parse(rows[i].text);
        takt_learn learn = TAKT_LEARN_OFF;
        cr_expect_eq(takt_policy_learn_unit(policy, "a", rows[i].unit, &learn), rows[i].code,
                     "row %zu", i);
        cr_expect_eq(learn, rows[i].learn, "row %zu", i);
        cr_expect_eq(takt_policy_learn_unit(policy, "b", "tokens", &learn), TAKT_E_NO_LIMIT);
        takt_policy_free(policy);
    }
}

#define LEVELS(inner, outer, line)                                                                 \
    "limits:\n  - name: a\n    within: b\n    rules: [{rate: 5/s, counts: " inner "}]\n    " line  \
    "\n  - name: b\n    rules: [{rate: 9/s, counts: " outer "}]\n"

Test(answers, where_answers_state_what_was_used)
{
    static const struct {
        const char *text;
        const char *places[6][2]; /* unit, pointer */
        const char *words;
    } rows[] = {
        {PLAIN("settle: /usage/total"), {{NULL, "/usage/total"}}, "settle /usage/total"},
        {PLAIN("settle: /a~0b~1c/0"), {{NULL, "/a~0b~1c/0"}}, "settle /a~0b~1c/0"},
        {TOKENS("settle: {tokens: /usage/total}"),
         {{"tokens", "/usage/total"}},
         "settle {tokens: /usage/total}"},
        {LEVELS("input_tokens", "output_tokens",
                "settle:\n      output_tokens: /out\n      input_tokens: /in"),
         {{"output_tokens", "/out"}, {"input_tokens", "/in"}},
         "settle {output_tokens: /out, input_tokens: /in}"},
        {TOKENS("settle: openai"),
         {{"tokens", "/usage/total_tokens"}, {"tokens", "/response/usage/total_tokens"}},
         "settle openai"},
        {LEVELS("input_tokens", "output_tokens", "settle: anthropic"),
         {{"input_tokens", "/usage/input_tokens"},
          {"input_tokens", "/message/usage/input_tokens"},
          {"output_tokens", "/usage/output_tokens"}},
         "settle anthropic"},
        {LEVELS("requests", "output_tokens", "settle: openai"),
         {{"output_tokens", "/usage/completion_tokens"},
          {"output_tokens", "/usage/output_tokens"},
          {"output_tokens", "/response/usage/output_tokens"}},
         "settle openai"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_policy *policy = parse(rows[i].text);
        const char *unit = "", *pointer = "";
        char words[256];
        size_t k = 0;
        for (; rows[i].places[k][1]; k++) {
            cr_assert_eq(takt_policy_settle(policy, "a", k, &unit, &pointer), 0, "row %zu", i);
            check_text(unit, rows[i].places[k][0], rows[i].text);
            check_text(pointer, rows[i].places[k][1], rows[i].text);
        }
        cr_assert_eq(takt_policy_settle(policy, "a", k, &unit, &pointer), TAKT_E_NO_LIMIT);
        cr_assert_eq(takt_policy_settle(policy, "b", 0, &unit, &pointer), TAKT_E_NO_LIMIT);
        takt_policy_describe(policy, "a", words, sizeof words);
        cr_assert(strstr(words, rows[i].words), "row %zu: %s", i, words);
        takt_policy_free(policy);
    }
}

/* Overrides are limits, and share `learn` and `settle` with their limit. */
Test(answers, overrides_have_those_of_their_limit)
{
    takt_policy *policy =
        parse(TOKENS("settle: /used\n    learn: {remaining: X-Left}\n    "
                     "overrides: [{key: k, rules: [{rate: 1/s, counts: tokens}]}]"));
    const char *key;
    char words[256];

    cr_assert_eq(takt_policy_override(policy, "a", 0, &key, words, sizeof words), 0);
    cr_assert_str_eq(words, "1/s tokens, learn {remaining: x-left}, settle /used");
    takt_policy_free(policy);
}

Test(answers, in_code_the_same_texts_are_read)
{
    takt_rule_text rule = {.rate = "5/s", .counts = "tokens"};
    takt_limit_text text = {.name = "a", .rules = &rule, .rule_count = 1};
    takt_policy *policy = NULL;
    takt_error error = {0};

    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    text.settle = "{tokens: /usage";
    cr_assert_eq(takt_policy_add(policy, &text, &error), TAKT_E_POLICY);
    cr_assert(strstr(error.text, "settle: write {NAME: VALUE, NAME: VALUE}"), "%s", error.text);
    text.settle = "{tokens: /usage}";
    text.learn = "{ remaining: X-Left , unit: tokens }";
    cr_assert_eq(takt_policy_add(policy, &text, &error), 0, "%s", error.text);
    text.name = "b";
    text.settle = "{bytes: /usage}";
    cr_assert_eq(takt_policy_add(policy, &text, &error), 0, "%s", error.text);
    cr_assert_eq(takt_policy_check(policy, &error), TAKT_E_POLICY);
    cr_assert(strstr(error.text, "limits[1].settle: no rule counts bytes"), "%s", error.text);
    takt_policy_free(policy);
}
