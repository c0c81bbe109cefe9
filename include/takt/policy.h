/*
 * takt/policy.h: which limits there are.
 *
 * A policy is a set of named limits, read from a YAML file (docs/policy.md) or built in code from
 * the same texts.  Once loaded it does not change; many clients, in any threads, may share one
 * policy.  It must outlive every client opened with it.
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
 * One rule and one limit, as a person writes them: every field is text and means what the policy
 * file's field of that name means.  NULL is "not given".  Nothing of these structs is kept after
 * the call.
 */
typedef struct takt_rule_text {
    const char *rate;      /* "100/s", "20/min", "10/60s", "3/250ms", "800/day"; required */
    const char *burst;     /* tokens that may be taken at one instant after a long silence; "1" */
    const char *algorithm; /* "gcra", "token-bucket", "leaky-bucket", "fixed-window",
                              "sliding-window", "sliding-log"; "gcra" */
    const char *align;     /* fixed-window: where windows begin, "clock" or "first-use"; "clock" */
    const char *timezone;  /* fixed-window by the clock: whose days, "America/Los_Angeles"; UTC */
    const char *queue;     /* leaky-bucket: waiters before acquires are refused; no bound */
} takt_rule_text;

/*
 * What becomes of those who wait for a limit while the store is lost, that is from a worker's first
 * call that fails until one is answered.  Slots that were awarded before are used in any case.
 */
typedef enum takt_on_store_failure {
    TAKT_ON_STORE_FAILURE_WAIT,   /* they go on waiting, up to their deadlines */
    TAKT_ON_STORE_FAILURE_CLOSED, /* they fail at once, with the store's error */
    TAKT_ON_STORE_FAILURE_OPEN,   /* they are granted at once */
    TAKT_ON_STORE_FAILURE_SHARE   /* this worker paces alone: the rates, divided by the workers that
                                     it last saw */
} takt_on_store_failure;

/* Whether a limit holds. */
typedef enum takt_mode {
    TAKT_MODE_ENFORCE, /* work waits for its slot */
    TAKT_MODE_SHADOW   /* work starts at once, and it is counted what enforcing would have done:
                          takt_get_shadow */
} takt_mode;

/* Whose word on what is left of a quota counts besides our own. */
typedef enum takt_learn {
    TAKT_LEARN_OFF,    /* nobody's */
    TAKT_LEARN_HEADERS /* the vendor's, in the header fields of its answers: who reads them may
                          lower what we take to be left (takt_lower).  The library only tells that
                          it is wanted. */
} takt_learn;

/* What penalties (takt_penalize) do to the rate of a limit's first rule. */
typedef struct takt_adapt_text {
    const char *backoff; /* what a penalty leaves of the rate at that time: "50%" */
    const char *recover; /* what comes back, in parts of the policy's rate: "10%/min" */
    const char *floor;   /* the rate never falls below that part of the policy's: "10%" */
} takt_adapt_text;

typedef struct takt_limit_text {
    const char *name; /* 1 to 64 of a-z A-Z 0-9 . _ - ; required */
    const takt_rule_text
        *rules; /* at least one (or concurrency), at most TAKT_RULES_MAX; all hold at once */
    unsigned rule_count;
    const char *lookahead;   /* how far ahead of now slots are awarded: "250ms" */
    const char *headroom;    /* run that much below the rates: "2%", "0.5%"; "0%" */
    const char *within;      /* the limit that this one's work must pass as well; none */
    const char *max_waiting; /* waiters of one key in the whole fleet before acquires are refused;
                                no bound */
    const char *when_full;   /* with max_waiting, whose waiters make way for more: "refuse",
                                "drop-oldest", "drop-lowest"; "refuse" */
    const char *priority;    /* of acquires that name none: "0" (most urgent) to "9"; "5" */
    const char *concurrency; /* permits of one key that the whole fleet may hold at once; no bound.
                                With it, `rules` may be left out. */
    const char *lease; /* with concurrency: permits of a worker that is not heard of for so long are
                          free again; "30s" */
    const takt_adapt_text *adapt; /* NULL: penalties block, and the rate stays as it is */
    const char *on_store_failure; /* "wait", "closed", "open", "share"; "wait" */
    const char *mode;             /* "enforce", "shadow"; "enforce" */
    const char *learn;            /* "off", "headers"; "off" */
} takt_limit_text;

#define TAKT_RULES_MAX     8
#define TAKT_LEVELS_MAX    4 /* limits that one piece of work passes: one, and those it is within */
#define TAKT_NAME_SIZE_MAX 64  /* bytes of a limit's name or of a namespace */
#define TAKT_KEY_SIZE_MAX  255 /* bytes of a key; any bytes but NUL */

/* An empty policy.  Free it with takt_policy_free. */
TAKT_EXPORT int takt_policy_new(takt_policy **policy);

/*
 * Adds a limit.  On failure the policy is as before and `error` names the field ("rules[0].rate:
 * ..."). `within` may name a limit that is added later; takt_open and takt_policy_check refuse what
 * is left dangling.
 */
TAKT_EXPORT int takt_policy_add(takt_policy *policy, const takt_limit_text *limit,
                                takt_error *error);

/*
 * Which of two policies is the newer: where workers' policies have limits of the same name and
 * other numbers, those of the higher revision hold in the whole fleet.  A whole number from 0; 0
 * where not given.
 */
