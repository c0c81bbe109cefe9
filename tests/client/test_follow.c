/*
 * Clients that follow the stored policy: the errors of opening, newer versions over every kind of
 * store, and an unusable version, which changes nothing.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <takt/stored_policy.h>
#include <uv.h>

#include "client/client.h"
#include "client/follow.h"
#include "client/stored_policy.h"
#include "store/redis/server.h"
#include "store/rig.h"

static uv_loop_t loop;
static takt_policy *follower;
static char url[PATH_MAX + 32];

/* A client and its events. */
typedef struct side {
    takt_client *client;
    int taken, refused; /* policies */
    char text[TAKT_ERROR_TEXT_SIZE];
} side;

static takt_policy *parse(const char *text)
{
    takt_policy *made;
    takt_error error = {0};

    cr_assert_eq(takt_policy_parse(&made, "p", text, strlen(text), &error), 0, "%s", error.text);
    return made;
}

static void on_event(takt_client *client, const takt_event *event, void *data)
{
    side *of = data;

    cr_expect(!of->client || client == of->client);
    of->taken += event->type == TAKT_EVENT_POLICY;
    of->refused += event->type == TAKT_EVENT_POLICY_REFUSED;
    cr_expect(event->type >= TAKT_EVENT_POLICY, "%s", event->text);
    snprintf(of->text, sizeof of->text, "%s", event->text);
}

static int try_open(side *opened, takt_error *error)
{
    takt_options options = {
        .store = url, .store_timeout_us = 30000000, .on_event = on_event, .data = opened};

    memset(opened, 0, sizeof *opened);
    return takt_open(&opened->client, &loop, follower, &options, error);
}

static void open_side(side *opened)
{
    takt_error error = {0};

    cr_assert_eq(try_open(opened, &error), 0, "%s", error.text);
}

static int64_t apply(const char *text)
{
    takt_policy *policy = parse(text);
    takt_options options = {.store = url, .store_timeout_us = 30000000};
    takt_stored_policy *stored;
    takt_error error = {0};
    int64_t version = 0;

    cr_assert_eq(takt_stored_policy_read(&stored, policy, &options, &error), 0, "%s", error.text);
    cr_assert_eq(takt_stored_policy_apply(stored, policy, "ann@host", &options, &version, &error),
                 0, "%s", error.text);
    takt_stored_policy_free(stored);
    takt_policy_free(policy);
    return version;
}

/* Stores a text without a hint, as another version of takt might. */
static void put(const char *text)
{
    takt_options options = {.store = url, .store_timeout_us = 30000000};
    takt_policy_exchange exchange = {0};
    takt_stored_policy *stored;

    cr_assert_eq(takt_stored_policy_read(&stored, NULL, &options, NULL), 0);
    exchange = (takt_policy_exchange){.seen_version = stored->version,
                                      .seen_at_us = stored->at_us,
                                      .text = text,
                                      .size = strlen(text),
                                      .change = "9\t5\tbob@host\tsomething"};
    cr_assert_eq(takt_stored_policy_exchange(TAKT_OP_APPLY, &exchange, NULL, &options, NULL), 0);
    takt_stored_policy_free(stored);
}

static void begin(const char *store)
{
    snprintf(url, sizeof url, "%s", store);
    follower = parse("policy: store\n");
    cr_assert_eq(uv_loop_init(&loop), 0);
}

static void end(void)
{
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(uv_loop_close(&loop), 0, "a handle was left open");
    takt_policy_free(follower);
}

/* Something that keeps the loop alive, as a program's own work does. */
static uv_timer_t work;

static void on_work(uv_timer_t *timer)
{
    (void)timer;
}

static void on_work_closed(uv_handle_t *handle)
{
    handle->data = NULL;
}

static void begin_work(void)
{
    uv_timer_init(&loop, &work);
    work.data = &work;
    uv_timer_start(&work, on_work, 60000, 60000);
}

static void end_work(void)
{
    uv_close((uv_handle_t *)&work, on_work_closed);
    while (work.data)
        uv_run(&loop, UV_RUN_NOWAIT);
}

