/*
 * test_url.c: valid URLs of a server and their parts, and that no message shows a secret.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "redis/url.h"

#define CANARY "c4n4ry"

Test(redis_url, reads)
{
    static const struct {
        takt_redis_transport transport;
        const char *rest, *host;
        int port, db;
        const char *user, *password, *address;
    } table[] = {
        {TAKT_REDIS_TCP, "h", "h", 6379, 0, "", "", "redis://h:6379/0"},
        {TAKT_REDIS_TCP, "127.0.0.1:7000/3", "127.0.0.1", 7000, 3, "", "",
         "redis://127.0.0.1:7000/3"},
        {TAKT_REDIS_TCP, "h/", "h", 6379, 0, "", "", "redis://h:6379/0"},
        {TAKT_REDIS_TCP, "[::1]", "::1", 6379, 0, "", "", "redis://[::1]:6379/0"},
        {TAKT_REDIS_TCP, "[fe80::1%eth0]:1/2", "fe80::1%eth0", 1, 2, "", "",
         "redis://[fe80::1%eth0]:1/2"},
        {TAKT_REDIS_TCP, "u@h", "h", 6379, 0, "u", "", "redis://h:6379/0"},
        {TAKT_REDIS_TCP, "u:p@h", "h", 6379, 0, "u", "p", "redis://h:6379/0"},
        {TAKT_REDIS_TCP, ":p@h", "h", 6379, 0, "", "p", "redis://h:6379/0"},
        {TAKT_REDIS_TCP, "a%3Ab:%2f%40%23%3F%25%3A%26@my-host_1.example:65535", "my-host_1.example",
         65535, 0, "a:b", "/@#?%:&", "redis://my-host_1.example:65535/0"},
        {TAKT_REDIS_TCP, "u:p:q@h", "h", 6379, 0, "u", "p:q", "redis://h:6379/0"},
        {TAKT_REDIS_TLS, "u:p@h:1/99999", "h", 1, 99999, "u", "p", "rediss://h:1/99999"},
        {TAKT_REDIS_UNIX, "/run/redis.sock", "", 0, 0, "", "", "unix:/run/redis.sock"},
        {TAKT_REDIS_UNIX, "///run/redis.sock?db=7", "", 0, 7, "", "", "unix:/run/redis.sock"},
        {TAKT_REDIS_UNIX, "r.sock?user=a%20b&db=1", "", 0, 1, "a b", "", "unix:r.sock"},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_redis_url url;
        takt_error error = {0};
        char address[TAKT_REDIS_ADDRESS_SIZE];
        cr_assert_eq(takt_redis_url_parse(&url, table[i].transport, false, table[i].rest, &error),
                     0, "%s: %s", table[i].rest, error.text);
        takt_redis_url_address(&url, address);
        cr_expect_str_eq(url.host, table[i].host);
        if (table[i].transport != TAKT_REDIS_UNIX)
            cr_expect_eq(url.port, table[i].port, "%s: %d", table[i].rest, url.port);
        cr_expect_eq(url.db, table[i].db);
        cr_expect_str_eq(url.user, table[i].user);
        cr_expect_str_eq(url.password, table[i].password);
        cr_expect_eq(url.authenticates, table[i].password[0] != '\0');
        cr_expect_str_eq(address, table[i].address);
        cr_expect(url.hints && !url.preloaded);
    }
}

Test(redis_url, several_hosts)
{
    takt_redis_url url;
    takt_error error = {0};

    cr_assert_eq(takt_redis_url_parse(&url, TAKT_REDIS_TCP, false,
                                      "u:p@a,b:7001,[::1]:7002,[::2]/0", &error),
                 0, "%s", error.text);
    cr_expect_str_eq(url.host, "a");
    cr_expect_eq(url.port, 6379);
    cr_assert_eq(url.seed_count, 4);
    cr_expect_str_eq(url.seeds[0].host, "a");
    cr_expect_str_eq(url.seeds[1].host, "b");
    cr_expect_eq(url.seeds[1].port, 7001);
    cr_expect_str_eq(url.seeds[2].host, "::1");
    cr_expect_eq(url.seeds[2].port, 7002);
    cr_expect_str_eq(url.seeds[3].host, "::2");
    cr_expect_eq(url.seeds[3].port, 6379);
    cr_expect(url.cluster);
    cr_assert_eq(takt_redis_url_parse(&url, TAKT_REDIS_TCP, false, "a/3?cluster=no", &error), 0);
    cr_expect(!url.cluster);
}

Test(redis_url, options)
{
    takt_redis_url url;

    cr_assert_eq(takt_redis_url_parse(&url, TAKT_REDIS_TLS, false,
                                      "h/1?ca=/a%26b&cert=/c&key=/k&scripts=preloaded&hints=off"
                                      "&password_file=/p",
                                      NULL),
                 0);
    cr_expect_str_eq(url.ca, "/a&b");
    cr_expect_str_eq(url.cert, "/c");
    cr_expect_str_eq(url.key, "/k");
    cr_expect_str_eq(url.password_file, "/p");
    cr_expect(url.preloaded && !url.hints && !url.authenticates);
}

Test(redis_url, replicas)
{
    static const struct {
        const char *text;
        int replicas, timeout_ms;
        const char *says; /* NULL: it is well written */
    } table[] = {
        {"redis://h", 0, 0, NULL},
        {"redis://h?replicas=1", 1, 100, NULL},
        {"unix:/s?replica_timeout=10s&replicas=99", 99, 10000, NULL},
        {"rediss-sentinel://s/main?replicas=2&replica_timeout=1ms", 2, 1, NULL},
        {"redis://h?replicas=0", 0, 0, "1 to 99"},
        {"redis://h?replicas=100", 0, 0, "1 to 99"},
        {"redis://h?replicas=", 0, 0, "1 to 99"},
        {"redis://h?replicas=1&replica_timeout=", 0, 0, "1ms to 10s"},
        {"redis://h?replicas=1&replica_timeout=100", 0, 0, "1ms to 10s"},
        {"redis://h?replicas=1&replica_timeout=1500us", 0, 0, "1ms to 10s"},
        {"redis://h?replicas=1&replica_timeout=0ms", 0, 0, "1ms to 10s"},
        {"redis://h?replicas=1&replica_timeout=11s", 0, 0, "1ms to 10s"},
        {"redis://h?replica_timeout=1s", 0, 0, "needs replicas="},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_redis_url url;
        takt_error error = {0};
        cr_expect_eq(takt_redis_url_read(&url, table[i].text, &error),
                     table[i].says ? TAKT_E_STORE_URL : 0, "%s", table[i].text);
        if (table[i].says)
            cr_expect_not_null(strstr(error.text, table[i].says), "%s", error.text);
        else
            cr_expect(url.replicas == table[i].replicas &&
                      url.replica_timeout_ms == table[i].timeout_ms);
    }
}

