/*
 * syntax.c: explains the errors of libyaml. It adds the location and the usual cause, because
 * libyaml only names what its parser expected. source.c and outline.c report all other errors.
 */
#include "policy/syntax.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

static const struct {
    const char *problem; /* libyaml's text, or its beginning */
    const char *advice;
} advices[] = {
    {"mapping values are not allowed",
     "indent the fields of one mapping alike, and put a text with a colon in quotes"},
    {"did not find expected key", "indent the fields of one mapping alike"},
    {"did not find expected '-' indicator",
     "indent the fields of an entry alike, and begin each entry of a list with \"- \""},
    {"block sequence entries are not allowed", "begin a list on a line of its own"},
    {"could not find expected ':'", "write NAME: VALUE, with a blank after the colon"},
    {"found unexpected end of stream", "close the quotes"},
    {"did not find expected ',' or", "close the brackets"},
    {"found character that cannot start any token", "put the text in quotes"},
    {"did not find expected alphabetic or numeric character",
     "put a text that begins with * or & in quotes, like \"*\""},
    {"found unknown escape character", "write \\\\ for a backslash, or use single quotes"},
    {"found unexpected document indicator", "close the quotes"},
};

static const char *advice_for(const char *problem)
{
    for (size_t i = 0; i < sizeof advices / sizeof advices[0]; i++)
        if (strncmp(problem, advices[i].problem, strlen(advices[i].problem)) == 0)
            return advices[i].advice;
    return "correct it, or put the text in quotes";
}

/* The first byte of the index-th character; '\0' at the end. */
static char character_at(const takt_source *source, size_t index)
{
    for (size_t at = 0; at < source->size; at++)
        if (((unsigned char)source->text[at] & 0xc0) != 0x80 && index-- == 0)
            return source->text[at];
    return '\0';
}

/* The line as editors show it. libyaml also counts a line after the last line feed. */
static size_t shown_line(const takt_source *source, size_t line)
{
    size_t lines = 1;
    for (size_t at = 0; at + 1 < source->size; at++)
        lines += source->text[at] == '\n';
    return line < lines ? line : lines;
}

static bool is_tab(const yaml_parser_t *parser, const takt_source *source)
{
    if (strcmp(parser->problem, "found a tab character that violates indentation") == 0)
        return true;
    return strcmp(parser->problem, "found character that cannot start any token") == 0 &&
           character_at(source, parser->problem_mark.index) == '\t';
}

/* Whether the error is at the start of libyaml's context, not at the position where libyaml
 * stopped: a name without its colon, or a text without its closing quote. */
static bool is_at_context(const yaml_parser_t *parser)
{
    return parser->context != NULL &&
           (strcmp(parser->context, "while scanning a simple key") == 0 ||
            strcmp(parser->context, "while scanning a quoted scalar") == 0) &&
           parser->problem_mark.line != parser->context_mark.line;
}

/* Writes "FILE:LINE: not YAML at column N". A column after the end of the line is named as its end.
 */
static void write_location(const takt_source *source, yaml_mark_t mark, char *text, size_t size)
{
    size_t line = shown_line(source, mark.line + 1);
    if (line == mark.line + 1)
        snprintf(text, size, "%s:%zu: not YAML at column %zu", source->name, line, mark.column + 1);
    else
        snprintf(text, size, "%s:%zu: not YAML at the end", source->name, line);
}

int takt_syntax_fail(const yaml_parser_t *parser, const takt_source *source, takt_error *error)
{
    char location[TAKT_SOURCE_NAME_MAX + 80], context[160] = "";
    yaml_mark_t mark = parser->problem_mark;
    if (parser->error == YAML_MEMORY_ERROR || parser->problem == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    if (parser->error == YAML_READER_ERROR)
        return takt_fail(error, TAKT_E_POLICY, "%s:1: not readable as text: %s", source->name,
                         parser->problem);
    if (is_tab(parser, source))
        return takt_fail(error, TAKT_E_POLICY,
                         "%s:%zu: has a tab before a value; indent with blanks", source->name,
                         shown_line(source, mark.line + 1));
    if (is_at_context(parser))
        mark = parser->context_mark;
    else if (parser->context != NULL && parser->context_mark.line != mark.line)
        snprintf(context, sizeof context, " %s from line %zu on", parser->context,
                 shown_line(source, parser->context_mark.line + 1));
    else if (parser->context != NULL)
        snprintf(context, sizeof context, " %s", parser->context);
    write_location(source, mark, location, sizeof location);
    return takt_fail(error, TAKT_E_POLICY, "%s: %s%s; %s", location, parser->problem, context,
                     advice_for(parser->problem));
}
