/*
 * learn.c: see learn.h.
 *
 * Many workers receive answers in any order while the ledger changes. A worker therefore never
 * subtracts a difference: it lowers the remaining tokens to a maximum (takt_lower), which is
 * harmless when repeated. Tokens of calls that have not reached the vendor yet are missing from our
 * count but not from the vendor's. Our count is then the lower one, so these calls are not charged
 * twice.
 *
 * An answer is true for a moment only: applied late, it would take tokens that came back since. It
 * is used within one second, and a reset must be more than one second away: most resets are in
 * whole seconds, and the vendor counted some time after the call was sent.
 *
 * When nothing is left until a reset, a rule with debt would give the next token after one
 * interval, so the limit is blocked until the reset, unless the vendor's quota comes back little by
 * little, too. The block is set only if our own count still has tokens; otherwise every quota that
 * the fleet uses up by itself would cause a block.
 */
#include "learn.h"

#include <stdlib.h>
#include <string.h>

#define FRESH_US     INT64_C(1000000)
#define SECOND_US    INT64_C(1000000)
#define RESET_MAX_US INT64_C(86400000000) /* a later reset counts as one day away */
#define STUDIES_MAX  64
#define NOTHING_LEFT "the vendor says that nothing is left"

/* An update of a ledger under way. One at a time for each limit, key and unit: the next answer
 * repeats the numbers. */
typedef struct study {
    struct study *next;
    takt_call call;
    takt_client *client;
    int64_t block_us;
    char limit[TAKT_NAME_SIZE_MAX + 1];
    char key[TAKT_KEY_SIZE_MAX + 1];
    char unit[TAKT_UNIT_SIZE_MAX + 1]; /* "": not said */
} study;

static study *studies;
static int study_count;

static int64_t reset_of(const takt_caller_vendor_word *word)
{
    return word->reset_us < RESET_MAX_US ? word->reset_us : RESET_MAX_US;
}

bool takt_caller_learn_holds(const takt_caller_vendor_word *word, int64_t age_us)
{
    bool says_when = word->reset_us != VENDOR_UNSAID;

    if ((word->remaining > 0 || !says_when || word->trickles) && age_us > FRESH_US)
        return false;
    return !says_when || reset_of(word) - age_us > SECOND_US;
}

static bool is_at_it(const char *limit, const char *key, const char *unit)
{
    for (const study *at = studies; at; at = at->next)
        if (strcmp(at->limit, limit) == 0 && strcmp(at->key, key) == 0 &&
            strcmp(at->unit, unit) == 0)
            return true;
    return false;
}

static void forget(study *done)
{
    study **at = &studies;

    while (*at != done)
        at = &(*at)->next;
    *at = done->next;
    study_count--;
    free(done);
}

static void on_lowered(takt_call *call, int status, const takt_standing *standing)
{
    (void)status; /* if the store fails, the next answer repeats the numbers */
    (void)standing;
    forget(call->data);
}

static const char *key_of(const study *of)
{
    return of->key[0] ? of->key : NULL;
}

/* What our own count has left of a unit. */
static int64_t left_of(const takt_standing *standing, const char *unit)
{
    int64_t left = -1;

    for (int i = 0; i < standing->rule_count; i++)
        if (strcmp(standing->rules[i].unit, unit) == 0 &&
            (left < 0 || standing->rules[i].remaining < left))
            left = standing->rules[i].remaining;
    return left < 0 ? standing->remaining : left;
}

static void on_looked(takt_call *call, int status, const takt_standing *standing)
{
    study *of = call->data;

    if (status != 0 || left_of(standing, of->unit) == 0 ||
        takt_block(of->client, call, of->limit, key_of(of), of->block_us, NOTHING_LEFT,
                   on_lowered) != 0)
        forget(of);
}

static const char *unit_of(const study *of)
{
    return of->unit[0] ? of->unit : NULL;
}

static int begin(study *of, const takt_caller_vendor_word *word)
{
    if (word->remaining == 0 && word->reset_us != VENDOR_UNSAID && !word->trickles)
        return takt_peek(of->client, &of->call, of->limit, key_of(of), on_looked);
    return takt_lower(of->client, &of->call, of->limit, key_of(of), unit_of(of), word->remaining,
                      on_lowered);
}

/* The unit of a word for this limit: one without a unit is about requests, if a rule counts them.
 * NULL: the limit does not count it. */
static const char *unit_for(const takt_job *job, const takt_caller_vendor_word *word)
{
    const takt_policy *policy = takt_get_policy(takt_job_client(job));
    const char *limit = takt_job_head_of(job)->limit, *unit = word->unit ? word->unit : "requests";

    if (takt_policy_counts(policy, limit, unit))
        return unit;
    return word->unit ? NULL : "";
}

static void learn_word(const takt_job *job, const takt_caller_vendor_word *word, int64_t age_us)
{
    const takt_job_head *head = takt_job_head_of(job);
    const char *key = head->key ? head->key : "", *unit = unit_for(job, word);
    study *made;

    if (!unit || !takt_caller_learn_holds(word, age_us) || study_count == STUDIES_MAX ||
        is_at_it(head->limit, key, unit))
        return;
    made = calloc(1, sizeof(*made));
    if (!made)
        return;
    made->client = takt_job_client(job);
    made->call.data = made;
    made->block_us = reset_of(word) - age_us;
    strcpy(made->limit, head->limit); /* the client has accepted all these names */
    strcpy(made->key, key);
    strcpy(made->unit, unit);
    made->next = studies;
    studies = made;
    study_count++;
    if (begin(made, word) != 0)
        forget(made);
}

void takt_caller_learn(const takt_job *job, const takt_caller_vendor_word *words, int count,
                       int64_t age_us)
{
    for (int i = 0; i < count; i++)
        learn_word(job, &words[i], age_us);
}
