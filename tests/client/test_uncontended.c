/*
 * A client that is alone at a ledger asks a server for each slot with one key. If the server needs
 * more keys it asks with all of them, until one key is enough again.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <takt/takt.h>
#include <time.h>
#include <uv.h>

#include "store/redis/server.h"

#define LEDGER "takt:{default/mail/}"

static uv_loop_t loop;
static takt_client *client;
static struct server server;
static bool granted;

static void on_granted(takt_permit *permit, int status)
{
    cr_assert_eq(status, 0, "%s", takt_strerror(status));
    takt_release(permit);
    granted = true;
}

/* How many keys the scripts were called with that the last acquire took, one digit each, the last
 * one first. */
static const char *keys_of_an_acquire(void)
{
    static const char call[] = "EVALSHA\r\n$40\r\n";
    static takt_permit permit;
    static char keys[8];
    size_t count = 0;
    const char *log;

    server_say(&server, "SLOWLOG RESET");
    granted = false;
    cr_assert_eq(takt_acquire(client, &permit, &TAKT_REQUEST("mail"), on_granted), 0);
    while (!granted)
        uv_run(&loop, UV_RUN_ONCE);
    log = server_say(&server, "SLOWLOG GET");
    while ((log = strstr(log, call)) != NULL && count + 1 < sizeof keys) {
        log += strlen(call) + 40 + strlen("\r\n$1\r\n");
        keys[count++] = *log;
    }
    keys[count] = '\0';
    return keys;
}

/* A watched ledger counts the tokens taken. */
static void watch(void)
{
    int64_t now_us = (int64_t)time(NULL) * 1000000;
    char words[128];

    snprintf(words, sizeof words, "APPEND " LEDGER " ;m%" PRId64 ",%" PRId64 ",0",
             now_us + TAKT_WATCH_MAX_US - 1000000, now_us);
    server_say(&server, words);
}

Test(uncontended, one_key_is_named)
{
    static const char *const options[] = {"--slowlog-log-slower-than", "0", NULL};
    takt_rule_text rule = {.rate = "1/min", .burst = "100"};
    takt_limit_text limit = {.name = "mail", .rules = &rule, .rule_count = 1};
    takt_options opening = {.store = server.url, .store_timeout_us = 60000000};
    takt_policy *policy;

    server_start(&server, options);
    cr_assert_eq(uv_loop_init(&loop), 0);
    cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    cr_assert_eq(takt_policy_add(policy, &limit, NULL), 0);
    cr_assert_eq(takt_open(&client, &loop, policy, &opening, NULL), 0);
    cr_expect_str_eq(keys_of_an_acquire(), "33", "the first one loads the script");
    cr_expect_str_eq(keys_of_an_acquire(), "1");
    cr_expect_str_eq(keys_of_an_acquire(), "1");
    server_say(&server, "SCRIPT FLUSH");
    cr_expect_str_eq(keys_of_an_acquire(), "11", "and so does the first one after a flush");
    watch();
    cr_expect_str_eq(keys_of_an_acquire(), "31");
    cr_expect_str_eq(keys_of_an_acquire(), "3");
    cr_expect_str_eq(keys_of_an_acquire(), "3");
    server_say(&server, "DEL " LEDGER);
    cr_expect_str_eq(keys_of_an_acquire(), "3");
    cr_expect_str_eq(keys_of_an_acquire(), "1");
    takt_close(client, NULL, NULL);
    cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    cr_assert_eq(uv_loop_close(&loop), 0);
    takt_policy_free(policy);
    server_stop(&server);
}
