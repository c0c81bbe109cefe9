/*
 * ledger.c: see ledger.h.  Decides who is given which slots now, and when the others are to ask
 * again.
 *
 * In short: those who wait stand in line by priority, then turn.  Each leaves room for those before
 * it (a share each, and all that higher priorities want), takes the earliest slots up to its own
 * share, and goes to the back.
 */
#include "core/ledger.h"

#include <string.h>

#define SILENT_KEEPALIVES 3 /* a place is dropped after that many without a claim */
/* Nobody is told to ask again sooner than after this part of the lookahead; whoever is first may be
 * quicker, for there is only one. */
#define LOOKAHEAD_FRACTION       16
#define LOOKAHEAD_FRACTION_FIRST 64

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void takt_ledger_init(takt_ledger *ledger, const takt_limit *limit, int64_t now_us)
{
    takt_limit_begin(&ledger->state, ledger->pages);
    takt_limit_rest(limit, &ledger->state, now_us);
    ledger->limit = limit;
    ledger->turn = 0;
    ledger->blocked_until_us = 0;
    ledger->line_count = 0;
}

void takt_ledger_adopt(takt_ledger *ledger, const takt_limit *limit, int64_t now_us)
{
    if (limit == ledger->limit || limit->revision < ledger->limit->revision)
        return;
    if (!takt_limit_same(ledger->limit, limit))
        takt_limit_convert(ledger->limit, limit, &ledger->state, now_us);
    ledger->limit = limit;
}

/* ---- the line -------------------------------------------------------------------------------- */

static void remove_place(takt_ledger *ledger, int at)
{
    ledger->line_count--;
    memmove(&ledger->line[at], &ledger->line[at + 1],
            (size_t)(ledger->line_count - at) * sizeof *ledger->line);
}

/* The end of a priority's part of the line. */
static int end_of(const takt_ledger *ledger, int priority)
{
    int at = 0;

    while (at < ledger->line_count && ledger->line[at].priority <= priority)
        at++;
    return at;
}

static int insert_last(takt_ledger *ledger, takt_place place)
{
    int at = end_of(ledger, place.priority);

    place.turn = ++ledger->turn;
    memmove(&ledger->line[at + 1], &ledger->line[at],
            (size_t)(ledger->line_count - at) * sizeof *ledger->line);
    ledger->line[at] = place;
    ledger->line_count++;
    return at;
}

static int find_place(const takt_ledger *ledger, uint64_t worker, int priority)
{
    for (int at = 0; at < ledger->line_count; at++)
        if (ledger->line[at].worker == worker && ledger->line[at].priority == priority)
            return at;
    return -1;
}

/* Drops the silent, and steps round heads that did not come when they were told to. */
static void tidy_line(takt_ledger *ledger, int64_t now_us)
{
    int kept = 0;
    bool head = true; /* nobody of this priority stands before this place */

    for (int at = 0; at < ledger->line_count; at++) {
        takt_place place = ledger->line[at];
        place.expires_at_us =
            least(place.expires_at_us, now_us + SILENT_KEEPALIVES * TAKT_KEEPALIVE_US);
        if (place.expires_at_us < now_us)
            continue;
        if (kept == 0 || ledger->line[kept - 1].priority != place.priority)
            head = true;
        if (head && !place.aside && place.again_at_us + ledger->limit->lookahead_us < now_us)
            place.aside = true;
        if (!place.aside)
            head = false;
        ledger->line[kept++] = place;
    }
    ledger->line_count = kept;
}

/* What time alone changes: clocks that jumped, blocks that end, workers that fell silent. */
static void tidy(takt_ledger *ledger, int64_t now_us)
{
    takt_limit_pull_back(ledger->limit, &ledger->state, now_us);
    if (ledger->blocked_until_us > 0 &&
        ledger->blocked_until_us <= now_us + ledger->limit->lookahead_us) {
        takt_limit_exhaust(ledger->limit, &ledger->state, ledger->blocked_until_us);
        if (ledger->blocked_until_us <= now_us)
            ledger->blocked_until_us = 0;
    }
    tidy_line(ledger, now_us);
}

/* ---- room and turns -------------------------------------------------------------------------- */

