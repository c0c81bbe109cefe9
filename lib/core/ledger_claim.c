/*
 * ledger_claim.c: takt_ledger_claim. Decides which worker gets which slots now, and when each
 * worker should claim again.
 *
 * In short: waiters stand in line by priority, then turn (claim_restate.h). Each place leaves room
 * for the places before it (view.h), takes the earliest slots up to its own shares, and goes to the
 * back (claim_serve.h). With concurrency, each slot needs a free permit; the time when a permit
 * comes free is unknown, so workers that lack one are woken. Then each place is told when to claim
 * again (claim_plan.h).
 */
#include "core/ledger.h"

#include "base/integers.h"
#include "core/award.h"
#include "core/claim_plan.h"
#include "core/claim_restate.h"
#include "core/claim_serve.h"
#include "core/holders.h"
#include "core/inner_line.h"
#include "core/inner_permits.h"
#include "core/lend.h"
#include "core/line.h"
#include "core/offers.h"
#include "core/overflow.h"
#include "core/pass_over.h"
#include "core/tenant_inside.h"
#include "core/tenants.h"
#include "core/view.h"

/* There is no space for the claim's tenant: it stands in no line, and claims again later. */
static void stay_out(const takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                     takt_award *award)
{
    award->claim_again_at_us = now_us + TAKT_KEEPALIVE_US;
    award->parked = claim->waiting > 0;
    award->unlisted = true;
    for (int at = 0; at < ledger->line_count; at++)
        if (ledger->line[at].worker != claim->worker)
            award->least_urgent = ledger->line[at].priority;
}

/* What the first waiter in line needs of each unit that counts, if it is the claimer's and needs
 * more than one: all other places leave that much to it. */
static takt_amounts need_of_head(const takt_ledger *ledger, const takt_claim *claim)
{
    takt_amounts needs = {{0}};
    int at = takt_claim_first_in_line(ledger);

    if (at == ledger->line_count || ledger->line[at].worker != claim->worker)
        return needs;
    TAKT_EACH_UNIT(unit, takt_view_units(ledger))
    if (takt_line_need(&ledger->line[at], unit) > 1)
        needs.of[unit] = takt_line_need(&ledger->line[at], unit);
    return needs;
}

/* Whether other waiters may get slots earlier than they were told, because the first in line, which
 * needed that much, leaves without it: it was cancelled, is too late, or was given slots that other
 * workers had handed on. */
static bool is_news(const takt_ledger *ledger, const takt_claim *claim, takt_amounts needed,
                    takt_amounts given, const takt_award *award)
{
    takt_amounts needs;

    if (award->least_urgent < 0)
        return false;
    needs = need_of_head(ledger, claim);
    TAKT_EACH_UNIT(unit, TAKT_UNITS)
    if (needed.of[unit] > given.of[unit] && needed.of[unit] > needs.of[unit])
        return true;
    return false;
}

/* Whether all waiters of the claim were given slots or refused. */
static bool is_done(const takt_claim *claim, const takt_award *award)
{
    return takt_award_given(award) + award->refused >= claim->waiting;
}

void takt_ledger_claim(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                       takt_award *award)
{
    int64_t parked_us = TAKT_NEVER;
    bool stands = true, moved;

    ledger->within_turns = claim->within_turns && ledger->inner_count > 0;
    takt_ledger_tidy(ledger, now_us);
    takt_inner_tidy(ledger, now_us);
    takt_award_begin(ledger, now_us, claim, award);
    if (!award->stale) {
        award->holding = ledger->inner_count > 0 ? takt_inner_permits_state(ledger, now_us, claim)
                                                 : takt_holders_state(ledger, now_us, claim);
        if (claim->tenant || ledger->tenant_count > 0)
            stands = takt_tenants_join(ledger, now_us, claim, claim->tenant, claim->tenant_weight,
                                       claim->waited_from);
        if (!stands)
            stay_out(ledger, now_us, claim, award);
    }
    if (!award->stale && stands) {
        takt_amounts needed = need_of_head(ledger, claim), given;
        takt_claim_restate(ledger, now_us, claim, award, &parked_us);
        award->taken = takt_offers_accept(ledger, now_us, claim);
        given = takt_claim_serve(ledger, now_us, claim, award, &parked_us);
        moved = takt_overflow_apply(ledger, claim, award);
        if (ledger->tenant_count > 0) {
            takt_tenants_trim(ledger);
            award->tag = takt_tenants_tag(ledger, claim);
        }
        takt_tenants_arrange(ledger, claim);
        if (ledger->inner_count > 0 && ledger->tenant_count > 0)
            takt_lend_note(ledger, now_us, claim->worker);
        takt_pass_over(ledger, now_us, claim->worker); /* its turns may be over */
        takt_claim_plan(ledger, now_us, claim, award);
        if (moved)
            takt_claim_hurry(ledger, now_us, claim, award);
        award->news |= is_news(ledger, claim, needed, given, award);
        if (parked_us != TAKT_NEVER && is_done(claim, award))
            parked_us = TAKT_NEVER;
        award->parked = parked_us != TAKT_NEVER && award->in_line == 0;
        award->crowded = takt_overflow_is_near(ledger);
        award->claim_again_at_us = takt_min(award->claim_again_at_us, parked_us);
        award->prompt =
            (award->prompt || award->parked) && takt_claim_is_full(ledger, claim->worker);
    }
    takt_pass_over_none(ledger);
    takt_award_end(ledger, now_us, claim, award);
    ledger->within_turns = false;
}
