/*
 * Addresses as people write them: which are accepted, and the messages about others.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "mail/address.h"

#define TEN   "0123456789"
#define SIXTY TEN TEN TEN TEN TEN TEN

Test(address, good_ones)
{
    static const struct {
        const char *text, *name, *mailbox, *domain;
    } rows[] = {
        {"user@example.org", "", "user@example.org", "example.org"},
        {"  user@example.org ", "", "user@example.org", "example.org"},
        {"User.Name+tag@EXAMPLE.Org", "", "User.Name+tag@example.org", "example.org"},
        {"<user@example.org>", "", "user@example.org", "example.org"},
        {"A Name <user@example.org>", "A Name", "user@example.org", "example.org"},
        {"J. R. O'Neil <j@example.org>", "J. R. O'Neil", "j@example.org", "example.org"},
        {"\"Last, First\" <l@example.org>", "Last, First", "l@example.org", "example.org"},
        {"\"a \\\"b\\\" <c\" <l@example.org>", "a \"b\" <c", "l@example.org", "example.org"},
        {"J\xc3\xbcrgen <j@example.org>", "J\xc3\xbcrgen", "j@example.org", "example.org"},
        {"\"a b\"@example.org", "", "\"a b\"@example.org", "example.org"},
        {"\"a@b\"@example.org", "", "\"a@b\"@example.org", "example.org"},
        {"!#$%&'*+-/=?^_`{|}~@example.org", "", "!#$%&'*+-/=?^_`{|}~@example.org", "example.org"},
        {"user@localhost", "", "user@localhost", "localhost"},
        {"user@xn--bcher-kva.example", "", "user@xn--bcher-kva.example", "xn--bcher-kva.example"},
        {"user@1.a-b.org", "", "user@1.a-b.org", "1.a-b.org"},
        {SIXTY "abcd@example.org", "", SIXTY "abcd@example.org", "example.org"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_mail_address address;
        takt_error error = {0};
        cr_assert_eq(takt_mail_address_parse(rows[i].text, strlen(rows[i].text), &address, &error),
                     0, "%s: %s", rows[i].text, error.text);
        cr_assert_str_eq(address.name, rows[i].name, "%s", rows[i].text);
        cr_assert_str_eq(address.mailbox, rows[i].mailbox, "%s", rows[i].text);
        cr_assert_str_eq(takt_mail_address_domain(&address), rows[i].domain, "%s", rows[i].text);
    }
}

Test(address, bad_ones)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"", "no @"},
        {"user", "no @"},
        {"@example.org", "0 characters before the @"},
        {"user@", "its domain has 0"},
        {"user@example.org\r\nBcc: other@example.org", "control character"},
        {"user@example.org\n", "control character"},
        {"us\ter@example.org", "control character"},
        {"a\rb <user@example.org>", "control character"},
        {"a <user@example.org>\r\nRCPT TO:<b@example.org>", "control character"},
        {"\"a\\\nb\"@example.org", "control character"},
        {"us er@example.org", "the part before the @ has a blank"},
        {".user@example.org", "a misplaced dot"},
        {"us..er@example.org", "a misplaced dot"},
        {"user.@example.org", "a misplaced dot"},
        {"a@b@example.org", "letters, digits, hyphens"},
        {"a@example.org,b@example.org", "letters, digits, hyphens"},
        {"a@example.org b@example.org", "letters, digits, hyphens"},
        {"a@example.org>", "letters, digits, hyphens"},
        {"user@[127.0.0.1]", "is a number"},
        {"user@-a.org", "hyphen"},
        {"user@a-.org", "hyphen"},
        {"user@a..org", "0 characters between dots"},
        {"user@.org", "0 characters between dots"},
        {"user@example.org.", "0 characters between dots"},
        {"user@" SIXTY "abcd.org", "64 characters between dots"},
        {"user@b\xc3\xbc"
         "cher.example",
         "write its A-label, xn--"},
        {"\xc3\xbc@example.org", "SMTPUTF8"},
        {SIXTY "abcde@example.org", "65 characters before the @"},
        {"u@" SIXTY "." SIXTY "." SIXTY "." SIXTY ".0123456789", "its domain has 254"},
        {"abc@" SIXTY "." SIXTY "." SIXTY "." SIXTY ".1234567", "it may have 254"},
        {"A <user@example.org", "no > at the end"},
        {"A <user@example.org> B", "no > at the end"},
        {"A <b <user@example.org>", "before the @"},
        {"Last, First <user@example.org>", "in double quotes"},
        {"a:b <user@example.org>", "in double quotes"},
        {"\"open <user@example.org>", "does not end with a quote"},
        {"\"a\" b <user@example.org>", "does not end with a quote"},
        {"\"\"@example.org", "is empty"},
        {"\"a\"b@example.org", "does not end with a quote"},
        {"A <>", "no @"},
        {"<@example.org:user@example.org>", "0 characters before"},
        {SIXTY SIXTY SIXTY TEN TEN "a <u@example.org>", "its name has 201"},
        {"\"" SIXTY SIXTY SIXTY TEN TEN "a\" <u@example.org>", "more than 200"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_mail_address address = {.name = "as it was"};
        takt_error error = {0};
        cr_assert_eq(takt_mail_address_parse(rows[i].text, strlen(rows[i].text), &address, &error),
                     TAKT_E_INVALID, "%s", rows[i].text);
        cr_assert(strstr(error.text, rows[i].words), "%s: %s", rows[i].text, error.text);
        cr_assert_str_eq(address.name, "as it was");
    }
}

Test(address, no_byte_that_ends_a_line_gets_through)
{
    static const char form[] = "A Name <user@example.org>";

    for (int byte = 0; byte < 256; byte++)
        for (size_t at = 0; at <= sizeof form - 1; at++) {
            char text[sizeof form + 1];
            takt_mail_address address;
            memcpy(text, form, at);
            text[at] = (char)byte;
            memcpy(text + at + 1, form + at, sizeof form - at);
            if (takt_mail_address_parse(text, sizeof form, &address, NULL) == 0)
                cr_assert(byte >= 0x20 && byte != 0x7f, "byte %d at %zu", byte, at);
        }
}
