/*
 * The tenants of a worker take turns: whose queues claim, what their claims say, and who starts
 * while the store is lost.
 */
#include "core/tenant_name.h"
#include "core/tenants.h"
#include "scheduler/loss.h"
#include "scheduler/order.h"
#include "scheduler/queues.h"
#include "scheduler/renew.h"

#define SOON_US (TAKT_LOOKAHEAD_US / TAKT_LOOKAHEAD_FRACTION) /* served, it claims again then */

static takt_limit limit;

static void set_up(void)
{
    limit = limit_named(10, SECOND, 1);
    limit.fair = TAKT_FAIR_TENANT;
    open_scheduler();
}

TestSuite(order, .init = set_up, .fini = close_scheduler);

static takt_queue *add(const char *tenant, int32_t weight, int waiters, int priority)
{
    int at = queue_count++;

    queues[at] = takt_registry_tenant(&s, &limit, "key", tenant, weight);
    cr_assert_not_null(queues[at]);
    for (int i = 0; i < waiters; i++)
        wait_as(at, i, priority);
    return queues[at];
}

static void add_many(int count)
{
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        add(name, 1, EACH, 5);
    }
}

/* The ledger's answer: so many slots a second ahead, and whether waiters stay in line. */
static void answer_to(int tenant, int64_t slots, bool in_line)
{
    takt_award award = award_of(0, SECOND, MS, slots, 1);

    award.in_line = in_line ? 1U << 5 : 0;
    award.claim_again_at_us = in_line ? NOW + SECOND : TAKT_NEVER;
    award.workers = 1;
    award.least_urgent = 5;
    takt_scheduler_award(&s, queues[tenant], &award, NOW, NOW);
}

static void answer_all(void)
{
    for (int i = 0; i < claims; i++)
        answer_to(claimed[i], 0, said[i].want_count > 0);
}

/* ---- claims ---------------------------------------------------------------------------------- */

Test(order, a_claim_names_its_tenant)
{
    add("acme", 3, 1, 5);
    add("", 2, 1, 5);
    run(0);
    cr_assert_eq(claims, 2);
    cr_expect_str_eq(said[0].tenant, "acme");
    cr_expect_eq(said[0].tenant_weight, 3);
    cr_expect_eq(said[0].process, 7);
    cr_expect_eq(said[0].worker, takt_tenant_worker(7, "acme"));
    cr_expect_neq(said[0].worker, 7, "it is a worker of its own to the ledger");
    cr_expect_str_eq(said[1].tenant, "");
    cr_expect_eq(said[1].worker, 7);
    answer_all();
}

Test(order, a_limit_without_tenants_names_none)
{
    limit.fair = TAKT_FAIR_WORKER;
    queues[queue_count++] = takt_registry_tenant(&s, &limit, "key", NULL, 1);
    wait_as(0, 0, 5);
    run(0);
    cr_assert_eq(claims, 1);
    cr_expect_null(said[0].tenant);
    cr_expect_eq(said[0].worker, 7);
    cr_expect_null(queues[0]->turn);
    answer_all();
}

Test(order, tenants_have_queues_of_their_own)
{
    takt_queue *none = takt_registry_queue(&s, &limit, "key");
    takt_queue *acme = takt_registry_tenant(&s, &limit, "key", "acme", 1), *at;
    int count = 0;

    cr_expect_eq(takt_registry_tenant(&s, &limit, "key", "", 2), none, "work that names none");
    cr_expect_eq(takt_registry_queue(&s, &limit, "key"), none);
    cr_expect_eq(takt_registry_find_tenant(&s, &limit, "key", "acme"), acme);
    cr_expect_null(takt_registry_find_tenant(&s, &limit, "key", "beta"));
    cr_expect_neq(takt_registry_tenant(&s, &limit, "", "acme", 1), acme, "another key");
    takt_registry_tenant(&s, &limit, "key", "beta", 1);
    for (at = NULL; (at = takt_registry_next(&s, limit.name, "key", at)); count++)
        cr_expect_str_eq(at->key, "key");
    cr_expect_eq(count, 3);
    queues[queue_count++] = none; /* so that it can be closed */
}

