/*
 * test_fork.c: a client used in a child after fork fails at once, sends nothing to the store, and
 * does not disturb its parent, with every store.
 */
#include "client/client_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <takt/sync.h>

#include "client/stores.h"

static takt_call call;
static seen jobs[3];

static void answered(takt_call *of, int status, const takt_standing *standing)
{
    (void)of;
    (void)status;
    (void)standing;
}

/* 0, or the number of the step that went otherwise. */
static int in_child(int (*steps)(void))
{
    pid_t child;
    int status;

    fflush(NULL);
    child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        alarm(60); /* a call that waits for ever fails, too */
        _exit(steps());
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int use(void)
{
    takt_request request = TAKT_REQUEST("free");

    if (acquire(&jobs[1], request) != TAKT_E_FORKED)
        return 1;
    if (takt_try_acquire(client, &call, &jobs[1].permit, &request, answered) != TAKT_E_FORKED)
        return 2;
    if (takt_peek(client, &call, "free", NULL, answered) != TAKT_E_FORKED)
        return 3;
    if (takt_block(client, &call, "free", NULL, 1000000, "why", answered) != TAKT_E_FORKED)
        return 4;
    if (takt_settle(&jobs[0].permit, &request, TAKT_USED(2)) != TAKT_E_FORKED)
        return 5;
    if (takt_reload(client, policy, NULL) != TAKT_E_FORKED)
        return 6;
    if (takt_block(client, NULL, "free", NULL, 1000000, "why", NULL) != TAKT_E_FORKED)
        return 7;
    return 0;
}

static int close_in_child(void)
{
    if (uv_loop_fork(&loop) != 0)
        return 1;
    takt_close(client, NULL, NULL);
    if (uv_run(&loop, UV_RUN_DEFAULT) != 0)
        return 2;
    if (jobs[1].calls != 1 || jobs[1].status != TAKT_E_CANCELED)
        return 3;
    return uv_loop_close(&loop) == 0 ? 0 : 4;
}

Test(fork, calls_fail_at_once)
{
    char folder[] = "/tmp/takt-fork-XXXXXX", file[64], command[64];

    cr_assert_not_null(mkdtemp(folder));
    snprintf(file, sizeof file, "file:%s/", folder);
    for (int i = 0; i < 2; i++) {
        memset(jobs, 0, sizeof jobs);
        order = 0;
        open_client_on(i == 0 ? "memory:" : file);
        cr_assert_eq(acquire(&jobs[0], TAKT_REQUEST("free")), 0);
        run_until(1);
        cr_expect_eq(in_child(use), 0, "%s", i == 0 ? "memory" : file);
        cr_assert_eq(acquire(&jobs[2], TAKT_REQUEST("free")), 0, "the parent's goes on");
        run_until(2);
        cr_expect_eq(jobs[2].status, 0);
        close_client();
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

static int run_parents_loop(void)
{
    if (uv_loop_fork(&loop) != 0)
        return 1;
    while (order < 1)
        uv_run(&loop, UV_RUN_ONCE);
    return jobs[0].status == TAKT_E_FORKED ? 0 : 2;
}

Test(fork, a_child_starts_nothing_of_its_parents)
{
    open_client();
    cr_assert_eq(acquire(&jobs[0], TAKT_REQUEST("free")), 0);
    cr_expect_eq(in_child(run_parents_loop), 0);
    run_until(1);
    cr_expect_eq(jobs[0].status, 0);
    close_client();
}

/* The child's copy of the client sends nothing to the store. */
static int end_what_the_parent_holds(void)
{
    if (uv_loop_fork(&loop) != 0)
        return 1;
    takt_release(&jobs[0].permit);
    takt_block(client, NULL, "held", NULL, 60000000, NULL, NULL);
    takt_close(client, NULL, NULL);
    if (uv_run(&loop, UV_RUN_DEFAULT) != 0)
        return 2;
    return uv_loop_close(&loop) == 0 ? 0 : 3;
}

static void note_standing(takt_call *of, int status, const takt_standing *standing)
{
    takt_standing *found = of->data;

    cr_assert_eq(status, 0, "%s", takt_strerror(status));
    *found = *standing;
}

static void keep_permits_on(const char *store)
{
    static const char text[] = "limits: [{name: held, concurrency: 2}]\n";
    takt_options options = {.store = store};
    takt_standing found = {0};

    memset(jobs, 0, sizeof jobs);
    order = 0;
    cr_assert_eq(uv_loop_init(&loop), 0);
    cr_assert_eq(takt_policy_parse(&policy, "p", text, strlen(text), NULL), 0);
    cr_assert_eq(takt_open(&client, &loop, policy, &options, NULL), 0);
    cr_assert_eq(acquire(&jobs[0], TAKT_REQUEST("held")), 0);
    run_until(1);
    cr_expect_eq(in_child(end_what_the_parent_holds), 0, "%s", store);
    cr_expect(takt_is_held(&jobs[0].permit), "%s", store);
    call.data = &found;
    cr_assert_eq(takt_peek(client, &call, "held", NULL, note_standing), 0);
    while (found.now_us == 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect_eq(found.held, 1, "%s: %d are held", store, (int)found.held);
    cr_expect_eq(found.blocked_until_us, 0, "%s", store);
    cr_assert_eq(acquire(&jobs[1], TAKT_REQUEST("held")), 0, "the parent's goes on");
    run_until(2);
    cr_expect_eq(jobs[1].status, 0, "%s", store);
    close_client();
}

Test(fork, permits_stay_with_the_parent)
{
    on_each_store(keep_permits_on);
}

static int open_anew(void)
{
    takt_options options = {.store = "memory:"};
    uv_loop_t own;

    if (uv_loop_init(&own) != 0 || takt_open(&client, &own, policy, &options, NULL) != 0)
        return 1;
    if (acquire(&jobs[1], TAKT_REQUEST("free")) != 0 || uv_run(&own, UV_RUN_DEFAULT) != 0 ||
        jobs[1].calls != 1 || jobs[1].status != 0)
        return 2;
    takt_close(client, NULL, NULL);
    uv_run(&own, UV_RUN_DEFAULT);
    takt_policy_free(policy);
    return uv_loop_close(&own) == 0 ? 0 : 3;
}

Test(fork, a_child_may_open_a_client_with_its_copy_of_the_policy)
{
    open_client();
    cr_expect_eq(in_child(open_anew), 0);
    cr_assert_eq(acquire(&jobs[0], TAKT_REQUEST("free")), 0);
    run_until(1);
    close_client();
}

/* The kernel's timer belongs to both. */
Test(fork, a_child_that_closes_does_not_stop_its_parents_timer)
{
    static const char text[] = "limits: [{name: slow, rules: [{rate: 1/s, burst: 1}]}]\n";
    takt_options options = {.store = "memory:fork"};
    takt_stats stats = {0};

    cr_assert_eq(uv_loop_init(&loop), 0);
    cr_assert_eq(takt_policy_parse(&policy, "p", text, strlen(text), NULL), 0);
    cr_assert_eq(takt_open(&client, &loop, policy, &options, NULL), 0);
    cr_assert_eq(acquire(&jobs[0], TAKT_REQUEST("slow")), 0);
    run_until(1);
    cr_assert_eq(acquire(&jobs[1], TAKT_REQUEST("slow")), 0);
    while (takt_get_stats(client, &stats), stats.store_answers < stats.store_calls)
        uv_run(&loop, UV_RUN_NOWAIT);
    for (int i = 0; i < 10; i++) /* the answer has been seen to, and the timer is armed */
        uv_run(&loop, UV_RUN_NOWAIT);
    cr_expect_eq(in_child(close_in_child), 0);
    run_until(2);
    cr_expect_eq(jobs[1].status, 0);
    close_client();
}

static takt_sync *threaded;

static int use_sync(void)
{
    takt_request request = TAKT_REQUEST("free");
    takt_permit permit = {0};
    takt_stats stats;

    if (takt_sync_acquire(threaded, &permit, &request) != TAKT_E_FORKED)
        return 1;
    if (takt_sync_get_stats(threaded, &stats) != TAKT_E_FORKED)
        return 2;
    takt_sync_release(threaded, &permit);
    if (takt_sync_is_held(threaded, &permit))
        return 3;
    takt_sync_close(threaded);
    return 0;
}

Test(fork, calls_that_block_return_at_once)
{
    takt_options options = {.store = "memory:"};
    takt_request request = TAKT_REQUEST("free");
    takt_permit permit = {0};

    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    add_limit("free", "1000000/s", "1000000", NULL, NULL);
    cr_assert_eq(takt_sync_open(&threaded, policy, &options, NULL), 0);
    cr_expect_eq(in_child(use_sync), 0);
    cr_expect_eq(takt_sync_acquire(threaded, &permit, &request), 0);
    takt_sync_close(threaded);
    takt_policy_free(policy);
}