TAKT_EXPORT int takt_policy_set_revision(takt_policy *policy, const char *revision,
                                         takt_error *error);

/*
 * From now on the policy has no limits of its own: a client opened with it goes by those that are
 * in the store (takt/live.h), and follows when they change.  What `policy: store` is in a file.
 * TAKT_E_POLICY where it has limits already.
 */
TAKT_EXPORT int takt_policy_follow(takt_policy *policy, takt_error *error);
TAKT_EXPORT int takt_policy_follows(const takt_policy *policy); /* 1 or 0 */

/*
 * Refuses a `within` that names no limit or that leads round in a circle, as "limits[1].within:
 * ...".  Policies that were read from a file or a text have been checked; one built in code is
 * checked by takt_open, or here, which must have been done once before several threads share it.
 */
TAKT_EXPORT int takt_policy_check(const takt_policy *policy, takt_error *error);

/*
 * Reads a policy file (at most 1 MiB), or a text that `name` stands for in messages.  Errors read
 * "takt.yaml:7: limits[1].rules[0].rate: ..." and have the code TAKT_E_POLICY (TAKT_E_NOMEM without
 * memory).
 */
TAKT_EXPORT int takt_policy_load(takt_policy **policy, const char *path, takt_error *error);
TAKT_EXPORT int takt_policy_parse(takt_policy **policy, const char *name, const char *text,
                                  size_t size, takt_error *error);

TAKT_EXPORT void takt_policy_free(takt_policy *policy); /* NULL is harmless */

/* What the file says of itself; NULL where it does not.  Owned by the policy. */
TAKT_EXPORT const char *takt_policy_store(const takt_policy *policy);
TAKT_EXPORT const char *
takt_policy_namespace(const takt_policy *policy); /* "default" where not given */

/* The revision, and the version that a stored policy has in its store; both 0 where there is none.
 */
TAKT_EXPORT int64_t takt_policy_revision(const takt_policy *policy);
TAKT_EXPORT int64_t takt_policy_version(const takt_policy *policy);

/* The text that it was read from; NULL where it was built in code.  Owned by the policy. */
TAKT_EXPORT const char *takt_policy_text(const takt_policy *policy, size_t *size);

/* The limits in the order of the file.  Names are owned by the policy. */
TAKT_EXPORT size_t takt_policy_count(const takt_policy *policy);
TAKT_EXPORT const char *takt_policy_name(const takt_policy *policy, size_t index);
TAKT_EXPORT int takt_policy_has(const takt_policy *policy, const char *limit); /* 1 or 0 */

/* What a limit's on_store_failure is: 0, or TAKT_E_NO_LIMIT and *mode as it was. */
TAKT_EXPORT int takt_policy_on_store_failure(const takt_policy *policy, const char *limit,
                                             takt_on_store_failure *mode);

/* As the policy writes it: "wait", "closed", "open", "share".  Static. */
TAKT_EXPORT const char *takt_on_store_failure_name(takt_on_store_failure mode);

/* The same of its mode. */
TAKT_EXPORT int takt_policy_mode(const takt_policy *policy, const char *limit, takt_mode *mode);
TAKT_EXPORT const char *takt_mode_name(takt_mode mode);

/* The rate of a limit's first rule, as it is written: so many tokens in a period; both 0 where it
 * has no rules.  0, or TAKT_E_NO_LIMIT and both as they were. */
TAKT_EXPORT int takt_policy_rate(const takt_policy *policy, const char *limit, int64_t *tokens,
                                 int64_t *period_us);

/* The same of its learn. */
TAKT_EXPORT int takt_policy_learn(const takt_policy *policy, const char *limit, takt_learn *learn);
TAKT_EXPORT const char *takt_learn_name(takt_learn learn);

/*
 * One line for a person about a limit, e.g. "100/s burst 10, 100000/day, within sendgrid"; written
 * to `text` with its NUL, cut to `size`.  Returns 0 or TAKT_E_NO_LIMIT.
 */
TAKT_EXPORT int takt_policy_describe(const takt_policy *policy, const char *limit, char *text,
                                     size_t size);

/*
 * What `to` makes of `from` (NULL: nothing is there yet): tell() is called for each limit that
 * differs, those of `to` first, in their order.  Returns how many there are.  tell may be NULL. The
 * strings live during the call.
 */
typedef struct takt_difference {
    const char *limit;
    const char *from, *to; /* as takt_policy_describe has it; NULL: the limit is not there */
} takt_difference;

TAKT_EXPORT size_t takt_policy_compare(const takt_policy *from, const takt_policy *to,
                                       void (*tell)(void *data, const takt_difference *difference),
                                       void *data);

/*
 * The two texts a person writes most, for programs that take them on a command line.  A duration is
 * a whole number and one of us, ms, s, min, h, day ("250ms", "1.5s" is refused); a rate is
 * TOKENS/PERIOD.
 */
TAKT_EXPORT int takt_parse_duration(const char *text, int64_t *duration_us, takt_error *error);
TAKT_EXPORT int takt_parse_rate(const char *text, int64_t *tokens, int64_t *period_us,
                                takt_error *error);

#ifdef __cplusplus
}
#endif
#endif
