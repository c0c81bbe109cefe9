/*
 * url.h: the URL of a Redis or Valkey server, including the login:
 *
 *     redis://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...][/DB][?OPTIONS]
 *                                                               the same with TLS: rediss://
 *     redis-sentinel://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...]/NAME[/DB][?OPTIONS]
 *                                              the primary NAME of these Sentinels; with TLS to
 *                                              them and to the servers: rediss-sentinel://
 *     unix:PATH[?OPTIONS]
 *
 * USER and PASSWORD are percent-encoded, an IPv6 address stands in brackets, options are joined by
 * "&" and percent-encoded, too:
 *
 *     password_file=FILE    the password is the file's first line
 *     scripts=preloaded     never SCRIPT LOAD: somebody else has loaded the scripts
 *     hints=off             no second connection that listens for wake-ups
 *     cluster=no            never follow a cluster to its other nodes
 *     replicas=N            an award counts only if N replicas have it (docs/redis.md)
 *     replica_timeout=      ... within this time; default: 100ms
 *     ca= cert= key=        rediss: trusted authorities, our certificate and key (PEM files)
 *     user= db=             unix: what the other URLs have places for
 *     sentinel_user= sentinel_password_file=      the login at the Sentinels
 *
 * Several hosts are nodes of one cluster; any node that answers names the others.
 *
 * The default password is $TAKT_REDIS_PASSWORD. Messages show only the host, the path and the
 * database of a URL.
 */
#ifndef TAKT_REDIS_URL_H
#define TAKT_REDIS_URL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include <takt/error.h>

#define TAKT_REDIS_HOST_MAX     253
#define TAKT_REDIS_SOCKET_MAX   107 /* bytes of a socket's path: the system's maximum */
#define TAKT_REDIS_SECRET_MAX   512
#define TAKT_REDIS_NAME_MAX     127 /* bytes of a primary's name at Sentinels */
#define TAKT_REDIS_ADDRESS_SIZE (TAKT_REDIS_HOST_MAX + TAKT_REDIS_NAME_MAX + 40)
#define TAKT_REDIS_SEEDS_MAX    9

typedef enum takt_redis_transport {
    TAKT_REDIS_TCP,
    TAKT_REDIS_TLS,
    TAKT_REDIS_UNIX
} takt_redis_transport;

/* Where a server is. */
typedef struct takt_redis_address {
    char host[TAKT_REDIS_HOST_MAX + 1]; /* a name or an address without brackets */
    int port;
} takt_redis_address;

typedef struct takt_redis_url {
    takt_redis_transport transport;
    char host[TAKT_REDIS_HOST_MAX + 1]; /* as of an address; "" until Sentinels have named it */
    int port;
    char path[TAKT_REDIS_SOCKET_MAX + 1]; /* UNIX */
    int db;
    char user[TAKT_REDIS_SECRET_MAX + 1]; /* "": the server's default user */
    char password[TAKT_REDIS_SECRET_MAX + 1];
    bool authenticates; /* the URL or its options give a password */
    bool preloaded;     /* never use SCRIPT LOAD */
    bool hints;
    bool cluster;                          /* follows a cluster to its other nodes */
    int replicas;                          /* needed to use an award; 0: none */
    int replica_timeout_ms;                /* 0 without replicas */
    char primary[TAKT_REDIS_NAME_MAX + 1]; /* its name at Sentinels; "": not from Sentinels */
    takt_redis_address seeds[TAKT_REDIS_SEEDS_MAX]; /* the Sentinels, or the hosts listed */
    int seed_count;
    char sentinel_user[TAKT_REDIS_SECRET_MAX + 1], sentinel_password[TAKT_REDIS_SECRET_MAX + 1];
    char sentinel_password_file[PATH_MAX];
    char password_file[PATH_MAX], ca[PATH_MAX], cert[PATH_MAX], key[PATH_MAX]; /* "": not given */
} takt_redis_url;

/* Whether the URL lists several nodes of a cluster. */
static inline bool takt_redis_url_lists_nodes(const takt_redis_url *url)
{
    return url->seed_count > 1 && url->primary[0] == '\0';
}

/*
 * Parses the part after the scheme; `sentinels`: it is one of Sentinels. 0, or TAKT_E_STORE_URL
 * with a message that shows nothing of the URL. Reads no file and no environment; *url may be half
 * filled on failure.
 */
int takt_redis_url_parse(takt_redis_url *url, takt_redis_transport transport, bool sentinels,
                         const char *rest, takt_error *error);

/* Parses a whole URL; errors as above. */
int takt_redis_url_read(takt_redis_url *url, const char *text, takt_error *error);

/* Whether that is the name or the address of a host, the address without brackets. */
bool takt_redis_is_host(const char *text, size_t size);

/* Finds the password if the URL has none: its file, else the environment; and the one of Sentinels.
 * 0, or TAKT_E_STORE_ACCESS. */
int takt_redis_url_find_password(takt_redis_url *url, takt_error *error);

/* The server as shown in messages: "redis://host:6379/0", "unix:/run/redis.sock", and before
 * Sentinels have named it "redis-sentinel://s1:26379/NAME/0". */
void takt_redis_url_address(const takt_redis_url *url, char address[TAKT_REDIS_ADDRESS_SIZE]);

/* Overwrites the secrets. */
void takt_redis_url_close(takt_redis_url *url);

#endif
