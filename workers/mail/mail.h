/*
 * mail.h: takt-mail from the inside: what its command line (options.c) says to what it does
 * (mail.c).
 */
#ifndef TAKT_WORKERS_MAIL_H
#define TAKT_WORKERS_MAIL_H

#include <argp.h>

#include "jobs/frame/outage.h"
#include "letter.h"
#include "outbox.h"
#include "smtp.h"

/* What the command line says.  The strings are its own. */
typedef struct takt_mail_options {
    const char *server;
    const char *login;
    const char *from, *return_path;
    const char *folder;                /* of a template */
    const char *subject, *text, *html; /* files of one */
    const char *unsubscribe;
    bool one_click;
    const char *key;    /* of jobs that say none; NULL */
    const char *drafts; /* --dry-run's folder; NULL: mails are sent */
    int64_t pause_us;
    int64_t outage_us; /* so long a server that cannot be used costs no attempts */
} takt_mail_options;

typedef struct takt_mail {
    takt_mail_options options;
    takt_mail_smtp_settings settings;
    takt_mail_letter_settings letters;
    char *subject, *text, *html; /* what the files of the template say; NULL */
    takt_mail_letter letter;     /* of the job that was looked at last: */
    const json_t *looked_at;
    takt_mail_smtp *smtp;
    takt_mail_outbox outbox;
    struct mail_sending *sending; /* all that are under way */
    bool closed;
    takt_outage outage; /* of the server */
} takt_mail;

extern const struct argp takt_mail_argp;

/* Reads the files that the options name, and checks what can be checked before the first job.  0,
 * or the exit status after a message. */
int takt_mail_options_read(takt_mail *mail);
void takt_mail_options_free(takt_mail *mail);

#endif
