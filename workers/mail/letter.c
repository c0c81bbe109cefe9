/*
 * letter.c: turns the fields of a job into the parts of a mail.
 */
#include "letter.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <takt/takt.h>

#include "kit/text.h"
#include "refuse.h"
#include "template.h"

#define SHOWN_SIZE 96
#define VALUE_MAX  900 /* bytes of a header that cannot be folded: a line has 998 at most */
#define NAME_BYTES 64

static int read_address(const char *field, const char *text, size_t size,
                        takt_mail_address *address, takt_error *error)
{
    char shown[SHOWN_SIZE];
    takt_error why;

    if (takt_mail_address_parse(text, size, address, &why) == 0)
        return 0;
    return takt_mail_refuse(error, "%s: %s is no mail address: %s", field,
                            takt_quote_bytes(text, size, shown, sizeof(shown)), why.text);
}

/* Reads one address; `otherwise` if the job has none. `found`: whether there is one. */
static int read_one(const json_t *fields, const char *name, const char *otherwise,
                    takt_mail_address *address, bool *found, takt_error *error)
{
    const json_t *field = json_object_get(fields, name);

    *found = true;
    if (json_is_string(field))
        return read_address(name, json_string_value(field), json_string_length(field), address,
                            error);
    if (field && !json_is_null(field))
        return takt_mail_refuse(error, "%s: it must be an address, a string", name);
    if (otherwise)
        return read_address(name, otherwise, strlen(otherwise), address, error);
    *found = false;
    return 0;
}

static int add_recipient(takt_mail_letter *letter, const char *name, const json_t *item,
                         takt_error *error)
{
    takt_mail_address *made = &letter->addresses[letter->address_count];
    int failed;

    if (!json_is_string(item))
        return takt_mail_refuse(
            error, "%s: it must be an address or a list of addresses, as strings", name);
    if (letter->address_count == LETTER_RECIPIENTS_MAX)
        return takt_mail_refuse(error, "%s: a mail has at most %d recipients; write several jobs",
                                name, LETTER_RECIPIENTS_MAX);
    failed = read_address(name, json_string_value(item), json_string_length(item), made, error);
    if (failed)
        return failed;
    letter->address_count++;
    for (size_t i = 0; i < letter->recipient_count; i++)
        if (strcmp(letter->recipients[i]->mailbox, made->mailbox) == 0)
            return 0;
    letter->recipients[letter->recipient_count++] = made;
    return 0;
}

static int read_recipients(takt_mail_letter *letter, const json_t *fields, const char *name,
                           takt_error *error)
{
    const json_t *field = json_object_get(fields, name);
    int failed = 0;

    if (!field || json_is_null(field))
        return 0;
    if (!json_is_array(field))
        return add_recipient(letter, name, field, error);
    for (size_t i = 0; i < json_array_size(field) && !failed; i++)
        failed = add_recipient(letter, name, json_array_get(field, i), error);
    return failed;
}

static int read_envelope(takt_mail_letter *letter, const takt_mail_letter_settings *settings,
                         const json_t *fields, takt_error *error)
{
    takt_mail_message *message = &letter->message;
    bool found;
    int failed;

    letter->address_count = letter->recipient_count = 0;
    if ((failed = read_recipients(letter, fields, "to", error)) != 0)
        return failed;
    message->to_count = letter->address_count;
    if ((failed = read_recipients(letter, fields, "cc", error)) != 0)
        return failed;
    message->to = letter->addresses;
    message->cc = letter->addresses + message->to_count;
    message->cc_count = letter->address_count - message->to_count;
    if ((failed = read_recipients(letter, fields, "bcc", error)) != 0)
        return failed;
    if (letter->recipient_count == 0)
        return takt_mail_refuse(error, "to: a mail needs a recipient; write \"to\": "
                                       "\"user@example.org\"");
    if ((failed = read_one(fields, "from", settings->from, &letter->from, &found, error)) != 0)
        return failed;
    if (!found)
        return takt_mail_refuse(error, "from: a mail needs a sender; write \"from\": "
                                       "\"user@example.org\", or start the worker with --from");
    message->from = &letter->from;
    if ((failed = read_one(fields, "reply_to", NULL, &letter->reply_to, &found, error)) != 0)
        return failed;
    message->reply_to = found ? &letter->reply_to : NULL;
    failed =
        read_one(fields, "return_path", settings->return_path, &letter->return_path, &found, error);
    if (!failed && !found)
        letter->return_path = letter->from;
    return failed;
}

