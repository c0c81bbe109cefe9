/*
 * takt/policy.h: the limits of a fleet.
 *
 * A policy is a set of named limits, read from a YAML file (docs/policy.md) or built in code from
 * the same texts.  Once loaded it does not change; many clients, in any threads, may share one
 * policy.  It must outlive every client opened with it: free it in the callback of takt_close at
 * the earliest, or after takt_sync_close.  With `policy: store` it may be freed after takt_open.
 */
#ifndef TAKT_POLICY_H
#define TAKT_POLICY_H

#include <stddef.h>
#include <stdint.h>

#include <takt/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct takt_policy takt_policy;

/*
 * A rule and a limit as a person writes them: every field is text and means what the policy file's
 * field of that name means.  NULL: use the default, given here in brackets.  The library keeps
 * nothing of these structs after the call.
 */
typedef struct takt_rule_text {
    /* "100/s", "20/min", "10/60s", "3/250ms", "800/day" (required). */
    const char *rate;
    /* Tokens available at one instant after a long pause ("1"; token-bucket: those of the rate). */
    const char *burst;
    /* One of takt_algorithm_name ("gcra"). */
    const char *algorithm;
    /* fixed-window: where windows begin, "clock" or "first-use" ("clock"). */
    const char *align;
    /* fixed-window by the clock: such as "America/Los_Angeles" (UTC). */
    const char *timezone;
    /* leaky-bucket: how many may wait (no bound). */
    const char *queue;
    /* What the rate counts: "requests", of which each acquire takes one; or a unit of 1 to
     * TAKT_UNIT_SIZE_MAX of a-z 0-9 _, such as "recipients", of which each acquire states its
     * amount (the cost of each acquire).  A limit counts requests and up to four units. */
    const char *counts;
    /* With a unit: the amount of an acquire that states none (it is refused). */
    const char *default_amount;
    /* How much later than its slot work may begin and still keep the rate: "20ms" (the
     * algorithm's: "0", or 5 % of the period and at most "50ms"). */
    const char *guard;
} takt_rule_text;

/* The names of the algorithms, from index 0 on; NULL after the last.  Static.  docs/policy.md says
 * what each promises. */
TAKT_EXPORT const char *takt_algorithm_name(int index);

/* What waiters do while the store is lost: from a worker's first failed call until one succeeds.
 * Slots that were awarded before are used in any case. */
typedef enum takt_on_store_failure {
    /* They wait, up to their deadlines. */
    TAKT_ON_STORE_FAILURE_WAIT,
    /* They fail at once, with the store's error. */
    TAKT_ON_STORE_FAILURE_CLOSED,
    /* They are granted at once. */
    TAKT_ON_STORE_FAILURE_OPEN,
    /* This worker paces alone: the rates, divided by the number of workers that it last saw. */
    TAKT_ON_STORE_FAILURE_SHARE
} takt_on_store_failure;

/* Whether a limit delays work. */
typedef enum takt_mode {
    /* Work waits for its slot. */
    TAKT_MODE_ENFORCE,
    /* Work starts at once; takt_get_shadow reports what enforcing would have done. */
    TAKT_MODE_SHADOW
} takt_mode;

/* Whether the remaining quota that a vendor states counts. */
typedef enum takt_learn {
    TAKT_LEARN_OFF,
    /* Programs that read the vendor's header fields should pass on what they say (takt_lower).  The
     * library only reports this setting.  HEADERS: RateLimit of the IETF's draft, X-RateLimit-...
     */
    TAKT_LEARN_HEADERS,
    /* The header fields of this vendor (docs/policy.md). */
    TAKT_LEARN_OPENAI,
    TAKT_LEARN_ANTHROPIC,
    TAKT_LEARN_GITHUB,
    TAKT_LEARN_SHOPIFY,
    TAKT_LEARN_DISCORD,
    /* The header fields that takt_policy_learn_field names. */
    TAKT_LEARN_FIELDS
} takt_learn;

/* What penalties (takt_penalize) do to the rate of a limit's first rule. */
typedef struct takt_adapt_text {
    /* The part of the current rate that remains after a penalty ("50%"). */
    const char *backoff;
    /* How much of the policy's rate returns per period ("10%/min"). */
    const char *recover;
    /* The lowest rate, as a part of the policy's ("10%"). */
    const char *floor;
} takt_adapt_text;

/* Other numbers for the keys of a limit that `key` matches.  A field that is NULL has the limit's
 * value. */
