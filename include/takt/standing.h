/*
 * takt/standing.h: the state of a limit at one moment, and the bounds of what a request can say.
 * Included by takt/takt.h.
 */
#ifndef TAKT_STANDING_H
#define TAKT_STANDING_H

#include <stdint.h>

#include <takt/error.h>
#include <takt/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAKT_COST_MAX         1000000
#define TAKT_AMOUNTS_MAX      4          /* units of which one request states amounts */
#define TAKT_WATCH_MAX_US     600000000  /* longest time for takt_watch: 10 minutes */
#define TAKT_REASON_SIZE_MAX  120        /* bytes of a block's reason */
#define TAKT_TENANT_SIZE_MAX  64         /* bytes of a tenant's name */
#define TAKT_SETTLED_MAX      1000000000 /* highest actual cost for takt_settle */
#define TAKT_PRIORITY_MAX     9          /* least urgent; 0 is the most urgent */
#define TAKT_PRIORITY_DEFAULT 5          /* if neither the request nor the policy has one */
#define TAKT_PRIORITY_POLICY  (-1)       /* use the limit's `priority` */

/* An amount of a unit that a limit's rules name (docs/policy.md, "counts"). */
typedef struct takt_amount {
    const char *unit; /* such as "tokens"; NULL: the cost, for limits whose rules name no unit */
    int64_t amount;
} takt_amount;

/* What a request takes of the units that a limit's rules name beside the first one, in the order of
 * the policy; its cost is the amount of the first.  0: not stated.  Private. */
typedef struct takt_more {
    int32_t of[TAKT_AMOUNTS_MAX - 1];
} takt_more;

/* What one rule has left. */
typedef struct takt_rule_standing {
    /* What it counts: "requests", the name that the policy writes, or "tokens".  The policy's. */
    const char *unit;
    /* As in takt_standing, for this rule alone. */
    int64_t limit;
    int64_t remaining;
    int64_t reset_after_us;
} takt_rule_standing;

/* A tenant that has waiters, of a limit with `fair: tenant`; or the keys of limits `within` it for
 * which work waits. */
typedef struct takt_tenant_standing {
    char name[TAKT_TENANT_SIZE_MAX + 1];
    int64_t weight;
    int64_t waiting;
    int64_t since_us; /* since when it has had waiters */
} takt_tenant_standing;

/* The state of a limit at one moment, as in HTTP's X-RateLimit-* fields. */
typedef struct takt_standing {
    /* The store's clock at that moment. */
    int64_t now_us;
    /* Tokens available at one instant at most, and whole tokens available now: the minimum over the
     * rules that count tokens or a named unit; where none does, requests. */
    int64_t limit;
    int64_t remaining;
    /* Until the requested cost would be granted if nothing else came; 0: now.  If a try fails for
     * lack of a permit this is at least one lookahead.  takt_peek considers the rules only. */
    int64_t retry_after_us;
    /* Until every rule is as if unused. */
    int64_t reset_after_us;
    /* No slot before that instant, and the reason that was given, else ""; 0: not blocked. */
    int64_t blocked_until_us;
    char reason[TAKT_REASON_SIZE_MAX + 1];
    /* With `adapt`: the current part of the first rule's rate; else 100. */
    int64_t rate_percent;
    /* Waiters in the whole fleet, as their workers last reported, and the workers that they are in:
     * a worker counts once for each of its tenants, or keys of limits inside, in line. */
    int64_t waiting;
    int64_t workers;
    /* Permits that can be held at once (0: no bound), that are held, and by how many workers. */
    int64_t concurrency;
    int64_t held;
    int64_t holders;
    /* takt_watch: since when tokens are counted (0: they are not), and how many were awarded since,
     * corrected by takt_settle. */
    int64_t watched_since_us;
    int64_t taken;
    /* Each rule, in the order of the policy. */
    int rule_count;
    takt_rule_standing rules[TAKT_RULES_MAX];
    /* takt_peek and takt_watch: the tenants that have waiters, valid during the callback; NULL: not
     * known, as from takt/sync.h and with the store `agent:`. */
    int tenant_count;
    const takt_tenant_standing *tenants;
} takt_standing;

/* Checks a reason for takt_block and takt_penalize: 0, or TAKT_E_INVALID with the cause. */
TAKT_EXPORT int takt_check_reason(const char *reason, takt_error *error);

#ifdef __cplusplus
}
#endif

#endif