static void run_until(const int *count, int wanted)
{
    begin_work();
    while (*count < wanted)
        uv_run(&loop, UV_RUN_ONCE);
    end_work();
}

static void on_start(takt_permit *permit, int status)
{
    cr_expect_eq(status, 0, "%s", takt_strerror(status));
    ++*(int *)permit->data;
}

static int acquire(side *of, takt_permit *permit, const char *limit, int *starts)
{
    permit->data = starts;
    return takt_acquire(of->client, permit, &TAKT_REQUEST(limit), on_start);
}

#define MAIL(rate) "limits:\n  - {name: mail, rules: [{rate: " rate "}]}\n"
#define API        "  - {name: api, rules: [{rate: 50/s}]}\n"

/* Two clients, a waiter with a wait of an hour, and a new limit. */
static void follow_an_apply(void)
{
    static takt_permit permits[3];
    side one, two;
    int starts = 0;

    cr_expect_eq(apply(MAIL("1/h")), 1);
    open_side(&one);
    open_side(&two);
    takt_policy_free(follower); /* it was needed to open them */
    follower = NULL;
    cr_expect_eq(takt_policy_version(takt_get_policy(one.client)), 1);
    cr_assert_eq(acquire(&one, &permits[0], "mail", &starts), 0);
    cr_assert_eq(acquire(&one, &permits[1], "mail", &starts), 0);
    cr_expect_eq(acquire(&two, &permits[2], "api", &starts), TAKT_E_NO_LIMIT);
    while (starts < 1)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect_eq(apply(MAIL("50/s") API), 2);
    run_until(&one.taken, 1);
    run_until(&two.taken, 1);
    cr_expect_str_eq(one.text,
                     "version 2 of the stored policy holds, by ann@host: mail changed, api added");
    cr_expect_eq(takt_policy_version(takt_get_policy(two.client)), 2);
    cr_expect_eq(takt_policy_revision(takt_get_policy(two.client)), 2);
    cr_expect_eq(acquire(&two, &permits[2], "api", &starts), 0);
    run_until(&starts, 3);
    cr_expect_eq(one.taken + two.taken, 2, "each is told once");
    cr_expect_eq(one.refused + two.refused, 0);
    takt_close(one.client, NULL, NULL);
    takt_close(two.client, NULL, NULL);
    end();
}

Test(follow, over_memory)
{
    takt_policy *policy = parse(MAIL("1/s"));
    takt_options options = {.store = "memory:follow"};
    takt_client *holder; /* of the memory: with the last one it would be gone */

    begin("memory:follow");
    cr_assert_eq(takt_open(&holder, &loop, policy, &options, NULL), 0);
    takt_close(holder, NULL, NULL);
    follow_an_apply();
    takt_policy_free(policy);
}

Test(follow, over_a_file)
{
    char directory[PATH_MAX], store[PATH_MAX + 8];

    rig_directory(directory);
    snprintf(store, sizeof store, "file:%s/l", directory);
    begin(store);
    follow_an_apply();
    rig_remove(directory);
}

Test(follow, over_redis)
{
    struct server server;

    server_start(&server, NULL);
    begin(server.url);
    follow_an_apply();
    server_stop(&server);
}

/* Over Redis a hint makes clients read the policy at once. */
Test(follow, a_hint_tells_at_once)
{
    struct server server;
    side opened;

    server_start(&server, NULL);
    begin(server.url);
    apply(MAIL("1/s"));
    open_side(&opened);
    uv_timer_stop(&opened.client->follow.timer);
    takt_follow_look(opened.client);
    begin_work();
    while (!strstr(server_say(&server, "PUBSUB SHARDCHANNELS"), "takt:{default//}"))
        uv_run(&loop, UV_RUN_NOWAIT);
    end_work();
    for (int i = 2; i <= 4; i++) {
        char text[80];
        snprintf(text, sizeof text, MAIL("%d/s"), i);
        apply(text);
        run_until(&opened.taken, i - 1);
    }
    takt_close(opened.client, NULL, NULL);
    end();
    server_stop(&server);
}

