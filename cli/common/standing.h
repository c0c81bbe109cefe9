/*
 * The state of a limit: kept after its callback, and told.
 */
#ifndef TAKT_CLI_COMMON_STANDING_H
#define TAKT_CLI_COMMON_STANDING_H

#include <takt/takt.h>

#include "options.h"

/* Copies a standing. Its tenants go to *tenants (at first NULL), which the caller frees at the end.
 * Returns 0, or TAKT_E_NOMEM and nothing is copied. */
int takt_cli_standing_keep(const takt_standing *standing, takt_standing *kept,
                           takt_tenant_standing **tenants);

/* Writes the members of a JSON object to standard output, without braces. */
void takt_cli_standing_json(const takt_cli_target *target, const takt_standing *standing);

/* What the tenants of a standing are: "tenant", or "key" where keys of limits inside take turns. */
const char *takt_cli_standing_subject(const takt_policy *policy, const char *limit);

/* Prints a line for each tenant that has waiters. */
void takt_cli_standing_print_tenants(const takt_standing *standing, const char *subject);

/* The part of the slots that a tenant gets while all tenants that wait now do, 0 to 1. */
double takt_cli_standing_share(const takt_standing *standing, int tenant);

/* How long the tenant has had waiters. */
int64_t takt_cli_standing_wait(const takt_standing *standing, int tenant);

#endif