/* How things stand for one place, in tokens. */
typedef struct view {
    int64_t room;  /* with slots due by now + lookahead, not yet given away */
    int64_t share; /* what one turn may take */
    int64_t ahead; /* of the room, what is left to those before this place */
} view;

static view look(const takt_ledger *ledger, int64_t now_us, int at)
{
    const takt_place *me = &ledger->line[at], *head = NULL;
    int64_t from_us = most(now_us, ledger->blocked_until_us);
    int64_t workers = 1, before = 0, urgent = 0;
    view v;

    for (int i = 0; i < ledger->line_count; i++) {
        const takt_place *place = &ledger->line[i];
        if (i == at || place->aside)
            continue;
        if (place->priority < me->priority)
            urgent += place->wanting;
        if (place->priority != me->priority)
            continue;
        workers++;
        before += i < at;
        if (i < at && !head)
            head = place;
    }
    v.room = takt_limit_room(ledger->limit, &ledger->state, from_us,
                             now_us + ledger->limit->lookahead_us);
    v.share =
        most(takt_limit_throughput(ledger->limit, ledger->limit->lookahead_us), v.room) / workers;
    v.share = most(v.share, 1);
    v.ahead = urgent + before * v.share;
    if (head && head->need > v.share)
        v.ahead += head->need - v.share;
    return v;
}

/* Under newer numbers a cost that was possible may be more than a rule can ever give: nobody is to
 * wait for it.  Its worker refuses it when it learns of them. */
static bool can_ever_be_given(const takt_ledger *ledger, const takt_want *want)
{
    return want->cost <= takt_limit_capacity(ledger->limit, NULL);
}

/* Gives a place as much of what its worker wants as its turn allows.  Returns the tokens. */
static int64_t serve(takt_ledger *ledger, int64_t now_us, int at, const takt_claim *claim,
                     takt_award *award)
{
    takt_place *me = &ledger->line[at];
    view v = look(ledger, now_us, at);
    int64_t from_us = most(now_us, ledger->blocked_until_us);
    int64_t left = least(most(v.share, me->need), v.room - v.ahead);
    int64_t given = 0;

    for (int i = 0; i < claim->want_count; i++) {
        const takt_want *want = &claim->wants[i];
        int64_t until_us = least(now_us + ledger->limit->lookahead_us, want->latest_us);
        int64_t count, n;
        if (want->priority != me->priority || !can_ever_be_given(ledger, want))
            continue;
        count = least(want->count, left > 0 ? left / want->cost : 0);
        n = takt_limit_take(ledger->limit, &ledger->state, from_us, want->cost, count, until_us,
                            award->runs, &award->run_count, TAKT_RUNS_MAX);
        given += n * want->cost;
        left -= n * want->cost;
        me->waiting -= n;
        if (n < want->count && want->latest_us > until_us) {
            me->need = want->cost; /* first come, first served: nobody behind it goes before it */
            break;
        }
    }
    me->wanting -= given;
    return given;
}

/* When there will be room for this place's next turn.  A turn is asked for early enough that its
 * slots are in hand half a lookahead before they are due, the first one too where a rule's slots
 * are not evenly spaced. */
static int64_t again_at(const takt_ledger *ledger, int64_t now_us, int at)
{
    const takt_place *me = &ledger->line[at];
    view v = look(ledger, now_us, at);
    int64_t lookahead_us = ledger->limit->lookahead_us;
    int64_t from_us = most(now_us, ledger->blocked_until_us);
    int64_t half = takt_limit_throughput(ledger->limit, lookahead_us / 2);
    int64_t need = most(me->need, 1);
    int64_t turn = most(least(least(me->wanting, v.share), half), need);
    int64_t first_us = takt_limit_due(ledger->limit, &ledger->state, from_us, v.ahead + need);
    int64_t due_us = takt_limit_due(ledger->limit, &ledger->state, from_us, v.ahead + turn);

    due_us = least(due_us, first_us + lookahead_us / 2);
    return most(due_us - lookahead_us,
                now_us +
                    lookahead_us / (v.ahead > 0 ? LOOKAHEAD_FRACTION : LOOKAHEAD_FRACTION_FIRST));
}

/* ---- a claim --------------------------------------------------------------------------------- */

