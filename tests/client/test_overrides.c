/*
 * Overrides by key through a client: each key has a rate of its own, unlimited keys need no ledger,
 * refused keys fail at once, and a new policy moves the waiters.
 */
#include "client/client.h"

#include "client/calls.h"
#include "client/reloads.h"

static takt_request request_of(const char *limit, const char *key)
{
    takt_request request = TAKT_REQUEST(limit);

    request.key = key;
    return request;
}

static int64_t calls(void)
{
    takt_stats stats;

    takt_get_stats(client, &stats);
    return stats.store_calls;
}

#define HOURLY      "limits:\n  - name: api\n    rules: [{rate: 1/h}]\n"
#define OVERRIDES   "    overrides:\n"
#define KEY(fields) "      - {" fields "}\n"
#define PLANS                                                                                      \
    HOURLY OVERRIDES KEY("key: gold, rules: [{rate: 1/h, burst: 3}]")                              \
        KEY("key: team-*, unlimited: true") KEY("key: mallory, rules: [{rate: 0}]")

Test(overrides, each_key_has_its_numbers)
{
    static seen gold[3], plain[2];

    begin(PLANS);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(acquire(&gold[i], request_of("api", "gold")), 0);
    run_until(3);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(acquire(&plain[i], request_of("api", "bronze")), 0);
    run_until(4);
    cr_expect_eq(plain[0].calls, 1);
    cr_expect_eq(plain[1].calls, 0);
    run_call(takt_peek(client, &(takt_call){0}, "api", "gold", note_call));
    cr_expect_eq(last.standing.limit, 3);
    run_call(takt_peek(client, &(takt_call){0}, "api", "silver", note_call));
    cr_expect_eq(last.standing.limit, 1);
    end();
}

Test(overrides, the_cost_is_checked_by_the_numbers_of_the_key)
{
    takt_request request = request_of("api", "gold");
    takt_error error;
    static seen job;

    begin(PLANS);
    request.cost = 3;
    cr_expect_eq(takt_check_request(policy, &request, &error), 0);
    cr_assert_eq(acquire(&job, request), 0);
    run_until(1);
    request.key = "bronze";
    cr_expect_eq(takt_check_request(policy, &request, &error), TAKT_E_COST);
    cr_expect_eq(acquire(&job, request), TAKT_E_BUSY);
    takt_release(&job.permit);
    cr_expect_eq(acquire(&job, request), TAKT_E_COST);
    end();
}

Test(overrides, unlimited_keys_ask_no_ledger)
{
    takt_request request = request_of("api", "team-red");
    static seen jobs[20];
    takt_permit tried = {0};

    begin(PLANS);
    for (int i = 0; i < 20; i++)
        cr_assert_eq(acquire(&jobs[i], request), 0);
    cr_expect_eq(order, 0, "not within the call");
    run_until(20);
    for (int i = 0; i < 20; i++) {
        cr_expect_eq(jobs[i].status, 0);
        cr_expect_eq(takt_settle(&jobs[i].permit, &request, TAKT_USED(7)), 0);
        takt_release(&jobs[i].permit);
    }
    for (int i = 0; i < 3; i++) {
        run_call(takt_try_acquire(client, &(takt_call){0}, &tried, &request, note_call));
        cr_expect_eq(last.status, 0);
        cr_expect(!last.answered, "no ledger has said anything");
        takt_release(&tried);
    }
    cr_expect_eq(calls(), 0);
    end();
}

/* As with any permit whose callback is due. */
Test(overrides, an_unlimited_permit_can_be_released_before_its_callback)
{
    static seen job;

    begin(PLANS);
    cr_assert_eq(acquire(&job, request_of("api", "team-red")), 0);
    cr_expect_eq(takt_cancel(&job.permit), TAKT_E_INVALID);
    takt_release(&job.permit);
    end();
    cr_expect_eq(job.calls, 0);
}

Test(overrides, a_try_is_still_under_way_when_the_client_closes)
{
    takt_request request = request_of("api", "team-red");
    static takt_permit tried;
    static takt_call call;

    begin(PLANS);
    last.calls = 0;
    cr_assert_eq(takt_try_acquire(client, &call, &tried, &request, note_call), 0);
    end();
    cr_expect_eq(last.calls, 1);
    cr_expect_eq(last.status, TAKT_E_CANCELED);
}

