/*
 * test_origin.c: where a URL leads, and which URLs lead nowhere.
 */
#include <criterion/criterion.h>

#include "call/origin.h"

Test(origin, of_urls)
{
    static const struct {
        const char *url, *scheme, *host;
        int port;
        bool has_user;
    } table[] = {
        {"https://api.example.com/x?y#z", "https", "api.example.com", 443, false},
        {"HTTP://api.example.com:8080", "http", "api.example.com", 8080, false},
        {"http://[::1]:80/", "http", "::1", 80, false},
        {"http://u@h/", "http", "h", 80, true},
        {"http://h:65535/", "http", "h", 65535, false},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_caller_origin origin;
        cr_assert(takt_caller_origin_of(table[i].url, &origin), "%s", table[i].url);
        cr_expect_str_eq(origin.scheme, table[i].scheme);
        cr_expect_str_eq(origin.host, table[i].host);
        cr_expect_eq(origin.port, table[i].port, "%s", table[i].url);
        cr_expect_eq(origin.has_user, table[i].has_user, "%s", table[i].url);
    }
}

Test(origin, of_nothing)
{
    static const char *const table[] = {
        "", "http://", "http://h:0/", "http://h:00", "http://h:65536/", "http://[::1/"};

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        cr_expect_not(takt_caller_origin_of(table[i], &(takt_caller_origin){0}), "%s", table[i]);
}
