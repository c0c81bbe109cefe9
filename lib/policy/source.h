/*
 * source.h: a policy file as bytes, before anything in it means something.
 */
#ifndef TAKT_POLICY_SOURCE_H
#define TAKT_POLICY_SOURCE_H

#include <stddef.h>

#include <takt/error.h>

#define TAKT_SOURCE_SIZE_MAX (1024 * 1024)
#define TAKT_SOURCE_NAME_MAX 200

typedef struct takt_source {
    char name[TAKT_SOURCE_NAME_MAX + 1]; /* as messages show it: of a long one its end */
    const char *text; /* the caller's; without a byte order mark after the check */
    size_t size;
} takt_source;

/* The text stays the caller's and must outlive the source. */
void takt_source_init(takt_source *source, const char *name, const char *text, size_t size);

/*
 * Reads a whole file into memory that the caller frees; what is larger than TAKT_SOURCE_SIZE_MAX is
 * read up to one byte more, for the check to refuse.  TAKT_E_POLICY or TAKT_E_NOMEM.
 */
int takt_source_read(const char *path, char **text, size_t *size, takt_error *error);

/* Refuses what is no text of reasonable size: TAKT_E_POLICY with the line. */
int takt_source_check(takt_source *source, takt_error *error);

#endif
