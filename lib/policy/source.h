/*
 * source.h: the bytes of a policy file, before they are read as YAML.
 */
#ifndef TAKT_POLICY_SOURCE_H
#define TAKT_POLICY_SOURCE_H

#include <stddef.h>

#include <takt/error.h>

#define TAKT_SOURCE_SIZE_MAX (1024 * 1024)
#define TAKT_SOURCE_NAME_MAX 200

typedef struct takt_source {
    char name[TAKT_SOURCE_NAME_MAX + 1]; /* for messages; a long name is cut at its start */
    const char *text; /* the caller's; without a byte order mark after the check */
    size_t size;
} takt_source;

/* Initialises a source. The caller owns the text, which must outlive the source. */
void takt_source_init(takt_source *source, const char *name, const char *text, size_t size);

/*
 * Reads a whole file into memory that the caller frees. Of a file larger than TAKT_SOURCE_SIZE_MAX
 * it reads one byte more than that, so takt_source_check refuses it. Returns 0, TAKT_E_POLICY or
 * TAKT_E_NOMEM.
 */
int takt_source_read(const char *path, char **text, size_t *size, takt_error *error);

/* Refuses bytes that are no text of limited size: TAKT_E_POLICY with the line. */
int takt_source_check(takt_source *source, takt_error *error);

#endif
