/*
 * Workers that claim for tenants of one ledger.
 */
#ifndef TAKT_TESTS_CORE_TENANT_BOOKS_H
#define TAKT_TESTS_CORE_TENANT_BOOKS_H

#include "core/books.h"
#include "core/tenant_name.h"

static book b;

static inline const takt_tenant *tenant_of(const char *name, int priority)
{
    for (int i = 0; i < b.ledger.tenant_count; i++)
        if (strcmp(b.tenants[i].name, name) == 0 && b.tenants[i].priority == priority)
            return &b.tenants[i];
    return NULL;
}

/* A worker's claim for a tenant (NULL: none) of that weight. */
static inline void say_of(int64_t at_us, uint64_t worker, const char *tenant, int weight,
                          int priority, int64_t count)
{
    takt_claim claim = {.worker = takt_tenant_worker(worker, tenant),
                        .process = tenant ? worker : 0,
                        .seq = ++b.seq,
                        .waiting = count,
                        .newcomers = count,
                        .tenant = tenant,
                        .tenant_weight = weight,
                        .want_count = count > 0};

    claim.wants[0] =
        (takt_want){.count = count, .latest_us = TAKT_NEVER, .cost = 1, .priority = priority};
    send_claim(&b, at_us, &claim);
}

#endif
