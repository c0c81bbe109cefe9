/*
 * permits.h: the permits that workers of a fault test hold, in memory that they share: how many
 * live holders a ledger's permits have at any instant. A worker counts from the callback until it
 * releases the permit or gets the event of its loss, and no longer than its lease as it knows it:
 * no other worker may have the permit before.
 */
#ifndef TAKT_TESTS_FAULTS_PERMITS_H
#define TAKT_TESTS_FAULTS_PERMITS_H

#include <stdatomic.h>
#include <takt/takt.h>

#include "faults/limits.h"

#define HOLDERS_MAX 16 /* workers */

struct permits {
    atomic_uint changes; /* one before each permit is taken, one after each is given back */
    struct {
        atomic_llong held, leased_until_us; /* of one worker, by the clock of its leases */
    } workers[HOLDERS_MAX][LEDGERS_MAX];
    atomic_llong max[LEDGERS_MAX];   /* live holders that were ever seen at once */
    atomic_llong taken[LEDGERS_MAX]; /* how often */
};

/* A worker begins: the permits of the earlier worker at its index have no holder. */
void permits_begin(struct permits *permits, int worker);

void permits_taken(struct permits *permits, int worker, int ledger, const takt_permit *permit);
void permits_given_back(struct permits *permits, int worker, int ledger);

/* A worker had an answer, while it holds that permit. */
void permits_renewed(struct permits *permits, int worker, int ledger, const takt_permit *permit);

#endif
