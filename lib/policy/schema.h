/*
 * schema.h: texts about the fields of the schema, for messages. document.h has the schema.
 */
#ifndef TAKT_POLICY_SCHEMA_H
#define TAKT_POLICY_SCHEMA_H

#include <cyaml/cyaml.h>

/* Writes the fields of a mapping, "name, rules and within", cut to size. */
void takt_schema_list(const cyaml_schema_value_t *mapping, char *text, size_t size);

/* Writes advice about a field that `mapping`, a part of `root`, does not have; cut to size. */
void takt_schema_advise(const cyaml_schema_value_t *root, const cyaml_schema_value_t *mapping,
                        const char *key, char *text, size_t size);

/* Writes the path of a field for a message, cut to size. The name may have any characters. */
void takt_schema_path(const char *parent, const char *key, size_t key_size, char *path,
                      size_t size);

#endif