/* 40 tenants: 32 stand in line.  One that is served leaves it, and the next one comes. */
Test(order, so_many_stand_in_line_at_once)
{
    add_many(40);
    run(0);
    cr_assert_eq(claims, TAKT_TURNS_IN_LINE);
    answer_all();
    run(1);
    cr_assert_eq(claims, 0);
    takt_claims_nudge(&s, queues[3]);
    run(2);
    cr_assert_eq(claims, 1);
    answer_to(3, 1, true);
    run(3);
    cr_assert_eq(claims, 2);
    for (int i = 0; i < claims; i++) {
        cr_assert(claimed[i] == 3 || claimed[i] == 32, "%d", claimed[i]);
        cr_expect_eq(said[i].waiting, claimed[i] == 3 ? 0 : EACH);
    }
    answer_all();
    run(4);
    cr_expect_eq(claims, 0, "the one that was served waits for its next turn");
    takt_claims_nudge(&s, queues[39]);
    run(5);
    cr_expect_eq(claims, 0, "its turn has not come");
}

/* A start concerns its own queue alone: nothing looks through those of all keys, as for a free
 * place in line, which queue 5 would take. */
Test(order, behind_an_agent_all_stand_in_line)
{
    s.relayed = true;
    add_many(QUEUES_MAX);
    run(0);
    cr_assert_eq(claims, QUEUES_MAX);
    answer_all();
    takt_turns_step_back(queues[5]->turn);
    takt_claims_nudge(&s, queues[3]);
    run(1);
    answer_to(3, 1, true);
    cr_expect(queues[3]->turn->stands);
    cr_expect_not(queues[5]->turn->stands);
}

/* A wake-up may be meant for another queue of the worker, which waits for an answer. */
Test(order, who_is_woken_in_vain_hears_the_next_one_later)
{
    int64_t pause_us = TAKT_LOOKAHEAD_US / TAKT_LOOKAHEAD_FRACTION_FIRST;

    add_many(2);
    run(0);
    answer_all();
    run(1);
    cr_assert_eq(claims, 0);
    takt_claims_wake(&s, queues[0]);
    run(2);
    cr_assert_eq(claims, 1, "the first one at once");
    answer_all();
    takt_claims_wake(&s, queues[0]);
    run(3);
    cr_assert_eq(claims, 0);
    run(2 + pause_us);
    cr_assert_eq(claims, 1);
    answer_to(0, 1, true);
    takt_claims_wake(&s, queues[0]);
    run(3 + pause_us);
    cr_expect_eq(claims, 1, "it was given a slot");
}

Test(order, a_tenant_alone_keeps_its_place)
{
    add_many(2);
    run(0);
    answer_to(0, 1, true);
    answer_to(1, 0, true);
    run(1);
    cr_expect_eq(claims, 0, "nobody waits for its place");
    cr_expect(queues[0]->turn->stands);
}

/* A tenant that has a slot in hand comes back soon for new waiters if others wait, not when its
 * slots run out. */
Test(order, new_waiters_come_soon_into_line)
{
    add("a", 1, 1, 5);
    run(0);
    answer_to(0, 1, false);
    wait_as(0, 1, 5);
    run(SOON_US / 2);
    cr_expect_eq(claims, 0, "together with those that come meanwhile");
    run(SOON_US + MS);
    cr_expect_eq(claims, 1);
    answer_all();
}

/* The same with the tag of the tenant, in tokens. */
static void answer_with_tag(int tenant, int64_t slots, int64_t tag)
{
    takt_award award = award_of(0, SECOND, MS, slots, 1);

    award.in_line = slots == 0 ? 1U << 5 : 0;
    award.claim_again_at_us = NOW + SECOND;
    award.workers = 1;
    award.least_urgent = 5;
    award.tag = tag * TAKT_TENANT_STEP;
    takt_scheduler_award(&s, queues[tenant], &award, NOW, NOW);
}

