/*
 * letter.h: what a job says about its mail: who gets it, from whom, and what is in it.
 *
 *     {"id": "m-17", "limit": "smtp", "to": "Ann <ann@example.org>", "subject": "Hello {name}",
 *      "text": "...", "html": "...", "name": "Ann"}
 *
 * to, cc and bcc are addresses or lists of them; from, reply_to and return_path (where bounces go)
 * are one.  subject, text and html are templates (template.h); what a job does not say comes from
 * the settings.
 */
#ifndef TAKT_WORKERS_LETTER_H
#define TAKT_WORKERS_LETTER_H

#include <jansson.h>

#include "message.h"

#define LETTER_RECIPIENTS_MAX 100 /* what every server takes (RFC 5321, 4.5.3.1.8) */

/* For all jobs.  NULL: none. */
typedef struct takt_mail_letter_settings {
    const char *from;
    const char *return_path;
    const char *subject, *text, *html; /* templates that can be expanded */
    const char *unsubscribe;
    bool one_click;
} takt_mail_letter_settings;

/* Zeros at first; may be read into many times.  To be freed by takt_mail_letter_free. */
typedef struct takt_mail_letter {
    takt_mail_message message; /* points into what follows; its date is not set */
    takt_mail_address from, reply_to, return_path;
    takt_mail_address addresses[LETTER_RECIPIENTS_MAX];         /* To, Cc, Bcc */
    const takt_mail_address *recipients[LETTER_RECIPIENTS_MAX]; /* each mailbox once */
    size_t address_count, recipient_count;
    takt_buffer unsubscribe; /* the URL alone */
} takt_mail_letter;

/* 0, or TAKT_E_INVALID and why; the letter is then not to be used.  It points into `fields` and
 * `settings`. */
int takt_mail_letter_read(takt_mail_letter *letter, const takt_mail_letter_settings *settings,
                          const json_t *fields, takt_error *error);

/*
 * The key with the domain of the recipients for each "{domain}" in it; there must be one domain.
 * `result` has room for TAKT_KEY_SIZE_MAX + 1.  0, or TAKT_E_INVALID and why.
 */
int takt_mail_letter_key(const takt_mail_letter *letter, const char *key, char *result,
                         takt_error *error);

void takt_mail_letter_free(takt_mail_letter *letter);

#endif
