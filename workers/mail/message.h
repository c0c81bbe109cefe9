/*
 * message.h: a mail as RFC 5322 wants it, from its parts, ready for the server: ASCII, CR LF at
 * every line's end, no line longer than 998 characters and of the texts none longer than 76.
 *
 * Pure: what day it is and which identifier it has are told.  Who may get it (Bcc too) is the
 * envelope's affair, not this one's.
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
    bool plain; /* ASCII, to be written as it is */
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
    bool has_text, has_html; /* one of them at least */
    takt_buffer text, html;
    takt_mail_header headers[MESSAGE_HEADERS_MAX];
    size_t header_count;
} takt_mail_message;

/*
 * The identifier, without its brackets: the same for the same mail of the same job, however often
 * it is tried; another one where anything that is read in it differs.  At the domain of its From.
 */
void takt_mail_message_identify(const takt_mail_message *message, const char *idempotency_key,
                                char id[MESSAGE_ID_SIZE]);

/* Appends it to `out`. */
void takt_mail_message_write(const takt_mail_message *message, const char *id, takt_buffer *out);

#endif
