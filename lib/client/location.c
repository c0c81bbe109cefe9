/*
 * location.c: see location.h.
 */
#include "client/location.h"

#include <stdlib.h>

static const char *first_of(const char *a, const char *b, const char *c)
{
    return a && *a ? a : b && *b ? b : c;
}

const char *takt_location_url(const takt_options *options, const takt_policy *policy)
{
    const char *environment = getenv("TAKT_STORE");

    return first_of(options->store, environment,
                    first_of(takt_policy_store(policy), NULL, "file:"));
}

takt_store_options takt_location_options(const takt_options *options, const takt_policy *policy)
{
    return (takt_store_options){
        .name_space = first_of(options->name_space, takt_policy_namespace(policy), "default"),
        .timeout_us = options->store_timeout_us > 0 ? options->store_timeout_us : 1000000};
}
