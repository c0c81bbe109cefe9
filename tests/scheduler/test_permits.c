/*
 * What a worker holds of a limit's permits: handed on here, said to the ledger, renewed, and lost
 * when the worker was held up for longer than its lease.
 */
#include "scheduler/claims.h"
#include "scheduler/permits.h"
#include "scheduler/registry.h"
#include "scheduler/rigs.h"
#include "scheduler/waiter.h"

#define LEASE  (30 * SECOND)
#define OURS   (LEASE - LEASE / 1000) /* of it, by our own clock */
#define FENCE  INT64_C(5000)
#define REUSES 1000

static rig r;

static void set_up(void)
{
    open_rig(&r);
    r.limit = (takt_limit){.name = "test",
                           .numbers.lookahead_us = 250 * MS,
                           .numbers.concurrency = 2,
                           .numbers.lease_us = LEASE};
}

static void tear_down(void)
{
    close_rig(&r);
}

TestSuite(scheduler_permits, .init = set_up, .fini = tear_down);

/* The answer to a claim that holds so many: `given` permits at once; the others stand in line. */
static takt_award award_permits(int64_t now_us, int64_t holding, int64_t given)
{
    takt_award award = award_of(now_us, now_us, 0, given, 1);

    award.holding = holding + given;
    award.fence = FENCE;
    award.reuses = REUSES;
    award.in_line = r.queue->waiters.total > given ? 1U << 5 : 0;
    return award;
}

/* So many wait, and that many of them are given a permit at once. */
static void begin(int waiters, int given)
{
    acquire_many(&r, waiters);
    pass(&r, 0);
    takt_award award = award_permits(0, 0, given);
    answer(&r, 0, &award);
    pass(&r, 0);
    cr_assert_eq((int)strlen(r.fired), given);
}

static takt_permit *nth(char letter)
{
    return &r.permits[letter - 'a'];
}

static void release(char letter)
{
    takt_waiter_release(&r.s, nth(letter));
}

/* The losers' letters, in order. */
static const char *losers(void)
{
    static char letters[RIG_PERMITS + 1];
    takt_permit *permit;
    int count = 0;

    while ((permit = takt_permits_next_loser(&r.s)))
        letters[count++] = (char)('a' + (permit - r.permits));
    letters[count] = '\0';
    return letters;
}

/* ---- handed on ------------------------------------------------------------------------------- */

Test(scheduler_permits, a_waiter_here_takes_over_what_is_let_go)
{
    begin(4, 2);
    cr_assert_eq(nth('a')->fence, FENCE);
    cr_assert_eq(nth('b')->fence, FENCE + 1);
    release('b');
    cr_assert_str_eq(pass(&r, 10 * MS), "c", "in the same pass");
    cr_assert_eq(r.claims, 0, "the ledger has it right");
    cr_assert_eq(nth('c')->fence, FENCE + 2);
    cr_assert_leq(nth('c')->slot_at_us, NOW + 10 * MS);
    cr_assert_gt(nth('c')->slot_at_us, NOW + 9 * MS);
    release('a');
    cr_assert_str_eq(pass(&r, 20 * MS), "d");
    cr_assert_eq(nth('d')->fence, FENCE + 3);
    cr_assert_eq(r.claims, 1, "nobody waits here any more: it leaves the line");
    cr_assert_eq(r.claim.holding, 2);
}

Test(scheduler_permits, the_most_urgent_takes_it_over)
{
    begin(2, 1);
    acquire(&r, 0, 1, ALWAYS);
    release('a');
    cr_assert_str_eq(pass(&r, 10 * MS), "c");
}

static void blocked(takt_award *award)
{
    award->blocked_until_us = NOW + 11 * MS;
}

static void blocked_before(takt_award *award)
{
    award->blocked_until_us = NOW + 9 * MS;
}

static void fewer(takt_award *award)
{
    award->holding = r.limit.numbers.concurrency + 1;
}

static void no_numbers(takt_award *award)
{
    award->reuses = 0;
}

