/*
 * A queue continues with another limit of its name: which numbers are in use then, what its waiters
 * do, and what becomes of those that can never start.
 */
#include "scheduler/renew_queue.h"

#include "scheduler/nested.h"

TestSuite(renew_queue, .init = set_up, .fini = close_scheduler);

static void expect_numbers(const takt_queue *queue, const takt_numbers *numbers)
{
    cr_expect_eq(queue->numbers, numbers);
    cr_expect_eq(takt_queue_stated(queue), numbers);
}

Test(renew_queue, its_waiters_claim_at_once_with_the_new_numbers)
{
    takt_limit next = named("server", 20, NULL);

    queues[queue_count++] = takt_registry_queue(&s, &server, "mx");
    wait_in(0, 1);
    run(0);
    put_off(0, 0, 10 * SECOND, false);
    run(0);
    cr_expect_eq(claims, 0);
    takt_renew_queue(&s, queues[0], &next);
    expect_numbers(queues[0], &next.numbers);
    run(0);
    cr_expect_eq(claims, 1, "not only when it was told to");
    takt_renew_queue(&s, queues[0], &server);
}

Test(renew_queue, a_queue_without_waiters_claims_nothing)
{
    takt_limit next = named("server", 20, NULL);

    queues[queue_count++] = takt_registry_queue(&s, &server, "mx");
    takt_renew_queue(&s, queues[0], &next);
    run(0);
    cr_expect_eq(claims, 0);
    expect_numbers(queues[0], &next.numbers);
    takt_renew_queue(&s, queues[0], &server);
}

/* They came with an award, and the new policy may be older. */
Test(renew_queue, learned_numbers_stay_until_the_policy_has_caught_up)
{
    takt_limit next = named("server", 20, NULL);
    takt_queue *queue = takt_registry_queue(&s, &server, "mx");

    queue->newer = malloc(sizeof *queue->newer);
    cr_assert_not_null(queue->newer);
    *queue->newer = named("server", 30, NULL).numbers;
    queue->newer->revision = 7;
    queue->numbers = queue->newer;
    next.numbers.revision = 6;
    takt_renew_queue(&s, queue, &next);
    cr_expect_eq(queue->limit, &next);
    cr_expect_eq(queue->numbers, queue->newer);
    next.numbers.revision = 7;
    takt_renew_queue(&s, queue, &next);
    expect_numbers(queue, &next.numbers);
    cr_expect_not_null(queue->newer, "a claim under way may refer to it");
    takt_renew_queue(&s, queue, &server);
}

Test(renew_queue, waiters_that_need_not_wait_leave)
{
    takt_limit next = server;

    server.numbers = limit_named(10, SECOND, 5).numbers;
    next.numbers = limit_named(10, SECOND, 3).numbers;
    queues[queue_count++] = takt_registry_queue(&s, &server, "mx");
    permits[0][0] = (takt_permit){.cost = 5, .priority = 5, .deadline_at_us = TAKT_NEVER};
    takt_waiter_acquire(&s, queues[0], &permits[0][0]);
    wait_as(0, 1, 5);
    takt_renew_queue(&s, queues[0], &next);
    run(0);
    cr_expect_eq(permits[0][0].status, TAKT_E_COST, "it can never start");
    cr_expect_eq(queues[0]->waiters.total, 1);
    next.access = TAKT_ACCESS_UNLIMITED;
    takt_renew_queue(&s, queues[0], &next);
    run(0);
    cr_expect_str_eq(started, "a", "its key is unlimited");
    takt_renew_queue(&s, queues[0], &server);
}

/* A bound that comes later refuses none of those that wait already. */
Test(renew_queue, waiters_of_a_queue_that_gets_a_bound_are_accepted)
{
    takt_limit next = server;

    next.numbers.max_waiting = 1;
    queues[queue_count++] = takt_registry_queue(&s, &server, "mx");
    wait_in(0, 2);
    takt_renew_queue(&s, queues[0], &next);
    wait_as(0, 2, 5);
    cr_expect(takt_queue_is_accepted(queues[0], &permits[0][0]));
    cr_expect(takt_queue_is_accepted(queues[0], &permits[0][1]));
    cr_expect_not(takt_queue_is_accepted(queues[0], &permits[0][2]));
    takt_renew_queue(&s, queues[0], &server);
}

Test(renew_queue, all_levels_of_a_nested_queue_change_and_it_is_parked_no_longer)
{
    takt_limit next = named("server", 20, NULL), inner = named("domain", 8, &next);
    takt_chain chain = chain_of(&inner, (const char *const[]){"a", "mx"});
    takt_chain before = chain_of(&domain, (const char *const[]){"a", "mx"});

    add("a", 1);
    run(0);
    put_off(0, 0, 10 * SECOND, true);
    run(0);
    cr_expect_eq(claims, 0);
    cr_expect_neq(queues[0]->awarded.parked_until_us, 0);
    takt_renew_nested(&s, queues[0], &chain);
    cr_expect_eq(queues[0]->limit, &next);
    cr_expect_eq(queues[0]->nest->inner[0].limit, &inner);
    run(0);
    cr_expect_eq(claims, 1);
    takt_renew_nested(&s, queues[0], &before);
}