/* Expands the job's template, else the settings'. */
static int read_part(const json_t *fields, const char *name, const char *otherwise,
                     takt_mail_template_form form, takt_buffer *part, bool *found,
                     takt_error *error)
{
    const json_t *field = json_object_get(fields, name);
    const char *template = json_is_string(field) ? json_string_value(field) : otherwise;

    takt_buffer_clear(part);
    *found = template != NULL;
    if (field && !json_is_null(field) && !json_is_string(field))
        return takt_mail_refuse(error, "%s: it must be a string", name);
    return template ? takt_mail_template_expand(name, template, fields, form, part, error) : 0;
}

static takt_mail_header *add_header(takt_mail_message *message, const char *name, bool plain)
{
    takt_mail_header *header;

    if (message->header_count == MESSAGE_HEADERS_MAX)
        return NULL;
    header = &message->headers[message->header_count++];
    header->name = name;
    header->plain = plain;
    takt_buffer_clear(&header->value);
    return header;
}

/* A URL that may stand between < and >. */
static int check_url(const char *url, size_t size, bool one_click, takt_error *error)
{
    bool https = strncasecmp(url, "https://", 8) == 0;

    for (size_t i = 0; i < size; i++)
        if (url[i] <= 0x20 || url[i] >= 0x7f || strchr("<>,\"", url[i]))
            return takt_mail_refuse(error,
                                    "list_unsubscribe: the URL has a character that must be "
                                    "written as %%XX at byte %zu",
                                    i);
    if (!https && strncasecmp(url, "mailto:", 7) != 0)
        return takt_mail_refuse(error, "list_unsubscribe: it must begin with https:// or mailto:");
    if (size > VALUE_MAX)
        return takt_mail_refuse(error, "list_unsubscribe: the URL has %zu bytes; it may have %d",
                                size, VALUE_MAX);
    if (one_click && !https)
        return takt_mail_refuse(error, "one_click: it needs a list_unsubscribe with https://");
    return 0;
}

static int read_unsubscribe(takt_mail_letter *letter, const takt_mail_letter_settings *settings,
                            const json_t *fields, takt_error *error)
{
    const json_t *click = json_object_get(fields, "one_click");
    bool one_click = json_is_boolean(click) ? json_is_true(click) : settings->one_click;
    takt_buffer *url = &letter->unsubscribe;
    bool found;
    int failed;

    if (click && !json_is_null(click) && !json_is_boolean(click))
        return takt_mail_refuse(error, "one_click: it must be true or false");
    if ((failed = read_part(fields, "list_unsubscribe", settings->unsubscribe, TEMPLATE_URL, url,
                            &found, error)) != 0)
        return failed;
    if (!found)
        return one_click && click
                   ? takt_mail_refuse(error, "one_click: it needs a list_unsubscribe")
                   : 0;
    if ((failed = check_url(takt_buffer_end(url), url->size, one_click, error)) != 0)
        return failed;
    takt_mail_header *header = add_header(&letter->message, "List-Unsubscribe", true);
    takt_buffer_char(&header->value, '<');
    takt_buffer_put(&header->value, url->at, url->size);
    takt_buffer_text(&header->value, ">");
    if (one_click)
        header = add_header(&letter->message, "List-Unsubscribe-Post", true);
    if (one_click)
        takt_buffer_text(&header->value, "List-Unsubscribe=One-Click");
    return 0;
}

/* Whether a job may set this header: neither this program nor a mail server sets it. */
static bool is_own_name(const char *name)
{
    static const char *const known[] = {"Auto-Submitted", "Feedback-ID", "List-ID", "Precedence"};
    size_t size = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-");

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcasecmp(name, known[i]) == 0)
            return true;
    return strncasecmp(name, "X-", 2) == 0 && size > 2 && size <= NAME_BYTES && !name[size];
}

static int read_headers(takt_mail_message *message, const json_t *fields, takt_error *error)
{
    const json_t *headers = json_object_get(fields, "headers");
    char shown[SHOWN_SIZE], what[SHOWN_SIZE + 16];
    const char *name;
    json_t *value;

    if (!headers || json_is_null(headers))
        return 0;
    if (!json_is_object(headers))
        return takt_mail_refuse(error,
                                "headers: it must be an object: {\"X-Campaign\": \"spring\"}");
    json_object_foreach((json_t *)(uintptr_t)headers, name, value)
    {
        takt_quote_bytes(name, strlen(name), shown, sizeof(shown));
        if (!is_own_name(name))
            return takt_mail_refuse(error,
                                    "headers: %s cannot be set; allowed are X-..., Auto-Submitted, "
                                    "Feedback-ID, List-ID and Precedence",
                                    shown);
        takt_mail_header *header = add_header(message, name, false);
        if (!header)
            return takt_mail_refuse(error, "headers: there are too many; a mail may have %d",
                                    MESSAGE_HEADERS_MAX - 2);
        if (!json_is_string(value))
            return takt_mail_refuse(error, "headers: %s: it must be a string", shown);
        snprintf(what, sizeof(what), "headers: %s", shown);
        int failed = takt_mail_template_expand(what, json_string_value(value), fields,
                                               TEMPLATE_HEADER, &header->value, error);
        if (failed)
            return failed;
        if (header->value.size > VALUE_MAX)
            return takt_mail_refuse(error, "%s: it has %zu bytes; it may have %d", what,
                                    header->value.size, VALUE_MAX);
    }
    return 0;
}

