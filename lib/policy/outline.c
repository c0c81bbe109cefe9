/*
 * outline.c: compares libyaml's events with the schema and notes the line of each value. It decides
 * which YAML a policy file may have; limit_text.c decides what the texts mean. The first error ends
 * the walk, so neither nesting nor aliases make a small file expensive.
 */
#include "policy/outline.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/fail.h"
#include "base/quote.h"
#include "policy/outline_nodes.h"
#include "policy/pairs.h"
#include "policy/schema.h"
#include "policy/syntax.h"

#define VALUE_SIZE_MAX 4096
#define FIELDS_MAX     24

typedef struct walker {
    yaml_parser_t parser;
    const takt_source *source;
    const cyaml_schema_value_t *schema; /* schema of the document */
    takt_outline *outline;
    takt_error *error;
} walker;

static int walk_value(walker *walk, uint32_t node, const cyaml_schema_value_t *schema);

/* Writes the error "FILE:LINE: PATH: REASON". */
__attribute__((format(printf, 4, 5))) static int refuse(walker *walk, size_t line, const char *path,
                                                        const char *format, ...)
{
    va_list arguments;
    char reason[TAKT_ERROR_TEXT_SIZE];
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return takt_fail(walk->error, TAKT_E_POLICY, "%s:%zu: %s%s%s", walk->source->name, line, path,
                     path[0] != '\0' ? ": " : "", reason);
}

static int next_event(walker *walk, yaml_event_t *event)
{
    if (yaml_parser_parse(&walk->parser, event))
        return 0;
    memset(event, 0, sizeof *event);
    return takt_syntax_fail(&walk->parser, walk->source, walk->error);
}

/* Refuses anchors, aliases and tags. They make parts of a file depend on others and can make a
 * small file expensive. */
static int check_properties(walker *walk, const yaml_event_t *event, const char *path)
{
    const char *anchor = NULL, *tag = NULL;
    char quoted[TAKT_QUOTE_SIZE];
    size_t line = event->start_mark.line + 1;
    if (event->type == YAML_ALIAS_EVENT)
        return refuse(
            walk, line, path,
            "aliases (*%s) are not taken; write the value again, or put a text that begins "
            "with * in quotes",
            (const char *)event->data.alias.anchor);
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = (const char *)event->data.scalar.anchor;
        tag = (const char *)event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = (const char *)event->data.sequence_start.anchor;
        tag = (const char *)event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = (const char *)event->data.mapping_start.anchor;
        tag = (const char *)event->data.mapping_start.tag;
    }
    if (anchor != NULL)
        return refuse(walk, line, path, "anchors (&%s) are not taken; leave it out", anchor);
    if (tag != NULL)
        return refuse(walk, line, path, "tags (%s) are not taken; leave it out",
                      takt_quote(tag, quoted));
    return 0;
}

/* Whether a value is empty or one of YAML's words for null. */
static bool is_null(const yaml_event_t *event)
{
    const char *value = (const char *)event->data.scalar.value;
    if (event->type != YAML_SCALAR_EVENT)
        return false;
    if (event->data.scalar.length == 0)
        return true;
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (strcmp(value, "~") == 0 || strcmp(value, "null") == 0 || strcmp(value, "Null") == 0 ||
            strcmp(value, "NULL") == 0);
}

static const char *kind_of(const yaml_event_t *event)
{
    return event->type == YAML_MAPPING_START_EVENT    ? "a mapping"
           : event->type == YAML_SEQUENCE_START_EVENT ? "a list"
                                                      : "one text";
}

static bool is_in_brackets(const yaml_event_t *event)
{
    return (event->type == YAML_MAPPING_START_EVENT &&
            event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE) ||
           (event->type == YAML_SEQUENCE_START_EVENT &&
            event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE);
}

