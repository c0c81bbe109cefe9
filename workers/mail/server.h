/*
 * server.h: the mail server, as the command line names it.
 */
#ifndef TAKT_WORKERS_SERVER_H
#define TAKT_WORKERS_SERVER_H

#include <stdbool.h>

#include <takt/error.h>

#define SERVER_HOST_SIZE 256

typedef enum takt_mail_server_starttls {
    SERVER_STARTTLS_DEFAULT, /* required, except for a server on this host */
    SERVER_STARTTLS_OFF,
    SERVER_STARTTLS_TRY,
    SERVER_STARTTLS_REQUIRED
} takt_mail_server_starttls;

typedef struct takt_mail_server {
    char host[SERVER_HOST_SIZE]; /* without the brackets of an IPv6 address */
    unsigned port;
    bool tls;      /* TLS from the first byte: smtps:// */
    bool loopback; /* the server is on this host */
    bool ipv6;
} takt_mail_server;

/* Reads smtp://HOST[:PORT] (25) or smtps://HOST[:PORT] (465).  0, or TAKT_E_INVALID and why. */
int takt_mail_server_parse(const char *url, takt_mail_server *server, takt_error *error);

/* Reads required, try or off. False: another word. */
bool takt_mail_server_read_starttls(const char *word, takt_mail_server_starttls *starttls);

/* The default for this server. */
takt_mail_server_starttls takt_mail_server_default_starttls(const takt_mail_server *server);

#endif