typedef struct takt_override_text {
    /* A key, or a pattern in which each `*` stands for any bytes (required). */
    const char *key;
    /* "true": its work starts at once; no other field is given ("false"). */
    const char *unlimited;
    /* Instead of the limit's; a single rule of the rate "0" refuses the work. */
    const takt_rule_text *rules;
    unsigned rule_count;
    /* As those of the limit. */
    const char *lookahead;
    const char *headroom;
    const char *max_waiting;
    const char *when_full;
    const char *concurrency;
    const char *lease;
    const takt_adapt_text *adapt;
} takt_override_text;

typedef struct takt_limit_text {
    /* 1 to 64 of a-z A-Z 0-9 . _ - (required). */
    const char *name;
    /* 1 to TAKT_RULES_MAX rules, which all hold at once; none only with concurrency. */
    const takt_rule_text *rules;
    unsigned rule_count;
    /* How far in advance slots are awarded ("250ms"). */
    const char *lookahead;
    /* How far to stay below the rates, such as "2%" or "0.5%" ("0%"). */
    const char *headroom;
    /* The limit that this one's work must pass as well (none). */
    const char *within;
    /* How many waiters of one key the whole fleet may have (no bound). */
    const char *max_waiting;
    /* With max_waiting, which waiter fails: "refuse", "drop-oldest", "drop-lowest" ("refuse"). */
    const char *when_full;
    /* Priority of acquires that name none: "0" (most urgent) to "9" ("5"). */
    const char *priority;
    /* Permits of one key that the whole fleet may hold at once (no bound). */
    const char *concurrency;
    /* With concurrency: how long a silent worker keeps its permits ("30s"). */
    const char *lease;
    /* NULL: penalties block, and the rate stays. */
    const takt_adapt_text *adapt;
    /* "wait", "closed", "open", "share" ("wait"). */
    const char *on_store_failure;
    /* "enforce", "shadow" ("enforce"). */
    const char *mode;
    /* "tenant": slots go to tenants (takt_request.tenant) in turns; "key": likewise, and of work
     * from a limit inside, that limit's key is the tenant (to workers). */
    const char *fair;
    /* With fair: how many turns' worth a tenant gets, such as "{acme: 3, 'beta: 1': 2}", where a
     * name may be quoted; 1 to 1000, of at most 64 tenants (default_weight). */
    const char *weights;
    /* With fair: the weight of every other tenant ("1"). */
    const char *default_weight;
    /* "off", "headers", "openai", "anthropic", "github", "shopify", "discord", or
     * "{remaining: HEADER, reset: HEADER, unit: UNIT}" ("off"). */
    const char *learn;
    /* Where answers state what a request has used: a JSON pointer ("/usage/total_tokens"), several
     * ("{input_tokens: /usage/in, output_tokens: /usage/out}"), "openai", "anthropic" (nowhere). */
    const char *settle;
    /* "true": the store gets a keyed hash of each key (takt_options.key_secret) ("false"). */
    const char *key_hash;
    /* Numbers by key: an exact key comes first, then the first pattern that matches. */
    const takt_override_text *overrides;
    unsigned override_count;
} takt_limit_text;

#define TAKT_RULES_MAX     8
#define TAKT_LEVELS_MAX    4    /* limits that a job can have: its own and outer ones */
#define TAKT_UNIT_SIZE_MAX 31   /* bytes of a unit's name */
#define TAKT_NAME_SIZE_MAX 64   /* bytes of a limit's name or of a namespace */
#define TAKT_KEY_SIZE_MAX  1024 /* bytes of a key; any bytes but NUL */

/* An empty policy: 0, or TAKT_E_NOMEM.  Free it with takt_policy_free. */
TAKT_EXPORT int takt_policy_new(takt_policy **policy, takt_error *error);

/*
 * Adds a limit.  On failure the policy does not change and `error` names the field
 * ("rules[0].rate: ...").  `within` may name a limit that is added later; takt_open and
 * takt_policy_check refuse an unknown one.
 */
TAKT_EXPORT int takt_policy_add(takt_policy *policy, const takt_limit_text *limit,
                                takt_error *error);

/*
 * Sets the revision, a whole number from 0 (default 0).  If workers' policies have different
 * numbers for a limit of one name, those of the higher revision hold in the whole fleet.
 */
TAKT_EXPORT int takt_policy_set_revision(takt_policy *policy, const char *revision,
                                         takt_error *error);

/*
 * Makes the policy follow the one in the store, like `policy: store` in a file: a client opened
 * with it uses the stored limits and their changes.  TAKT_E_POLICY if it already has limits.
 */