static void hinted(takt_award *award)
{
    (void)award;
    takt_claims_hint(&r.s, r.queue);
}

static void nothing(takt_award *award)
{
    (void)award;
}

/* A waiter that is next in another worker is not overtaken, and decisions that need the ledger are
 * left to it. */
Test(scheduler_permits, handed_on_only_where_it_is_this_workers_turn_anyhow)
{
    static const struct {
        const char *name;
        void (*change)(takt_award *award);
        int64_t released_us;
        bool handed_on;
    } rows[] = {
        {"nobody else waits", nothing, 10 * MS, true},
        {"there are fewer by now", fewer, 10 * MS, false},
        {"the last award is a lookahead old", nothing, 250 * MS, false},
        {"nearly so", nothing, 250 * MS - 1, true},
        {"blocked", blocked, 10 * MS, false},
        {"no more blocked", blocked_before, 10 * MS, true},
        {"no numbers left", no_numbers, 10 * MS, false},
        {"something has happened to the ledger", hinted, 10 * MS, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_award award;
        tear_down();
        set_up();
        acquire_many(&r, 2);
        pass(&r, 0);
        award = award_permits(0, 0, 1);
        answer(&r, 0, &award);
        cr_assert_str_eq(pass(&r, 0), "a", "%s", rows[i].name);
        award = award_permits(0, 1, 0);
        award.fence = FENCE + 100;
        takt_claims_nudge(&r.s, r.queue);
        pass(&r, 0);
        rows[i].change(&award);
        answer(&r, 0, &award);
        release('a');
        pass(&r, rows[i].released_us);
        cr_assert_str_eq(r.fired, rows[i].handed_on ? "b" : "", "%s: \"%s\"", rows[i].name,
                         r.fired);
        cr_assert_eq(r.claims, 1, "%s: %d claims", rows[i].name, r.claims);
        cr_assert_eq(r.claim.holding, rows[i].handed_on, "%s", rows[i].name);
        if (rows[i].handed_on)
            cr_assert_eq(nth('b')->fence, FENCE + 100, "%s", rows[i].name);
    }
}

/* When a permit comes free cannot be known: one lookahead, or the rule's own time if that is later.
 */
Test(scheduler_permits, who_gets_none_in_time_is_told_when_to_ask_again)
{
    static const struct {
        int64_t concurrency, next_us, after_us;
    } rows[] = {
        {2, 0, 250 * MS},
        {2, 90 * MS, 250 * MS},
        {2, SECOND, 900 * MS},
        {0, 0, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tear_down();
        set_up();
        r.limit.numbers.concurrency = rows[i].concurrency;
        acquire(&r, 5, 1, 100 * MS);
        pass(&r, 0);
        takt_award award = award_permits(0, 0, 0);
        award.next_slot_at_us = NOW;
        answer(&r, 0, &award);
        cr_assert_str_eq(pass(&r, 50 * MS), "");
        r.queue->awarded.next_slot_at_us = NOW + rows[i].next_us;
        cr_assert_str_eq(pass(&r, 100 * MS), "a-6", "row %zu", i);
        cr_assert_geq(nth('a')->retry_after_us, rows[i].after_us, "row %zu", i);
        cr_assert_lt(nth('a')->retry_after_us, rows[i].after_us + MS, "row %zu", i);
    }
}

Test(scheduler_permits, numbers_are_used_once)
{
    acquire_many(&r, 4);
    pass(&r, 0);
    takt_award award = award_permits(0, 0, 1);
    award.reuses = 2;
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 0), "a");
    release('a');
    cr_assert_str_eq(pass(&r, MS), "b");
    release('b');
    cr_assert_str_eq(pass(&r, 2 * MS), "c");
    cr_assert_eq(nth('c')->fence, FENCE + 2);
    release('c');
    cr_assert_str_eq(pass(&r, 3 * MS), "");
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.holding, 0);
    cr_assert_eq(r.claim.waiting, 1);
}

/* ---- said to the ledger ---------------------------------------------------------------------- */

