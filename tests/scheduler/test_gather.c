/*
 * Claims of nested work that go together: how long a queue waits with its claim for others of its
 * worker, and what a queue states whose place in line others wait for.
 */
#include "scheduler/claims.h"

#include "scheduler/nested.h"
#include "scheduler/turns.h"

TestSuite(gather, .init = set_up, .fini = close_scheduler);

/* The next pass is then; two clocks drift apart. */
static void expect_pass_at(int64_t at_us)
{
    cr_assert_geq(next_pass(), at_us);
    cr_assert_leq(next_pass(), at_us + 5 * MS);
}

static void add_many(int count)
{
    for (int i = 0; i < count; i++) {
        char key[] = "key 00";
        key[4] = (char)('0' + i / 10);
        key[5] = (char)('0' + i % 10);
        add(key, EACH);
    }
}

Test(gather, a_queue_waits_with_its_claim_for_others_of_its_worker)
{
    int64_t patience_us = server.numbers.lookahead_us / 4;

    add("a", EACH);
    add("b", EACH);
    add("c", EACH);
    run(0);
    put_off(0, 0, 300 * MS, false);
    put_off(1, 0, 340 * MS, false);
    put_off(2, 0, 500 * MS, false);
    run(0);
    cr_expect_eq(claims, 0);
    expect_pass_at(300 * MS + patience_us);
    run(next_pass());
    cr_expect_eq(claims, 2);
    cr_expect(has_claimed(0) && has_claimed(1));
    put_off(0, 400 * MS, 900 * MS, false);
    put_off(1, 400 * MS, 900 * MS, false);
    run(400 * MS);
    expect_pass_at(500 * MS + patience_us);
}

Test(gather, a_queue_that_is_to_claim_soon_waits_no_longer_than_that)
{
    add("a", EACH);
    add("b", EACH);
    run(0);
    put_off(0, 0, 10 * MS, false);
    put_off(1, 0, 500 * MS, false);
    run(0);
    expect_pass_at(20 * MS);
}

Test(gather, a_queue_that_is_to_be_prompt_does_not_wait)
{
    takt_award award = award_of(0, MS, MS, 0, 1);

    add("a", EACH);
    add("b", EACH);
    run(0);
    award.claim_again_at_us = NOW + 300 * MS;
    award.in_line = 1U << 5;
    award.least_urgent = 5;
    award.prompt = true;
    answer_to(0, &award, 0);
    put_off(1, 0, 500 * MS, false);
    run(0);
    expect_pass_at(300 * MS);
}

/* Its turn has given a queue so many slots, and it is to claim again. */
static void serve(int at, int64_t at_us, int64_t slots, int64_t again_us)
{
    takt_award award = award_of(at_us, at_us + MS, MS, slots, 1);

    award.claim_again_at_us = NOW + again_us;
    award.in_line = 1U << 5;
    award.least_urgent = 5;
    answer_to(at, &award, at_us);
}

/* The only slot of a turn is due a whole lookahead after the time of its claim. */
Test(gather, a_queue_whose_turn_is_one_slot_waits_longer_for_others)
{
    int64_t patience_us = server.numbers.lookahead_us * 4 / 5;

    server = named("server", 60, NULL);
    add("a", EACH);
    add("b", EACH);
    run(0);
    put_off(1, 0, 990 * MS, false);
    serve(0, 0, 1, 400 * MS);
    run(10 * MS);
    cr_expect_str_eq(started, "a");
    expect_pass_at(400 * MS + patience_us);
    run(next_pass());
    cr_expect_eq(claims, 1);
    put_off(0, 600 * MS, 800 * MS, false);
    run(600 * MS);
    expect_pass_at(800 * MS + patience_us);
    run(next_pass());
    cr_expect(claims == 2 && has_claimed(1), "also where it was given nothing meanwhile");
    put_off(1, 1010 * MS, 3 * SECOND, false);
    serve(0, 1010 * MS, 2, 1400 * MS);
    run(1020 * MS);
    expect_pass_at(1400 * MS + server.numbers.lookahead_us / 4);
}

/* The last slot of a turn is due a whole lookahead after the time of its claim, the first one 10 ms
 * before. */
Test(gather, a_queue_whose_turn_is_short_waits_nearly_as_long)
{
    server = named("server", 100, NULL);
    add("a", EACH);
    add("b", EACH);
    run(0);
    put_off(1, 0, 990 * MS, false);
    serve(0, 0, 2, 400 * MS);
    run(10 * MS);
    expect_pass_at(400 * MS + (server.numbers.lookahead_us - 10 * MS) * 4 / 5);
}

/* What a second call would bring can wait until that call has more. */
Test(gather, a_call_that_is_full_takes_no_queue_before_its_time)
{
    int64_t patience_us = server.numbers.lookahead_us / 4;

    add_many(10);
    run(0);
    for (int i = 0; i < 10; i++)
        put_off(i, 0, 300 * MS + i * MS, false);
    run(0);
    cr_expect_eq(claims, 0);
    run(320 * MS);
    cr_expect_eq(claims, 0);
    run(300 * MS + patience_us + 2 * MS); /* two clocks drift apart */
    cr_expect_eq(claims, 8);
    for (int i = 0; i < 8; i++)
        put_off(i, 365 * MS, 900 * MS, false);
    run(366 * MS);
    cr_expect_eq(claims, 0);
    run(315 * MS + patience_us);
    cr_expect_eq(claims, 2);
    cr_expect(has_claimed(8) && has_claimed(9));
}

Test(gather, an_inner_limit_with_a_shorter_lookahead_has_its_slots_sooner)
{
    server = named("server", 100, NULL);
    domain.numbers.lookahead_us = 200 * MS;
    add("a", EACH);
    add("b", EACH);
    run(0);
    put_off(1, 0, 900 * MS, false);
    serve(0, 0, 1, 400 * MS);
    run(10 * MS);
    expect_pass_at(560 * MS);
}

