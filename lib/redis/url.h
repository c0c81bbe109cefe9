/*
 * url.h: the URL of a Redis or Valkey server, including the login:
 *
 *     redis://[USER[:PASSWORD]@]HOST[:PORT][/DB][?OPTIONS]      the same with TLS: rediss://
 *     unix:PATH[?OPTIONS]
 *
 * USER and PASSWORD are percent-encoded, an IPv6 address stands in brackets, options are joined by
 * "&" and percent-encoded, too:
 *
 *     password_file=FILE    the password is the file's first line
 *     scripts=preloaded     never SCRIPT LOAD: somebody else has loaded the scripts
 *     hints=off             no second connection that listens for wake-ups
 *     ca= cert= key=        rediss: trusted authorities, our certificate and key (PEM files)
 *     user= db=             unix: what the other URLs have places for
 *
 * The default password is $TAKT_REDIS_PASSWORD. Messages show only the host, the path and the
 * database of a URL.
 */
#ifndef TAKT_REDIS_URL_H
#define TAKT_REDIS_URL_H

#include <limits.h>
#include <stdbool.h>

#include <takt/error.h>

#define TAKT_REDIS_HOST_MAX   253
#define TAKT_REDIS_SOCKET_MAX 107 /* bytes of a socket's path: the system's maximum */
#define TAKT_REDIS_SECRET_MAX 512
#define TAKT_REDIS_PLACE_SIZE (TAKT_REDIS_HOST_MAX + 40)

typedef enum takt_redis_transport {
    TAKT_REDIS_TCP,
    TAKT_REDIS_TLS,
    TAKT_REDIS_UNIX
} takt_redis_transport;

typedef struct takt_redis_url {
    takt_redis_transport transport;
    char host[TAKT_REDIS_HOST_MAX + 1]; /* a name or an address without brackets */
    int port;
    char path[TAKT_REDIS_SOCKET_MAX + 1]; /* UNIX */
    int db;
    char user[TAKT_REDIS_SECRET_MAX + 1]; /* "": the server's default user */
    char password[TAKT_REDIS_SECRET_MAX + 1];
    bool authenticates; /* the URL or its options give a password */
    bool preloaded;     /* never use SCRIPT LOAD */
    bool hints;
    char password_file[PATH_MAX], ca[PATH_MAX], cert[PATH_MAX], key[PATH_MAX]; /* "": not given */
} takt_redis_url;

/*
 * Parses the part after the scheme. 0, or TAKT_E_STORE_URL with a message that shows nothing of the
 * URL. Reads no file and no environment; *url may be half filled on failure.
 */
int takt_redis_url_parse(takt_redis_url *url, takt_redis_transport transport, const char *rest,
                         takt_error *error);

/* Parses a whole URL; errors as above. */
int takt_redis_url_read(takt_redis_url *url, const char *text, takt_error *error);

/* Finds the password if the URL has none: its file, else the environment. 0, or
 * TAKT_E_STORE_ACCESS. */
int takt_redis_url_find_password(takt_redis_url *url, takt_error *error);

/* The server as shown in messages: "redis://host:6379/0", "unix:/run/redis.sock". */
void takt_redis_url_place(const takt_redis_url *url, char place[TAKT_REDIS_PLACE_SIZE]);

/* Overwrites the secrets. */
void takt_redis_url_close(takt_redis_url *url);

#endif
