/*
 * ledger.c: see ledger.h. The state of a ledger: how it begins, whose rules it has, and what time
 * alone changes. Claims are in ledger_claim.c, all other calls in ledger_calls.c.
 */
#include "core/ledger.h"

#include "base/integers.h"
#include "core/brake.h"
#include "core/gaps.h"
#include "core/holders.h"
#include "core/line.h"
#include "core/meter.h"
#include "core/offers.h"
#include "core/tenants.h"

void takt_ledger_empty(takt_ledger *ledger, const takt_numbers *numbers)
{
    takt_numbers_begin(&ledger->state, ledger->pages);
    ledger->numbers = numbers;
    ledger->turn = 0;
    takt_ledger_unblocked(ledger);
    takt_brake_release(ledger);
    takt_meter_end(ledger);
    ledger->contest = (takt_contest){0};
    ledger->offers = (takt_offers){0};
    ledger->gaps.count = 0;
    ledger->gaps.unused_us = 0;
    ledger->fence = ledger->leased_until_us = 0;
    ledger->line_count = ledger->holder_count = ledger->tenant_count = 0;
}

void takt_ledger_init(takt_ledger *ledger, const takt_numbers *numbers, int64_t now_us)
{
    takt_ledger_empty(ledger, numbers);
    takt_numbers_rest(numbers, &ledger->state, now_us);
}

void takt_ledger_unblocked(takt_ledger *ledger)
{
    ledger->blocked_until_us = 0;
    ledger->reason[0] = '\0';
}

/* A worker states the ledger's rules, which others contest. */
static void uphold(takt_contest *contest, int64_t now_us)
{
    contest->stated_at_us = now_us;
    if (contest->contested_at_us > now_us || contest->contested_at_us + TAKT_CONTEST_US < now_us)
        *contest = (takt_contest){0};
}

/* A worker states other rules with the same revision. Returns whether the ledger's rules stay in
 * force. */
static bool withstands(takt_contest *contest, int64_t now_us)
{
    if (contest->contested_at_us == 0 || contest->stated_at_us > now_us)
        contest->stated_at_us = now_us;
    contest->contested_at_us = now_us;
    return contest->stated_at_us + TAKT_CONTEST_US >= now_us;
}

void takt_ledger_adopt(takt_ledger *ledger, const takt_numbers *numbers, int64_t now_us)
{
    bool same = numbers == ledger->numbers || takt_numbers_same(ledger->numbers, numbers);
    takt_rule_state brake;

    if (numbers->revision < ledger->numbers->revision)
        return;
    if (same && ledger->contest.contested_at_us > 0)
        uphold(&ledger->contest, now_us);
    if (numbers == ledger->numbers)
        return;
    brake = ledger->state.rules[ledger->numbers->rule_count];
    if (!same && numbers->revision == ledger->numbers->revision &&
        withstands(&ledger->contest, now_us)) {
        numbers = ledger->numbers;
    } else if (!same) {
        takt_numbers_convert(ledger->numbers, numbers, &ledger->state, now_us);
        ledger->contest = (takt_contest){0};
        ledger->gaps.count = 0;
        ledger->gaps.unused_us = 0;
    }
    ledger->numbers = numbers;
    takt_brake_follow(ledger, &brake, now_us);
}

void takt_ledger_tidy_rules(takt_ledger *ledger, int64_t now_us)
{
    takt_brake_tidy(ledger, now_us);
    takt_numbers_pull_back(ledger->numbers, &ledger->state, now_us);
    takt_numbers_pay(ledger->numbers, &ledger->state, now_us);
    if (ledger->blocked_until_us > 0 &&
        ledger->blocked_until_us <= now_us + ledger->numbers->lookahead_us) {
        takt_brake_exhaust(ledger, ledger->blocked_until_us);
        if (ledger->blocked_until_us <= now_us)
            takt_ledger_unblocked(ledger);
    }
    takt_gaps_tidy(ledger, now_us);
    takt_meter_tidy(ledger, now_us);
    takt_offers_tidy(ledger, now_us);
}

void takt_ledger_tidy(takt_ledger *ledger, int64_t now_us)
{
    takt_ledger_tidy_rules(ledger, now_us);
    takt_line_tidy(ledger, now_us);
    if (ledger->tenant_count > 0)
        takt_tenants_tidy(ledger, now_us);
    takt_holders_tidy(ledger, now_us);
}

void takt_ledger_tell_newer(const takt_ledger *ledger, int ledger_no, const takt_numbers *numbers,
                            takt_award *award)
{
    const takt_numbers *used =
        ledger_no > 0 ? ledger->inner[ledger_no - 1]->numbers : ledger->numbers;
    bool differ = numbers != used &&
                  (numbers->revision < used->revision || !takt_numbers_same(numbers, used));

    if (ledger_no == 0)
        award->outdated = 0;
    if (!differ)
        return;
    award->outdated |= 1U << ledger_no;
    award->newer[ledger_no] = *used;
}