/* The claim of that queue in this pass. */
static const takt_claim *claim_of(int tenant)
{
    int i = 0;

    while (i < claims && claimed[i] != tenant)
        i++;
    cr_assert_lt(i, claims, "queue %d does not claim", tenant);
    return &said[i];
}

/* It claims, and is served. */
static void serve(int tenant, int64_t tag)
{
    takt_claims_nudge(&s, queues[tenant]);
    run(0);
    for (int i = 0; i < claims; i++)
        if (claimed[i] != tenant)
            answer_with_tag(claimed[i], 0, 0);
    (void)claim_of(tenant);
    answer_with_tag(tenant, 1, tag);
}

/* All 32 in line but the two that are served have more than these. */
Test(order, the_lowest_tags_come_into_line)
{
    add_many(TAKT_TURNS_IN_LINE + 2);
    run(0);
    for (int i = 0; i < TAKT_TURNS_IN_LINE; i++) {
        cr_expect_eq(claim_of(i)->waited_from, 0);
        answer_with_tag(i, 0, 1000 + i);
    }
    serve(5, 1100);
    cr_expect(queues[32]->turn->stands, "its tag is not known");
    serve(6, 1050);
    cr_expect(queues[33]->turn->stands);
    serve(7, 1200);
    cr_expect(queues[6]->turn->stands, "1050 is less than 1100");
    run(SOON_US + MS);
    cr_expect_eq(claim_of(6)->waited_from, 1050 * TAKT_TENANT_STEP);
    answer_with_tag(6, 0, 1300);
    cr_expect(queues[6]->turn->stands, "a claim more would cost more than it brings");
    serve(8, 1400);
    cr_expect(queues[5]->turn->stands);
}

/* All 32 in line but the two that are served have more than these. */
Test(order, work_that_has_used_less_brings_its_tenant_into_line)
{
    add_many(TAKT_TURNS_IN_LINE + 2);
    run(0);
    for (int i = 0; i < TAKT_TURNS_IN_LINE; i++)
        answer_with_tag(i, 0, 1000 + i);
    serve(5, 1100);
    serve(6, 1050);
    takt_order_corrected(&s, limit.name, "key", "t5", 4, -500 * TAKT_TENANT_STEP);
    takt_order_corrected(&s, limit.name, "other", "t5", 5, -500 * TAKT_TENANT_STEP);
    cr_expect_eq(queues[5]->turn->tag, 1100 * TAKT_TENANT_STEP, "of another priority, or key");
    takt_order_corrected(&s, limit.name, "key", "t5", 5, -100 * TAKT_TENANT_STEP);
    serve(7, 1200);
    cr_expect(queues[5]->turn->stands, "1000 is less than 1050");
    run(SOON_US + MS);
    cr_expect_eq(claim_of(5)->waited_from, 1000 * TAKT_TENANT_STEP);
    answer_with_tag(5, 0, 1001);
    serve(8, 1020);
    cr_expect(queues[8]->turn->stands, "tags have not begun anew");
    cr_expect_not(queues[6]->turn->stands);
    takt_order_corrected(&s, limit.name, "key", "t6", 5, -2000 * TAKT_TENANT_STEP);
    serve(9, 1200);
    run(SOON_US + MS);
    cr_expect_eq(claim_of(6)->waited_from, 1, "0 would be that it has not waited");
}

/* A queue whose waiters leave has saved nothing when others come. */
Test(order, a_queue_that_comes_begins_at_the_lowest_tag)
{
    add_many(TAKT_TURNS_IN_LINE);
    run(0);
    for (int i = 0; i < TAKT_TURNS_IN_LINE; i++)
        answer_with_tag(i, 0, 1000 + i);
    add("late", 1, 1, 5);
    run(0);
    cr_expect_eq(queues[32]->turn->tag, 1000 * TAKT_TENANT_STEP);
    for (int i = 0; i < EACH; i++)
        takt_waiter_leave(&s, &permits[9][i], 0);
    run(0);
    cr_expect_eq(claim_of(32)->waited_from, 1000 * TAKT_TENANT_STEP, "it has waited for a place");
    answer_with_tag(32, 0, 1020);
    answer_to(9, 0, false);
    serve(3, 1100);
    wait_as(9, 0, 5);
    run(0);
    cr_expect(queues[3]->turn->stands || queues[9]->turn->stands);
    cr_expect_eq(queues[9]->turn->tag, 1000 * TAKT_TENANT_STEP);
}

