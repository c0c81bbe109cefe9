/*
 * The fields of a mail job: recipients, and refused values.
 */
#include <criterion/criterion.h>
#include <string.h>

#include <takt/policy.h>

#include "mail/letter.h"

static takt_mail_letter letter; /* some of it is large */

static const takt_mail_letter_settings bare = {0};

/* 0, and the fields are to be freed; else in `error` why. */
static int read_job(const takt_mail_letter_settings *settings, const char *text, json_t **fields,
                    takt_error *error)
{
    json_error_t trouble;

    *fields = json_loads(text, 0, &trouble);
    cr_assert(*fields, "%s: %s", text, trouble.text);
    *error = (takt_error){0};
    return takt_mail_letter_read(&letter, settings, *fields, error);
}

#define BASE "\"from\": \"me@example.org\", \"subject\": \"s\", \"text\": \"t\""

Test(letter, recipients)
{
    static const struct {
        const char *job;
        size_t to, cc, recipients;
    } rows[] = {
        {"{" BASE ", \"to\": \"a@e.org\"}", 1, 0, 1},
        {"{" BASE ", \"to\": [\"a@e.org\", \"b@e.org\"], \"cc\": \"c@e.org\"}", 2, 1, 3},
        {"{" BASE ", \"to\": \"a@e.org\", \"bcc\": [\"b@e.org\"]}", 1, 0, 2},
        {"{" BASE ", \"bcc\": \"b@e.org\", \"to\": null}", 0, 0, 1},
        {"{" BASE ", \"to\": [\"a@e.org\", \"A <a@E.org>\"], \"cc\": \"a@e.org\"}", 2, 1, 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *fields;
        takt_error error;
        cr_assert_eq(read_job(&bare, rows[i].job, &fields, &error), 0, "%s: %s", rows[i].job,
                     error.text);
        cr_assert_eq(letter.message.to_count, rows[i].to);
        cr_assert_eq(letter.message.cc_count, rows[i].cc);
        cr_assert_eq(letter.recipient_count, rows[i].recipients, "%s", rows[i].job);
        cr_assert_str_eq(letter.return_path.mailbox, "me@example.org");
        json_decref(fields);
    }
    takt_mail_letter_free(&letter);
}

Test(letter, bad_ones)
{
    static const struct {
        const char *job, *words;
    } rows[] = {
        {"{" BASE "}", "to: a mail needs a recipient"},
        {"{" BASE ", \"to\": []}", "to: a mail needs a recipient"},
        {"{" BASE ", \"to\": 7}", "to: it must be an address or a list"},
        {"{" BASE ", \"cc\": [{}]}", "cc: it must be an address or a list"},
        {"{" BASE ", \"to\": \"nobody\"}", "to: \"nobody\" is no mail address: it has no @"},
        {"{" BASE ", \"to\": \"a@e.org\\r\\nDATA\"}", "control character"},
        {"{" BASE ", \"to\": \"a@e.org\", \"reply_to\": [\"a@e.org\"]}", "reply_to: it must be"},
        {"{" BASE ", \"to\": \"a@e.org\", \"return_path\": \"x\"}", "return_path: \"x\" is no"},
        {"{\"to\": \"a@e.org\", \"subject\": \"s\", \"text\": \"t\"}",
         "from: a mail needs a sender"},
        {"{\"to\": \"a@e.org\", \"from\": \"a@e.org\", \"text\": \"t\"}", "subject: a mail needs"},
        {"{\"to\": \"a@e.org\", \"from\": \"a@e.org\", \"subject\": \"s\"}", "text: a mail needs"},
        {"{" BASE ", \"to\": \"a@e.org\", \"html\": 7}", "html: it must be a string"},
        {"{" BASE ", \"to\": \"a@e.org\", \"headers\": []}", "headers: it must be an object"},
        {"{" BASE ", \"to\": \"a@e.org\", \"headers\": {\"Bcc\": \"x\"}}", "\"Bcc\" cannot be set"},
        {"{" BASE ", \"to\": \"a@e.org\", \"headers\": {\"X-\": \"x\"}}", "cannot be set"},
        {"{" BASE ", \"to\": \"a@e.org\", \"headers\": {\"X-a: b\\r\\nTo\": \"x\"}}",
         "cannot be set"},
        {"{" BASE ", \"to\": \"a@e.org\", \"headers\": {\"X-A\": \"a\\nb\"}}", "one line"},
        {"{" BASE ", \"to\": \"a@e.org\", \"headers\": {\"X-A\": \"{v}\"}, \"v\": \"a\\nb\"}",
         "the field v has a control"},
        {"{" BASE ", \"to\": \"a@e.org\", \"headers\": {\"X-A\": 7}}", "it must be a string"},
        {"{" BASE ", \"to\": \"a@e.org\", \"list_unsubscribe\": \"ftp://e.org\"}", "https://"},
        {"{" BASE ", \"to\": \"a@e.org\", \"list_unsubscribe\": \"https://e.org/>\"}", "%XX"},
        {"{" BASE ", \"to\": \"a@e.org\", \"list_unsubscribe\": \"https://e.org/\xc3\xbc\"}",
         "%XX"},
        {"{" BASE ", \"to\": \"a@e.org\", \"one_click\": true}", "needs a list_unsubscribe"},
        {"{" BASE ", \"to\": \"a@e.org\", \"one_click\": 1}", "true or false"},
        {"{" BASE ", \"to\": \"a@e.org\", \"one_click\": true, \"list_unsubscribe\": "
         "\"mailto:u@e.org\"}",
         "with https://"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *fields;
        takt_error error;
        cr_assert_eq(read_job(&bare, rows[i].job, &fields, &error), TAKT_E_INVALID, "%s",
                     rows[i].job);
        cr_assert(strstr(error.text, rows[i].words), "%s: %s", rows[i].job, error.text);
        json_decref(fields);
    }
    takt_mail_letter_free(&letter);
}

Test(letter, too_many_recipients)
{
    json_t *fields =
        json_pack("{s:s, s:s, s:s, s:[]}", "from", "me@e.org", "subject", "s", "text", "t", "to");
    takt_error error;

    for (int i = 0; i < LETTER_RECIPIENTS_MAX; i++)
        json_array_append_new(json_object_get(fields, "to"), json_sprintf("u%d@e.org", i));
    cr_assert_eq(takt_mail_letter_read(&letter, &bare, fields, &error), 0);
    cr_assert_eq(letter.recipient_count, LETTER_RECIPIENTS_MAX);
    json_object_set_new(fields, "bcc", json_string("one@e.org"));
    cr_assert_eq(takt_mail_letter_read(&letter, &bare, fields, &error), TAKT_E_INVALID);
    cr_assert(strstr(error.text, "at most 100 recipients"), "%s", error.text);
    takt_mail_letter_free(&letter);
    json_decref(fields);
}

Test(letter, what_a_job_does_not_say_comes_from_the_settings)
{
    const takt_mail_letter_settings settings = {
        .from = "A <a@e.org>",
        .return_path = "bounce@e.org",
        .subject = "Hello {name}",
        .text = "text {name}",
        .html = "<b>{name}</b>",
        .unsubscribe = "https://e.org/{id}",
        .one_click = true,
    };
    json_t *fields;
    takt_error error;

    cr_assert_eq(read_job(&settings, "{\"to\": \"b@e.org\", \"name\": \"<N>\", \"id\": \"1/2\"}",
                          &fields, &error),
                 0, "%s", error.text);
    cr_assert_str_eq(letter.from.name, "A");
    cr_assert_str_eq(letter.return_path.mailbox, "bounce@e.org");
    cr_assert_str_eq(takt_buffer_end(&letter.message.subject), "Hello <N>");
    cr_assert_str_eq(takt_buffer_end(&letter.message.text), "text <N>");
    cr_assert_str_eq(takt_buffer_end(&letter.message.html), "<b>&lt;N&gt;</b>");
    cr_assert_eq(letter.message.header_count, 2);
    cr_assert_str_eq(takt_buffer_end(&letter.message.headers[0].value), "<https://e.org/1%2F2>");
    cr_assert_str_eq(takt_buffer_end(&letter.message.headers[1].value),
                     "List-Unsubscribe=One-Click");
    json_decref(fields);
    cr_assert_eq(read_job(&settings,
                          "{\"to\": \"b@e.org\", \"name\": \"N\", \"id\": \"1\", \"text\": "
                          "\"own\", \"from\": \"c@e.org\", \"one_click\": false}",
                          &fields, &error),
                 0, "%s", error.text);
    cr_assert_str_eq(letter.from.mailbox, "c@e.org");
    cr_assert_str_eq(takt_buffer_end(&letter.message.text), "own");
    cr_assert(letter.message.has_html);
    cr_assert_eq(letter.message.header_count, 1);
    json_decref(fields);
    takt_mail_letter_free(&letter);
}

Test(letter, key_by_domain)
{
    static const struct {
        const char *to, *key, *result, *why;
    } rows[] = {
        {"[\"a@E.org\"]", "{domain}", "e.org", NULL},
        {"[\"a@e.org\", \"b@E.ORG\"]", "acct/{domain}", "acct/e.org", NULL},
        {"[\"a@e.org\"]", "{domain}{domain}", "e.orge.org", NULL},
        {"[\"a@e.org\", \"b@f.org\"]", "plain", "plain", NULL},
        {"[\"a@e.org\"]", "{{x}{{{domain}", "{x}{e.org", NULL},
        {"[\"a@e.org\", \"b@f.org\"]", "{domain}", NULL, "e.org and to f.org"},
        {"[\"a@e.org\"]", "a{domian}", NULL,
         "key: {domian}: the only field of a key is {domain}; write a brace as {{"},
        {"[\"a@e.org\"]", "{domain}/{subject}", NULL, "key: {subject}: the only field"},
        {"[\"a@e.org\"]", "{{domain}}", NULL, "a field is written {name}, with one brace"},
        {"[\"a@e.org\"]", "{", NULL, "write a field as {name}, and a brace as {{"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char job[200], key[TAKT_KEY_SIZE_MAX + 1];
        json_t *fields;
        takt_error error;
        snprintf(job, sizeof job, "{" BASE ", \"to\": %s}", rows[i].to);
        cr_assert_eq(read_job(&bare, job, &fields, &error), 0);
        int failed = takt_mail_letter_key(&letter, rows[i].key, key, &error);
        cr_assert_eq(failed, rows[i].result ? 0 : TAKT_E_INVALID, "%s", rows[i].to);
        if (rows[i].result)
            cr_assert_str_eq(key, rows[i].result);
        else
            cr_assert(strstr(error.text, rows[i].why), "%s", error.text);
        json_decref(fields);
    }
    takt_mail_letter_free(&letter);
}