/* A slot that a claim leaves may be the only one for a while. */
static void expect_usual_patience(void)
{
    add("a", EACH);
    add("b", EACH);
    run(0);
    put_off(1, 0, 900 * MS, false);
    serve(0, 0, 1, 400 * MS);
    run(10 * MS);
    expect_pass_at(400 * MS + server.numbers.lookahead_us / 4);
}

Test(gather, where_slots_are_rare_a_queue_waits_no_longer_for_others)
{
    server = named("server", 30, NULL);
    expect_usual_patience();
}

Test(gather, where_tenants_take_turns_a_queue_waits_no_longer_for_others)
{
    server = named("server", 100, NULL);
    server.fair = TAKT_FAIR_TENANT;
    expect_usual_patience();
}

/* One slow answer may come of many claims at once, and says nothing of the next one. */
Test(gather, slow_answers_leave_less_time_to_wait_for_others)
{
    takt_award award = award_of(0, 500 * MS, 0, 0, 1);

    add("a", EACH);
    add("b", EACH);
    run(0);
    put_off(1, 0, 900 * MS, false);
    award.claim_again_at_us = NOW + 500 * MS;
    award.in_line = 1U << 5;
    takt_scheduler_award(&s, queues[0], &award, NOW, NOW);
    run(0);
    expect_pass_at(500 * MS + server.numbers.lookahead_us / 4);
    takt_scheduler_award(&s, queues[0], &award, NOW, NOW + 100 * MS);
    run(100 * MS);
    cr_expect_geq(next_pass(), 500 * MS + server.numbers.lookahead_us / 4);
    takt_scheduler_award(&s, queues[0], &award, NOW, NOW + 100 * MS);
    run(100 * MS);
    cr_expect_leq(next_pass(), 501 * MS + server.numbers.lookahead_us / 2 - 100 * MS);
    cr_expect_gt(next_pass(), 500 * MS);
}

Test(gather, a_queue_that_is_alone_waits_for_no_others)
{
    add("a", EACH);
    run(0);
    put_off(0, 0, 300 * MS, false);
    run(0);
    expect_pass_at(300 * MS);
}

/* ---- places that others wait for ------------------------------------------------------------- */

static void expect_stated(int64_t waiting)
{
    cr_assert_eq(claims, TAKT_TURNS_IN_LINE);
    for (int i = 0; i < claims; i++) {
        cr_expect_eq(said[i].waiting, waiting);
        cr_expect_eq(said[i].wants[0].count, waiting);
    }
}

/* Its place is gone when it was served, and another queue claims for its own. */
Test(gather, a_queue_whose_place_others_wait_for_states_one_turn)
{
    takt_award award = award_of(0, 100 * MS, 0, 1, 1);

    add_many(TAKT_TURNS_IN_LINE + 1);
    run(0);
    expect_stated(1);
    award.least_urgent = 5;
    answer_to(0, &award, 0);
    run(0);
    cr_expect_eq(claims, 1, "none to leave the line");
    cr_expect_eq(claimed[0], TAKT_TURNS_IN_LINE);
}

Test(gather, a_turn_has_what_a_lookahead_has_or_what_is_given_at_once)
{
    server = named("server", 400, NULL);
    add_many(TAKT_TURNS_IN_LINE + 1);
    run(0);
    expect_stated(takt_min(EACH, (100 + TAKT_TURNS_IN_LINE - 1) / TAKT_TURNS_IN_LINE));
}

Test(gather, a_burst_is_shared_in_one_turn)
{
    server.numbers.rules[0].burst = 70;
    cr_assert_eq(takt_rule_prepare(&server.numbers.rules[0], NULL), 0);
    add_many(TAKT_TURNS_IN_LINE + 1);
    run(0);
    expect_stated(3);
}

Test(gather, a_queue_whose_place_nobody_waits_for_states_all)
{
    add_many(TAKT_TURNS_IN_LINE);
    run(0);
    expect_stated(EACH);
}

/* The ledger would give the rest of its turn to less urgent work. */
Test(gather, an_urgent_queue_states_all_while_less_urgent_ones_wait)
{
    add_many(TAKT_TURNS_IN_LINE);
    priority = 0;
    add("urgent", EACH);
    run(0);
    for (int i = 0; i < claims; i++)
        if (claimed[i] == TAKT_TURNS_IN_LINE) {
            cr_expect_eq(said[i].waiting, EACH);
            return;
        }
    cr_assert_fail("it has pushed another one aside");
}

/* Its queues have their places at the agent, which has to know all waiters. */
Test(gather, behind_an_agent_a_queue_states_all)
{
    s.relayed = true;
    add_many(TAKT_TURNS_IN_LINE);
    run(0);
    expect_stated(EACH);
}

/* Waiters that a claim does not state are not counted. */
Test(gather, with_a_bound_a_queue_states_all)
{
    domain.numbers.max_waiting = 100;
    add_many(TAKT_TURNS_IN_LINE + 1);
    run(0);
    expect_stated(EACH);
}

/* A release wakes workers by what they want. */
Test(gather, with_permits_a_queue_states_all)
{
    domain.numbers.concurrency = 2;
    domain.numbers.lease_us = TAKT_LEASE_US;
    add_many(TAKT_TURNS_IN_LINE + 1);
    run(0);
    expect_stated(EACH);
}

/* A tenant's turn is larger than that of one of its queues. */
Test(gather, with_tenants_a_queue_states_all)
{
    server.fair = TAKT_FAIR_TENANT;
    add_many(TAKT_TURNS_IN_LINE + 1);
    run(0);
    expect_stated(EACH);
}
