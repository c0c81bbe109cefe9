/*
 * A client on a memory store with a policy of a text, which gets another one.
 */
#ifndef TAKT_TESTS_CLIENT_RELOADS_H
#define TAKT_TESTS_CLIENT_RELOADS_H

#include "client/client_test.h"

static takt_policy *next;

static inline takt_policy *parse(const char *text)
{
    takt_policy *made;
    takt_error error = {0};

    cr_assert_eq(takt_policy_parse(&made, "p", text, strlen(text), &error), 0, "%s", error.text);
    return made;
}

static inline void begin(const char *text)
{
    takt_options options = {
        .store = "memory:", .on_event = note_event, .key_secret = "0123456789abcdef"};
    takt_error error = {0};

    policy = parse(text);
    cr_assert_eq(uv_loop_init(&loop), 0);
    cr_assert_eq(takt_open(&client, &loop, policy, &options, &error), 0, "%s", error.text);
}

static inline void reload(const char *text)
{
    takt_error error = {0};

    next = parse(text);
    cr_assert_eq(takt_reload(client, next, &error), 0, "%s", error.text);
    cr_expect_eq(takt_get_policy(client), next);
}

static inline void end(void)
{
    close_client();
    takt_policy_free(next);
}

#endif