int takt_mail_letter_read(takt_mail_letter *letter, const takt_mail_letter_settings *settings,
                          const json_t *fields, takt_error *error)
{
    takt_mail_message *message = &letter->message;
    bool found;
    int failed;

    message->header_count = 0;
    if ((failed = read_envelope(letter, settings, fields, error)) != 0 ||
        (failed = read_part(fields, "subject", settings->subject, TEMPLATE_HEADER,
                            &message->subject, &found, error)) != 0)
        return failed;
    if (!found)
        return takt_mail_refuse(error,
                                "subject: a mail needs one; write \"subject\": \"...\", or start "
                                "the worker with --subject");
    if ((failed = read_part(fields, "text", settings->text, TEMPLATE_TEXT, &message->text,
                            &message->has_text, error)) != 0 ||
        (failed = read_part(fields, "html", settings->html, TEMPLATE_HTML, &message->html,
                            &message->has_html, error)) != 0)
        return failed;
    if (!message->has_text && !message->has_html)
        return takt_mail_refuse(error,
                                "text: a mail needs one, or html; write \"text\": \"...\", or "
                                "start the worker with --text or --html");
    if ((failed = read_unsubscribe(letter, settings, fields, error)) != 0 ||
        (failed = read_headers(message, fields, error)) != 0)
        return failed;
    for (size_t i = 0; i < message->header_count; i++)
        if (message->headers[i].value.failed) {
            *error = (takt_error){TAKT_E_NOMEM, "no memory"};
            return TAKT_E_NOMEM;
        }
    return 0;
}

#define DOMAIN "{domain}"

int takt_mail_letter_check_key(const char *key, takt_error *error)
{
    int failed = takt_mail_template_expand("key", key, NULL, TEMPLATE_TEXT, NULL, error);

    for (const char *at = key; !failed && (at = strchr(at, '{')) != NULL;) {
        bool is_domain = strncmp(at, DOMAIN, strlen(DOMAIN)) == 0;
        if (at[1] != '{' && !is_domain)
            failed = takt_mail_refuse(
                error, "key: %.*s: the only field of a key is " DOMAIN "; write a brace as {{",
                (int)strcspn(at, "}") + 1, at);
        at += is_domain ? strlen(DOMAIN) : 2;
    }
    return failed;
}

/* The domain of all recipients; NULL after a refusal. */
static const char *single_domain(const takt_mail_letter *letter, takt_error *error)
{
    const char *domain = takt_mail_address_domain(letter->recipients[0]);

    for (size_t i = 1; i < letter->recipient_count; i++)
        if (strcmp(takt_mail_address_domain(letter->recipients[i]), domain) != 0) {
            takt_mail_refuse(error,
                             "key: " DOMAIN " needs a single domain, but this mail goes to %s and "
                             "to %s; write a job for each",
                             domain, takt_mail_address_domain(letter->recipients[i]));
            return NULL;
        }
    return domain;
}

int takt_mail_letter_key(const takt_mail_letter *letter, const char *key, char *result,
                         takt_error *error)
{
    size_t size = 0;
    int failed = takt_mail_letter_check_key(key, error);

    if (failed)
        return failed;
    for (const char *at = key; *at;) {
        bool is_brace = *at == '{', is_domain = is_brace && at[1] != '{';
        const char *text = is_domain ? single_domain(letter, error) : at;
        if (!text)
            return TAKT_E_INVALID;
        size_t part = is_domain ? strlen(text) : 1;
        if (size + part > TAKT_KEY_SIZE_MAX)
            return takt_mail_refuse(error, "key: with its domain it has more than %d bytes",
                                    TAKT_KEY_SIZE_MAX);
        memcpy(result + size, text, part);
        size += part;
        at += is_domain ? strlen(DOMAIN) : is_brace ? 2 : 1;
    }
    result[size] = '\0';
    return 0;
}

void takt_mail_letter_free(takt_mail_letter *letter)
{
    takt_mail_message *message = &letter->message;

    takt_buffer_free(&message->subject);
    takt_buffer_free(&message->text);
    takt_buffer_free(&message->html);
    takt_buffer_free(&letter->unsubscribe);
    for (size_t i = 0; i < MESSAGE_HEADERS_MAX; i++)
        takt_buffer_free(&message->headers[i].value);
}
