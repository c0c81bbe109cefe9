/*
 * schema.c: describes libcyaml's schema for messages: the fields of a mapping, and the most likely
 * correction of an unknown field. document.c defines the schema.
 */
#include "policy/schema.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/quote.h"
#include "base/suggest.h"

void takt_schema_list(const cyaml_schema_value_t *mapping, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (const cyaml_schema_field_t *field = mapping->mapping.fields; field->key != NULL; field++) {
        const char *between = used == 0 ? "" : field[1].key != NULL ? ", " : " and ";
        snprintf(text + used, size - used, "%s%s", between, field->key);
        used = strlen(text);
    }
}

/* Finds a mapping in `schema` that has the field, and writes the path of the field
 * ("limits[].rules[].rate"). */
static bool find_elsewhere(const cyaml_schema_value_t *schema, const char *key, char *path,
                           size_t size)
{
    size_t used = strlen(path);
    if (schema->type == CYAML_SEQUENCE) {
        snprintf(path + used, size - used, "[]");
        schema = schema->sequence.entry;
    }
    if (schema->type != CYAML_MAPPING)
        return false;
    used = strlen(path);
    for (const cyaml_schema_field_t *field = schema->mapping.fields; field->key != NULL; field++) {
        snprintf(path + used, size - used, "%s%s", used > 0 ? "." : "", field->key);
        if (strcmp(field->key, key) == 0 || find_elsewhere(&field->value, key, path, size))
            return true;
    }
    return false;
}

void takt_schema_advise(const cyaml_schema_value_t *root, const cyaml_schema_value_t *mapping,
                        const char *key, char *text, size_t size)
{
    char known[256] = "";
    takt_suggestion suggestion;
    if (strcmp(key, "key") == 0) {
        snprintf(text, size,
                 "unknown field here; leave it out: work names its key, like takt run LIMIT:KEY. "
                 "limits[].overrides[].key gives a key other numbers");
        return;
    }
    if (find_elsewhere(root, key, known, sizeof known)) {
        snprintf(text, size, "unknown field here; did you mean %s?", known);
        return;
    }
    takt_suggest_begin(&suggestion, key);
    for (const cyaml_schema_field_t *field = mapping->mapping.fields; field->key != NULL; field++)
        takt_suggest_offer(&suggestion, field->key);
    takt_schema_list(mapping, known, sizeof known);
    if (suggestion.best != NULL)
        snprintf(text, size, "unknown field; did you mean \"%s\"?", suggestion.best);
    else
        snprintf(text, size, "unknown field; known here are %s", known);
}

void takt_schema_path(const char *parent, const char *key, size_t key_size, char *path, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    char quoted[TAKT_QUOTE_SIZE];
    bool is_plain = key_size > 0 && key_size <= 40 && strspn(key, plain) == key_size;
    snprintf(path, size, "%s%s%s", parent, parent[0] != '\0' ? "." : "",
             is_plain ? key : takt_quote(key, quoted));
}
