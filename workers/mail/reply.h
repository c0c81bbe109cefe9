/*
 * reply.h: what a mail server's reply means for the mail and for the rate of the fleet.
 *
 * 2xx: the mail is sent. 4xx: the mail is tried again; if the reply is about the sender and not
 * about one recipient, its limit is penalized. 5xx: the mail is dead.
 */
#ifndef TAKT_WORKERS_REPLY_H
#define TAKT_WORKERS_REPLY_H

#include <stdbool.h>
#include <stdint.h>

typedef enum takt_mail_reply_verdict {
    REPLY_SENT,
    REPLY_RETRY,
    REPLY_DEAD,
    REPLY_UNUSABLE /* nothing can be sent until a password or a setting is changed */
} takt_mail_reply_verdict;

typedef struct takt_mail_reply_meaning {
    takt_mail_reply_verdict verdict;
    bool penalize;    /* the server asks for fewer mails */
    int64_t after_us; /* with RETRY: the earliest next attempt; 0: the server names no time */
} takt_mail_reply_meaning;

/* `text` is the last line of the reply, including its code. 0 and "": no reply. */
takt_mail_reply_meaning takt_mail_reply_read(int code, const char *text);

#endif