Test(follow, opening_says_what_to_do)
{
    struct server server;
    takt_error error = {0};
    side opened;

    server_start(&server, NULL);
    begin(server.url);
    cr_expect_eq(try_open(&opened, &error), TAKT_E_POLICY);
    cr_expect_not_null(strstr(error.text, "takt apply FILE"), "%s", error.text);
    put("limits: [");
    cr_expect_eq(try_open(&opened, &error), TAKT_E_POLICY);
    cr_expect_eq(strncmp(error.text, "the stored policy:", 18), 0, "%s", error.text);
    put("policy: store\n");
    cr_expect_eq(try_open(&opened, &error), TAKT_E_POLICY);
    cr_expect_not_null(strstr(error.text, "follows itself"), "%s", error.text);
    server_stop(&server);
    cr_expect_eq(try_open(&opened, &error), TAKT_E_STORE);
    end();
}

/* An unusable policy causes one event. The policy before it stays in use until a usable one is
 * stored, also if the server loses the record. */
Test(follow, one_that_cannot_be_used_changes_nothing)
{
    static takt_permit permit;
    struct server server;
    side opened;
    int starts = 0;

    server_start(&server, NULL);
    begin(server.url);
    apply(MAIL("50/s"));
    open_side(&opened);
    put("limits:\n  - {name: mail, rules: [{rate: 1/fortnight}]}\n");
    run_until(&opened.refused, 1);
    cr_expect_not_null(strstr(opened.text, "version 2 of the stored policy, by bob@host cannot"),
                       "%s", opened.text);
    cr_expect_not_null(strstr(opened.text, "the stored policy:2:"), "%s", opened.text);
    cr_expect_eq(acquire(&opened, &permit, "mail", &starts), 0);
    run_until(&starts, 1);
    apply(MAIL("40/s") API);
    run_until(&opened.taken, 1);
    cr_expect_eq(opened.refused, 1);

    server_say(&server, "FLUSHDB");
    takt_follow_look(opened.client);
    run_until(&opened.refused, 2);
    cr_expect_not_null(strstr(opened.text, "has lost its policy"), "%s", opened.text);
    takt_release(&permit);
    cr_expect_eq(acquire(&opened, &permit, "api", &starts), 0);
    run_until(&starts, 2);
    cr_expect_eq(apply(MAIL("30/s")), 1, "versions begin anew");
    run_until(&opened.taken, 2);
    cr_expect_eq(opened.refused, 2);
    takt_close(opened.client, NULL, NULL);
    end();
    server_stop(&server);
}

/* A client without a secret keeps the policy that it has. */
Test(follow, refuses_key_hash_without_a_secret)
{
    struct server server;
    side opened;
    takt_error error = {0};

    unsetenv("TAKT_KEY_SECRET");
    unsetenv("TAKT_KEY_SECRET_FILE");
    server_start(&server, NULL);
    begin(server.url);
    apply(MAIL("50/s"));
    open_side(&opened);
    apply("limits:\n  - {name: mail, rules: [{rate: 50/s}], key_hash: true}\n");
    run_until(&opened.refused, 1);
    cr_expect_not_null(strstr(opened.text, "key_hash needs a secret"), "%s", opened.text);
    cr_expect_eq(takt_policy_version(takt_get_policy(opened.client)), 1);
    takt_close(opened.client, NULL, NULL);
    cr_expect_eq(try_open(&opened, &error), TAKT_E_POLICY);
    cr_expect_not_null(strstr(error.text, "TAKT_KEY_SECRET_FILE"), "%s", error.text);
    end();
    server_stop(&server);
}

/* A client that follows does not keep its loop alive, and it frees policies that are no longer in
 * use. */
