/*
 * Which limits and keys a store has ledgers of, and looking at them without a policy.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include <takt/ledgers.h>

static uv_loop_t loop;
static takt_policy *policy;
static takt_client *client;
static takt_standing told;
static bool done;
static char url[128];

static void add(const char *name, const char *rate, const char *burst)
{
    takt_rule_text rule = {.rate = rate, .burst = burst};
    takt_limit_text limit = {.name = name, .rules = &rule, .rule_count = 1};
    takt_error error = {0};

    cr_assert_eq(takt_policy_add(policy, &limit, &error), 0, "%s", error.text);
}

static void open_client(const takt_policy *by)
{
    takt_options options = {.store = url};
    takt_error error = {0};

    cr_assert_eq(uv_loop_init(&loop), 0);
    cr_assert_eq(takt_open(&client, &loop, by, &options, &error), 0, "%s", error.text);
}

static void close_client(void)
{
    takt_close(client, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(uv_loop_close(&loop), 0);
}

static void set_up(void)
{
    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    add("mail", "2/h", "2");
    add("api", "800/day", "8");
    add("idle", "1/h", NULL);
}

static void tear_down(void)
{
    takt_policy_free(policy);
}

TestSuite(ledgers, .init = set_up, .fini = tear_down);

static void on_told(takt_call *call, int status, const takt_standing *standing)
{
    (void)call;
    cr_assert(standing, "%s", takt_strerror(status));
    told = *standing;
    done = true;
}

static void wait_until_told(int code)
{
    cr_assert_eq(code, 0);
    for (done = false; !done;)
        uv_run(&loop, UV_RUN_ONCE);
}

static void take(const char *limit, const char *key, int32_t cost)
{
    takt_request request = TAKT_REQUEST(limit);
    takt_permit permit = {0};
    takt_call call = {0};

    request.key = key;
    request.cost = cost;
    wait_until_told(takt_try_acquire(client, &call, &permit, &request, on_told));
    takt_release(&permit);
}

static takt_ledgers *list(size_t max)
{
    takt_options options = {.store = url};
    takt_ledgers *ledgers = NULL;
    takt_error error = {0};

    cr_assert_eq(takt_ledgers_read(&ledgers, NULL, &options, max, &error), 0, "%s", error.text);
    return ledgers;
}

/* "mail:a api api:b", the busiest first. */
static const char *names(const takt_ledgers *ledgers)
{
    static char text[256];
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < ledgers->count; i++)
        used += (size_t)sprintf(text + used, "%s%s%s%s", i ? " " : "", ledgers->all[i].limit,
                                ledgers->all[i].key ? ":" : "",
                                ledgers->all[i].key ? ledgers->all[i].key : "");
    return text;
}

static void peek(const char *limit, const char *key, bool watching)
{
    takt_call call = {0};

    wait_until_told(watching ? takt_watch(client, &call, limit, key, 10000000, on_told)
                             : takt_peek(client, &call, limit, key, on_told));
}

static void list_and_look(void)
{
    takt_ledgers *ledgers, *again;
    char rules[64];

    open_client(policy);
    take("mail", "a b", 1);  /* half of the tokens remain */
    take("mail", "full", 2); /* no token remains */
    take("api", NULL, 1);    /* seven eighths are */
    peek("idle", NULL, false);
    ledgers = list(10);
    cr_expect_str_eq(names(ledgers), "mail:full mail:a b api");
    cr_expect_eq(ledgers->left_out, 0);
    again = list(2);
    cr_expect_str_eq(names(again), "mail:full mail:a b");
    cr_expect_eq(again->left_out, 1);
    takt_ledgers_free(again);

    close_client();
    open_client(ledgers->policy); /* one that has no policy looks */
    cr_assert_eq(takt_policy_describe(ledgers->policy, "api", rules, sizeof rules), 0);
    cr_expect_str_eq(rules, "800/day burst 8");
    peek("api", NULL, false);
    cr_expect_eq(told.remaining, 7);
    peek("mail", "full", true);
    cr_expect_eq(told.limit, 2, "looking goes by the ledger's rules");
    cr_expect_eq(told.remaining, 0);
    peek("mail", "new", true);
    close_client();
    open_client(policy);
    again = list(10);
    cr_expect_str_eq(names(again), "mail:full mail:a b api", "and makes no ledger");
    takt_ledgers_free(again);
    peek("mail", "full", false);
    cr_expect_eq(told.remaining, 0, "nor changes one");
    cr_expect_gt(told.watched_since_us, 0);
    close_client();
    takt_ledgers_free(ledgers);
}

Test(ledgers, of_memory)
{
    takt_policy *keeper = policy; /* a memory space exists while a client has it open */
    takt_options options = {.store = "memory:ledgers"};
    takt_client *other;
    uv_loop_t others;

    strcpy(url, "memory:ledgers");
    cr_assert_eq(uv_loop_init(&others), 0);
    cr_assert_eq(takt_open(&other, &others, keeper, &options, NULL), 0);
    list_and_look();
    takt_close(other, NULL, NULL);
    uv_run(&others, UV_RUN_DEFAULT);
    uv_loop_close(&others);
}

Test(ledgers, of_a_file)
{
    char folder[] = "/tmp/takt-ledgers-XXXXXX", path[96];

    cr_assert_not_null(mkdtemp(folder));
    snprintf(url, sizeof url, "file:%s/ledgers.mdb", folder);
    list_and_look();
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/ledgers.mdb%s", folder, i ? "-lock" : "");
        unlink(path);
    }
    cr_expect_eq(rmdir(folder), 0);
}

Test(ledgers, of_a_server_that_is_not_there)
{
    takt_options options = {.store = "unix:/tmp/takt-no-such-server.sock"};
    takt_ledgers *ledgers = NULL;
    takt_error error = {0};

    cr_expect_lt(takt_ledgers_read(&ledgers, NULL, &options, 10, &error), 0);
    cr_expect_null(ledgers);
    cr_expect(strstr(error.text, "no-such-server"), "%s", error.text);
}