Test(scheduler_permits, a_release_is_told_at_once)
{
    takt_award award;

    begin(2, 2);
    cr_assert_eq(r.claims, 0);
    release('a');
    pass(&r, 5 * SECOND);
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.holding, 1);
    cr_assert_eq(r.claim.waiting, 0);
    release('b'); /* meanwhile */
    pass(&r, 5 * SECOND);
    cr_assert_eq(r.claims, 0, "one at a time");
    award = award_permits(5 * SECOND, 1, 0);
    answer(&r, 5 * SECOND + MS, &award);
    pass(&r, 5 * SECOND + MS);
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.holding, 0);
    award = award_permits(5 * SECOND, 0, 0);
    answer(&r, 5 * SECOND + 2 * MS, &award);
    pass(&r, 5 * SECOND + 2 * MS);
    cr_assert_eq(r.claims, 0);
    cr_assert_eq(wake_us(&r), -1, "it holds nothing, and the ledger knows it");
}

Test(scheduler_permits, renewed_at_a_third_of_the_lease)
{
    static const int64_t leases_us[] = {SECOND, LEASE, DAY};

    for (size_t i = 0; i < COUNT(leases_us); i++) {
        int64_t third_us = leases_us[i] / 3;
        tear_down();
        set_up();
        r.limit.numbers.lease_us = leases_us[i];
        begin(1, 1);
        for (int n = 1; n < 10; n++) {
            takt_award award = award_permits(n * third_us, 1, 0);
            cr_assert_eq(wake_us(&r), n * third_us, "lease %zu, renewal %d: %" PRId64, i, n,
                         wake_us(&r));
            pass(&r, n * third_us);
            cr_assert_eq(r.claims, 1);
            cr_assert_eq(r.claim.holding, 1);
            answer(&r, n * third_us + MS, &award);
            pass(&r, n * third_us + MS);
            cr_assert_eq(r.claims, 0);
        }
        cr_assert_str_eq(losers(), "");
        cr_assert(takt_permits_are_held(nth('a'), NOW + 9 * third_us));
    }
}

/* A worker that does not know the result of a claim states its situation again. */
Test(scheduler_permits, a_claim_that_failed_is_restated)
{
    begin(2, 2);
    release('a');
    pass(&r, SECOND);
    takt_scheduler_failed(&r.s, r.queue, TAKT_E_STORE_TIMEOUT, NOW + 2 * SECOND);
    pass(&r, 2 * SECOND);
    cr_assert_eq(r.claims, 0, "not at once");
    cr_assert_gt(wake_us(&r), 2 * SECOND);
    cr_assert_lt(wake_us(&r), 10 * SECOND);
    pass(&r, wake_us(&r));
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.holding, 1);
}

/* The lost answer may have given permits: the claim states that none arrived. */
Test(scheduler_permits, an_answer_that_was_lost_is_asked_for_again)
{
    acquire(&r, 5, 1, 500 * MS);
    pass(&r, 0);
    takt_scheduler_failed(&r.s, r.queue, TAKT_E_STORE_TIMEOUT, NOW + SECOND);
    cr_assert_str_eq(pass(&r, SECOND), "a-6", "it does not wait any more");
    cr_assert_gt(wake_us(&r), SECOND);
    pass(&r, wake_us(&r));
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.holding, 0);
    cr_assert_eq(r.claim.waiting, 0);
}

Test(scheduler_permits, a_nudge_while_a_claim_is_under_way_leads_to_another)
{
    for (int nudged = 0; nudged < 2; nudged++) {
        takt_award award;
        tear_down();
        set_up();
        acquire_many(&r, 1);
        pass(&r, 0);
        cr_assert_eq(r.claims, 1);
        if (nudged)
            takt_claims_nudge(&r.s, r.queue);
        pass(&r, 0);
        cr_assert_eq(r.claims, 0, "one at a time");
        award = award_permits(0, 0, 0);
        award.least_urgent = 5;
        answer(&r, MS, &award);
        pass(&r, MS);
        cr_assert_eq(r.claims, nudged, "what it answered may be from before");
        cr_assert_leq(wake_us(&r), TAKT_KEEPALIVE_US + MS, "a wake-up that is lost");
    }
}

