/*
 * Texts in lines that every server accepts: their encoding, and that they read back the same.
 */
#include "text.h"

#include "mail/encode.h"

#define FIVE "12345"
#define F75  FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE

Test(encode, quoted_printable)
{
    static const struct {
        const char *text, *encoded;
    } rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"a\nb\r\nc\rd", "a\r\nb\r\nc\r\nd"},
        {"\n\n", "\r\n\r\n"},
        {"a=b", "a=3Db"},
        {"\xc3\xbc", "=C3=BC"},
        {"a \nb\t\nc ", "a=20\r\nb=09\r\nc=20"},
        {" a\tb", " a\tb"},
        {".a\n.\na.", "=2Ea\r\n=2E\r\na."},
        {"From me\nSo From you, From", "=46rom me\r\nSo =46rom you, From"},
        {"\x01\x7f", "=01=7F"},
        {F75, F75},
        {F75 "6", F75 "=\r\n6"},
        {F75 ".", F75 "=\r\n=2E"},
        {FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE "123\xc3\xbc",
         FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE FIVE "123=\r\n=C3=BC"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_buffer out = {0};
        takt_mail_encode_quoted_printable(&out, rows[i].text, strlen(rows[i].text));
        expect_text(&out, rows[i].encoded, rows[i].text);
        takt_buffer_free(&out);
    }
}

Test(encode, base64)
{
    static const struct {
        const char *text, *encoded;
    } rows[] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"\xff\xfe\xfd", "//79"},
        {"a\nb", "YQ0KYg=="},
        {"a\r\nb", "YQ0KYg=="},
        {"a\rb", "YQ0KYg=="},
    };
    char text[200];
    takt_buffer out = {0};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_buffer_clear(&out);
        takt_mail_encode_base64_text(&out, rows[i].text, strlen(rows[i].text));
        expect_text(&out, rows[i].encoded, rows[i].text);
    }
    for (size_t size = 0; size < sizeof text; size++) {
        memset(text, 'x', size);
        takt_buffer_clear(&out);
        takt_mail_encode_base64_text(&out, text, size);
        const char *line = takt_buffer_end(&out);
        for (const char *end; (end = strstr(line, "\r\n")) != NULL; line = end + 2)
            cr_assert_eq(end - line, ENCODE_LINE);
        cr_assert_leq(strlen(line), ENCODE_LINE);
        cr_assert(size == 0 || *line, "no empty line at the end of %zu", size);
    }
    takt_buffer_free(&out);
}

Test(encode, base64_where_it_is_shorter)
{
    cr_assert_not(takt_mail_encode_prefers_base64("", 0));
    cr_assert_not(takt_mail_encode_prefers_base64("Gr\xc3\xbc\xc3\x9f"
                                                  "e an alle",
                                                  16));
    cr_assert(takt_mail_encode_prefers_base64("\xce\xb1\xce\xb2\xce\xb3", 6));
}