/* The ledger was lost, and its tags begin anew: those told before are not higher for that. */
Test(order, tags_that_begin_anew_change_no_order)
{
    add_many(TAKT_TURNS_IN_LINE + 1);
    run(0);
    for (int i = 0; i < TAKT_TURNS_IN_LINE; i++)
        answer_with_tag(i, 0, 1000 + i);
    serve(0, 1001); /* the one without a tag comes */
    serve(1, 2);
    cr_expect(queues[0]->turn->stands, "1001 of before is less than 2");
    serve(2, 3);
    cr_expect(queues[1]->turn->stands);
    run(SOON_US + MS);
    cr_expect_eq(claim_of(1)->waited_from, 2 * TAKT_TENANT_STEP, "as the ledger counts now");
}

Test(order, whose_waiters_leave_makes_room)
{
    add_many(33);
    run(0);
    answer_all();
    for (int i = 0; i < EACH; i++)
        takt_waiter_leave(&s, &permits[5][i], 0);
    run(1);
    cr_assert_eq(claims, 2, "it leaves, and the last one comes");
    cr_expect(queues[32]->turn->stands);
    answer_all();
}

Test(order, urgent_work_does_not_wait_for_a_place)
{
    add_many(34);
    run(0);
    answer_all();
    add("urgent", 1, 1, 0);
    run(1);
    cr_assert_eq(claims, 2);
    cr_expect(queues[34]->turn->stands);
    cr_expect(!queues[0]->turn->stands, "the first of the least urgent ones makes way");
    answer_all();
    takt_waiter_leave(&s, &permits[34][0], 0);
    run(2);
    cr_expect(queues[0]->turn->stands, "and is the first to come back");
    answer_all();
}

/* A block concerns slots in hand.  Who has none and does not stand in line asks for nothing. */
Test(order, a_hint_is_for_those_in_line)
{
    add_many(33);
    run(0);
    answer_all();
    for (takt_queue *at = NULL; (at = takt_registry_next(&s, limit.name, "key", at));)
        takt_claims_hint(&s, at);
    run(1);
    cr_expect_eq(claims, TAKT_TURNS_IN_LINE);
    answer_all();
}

/* ---- a new policy ---------------------------------------------------------------------------- */

static const takt_limit *find(const void *data, const takt_limit *before, const char *key)
{
    (void)before;
    (void)key;
    return data;
}

static int32_t weigh(const void *data, const takt_limit *of, const char *tenant, int32_t weight)
{
    (void)data;
    (void)weight;
    return of->fair == TAKT_FAIR_TENANT && tenant[0] ? 9 : 1;
}

Test(order, a_reload_changes_weights_and_ends_turns)
{
    static takt_limit changed;
    const takt_successor to = {.find = find, .weigh = weigh, .data = &changed};

    changed = limit;
    add("acme", 3, 1, 5);
    add("", 2, 1, 5);
    run(0);
    answer_all();
    takt_renew_policy(&s, &to);
    run(1);
    cr_assert_eq(claims, 2);
    cr_expect_eq(said[0].tenant_weight, 9);
    cr_expect_eq(said[1].tenant_weight, 1);
    answer_all();
    changed.fair = TAKT_FAIR_WORKER;
    takt_renew_policy(&s, &to);
    run(2);
    cr_assert_eq(claims, 2);
    cr_expect_str_eq(said[0].tenant, "acme", "its waiters stay with their tenant");
    cr_expect_null(said[1].tenant);
    cr_expect_eq(said[1].worker, 7);
    answer_all();
}

Test(order, a_reload_begins_turns)
{
    limit.fair = TAKT_FAIR_WORKER;
    queues[queue_count++] = takt_registry_queue(&s, &limit, "key");
    wait_as(0, 0, 5);
    run(0);
    answer_all();
    limit.fair = TAKT_FAIR_TENANT;
    cr_expect_eq(add("", 2, 1, 5), queues[0]);
    add("acme", 1, 1, 5);
    run(1);
    cr_expect_eq(queues[0]->turn->of->in_line, 1);
    answer_all();
}