/* Refuses a value of a kind that the schema does not allow here, and says what to write. */
static int refuse_kind(walker *walk, const yaml_event_t *event, const cyaml_schema_value_t *schema,
                       size_t line, const char *path)
{
    char fields[256], quoted[TAKT_QUOTE_SIZE];
    bool is_text = event->type == YAML_SCALAR_EVENT;
    if (schema->type == CYAML_STRING)
        return refuse(walk, line, path, "is %s; write one value%s", kind_of(event),
                      is_in_brackets(event) ? ", in quotes if it begins with a bracket or brace"
                                            : "");
    if (schema->type == CYAML_IGNORE)
        return refuse(walk, line, path,
                      "is %s; write one value, or a mapping such as {NAME: VALUE}", kind_of(event));
    if (schema->type == CYAML_SEQUENCE)
        return refuse(walk, line, path, "is %s; write a list, with \"- \" before each entry",
                      kind_of(event));
    takt_schema_list(schema, fields, sizeof fields);
    const char *value = is_text ? (const char *)event->data.scalar.value : "";
    const char *colon = strchr(value, ':');
    if (colon != NULL && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return refuse(walk, line, path, "%s is one text; write a blank after the colon",
                      takt_quote(value, quoted));
    return refuse(walk, line, path, "is %s; write a mapping with the fields %s", kind_of(event),
                  fields);
}

static int check_text(walker *walk, const yaml_event_t *event, size_t line, const char *path)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (length > VALUE_SIZE_MAX)
        return refuse(walk, line, path, "has %zu bytes; write at most %d", length, VALUE_SIZE_MAX);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)value[i] < 0x20 || value[i] == 0x7f)
            return refuse(walk, line, path,
                          "has a line break or another control character in it; write one line of "
                          "plain text");
    return 0;
}

/* Checks that a field is known, not repeated and a plain text. *field receives the schema's field.
 */
static int check_key(walker *walk, const yaml_event_t *event, const cyaml_schema_value_t *schema,
                     const char *parent, const size_t *seen_at, size_t *field)
{
    char path[256], known[TAKT_ERROR_TEXT_SIZE];
    size_t line = event->start_mark.line + 1;
    int code = check_properties(walk, event, parent);
    if (code != 0)
        return code;
    if (event->type != YAML_SCALAR_EVENT)
        return refuse(walk, line, parent,
                      "has %s where a field's name should be; write NAME: VALUE", kind_of(event));
    const char *key = (const char *)event->data.scalar.value;
    takt_schema_path(parent, key, event->data.scalar.length, path, sizeof path);
    if (strcmp(key, "<<") == 0)
        return refuse(walk, line, parent, "merge keys (<<) are not taken; write the fields out");
    const cyaml_schema_field_t *fields = schema->mapping.fields;
    for (*field = 0; fields[*field].key != NULL; ++*field)
        if (strcmp(fields[*field].key, key) == 0 && strlen(key) == event->data.scalar.length)
            break;
    if (fields[*field].key == NULL) {
        takt_schema_advise(walk->schema, schema, key, known, sizeof known);
        return refuse(walk, line, path, "%s", known);
    }
    if (seen_at[*field] != 0)
        return refuse(walk, line, path, "is repeated; line %zu has it already, write it once",
                      seen_at[*field]);
    return 0;
}

static int walk_mapping(walker *walk, uint32_t node, const cyaml_schema_value_t *schema)
{
    char parent[128];
    size_t seen_at[FIELDS_MAX] = {0};
    takt_outline_path(walk->outline, node, parent, sizeof parent);
    for (;;) {
        yaml_event_t event;
        size_t field = 0;
        int code = next_event(walk, &event);
        if (code != 0)
            return code;
        bool ends = event.type == YAML_MAPPING_END_EVENT;
        size_t line = event.start_mark.line + 1, column = event.start_mark.column + 1;
        if (!ends)
            code = check_key(walk, &event, schema, parent, seen_at, &field);
        yaml_event_delete(&event);
        if (ends || code != 0)
            return code;
        seen_at[field] = line;
        uint32_t child = takt_outline_add(walk->outline, node, schema->mapping.fields[field].key, 0,
                                          (uint32_t)line, (uint32_t)column);
        if (child == 0)
            return takt_fail(walk->error, TAKT_E_NOMEM, "no memory");
        code = walk_value(walk, child, &schema->mapping.fields[field].value);
        if (code != 0)
            return code;
    }
}

