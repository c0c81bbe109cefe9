/*
 * name.h: which names limits and namespaces may have. They become parts of keys in Redis, of names
 * of records in a file, and of the words of a command line.
 */
#ifndef TAKT_BASE_NAME_H
#define TAKT_BASE_NAME_H

#include <takt/error.h>

/* Both return 0, or TAKT_E_INVALID with the reason in error. A namespace is a name, or one in
 * braces. */
int takt_name_check(const char *name, takt_error *error);
int takt_name_space_check(const char *name_space, takt_error *error);

#endif
