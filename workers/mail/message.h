/*
 * message.h: writes a mail as RFC 5322 wants it, from its parts, ready for the server: ASCII, CR LF
 * line ends, no line longer than 998 characters, lines of the texts at most 76.
 *
 * Pure: the caller passes the date and the identifier. The envelope names the recipients, including
 * Bcc.
 */
#ifndef TAKT_WORKERS_MESSAGE_H
#define TAKT_WORKERS_MESSAGE_H

#include <stdint.h>

#include "address.h"
#include "jobs/text/buffer.h"

#define MESSAGE_ID_SIZE     (32 + 1 + ADDRESS_DOMAIN_MAX + 1)
#define MESSAGE_HEADERS_MAX 16

typedef struct takt_mail_header {
    const char *name;
    takt_buffer value;
    bool plain; /* ASCII, written as it is */
} takt_mail_header;

typedef struct takt_mail_message {
    int64_t date_us; /* since the Unix epoch */
    const takt_mail_address *from;
    const takt_mail_address *reply_to; /* NULL: none */
    const takt_mail_address *to;
    size_t to_count;
    const takt_mail_address *cc;
    size_t cc_count;
    takt_buffer subject;
    bool has_text, has_html; /* at least one of them */
    takt_buffer text, html;
    takt_mail_header headers[MESSAGE_HEADERS_MAX];
    size_t header_count;
} takt_mail_message;

/*
 * The identifier, without its brackets: the same for each attempt at the same mail of a job,
 * different if any visible part differs. Its domain is that of From.
 */
void takt_mail_message_identify(const takt_mail_message *message, const char *idempotency_key,
                                char id[MESSAGE_ID_SIZE]);

/* Appends the mail to `out`. */
void takt_mail_message_write(const takt_mail_message *message, const char *id, takt_buffer *out);

#endif
