/*
 * mail.h: what options.c (the command line) and mail.c (the sending) share.
 */
#ifndef TAKT_WORKERS_MAIL_H
#define TAKT_WORKERS_MAIL_H

#include <argp.h>

#include "jobs/frame/outage.h"
#include "letter.h"
#include "outbox.h"
#include "smtp.h"

/* The command line. The strings belong to it. */
typedef struct takt_mail_options {
    const char *server;
    const char *login;
    const char *from, *return_path;
    const char *folder;                /* the folder of a template */
    const char *subject, *text, *html; /* files of a template */
    const char *unsubscribe;
    bool one_click;
    const char *key;    /* for jobs without a key; NULL: none */
    const char *drafts; /* --dry-run's folder; NULL: mails are sent */
    int64_t pause_us;
    /* attempts do not count while the server has been unusable for less than this */
    int64_t outage_us;
} takt_mail_options;

typedef struct takt_mail {
    takt_mail_options options;
    takt_mail_smtp_settings settings;
    takt_mail_letter_settings letters;
    char *subject, *text, *html; /* the content of the template's files; NULL: none */
    takt_mail_letter letter;     /* of the job that was read last */
    const json_t *looked_at;
    takt_mail_smtp *smtp;
    takt_mail_outbox outbox;
    struct mail_sending *sending; /* the list of mails being sent */
    bool closed;
    takt_outage outage; /* of the server */
} takt_mail;

extern const struct argp takt_mail_argp;

/* Reads the files that the options name, and checks the options before the first job. 0, or the
 * exit status after a message. */
int takt_mail_options_read(takt_mail *mail);
void takt_mail_options_free(takt_mail *mail);

#endif