Test(overrides, refused_keys_fail_at_once)
{
    takt_request request = request_of("api", "mallory");
    takt_permit tried = {0};
    takt_error error;
    static seen job;

    begin(PLANS);
    cr_expect_eq(acquire(&job, request), TAKT_E_COST);
    cr_expect_eq(takt_try_acquire(client, &(takt_call){0}, &tried, &request, note_call),
                 TAKT_E_COST);
    cr_expect_eq(takt_check_request(policy, &request, &error), TAKT_E_COST);
    cr_expect_str_eq(error.text,
                     "limit \"api\": the key \"mallory\" is refused: its override has a rate of 0");
    cr_expect_eq(calls(), 0);
    run_call(takt_peek(client, &(takt_call){0}, "api", "mallory", note_call));
    cr_expect_eq(last.status, 0, "one may look at it");
    end();
}

#define LEVELS_IN(mode)                                                                            \
    "limits:\n"                                                                                    \
    "  - name: user\n    mode: " mode "\n    rules: [{rate: 1/h, burst: 2}]\n"                     \
    "    within: account\n" OVERRIDES KEY(                                                         \
        "key: root, unlimited: true") "  - name: account\n    mode: " mode                         \
                                      "\n    rules: [{rate: 1/h}]\n" OVERRIDES KEY(                \
                                          "key: gold, unlimited: true")                            \
                                          KEY("key: closed, rules: [{rate: 0}]")
#define LEVELS LEVELS_IN("enforce")

Test(overrides, each_level_has_its_own)
{
    static const struct {
        const char *user, *account;
        int granted; /* of 3 */
    } rows[] = {{"ann", "a", 1}, {"bob", "gold", 2}, {"root", "b", 1}, {"root", "gold", 3}};
    static seen jobs[sizeof rows / sizeof rows[0]][3];
    takt_request request;
    takt_permit tried = {0};
    int due = 0;

    begin(LEVELS);
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        for (int i = 0; i < 3; i++) {
            request = request_of("user", rows[row].user);
            request.within_keys[0] = rows[row].account;
            cr_assert_eq(acquire(&jobs[row][i], request), 0);
        }
        due += rows[row].granted;
        run_until(due);
        for (int i = 0; i < 3; i++)
            cr_expect_eq(jobs[row][i].calls, i < rows[row].granted, "row %zu, job %d", row, i);
        for (int i = 0; i < 3; i++)
            takt_release(&jobs[row][i].permit);
    }
    request.within_keys[0] = "closed";
    cr_expect_eq(acquire(&jobs[0][0], request), TAKT_E_COST);
    request = request_of("user", "root");
    request.within_keys[0] = "c";
    run_call(takt_try_acquire(client, &(takt_call){0}, &tried, &request, note_call));
    cr_expect_eq(last.status, 0);
    takt_release(&tried);
    run_call(takt_try_acquire(client, &(takt_call){0}, &tried, &request, note_call));
    cr_expect_eq(last.status, TAKT_E_NO_SLOT, "of the account");
    end();
}

/* One waits under the limit's own numbers, which the next policy raises for its key alone. */
Test(overrides, a_new_policy_moves_those_who_wait)
{
    static seen gold[3], team[3], eve[2], plain[2];

    begin(HOURLY);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(acquire(&gold[i], request_of("api", "gold")), 0);
        cr_assert_eq(acquire(&team[i], request_of("api", "team-red")), 0);
    }
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(acquire(&eve[i], request_of("api", "eve")), 0);
        cr_assert_eq(acquire(&plain[i], request_of("api", "bronze")), 0);
    }
    run_until(4);
    reload("revision: 1\n" HOURLY OVERRIDES KEY("key: gold, rules: [{rate: 100/s}]")
               KEY("key: team-*, unlimited: true") KEY("key: eve, rules: [{rate: 0}]"));
    run_until(9);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(gold[i].calls == 1 && gold[i].status == 0, true);
        cr_expect_eq(team[i].calls == 1 && team[i].status == 0, true);
    }
    cr_expect_eq(eve[1].status, TAKT_E_COST);
    cr_expect_eq(eve[1].calls, 1);
    cr_expect_eq(plain[1].calls, 0);
    end();
}