TAKT_EXPORT int takt_policy_follow(takt_policy *policy, takt_error *error);
TAKT_EXPORT int takt_policy_follows(const takt_policy *policy); /* 1 or 0 */

/*
 * Checks every `within`: "limits[1].within: ..." if it names no limit or forms a circle.  Policies
 * from a file or a text are already checked.  For one built in code takt_open does it; call this
 * once before several threads share the policy.
 */
TAKT_EXPORT int takt_policy_check(const takt_policy *policy, takt_error *error);

/*
 * Reads a policy from a file (at most 1 MiB) or a text, for which `name` stands in messages. Errors
 * read "takt.yaml:7: limits[1].rules[0].rate: ..." with the code TAKT_E_POLICY, or TAKT_E_NOMEM.
 * Free the policy with takt_policy_free.
 */
TAKT_EXPORT int takt_policy_load(takt_policy **policy, const char *path, takt_error *error);
TAKT_EXPORT int takt_policy_parse(takt_policy **policy, const char *name, const char *text,
                                  size_t size, takt_error *error);

TAKT_EXPORT void takt_policy_free(takt_policy *policy); /* NULL is harmless */

/* The store (default NULL) and the namespace (default "default").  Owned by the policy. */
TAKT_EXPORT const char *takt_policy_store(const takt_policy *policy);
TAKT_EXPORT const char *takt_policy_namespace(const takt_policy *policy);

/* The revision, and the version of a stored policy in its store; both default to 0. */
TAKT_EXPORT int64_t takt_policy_revision(const takt_policy *policy);
TAKT_EXPORT int64_t takt_policy_version(const takt_policy *policy);

/* The text that it was read from; NULL if it was built in code.  Owned by the policy. */
TAKT_EXPORT const char *takt_policy_text(const takt_policy *policy, size_t *size);

/* The limits in the order of the file.  Names are owned by the policy. */
TAKT_EXPORT size_t takt_policy_count(const takt_policy *policy);
TAKT_EXPORT const char *takt_policy_name(const takt_policy *policy, size_t index);
TAKT_EXPORT int takt_policy_has(const takt_policy *policy, const char *limit); /* 1 or 0 */

/* The limit that this one is `within`, owned by the policy; NULL: none, also for no limit. */
TAKT_EXPORT const char *takt_policy_within(const takt_policy *policy, const char *limit);

/* A limit's on_store_failure: 0, or TAKT_E_NO_LIMIT; then *mode does not change. */
TAKT_EXPORT int takt_policy_on_store_failure(const takt_policy *policy, const char *limit,
                                             takt_on_store_failure *mode);

/* As the policy writes it: "wait", "closed", "open", "share".  Static. */
TAKT_EXPORT const char *takt_on_store_failure_name(takt_on_store_failure mode);

/* A limit's mode, likewise. */
TAKT_EXPORT int takt_policy_mode(const takt_policy *policy, const char *limit, takt_mode *mode);
TAKT_EXPORT const char *takt_mode_name(takt_mode mode);

/* The rate of a limit's first rule that counts tokens, or else of its first rule, as it is written
 * and as it holds for a key (NULL: for none): per period; both 0 without rules, and for a key that
 * is unlimited or refused.  0, or TAKT_E_NO_LIMIT; then both do not change. */
TAKT_EXPORT int takt_policy_rate(const takt_policy *policy, const char *limit, const char *key,
                                 int64_t *tokens, int64_t *period_us);

/* Whether a rule of the limit counts the unit ("requests", or a name that the rules write): 1 or 0,
 * also 0 for no limit. */
TAKT_EXPORT int takt_policy_counts(const takt_policy *policy, const char *limit, const char *unit);

/* Whether the number of waiters for a key (NULL: for none) is bounded, by max_waiting or the queue
 * of a leaky bucket, also of a limit that this one is within: 1 or 0, also 0 for no limit. */
TAKT_EXPORT int takt_policy_bounds_waiting(const takt_policy *policy, const char *limit,
                                           const char *key);

/* Whether slots of the limit, or of a limit that it is within, go to tenants in turns (`fair`): 1
 * or 0, also 0 for no limit. */
TAKT_EXPORT int takt_policy_fair(const takt_policy *policy, const char *limit);

/* Whether the names of takt_standing.tenants are keys of the limits inside, and not tenants: the
 * limit has `fair: key`, or no `fair` and is the outermost of limits within each other.  1 or 0,
 * also 0 for no limit. */
