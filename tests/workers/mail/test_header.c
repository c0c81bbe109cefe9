/*
 * Headers: plain where that is possible, encoded words else, folded so that no line is too long.
 */
#include "text.h"

#include "mail/header.h"

#define TEN "0123456789"

Test(header, texts)
{
    static const struct {
        const char *name, *value, *header;
    } rows[] = {
        {"Subject", "", "Subject: \r\n"},
        {"Subject", "Hello", "Subject: Hello\r\n"},
        {"Subject",
         "Gr\xc3\xbc\xc3\x9f"
         "e",
         "Subject: =?UTF-8?B?R3LDvMOfZQ==?=\r\n"},
        {"Subject", " a", "Subject: =?UTF-8?B?IGE=?=\r\n"},
        {"Subject", "a ", "Subject: =?UTF-8?B?YSA=?=\r\n"},
        {"Subject", "=?UTF-8?B?YQ==?=", "Subject: =?UTF-8?B?PT9VVEYtOD9CP1lRPT0/PQ==?=\r\n"},
        {"Subject", TEN TEN TEN TEN TEN TEN "1234567",
         "Subject: " TEN TEN TEN TEN TEN TEN "1234567\r\n"},
        {"Subject", TEN TEN TEN TEN TEN TEN "12345678",
         "Subject: =?UTF-8?B?MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1?=\r\n"
         " =?UTF-8?B?Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MTIzNDU2Nzg=?=\r\n"},
        /* no word ends inside a character: the 36th byte is the first one of the second half */
        {"Subject", TEN TEN TEN "12345\xc3\xbc",
         "Subject: =?UTF-8?B?MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MTIzNDU=?=\r\n"
         " =?UTF-8?B?w7w=?=\r\n"},
        {"X-A-Very-Long-Name", "\xc3\xbc", "X-A-Very-Long-Name: \r\n =?UTF-8?B?w7w=?=\r\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_buffer out = {0};
        takt_mail_header_put_text(&out, rows[i].name, rows[i].value, strlen(rows[i].value));
        expect_text(&out, rows[i].header, rows[i].value);
        takt_buffer_free(&out);
    }
}

Test(header, addresses)
{
    static const struct {
        const char *text, *header;
    } rows[] = {
        {"user@example.org", "To: user@example.org\r\n"},
        {"A Name <u@example.org>", "To: A Name <u@example.org>\r\n"},
        {"J. Doe <u@example.org>", "To: \"J. Doe\" <u@example.org>\r\n"},
        {"\"a \\\"b\\\\\" <u@example.org>", "To: \"a \\\"b\\\\\" <u@example.org>\r\n"},
        {"\xc3\xbc <u@example.org>", "To: =?UTF-8?B?w7w=?=\r\n <u@example.org>\r\n"},
        {"\"=?x\" <u@example.org>", "To: =?UTF-8?B?PT94?=\r\n <u@example.org>\r\n"},
    };
    takt_mail_address several[2];
    takt_buffer out = {0};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(takt_mail_address_parse(rows[i].text, strlen(rows[i].text), several, NULL), 0);
        takt_buffer_clear(&out);
        takt_mail_header_put_addresses(&out, "To", several, 1);
        expect_text(&out, rows[i].header, rows[i].text);
    }
    cr_assert_eq(takt_mail_address_parse("a@example.org", 13, &several[0], NULL), 0);
    cr_assert_eq(takt_mail_address_parse("B <b@example.org>", 17, &several[1], NULL), 0);
    takt_buffer_clear(&out);
    takt_mail_header_put_addresses(&out, "Cc", several, 2);
    expect_text(&out, "Cc: a@example.org,\r\n B <b@example.org>\r\n", "two");
    takt_buffer_free(&out);
}

Test(header, plain_ones_are_never_changed)
{
    takt_buffer out = {0};

    takt_mail_header_put_plain(&out, "X", "<a>", 3);
    takt_mail_header_put_plain(&out, "X", TEN TEN TEN TEN TEN TEN TEN TEN, 80);
    expect_text(&out, "X: <a>\r\nX: " TEN TEN TEN TEN TEN TEN TEN TEN "\r\n", "plain");
    takt_buffer_free(&out);
}
