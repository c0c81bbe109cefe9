/*
 * location.h: which store and which namespace a client works with: those of its options, else of
 * the environment, else of its policy.
 */
#ifndef TAKT_CLIENT_LOCATION_H
#define TAKT_CLIENT_LOCATION_H

#include "policy/policy.h"
#include "store/store.h"

/* Which store. */
const char *takt_location_url(const takt_options *options, const takt_policy *policy);

/* What of a store's options follows from the client's and the policy. */
takt_store_options takt_location_options(const takt_options *options, const takt_policy *policy);

#endif