/* Reads a name or a value of a mapping of texts, and appends it. The end of the mapping: *ends. */
static int read_pair_part(walker *walk, const char *path, char text[TAKT_PAIRS_TEXT_SIZE],
                          bool is_value, bool *ends)
{
    yaml_event_t event;
    int code = next_event(walk, &event);
    if (code != 0)
        return code;
    size_t line = event.start_mark.line + 1, used = strlen(text);
    *ends = !is_value && event.type == YAML_MAPPING_END_EVENT;
    if (!*ends)
        code = check_properties(walk, &event, path);
    if (code == 0 && !*ends && event.type != YAML_SCALAR_EVENT)
        code = refuse(walk, line, path, "has %s inside; write NAME: VALUE", kind_of(&event));
    else if (code == 0 && !*ends)
        code = check_text(walk, &event, line, path);
    if (code == 0 && !*ends) {
        const char *part = (const char *)event.data.scalar.value;
        if (part[0] == '\0' || strpbrk(part, ",{}") != NULL) {
            code = refuse(walk, line, path,
                          "has an empty name or value, or one with a comma or a brace; write "
                          "NAME: VALUE without them");
        } else if (is_value) {
            snprintf(text + used, TAKT_PAIRS_TEXT_SIZE - used, ": %s", part);
        } else {
            strcpy(text + used, used == 1 ? "" : ", ");
            takt_pairs_quote(part, text, TAKT_PAIRS_TEXT_SIZE);
        }
        if (code == 0 && strlen(text) > TAKT_PAIRS_TEXT_SIZE - 3)
            code = refuse(walk, line, path, "is too long; write less");
    }
    yaml_event_delete(&event);
    return code;
}

/* Keeps a text, or a mapping of texts on one line, for a field that the schema skips. */
static int keep_text(walker *walk, uint32_t node, const yaml_event_t *event, size_t line,
                     const char *path)
{
    char text[TAKT_PAIRS_TEXT_SIZE] = "{", *kept;
    bool ends = event->type == YAML_SCALAR_EVENT;
    const char *source = ends ? (const char *)event->data.scalar.value : text;
    int code = ends ? check_text(walk, event, line, path) : 0;
    while (code == 0 && !ends) {
        code = read_pair_part(walk, path, text, false, &ends);
        if (code == 0 && !ends)
            code = read_pair_part(walk, path, text, true, &ends);
        else if (code == 0)
            strcat(text, "}");
    }
    if (code != 0)
        return code;
    kept = strdup(source);
    if (kept == NULL || !takt_outline_keep(walk->outline, node, kept))
        return takt_fail(walk->error, TAKT_E_NOMEM, "no memory");
    return 0;
}

static int walk_event(walker *walk, uint32_t node, const cyaml_schema_value_t *schema,
                      const yaml_event_t *event);

static int walk_sequence(walker *walk, uint32_t node, const cyaml_schema_value_t *schema)
{
    for (uint32_t index = 0;; index++) {
        yaml_event_t event;
        int code = next_event(walk, &event);
        if (code != 0)
            return code;
        bool ends = event.type == YAML_SEQUENCE_END_EVENT;
        if (!ends) {
            uint32_t child = takt_outline_add(walk->outline, node, NULL, index,
                                              (uint32_t)event.start_mark.line + 1,
                                              (uint32_t)event.start_mark.column + 1);
            code = child != 0 ? walk_event(walk, child, schema->sequence.entry, &event)
                              : takt_fail(walk->error, TAKT_E_NOMEM, "no memory");
        }
        yaml_event_delete(&event);
        if (ends || code != 0)
            return code;
    }
}

