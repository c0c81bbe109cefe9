/*
 * What a policy file may not be made of, each with its line, and where the values of a good one
 * stand.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "policy/broken.h"
#include "policy/document.h"
#include "policy/outline.h"

#define RULE_FIELDS                                                                                \
    "rate, burst, algorithm, align, timezone, queue, counts, default_amount and guard"
#define LIMIT_FIELDS                                                                               \
    "name, rules, lookahead, headroom, within, max_waiting, when_full, priority, concurrency, "    \
    "lease, adapt, on_store_failure, mode, fair, weights, default_weight, learn, settle, "         \
    "key_hash and "                                                                                \
    "overrides"
#define FIELD(field) LIMIT "    " field "\n"
#define RULE(field)  "limits:\n  - name: a\n    rules:\n      - rate: 5/s\n        " field "\n"
#define EMPTY        "the policy is empty; write at least limits: with one limit"

static const broken broken_shapes[] = {
    /* nothing there */
    {"", 1, EMPTY},
    {"\n\n", 1, EMPTY},
    {"# nothing but a comment\n", 1, EMPTY},
    {"---\n", 1, EMPTY},
    {"---\n...\n", 1, EMPTY},
    {"~\n", 1, EMPTY},
    {"null\n", 1, EMPTY},
    {"limits:\n", 1, "limits: is empty; give it a value or leave it out"},
    {"\nlimits:\n\n\nstore: 'memory:'\n", 2, "limits: is empty"},
    {LIMIT "  -\n", 4, "limits[1]: is empty"},
    {LIMIT "  - ~\n", 4, "limits[1]: is empty"},
    {FIELD("within:"), 4, "limits[0].within: is empty; give it a value or leave it out"},
    {FIELD("within: \"\""), 4, "limits[0].within: is empty"},
    {FIELD("within: null"), 4, "limits[0].within: is empty"},
    {LIMIT "namespace: ~\n", 4, "namespace: is empty"},
    {RULE("burst:\n"), 5, "limits[0].rules[0].burst: is empty"},
    /* the wrong kind */
    {"just a text\n", 1,
     "is one text; write a mapping with the fields store, namespace, revision, policy and limits"},
    {"- name: a\n", 1,
     "is a list; write a mapping with the fields store, namespace, revision, policy and limits"},
    {"limits:5\n", 1, "\"limits:5\" is one text; write a blank after the colon"},
    {"limits: 5\n", 1, "limits: is one text; write a list, with \"- \" before each entry"},
    {"limits:\n  name: a\n", 2,
     "limits: is a mapping; write a list, with \"- \" before each entry"},
    {"limits:\n  - a\n", 2,
     "limits[0]: is one text; write a mapping with the fields " LIMIT_FIELDS},
    {"limits:\n  - name:a\n", 2,
     "limits[0]: \"name:a\" is one text; write a blank after the colon"},
    {"limits:\n  - - name: a\n", 2,
     "limits[0]: is a list; write a mapping with the fields " LIMIT_FIELDS},
    {"limits:\n  - name: a\n    rules: 5/s\n", 3, "limits[0].rules: is one text; write a list"},
    {"limits:\n  - name: a\n    rules:\n      rate: 5/s\n", 4,
     "limits[0].rules: is a mapping; write a list"},
    {"limits:\n  - name: a\n    rules: [5/s]\n", 3,
     "limits[0].rules[0]: is one text; write a mapping with the fields " RULE_FIELDS},
    {"limits:\n  - name: a\n    rules:\n      - rate: [5/s]\n", 4,
     "limits[0].rules[0].rate: is a list; write one value"},
    {"limits:\n  - name: a\n    rules:\n      - rate: {tokens: 5}\n", 4,
     "limits[0].rules[0].rate: is a mapping; write one value"},
    {"store:\n  url: redis\n" LIMIT, 2, "store: is a mapping; write one value"},
    {"? [a]\n: b\n", 1, "has a list where a field's name should be"},
    {"{{a: b}: c}\n", 1, "has a mapping where a field's name should be"},
    {FIELD("[x]: y"), 4, "limits[0]: has a list where a field's name should be"},
    {FIELD("within: |\n      a\n"), 4,
     "limits[0].within: has a line break or another control character"},
    {FIELD("within: \"a\\0b\""), 4,
     "limits[0].within: has a line break or another control character"},
    {FIELD("within: \"a\\x7fb\""), 4,
     "limits[0].within: has a line break or another control character"},
    /* unknown fields */
    {"limit:\n  - name: a\n", 1, "limit: unknown field; did you mean \"limits\"?"},
    {LIMIT "namspace: x\n", 4, "namspace: unknown field; did you mean \"namespace\"?"},
    {LIMIT "version: 1\n", 4,
     "version: unknown field; known here are store, namespace, revision, policy and limits"},
    {LIMIT "colour: red\n", 4,
     "colour: unknown field; known here are store, namespace, revision, policy and limits"},
    {LIMIT "revisoin: 7\n", 4, "revisoin: unknown field; did you mean \"revision\"?"},
    {FIELD("revision: 7"), 4, "limits[0].revision: unknown field here; did you mean revision?"},
    {FIELD("key: acct"), 4,
     "limits[0].key: unknown field here; leave it out: work names its key, like takt run "
     "LIMIT:KEY"},
    {LIMIT "rate: 5/s\n", 4, "rate: unknown field here; did you mean limits[].rules[].rate?"},
    {FIELD("Within: b"), 4, "limits[0].Within: unknown field; did you mean \"within\"?"},
    {FIELD("max-waiting: 5"), 4,
     "limits[0].max-waiting: unknown field; did you mean \"max_waiting\"?"},
    {FIELD("burst: 5"), 4,
     "limits[0].burst: unknown field here; did you mean limits[].rules[].burst?"},
    {FIELD("concurency: 50"), 4,
     "limits[0].concurency: unknown field; did you mean \"concurrency\"?"},
    {FIELD("leese: 30s"), 4, "limits[0].leese: unknown field; did you mean \"lease\"?"},
    {FIELD("prio: 3"), 4, "limits[0].prio: unknown field; known here are " LIMIT_FIELDS},
    {LIMIT "concurrency: 5\n", 4,
     "concurrency: unknown field here; did you mean limits[].concurrency?"},
    {RULE("concurrency: 5"), 5,
     "limits[0].rules[0].concurrency: unknown field here; did you mean limits[].concurrency?"},
    {RULE("lease: 5s"), 5,
     "limits[0].rules[0].lease: unknown field here; did you mean limits[].lease?"},
    {FIELD("on_store_failur: open"), 4,
     "limits[0].on_store_failur: unknown field; did you mean \"on_store_failure\"?"},
    {FIELD("\"\": x"), 4, "limits[0].\"\": unknown field; known here are"},
    {FIELD("\"a b\": x"), 4, "limits[0].\"a b\": unknown field; known here are"},
    {FIELD("\"name\\0\": x"), 4, "limits[0].\"name\": unknown field"},
    {FIELD("\"\\e[2J\": x"), 4, "limits[0].\"\\x1b[2J\": unknown field"},
    {RULE("burts: 5"), 5, "limits[0].rules[0].burts: unknown field; did you mean \"burst\"?"},
    {RULE("algoritm: gcra"), 5,
     "limits[0].rules[0].algoritm: unknown field; did you mean \"algorithm\"?"},
    {RULE("period: day"), 5,
     "limits[0].rules[0].period: unknown field; known here are " RULE_FIELDS},
    {FIELD("algorithm: gcra"), 4,
     "limits[0].algorithm: unknown field here; did you mean limits[].rules[].algorithm?"},
    {FIELD("timezone: UTC"), 4,
     "limits[0].timezone: unknown field here; did you mean limits[].rules[].timezone?"},
    {FIELD("queue: 5"), 4,
     "limits[0].queue: unknown field here; did you mean limits[].rules[].queue?"},
    {RULE("name: b"), 5,
     "limits[0].rules[0].name: unknown field here; did you mean limits[].name?"},
    {FIELD("x: [[[[[[[[[[[[[[[[[[[[[["), 4, "limits[0].x: unknown field"},
    /* repeated fields */
    {LIMIT "limits: []\n", 4, "limits: is repeated; line 1 has it already, write it once"},
    {"store: 'memory:'\n" LIMIT "store: 'file:'\n", 5, "store: is repeated; line 1 has it already"},
    {FIELD("name: b"), 4, "limits[0].name: is repeated; line 2 has it already"},
    {FIELD("\"name\": b"), 4, "limits[0].name: is repeated; line 2 has it already"},
    {RULE("rate: 6/s"), 5, "limits[0].rules[0].rate: is repeated; line 4 has it already"},
    /* what makes one part depend on another, and what could explode */
    {FIELD("within: &x b"), 4, "limits[0].within: anchors (&x) are not taken; leave it out"},
    {FIELD("within: *x"), 4,
     "limits[0].within: aliases (*x) are not taken; write the value again, or put a text that "
     "begins with * in "
     "quotes"},
    {"limits: &all\n  - name: a\n", 1, "limits: anchors (&all) are not taken"},
    {"&root\nlimits: []\n", 1, "anchors (&root) are not taken"},
    {FIELD("*x : y"), 4, "limits[0]: aliases (*x) are not taken"},
    {FIELD("&x within: y"), 4, "limits[0]: anchors (&x) are not taken"},
    {FIELD("<<: *x"), 4, "limits[0]: merge keys (<<) are not taken; write the fields out"},
    {FIELD("<<: {within: b}"), 4, "limits[0]: merge keys (<<) are not taken"},
    {FIELD("within: !!str b"), 4,
     "limits[0].within: tags (\"tag:yaml.org,2002:str\") are not taken"},
    {FIELD("within: !own b"), 4, "limits[0].within: tags (\"!own\") are not taken"},
    {FIELD("within: ! b"), 4, "limits[0].within: tags (\"!\") are not taken"},
    {"--- !!map\nlimits: []\n", 1, "tags (\"tag:yaml.org,2002:map\") are not taken"},
    {"# first\n\n%YAML 1.1\n  # second\n%TAG ! tag:own,2000:\n---\n" LIMIT, 5,
     "%TAG directives are not taken; leave the line out"},
    {"%TAG !a! a\n%TAG !b! b\n", 1, "%TAG directives are not taken"},
    {"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c "
     "[*b,*b,*b,*b,*b,*b,*b,*b,*b]\n",
     1, "a: unknown field"},
    {"limits: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n", 1,
     "limits: anchors (&a)"},
    {"limits: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n", 1, "limits[0]: is a list; write a mapping"},
    {"{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{\n", 1,
     "has a mapping where a field's name should be"},
    /* more than one document */
    {LIMIT "---\n" LIMIT, 4, "a second document begins here; write one document a file"},
    {LIMIT "...\n---\n", 5, "a second document begins here"},
};