/* ---- without the store ----------------------------------------------------------------------- */

/* Loses the store after each tenant has heard that its worker is alone there. */
static void lose_store(void)
{
    run(0);
    for (int i = 0; i < queue_count; i++) {
        takt_award award = award_of(0, 0, 0, 0, 1);
        award.in_line = 1U << permits[i][0].priority;
        award.claim_again_at_us = NOW + MS;
        award.workers = i + 1;
        award.next_slot_at_us = NOW;
        takt_scheduler_award(&s, queues[i], &award, NOW, NOW);
    }
    run(2 * MS);
    for (int i = 0; i < claims; i++)
        takt_scheduler_failed(&s, queues[claimed[i]], TAKT_E_STORE, NOW + 2 * MS);
}

/* Who starts from 3 MS on, until that time. */
static const char *run_alone(int64_t until_us)
{
    static char all[QUEUES_MAX * EACH + 1];

    all[0] = '\0';
    for (int64_t at_us = 3 * MS; at_us < until_us; at_us += MS) {
        run(at_us);
        for (int i = 0; i < claims; i++)
            takt_scheduler_failed(&s, queues[claimed[i]], TAKT_E_STORE, NOW + at_us);
        strcat(all, started);
    }
    return all;
}

static int count_of(const char *text, char letter)
{
    int count = 0;

    for (; *text; text++)
        count += *text == letter;
    return count;
}

/* 10/s of one worker: its tenants have that together, in turns. */
Test(order, tenants_share_the_pace)
{
    const char *all;

    limit.on_store_failure = TAKT_ON_STORE_FAILURE_SHARE;
    add("a", 1, EACH, 5);
    add("b", 1, EACH, 5);
    add("c", 1, EACH, 5);
    lose_store();
    all = run_alone(1050 * MS);
    cr_expect_geq(strlen(all), 6, "%s: the worker has all of the rate, not a third of it", all);
    cr_expect_leq(strlen(all), 9, "%s: and no more", all);
    for (size_t i = 3; all[i]; i++)
        cr_assert(all[i] == all[i - 3] && all[i] != all[i - 1], "%s", all);
}

Test(order, a_turn_has_as_many_starts_as_the_weight)
{
    const char *all;

    limit.on_store_failure = TAKT_ON_STORE_FAILURE_SHARE;
    add("a", 3, EACH, 5);
    add("b", 1, EACH, 5);
    add("u", 1, 2, 0);
    lose_store();
    all = run_alone(1350 * MS);
    cr_expect_eq(strncmp(all, "cc", 2), 0, "%s: priorities come before turns", all);
    cr_expect_geq(count_of(all, 'a'), 3, "%s", all);
    cr_expect(strstr(all, "aaab") != NULL, "%s", all);
}

/* A try does not overtake the waiters of another tenant. */
Test(order, a_try_waits_for_no_turn_and_takes_none)
{
    takt_standing standing;
    takt_queue *other;

    limit.on_store_failure = TAKT_ON_STORE_FAILURE_SHARE;
    add("a", 1, 1, 5);
    lose_store();
    run(3 * MS);
    other = add("b", 1, 0, 5);
    cr_expect_eq(
        takt_loss_try_alone(&s, other, TAKT_E_STORE, 1, TAKT_NO_MORE, NOW + 900 * MS, &standing),
        TAKT_E_NO_SLOT);
    takt_waiter_leave(&s, &permits[0][0], 0);
    run(4 * MS);
    cr_expect_eq(
        takt_loss_try_alone(&s, other, TAKT_E_STORE, 1, TAKT_NO_MORE, NOW + 900 * MS, &standing),
        0);
    cr_expect_eq(takt_loss_try_alone(&s, queues[0], TAKT_E_STORE, 1, TAKT_NO_MORE, NOW + 900 * MS,
                                     &standing),
                 TAKT_E_NO_SLOT, "they have one pace");
}