/* Every one holds the canary where a secret could be, also where it was put in the wrong place. */
Test(redis_url, refuses_and_tells_nothing)
{
    static const struct {
        takt_redis_transport transport;
        const char *rest;
        const char *says;
    } table[] = {
        {TAKT_REDIS_TCP, "", "no host"},
        {TAKT_REDIS_TCP, ":" CANARY "@", "no host"},
        {TAKT_REDIS_TCP, ":" CANARY "@:1", "no host"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h:0", "port"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h:65536", "port"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h:01", "port"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h:", "port"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h:1x", "port"},
        {TAKT_REDIS_TCP, "/" CANARY "/redis.sock", "unix:/PATH"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h/x", "database"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h/-1", "database"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h/100000", "database"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h/1/2", "database"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h h", "letters"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h\n", "letters"},
        {TAKT_REDIS_TCP, "u:" CANARY "@[::1", "ends with"},
        {TAKT_REDIS_TCP, "u:" CANARY "@[::1]x", "PORT"},
        {TAKT_REDIS_TCP, "u:" CANARY "@[h h]", "letters"},
        {TAKT_REDIS_TCP, "u:" CANARY "@[h]", "letters"},
        {TAKT_REDIS_TCP, "u:" CANARY "@[%00]", "letters"},
        {TAKT_REDIS_TCP, "u:" CANARY "%@h", "encoded"},
        {TAKT_REDIS_TCP, "u:" CANARY "%4@h", "encoded"},
        {TAKT_REDIS_TCP, "u:" CANARY "%zz@h", "encoded"},
        {TAKT_REDIS_TCP, "u:" CANARY "%00@h", "encoded"},
        {TAKT_REDIS_TCP, "u:@h", "empty"},
        {TAKT_REDIS_TCP, "u:" CANARY "@x@h", "%40"},
        {TAKT_REDIS_TCP, "u:" CANARY "/x@h", "%2F"},
        {TAKT_REDIS_TCP, "u:" CANARY "#x@h", "%23"},
        {TAKT_REDIS_TCP, "u:" CANARY "?x@h", "port"},
        {TAKT_REDIS_TCP, "u:p@h?" CANARY, "options"},
        {TAKT_REDIS_TCP, "u:p@h?" CANARY "=1", "options"},
        {TAKT_REDIS_TCP, "h?password=" CANARY, "options"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h,", "no host"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h,,g", "no host"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h,g:0", "port"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h,g/1", "no numbered databases"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h,g?cluster=no", "one of them"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h?cluster=yes", "cluster=no"},
        {TAKT_REDIS_TCP, "u:" CANARY "@1,2,3,4,5,6,7,8,9,10", "9 hosts"},
        {TAKT_REDIS_TCP, "h?ca=" CANARY, "rediss://"},
        {TAKT_REDIS_TCP, "h?scripts=" CANARY, "scripts=preloaded"},
        {TAKT_REDIS_TCP, "h?hints=on", "hints=off"},
        {TAKT_REDIS_TCP, "u:" CANARY "@h?password_file=/x", "one of them"},
        {TAKT_REDIS_TCP, "h?password_file=", "empty"},
        {TAKT_REDIS_TCP, "h?password_file=/a&password_file=" CANARY, "twice"},
        {TAKT_REDIS_TLS, "h?cert=/" CANARY, "go together"},
        {TAKT_REDIS_TLS, "h?key=/" CANARY, "go together"},
        {TAKT_REDIS_TLS, "h?verify=" CANARY, "ca="},
        {TAKT_REDIS_UNIX, "", "unix:PATH"},
        {TAKT_REDIS_UNIX, "//" CANARY "/x", "unix:///PATH"},
        {TAKT_REDIS_UNIX, "/x?db=" CANARY, "number"},
        {TAKT_REDIS_UNIX, "/x?ca=" CANARY, "user="},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_redis_url url;
        takt_error error = {0};
        cr_expect_eq(takt_redis_url_parse(&url, table[i].transport, false, table[i].rest, &error),
                     TAKT_E_STORE_URL, "%s", table[i].rest);
        cr_expect_not_null(strstr(error.text, table[i].says), "%s: %s", table[i].rest, error.text);
        cr_expect_null(strstr(error.text, CANARY), "%s", error.text);
    }
}

/* The Sentinels as HOST:PORT, separated by blanks. */
static const char *sentinels_of(const takt_redis_url *url, char *text, size_t size)
{
    size_t used = 0;

    for (int i = 0; i < url->seed_count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s:%d", i > 0 ? " " : "",
                                 url->seeds[i].host, url->seeds[i].port);
    return text;
}

Test(redis_url, sentinels)
{
    static const struct {
        const char *text, *sentinels, *primary, *user;
        int db;
        const char *address;
    } table[] = {
        {"redis-sentinel://s1/main", "s1:26379", "main", "", 0, "redis-sentinel://s1:26379/main/0"},
        {"redis-sentinel://w@s1:26380,[::1],s3:1/a%2Fb/7", "s1:26380 ::1:26379 s3:1", "a/b", "w", 7,
         "redis-sentinel://s1:26380/a/b/7"},
        {"rediss-sentinel://[::1]:5/main/", "::1:5", "main", "", 0,
         "rediss-sentinel://[::1]:5/main/0"},
        {"redis-sentinel://1,2,3,4,5,6,7,8,9/m",
         "1:26379 2:26379 3:26379 4:26379 5:26379 6:26379 7:26379 8:26379 9:26379", "m", "", 0,
         "redis-sentinel://1:26379/m/0"},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_redis_url url;
        takt_error error = {0};
        char address[TAKT_REDIS_ADDRESS_SIZE], text[400];
        cr_assert_eq(takt_redis_url_read(&url, table[i].text, &error), 0, "%s: %s", table[i].text,
                     error.text);
        cr_expect_str_eq(sentinels_of(&url, text, sizeof text), table[i].sentinels);
        cr_expect_str_eq(url.primary, table[i].primary);
        cr_expect_str_eq(url.user, table[i].user);
        cr_expect_str_eq(url.host, "");
        cr_expect_eq(url.db, table[i].db);
        takt_redis_url_address(&url, address);
        cr_expect_str_eq(address, table[i].address);
    }
}

Test(redis_url, login_at_sentinels)
{
    char file[] = "/tmp/takt-password-XXXXXX", text[200];
    int fd = mkstemp(file);
    takt_redis_url url;

    cr_assert(fd >= 0 && write(fd, "watch\n", 6) == 6);
    close(fd);
    unsetenv("TAKT_REDIS_PASSWORD");
    snprintf(text, sizeof text,
             "redis-sentinel://u:p@s/main?sentinel_user=watcher&sentinel_password_file=%s", file);
    cr_assert_eq(takt_redis_url_read(&url, text, NULL), 0);
    cr_assert_eq(takt_redis_url_find_password(&url, NULL), 0);
    cr_expect_str_eq(url.sentinel_user, "watcher");
    cr_expect_str_eq(url.sentinel_password, "watch");
    cr_expect_str_eq(url.password, "p");
    unlink(file);
    cr_expect_eq(takt_redis_url_find_password(&url, NULL), TAKT_E_STORE_ACCESS);
}

Test(redis_url, refuses_sentinels_and_tells_nothing)
{
    static const struct {
        const char *text, *says;
    } table[] = {
        {"redis-sentinel://", "name of the primary"},
        {"redis-sentinel://u:" CANARY "@s1", "name of the primary"},
        {"redis-sentinel://u:" CANARY "@s1/", "name of the primary"},
        {"redis-sentinel://u:" CANARY "@s1/%zz", "name of the primary"},
        {"redis-sentinel://u:" CANARY "@s1/a%20b", "blanks"},
        {"redis-sentinel://u:" CANARY "@/main", "no host"},
        {"redis-sentinel://u:" CANARY "@s1,,s2/main", "no host"},
        {"redis-sentinel://u:" CANARY "@s1,:1/main", "no host"},
        {"redis-sentinel://u:" CANARY "@s1:0/main", "port"},
        {"redis-sentinel://u:" CANARY "@s1/main/x", "database"},
        {"redis-sentinel://u:" CANARY "@s1/main/1/2", "database"},
        {"redis-sentinel://1,2,3,4,5,6,7,8,9,10/m", "more than 9"},
        {"redis-sentinel://s1/main?sentinel_user=" CANARY, "sentinel_password_file"},
        {"redis-sentinel://s1/main?sentinel_password=" CANARY, "options of Sentinels"},
        {"redis-sentinel://s1/main?ca=/" CANARY, "rediss-sentinel://"},
        {"redis://h?sentinel_user=" CANARY, "options of redis://"},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_redis_url url;
        takt_error error = {0};
        cr_expect_eq(takt_redis_url_read(&url, table[i].text, &error), TAKT_E_STORE_URL, "%s",
                     table[i].text);
        cr_expect_not_null(strstr(error.text, table[i].says), "%s: %s", table[i].text, error.text);
        cr_expect_null(strstr(error.text, CANARY), "%s", error.text);
    }
}

Test(redis_url, too_long)
{
    char rest[2 * TAKT_REDIS_SECRET_MAX + 16];
    takt_redis_url url;

    memset(rest, 'a', sizeof rest);
    rest[TAKT_REDIS_HOST_MAX] = '\0';
    cr_expect_eq(takt_redis_url_parse(&url, TAKT_REDIS_TCP, false, rest, NULL), 0);
    rest[TAKT_REDIS_HOST_MAX] = 'a';
    rest[TAKT_REDIS_HOST_MAX + 1] = '\0';
    cr_expect_eq(takt_redis_url_parse(&url, TAKT_REDIS_TCP, false, rest, NULL), TAKT_E_STORE_URL);
    rest[TAKT_REDIS_SOCKET_MAX] = '\0';
    cr_expect_eq(takt_redis_url_parse(&url, TAKT_REDIS_UNIX, false, rest, NULL), 0);
    rest[TAKT_REDIS_SOCKET_MAX] = 'a';
    cr_expect_eq(takt_redis_url_parse(&url, TAKT_REDIS_UNIX, false, rest, NULL), TAKT_E_STORE_URL);
    memset(rest, 'a', sizeof rest);
    memcpy(rest + sizeof rest - 3, "@h", 3);
    cr_expect_eq(takt_redis_url_parse(&url, TAKT_REDIS_TCP, false, rest, NULL), TAKT_E_STORE_URL);
}

static void write_file(char path[32], const char *text, size_t size)
{
    int fd;

    strcpy(path, "/tmp/takt-secret-XXXXXX");
    fd = mkstemp(path);
    cr_assert(fd >= 0 && write(fd, text, size) == (ssize_t)size);
    close(fd);
}

Test(redis_url, finds_a_password)
{
    takt_redis_url url;
    takt_error error;
    char path[32], rest[64];

    setenv("TAKT_REDIS_PASSWORD", "from-environment", 1);
    cr_assert_eq(takt_redis_url_parse(&url, TAKT_REDIS_TCP, false, "h", NULL), 0);
    cr_assert_eq(takt_redis_url_find_password(&url, NULL), 0);
    cr_expect(url.authenticates);
    cr_expect_str_eq(url.password, "from-environment");

    cr_assert_eq(takt_redis_url_parse(&url, TAKT_REDIS_TCP, false, ":from-url@h", NULL), 0);
    cr_assert_eq(takt_redis_url_find_password(&url, NULL), 0);
    cr_expect_str_eq(url.password, "from-url");

    write_file(path, "from-file\r\nmore\n", 16);
    snprintf(rest, sizeof rest, "u@h?password_file=%s", path);
    cr_assert_eq(takt_redis_url_parse(&url, TAKT_REDIS_TCP, false, rest, NULL), 0);
    cr_assert_eq(takt_redis_url_find_password(&url, &error), 0, "%s", error.text);
    cr_expect_str_eq(url.password, "from-file");
    unlink(path);
    cr_assert_eq(takt_redis_url_parse(&url, TAKT_REDIS_TCP, false, rest, NULL), 0);
    cr_expect_eq(takt_redis_url_find_password(&url, &error), TAKT_E_STORE_ACCESS);
    cr_expect_not_null(strstr(error.text, "password_file"));
    cr_expect(!url.authenticates);

    unsetenv("TAKT_REDIS_PASSWORD");
    cr_assert_eq(takt_redis_url_parse(&url, TAKT_REDIS_TCP, false, "u@h", NULL), 0);
    cr_expect_eq(takt_redis_url_find_password(&url, &error), TAKT_E_STORE_ACCESS);
    cr_expect_not_null(strstr(error.text, "$TAKT_REDIS_PASSWORD"));
    cr_assert_eq(takt_redis_url_parse(&url, TAKT_REDIS_TCP, false, "h", NULL), 0);
    cr_expect_eq(takt_redis_url_find_password(&url, NULL), 0);
    cr_expect(!url.authenticates);
}

Test(redis_url, password_files_that_are_none)
{
    static char longest[TAKT_REDIS_SECRET_MAX + 1];
    takt_redis_url url;
    char path[32], rest[64];

    memset(longest, 'x', sizeof longest);
    for (int i = 0; i < 3; i++) {
        write_file(path, i == 0 ? "\nx" : longest,
                   i == 0 ? 2 : TAKT_REDIS_SECRET_MAX + (size_t)i - 1);
        snprintf(rest, sizeof rest, "h?password_file=%s", path);
        cr_assert_eq(takt_redis_url_parse(&url, TAKT_REDIS_TCP, false, rest, NULL), 0);
        cr_expect_eq(takt_redis_url_find_password(&url, NULL), i == 1 ? 0 : TAKT_E_STORE_ACCESS);
        unlink(path);
    }
}

Test(redis_url, forgets)
{
    takt_redis_url url;

    cr_assert_eq(takt_redis_url_parse(&url, TAKT_REDIS_TCP, false, "user:" CANARY "@h", NULL), 0);
    takt_redis_url_close(&url);
    cr_expect_null(memmem(&url, sizeof url, CANARY, strlen(CANARY)));
}
