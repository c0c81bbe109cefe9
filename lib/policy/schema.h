/*
 * schema.h: what a person is told about the fields there are.
 */
#ifndef TAKT_POLICY_SCHEMA_H
#define TAKT_POLICY_SCHEMA_H

#include <cyaml/cyaml.h>

/* "name, rules and within": a mapping's fields, cut to size. */
void takt_schema_list(const cyaml_schema_value_t *mapping, char *text, size_t size);

/* What to do about a field that `mapping`, somewhere in `root`, does not have; cut to size. */
void takt_schema_advise(const cyaml_schema_value_t *root, const cyaml_schema_value_t *mapping,
                        const char *key, char *text, size_t size);

/* The path of a field as a message shows it, also of one whose name is not plain; cut to size. */
void takt_schema_path(const char *parent, const char *key, size_t key_size, char *path,
                      size_t size);

#endif