TAKT_EXPORT int takt_policy_shares_by_key(const takt_policy *policy, const char *limit);

/* A limit's learn, likewise. */
TAKT_EXPORT int takt_policy_learn(const takt_policy *policy, const char *limit, takt_learn *learn);
TAKT_EXPORT const char *takt_learn_name(takt_learn learn);

/* The same for one unit that the limit's rules count ("tokens", "requests"): *learn is how the
 * vendor states what is left of it, or TAKT_LEARN_OFF if its header fields say nothing of this
 * unit.  Pass it on with takt_lower and the same unit.  0, TAKT_E_NO_LIMIT, or TAKT_E_INVALID: no
 * rule counts the unit. */
TAKT_EXPORT int takt_policy_learn_unit(const takt_policy *policy, const char *limit,
                                       const char *unit, takt_learn *learn);

/* With TAKT_LEARN_FIELDS: the header of the limit's "remaining" or "reset", in lower case, or its
 * "unit".  NULL: not given.  Owned by the policy. */
TAKT_EXPORT const char *takt_policy_learn_field(const takt_policy *policy, const char *limit,
                                                const char *field);

/*
 * Where the vendor's answers state what a request has used (the limit's settle), by `index` from 0.
 * *pointer is a JSON pointer (RFC 6901).  *unit is a unit that this limit, or one that it is
 * within, counts; NULL: the unit that the request states.  If an answer has several places for one
 * unit, the first place counts.  0, or TAKT_E_NO_LIMIT if there are no more.  Owned by the policy.
 * The library only reports this; pass the amounts to takt_settle.
 */
TAKT_EXPORT int takt_policy_settle(const takt_policy *policy, const char *limit, size_t index,
                                   const char **unit, const char **pointer);

/* Whether the store gets a keyed hash of each key of the limit: 1 or 0, also 0 for no limit. */
TAKT_EXPORT int takt_policy_key_hash(const takt_policy *policy, const char *limit);

/*
 * Describes a limit in one line for a person, such as "100/s burst 10, 100000/day, within
 * sendgrid". Writes it to `text` with its NUL, cut to `size`.  Returns 0 or TAKT_E_NO_LIMIT.
 */
TAKT_EXPORT int takt_policy_describe(const takt_policy *policy, const char *limit, char *text,
                                     size_t size);

/*
 * The same of the numbers that hold for a key (NULL: for none), such as "500/s, override acme".
 */
TAKT_EXPORT int takt_policy_describe_key(const takt_policy *policy, const char *limit,
                                         const char *key, char *text, size_t size);

/*
 * A limit's override by its index, from 0: its key or pattern, owned by the policy,
 * and its numbers as takt_policy_describe writes them.  0, or TAKT_E_NO_LIMIT if there is none.
 */
TAKT_EXPORT int takt_policy_override(const takt_policy *policy, const char *limit, size_t index,
                                     const char **key, char *text, size_t size);

/*
 * Compares two policies; `from` may be NULL (none).  Calls tell (may be NULL) for each limit and
 * each override that differs, those of `to` first, in their order.  Returns how many differ.  The
 * strings are valid during the call.
 */
typedef struct takt_difference {
    const char *limit;     /* of an override: LIMIT:KEY */
    const char *from, *to; /* as of takt_policy_describe; NULL: no such limit or override */
} takt_difference;

TAKT_EXPORT size_t takt_policy_compare(const takt_policy *from, const takt_policy *to,
                                       void (*tell)(void *data, const takt_difference *difference),
                                       void *data);

/*
 * Finds what a valid policy says and probably does not mean, such as a rate that a slower rule
 * keeps from ever being reached.  Calls tell (may be NULL) with a sentence for each, and returns
 * how many there are.  The strings are valid during the call.
 */
TAKT_EXPORT size_t takt_policy_warn(const takt_policy *policy,
                                    void (*tell)(void *data, const char *limit, const char *text),
                                    void *data);

/*
 * Read a duration or a rate, for programs that take them on a command line.  A duration is a whole
 * number and one of us, ms, s, min, h, day (or second, minutes, hr, d and so on): "250ms", but not
 * "1.5s".  A rate is TOKENS/PERIOD.
 */
TAKT_EXPORT int takt_parse_duration(const char *text, int64_t *duration_us, takt_error *error);
TAKT_EXPORT int takt_parse_rate(const char *text, int64_t *tokens, int64_t *period_us,
                                takt_error *error);

#ifdef __cplusplus
}
#endif
#endif
