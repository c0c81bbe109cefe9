/*
 * outline.h: the position of each value in a policy file, and the check that the file has only
 * permitted YAML. limit_text.h reads the values.
 */
#ifndef TAKT_POLICY_OUTLINE_H
#define TAKT_POLICY_OUTLINE_H

#include <stdint.h>

#include <cyaml/cyaml.h>

#include "policy/source.h"

typedef struct takt_outline takt_outline;

typedef struct takt_mark {
    size_t line;   /* from 1 */
    size_t column; /* from 1, in characters */
} takt_mark;

/*
 * Reads a checked source. Refuses a source that is not YAML or does not match the mappings,
 * sequences and strings of the schema. Also refuses repeated fields, anchors, aliases, tags, merge
 * keys, further documents and empty values. Returns 0, TAKT_E_POLICY with file, line and path, or
 * TAKT_E_NOMEM.
 */
int takt_outline_read(takt_outline **outline, const takt_source *source,
                      const cyaml_schema_value_t *schema, takt_error *error);

void takt_outline_free(takt_outline *outline); /* NULL is harmless */

/* The position of the value with a path of `size` bytes ("limits[1].rules[0].rate"). If the path is
 * not in the file, the position of its nearest parent. */
takt_mark takt_outline_find(const takt_outline *outline, const char *path, size_t size);

/*
 * The texts of the fields that the schema skips (CYAML_IGNORE), in the order of the file: fields of
 * list entries that are a text or a mapping of texts.  A mapping is written as pairs.h reads it.
 */
typedef struct takt_outline_text {
    uint32_t entry;  /* which entry of its list, from 0 */
    const char *key; /* the schema's string */
    char *text;
} takt_outline_text;

const takt_outline_text *takt_outline_texts(const takt_outline *outline, size_t *count);

#endif
