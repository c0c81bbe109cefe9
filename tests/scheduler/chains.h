/*
 * Limits within each other, and chains of them.
 */
#ifndef TAKT_TESTS_SCHEDULER_CHAINS_H
#define TAKT_TESTS_SCHEDULER_CHAINS_H

#include "core/limits.h"
#include "scheduler/chain.h"

static takt_limit server, domain, user; /* the outermost, within it, within that */

static inline takt_limit named(const char *name, int64_t tokens, const takt_limit *within)
{
    takt_limit limit = limit_named(tokens, SECOND, 1);

    strcpy(limit.name, name);
    limit.within = within;
    return limit;
}

static inline void make_limits(void)
{
    server = named("server", 10, NULL);
    domain = named("domain", 5, &server);
    user = named("user", 2, &domain);
}

static inline takt_chain chain_of(const takt_limit *innermost, const char *const *keys)
{
    takt_chain chain = {.count = 0};

    for (const takt_limit *at = innermost; at; at = at->within) {
        chain.limits[chain.count] = at;
        chain.keys[chain.count] = keys[chain.count];
        chain.costs[chain.count++] = 1;
    }
    return chain;
}

/* Two rules of a limit count these units. */
static inline void count_units(takt_limit *limit, const char *first, const char *second)
{
    limit->numbers.rule_count = 2;
    limit->numbers.rules[1] = limit->numbers.rules[0];
    limit->numbers.rules[1].unit = TAKT_UNIT_MORE;
    strcpy(limit->unit, first);
    strcpy(limit->more_units[0], second);
}

/* An agent knows a program's amounts by their numbers: the domain's first unit is the second one.
 */
static inline takt_chain numbered(void)
{
    takt_chain chain = chain_of(&domain, (const char *const[]){"d", "mx"});

    chain.numbered = true;
    cr_assert(takt_unit_map_read(&chain.maps[0], "1123"));
    takt_chain_state(&chain);
    return chain;
}

#endif
