/*
 * test_tls.c: a real server that uses TLS, with trusted and untrusted certificates.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "redis/certificates.h"
#include "store/redis/server.h"
#include "store/rig.h"

#define TIMEOUT_US INT64_C(30000000)

/* A server whose certificate is for `host` and valid for those days. */
static void start(struct server *server, const char *host, int from_days, int until_days,
                  const char *const *options)
{
    server_directory(server);
    certificate_make(server->directory, "ca", NULL, NULL, -10, 10);
    certificate_make(server->directory, "other", NULL, NULL, -10, 10);
    certificate_make(server->directory, "server", "ca", host, from_days, until_days);
    certificate_make(server->directory, "client", "ca", "worker.example", -10, 10);
    server_start_tcp(server, true, options);
}

static const char *const no_client[] = {"--tls-auth-clients", "no", NULL};

/* The status of a first call, and the store's message. */
static int try_at(const struct server *server, const char *host, const char *options, char *text)
{
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    char url[512];
    takt_error error = {0};
    struct rig rig;
    int status;

    snprintf(url, sizeof url, "rediss://%s:%d?%s", host, server->tls_port, options);
    cr_assert_eq(rig_try_open(&rig, url, "test", TIMEOUT_US, &error), 0, "%s", error.text);
    status = rig_try(&rig, &limit, "k", 1);
    snprintf(text, TAKT_ERROR_TEXT_SIZE, "%s", rig.store->trouble ? rig.store->trouble : "");
    rig_close(&rig);
    return status;
}

struct trusted {
    const char *host; /* of the certificate */
    int from_days, until_days;
    const char *to; /* the host in the URL */
    const char *ca; /* NULL: that of the system */
    int status;
    const char *says;
};

static void check_trusted(const struct trusted *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct server server;
        char options[160] = "", text[TAKT_ERROR_TEXT_SIZE];
        start(&server, table[i].host, table[i].from_days, table[i].until_days, no_client);
        if (table[i].ca != NULL)
            snprintf(options, sizeof options, "ca=%s/%s.crt", server.directory, table[i].ca);
        cr_expect_eq(try_at(&server, table[i].to, options, text), table[i].status, "%zu: %s", i,
                     text);
        cr_expect_not_null(strstr(text, table[i].says), "%zu: %s", i, text);
        server_stop(&server);
    }
}

Test(tls, whom_it_trusts)
{
    static const struct trusted table[] = {
        {"127.0.0.1", -1, 1, "127.0.0.1", "ca", 0, ""},
        {"localhost", -1, 1, "127.0.0.1", "ca", TAKT_E_STORE_ACCESS, "IP address mismatch"},
        {"127.0.0.1", -2, -1, "127.0.0.1", "ca", TAKT_E_STORE_ACCESS, "expired"},
        {"127.0.0.1", 1, 2, "127.0.0.1", "ca", TAKT_E_STORE_ACCESS, "not yet valid"},
        {"127.0.0.1", -1, 1, "127.0.0.1", "other", TAKT_E_STORE_ACCESS, "not trusted"},
        {"127.0.0.1", -1, 1, "127.0.0.1", NULL, TAKT_E_STORE_ACCESS, "not trusted"},
    };

    check_trusted(table, sizeof table / sizeof table[0]);
}

Test(tls, whom_it_trusts_by_name)
{
    static const struct trusted table[] = {
        {"localhost", -1, 1, "localhost", "ca", 0, ""},
        {"redis.example", -1, 1, "localhost", "ca", TAKT_E_STORE_ACCESS, "ostname mismatch"},
        {"*.example", -1, 1, "localhost", "ca", TAKT_E_STORE_ACCESS, "ostname mismatch"},
    };

    if (!knows_localhost())
        cr_skip_test(NO_LOCALHOST);
    check_trusted(table, sizeof table / sizeof table[0]);
}

/* A server that requires a certificate of the client. */
Test(tls, shows_itself)
{
    static const char *const client[] = {"--tls-auth-clients", "yes", NULL};
    struct server server;
    char options[300], text[TAKT_ERROR_TEXT_SIZE];

    start(&server, "127.0.0.1", -1, 1, client);
    snprintf(options, sizeof options, "ca=%s/ca.crt&cert=%s/client.crt&key=%s/client.key",
             server.directory, server.directory, server.directory);
    cr_expect_eq(try_at(&server, "127.0.0.1", options, text), 0, "%s", text);
    snprintf(options, sizeof options, "ca=%s/ca.crt", server.directory);
    cr_expect_neq(try_at(&server, "127.0.0.1", options, text), 0);
    cr_expect_not_null(strstr(text, "rediss://127.0.0.1"), "%s", text);
    server_stop(&server);
}