Test(follow, keeps_nothing)
{
    struct server server;
    side opened;
    int policies = 0;

    server_start(&server, NULL);
    begin(server.url);
    apply(MAIL("1/s"));
    open_side(&opened);
    cr_expect_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    for (int i = 2; i <= 6; i++) {
        char text[80];
        snprintf(text, sizeof text, MAIL("%d/s"), i);
        apply(text);
        takt_follow_look(opened.client);
        run_until(&opened.taken, i - 1);
    }
    opened.client->follow.timer.timer_cb(&opened.client->follow.timer);
    for (takt_policy *at = opened.client->follow.loaded; at; at = at->older)
        policies++;
    cr_expect_eq(policies, 1);
    cr_expect_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    takt_close(opened.client, NULL, NULL);
    end();
    server_stop(&server);
}

/* ---- putting one there ----------------------------------------------------------------------- */

static int try_apply(takt_stored_policy *seen, const char *text, int64_t *version,
                     takt_error *error)
{
    takt_options options = {.store = url, .store_timeout_us = 30000000};
    takt_policy *policy = parse(text);
    int code = takt_stored_policy_apply(seen, policy, NULL, &options, version, error);

    takt_policy_free(policy);
    return code;
}

static takt_stored_policy *look(void)
{
    takt_options options = {.store = url, .store_timeout_us = 30000000};
    takt_stored_policy *stored;

    cr_assert_eq(takt_stored_policy_read(&stored, NULL, &options, NULL), 0);
    return stored;
}

Test(follow, of_two_who_apply_one_is_told)
{
    struct server server;
    takt_stored_policy *first, *second;
    takt_error error = {0};
    int64_t version = 0;

    server_start(&server, NULL);
    begin(server.url);
    first = look();
    second = look();
    cr_expect_eq(try_apply(first, MAIL("1/s"), &version, &error), 0);
    cr_expect_eq(version, 1);
    cr_expect_eq(try_apply(second, MAIL("2/s"), &version, &error), TAKT_E_OVERTAKEN);
    cr_expect_not_null(strstr(error.text, "takt policy"), "%s", error.text);
    takt_stored_policy_free(first);
    takt_stored_policy_free(second);
    first = look();
    cr_expect_eq(first->size, strlen(MAIL("1/s")));
    cr_expect_eq(first->change_count, 1);
    cr_expect_not_null(strchr(first->changes[0].who, '@'));
    cr_expect_str_eq(first->changes[0].what, "mail added");
    takt_stored_policy_free(first);
    end();
    server_stop(&server);
}

/* Written versions must grow when the text changes; an omitted one is the next number. */
Test(follow, revisions)
{
    static const struct {
        const char *text;
        int code;
        int64_t version, revision;
    } rows[] = {
        {MAIL("1/s"), 0, 1, 1},
        {MAIL("1/s"), 0, 1, 1}, /* the same text: the store does not change */
        {MAIL("2/s"), 0, 2, 2},
        {"revision: 2\n" MAIL("3/s"), TAKT_E_POLICY, 2, 2},
        {"revision: 1\n" MAIL("2/s"), TAKT_E_POLICY, 2, 2},
        {"revision: 2\n" MAIL("2/s"), 0, 3, 2}, /* no limit changes */
        {"revision: 9\n" MAIL("3/s"), 0, 4, 9},
        {MAIL("4/s"), 0, 5, 10},
    };
    struct server server;

    server_start(&server, NULL);
    begin(server.url);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_stored_policy *stored = look();
        takt_error error = {0};
        int64_t version = 0;
        cr_expect_eq(try_apply(stored, rows[i].text, &version, &error), rows[i].code, "%zu: %s", i,
                     error.text);
        takt_stored_policy_free(stored);
        stored = look();
        cr_expect_eq(stored->version, rows[i].version, "%zu", i);
        cr_expect_eq(takt_policy_revision(stored->policy), rows[i].revision, "%zu", i);
        cr_expect(rows[i].code == 0 || strstr(error.text, "write revision: 3, or remove it"), "%s",
                  error.text);
        takt_stored_policy_free(stored);
    }
    end();
    server_stop(&server);
}
