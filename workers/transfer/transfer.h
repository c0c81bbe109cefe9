/*
 * transfer.h: libcurl's transfers on a libuv loop: many at a time, connections kept for the next.
 * What is transferred is its user's affair: an easy handle goes in, and comes back when it is done.
 *
 * The only place that knows curl's multi interface.
 */
#ifndef TAKT_WORKERS_TRANSFER_H
#define TAKT_WORKERS_TRANSFER_H

#include <stdbool.h>

#include <curl/curl.h>
#include <uv.h>

#include <takt/error.h>

typedef struct takt_transfers takt_transfers;

/* Called once for each transfer, on the loop's thread, never inside takt_transfers_start.  The
 * handle is the caller's again: to be asked (curl_easy_getinfo), and used for another transfer or
 * cleaned up.
 */
typedef void (*takt_transfer_cb)(CURL *handle, CURLcode result, void *data);

/* At most so many connections are kept open.  Ignores SIGPIPE in the whole program.  0, or
 * TAKT_E_NOMEM, TAKT_E_SYSTEM. */
int takt_transfers_open(takt_transfers **transfers, uv_loop_t *loop, long connections_max,
                        takt_error *error);

/* A handle that is idle, with everything set back but its caches; NULL: no memory.  Handles are
 * kept for reuse: give them back by takt_transfers_put when their answer was read. CURLOPT_PRIVATE,
 * the functions that open and close sockets, and CURLOPT_NOSIGNAL are not to be touched. */
CURL *takt_transfers_take(takt_transfers *transfers);
void takt_transfers_put(takt_transfers *transfers, CURL *handle);

/* Whether a transfer may connect to an address; called inside libcurl.  Where all addresses are
 * refused it ends with CURLE_COULDNT_CONNECT. */
typedef bool (*takt_transfer_address_cb)(const struct sockaddr *address, void *data);

/* Asks that before each new connection of this transfer, until the handle is put back. */
void takt_transfers_ask(CURL *handle, takt_transfer_address_cb allows, void *data);

/* Begins; false: no memory, and no callback will come. */
bool takt_transfers_start(takt_transfers *transfers, CURL *handle, takt_transfer_cb done,
                          void *data);

/* Nothing more is read for that transfer, which is under way: its connection ends after what was
 * read, as if the peer had closed it.  For a transfer that has failed, where libcurl would say
 * good-bye and block until the answer comes. May be called by what libcurl calls itself. */
void takt_transfers_stop_reading(CURL *handle);

/* Ends it all: transfers under way are dropped without their callback, and all handles are cleaned
 * up, those that were taken as well.  Not to be called by what libcurl calls itself (a write
 * function), but a transfer_cb may.  The memory is freed when the loop has run. */
void takt_transfers_close(takt_transfers *transfers);

#endif