Test(outline, refuses_shapes_at_their_line)
{
    check_broken(broken_shapes, sizeof broken_shapes / sizeof broken_shapes[0]);
}

Test(outline, bounds_the_length_of_a_value)
{
    char text[8192] = LIMIT "namespace: ";
    takt_policy *policy = NULL;
    takt_error error = {0};
    size_t used = strlen(text);
    memset(text + used, 'x', 4097);
    cr_assert_eq(takt_policy_parse(&policy, "takt.yaml", text, strlen(text), &error),
                 TAKT_E_POLICY);
    cr_assert_str_eq(error.text, "takt.yaml:4: namespace: has 4097 bytes; write at most 4096");
}

Test(outline, knows_where_every_value_stands)
{
    static const char text[] = "namespace:  prod\n"              /* 1 */
                               "limits:\n"                       /* 2 */
                               "  # \xe2\x82\xac\n"              /* 3 */
                               "  - name: a\n"                   /* 4 */
                               "    rules:\n"                    /* 5 */
                               "      - rate:\n"                 /* 6 */
                               "          5/s\n"                 /* 7 */
                               "        burst: \"2\"\n"          /* 8 */
                               "      - {burst: 3, rate: 9/s}\n" /* 9 */
                               "  -\n"                           /* 10 */
                               "    rules: [{rate: 1/s}]\n"      /* 11 */
                               "    name: b\n";                  /* 12 */
    static const struct {
        const char *path;
        size_t line, column;
    } rows[] = {
        {"", 1, 1},
        {"namespace", 1, 13},
        {"limits", 4, 3},
        {"limits[0]", 4, 5},
        {"limits[0].name", 4, 11},
        {"limits[0].rules", 6, 7},
        {"limits[0].rules[0]", 6, 9},
        {"limits[0].rules[0].rate", 7, 11},
        {"limits[0].rules[0].burst", 8, 16},
        {"limits[0].rules[1]", 9, 9},
        {"limits[0].rules[1].burst", 9, 17},
        {"limits[0].rules[1].rate", 9, 26},
        {"limits[1]", 11, 5},
        {"limits[1].rules[0].rate", 11, 20},
        {"limits[1].name", 12, 11},
        /* a missing entry is expected in its place */
        {"store", 1, 1},
        {"limits[1].within", 11, 5},
        {"limits[1].rules[0].burst", 11, 13},
        {"limits[1].rules[1].rate", 11, 12},
        {"limits[2]", 4, 3},
        {"limits[10].name", 4, 3},
        {"nowhere[3].at.all", 1, 1},
    };
    takt_outline *outline = NULL;
    takt_source source;
    takt_error error = {0};
    takt_source_init(&source, "takt.yaml", text, strlen(text));
    cr_assert_eq(takt_outline_read(&outline, &source, &takt_document_schema, &error), 0, "%s",
                 error.text);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_mark mark = takt_outline_find(outline, rows[i].path, strlen(rows[i].path));
        cr_expect_eq(mark.line, rows[i].line, "%s: line %zu", rows[i].path, mark.line);
        cr_expect_eq(mark.column, rows[i].column, "%s: column %zu", rows[i].path, mark.column);
    }
    takt_outline_free(outline);
    takt_outline_free(NULL);
}
