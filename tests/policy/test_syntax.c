/*
 * Files that are not YAML: the line of the mistake, libyaml's words, and what to do about it.
 */
#include "policy/broken.h"

static const broken broken_syntax[] = {
    {"limits:\n\t- name: a\n", 2, "has a tab before a value; indent with blanks"},
    {"limits:\n  - name: a\n\t  rules: []\n", 3, "has a tab before a value; indent with blanks"},
    {"limits:\n  - name: a\n     rules: []\n", 3,
     "not YAML at column 11: mapping values are not allowed in this context; indent the fields"},
    {"limits:\n  - name: a\n   rules: []\n", 3,
     "not YAML at column 4: did not find expected '-' indicator while parsing a block collection "
     "from line 2 on; indent the fields of an entry alike, and begin each entry of a list with"},
    {"limits:\n  - name: a: b\n", 2,
     "not YAML at column 12: mapping values are not allowed in this context"},
    {"store: x\n limits: []\n", 2, "not YAML at column 8: mapping values are not allowed"},
    {"  store: x\nlimits: []\n", 2, "not YAML at column 1: did not find expected <document start>"},
    {LIMIT "    within:b\n    max_waiting: 5\n", 4,
     "not YAML at column 5: could not find expected ':'; write NAME: VALUE, with a blank after the "
     "colon"},
    {LIMIT "namespace: \"prod\n", 4,
     "not YAML at column 12: found unexpected end of stream; close the quotes"},
    {"namespace: 'prod\n" LIMIT, 1,
     "not YAML at column 12: found unexpected end of stream; close the quotes"},
    {"limits: [{name: a, rules: [{rate: 5/s}]\n", 1,
     "not YAML at the end: did not find expected ',' or '}' while parsing a flow mapping from line "
     "1 on; close the brackets"},
    {"limits:\n  - name: a\n    rules: [{rate: 5/s]\n", 3,
     "not YAML at column 23: did not find expected ',' or '}' while parsing a flow mapping; close "
     "the brackets"},
    {"limits:\n  - name: a\n    rules: [{rate: 5/s}\n    within: b\n", 4,
     "not YAML at column 5: did not find expected ',' or ']' while parsing a flow sequence from "
     "line 3 on; close"},
    {"limits:\n  - name: a\n    rules: {rate: 5/s}]\n", 3,
     "limits[0].rules: is a mapping; write a list"},
    {LIMIT "]\n", 4,
     "not YAML at column 1: did not find expected key while parsing a block mapping from line 1 "
     "on"},
    {LIMIT "    within: @b\n", 4,
     "not YAML at column 13: found character that cannot start any token while scanning for the "
     "next token; put "
     "the text in quotes"},
    {LIMIT "    within: `b`\n", 4,
     "not YAML at column 13: found character that cannot start any token"},
    {LIMIT "    within: %b\n", 4,
     "not YAML at column 13: found character that cannot start any token"},
    {LIMIT "    within: \"a\\qb\"\n", 4, "not YAML at column 15: found unknown escape character"},
    {LIMIT "    within: \"\\ud800\"\n", 4,
     "not YAML at column 16: found invalid Unicode character escape code"},
    {LIMIT "    within: *\n", 4,
     "not YAML at column 14: did not find expected alphabetic or numeric character while scanning "
     "an alias; put a text that begins with * or & in quotes"},
    {LIMIT "    within: &\n", 4,
     "not YAML at column 14: did not find expected alphabetic or numeric character while scanning "
     "an anchor; put a text that begins with * or & in quotes"},
    {LIMIT "    within: - b\n", 4,
     "not YAML at column 13: block sequence entries are not allowed in this context"},
    {LIMIT "    within: !<x\n", 4, "not YAML at column 16: did not find the expected '>'"},
    {"%YAML 3.0\n---\n" LIMIT, 1, "not YAML at column 1: found incompatible YAML document"},
    {"%NONSENSE\n---\n" LIMIT, 1, "not YAML at column 10: found unknown directive name"},
    {"%YAML 1.1\n" LIMIT, 2, "not YAML at column 1: did not find expected <document start>"},
    {LIMIT "...\nrest\n", 5, "not YAML at column 1: did not find expected <document start>"},
};

Test(syntax, tells_the_line_and_what_to_do)
{
    check_broken(broken_syntax, sizeof broken_syntax / sizeof broken_syntax[0]);
}
