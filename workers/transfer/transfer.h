/*
 * transfer.h: libcurl transfers on a libuv loop: many at a time, with connections kept for the next
 * one. The caller sets up an easy handle and gets it back when the transfer is done.
 *
 * Only this file uses curl's multi interface.
 */
#ifndef TAKT_WORKERS_TRANSFER_H
#define TAKT_WORKERS_TRANSFER_H

#include <stdbool.h>

#include <curl/curl.h>
#include <uv.h>

#include <takt/error.h>

typedef struct takt_transfers takt_transfers;

/* Called once for each transfer, on the loop's thread, never inside takt_transfers_start. The
 * handle then belongs to the caller, who may read its results (curl_easy_getinfo), start another
 * transfer with it, or clean it up. */
typedef void (*takt_transfer_cb)(CURL *handle, CURLcode result, void *data);

/* Keeps at most `connections_max` connections open. Ignores SIGPIPE in the whole program. 0, or
 * TAKT_E_NOMEM, TAKT_E_SYSTEM. */
int takt_transfers_open(takt_transfers **transfers, uv_loop_t *loop, long connections_max,
                        takt_error *error);

/* An idle handle, reset except for its caches; NULL: no memory. After reading the answer, the
 * caller gives the handle back by takt_transfers_put, for reuse. The caller must not set
 * CURLOPT_PRIVATE, CURLOPT_NOSIGNAL and the functions that open and close sockets. */
CURL *takt_transfers_take(takt_transfers *transfers);
void takt_transfers_put(takt_transfers *transfers, CURL *handle);

/* Whether a transfer may connect to an address; called inside libcurl. If all addresses are
 * refused, the transfer ends with CURLE_COULDNT_CONNECT. */
typedef bool (*takt_transfer_address_cb)(const struct sockaddr *address, void *data);

/* Calls `allows` before each new connection of this transfer, until the handle is put back. */
void takt_transfers_ask(CURL *handle, takt_transfer_address_cb allows, void *data);

/* Starts a transfer. False: no memory; `done` will not be called. */
bool takt_transfers_start(takt_transfers *transfers, CURL *handle, takt_transfer_cb done,
                          void *data);

/* Stops reading for a transfer under way: its connection ends after the bytes read so far, as if
 * the peer had closed it. For a failed transfer, where libcurl would send a goodbye and block until
 * the answer. libcurl's own callbacks may call it. */
void takt_transfers_stop_reading(CURL *handle);

/* Drops transfers under way without their callback, and cleans up all handles, including those that
 * were taken. Must not be called from libcurl's own callbacks (a write function); a transfer_cb may
 * call it. The memory is freed when the loop has run. */
void takt_transfers_close(takt_transfers *transfers);

#endif