/* It may have lost its permits.  A wake-up just after its claim was sent while it still waited. */
Test(scheduler_permits, a_holder_that_is_woken_asks_but_not_just_after_its_claim)
{
    begin(1, 1);
    takt_claims_nudge(&r.s, r.queue);
    pass(&r, MS);
    cr_assert_eq(r.claims, 0);
    cr_assert_eq(wake_us(&r), 250 * MS);
    pass(&r, 250 * MS);
    cr_assert_eq(r.claims, 1);
    takt_award award = award_permits(250 * MS, 1, 0);
    answer(&r, 251 * MS, &award);
    pass(&r, 251 * MS);
    cr_assert_eq(r.claims, 0);
    takt_claims_nudge(&r.s, r.queue);
    pass(&r, SECOND);
    cr_assert_eq(r.claims, 1, "at once");
}

/* With a lookahead as long as the lease. */
Test(scheduler_permits, a_holder_that_is_woken_renews_in_time)
{
    r.limit.numbers.lease_us = r.limit.numbers.lookahead_us = SECOND;
    begin(1, 1);
    takt_claims_nudge(&r.s, r.queue);
    pass(&r, MS);
    cr_assert_eq(wake_us(&r), SECOND / 3);
}

Test(scheduler_permits, who_parts_says_good_bye)
{
    begin(3, 2);
    takt_scheduler_leave_all(&r.s, TAKT_E_CANCELED);
    cr_assert_str_eq(pass(&r, MS), "c-8", "%s", r.fired);
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.holding, 0);
    cr_assert_eq(r.claim.waiting, 0);
    takt_scheduler_failed(&r.s, r.queue, TAKT_E_STORE_TIMEOUT, NOW + SECOND);
    pass(&r, SECOND);
    cr_assert_eq(r.claims, 0, "and says it once");
    cr_assert_eq(wake_us(&r), -1);
}

Test(scheduler_permits, what_is_given_to_who_has_left_is_given_back)
{
    acquire_many(&r, 1);
    pass(&r, 0);
    takt_scheduler_leave_all(&r.s, TAKT_E_CANCELED);
    takt_award award = award_permits(0, 0, 1);
    answer(&r, MS, &award);
    cr_assert_str_eq(pass(&r, MS), "a-8");
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.holding, 0);
}

/* Slots in hand that are due later count as held, although they will not be used. */
Test(scheduler_permits, who_parts_keeps_no_slots_in_hand)
{
    acquire_many(&r, 2);
    pass(&r, 0);
    takt_award award = award_permits(0, 0, 2);
    award.runs[0].first.us += 100 * MS;
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 0), "");
    takt_scheduler_leave_all(&r.s, TAKT_E_CANCELED);
    pass(&r, MS);
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.holding, 0, "%d", (int)r.claim.holding);
}

/* ---- lost ------------------------------------------------------------------------------------ */

Test(scheduler_permits, ours_for_less_than_a_lease_after_the_claim_was_sent)
{
    takt_award award;

    acquire_many(&r, 1);
    pass(&r, 0);
    award = award_permits(500 * MS, 0, 1);
    answer(&r, SECOND, &award); /* the ledger received half of it */
    cr_assert_str_eq(pass(&r, SECOND), "a");
    cr_assert(takt_permits_are_held(nth('a'), NOW + OURS - 1));
    cr_assert_not(takt_permits_are_held(nth('a'), NOW + OURS));
    pass(&r, OURS - 1);
    cr_assert_eq(r.claims, 1);
    cr_assert_str_eq(losers(), "");
    cr_assert_eq(wake_us(&r), OURS, "also while its claim is not answered");
    pass(&r, OURS);
    cr_assert_str_eq(losers(), "a");
    cr_assert_eq(wake_us(&r), -1);
}