static void tell_standing(const takt_ledger *ledger, int64_t *waiting, int64_t *workers)
{
    *waiting = 0;
    *workers = 0;
    for (int i = 0; i < ledger->line_count; i++) {
        *waiting += ledger->line[i].waiting;
        *workers += ledger->line[i].foremost;
    }
}

static bool is_stale(const takt_ledger *ledger, const takt_claim *claim)
{
    for (int i = 0; i < ledger->line_count; i++)
        if (ledger->line[i].worker == claim->worker && ledger->line[i].seq >= claim->seq)
            return true;
    return false;
}

/* Brings the worker's places in line with what it says it wants. */
static void restate(takt_ledger *ledger, int64_t now_us, const takt_claim *claim)
{
    int64_t unlisted = claim->waiting;
    int last = -1;

    for (int i = 0; i < claim->want_count; i++) {
        unlisted -= claim->wants[i].count;
        last = claim->wants[i].priority;
    }
    for (int priority = 0; priority < TAKT_PRIORITIES; priority++) {
        int at = find_place(ledger, claim->worker, priority);
        int64_t wanting = 0, waiting = priority == last ? most(unlisted, 0) : 0, need = 0;
        for (int i = 0; i < claim->want_count; i++) {
            const takt_want *want = &claim->wants[i];
            if (want->priority != priority || !can_ever_be_given(ledger, want))
                continue;
            wanting += want->count * want->cost;
            waiting += want->count;
            need = need ? need : want->cost;
        }
        if (wanting == 0) {
            if (at >= 0)
                remove_place(ledger, at);
            continue;
        }
        if (at < 0)
            at = insert_last(ledger,
                             (takt_place){.worker = claim->worker, .priority = (int8_t)priority});
        ledger->line[at].seq = claim->seq;
        ledger->line[at].wanting = wanting;
        ledger->line[at].waiting = waiting;
        ledger->line[at].need = need;
        ledger->line[at].again_at_us = now_us;
        ledger->line[at].expires_at_us = now_us + SILENT_KEEPALIVES * TAKT_KEEPALIVE_US;
        ledger->line[at].aside = false;
    }
}

/* One turn for each of the worker's places, the most urgent first. */
static void serve_all(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                      takt_award *award)
{
    for (int priority = 0; priority < TAKT_PRIORITIES; priority++) {
        int at = find_place(ledger, claim->worker, priority);
        int64_t given;
        if (at < 0)
            continue;
        given = serve(ledger, now_us, at, claim, award);
        if (ledger->line[at].waiting <= 0) {
            remove_place(ledger, at);
        } else if (given > 0) { /* had a turn: to the back */
            takt_place place = ledger->line[at];
            remove_place(ledger, at);
            insert_last(ledger, place);
        }
    }
}

static void plan_all(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                     takt_award *award)
{
    bool foremost = true;

    for (int at = 0; at < ledger->line_count; at++) {
        int64_t again_us;
        if (ledger->line[at].worker != claim->worker) {
            award->least_urgent = ledger->line[at].priority;
            continue;
        }
        ledger->line[at].foremost = foremost;
        foremost = false;
        award->in_line |= 1U << ledger->line[at].priority;
        again_us = again_at(ledger, now_us, at);
        ledger->line[at].again_at_us = least(again_us, now_us + TAKT_KEEPALIVE_US);
        award->claim_again_at_us = least(award->claim_again_at_us, again_us);
    }
}

/* Of the waiters that were given nothing, the last ones may be more than the fleet's line may hold.
 */
static void refuse(takt_ledger *ledger, const takt_claim *claim, takt_award *award)
{
    int64_t waiting, workers, over;

    if (ledger->limit->max_waiting == 0)
        return;
    tell_standing(ledger, &waiting, &workers);
    over = waiting - ledger->limit->max_waiting;
    for (int at = ledger->line_count - 1; at >= 0 && over > 0; at--) {
        takt_place *place = &ledger->line[at];
        int64_t n = least(over, place->waiting);
        if (place->worker != claim->worker)
            continue;
        over -= n;
        award->refused += n;
        place->waiting -= n;
        place->wanting = most(place->wanting - n * place->need, 0);
        if (place->waiting == 0)
            remove_place(ledger, at);
    }
}

