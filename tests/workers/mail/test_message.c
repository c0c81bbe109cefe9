/*
 * Whole mails: their parts, and that each mail has its own identifier.
 */
#include "text.h"

#include "mail/message.h"

static const char id[] = "0123456789abcdef0123456789abcdef@example.org";
static takt_mail_address from, to[2];

static void parse(const char *text, takt_mail_address *address)
{
    cr_assert_eq(takt_mail_address_parse(text, strlen(text), address, NULL), 0);
}

static takt_mail_message begin(void)
{
    takt_mail_message message = {.date_us = INT64_C(1763796645000000), .from = &from, .to = to};

    parse("Me <me@example.org>", &from);
    parse("a@example.org", &to[0]);
    parse("b@example.org", &to[1]);
    message.to_count = 1;
    takt_buffer_text(&message.subject, "s");
    return message;
}

static void end(takt_mail_message *message, takt_buffer *out)
{
    takt_buffer_free(&message->subject);
    takt_buffer_free(&message->text);
    takt_buffer_free(&message->html);
    takt_buffer_free(out);
}

Test(message, one_text)
{
    takt_mail_message message = begin();
    takt_buffer out = {0};

    message.has_text = true;
    takt_buffer_text(&message.text, "Hello\n.\n");
    takt_mail_message_write(&message, id, &out);
    expect_text(&out,
                "Date: Sat, 22 Nov 2025 07:30:45 +0000\r\n"
                "Message-ID: <0123456789abcdef0123456789abcdef@example.org>\r\n"
                "From: Me <me@example.org>\r\n"
                "To: a@example.org\r\n"
                "Subject: s\r\n"
                "MIME-Version: 1.0\r\n"
                "Content-Type: text/plain; charset=utf-8\r\n"
                "Content-Transfer-Encoding: quoted-printable\r\n"
                "\r\n"
                "Hello\r\n"
                "=2E\r\n",
                "one text");
    end(&message, &out);
}

Test(message, both_texts)
{
    takt_mail_message message = begin();
    takt_buffer out = {0};

    message.has_text = message.has_html = true;
    message.to_count = 0;
    message.reply_to = &to[1];
    takt_buffer_text(&message.text, "Hello");
    takt_buffer_text(&message.html, "\xce\xb1\xce\xb2");
    takt_mail_message_write(&message, id, &out);
    expect_text(&out,
                "Date: Sat, 22 Nov 2025 07:30:45 +0000\r\n"
                "Message-ID: <0123456789abcdef0123456789abcdef@example.org>\r\n"
                "From: Me <me@example.org>\r\n"
                "Reply-To: b@example.org\r\n"
                "To: undisclosed-recipients:;\r\n"
                "Subject: s\r\n"
                "MIME-Version: 1.0\r\n"
                "Content-Type: multipart/alternative;\r\n"
                " boundary=\"=_0123456789abcdef0123456789abcdef\"\r\n"
                "\r\n"
                "--=_0123456789abcdef0123456789abcdef\r\n"
                "Content-Type: text/plain; charset=utf-8\r\n"
                "Content-Transfer-Encoding: quoted-printable\r\n"
                "\r\n"
                "Hello\r\n"
                "--=_0123456789abcdef0123456789abcdef\r\n"
                "Content-Type: text/html; charset=utf-8\r\n"
                "Content-Transfer-Encoding: base64\r\n"
                "\r\n"
                "zrHOsg==\r\n"
                "--=_0123456789abcdef0123456789abcdef--\r\n",
                "both texts");
    end(&message, &out);
}

Test(message, the_identifier_is_of_the_mail_and_its_job)
{
    takt_mail_message message = begin();
    char first[MESSAGE_ID_SIZE], other[MESSAGE_ID_SIZE];
    takt_buffer none = {0};

    message.has_text = true;
    takt_buffer_text(&message.text, "t");
    takt_mail_message_identify(&message, "key", first);
    cr_assert_eq(strcspn(first, "@"), 32);
    cr_assert_str_eq(strchr(first, '@'), "@example.org");
    message.date_us += 1000000;
    takt_mail_message_identify(&message, "key", other);
    cr_assert_str_eq(other, first, "another day, the same mail");
    takt_mail_message_identify(&message, "key2", other);
    cr_assert_str_neq(other, first, "another key");
    takt_buffer_text(&message.text, "u");
    takt_mail_message_identify(&message, "key", other);
    cr_assert_str_neq(other, first, "another text");
    message.text.size--;
    message.to = &to[1];
    takt_mail_message_identify(&message, "key", other);
    cr_assert_str_neq(other, first, "another recipient");
    message.to = to;
    takt_mail_message_identify(&message, "key", other);
    cr_assert_str_eq(other, first, "all as at first");
    end(&message, &none);
}
