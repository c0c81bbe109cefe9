/*
 * smtp.h: sends mails to one server over a few connections that are kept for the next mail.
 *
 * A mail goes to all recipients or to none: if the server refuses one of them, nothing is sent, so
 * that a retry sends no recipient the same mail twice.
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
    takt_mail_login login; /* owned by the caller, who keeps it until the smtp is closed */
    const char *ca;        /* a file of trusted certificates; NULL: the system's */
    const char *hello;     /* the name sent with EHLO; NULL: this host's */
    int64_t timeout_us;    /* of one mail */
    unsigned connections;
} takt_mail_smtp_settings;

typedef enum takt_mail_smtp_end {
    SMTP_REPLIED, /* the server replied to the mail or to a recipient: see `code` */
    SMTP_BROKEN,  /* no readable reply: the mail may have been sent or not */
    SMTP_UNUSABLE /* no connection with these settings: nothing was sent */
} takt_mail_smtp_end;

typedef struct takt_mail_smtp_outcome {
    takt_mail_smtp_end end;
    int code;                  /* of the reply; 0: none */
    char text[SMTP_TEXT_SIZE]; /* the reply in one line of printable ASCII, or the error */
} takt_mail_smtp_outcome;

/* The caller keeps this memory from takt_mail_smtp_send until `done`. */
typedef struct takt_mail_smtp_delivery takt_mail_smtp_delivery;
struct takt_mail_smtp_delivery {
    /* public; the texts must live until `done` */
    const char *from;
    struct curl_slist *recipients;
    const char *message;
    size_t size;
    void (*done)(takt_mail_smtp_delivery *delivery, const takt_mail_smtp_outcome *outcome);
    void *data;
    /* private */
    takt_mail_smtp *smtp;
    takt_mail_smtp_delivery *next; /* the next delivery that waits for a connection */
    CURL *handle;
    size_t sent;
    bool in_mail;   /* the login is done: replies are about the mail */
    bool told_text; /* the server asked for the text */
    bool refused;   /* the server refused the mail */
    bool again;     /* a retry over a new connection, since a kept one had ended */
    bool line_open; /* more lines of the reply follow */
    int other_code; /* the code of a line that differs from the lines before; 0: none */
    takt_mail_smtp_outcome outcome;
    size_t text_size;
    char trouble[CURL_ERROR_SIZE];
};

/* 0, or TAKT_E_NOMEM, TAKT_E_SYSTEM. `settings` must outlive the smtp. */
int takt_mail_smtp_open(takt_mail_smtp **smtp, uv_loop_t *loop,
                        const takt_mail_smtp_settings *settings, takt_error *error);

/* Calls `done` later, never inside this function. False: no memory; `done` will not be called. */
bool takt_mail_smtp_send(takt_mail_smtp *smtp, takt_mail_smtp_delivery *delivery);

/* Notes a line of a reply in the delivery's outcome. False: the result is known, and later lines
 * are ignored. */
bool takt_mail_smtp_note_line(takt_mail_smtp_delivery *delivery, const char *line, size_t size);

/* Drops deliveries under way without calling `done`. */
void takt_mail_smtp_close(takt_mail_smtp *smtp);

#endif