void takt_ledger_claim(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                       takt_award *award)
{
    award->now_us = now_us;
    award->claim_again_at_us = TAKT_NEVER;
    award->refused = 0;
    award->in_line = 0;
    award->least_urgent = -1;
    award->run_count = 0;
    tidy(ledger, now_us);
    award->stale = is_stale(ledger, claim);
    if (!award->stale) {
        restate(ledger, now_us, claim);
        serve_all(ledger, now_us, claim, award);
        refuse(ledger, claim, award);
        plan_all(ledger, now_us, claim, award);
    }
    award->blocked_until_us = ledger->blocked_until_us;
    award->next_slot_at_us = takt_limit_earliest(ledger->limit, &ledger->state,
                                                 most(now_us, ledger->blocked_until_us), 1);
    tell_standing(ledger, &award->waiting, &award->workers);
}

void takt_ledger_tell_newer(const takt_ledger *ledger, const takt_limit *limit, takt_award *award)
{
    award->outdated = limit->revision < ledger->limit->revision;
    if (award->outdated)
        award->newer = *ledger->limit;
}

/* ---- the other calls ------------------------------------------------------------------------- */

bool takt_ledger_try(takt_ledger *ledger, int64_t now_us, int64_t cost, int64_t *retry_at_us)
{
    int64_t from_us, ahead = 0;

    tidy(ledger, now_us);
    from_us = most(now_us, ledger->blocked_until_us);
    for (int i = 0; i < ledger->line_count; i++)
        ahead += ledger->line[i].aside ? 0 : ledger->line[i].wanting;
    *retry_at_us = takt_limit_earliest(ledger->limit, &ledger->state, from_us, cost);
    if (ahead > 0 && *retry_at_us != TAKT_NEVER)
        *retry_at_us = most(*retry_at_us,
                            takt_limit_due(ledger->limit, &ledger->state, from_us, ahead + cost));
    if (*retry_at_us > now_us)
        return false;
    takt_limit_commit(ledger->limit, &ledger->state, now_us, cost);
    return true;
}

void takt_ledger_peek(takt_ledger *ledger, int64_t now_us, takt_standing *standing)
{
    int64_t from_us;

    tidy(ledger, now_us);
    from_us = most(now_us, ledger->blocked_until_us);
    standing->now_us = now_us;
    standing->limit = takt_limit_capacity(ledger->limit, NULL);
    standing->remaining =
        from_us > now_us ? 0 : takt_limit_room(ledger->limit, &ledger->state, now_us, now_us);
    standing->retry_after_us =
        takt_limit_earliest(ledger->limit, &ledger->state, from_us, 1) - now_us;
    standing->reset_after_us = most(
        most(takt_limit_rest_at(ledger->limit, &ledger->state), ledger->blocked_until_us) - now_us,
        0);
    standing->blocked_until_us = ledger->blocked_until_us;
    tell_standing(ledger, &standing->waiting, &standing->workers);
}

void takt_ledger_block(takt_ledger *ledger, int64_t now_us, int64_t for_us)
{
    tidy(ledger, now_us);
    ledger->blocked_until_us = most(ledger->blocked_until_us, now_us + for_us);
}

void takt_ledger_unblock(takt_ledger *ledger, int64_t now_us)
{
    tidy(ledger, now_us);
    if (ledger->blocked_until_us > 0)
        takt_limit_exhaust(ledger->limit, &ledger->state, now_us);
    ledger->blocked_until_us = 0;
}

void takt_ledger_reset(takt_ledger *ledger, int64_t now_us)
{
    tidy(ledger, now_us);
    takt_limit_rest(ledger->limit, &ledger->state, now_us);
}

int64_t takt_ledger_expires_at(const takt_ledger *ledger)
{
    takt_limit_state state = ledger->state;
    int64_t at_us;

    if (ledger->blocked_until_us > 0) /* a new ledger would have a burst at the end of the block */
        takt_limit_exhaust(ledger->limit, &state, ledger->blocked_until_us);
    at_us = most(takt_limit_rest_at(ledger->limit, &state), ledger->blocked_until_us);
    for (int i = 0; i < ledger->line_count; i++)
        at_us = most(at_us, ledger->line[i].expires_at_us);
    return at_us;
}
