/*
 * document.h: a policy file as libcyaml reads it. Every value is a text; limit_text.h reads the
 * texts.
 */
#ifndef TAKT_POLICY_DOCUMENT_H
#define TAKT_POLICY_DOCUMENT_H

#include <cyaml/cyaml.h>

#include <takt/policy.h>

#include "policy/source.h"

typedef struct takt_document {
    const char *store;
    const char *name_space;
    const char *revision;
    const char *policy;
    const takt_limit_text *limits;
    unsigned limit_count;
} takt_document;

/* The fields of a policy file and their nesting. */
extern const cyaml_schema_value_t takt_document_schema;

/* Reads a source that takt_outline_read has accepted. The caller frees the document with
 * takt_document_free. */
int takt_document_load(takt_document **document, const takt_source *source, takt_error *error);
void takt_document_free(takt_document *document); /* NULL is harmless */

#endif