/* Neither side falls back to plain text. */
Test(tls, both_sides_must_speak_it)
{
    takt_limit limit = rig_limit("a", 1000, RIG_DAY, 1000);
    struct server server;
    struct rig rig;
    char url[128];

    start(&server, "127.0.0.1", -1, 1, no_client);
    snprintf(url, sizeof url, "rediss://127.0.0.1:%d?ca=%s/ca.crt", server.port, server.directory);
    cr_assert_eq(rig_try_open(&rig, url, "test", 300000, NULL), 0);
    cr_expect_neq(rig_try(&rig, &limit, "k", 1), 0);
    rig_close(&rig);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", server.tls_port);
    cr_assert_eq(rig_try_open(&rig, url, "test", 300000, NULL), 0);
    cr_expect_neq(rig_try(&rig, &limit, "k", 1), 0);
    rig_close(&rig);
    cr_expect_str_eq(server_say(&server, "DBSIZE"), ":0\r\n");
    server_stop(&server);
}

Test(tls, versions_that_are_too_old)
{
    static const char *const old[] = {"--tls-auth-clients", "no", "--tls-protocols", "TLSv1.1",
                                      NULL};
    static const char *const twelve[] = {"--tls-auth-clients", "no", "--tls-protocols", "TLSv1.2",
                                         NULL};
    struct server server;
    char options[128], text[TAKT_ERROR_TEXT_SIZE];

    start(&server, "127.0.0.1", -1, 1, old);
    snprintf(options, sizeof options, "ca=%s/ca.crt", server.directory);
    cr_expect_eq(try_at(&server, "127.0.0.1", options, text), TAKT_E_STORE_ACCESS);
    cr_expect_not_null(strstr(text, "TLS failed"), "%s", text);
    server_stop(&server);
    start(&server, "127.0.0.1", -1, 1, twelve);
    snprintf(options, sizeof options, "ca=%s/ca.crt", server.directory);
    cr_expect_eq(try_at(&server, "127.0.0.1", options, text), 0, "%s", text);
    server_stop(&server);
}

/* Many calls at once: records that come in pieces, and more than one in a packet. */
Test(tls, a_pipeline)
{
    enum { CALLS = 3000 };
    static struct rig_call calls[CALLS];
    takt_limit limit = rig_limit("a", 1000000, 10000 * RIG_DAY, 1000000);
    struct server server;
    struct rig rig;
    char url[128];

    start(&server, "127.0.0.1", -1, 1, no_client);
    snprintf(url, sizeof url, "rediss://127.0.0.1:%d?ca=%s/ca.crt", server.tls_port,
             server.directory);
    rig_open(&rig, url);
    for (int i = 0; i < CALLS; i++) {
        rig_call_init(&calls[i], TAKT_OP_TRY, &limit, "k");
        rig_submit(&rig, &calls[i]);
    }
    for (int i = 0; i < CALLS; i++) {
        rig_wait(&rig, &calls[i]);
        cr_assert_eq(calls[i].call.status, 0);
    }
    cr_expect_eq(rig_peek(&rig, &limit, "k").remaining, 1000000 - CALLS);
    rig_close(&rig);
    server_stop(&server);
}

/* Named files that cannot be used are an error when the store is opened. */
Test(tls, files)
{
    static const struct {
        const char *options;
        const char *says;
    } table[] = {
        {"ca=/nowhere/ca.crt", "ca="},
        {"ca=D/client.key", "ca="},
        {"ca=D/ca.crt&cert=/nowhere/x&key=D/client.key", "cert="},
        {"ca=D/ca.crt&cert=D/client.crt&key=/nowhere/x", "key="},
        {"ca=D/ca.crt&cert=D/client.crt&key=D/ca.key", "key="},
        {"ca=D/ca.crt&cert=D/client.crt&key=D/client.crt", "key="},
    };
    char directory[] = "/tmp/takt-tls-XXXXXX";

    cr_assert_not_null(mkdtemp(directory));
    certificate_make(directory, "ca", NULL, NULL, -1, 1);
    certificate_make(directory, "client", "ca", "x", -1, 1);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char url[512] = "rediss://127.0.0.1?";
        takt_error error = {0};
        struct rig rig;
        for (const char *at = table[i].options; *at != '\0'; at++)
            snprintf(url + strlen(url), sizeof url - strlen(url), "%.*s%s", *at != 'D', at,
                     *at == 'D' ? directory : "");
        cr_expect_eq(rig_try_open(&rig, url, "test", 0, &error), TAKT_E_STORE_ACCESS, "%s", url);
        cr_expect_not_null(strstr(error.text, table[i].says), "%s", error.text);
        rig_close(&rig);
    }
    rig_remove(directory);
}
