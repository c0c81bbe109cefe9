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

typedef struct mail_smtp mail_smtp;

typedef struct smtp_settings {
    mail_server server;
    server_starttls starttls;
    mail_login login;   /* belongs to whoever set it, and outlives the smtp */
    const char *ca;     /* a file of certificates that are trusted; NULL: the system's */
    const char *hello;  /* the name that we say; NULL: this host's */
    int64_t timeout_us; /* of one mail */
    unsigned connections;
} smtp_settings;

typedef enum smtp_end {
    SMTP_REPLIED, /* the server replied to the mail, or to a recipient: `code` says what */
    SMTP_BROKEN,  /* the connection ended in the middle: the mail may have been sent, or not */
    SMTP_UNUSABLE /* no connection as the settings want it: nothing was sent */
} smtp_end;

typedef struct smtp_outcome {
    smtp_end end;
    int code;                  /* of the reply; 0 */
    char text[SMTP_TEXT_SIZE]; /* the reply in one line of printable ASCII, or what was wrong */
} smtp_outcome;

/* The caller's memory, from smtp_send until `done`. */
typedef struct smtp_delivery smtp_delivery;
struct smtp_delivery {
    /* public; what they point to lives as long */
    const char *from;
    struct curl_slist *recipients;
    const char *message;
    size_t size;
    void (*done)(smtp_delivery *delivery, const smtp_outcome *outcome);
    void *data;
    /* private */
    mail_smtp *smtp;
    smtp_delivery *next; /* that waits for a connection */
    CURL *handle;
    size_t sent;
    bool in_mail;   /* the server knows us and hears of the mail now */
    bool told_text; /* and wants the text */
    bool refused;   /* and wants no more of it */
    bool again;     /* over a new connection, since an old one had ended */
    bool line_open; /* the reply goes on */
    smtp_outcome outcome;
    size_t text_size;
    char trouble[CURL_ERROR_SIZE];
};

/* 0, or TAKT_E_NOMEM, TAKT_E_SYSTEM.  `settings` must outlive it. */
int smtp_open(mail_smtp **smtp, uv_loop_t *loop, const smtp_settings *settings, takt_error *error);

/* `done` comes later, never inside.  false: no memory, and it will not come. */
bool smtp_send(mail_smtp *smtp, smtp_delivery *delivery);

/* What is under way is dropped without its `done`. */
void smtp_close(mail_smtp *smtp);

#endif
