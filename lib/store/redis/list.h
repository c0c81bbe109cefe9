/*
 * list.h: lists the ledgers of a namespace in a server.
 */
#ifndef TAKT_STORE_REDIS_LIST_H
#define TAKT_STORE_REDIS_LIST_H

#include "store/store.h"

/* takt_store_kind.list for a URL of that scheme. */
int takt_redis_list(const char *scheme, const char *rest, const takt_store_options *options,
                    size_t max, takt_list_found found, void *data, takt_error *error);

/* Reads the name of a ledger's text (key.h).  False: it is another name. */
bool takt_redis_list_read_name(const char *name, char limit[TAKT_NAME_SIZE_MAX + 1],
                               char key[TAKT_KEY_SIZE_MAX + 1]);

#endif
