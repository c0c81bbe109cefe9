/*
 * message.c: writes the headers, then one text, or both texts as multipart/alternative with HTML
 * last.
 */
#include "message.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "encode.h"
#include "header.h"

#define BOUNDARY_SIZE 32 /* of the identifier: the part before its @ */

/* Two FNV-1a sums of the whole message with different seeds, mixed at the end. The sums need not
 * resist deliberate collisions. */
typedef struct mail_sums {
    uint64_t one, two;
} mail_sums;

static void add(mail_sums *sums, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        sums->one = (sums->one ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
        sums->two = (sums->two ^ (unsigned char)bytes[i]) * UINT64_C(0x9fb21c651e98df25);
    }
    sums->one = (sums->one ^ 0x100) * UINT64_C(0x100000001b3); /* separates the parts */
    sums->two = (sums->two ^ 0x100) * UINT64_C(0x9fb21c651e98df25);
}

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static void add_addresses(mail_sums *sums, const takt_mail_address *addresses, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(sums, addresses[i].mailbox, strlen(addresses[i].mailbox));
    add(sums, "", 0);
}

void takt_mail_message_identify(const takt_mail_message *message, const char *idempotency_key,
                                char id[MESSAGE_ID_SIZE])
{
    mail_sums sums = {UINT64_C(0xcbf29ce484222325), UINT64_C(0x6c62272e07bb0142)};

    add(&sums, idempotency_key, strlen(idempotency_key));
    add_addresses(&sums, message->from, 1);
    add_addresses(&sums, message->to, message->to_count);
    add_addresses(&sums, message->cc, message->cc_count);
    add(&sums, message->subject.at, message->subject.size);
    add(&sums, message->text.at, message->has_text ? message->text.size : 0);
    add(&sums, message->html.at, message->has_html ? message->html.size : 0);
    snprintf(id, MESSAGE_ID_SIZE, "%016llx%016llx@%s", (unsigned long long)mix(sums.one),
             (unsigned long long)mix(sums.two), takt_mail_address_domain(message->from));
}

static void put_fixed(takt_buffer *out, const char *name, const char *value)
{
    takt_mail_header_put_plain(out, name, value, strlen(value));
}

/* Not by strftime, whose names depend on the locale. */
static void put_date(takt_buffer *out, int64_t date_us)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t seconds = (time_t)(date_us / 1000000);
    struct tm day = {0};
    char text[64];

    gmtime_r(&seconds, &day);
    snprintf(text, sizeof(text), "%s, %02d %s %04d %02d:%02d:%02d +0000", days[day.tm_wday],
             day.tm_mday, months[day.tm_mon], day.tm_year + 1900, day.tm_hour, day.tm_min,
             day.tm_sec);
    put_fixed(out, "Date", text);
}

static void put_headers(takt_buffer *out, const takt_mail_message *message, const char *id)
{
    char identifier[MESSAGE_ID_SIZE + 2];

    put_date(out, message->date_us);
    snprintf(identifier, sizeof(identifier), "<%s>", id);
    put_fixed(out, "Message-ID", identifier);
    takt_mail_header_put_addresses(out, "From", message->from, 1);
    if (message->reply_to)
        takt_mail_header_put_addresses(out, "Reply-To", message->reply_to, 1);
    if (message->to_count > 0)
        takt_mail_header_put_addresses(out, "To", message->to, message->to_count);
    else if (message->cc_count == 0)
        put_fixed(out, "To", "undisclosed-recipients:;");
    if (message->cc_count > 0)
        takt_mail_header_put_addresses(out, "Cc", message->cc, message->cc_count);
    takt_mail_header_put_text(out, "Subject", message->subject.at, message->subject.size);
    for (size_t i = 0; i < message->header_count; i++) {
        const takt_mail_header *header = &message->headers[i];
        if (header->plain)
            takt_mail_header_put_plain(out, header->name, header->value.at, header->value.size);
        else
            takt_mail_header_put_text(out, header->name, header->value.at, header->value.size);
    }
    put_fixed(out, "MIME-Version", "1.0");
}

static void put_part(takt_buffer *out, const char *type, const takt_buffer *text)
{
    bool base64 = takt_mail_encode_prefers_base64(text->at, text->size);

    put_fixed(out, "Content-Type", type);
    put_fixed(out, "Content-Transfer-Encoding", base64 ? "base64" : "quoted-printable");
    takt_buffer_text(out, "\r\n");
    if (base64)
        takt_mail_encode_base64_text(out, text->at, text->size);
    else
        takt_mail_encode_quoted_printable(out, text->at, text->size);
}

/* The line between parts. Encoded text never contains "=_". */
static void put_boundary(takt_buffer *out, const char *id, const char *end)
{
    takt_buffer_text(out, "\r\n--=_");
    takt_buffer_put(out, id, BOUNDARY_SIZE);
    takt_buffer_text(out, end);
    takt_buffer_text(out, "\r\n");
}

void takt_mail_message_write(const takt_mail_message *message, const char *id, takt_buffer *out)
{
    bool has_text = message->has_text, has_html = message->has_html;

    assert(has_text || has_html);
    put_headers(out, message, id);
    if (has_text && has_html) {
        takt_buffer_text(out, "Content-Type: multipart/alternative;\r\n boundary=\"=_");
        takt_buffer_put(out, id, BOUNDARY_SIZE);
        takt_buffer_text(out, "\"\r\n");
        put_boundary(out, id, "");
    }
    if (has_text)
        put_part(out, "text/plain; charset=utf-8", &message->text);
    if (has_text && has_html)
        put_boundary(out, id, "");
    if (has_html)
        put_part(out, "text/html; charset=utf-8", &message->html);
    if (has_text && has_html)
        put_boundary(out, id, "--");
    else if (out->size < 2 || memcmp(out->at + out->size - 2, "\r\n", 2) != 0)
        takt_buffer_text(out, "\r\n");
}
