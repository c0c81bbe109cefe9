/*
 * smtp.h: mails to one server, over a few connections that are kept for the next mail.
 *
 * All recipients or none: where the server refuses one of them, nothing is sent, so that a mail
 * that is tried again reaches nobody twice.
 */
#ifndef TAKT_WORKERS_SMTP_H
#define TAKT_WORKERS_SMTP_H

#include <stdint.h>

#include <curl/curl.h>
#include <uv.h>

#include "login.h"
#include "server.h"

#define SMTP_TEXT_SIZE 400

typedef struct takt_mail_smtp takt_mail_smtp;

typedef struct takt_mail_smtp_settings {
    takt_mail_server server;
    takt_mail_server_starttls starttls;
    takt_mail_login login; /* belongs to whoever set it, and outlives the smtp */
    const char *ca;        /* a file of certificates that are trusted; NULL: the system's */
    const char *hello;     /* the name that we say; NULL: this host's */
    int64_t timeout_us;    /* of one mail */
    unsigned connections;
} takt_mail_smtp_settings;

typedef enum takt_mail_smtp_end {
    SMTP_REPLIED, /* the server replied to the mail, or to a recipient: `code` says what */
    SMTP_BROKEN,  /* no reply that can be read: the mail may have been sent, or not */
    SMTP_UNUSABLE /* no connection as the settings want it: nothing was sent */
} takt_mail_smtp_end;

typedef struct takt_mail_smtp_outcome {
    takt_mail_smtp_end end;
    int code;                  /* of the reply; 0 */
    char text[SMTP_TEXT_SIZE]; /* the reply in one line of printable ASCII, or what was wrong */
} takt_mail_smtp_outcome;

/* The caller's memory, from takt_mail_smtp_send until `done`. */
typedef struct takt_mail_smtp_delivery takt_mail_smtp_delivery;
struct takt_mail_smtp_delivery {
    /* public; what they point to lives as long */
    const char *from;
    struct curl_slist *recipients;
    const char *message;
    size_t size;
    void (*done)(takt_mail_smtp_delivery *delivery, const takt_mail_smtp_outcome *outcome);
    void *data;
    /* private */
    takt_mail_smtp *smtp;
    takt_mail_smtp_delivery *next; /* that waits for a connection */
    CURL *handle;
    size_t sent;
    bool in_mail;   /* the server knows us and hears of the mail now */
    bool told_text; /* and wants the text */
    bool refused;   /* and wants no more of it */
    bool again;     /* over a new connection, since an old one had ended */
    bool line_open; /* the reply goes on */
    int other_code; /* of a line of the reply that disagrees with the lines before it; 0: none */
    takt_mail_smtp_outcome outcome;
    size_t text_size;
    char trouble[CURL_ERROR_SIZE];
};

/* 0, or TAKT_E_NOMEM, TAKT_E_SYSTEM.  `settings` must outlive it. */
int takt_mail_smtp_open(takt_mail_smtp **smtp, uv_loop_t *loop,
                        const takt_mail_smtp_settings *settings, takt_error *error);

/* `done` comes later, never inside.  false: no memory, and it will not come. */
bool takt_mail_smtp_send(takt_mail_smtp *smtp, takt_mail_smtp_delivery *delivery);

/* A line of a reply as it comes, noted in the delivery's outcome.  False: the server has said all
 * that counts, and is not listened to any more. */
bool takt_mail_smtp_note_line(takt_mail_smtp_delivery *delivery, const char *line, size_t size);

/* What is under way is dropped without its `done`. */
void takt_mail_smtp_close(takt_mail_smtp *smtp);

#endif
