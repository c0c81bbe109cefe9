/*
 * test_store.c: which URLs name a store, and the messages about others.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "store/rig.h"

Test(store, check_url)
{
    static const struct {
        const char *url;
        int code;
        const char *says; /* part of the message */
    } table[] = {
        {"memory:", 0, ""},
        {"memory:shared", 0, ""},
        {"file:", 0, ""},
        {"file:/var/lib/takt/ledgers.mdb", 0, ""},
        {"file:relative/path", 0, ""},
        {"file:///var/lib/x", 0, ""},
        {"file:/a?sync=always", 0, ""},
        {"file:?sync=always", 0, ""},
        {NULL, TAKT_E_STORE_URL, "memory:NAME"},
        {"", TAKT_E_STORE_URL, "\"\" is not a store's URL"},
        {"/var/lib/x/", TAKT_E_STORE_URL, "did you mean \"file:/var/lib/x/\"?"},
        {"./x", TAKT_E_STORE_URL, "did you mean \"file:./x\"?"},
        {"../x", TAKT_E_STORE_URL, "did you mean \"file:../x\"?"},
        {"//user:pass@host", TAKT_E_STORE_URL, "\"//user\" is not a store's URL"},
        {"x", TAKT_E_STORE_URL, "file:PATH"},
        {"mysql://x", TAKT_E_STORE_URL, "\"mysql://x\""},
        {"FILE:/a", TAKT_E_STORE_URL, "file:PATH"},
        {"file:/a?sync=never", TAKT_E_STORE_URL, "?sync=always"},
        {"file:/a?", TAKT_E_STORE_URL, "?sync=always"},
        {"file:/a?sync=always&x", TAKT_E_STORE_URL, "?sync=always"},
        {"file://host/a", TAKT_E_STORE_URL, "file:///PATH"},
        {"memory:0123456789012345678901234567890123456789012345678901234567890123", 0, ""},
        {"memory:01234567890123456789012345678901234567890123456789012345678901234",
         TAKT_E_STORE_URL, "64 bytes"},
        {"agent:", 0, ""},
        {"agent:/run/takt/agent.sock", 0, ""},
        {"agent:/a?x=1", TAKT_E_STORE_URL, "here is \"?x=1\": remove it"},
        {"agent:/a?\r\x1b[2J\xb7", TAKT_E_STORE_URL, "here is \"?\\x0d\\x1b[2J\\xb7\": remove it"},
        {"agent:relative", TAKT_E_STORE_URL, "begins with \"/\""},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_error error = {0};
        cr_expect_eq(takt_store_check_url(table[i].url, &error), table[i].code, "%s", table[i].url);
        cr_expect_eq(error.code, table[i].code, "%s", table[i].url);
        cr_expect_not_null(strstr(error.text, table[i].says), "%s: %s", table[i].url, error.text);
        cr_expect_eq(takt_store_check_url(table[i].url, NULL), table[i].code);
    }
}

Test(store, a_path_that_is_too_long_is_refused)
{
    char url[3 * PATH_MAX];
    takt_error error;

    memset(url, 'a', sizeof url);
    memcpy(url, "file:", 5);
    url[sizeof url - 1] = '\0';
    cr_expect_eq(takt_store_check_url(url, &error), TAKT_E_STORE_URL);
}

Test(store, default_url)
{
    static const struct {
        const char *state, *home;
        const char *url; /* NULL: none */
    } table[] = {
        {NULL, "/home/u", "file:/home/u/.local/state/takt/ledgers.mdb"},
        {"", "/home/u", "file:/home/u/.local/state/takt/ledgers.mdb"},
        {"/state", "/home/u", "file:/state/takt/ledgers.mdb"},
        {"relative", "/home/u", "file:/home/u/.local/state/takt/ledgers.mdb"},
        {"/state", NULL, "file:/state/takt/ledgers.mdb"},
        {NULL, NULL, NULL},
        {"relative", "relative", NULL},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char url[200] = "untouched";
        takt_error error;
        unsetenv("XDG_STATE_HOME");
        unsetenv("HOME");
        if (table[i].state)
            setenv("XDG_STATE_HOME", table[i].state, 1);
        if (table[i].home)
            setenv("HOME", table[i].home, 1);
        cr_expect_eq(takt_store_default_url(url, sizeof url, &error),
                     table[i].url ? 0 : TAKT_E_STORE_URL);
        cr_expect_str_eq(url, table[i].url ? table[i].url : "untouched", "row %zu", i);
    }
}

Test(store, default_url_is_cut)
{
    char url[8];

    setenv("XDG_STATE_HOME", "/state", 1);
    cr_expect_eq(takt_store_default_url(url, sizeof url, NULL), 0);
    cr_expect_str_eq(url, "file:/s");
}

Test(store, a_bad_namespace_is_refused)
{
    static const char *const bad[] = {
        "",      "01234567890123456789012345678901234567890123456789012345678901234",
        "a b",   "a\n",
        "a:b",   "a{b}",
        "{mail", "mail}",
        "{",     "{}"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct rig rig;
        takt_error error = {0};
        cr_expect_eq(rig_try_open(&rig, "memory:", bad[i], 0, &error), TAKT_E_INVALID);
        cr_expect_eq(strncmp(error.text, "namespace: ", 11), 0, "%s", error.text);
        rig_close(&rig);
    }
}

Test(store, memory_without_a_name_is_private)
{
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct rig one, two;

    rig_open(&one, "memory:");
    rig_open(&two, "memory:");
    cr_expect_eq(rig_try(&one, &limit, "k", 1), 0);
    cr_expect_eq(rig_try(&two, &limit, "k", 1), 0);
    cr_expect_eq(rig_try(&one, &limit, "k", 1), TAKT_E_NO_SLOT);
    rig_close(&one);
    rig_close(&two);
}

Test(store, memory_with_a_name_ends_with_its_last_store)
{
    takt_limit limit = rig_limit("a", 1, RIG_DAY, 1);
    struct rig one, two;

    rig_open(&one, "memory:x");
    rig_open(&two, "memory:y");
    cr_expect_eq(rig_try(&one, &limit, "k", 1), 0);
    cr_expect_eq(rig_try(&two, &limit, "k", 1), 0);
    rig_close(&one);
    rig_open(&one, "memory:x");
    cr_expect_eq(rig_try(&one, &limit, "k", 1), 0);
    rig_close(&one);
    rig_close(&two);
}
