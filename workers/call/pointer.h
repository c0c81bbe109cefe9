/*
 * pointer.h: JSON pointers (RFC 6901): "/usage/total_tokens" names a place in a document, "" the
 * whole document. In a name ~1 stands for a slash and ~0 for a tilde.
 */
#ifndef TAKT_WORKERS_CALL_POINTER_H
#define TAKT_WORKERS_CALL_POINTER_H

#include <jansson.h>

#define CALL_POINTER_MAX 1024 /* bytes */

/* Where an answer states the amount of a unit; NULL: of the one that the job states. */
typedef struct takt_caller_unit_pointer {
    const char *unit, *pointer;
} takt_caller_unit_pointer;

/* What is wrong with a pointer, and what to write instead. NULL: the pointer is good. */
const char *takt_caller_pointer_check(const char *pointer);

/* The value at a good pointer. NULL: the document has no such place. */
const json_t *takt_caller_pointer_find(const json_t *document, const char *pointer);

#endif
