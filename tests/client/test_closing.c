/*
 * Between takt_close and its callback: granted permits are given back, takt_is_held is 0, and
 * permits may be released at any moment.
 */
#include "client/client_test.h"

static int closed;

static void note_closed(void *data)
{
    (void)data;
    closed++;
}

static void open_permits(void)
{
    static const char text[] = "limits:\n"
                               "  - {name: two, concurrency: 2}\n"
                               "  - {name: open, rules: [{rate: 1000/s, burst: 9}]}\n"
                               "  - {name: within, rules: [{rate: 9/s, burst: 9}], within: two}\n";
    takt_options options = {.store = "memory:closing", .on_event = note_event};
    takt_error error;

    closed = order = 0;
    cr_assert_eq(uv_loop_init(&loop), 0);
    cr_assert_eq(takt_policy_parse(&policy, "p", text, strlen(text), &error), 0, "%s", error.text);
    cr_assert_eq(takt_open(&client, &loop, policy, &options, &error), 0, "%s", error.text);
}

/* The client no longer keeps the loop alive and leaves nothing behind. */
static void end(void)
{
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(closed, 1);
    cr_assert_eq(uv_loop_close(&loop), 0, "a handle was left open");
    takt_policy_free(policy);
}

static void note_and_close(takt_permit *permit, int status)
{
    note(permit, status);
    takt_close(client, note_closed, NULL);
}

/* Two permits are due in one pass, and the first one's callback closes: the second one is not to
 * start, for somebody else may be given it from now on. */
Test(closing, what_was_due_is_cancelled)
{
    static const char *const names[] = {"two", "open", "within"};

    for (int i = 0; i < 3; i++) {
        seen jobs[2] = {{.calls = 0}};
        takt_request request = TAKT_REQUEST(names[i]);
        open_permits();
        for (int j = 0; j < 2; j++) {
            jobs[j].permit.data = &jobs[j];
            cr_assert_eq(takt_acquire(client, &jobs[j].permit, &request, note_and_close), 0);
        }
        run_until(2);
        cr_expect_eq(jobs[0].status, 0);
        cr_expect_eq(jobs[1].status, TAKT_E_CANCELED, "%s: %d", names[i], jobs[1].status);
        cr_expect_eq(jobs[1].permit.slot_at_us, 0);
        cr_expect_eq(takt_is_held(&jobs[0].permit), i == 1, "%s: it was given back", names[i]);
        cr_expect_not(takt_is_held(&jobs[1].permit));
        end();
    }
}

static seen released;
static int turns_left;
static bool early; /* the release came before the close callback */

/* Late in a turn, when only closed handles come behind it. */
static void release_in_time(uv_check_t *check)
{
    if (turns_left-- > 0 && closed == 0)
        return;
    early = closed == 0;
    if (early)
        takt_release(&released.permit);
    uv_close((uv_handle_t *)check, NULL);
}

/* The client's handles close in some turn of the loop: none is the wrong one for a release. */
Test(closing, released_in_any_turn)
{
    early = true;
    for (int turns = 0; early; turns++) {
        uv_check_t check;
        released = (seen){.calls = 0};
        open_permits();
        uv_check_init(&loop, &check);
        cr_assert_eq(acquire(&released, TAKT_REQUEST("two")), 0);
        run_until(1);
        takt_close(client, note_closed, NULL);
        turns_left = turns;
        uv_check_start(&check, release_in_time);
        while (uv_run(&loop, UV_RUN_NOWAIT))
            continue;
        end();
    }
}

#define KEYS 3000 /* more idle ledgers than the client keeps */

static void release_many(int turns)
{
    seen *jobs = calloc(KEYS, sizeof *jobs);
    takt_request request = TAKT_REQUEST("two");
    char key[16];

    open_permits();
    request.key = key;
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "%d", i);
        cr_assert_eq(acquire(&jobs[i], request), 0);
    }
    run_until(KEYS);
    takt_close(client, note_closed, NULL);
    for (int i = 0; i < turns && closed == 0; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    for (int i = 0; i < KEYS && closed == 0; i++)
        takt_release(&jobs[i].permit);
    end();
    free(jobs);
}

Test(closing, permits_of_many_keys)
{
    for (int turns = 0; turns < 12; turns++)
        release_many(turns);
}
