/*
 * location.h: which store and which namespace a client uses.  The client's options come first, then
 * the environment, then the policy.
 */
#ifndef TAKT_CLIENT_LOCATION_H
#define TAKT_CLIENT_LOCATION_H

#include "policy/policy.h"
#include "store/store.h"

/* The URL of the store. */
const char *takt_location_url(const takt_options *options, const takt_policy *policy);

/* The store's options that follow from the client's options and the policy. */
takt_store_options takt_location_options(const takt_options *options, const takt_policy *policy);

#endif
