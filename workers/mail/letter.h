/*
 * letter.h: reads a job's mail: its recipients, its sender and its content.
 *
 *     {"id": "m-17", "limit": "smtp", "to": "Ann <ann@example.org>", "subject": "Hello {name}",
 *      "text": "...", "html": "...", "name": "Ann"}
 *
 * to, cc and bcc are addresses or lists of addresses; from, reply_to and return_path (the address
 * for bounces) are one address each. subject, text and html are templates (template.h). The
 * settings fill in what a job does not say.
 */
#ifndef TAKT_WORKERS_LETTER_H
#define TAKT_WORKERS_LETTER_H

#include <jansson.h>

#include "message.h"

#define LETTER_RECIPIENTS_MAX 100 /* every server accepts so many (RFC 5321, 4.5.3.1.8) */

/* Defaults for all jobs. NULL: none. */
typedef struct takt_mail_letter_settings {
    const char *from;
    const char *return_path;
    const char *subject, *text, *html; /* templates that were checked */
    const char *unsubscribe;
    bool one_click;
} takt_mail_letter_settings;

/* Zeros at first; may be read into many times. Freed by takt_mail_letter_free. */
typedef struct takt_mail_letter {
    takt_mail_message message; /* points into the fields below; its date is not set */
    takt_mail_address from, reply_to, return_path;
    takt_mail_address addresses[LETTER_RECIPIENTS_MAX];         /* To, Cc, Bcc */
    const takt_mail_address *recipients[LETTER_RECIPIENTS_MAX]; /* each mailbox once */
    size_t address_count, recipient_count;
    takt_buffer unsubscribe; /* the URL alone */
} takt_mail_letter;

/* 0, or TAKT_E_INVALID and why; the letter is then unusable. It points into `fields` and
 * `settings`. */
int takt_mail_letter_read(takt_mail_letter *letter, const takt_mail_letter_settings *settings,
                          const json_t *fields, takt_error *error);

/* Whether a key is a template of {domain} alone: 0, or TAKT_E_INVALID and why. */
int takt_mail_letter_check_key(const char *key, takt_error *error);

/*
 * Replaces "{domain}" in the key by the domain of the recipients, who must share one domain; "{{"
 * is a brace. Other fields are refused. `result` has room for TAKT_KEY_SIZE_MAX + 1. 0, or
 * TAKT_E_INVALID and why.
 */
int takt_mail_letter_key(const takt_mail_letter *letter, const char *key, char *result,
                         takt_error *error);

void takt_mail_letter_free(takt_mail_letter *letter);

#endif
