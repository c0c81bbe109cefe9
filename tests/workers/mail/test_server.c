/*
 * The mail server's URL, and how safe the way there is by default.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "mail/server.h"

Test(server, good_ones)
{
    static const struct {
        const char *url, *host;
        unsigned port;
        bool tls, loopback, ipv6;
        takt_mail_server_starttls starttls;
    } rows[] = {
        {"smtp://mail.example.org", "mail.example.org", 25, false, false, false,
         SERVER_STARTTLS_REQUIRED},
        {"smtp://mail.example.org:587/", "mail.example.org", 587, false, false, false,
         SERVER_STARTTLS_REQUIRED},
        {"smtps://mail.example.org", "mail.example.org", 465, true, false, false,
         SERVER_STARTTLS_OFF},
        {"SMTP://127.0.0.1:2525", "127.0.0.1", 2525, false, true, false, SERVER_STARTTLS_OFF},
        {"smtp://localhost", "localhost", 25, false, true, false, SERVER_STARTTLS_OFF},
        {"smtp://[::1]:25", "::1", 25, false, true, true, SERVER_STARTTLS_OFF},
        {"smtp://[2001:db8::1]", "2001:db8::1", 25, false, false, true, SERVER_STARTTLS_REQUIRED},
        {"smtp://127.evil.example", "127.evil.example", 25, false, false, false,
         SERVER_STARTTLS_REQUIRED},
        {"smtp://192.0.2.1:65535", "192.0.2.1", 65535, false, false, false,
         SERVER_STARTTLS_REQUIRED},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_mail_server server;
        takt_error error = {0};
        cr_assert_eq(takt_mail_server_parse(rows[i].url, &server, &error), 0, "%s: %s", rows[i].url,
                     error.text);
        cr_assert_str_eq(server.host, rows[i].host);
        cr_assert_eq(server.port, rows[i].port, "%s", rows[i].url);
        cr_assert_eq(server.tls, rows[i].tls, "%s", rows[i].url);
        cr_assert_eq(server.loopback, rows[i].loopback, "%s", rows[i].url);
        cr_assert_eq(server.ipv6, rows[i].ipv6, "%s", rows[i].url);
        cr_assert_eq(takt_mail_server_default_starttls(&server), rows[i].starttls, "%s",
                     rows[i].url);
    }
}

Test(server, bad_ones)
{
    static const struct {
        const char *url, *words;
    } rows[] = {
        {"", "not a mail server's URL"},
        {"mail.example.org", "not a mail server's URL"},
        {"http://mail.example.org", "not a mail server's URL"},
        {"smtp://", "no host"},
        {"smtp://:25", "no host"},
        {"smtp://user:secret@mail.example.org", "$TAKT_SMTP_PASSWORD"},
        {"smtp://mail.example.org:0", "1 to 65535"},
        {"smtp://mail.example.org:65536", "1 to 65535"},
        {"smtp://mail.example.org:", "1 to 65535"},
        {"smtp://mail.example.org:25x", "after its host"},
        {"smtp://mail.example.org/hello", "after its host"},
        {"smtp://mail example.org", "letters, digits"},
        {"smtp://a\r\nb", "letters, digits"},
        {"smtp://b\xc3\xbc"
         "cher.example",
         "A-label"},
        {"smtp://[::1", "no host"},
        {"smtp://[fe80::1%eth0]", "not an IPv6 address"},
        {"smtp://[::1]x", "after its host"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_mail_server server = {.port = 7};
        takt_error error = {0};
        cr_assert_eq(takt_mail_server_parse(rows[i].url, &server, &error), TAKT_E_INVALID, "%s",
                     rows[i].url);
        cr_assert(strstr(error.text, rows[i].words), "%s: %s", rows[i].url, error.text);
        cr_assert_null(strstr(error.text, "secret"));
        cr_assert_eq(server.port, 7);
    }
}

Test(server, starttls)
{
    takt_mail_server_starttls starttls = SERVER_STARTTLS_DEFAULT;

    cr_assert(takt_mail_server_read_starttls("required", &starttls) &&
              starttls == SERVER_STARTTLS_REQUIRED);
    cr_assert(takt_mail_server_read_starttls("try", &starttls) && starttls == SERVER_STARTTLS_TRY);
    cr_assert(takt_mail_server_read_starttls("off", &starttls) && starttls == SERVER_STARTTLS_OFF);
    cr_assert_not(takt_mail_server_read_starttls("maybe", &starttls));
}
