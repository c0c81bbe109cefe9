/*
 * test_hosts.c: which hosts a list has, and which addresses are not public.
 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "call/hosts.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

Test(hosts, a_list_has_hosts)
{
    static const struct {
        const char *list, *host;
        int port;
        bool has;
    } rows[] = {
        {"api.example.com", "api.example.com", 443, true},
        {"api.example.com", "API.Example.COM", 443, true},
        {"API.example.com", "api.example.com", 443, true},
        {"api.example.com", "api.example.com.", 443, true},
        {"api.example.com.", "api.example.com", 443, true},
        {"api.example.com", "example.com", 443, false},
        {"api.example.com", "xapi.example.com", 443, false},
        {"api.example.com", "api.example.com.evil.org", 443, false},
        {"a.org,b.org", "b.org", 80, true},
        {"a.org,b.org", "c.org", 80, false},
        {"*.example.com", "api.example.com", 443, true},
        {"*.example.com", "a.b.example.com", 443, true},
        {"*.example.com", "example.com", 443, false},
        {"*.example.com", "evilexample.com", 443, false},
        {"*.example.com", ".example.com", 443, false},
        {"*", "example.com", 443, false},
        {"a.org:8443", "a.org", 8443, true},
        {"a.org:8443", "a.org", 443, false},
        {"*.a.org:8443", "b.a.org", 8443, true},
        {"*.a.org:8443", "b.a.org", 443, false},
        {"127.0.0.1", "127.0.0.1", 80, true},
        {"127.0.0.1", "127.0.0.10", 80, false},
        {"127.0.0.1", "::ffff:127.0.0.1", 80, true},
        {"127.0.0.1:81", "127.0.0.1", 80, false},
        {"::1", "::1", 80, true},
        {"::1", "0:0:0:0:0:0:0:1", 80, true},
        {"[::1]", "::1", 80, true},
        {"[::1]:81", "::1", 81, true},
        {"[::1]:81", "::1", 80, false},
        {"::1", "::2", 80, false},
        {"::1", "1", 80, false},
        {"*.0.0.1", "127.0.0.1", 80, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        cr_expect_null(takt_caller_hosts_check(rows[i].list), "%s", rows[i].list);
        cr_expect_eq(takt_caller_hosts_has(rows[i].list, rows[i].host, rows[i].port), rows[i].has,
                     "%s:%d of %s", rows[i].host, rows[i].port, rows[i].list);
    }
}

Test(hosts, wrong_lists)
{
    char longer[300];
    const char *const lists[] = {
        "",         "a.org,",  ",a.org", "*.",      "https://a.org", "a.org/x",
        "u@a.org",  "a.*.org", "a b",    "**",      "a.org:",        "a.org:0",
        "a:65536",  "a.org:x", "[::1",   "[::1]x",  "[::1]:",        "::zz",
        "[a.org]]", ":80",     longer,   "a:1:2:3", "a.org:-1",      "[::1]:1x",
        "a.org,,",  "*:",
    };

    memset(longer, 'a', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    for (size_t i = 0; i < COUNT(lists); i++)
        cr_expect_not_null(takt_caller_hosts_check(lists[i]), "%s", lists[i]);
}

Test(hosts, verdicts)
{
    static const struct {
        const char *list, *host;
        takt_caller_hosts_verdict verdict;
    } rows[] = {
        {NULL, "a.org", TAKT_CALLER_HOSTS_PUBLIC},
        {NULL, "8.8.8.8", TAKT_CALLER_HOSTS_PUBLIC},
        {NULL, "10.0.0.1", TAKT_CALLER_HOSTS_PRIVATE},
        {NULL, "localhost", TAKT_CALLER_HOSTS_PRIVATE},
        {NULL, "LOCALHOST.", TAKT_CALLER_HOSTS_PRIVATE},
        {NULL, "a.localhost", TAKT_CALLER_HOSTS_PRIVATE},
        {"*", "a.org", TAKT_CALLER_HOSTS_PUBLIC},
        {"*", "10.0.0.1", TAKT_CALLER_HOSTS_PRIVATE},
        {"*,10.0.0.1", "10.0.0.1", TAKT_CALLER_HOSTS_LISTED},
        {"*,10.0.0.1", "10.0.0.2", TAKT_CALLER_HOSTS_PRIVATE},
        {"localhost", "localhost", TAKT_CALLER_HOSTS_LISTED},
        {"a.org", "b.org", TAKT_CALLER_HOSTS_UNLISTED},
        {"a.org", "a.org", TAKT_CALLER_HOSTS_LISTED},
        {"a.org", "10.0.0.1", TAKT_CALLER_HOSTS_PRIVATE},
        {"*:80", "a.org", TAKT_CALLER_HOSTS_UNLISTED},
        {"*:443", "a.org", TAKT_CALLER_HOSTS_PUBLIC},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        cr_expect_eq(takt_caller_hosts_judge(rows[i].list, rows[i].host, 443), rows[i].verdict,
                     "%s of %s", rows[i].host, rows[i].list ? rows[i].list : "none");
    cr_expect(takt_caller_hosts_has_any("a.org,*", 80));
    cr_expect(takt_caller_hosts_has_any("*:81", 0));
    cr_expect_not(takt_caller_hosts_has_any("*.a.org", 0));
    cr_expect_not(takt_caller_hosts_has_any(NULL, 0));
}

static const struct sockaddr *address_of(const char *text, struct sockaddr_storage *storage)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)storage;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)storage;

    *storage = (struct sockaddr_storage){.ss_family = AF_INET};
    v4->sin_port = htons(80);
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
        return (const struct sockaddr *)storage;
    *v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(80)};
    cr_assert_eq(inet_pton(AF_INET6, text, &v6->sin6_addr), 1);
    return (const struct sockaddr *)storage;
}

Test(hosts, private_addresses)
{
    static const struct {
        const char *address;
        bool is_public;
    } rows[] = {
        {"0.0.0.0", false},
        {"10.255.0.1", false},
        {"9.255.255.255", true},
        {"11.0.0.0", true},
        {"100.64.0.1", false},
        {"100.127.255.255", false},
        {"100.128.0.0", true},
        {"127.0.0.1", false},
        {"127.255.255.254", false},
        {"169.254.169.254", false},
        {"172.15.255.255", true},
        {"172.16.0.0", false},
        {"172.31.255.255", false},
        {"172.32.0.0", true},
        {"192.168.1.1", false},
        {"192.169.0.0", true},
        {"198.19.0.1", false},
        {"224.0.0.1", false},
        {"255.255.255.255", false},
        {"8.8.8.8", true},
        {"::", false},
        {"::1", false},
        {"fe80::1", false},
        {"fd00::1", false},
        {"fec0::1", false},
        {"ff02::1", false},
        {"::ffff:127.0.0.1", false},
        {"::ffff:8.8.8.8", true},
        {"64:ff9b::10.0.0.1", false},
        {"64:ff9b::8.8.8.8", true},
        {"2002:7f00:1::1", false},
        {"2002:808:808::1", true},
        {"2001:db8::1", false},
        {"2001:0:1::1", false},
        {"2001:4860:4860::8888", true},
        {"::127.0.0.1", false},
    };
    struct sockaddr_storage storage;

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct sockaddr *address = address_of(rows[i].address, &storage);
        cr_expect_eq(takt_caller_hosts_allow(NULL, address), rows[i].is_public, "%s",
                     rows[i].address);
        cr_expect_eq(takt_caller_hosts_judge("*", rows[i].address, 80),
                     rows[i].is_public ? TAKT_CALLER_HOSTS_PUBLIC : TAKT_CALLER_HOSTS_PRIVATE, "%s",
                     rows[i].address);
        cr_expect(takt_caller_hosts_allow(rows[i].address, address), "listed: %s", rows[i].address);
    }
    cr_expect_not(takt_caller_hosts_allow(NULL, &(struct sockaddr){.sa_family = AF_UNIX}));
    cr_expect(takt_caller_hosts_allow("*,10.0.0.1:80", address_of("10.0.0.1", &storage)));
    cr_expect_not(takt_caller_hosts_allow("*,10.0.0.1:81", address_of("10.0.0.1", &storage)));
}