/* The waiter beside them is fine, and what ran is still to be released. */
Test(scheduler_permits, who_was_held_up_gives_all_up_before_anything_fires)
{
    takt_award award;

    begin(3, 1);
    award = award_permits(0, 1, 1); /* a slot that is due in a while */
    award.runs[0].first.us = NOW + 4 * SECOND;
    takt_claims_nudge(&r.s, r.queue);
    pass(&r, 0);
    answer(&r, 0, &award);
    pass(&r, 0);
    cr_assert_eq(r.queue->in_hand.count, 1);
    cr_assert_str_eq(pass(&r, OURS), "", "the slot is somebody else's");
    cr_assert_str_eq(losers(), "a");
    cr_assert_eq(r.queue->in_hand.count, 0);
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.holding, 0);
    cr_assert_eq(r.claim.waiting, 2);
    cr_assert_not(takt_permits_are_held(nth('a'), NOW + OURS));
    award = award_permits(OURS, 0, 2);
    award.fence = FENCE + 9000;
    answer(&r, OURS, &award);
    cr_assert_str_eq(pass(&r, OURS), "bc");
    cr_assert_not(takt_permits_are_held(nth('a'), NOW + OURS), "it does not come back");
    cr_assert(takt_permits_are_held(nth('b'), NOW + OURS));
    release('a');
    pass(&r, OURS);
    cr_assert_eq(r.claims, 0, "what was lost is not given back");
    cr_assert_eq(nth('a')->state, TAKT_PERMIT_IDLE);
}

/* Its callback was due and did not come yet. */
Test(scheduler_permits, a_callback_that_is_late_tells_of_the_loss)
{
    acquire_many(&r, 1);
    pass(&r, 0);
    takt_award award = award_permits(0, 0, 1);
    answer(&r, 0, &award);
    takt_scheduler_run(&r.s, NOW);
    cr_assert_eq(nth('a')->state, TAKT_PERMIT_FIRED);
    cr_assert_str_eq(pass(&r, OURS), "a-18", "%s", r.fired);
    cr_assert_eq(nth('a')->state, TAKT_PERMIT_IDLE);
    cr_assert_eq(nth('a')->hold, TAKT_HOLD_NONE);
    cr_assert_str_eq(losers(), "", "it hears of it once");
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.holding, 0);
}

/* The ledger has forgotten its permits, and other workers may have some by now: it is unknown
 * which. */
Test(scheduler_permits, a_ledger_that_has_less_of_it_takes_all)
{
    takt_award award;

    begin(2, 2);
    pass(&r, LEASE / 3);
    cr_assert_eq(r.claim.holding, 2);
    award = award_permits(LEASE / 3, 1, 0);
    answer(&r, LEASE / 3, &award);
    pass(&r, LEASE / 3);
    cr_assert_str_eq(losers(), "ab");
    cr_assert_eq(r.claims, 1, "what is left is given back");
    cr_assert_eq(r.claim.holding, 0);
}

Test(scheduler_permits, an_answer_to_an_older_statement_changes_nothing)
{
    takt_award award;

    begin(1, 1);
    pass(&r, LEASE / 3);
    award = award_permits(LEASE / 3, 0, 0);
    award.stale = true;
    answer(&r, LEASE / 3, &award);
    pass(&r, LEASE / 3);
    cr_assert_str_eq(losers(), "");
    cr_assert_not(takt_permits_are_held(nth('a'), NOW + OURS), "nor does it renew");
    cr_assert_eq(r.claims, 1, "what the ledger has for us is not known: it is stated again");
}

/* A newer policy has no bound of permits: there is no lease to lose. */
Test(scheduler_permits, a_limit_that_has_no_permits_any_more)
{
    takt_award award;

    begin(1, 1);
    pass(&r, LEASE / 3);
    award = award_permits(LEASE / 3, 1, 0);
    award.holding = award.reuses = award.fence = 0;
    award.outdated = true;
    award.newer[0] = limit_of(10, SECOND, 1);
    award.newer[0].revision = 1;
    answer(&r, LEASE / 3, &award);
    pass(&r, LEASE / 3);
    cr_assert_eq(r.claims, 0);
    pass(&r, 2 * LEASE);
    cr_assert_str_eq(losers(), "");
    cr_assert_eq(wake_us(&r), -1);
    release('a');
    pass(&r, 2 * LEASE);
    cr_assert_eq(r.claims, 0);
}

