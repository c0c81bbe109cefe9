/*
 * try.c: takt_ledger_try: takes an amount now from a ledger and its inner ones, or takes nothing.
 *
 * Each level decides as if it were alone: by its rules, its permits, its block and those who wait
 * for it.  All are checked before the first one changes.  See ledger.h.
 */
#include "base/integers.h"
#include "core/award.h"
#include "core/holders.h"
#include "core/inner_line.h"
#include "core/inner_permits.h"
#include "core/meter.h"

static takt_ledger *ledger_of(takt_ledger *ledger, int ledger_no)
{
    return ledger_no > 0 ? ledger->inner[ledger_no - 1] : ledger;
}

/* The ledger after that one: the innermost is the first, and the outermost the last. */
static int outer_of(const takt_ledger *ledger, int ledger_no)
{
    return ledger_no < ledger->inner_count ? ledger_no + 1 : 0;
}

static int innermost_of(const takt_ledger *ledger)
{
    return ledger->inner_count > 0;
}

/* What the waiters want. A permit is wanted with at least one token, so as many permits as tokens
 * are enough for all of them. */
static takt_amounts wanted(const takt_ledger *ledger)
{
    takt_amounts all = {{0}};

    for (int i = 0; i < ledger->line_count; i++) {
        const takt_place *place = &ledger->line[i];
        if (place->aside)
            continue;
        all.of[TAKT_UNIT_TOKENS] += place->wanting;
        all.of[TAKT_UNIT_REQUESTS] += place->waiting - place->held_back;
        for (int unit = TAKT_UNIT_MORE; unit < TAKT_UNITS; unit++)
            all.of[unit] += place->more.of[unit];
    }
    return all;
}

/* Whether the line of that ledger is one of workers whose work is not nested: inner_line.h. */
static bool is_unread(const takt_ledger *own, int ledger_no)
{
    return ledger_no > 0 && own->tenant_count == 0;
}

/* When one level would give that.  `stated`: the worker says what it holds; another one can get no
 * permit. */
static int64_t given_at(const takt_ledger *ledger, int64_t now_us, takt_amounts taken,
                        takt_amounts ahead, bool stated)
{
    int64_t from_us = takt_max(now_us, ledger->blocked_until_us);
    int64_t at_us = takt_numbers_earliest(ledger->numbers, &ledger->state, from_us, taken);
    bool permitted = stated ? takt_holders_free(ledger) > ahead.of[TAKT_UNIT_TOKENS]
                            : ledger->numbers->concurrency == 0;

    if (at_us == TAKT_NEVER)
        return TAKT_NEVER;
    if (ahead.of[TAKT_UNIT_TOKENS] > 0) {
        for (int unit = 0; unit < TAKT_UNITS; unit++)
            ahead.of[unit] += taken.of[unit];
        at_us = takt_max(at_us, takt_numbers_due(ledger->numbers, &ledger->state, from_us, ahead));
    }
    if (!permitted) /* a permit may come free at any time, so asking again soon is useful */
        at_us = takt_max(at_us, now_us + takt_max(ledger->numbers->lookahead_us, 1));
    return at_us;
}

/* The same of all levels.  Notes which of them refuses for the longest. */
static int64_t all_given_at(takt_ledger *ledger, int64_t now_us, takt_amounts one, bool stated)
{
    int ledger_no = innermost_of(ledger);
    int64_t at_us = now_us;

    ledger->tight = 0;
    for (int i = 0; i <= ledger->inner_count; i++, ledger_no = outer_of(ledger, ledger_no)) {
        const takt_ledger *own = ledger_of(ledger, ledger_no);
        takt_amounts none = {{0}}, taken = takt_amounts_by(own->units, one);
        takt_amounts ahead = is_unread(own, ledger_no) ? none : wanted(own);
        int64_t own_at_us = given_at(own, now_us, taken, ahead, stated);
        if (own_at_us <= at_us)
            continue;
        at_us = own_at_us;
        ledger->tight = ledger_no;
    }
    return at_us;
}

static void take(takt_ledger *ledger, int64_t now_us, takt_amounts taken)
{
    takt_numbers_commit(ledger->numbers, &ledger->state, now_us, taken);
    takt_meter_add(ledger, taken.of[TAKT_UNIT_TOKENS]);
}

/* Takes it from all levels if none refuses. */
static bool take_now(takt_ledger *ledger, int64_t now_us, takt_amounts one, bool stated,
                     int64_t *retry_at_us)
{
    *retry_at_us = all_given_at(ledger, now_us, one, stated);
    if (*retry_at_us > now_us)
        return false;
    for (int ledger_no = 0; ledger_no <= ledger->inner_count; ledger_no++) {
        takt_ledger *own = ledger_of(ledger, ledger_no);
        take(own, now_us, takt_amounts_by(own->units, one));
    }
    return true;
}

bool takt_ledger_try(takt_ledger *ledger, int64_t now_us, int64_t cost, takt_more more,
                     int64_t *retry_at_us)
{
    takt_ledger_tidy(ledger, now_us);
    takt_inner_tidy(ledger, now_us);
    return take_now(ledger, now_us, takt_amounts_of(cost, more), false, retry_at_us);
}

bool takt_ledger_try_permit(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                            int64_t cost, takt_more more, int64_t *retry_at_us, takt_award *award)
{
    bool taken = false;

    takt_ledger_tidy(ledger, now_us);
    takt_inner_tidy(ledger, now_us);
    takt_award_begin(ledger, now_us, claim, award);
    *retry_at_us = now_us;
    ledger->tight = 0;
    if (!award->stale) {
        award->holding = takt_inner_permits_state(ledger, now_us, claim);
        taken = take_now(ledger, now_us, takt_amounts_of(cost, more), true, retry_at_us);
        if (taken)
            award->runs[award->run_count++] = takt_run_at(now_us, 1, (int32_t)cost, more);
        if (taken && ledger->numbers->concurrency > 0)
            takt_holders_give(ledger, now_us, claim, 1);
        if (taken)
            takt_inner_permits_give(ledger, now_us, claim, 1);
    }
    takt_award_end(ledger, now_us, claim, award);
    return taken;
}

/* ---- which level the answer is about --------------------------------------------------------- */

static void peek(takt_ledger *ledger, int ledger_no, int64_t now_us, takt_standing *standing)
{
    takt_ledger *own = ledger_of(ledger, ledger_no);
    int unread = is_unread(own, ledger_no) ? own->line_count : 0;

    own->line_count -= unread;
    takt_ledger_peek(own, now_us, standing);
    own->line_count += unread;
}

void takt_ledger_tried(takt_ledger *ledger, int64_t now_us, bool taken, takt_standing *standing)
{
    int ledger_no = innermost_of(ledger);
    takt_standing told = *standing;

    peek(ledger, taken ? ledger_no : ledger->tight, now_us, standing);
    if (!taken)
        return;
    ledger->tight = ledger_no;
    while ((ledger_no = outer_of(ledger, ledger_no)) != innermost_of(ledger)) {
        peek(ledger, ledger_no, now_us, &told);
        if (told.remaining >= standing->remaining)
            continue;
        *standing = told;
        ledger->tight = ledger_no;
    }
}
