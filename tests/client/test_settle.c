/*
 * takt_settle: unused tokens can be used by others, and additional tokens are charged.
 */
#include "client/client.h"

#include "client/calls.h"

TestSuite(settle, .init = open_client, .fini = close_client);

static takt_request request;

static void settle_nothing(takt_permit *permit, int status)
{
    note(permit, status);
    cr_assert_eq(takt_settle(permit, &request, NULL, 0), TAKT_E_INVALID, "it was never granted");
    cr_assert_eq(permit->slot_at_us, 0);
}

/* The outer limit has no tokens left. */
static void refuse_within(const char *limit)
{
    takt_call call = {0};
    takt_permit taken = {0};
    static seen job;

    job = (seen){.permit.data = &job};
    request = TAKT_REQUEST(limit);
    request.cost = 2;
    run_call(takt_try_acquire(client, &call, &taken, &request, note_call));
    cr_assert_eq(last.status, 0);
    request.max_wait_us = 50000;
    cr_assert_eq(takt_acquire(client, &job.permit, &request, settle_nothing), 0);
    run_until(1);
    cr_assert_eq(job.status, TAKT_E_DEADLINE);
    request.max_wait_us = 0;
    cr_assert_eq(takt_acquire(client, &job.permit, &request, settle_nothing), 0);
    takt_release(&job.permit);
    cr_assert_eq(takt_settle(&job.permit, &request, NULL, 0), TAKT_E_INVALID, "it was given up");
}

Test(settle, who_was_refused_by_all_levels_has_nothing_to_settle)
{
    refuse_within("inner");
}

static int64_t remaining_of(const char *limit)
{
    takt_call call = {0};

    run_call(takt_peek(client, &call, limit, NULL, note_call));
    return last.standing.remaining;
}

/* The slot of nested work is one of all levels. */
Test(settle, nested_work_gives_back_to_every_level)
{
    static seen job;

    job = (seen){.permit.data = &job};
    request = TAKT_REQUEST("narrow");
    request.cost = 2;
    cr_assert_eq(takt_acquire(client, &job.permit, &request, note), 0);
    run_until(1);
    cr_assert_eq(job.status, 0);
    cr_assert_eq(remaining_of("narrow"), 0);
    cr_assert_eq(remaining_of("wide"), 5);
    cr_assert_eq(takt_settle(&job.permit, &request, TAKT_USED(1)), 0);
    cr_expect_eq(remaining_of("narrow"), 1);
    cr_expect_eq(remaining_of("wide"), 6);
    takt_release(&job.permit);
    request.cost = 1;
    cr_assert_eq(takt_acquire(client, &job.permit, &request, note), 0);
    run_until(2);
    cr_assert_eq(takt_settle(&job.permit, &request, TAKT_USED(4)), 0, "it costs more");
    cr_expect_eq(remaining_of("narrow"), 0);
    cr_expect_eq(remaining_of("wide"), 2);
    takt_release(&job.permit);
}

Test(settle, settle)
{
    takt_call call = {0};
    takt_permit permit = {0};

    request = TAKT_REQUEST("pair");
    request.cost = 2;
    run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
    cr_assert_eq(last.status, 0);
    cr_assert_eq(last.standing.remaining, 0);
    cr_assert_eq(takt_settle(&permit, &request, TAKT_USED(1)), 0);
    cr_assert_eq(takt_settle(&permit, &request, TAKT_USED(1)), TAKT_E_INVALID, "once");
    takt_release(&permit);
    run_call(takt_peek(client, &call, "pair", NULL, note_call));
    cr_assert_eq(last.standing.remaining, 1);
    request.cost = 1;
    run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
    cr_assert_eq(last.status, 0);
    takt_release(&permit);
    run_call(takt_unblock(client, &call, "pair", NULL, note_call));
    run_call(takt_reset(client, &call, "pair", NULL, note_call));
    run_call(takt_try_acquire(client, &call, &permit, &request, note_call));
    cr_assert_eq(last.standing.remaining, 1);
    cr_assert_eq(takt_settle(&permit, &request, TAKT_USED(2)), 0);
    run_call(takt_peek(client, &call, "pair", NULL, note_call));
    cr_assert_eq(last.standing.remaining, 0);
    cr_assert_eq(takt_settle(NULL, &request, TAKT_USED(2)), TAKT_E_INVALID);
    cr_assert_eq(takt_settle(&permit, NULL, TAKT_USED(2)), TAKT_E_INVALID);
}
