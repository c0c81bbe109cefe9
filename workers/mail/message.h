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

typedef struct mail_header {
    const char *name;
    text_buffer value;
    bool plain; /* ASCII, to be written as it is */
} mail_header;

typedef struct mail_message {
    int64_t date_us; /* since the Unix epoch */
    const mail_address *from;
    const mail_address *reply_to; /* NULL: none */
    const mail_address *to;
    size_t to_count;
    const mail_address *cc;
    size_t cc_count;
    text_buffer subject;
    bool has_text, has_html; /* one of them at least */
    text_buffer text, html;
    mail_header headers[MESSAGE_HEADERS_MAX];
    size_t header_count;
} mail_message;

/*
 * The identifier, without its brackets: the same for the same mail of the same job, however often
 * it is tried; another one where anything that is read in it differs.  At the domain of its From.
 */
void message_identify(const mail_message *message, const char *idempotency_key,
                      char id[MESSAGE_ID_SIZE]);

/* Appends it to `out`. */
void message_write(const mail_message *message, const char *id, text_buffer *out);

#endif