/* Permits held under the old numbers stay held, with their references. */
Test(scheduler_permits, where_there_are_no_permits_any_more_none_is_lost)
{
    takt_award award;

    begin(1, 1);
    pass(&r, LEASE / 3);
    award = award_permits(LEASE / 3, 1, 0);
    award.holding = award.reuses = award.fence = 0;
    award.outdated = true;
    award.newer[0] = limit_of(10, SECOND, 1);
    award.newer[0].revision = 1;
    answer(&r, LEASE / 3, &award);
    pass(&r, LEASE / 3);
    cr_assert(takt_permits_are_held(nth('a'), NOW + 2 * LEASE));
    cr_assert_eq(r.s.idle_count, 0, "a queue that a permit refers to is not to be forgotten");
    release('a');
    pass(&r, LEASE / 3);
    cr_assert_eq(r.s.idle_count, 1);
}

/* ---- now or never ---------------------------------------------------------------------------- */

Test(scheduler_permits, a_try_states_what_is_held_and_waits_its_turn)
{
    takt_permit permit = {0};
    takt_claim claim;
    takt_award award;

    acquire_many(&r, 1);
    pass(&r, 0);
    cr_assert_not(takt_claims_begin_try(&r.s, r.queue, &claim), "a claim is under way");
    award = award_permits(0, 0, 1);
    answer(&r, 0, &award);
    cr_assert_str_eq(pass(&r, 0), "a");
    cr_assert(takt_claims_begin_try(&r.s, r.queue, &claim));
    cr_assert_eq(claim.holding, 1);
    cr_assert_gt(claim.seq, r.claim.seq);
    acquire_many(&r, 1);
    pass(&r, 0);
    cr_assert_eq(r.claims, 0, "a try is under way");
    award = award_permits(0, 1, 1);
    award.fence = FENCE + 7;
    takt_claims_tried(&r.s, r.queue, &award, NOW, &permit);
    takt_waiter_grant(&r.s, &permit);
    cr_assert_eq(permit.fence, FENCE + 7);
    cr_assert(takt_permits_are_held(&permit, NOW));
    pass(&r, 0);
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.holding, 2);
    takt_waiter_release(&r.s, &permit);
}

Test(scheduler_permits, a_try_without_an_answer_is_restated)
{
    takt_permit permit = {0};
    takt_claim claim;

    cr_assert(takt_claims_begin_try(&r.s, r.queue, &claim));
    takt_claims_tried(&r.s, r.queue, NULL, NOW, &permit);
    cr_assert_eq(permit.hold, TAKT_HOLD_NONE);
    pass(&r, MS);
    cr_assert_eq(r.claims, 1, "it may have been given");
    cr_assert_eq(r.claim.holding, 0);
}

/* A try that is sent first states the held permits: a claim beside it would take back its grant. */
Test(scheduler_permits, a_try_and_a_claim_take_turns)
{
    takt_permit first = {0}, second = {0};
    takt_claim claim;
    takt_award award;

    begin(2, 2);
    release('a');
    takt_scheduler_run(&r.s, NOW + MS);
    cr_assert(takt_claims_begin_try(&r.s, r.queue, &claim));
    cr_assert_eq(claim.holding, 1);
    pass(&r, MS);
    cr_assert_eq(r.claims, 0, "one at a time");
    acquire_many(&r, 1);
    award = award_permits(MS, 1, 1);
    takt_claims_tried(&r.s, r.queue, &award, NOW + MS, &first);
    takt_waiter_grant(&r.s, &first);
    takt_scheduler_run(&r.s, NOW + 2 * MS);
    cr_assert_not(takt_claims_begin_try(&r.s, r.queue, &claim), "those who wait come next");
    pass(&r, 2 * MS);
    cr_assert_eq(r.claims, 1);
    cr_assert_eq(r.claim.holding, 2);
    award = award_permits(2 * MS, 2, 0);
    answer(&r, 2 * MS, &award);
    release('b');
    takt_claims_nudge(&r.s, r.queue);
    takt_scheduler_run(&r.s, NOW + 3 * MS);
    cr_assert(takt_claims_begin_try(&r.s, r.queue, &claim), "and then a try again");
    award = award_permits(3 * MS, 1, 0);
    takt_claims_tried(&r.s, r.queue, &award, NOW + 3 * MS, &second);
    takt_waiter_release(&r.s, &first);
}