/* Walks a value, given its first event. The recursion is as deep as the schema: a few levels. */
static int walk_event(walker *walk, uint32_t node, const cyaml_schema_value_t *schema,
                      const yaml_event_t *event)
{
    char path[128];
    takt_node *at = &walk->outline->nodes[node];
    takt_outline_path(walk->outline, node, path, sizeof path);
    int code = check_properties(walk, event, path);
    if (code != 0)
        return code;
    if (is_null(event)) /* reported at the field: an empty value has no place */
        return refuse(walk, at->line, path,
                      node == 0 ? "the policy is empty; write at least limits: with one limit"
                                : "is empty; give it a value or leave it out");
    at->line = (uint32_t)event->start_mark.line + 1;
    at->column = (uint32_t)event->start_mark.column + 1;
    if (schema->type == CYAML_STRING && event->type == YAML_SCALAR_EVENT)
        return check_text(walk, event, at->line, path);
    if (schema->type == CYAML_IGNORE && event->type != YAML_SEQUENCE_START_EVENT)
        return keep_text(walk, node, event, at->line, path);
    if (schema->type == CYAML_SEQUENCE && event->type == YAML_SEQUENCE_START_EVENT)
        return walk_sequence(walk, node, schema);
    if (schema->type == CYAML_MAPPING && event->type == YAML_MAPPING_START_EVENT)
        return walk_mapping(walk, node, schema);
    return refuse_kind(walk, event, schema, at->line, path);
}

static int walk_value(walker *walk, uint32_t node, const cyaml_schema_value_t *schema)
{
    yaml_event_t event;
    int code = next_event(walk, &event);
    if (code != 0)
        return code;
    code = walk_event(walk, node, schema, &event);
    yaml_event_delete(&event);
    return code;
}

/* Skips an event that needs no check, and returns its type and line. */
static int pass(walker *walk, yaml_event_type_t *type, size_t *line)
{
    yaml_event_t event;
    int code = next_event(walk, &event);
    if (code != 0)
        return code;
    *type = event.type;
    *line = event.start_mark.line + 1;
    yaml_event_delete(&event);
    return 0;
}

/* Refuses directives of tags. They have no effect without tags, and many of them slow libyaml down.
 */
static int check_directives(walker *walk)
{
    const char *at = walk->source->text, *end = at + walk->source->size;
    for (size_t line = 1; at < end; line++) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        const char *next = feed != NULL ? feed + 1 : end;
        size_t blanks = 0;
        while (at + blanks < next && strchr(" \t\r\n", at[blanks]) != NULL)
            blanks++;
        if (next - at >= 4 && memcmp(at, "%TAG", 4) == 0)
            return refuse(walk, line, "", "%%TAG directives are not taken; leave the line out");
        if (at[0] != '%' && at + blanks < next && at[blanks] != '#')
            break;
        at = next;
    }
    return 0;
}

static int walk_document(walker *walk)
{
    yaml_event_type_t type = YAML_NO_EVENT;
    size_t line = 0;
    int code = check_directives(walk);
    if (code == 0)
        code = pass(walk, &type, &line); /* the stream begins */
    if (code == 0)
        code = pass(walk, &type, &line); /* a document begins, or the stream ends */
    if (code != 0)
        return code;
    if (type == YAML_STREAM_END_EVENT)
        return refuse(walk, 1, "", "the policy is empty; write at least limits: with one limit");
    code = walk_value(walk, 0, walk->schema);
    if (code == 0)
        code = pass(walk, &type, &line); /* the document ends */
    if (code == 0)
        code = pass(walk, &type, &line);
    if (code == 0 && type != YAML_STREAM_END_EVENT)
        return refuse(walk, line, "", "a second document begins here; write one document a file");
    return code;
}

int takt_outline_read(takt_outline **outline, const takt_source *source,
                      const cyaml_schema_value_t *schema, takt_error *error)
{
    walker walk = {.source = source, .schema = schema, .error = error};
    walk.outline = calloc(1, sizeof *walk.outline);
    if (walk.outline == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    takt_outline_add(walk.outline, 0, NULL, 0, 1, 1);
    if (walk.outline->count == 0 || !yaml_parser_initialize(&walk.parser)) {
        takt_outline_free(walk.outline);
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    }
    yaml_parser_set_encoding(&walk.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&walk.parser, (const unsigned char *)source->text, source->size);
    int code = walk_document(&walk);
    yaml_parser_delete(&walk.parser);
    if (code != 0) {
        takt_outline_free(walk.outline);
        return code;
    }
    *outline = walk.outline;
    return 0;
}
