/*
 * file_list.h: lists the ledgers of a namespace in an LMDB file.
 */
#ifndef TAKT_STORE_FILE_LIST_H
#define TAKT_STORE_FILE_LIST_H

#include "store/store.h"

/* takt_store_kind.list. */
int takt_file_list(const char *scheme, const char *rest, const takt_store_options *options,
                   size_t max, takt_list_found found, void *data, takt_error *error);

#endif