/* A new policy cannot see which override the key of a hash has; the next acquire can. */
Test(overrides, hashed_keys_are_matched_in_clear)
{
    static seen jobs[3], late;

#define HASHED "limits:\n  - name: api\n    rules: [{rate: 1/h}]\n    key_hash: true\n" OVERRIDES
    begin(HASHED KEY("key: ann, rules: [{rate: 1/h, burst: 2}]"));
    for (int i = 0; i < 2; i++)
        cr_assert_eq(acquire(&jobs[i], request_of("api", "ann")), 0);
    run_until(2);
    cr_assert_eq(acquire(&jobs[2], request_of("api", "bob")), 0);
    run_until(3);
    cr_assert_eq(acquire(&late, request_of("api", "bob")), 0);
    reload("revision: 1\n" HASHED KEY("key: bob, unlimited: true"));
    takt_release(&jobs[2].permit);
    cr_assert_eq(acquire(&jobs[2], request_of("api", "bob")), 0);
    run_until(5);
    cr_expect_eq(jobs[2].calls, 2);
    cr_expect_eq(late.calls, 1);
    end();
}

Test(overrides, in_shadow)
{
    takt_shadow shadow;
    static seen jobs[2];

    begin("limits:\n  - name: api\n    rules: [{rate: 1/h}]\n    mode: shadow\n" OVERRIDES KEY(
        "key: team, unlimited: true") KEY("key: eve, rules: [{rate: 0}]"));
    cr_assert_eq(acquire(&jobs[0], request_of("api", "team")), 0);
    cr_assert_eq(acquire(&jobs[1], request_of("api", "eve")), 0);
    run_until(2);
    cr_expect_eq(jobs[0].status, 0);
    cr_expect_eq(jobs[1].status, 0, "a shadow limit refuses nothing");
    cr_assert_eq(takt_get_shadow(client, "api", &shadow), 0);
    cr_expect_eq(shadow.acquires, 2);
    cr_expect_eq(shadow.waiting, 0);
    cr_expect_eq(calls(), 0);
    takt_release(&jobs[0].permit);
    takt_release(&jobs[1].permit);
    end();
}

/* Both are one decision: what is unlimited takes no part in it, and what one refuses all count. */
Test(overrides, of_several_in_shadow)
{
    static const struct {
        const char *user, *account;
        int64_t acquires[2], refused; /* of user and account */
    } rows[] = {{"ann", "gold", {1, 0}, 0}, {"root", "a", {1, 1}, 0}, {"ann", "closed", {2, 2}, 1}};
    static seen jobs[sizeof rows / sizeof rows[0]];
    takt_shadow shadow[2];

    begin(LEVELS_IN("shadow"));
    for (int row = 0; row < (int)(sizeof rows / sizeof rows[0]); row++) {
        takt_request request = request_of("user", rows[row].user);
        request.within_keys[0] = rows[row].account;
        cr_assert_eq(acquire(&jobs[row], request), 0);
        run_until(row + 1);
        cr_expect_eq(jobs[row].status, 0);
        cr_assert_eq(takt_get_shadow(client, "user", &shadow[0]), 0);
        cr_assert_eq(takt_get_shadow(client, "account", &shadow[1]), 0);
        for (int i = 0; i < 2; i++) {
            cr_expect_eq(shadow[i].acquires, rows[row].acquires[i], "row %d, %d", row, i);
            cr_expect_eq(shadow[i].refused, rows[row].refused, "row %d, %d", row, i);
        }
        takt_release(&jobs[row].permit);
    }
    end();
}

/* Work that waits for both levels waits for one if the other's key is unlimited now, and fails if
 * it is refused. */
Test(overrides, a_new_policy_moves_work_of_several_levels)
{
    static seen gold[2], closed[2];
    takt_request request = request_of("user", "ann");

    begin("limits:\n  - {name: user, rules: [{rate: 1/h, burst: 2}], within: account}\n"
          "  - {name: account, rules: [{rate: 1/h}]}\n");
    for (int i = 0; i < 2; i++) {
        request.within_keys[0] = "gold";
        cr_assert_eq(acquire(&gold[i], request), 0);
        request.key = "bob";
        request.within_keys[0] = "closed";
        cr_assert_eq(acquire(&closed[i], request), 0);
        request.key = "ann";
    }
    run_until(2);
    cr_expect_not_null(gold[1].permit.queue->nest);
    reload("revision: 1\n" LEVELS);
    run_until(4);
    cr_expect_eq(gold[1].status, 0, "the user's second token");
    cr_expect_str_eq(gold[1].permit.queue->limit->name, "user");
    cr_expect_eq(closed[1].status, TAKT_E_COST);
    end();
}
