/*
 * any_jobs.c: acquires, cancels and releases permits and makes calls in any order, and checks their
 * results against a model.
 */
#include "any/any.h"

#include <string.h>

#define FIFTY_YEARS INT64_C(1576800000000000) /* the longest span there is */

/* The longest one has TAKT_KEY_SIZE_MAX bytes. */
#define FIFTEEN "xxxxxxxxxxxxxxx"
#define HUNDRED FIFTEEN FIFTEEN FIFTEEN FIFTEEN FIFTEEN FIFTEEN "xxxxxxxxxx"
static const char *const keys[KEYS] = {
    NULL, "a", "{b}:%\n\"", "\xff\x01\t",
    HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED FIFTEEN
    "xxxxxxxxx"};
_Static_assert(sizeof HUNDRED == 101 && 10 * 100 + 15 + 9 == TAKT_KEY_SIZE_MAX, "the longest key");

const char *job_key(int key)
{
    return keys[key];
}

/* ---- the model ------------------------------------------------------------------------------- */

/* Counts a permit among the holders of all its limits, or removes it from them. */
static void count(job *of, int by)
{
    int level = 0;

    MUST(of->counted == (by < 0), "counted twice");
    of->counted = by > 0;
    for (int at = of->limit; at >= 0; at = limits[at].within, level++) {
        int *held = &here.held[at][of->keys[level]];
        *held += by;
        MUST(here.lossy || limits[at].concurrency == 0 || *held <= limits[at].concurrency,
             "%d hold permits of %s", *held, limits[at].name);
    }
}

static void note_slot(const job *of)
{
    int strict = limit_named("strict"), level = 0;

    for (int at = of->limit; at >= 0; at = limits[at].within, level++) {
        int key = of->keys[level];
        if (at != strict || of->permit.uncharged || here.slot_count[key] == SLOTS_MAX)
            continue;
        here.slots[key][here.slot_count[key]++] = (slot){of->permit.slot_at_us, of->cost};
    }
}

static void granted(job *of)
{
    of->phase = GRANTED;
    of->party->grants++;
    MUST(!of->party->closing, "a grant after takt_close");
    count(of, 1);
    note_slot(of);
}

static void ended(job *of)
{
    of->phase = AT_REST;
    MUST(of->permit.slot_at_us == 0, "a slot without a grant");
    MUST(!takt_is_held(&of->permit), "held without a grant");
}

void job_given_back(party *of)
{
    for (int i = 0; i < JOBS; i++)
        if (here.jobs[i] && here.jobs[i]->party == of && here.jobs[i]->counted)
            count(here.jobs[i], -1);
}

void job_lost(takt_permit *permit)
{
    job *of = permit->data;

    MUST(of->phase == GRANTED, "an event of a permit that was not granted");
    MUST(!takt_is_held(permit), "lost and held");
    if (of->counted)
        count(of, -1);
}

void job_forget(party *of)
{
    for (int i = 0; i < JOBS; i++) {
        job *at = here.jobs[i];
        if (!at || at->party != of)
            continue;
        MUST(at->phase == AT_REST || at->phase == GRANTED, "closed without a callback");
        at->permit = (takt_permit){.data = at};
        at->phase = AT_REST;
        at->party = NULL;
    }
    for (int i = 0; i < CALLS; i++)
        MUST(!here.errands[i] || here.errands[i]->party != of, "closed without a call's callback");
}

bool jobs_wait(void)
{
    for (int i = 0; i < JOBS; i++)
        if (here.jobs[i] && (here.jobs[i]->phase == WAITING || here.jobs[i]->phase == TRYING))
            return true;
    return false;
}

bool calls_wait(void)
{
    for (int i = 0; i < CALLS; i++)
        if (here.errands[i])
            return true;
    return false;
}

/* Each shadow waiter is of work that has started, and is counted once. */
static void check_shadow(const party *of, const char *limit)
{
    takt_shadow shadow;

    if (takt_get_shadow(of->client, limit, &shadow) != 0)
        return;
    MUST(shadow.acquires ==
             shadow.at_once + shadow.waited + shadow.refused + shadow.waiting + shadow.unmeasured,
         "%s: shadow waiters are lost", limit);
    MUST(shadow.acquires <= of->grants, "%s: a shadow of work that has not started", limit);
}

void check_party(const party *of)
{
    takt_stats stats;

    if (!of->client)
        return;
    takt_get_stats(of->client, &stats);
    MUST(stats.waiting == of->waiting, "%d wait, not %d", (int)stats.waiting, (int)of->waiting);
    MUST(stats.acquires == of->accepted, "acquires");
    MUST(stats.store_answers <= stats.store_calls, "answers");
    for (int i = 0; i < limit_count; i++)
        if (limits[i].shadow)
            check_shadow(of, limits[i].name);
}

static int by_time(const void *a, const void *b)
{
    int64_t first = ((const slot *)a)->at_us, second = ((const slot *)b)->at_us;

    return (first > second) - (first < second);
}

