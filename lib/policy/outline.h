/*
 * outline.h: where everything in a policy file stands, and whether only what may stand there does.
 */
#ifndef TAKT_POLICY_OUTLINE_H
#define TAKT_POLICY_OUTLINE_H

#include <cyaml/cyaml.h>

#include "policy/source.h"

typedef struct takt_outline takt_outline;

typedef struct takt_mark {
    size_t line;   /* from 1 */
    size_t column; /* from 1, in characters */
} takt_mark;

/*
 * Goes through a checked source and refuses what is not YAML, not the schema's shape (mappings,
 * sequences and strings), or not taken here: repeated fields, anchors, aliases, tags, merge keys,
 * further documents, empty values.  TAKT_E_POLICY with file, line and path, or TAKT_E_NOMEM.
 */
int takt_outline_read(takt_outline **outline, const takt_source *source,
                      const cyaml_schema_value_t *schema, takt_error *error);

void takt_outline_free(takt_outline *outline); /* NULL is harmless */

/* Where the value of a path of `size` bytes ("limits[1].rules[0].rate") stands; of a path that is
 * not in the file, what it would lie in. */
takt_mark takt_outline_find(const takt_outline *outline, const char *path, size_t size);

#endif