/* Idle queues are freed in time, except one with an answer under way. */
Test(scheduler_permits, a_queue_with_a_try_under_way_is_not_idle)
{
    takt_permit permit = {0};
    takt_claim claim;

    takt_registry_touch(&r.s, r.queue);
    pass(&r, 0);
    cr_assert_eq(r.s.idle_count, 1);
    cr_assert(takt_claims_begin_try(&r.s, r.queue, &claim));
    cr_assert_eq(r.s.idle_count, 0);
    takt_claims_tried(&r.s, r.queue, NULL, NOW, &permit);
}

/* The answer of its limits in shadow may come after the lease of what a try has: a renewal then is
 * for another worker's permit. */
Test(scheduler_permits, a_try_under_way_loses_what_it_has)
{
    takt_permit permit = {0};
    takt_claim claim;
    takt_award award;

    cr_assert(takt_claims_begin_try(&r.s, r.queue, &claim));
    award = award_permits(0, 1, 1);
    takt_claims_tried(&r.s, r.queue, &award, NOW, &permit);
    cr_assert(takt_permits_are_held(&permit, NOW));
    acquire_many(&r, 1);
    pass(&r, LEASE);
    award = award_permits(LEASE, 0, 1);
    answer(&r, LEASE, &award);
    pass(&r, LEASE);
    cr_assert_not(takt_permits_are_held(&permit, NOW + LEASE));
    takt_waiter_release(&r.s, &permit);
    cr_assert_eq(r.queue->holding.running, 1, "the other one's");
}

/* The lease of its key ends later. */
Test(scheduler_permits, a_lease_that_ends_takes_no_permit_of_another_key)
{
    takt_queue *other = takt_registry_queue(&r.s, &r.limit, "other");
    takt_permit *permit = nth('b');
    takt_claim claim;
    takt_award award;

    begin(1, 1);
    cr_assert(takt_claims_begin_try(&r.s, other, &claim));
    award = award_permits(LEASE / 2, 0, 1);
    takt_claims_tried(&r.s, other, &award, NOW + LEASE / 2, permit);
    takt_waiter_grant(&r.s, permit);
    pass(&r, OURS);
    cr_assert_str_eq(losers(), "a");
    cr_assert(takt_permits_are_held(permit, NOW + OURS));
    takt_waiter_release(&r.s, permit);
    cr_assert_eq(other->holding.running, 0);
    release('a');
}

/* A client that closes releases the permits of tries and of jobs. */
Test(scheduler_permits, who_parts_holds_nothing)
{
    takt_permit permit = {0};
    takt_claim claim;
    takt_award award;

    begin(1, 1);
    cr_assert(takt_claims_begin_try(&r.s, r.queue, &claim));
    award = award_permits(0, 1, 1);
    takt_claims_tried(&r.s, r.queue, &award, NOW, &permit);
    takt_scheduler_leave_all(&r.s, TAKT_E_CANCELED);
    cr_assert_not(takt_permits_are_held(&permit, NOW));
    cr_assert_not(takt_permits_are_held(nth('a'), NOW));
    takt_waiter_release(&r.s, &permit);
    release('a');
}

/* Without the clock of the server the instant of a start is unknown. */
Test(scheduler_permits, none_is_handed_on_by_an_unknown_clock)
{
    begin(2, 1);
    takt_scheduler_set_server(&r.s, r.queue, 2);
    release('a');
    cr_assert_str_eq(pass(&r, MS), "");
}