/* "strict": 500/s with a burst of 3 leaves a bucket of 3 tokens, filled by one each 2 ms. */
void check_slots(void)
{
    for (int key = 0; key < KEYS; key++) {
        int64_t full_at_us = 0; /* of a bucket that is counted in the time that its filling takes */
        qsort(here.slots[key], (size_t)here.slot_count[key], sizeof(slot), by_time);
        for (int i = 0; i < here.slot_count[key] && !here.lossy; i++) {
            const slot *at = &here.slots[key][i];
            full_at_us = (full_at_us > at->at_us ? full_at_us : at->at_us) + 2000 * at->cost;
            MUST(full_at_us - at->at_us <= 3 * 2000, "over the rate of strict, slot %d", i);
        }
    }
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static void answered(job *of, int status)
{
    if (status == 0)
        granted(of);
    else
        ended(of);
    do_within_callback();
}

static void acquired(takt_permit *permit, int status)
{
    job *of = permit->data;
    party *by = of->party;

    MUST(of->phase == WAITING, "a callback that nobody waits for");
    by->waiting--;
    MUST(status != TAKT_E_CANCELED || of->cancelled || by->closing, "cancelled by nobody");
    MUST(status != TAKT_E_DEADLINE || of->has_deadline, "too late for nothing");
    MUST(status != TAKT_E_INVALID && status != TAKT_E_BUSY && status != TAKT_E_NO_SLOT, "%s",
         takt_strerror(status));
    MUST(status != 0 || !of->cancelled, "granted though cancelled");
    answered(of, status);
}

static void tried(takt_call *call, int status, const takt_standing *standing)
{
    job *of = call->data;

    MUST(of->phase == TRYING, "an answer that nobody waits for");
    MUST(!standing || standing->remaining >= 0, "less than none left");
    answered(of, status);
}

static void called(takt_call *of, int status, const takt_standing *standing)
{
    errand *at = of->data;

    MUST(standing || status != 0, "no standing");
    for (int i = 0; i < CALLS; i++)
        if (here.errands[i] == at) {
            here.errands[i] = NULL;
            free(at);
            do_within_callback();
            return;
        }
    MUST(false, "a call's callback that nobody waits for");
}

/* ---- acts ------------------------------------------------------------------------------------ */

static job *any_job(void)
{
    job **at = &here.jobs[below(JOBS)];

    if (!*at) {
        *at = calloc(1, sizeof **at);
        (*at)->permit.data = *at;
    }
    return *at;
}

static takt_request any_request(job *of, int *chosen_keys)
{
    int limit = (int)below(limit_count), level = 0;
    takt_request request = TAKT_REQUEST(limits[limit].name);

    for (int at = limit; at >= 0; at = limits[at].within, level++) {
        chosen_keys[level] = one_in(2) ? 0 : (int)below(KEYS);
        if (level == 0)
            request.key = keys[chosen_keys[0]];
        else
            request.within_keys[level - 1] = keys[chosen_keys[level]];
    }
    request.cost = one_in(5) ? 1 + (int32_t)below(one_in(9) ? TAKT_COST_MAX : 3) : 1;
    request.priority = one_in(3) ? (int32_t)below(TAKT_PRIORITY_MAX + 1) : TAKT_PRIORITY_POLICY;
    if (one_in(3))
        request.max_wait_us = one_in(9) ? (one_in(2) ? INT64_MAX : 2 * FIFTY_YEARS)
                                        : 1 + below(one_in(2) ? 100 : 20000);
    (void)of;
    return request;
}

static void begin(job *of, party *by, const takt_request *request, const int *chosen_keys)
{
    of->limit = limit_named(request->limit);
    memcpy(of->keys, chosen_keys, sizeof of->keys);
    of->party = by;
    of->cost = request->cost;
    of->has_deadline = request->max_wait_us > 0;
    of->cancelled = of->settled = false;
}

/* A permit is busy until it has been released. */
static void check_code(const job *of, int code)
{
    if (of->phase != AT_REST)
        MUST(code == TAKT_E_BUSY, "%s", takt_strerror(code));
    else
        MUST(code == 0 || code == TAKT_E_NO_LIMIT || code == TAKT_E_COST, "%s",
             takt_strerror(code));
}

static void note_released(job *of)
{
    if (of->phase != GRANTED)
        return;
    if (of->counted)
        count(of, -1);
    of->phase = AT_REST;
}

void do_acquire(void)
{
    party *by = any_party();
    job *of = any_job();
    int chosen_keys[TAKT_LEVELS_MAX] = {0}, code;
    takt_request request = any_request(of, chosen_keys);

    if (!by)
        return;
    code = takt_acquire(by->client, &of->permit, &request, acquired);
    check_code(of, code);
    if (code != 0)
        return;
    begin(of, by, &request, chosen_keys);
    of->phase = WAITING;
    by->accepted++;
    by->waiting++;
}

void do_try(void)
{
    party *by = any_party();
    job *of = any_job();
    int chosen_keys[TAKT_LEVELS_MAX] = {0}, code;
    takt_request request = any_request(of, chosen_keys);

    if (!by)
        return;
    of->call.data = of;
    code = takt_try_acquire(by->client, &of->call, &of->permit, &request, tried);
    check_code(of, code);
    if (code != 0)
        return;
    begin(of, by, &request, chosen_keys);
    of->phase = TRYING;
}

void do_cancel(void)
{
    job *of = here.jobs[below(JOBS)];

    if (!of)
        return;
    if (takt_cancel(&of->permit) == 0) {
        MUST(of->phase == WAITING, "cancelled what does not wait");
        of->cancelled = true;
    } else {
        MUST(of->phase != WAITING || here.depth > 0 || of->cancelled || of->party->closing ||
                 of->limit >= limit_named("shade"),
             "what waits cannot be cancelled");
    }
}

void job_release(job *of)
{
    takt_release(&of->permit);
    if (one_in(4))
        takt_release(&of->permit);
    if (of->phase == WAITING) {
        of->party->waiting--;
        of->phase = AT_REST;
    }
    note_released(of);
}

void do_release(void)
{
    job *of = here.jobs[below(JOBS)];

    if (of)
        job_release(of);
}

void do_free(void)
{
    int64_t at = below(JOBS);
    job *of = here.jobs[at];

    if (!of || of->phase == TRYING)
        return;
    job_release(of);
    here.jobs[at] = NULL;
    memset(of, 0x5a, sizeof *of);
    free(of);
}

/* What is given back of it would be missing among the slots that are checked. */
static bool is_of_strict(int limit)
{
    while (limit >= 0 && limit != limit_named("strict"))
        limit = limits[limit].within;
    return limit >= 0;
}

void do_settle(void)
{
    job *of = here.jobs[below(JOBS)];
    int64_t actual = one_in(2) ? 0 : below(one_in(4) ? TAKT_SETTLED_MAX : 5);
    takt_request request;
    int code, level = 1;

    if (!of || is_of_strict(of->limit))
        return;
    request = TAKT_REQUEST(limits[of->limit].name);
    request.key = keys[of->keys[0]];
    request.cost = of->cost > 0 ? of->cost : 1;
    for (int at = limits[of->limit].within; at >= 0; at = limits[at].within, level++)
        request.within_keys[level - 1] = keys[of->keys[level]];
    code = takt_settle(&of->permit, &request, TAKT_USED(actual));
    MUST(code != 0 || (of->party && !of->settled && (of->phase == GRANTED || of->phase == AT_REST)),
         "settled what was not granted");
    of->settled |= code == 0;
}

/* With a call of NULL no callback reports its end. */
static int say(party *by, takt_call *call, const char *limit, const char *key)
{
    takt_client *client = by->client;
    takt_call_cb callback = call ? called : NULL;
    bool long_one = one_in(20) && strcmp(limit, "strict") != 0;
    int64_t for_us = long_one ? FIFTY_YEARS : one_in(9) ? 20000 + below(100000) : below(3000);
    const char *reason = one_in(2) ? "a reason" : NULL;

    switch (below(9)) {
    case 0:
        return takt_watch(client, call, limit, key, 1 + below(TAKT_WATCH_MAX_US), callback);
    case 1:
        return takt_block(client, call, limit, key, for_us, reason, callback);
    case 2:
        return takt_penalize(client, call, limit, key, for_us, reason, callback);
    case 3:
        return takt_lower(client, call, limit, key, NULL, below(50), callback);
    case 4:
        return takt_unblock(client, call, limit, key, callback);
    case 5:
        if (strcmp(limit, "strict") != 0)
            return takt_reset(client, call, limit, key, callback);
        return takt_peek(client, call, limit, key, callback);
    default:
        return takt_peek(client, call, limit, key, callback);
    }
}

void do_call(void)
{
    errand **at = &here.errands[below(CALLS)];
    party *by = any_party();
    const char *limit = limits[below(limit_count)].name, *key = keys[below(KEYS)];
    int code;

    if (!by)
        return;
    if (one_in(5)) {
        code = say(by, NULL, limit, key);
        MUST(code == 0 || code == TAKT_E_NO_LIMIT || code == TAKT_E_INVALID, "detached: %s",
             takt_strerror(code));
        return;
    }
    if (*at) { /* one that is under way */
        MUST(takt_peek(by->client, &(*at)->call, "free", NULL, called) == TAKT_E_BUSY, "not busy");
        return;
    }
    *at = calloc(1, sizeof **at);
    (*at)->call.data = *at;
    (*at)->party = by;
    code = say(by, &(*at)->call, limit, key);
    if (code == 0)
        return;
    MUST(code == TAKT_E_NO_LIMIT, "%s", takt_strerror(code));
    free(*at);
    *at = NULL;
}
