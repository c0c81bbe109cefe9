/*
 * Requests, whole and in parts, good and bad.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "kit/status_http.h"

static takt_status_request request;

static int read_all(const char *text)
{
    request = (takt_status_request){0};
    return takt_status_http_read(text, strlen(text), &request);
}

Test(http, requests)
{
    static const struct {
        const char *text;
        int status;
        const char *path;
    } table[] = {
        {"GET /live HTTP/1.1\r\nHost: x\r\n\r\n", 200, "/live"},
        {"GET /metrics?name=a HTTP/1.0\r\n\r\n", 200, "/metrics"},
        {"HEAD /ready HTTP/1.1\r\nHost:\r\nA: b\tc\r\n\r\n", 200, "/ready"},
        {"GET /live HTTP/1.1\nHost: x\n\n", 200, "/live"},
        {"\r\nGET / HTTP/1.1\r\n\r\n", 200, "/"},
        {"POST /live HTTP/1.1\r\nHost: x\r\n\r\n", 405, NULL},
        {"get /live HTTP/1.1\r\n\r\n", 405, NULL},
        {"OPTIONS * HTTP/1.1\r\n\r\n", 405, NULL},
        {"GET live HTTP/1.1\r\n\r\n", 400, NULL},
        {"GET http://x/live HTTP/1.1\r\n\r\n", 400, NULL},
        {"GET  /live HTTP/1.1\r\n\r\n", 400, NULL},
        {"GET /live\r\n\r\n", 400, NULL},
        {"GET /live HTTP/1.1 \r\n\r\n", 400, NULL},
        {"GET /live HTTQ/1.1\r\n\r\n", 400, NULL},
        {"GET /live HTTP/2.0\r\n\r\n", 505, NULL},
        {"GET /li\x01ve HTTP/1.1\r\n\r\n", 400, NULL},
        {"GET /live HTTP/1.1\r\nno field\r\n\r\n", 400, NULL},
        {"GET /live HTTP/1.1\r\nHost : x\r\n\r\n", 400, NULL},
        {"GET /live HTTP/1.1\r\nHost: a\rb\r\n\r\n", 400, NULL},
        {"GET /live HTTP/1.1\r\n folded: x\r\n\r\n", 400, NULL},
        {"\x16\x03\x01\x02 TLS\r\n\r\n", 400, NULL},
        {"GET /live HTTP/1.1\r\nHost: x\r\n", 0, NULL},
        {"GET /li", 0, NULL},
        {"", 0, NULL},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        cr_expect_eq(read_all(table[i].text), table[i].status, "%s", table[i].text);
        if (table[i].path)
            cr_expect_str_eq(request.path, table[i].path);
    }
}

Test(http, hosts)
{
    static const struct {
        const char *fields;
        bool other;
    } table[] = {
        {"", false},
        {"Host: localhost\r\n", false},
        {"host:LocalHost:9464\r\n", false},
        {"Host: 127.0.0.1:9464 \r\n", false},
        {"Host: [::1]:9464\r\n", false},
        {"Host:\r\n", false},
        {"Hosts: example.org\r\n", false},
        {"Host: example.org\r\n", true},
        {"HOST:\texample.org:9464\r\n", true},
        {"Host: localhost.example.org\r\n", true},
        {"Host: 127.0.0.1.example.org\r\n", true},
        {"Host: local\r\n", true},
        {"Host: localhost\r\nHost: example.org\r\n", true},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        char text[200];
        snprintf(text, sizeof(text), "GET /live HTTP/1.1\r\n%s\r\n", table[i].fields);
        cr_expect_eq(read_all(text), 200, "%s", text);
        cr_expect_eq(request.names_other_host, table[i].other, "%s", text);
    }
}

Test(http, head_has_no_body)
{
    read_all("HEAD /live HTTP/1.1\r\n\r\n");
    cr_assert(request.head_only);
    read_all("GET /live HTTP/1.1\r\n\r\n");
    cr_assert(!request.head_only);
}

/* Any bytes, one by one: no decision comes before the empty line. */
Test(http, in_parts)
{
    const char *text = "GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n";

    for (size_t size = 0; size < strlen(text); size++)
        cr_assert_eq(takt_status_http_read(text, size, &request), 0, "%zu", size);
    cr_assert_eq(takt_status_http_read(text, strlen(text), &request), 200);
}

Test(http, too_long)
{
    char text[TAKT_STATUS_HTTP_REQUEST_MAX + 100];

    memset(text, 'a', sizeof(text));
    memcpy(text, "GET /", 5);
    cr_assert_eq(takt_status_http_read(text, TAKT_STATUS_HTTP_REQUEST_MAX - 1, &request), 0);
    cr_assert_eq(takt_status_http_read(text, TAKT_STATUS_HTTP_REQUEST_MAX, &request), 431);
    memcpy(text + sizeof(text) - 4, "\r\n\r\n", 4);
    cr_assert_eq(takt_status_http_read(text, sizeof(text), &request), 431);
    /* A path that is longer than any of ours is none of ours. */
    char path[200] = "GET /metrics";
    memset(path + 12, 'x', 100);
    strcpy(path + 112, " HTTP/1.1\r\n\r\n");
    cr_assert_eq(read_all(path), 200);
    cr_assert_str_neq(request.path, "/metrics");
}

Test(http, answers)
{
    char text[512];
    size_t size = takt_status_http_write_head(text, sizeof(text), 405, "text/plain", 3);

    cr_assert_eq(size, strlen(text));
    cr_assert_str_eq(text, "HTTP/1.1 405 Method Not Allowed\r\nContent-Type: text/plain\r\n"
                           "Content-Length: 3\r\nCache-Control: no-store\r\nAllow: GET, HEAD\r\n"
                           "Connection: close\r\n\r\n");
    cr_assert_str_eq(takt_status_http_reason(299), "Internal Server Error");
}
