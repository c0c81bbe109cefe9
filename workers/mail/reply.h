/*
 * reply.h: what a mail server's reply means for the mail, and for how fast mails go.
 *
 * 2xx: it is sent.  4xx: not now, so it is tried again, and where the server means us and not one
 * recipient, its limit is penalized.  5xx: never.
 */
#ifndef TAKT_WORKERS_REPLY_H
#define TAKT_WORKERS_REPLY_H

#include <stdbool.h>
#include <stdint.h>

typedef enum takt_mail_reply_verdict {
    REPLY_SENT,
    REPLY_RETRY,
    REPLY_DEAD,
    REPLY_UNUSABLE /* nothing can be sent until somebody changes a password or a setting */
} takt_mail_reply_verdict;

typedef struct takt_mail_reply_meaning {
    takt_mail_reply_verdict verdict;
    bool penalize;    /* the server wants less of us */
    int64_t after_us; /* with RETRY: not before that; 0: it does not say */
} takt_mail_reply_meaning;

/* `text` is the reply's last line as it came, with its code.  0 and "": there was none. */
takt_mail_reply_meaning takt_mail_reply_read(int code, const char *text);

#endif
