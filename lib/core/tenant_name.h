/*
 * tenant_name.h: a tenant's name in a ledger, and the number under which a worker claims for it.
 */
#ifndef TAKT_CORE_TENANT_NAME_H
#define TAKT_CORE_TENANT_NAME_H

#include "core/ledger.h"

/* The number under which a worker claims for a tenant.  For "" and NULL it is the worker's own. */
uint64_t takt_tenant_worker(uint64_t worker, const char *tenant);

/* Encodes a name for a ledger's text and for script calls; returns its length.  Blanks, control
 * characters, `%` and `;` become %20 and so on. */
size_t takt_tenant_write(const char *name, char text[TAKT_TENANT_TEXT_MAX + 1]);

/* Decodes a name; what no name has becomes `?`. */
void takt_tenant_read(const char *text, char name[TAKT_TENANT_SIZE_MAX + 1]);

#endif
