/*
 * url.c: see url.h. Decides which URLs are well-formed. A malformed URL may have its password in
 * any part, so messages name the wrong part and its correct form, and quote nothing.
 */
#include "redis/url.h"

#include <stdio.h>
#include <string.h>

#include <takt/policy.h>

#include "base/fail.h"
#include "base/time_text.h"

#define DEFAULT_PORT  6379
#define SENTINEL_PORT 26379
#define DB_MAX        99999

#define REPLICAS_MAX           99
#define REPLICA_TIMEOUT_MS     100 /* the default */
#define REPLICA_TIMEOUT_MAX_US INT64_C(10000000)

#define HOW_TO_WRITE "write redis://[USER[:PASSWORD]@]HOST[:PORT][,HOST...][/DB][?OPTIONS]"
#define HOW_TO_WRITE_SENTINELS                                                                     \
    "write redis-sentinel://[USER[:PASSWORD]@]HOST[:PORT],HOST[:PORT]/NAME[/DB][?OPTIONS]"
#define HOW_TO_ENCODE                                                                              \
    "in a user's name or a password, : / ? # @ & and % are written %3A %2F %3F %23 %40 %26 %25"

/* A part of the URL. */
typedef struct part {
    const char *at;
    size_t size;
} part;

static int bad(takt_error *error, const char *what)
{
    return takt_fail(error, TAKT_E_STORE_URL, "redis: %s", what);
}

/* The part before `stop`; *rest is the part after it, or empty. */
static part cut(part whole, char stop, part *rest)
{
    const char *found = whole.size > 0 ? memchr(whole.at, stop, whole.size) : NULL;
    size_t size = found ? (size_t)(found - whole.at) : whole.size;

    *rest = found ? (part){found + 1, whole.size - size - 1} : (part){whole.at + size, 0};
    return (part){whole.at, size};
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes %XX. False: malformed, a NUL, or too long. */
static bool decode(part from, char *text, size_t text_size)
{
    size_t size = 0;

    for (size_t i = 0; i < from.size; i++) {
        char c = from.at[i];
        if (c == '%') {
            int high = i + 2 < from.size ? hex_digit(from.at[i + 1]) : -1;
            int low = i + 2 < from.size ? hex_digit(from.at[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high << 4 | low);
            i += 2;
        }
        if (c == '\0' || size + 1 >= text_size)
            return false;
        text[size++] = c;
    }
    text[size] = '\0';
    return true;
}

static int read_number(part from, int max)
{
    char digits[8];
    int64_t value;

    if (from.size == 0 || from.size >= sizeof digits)
        return -1;
    memcpy(digits, from.at, from.size);
    digits[from.size] = '\0';
    return takt_parse_whole(digits, max, &value) == 0 ? (int)value : -1;
}

/* ---- the parts ------------------------------------------------------------------------------- */

static bool is_in_host(char c, bool brackets)
{
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.')
        return true;
    return brackets ? c == ':' || c == '%' : c == '-' || c == '_';
}

/* A name, or in brackets an address with colons. An address without brackets would be shown as a
 * name. */
static bool is_host(part host, bool brackets)
{
    for (size_t i = 0; i < host.size; i++)
        if (!is_in_host(host.at[i], brackets))
            return false;
    return !brackets || memchr(host.at, ':', host.size) != NULL;
}

bool takt_redis_is_host(const char *text, size_t size)
{
    return size > 0 && size <= TAKT_REDIS_HOST_MAX &&
           is_host((part){text, size}, memchr(text, ':', size) != NULL);
}

/* HOST[:PORT] or [ADDRESS][:PORT] */
static int read_host(part from, int default_port, takt_redis_address *seed, takt_error *error)
{
    bool brackets = from.size > 0 && from.at[0] == '[';
    part host, port;

    if (brackets) {
        const char *close = memchr(from.at, ']', from.size);
        if (!close)
            return bad(error, "an address that begins with \"[\" ends with \"]\"");
        host = (part){from.at + 1, (size_t)(close - from.at) - 1};
        port = (part){close + 1, from.size - host.size - 2};
        if (port.size > 0 && port.at[0] != ':')
            return bad(error, "after \"]\" there is \":PORT\" or nothing");
        if (port.size > 0)
            port = (part){port.at + 1, port.size - 1};
        else
            port.at = NULL;
    } else {
        host = cut(from, ':', &port);
        if (host.size == from.size)
            port.at = NULL;
    }
    if (host.size == 0 || host.size > TAKT_REDIS_HOST_MAX)
        return bad(error, "there is no host; " HOW_TO_WRITE "; " HOW_TO_ENCODE);
    if (!is_host(host, brackets))
        return bad(error, "a host's name has letters, digits, \".\", \"-\" and \"_\", an IPv6 "
                          "address stands in brackets; " HOW_TO_ENCODE);
    memcpy(seed->host, host.at, host.size);
    seed->host[host.size] = '\0';
    seed->port = port.at ? read_number(port, 65535) : default_port;
    if (seed->port < 1)
        return bad(error, "a port is a number from 1 to 65535; " HOW_TO_ENCODE);
    return 0;
}

static int read_db(takt_redis_url *url, part db, takt_error *error)
{
    if (db.size > 0 && (url->db = read_number(db, DB_MAX)) < 0)
        return bad(error, "the number of a database comes last, as in /0; " HOW_TO_ENCODE);
    return 0;
}

/* HOST[:PORT][,HOST[:PORT]...] */
static int read_seeds(takt_redis_url *url, part hosts, int default_port, takt_error *error)
{
    part rest = hosts, host;
    int code;

    do {
        hosts = rest;
        host = cut(hosts, ',', &rest);
        if (url->seed_count == TAKT_REDIS_SEEDS_MAX)
            return bad(error, "there are more than 9 hosts: name at most 9");
        code = read_host(host, default_port, &url->seeds[url->seed_count++], error);
    } while (code == 0 && host.size < hosts.size);
    return code;
}

/* HOST[:PORT][,HOST[:PORT]...][/DB] */
static int read_hosts(takt_redis_url *url, part from, takt_error *error)
{
    part db, hosts = cut(from, '/', &db);
    int code;

    if (hosts.size == 0 && db.size > 0)
        return bad(error, "there is no host; a socket is written unix:/PATH; " HOW_TO_WRITE);
    code = read_db(url, db, error);
    if (code == 0)
        code = read_seeds(url, hosts, DEFAULT_PORT, error);
    memcpy(url->host, url->seeds[0].host, sizeof url->host);
    url->port = url->seeds[0].port;
    return code;
}

/* HOST[:PORT],HOST[:PORT]/NAME[/DB] */
static int read_sentinels(takt_redis_url *url, part from, takt_error *error)
{
    part path, hosts = cut(from, '/', &path), db;
    part name = cut(path, '/', &db);
    int code;

    if (name.size == 0 || !decode(name, url->primary, sizeof url->primary))
        return bad(error, "the name of the primary follows the Sentinels, "
                          "as in /mymaster; " HOW_TO_WRITE_SENTINELS);
    for (size_t i = 0; url->primary[i] != '\0'; i++)
        if (url->primary[i] <= ' ' || url->primary[i] == 0x7f)
            return bad(error, "the name of a primary has no blanks");
    code = read_seeds(url, hosts, SENTINEL_PORT, error);
    return code == 0 ? read_db(url, db, error) : code;
}

/* [USER[:PASSWORD]@]SERVER */
static int read_server(takt_redis_url *url, bool sentinels, part from, takt_error *error)
{
    part login = {from.at, 0}, password, server = from;

    for (size_t i = 0; i < from.size; i++)
        if (from.at[i] == '@') {
            login.size = i;
            server = (part){from.at + i + 1, from.size - i - 1};
        }
    if (server.at > from.at) {
        part user = cut(login, ':', &password);
        url->authenticates = user.size < login.size;
        if (!decode(user, url->user, sizeof url->user) ||
            !decode(password, url->password, sizeof url->password))
            return bad(error,
                       "the user or the password is badly encoded or too long; " HOW_TO_ENCODE);
        if (url->authenticates && url->password[0] == '\0')
            return bad(error, "the password is empty: remove the \":\"");
        if (memchr(login.at, '/', login.size) || memchr(login.at, '@', login.size))
            return bad(error, HOW_TO_ENCODE);
    }
    return sentinels ? read_sentinels(url, server, error) : read_hosts(url, server, error);
}

static int read_path(takt_redis_url *url, part from, takt_error *error)
{
    if (from.size >= 2 && memcmp(from.at, "//", 2) == 0) { /* unix:///PATH */
        from.at += 2;
        from.size -= 2;
        if (from.size == 0 || from.at[0] != '/')
            return bad(error, "a socket is on this host: write unix:PATH or unix:///PATH");
    }
    if (from.size == 0 || from.size > TAKT_REDIS_SOCKET_MAX)
        return bad(error, "write unix:PATH, the path of the server's socket, at most 107 bytes");
    memcpy(url->path, from.at, from.size);
    url->path[from.size] = '\0';
    return 0;
}

/* ---- the options ----------------------------------------------------------------------------- */

static int read_text(part value, char *text, size_t size, const char *name, takt_error *error)
{
    if (text[0] != '\0')
        return takt_fail(error, TAKT_E_STORE_URL, "redis: the option %s is given twice", name);
    if (value.size == 0 || !decode(value, text, size))
        return takt_fail(error, TAKT_E_STORE_URL,
                         "redis: the option %s is empty, badly encoded or too long", name);
    return 0;
}

static bool is(part what, const char *word)
{
    return what.size == strlen(word) && memcmp(what.at, word, what.size) == 0;
}

/* Whole milliseconds; outputs untouched on failure. */
static int read_replica_timeout(takt_redis_url *url, part value, takt_error *error)
{
    char text[16];
    int64_t us;

    if (value.size == 0 || value.size >= sizeof text || !decode(value, text, sizeof text) ||
        takt_parse_duration(text, &us, NULL) < 0 || us < 1000 || us % 1000 != 0 ||
        us > REPLICA_TIMEOUT_MAX_US)
        return bad(error, "replica_timeout= takes a time from 1ms to 10s, as in 100ms");
    url->replica_timeout_ms = (int)(us / 1000);
    return 0;
}

/* An option whose value is kept as it is.  False: it is none, or not one of this URL. */
static bool read_kept(takt_redis_url *url, part name, part value, takt_error *error, int *code)
{
    bool tls = url->transport == TAKT_REDIS_TLS, sentinels = url->primary[0] != '\0';
    const struct {
        const char *name;
        bool allowed;
        char *text;
        size_t size;
    } texts[] = {
        {"ca", tls, url->ca, sizeof url->ca},
        {"cert", tls, url->cert, sizeof url->cert},
        {"key", tls, url->key, sizeof url->key},
        {"user", url->transport == TAKT_REDIS_UNIX, url->user, sizeof url->user},
        {"sentinel_user", sentinels, url->sentinel_user, sizeof url->sentinel_user},
        {"sentinel_password_file", sentinels, url->sentinel_password_file,
         sizeof url->sentinel_password_file},
        {"password_file", true, url->password_file, sizeof url->password_file},
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (is(name, texts[i].name) && texts[i].allowed) {
            *code = read_text(value, texts[i].text, texts[i].size, texts[i].name, error);
            return true;
        }
    return false;
}

/* An option with a single possible value. */
static bool read_switch(takt_redis_url *url, part name, part value)
{
    if (is(name, "scripts") && is(value, "preloaded"))
        url->preloaded = true;
    else if (is(name, "cluster") && is(value, "no") && url->primary[0] == '\0')
        url->cluster = false;
    else if (is(name, "hints") && is(value, "off"))
        url->hints = false;
    else
        return false;
    return true;
}

static int refuse_option(const takt_redis_url *url, takt_error *error)
{
    return bad(
        error,
        url->primary[0] != '\0'
            ? "the options of Sentinels are sentinel_user=, sentinel_password_file=, "
              "password_file=, scripts=preloaded, hints=off, replicas= and replica_timeout=, with "
              "rediss-sentinel:// also ca=, cert= and key=; " HOW_TO_ENCODE
        : url->transport == TAKT_REDIS_TLS
            ? "the options of rediss:// are ca=, cert=, key=, password_file=, "
              "scripts=preloaded, hints=off, replicas=, replica_timeout= and "
              "cluster=no; " HOW_TO_ENCODE
        : url->transport == TAKT_REDIS_UNIX
            ? "the options of unix: are user=, db=, password_file=, "
              "scripts=preloaded, hints=off, replicas=, replica_timeout= and cluster=no"
            : "the options of redis:// are password_file=, scripts=preloaded, "
              "hints=off, replicas=, replica_timeout= and cluster=no (those of TLS belong to "
              "rediss://); " HOW_TO_ENCODE);
}

static int read_option(takt_redis_url *url, part name, part value, takt_error *error)
{
    int code;

    if (read_kept(url, name, value, error, &code))
        return code;
    if (read_switch(url, name, value))
        return 0;
    if (is(name, "replicas")) {
        url->replicas = read_number(value, REPLICAS_MAX);
        return url->replicas > 0 ? 0 : bad(error, "replicas= takes a number from 1 to 99");
    }
    if (is(name, "replica_timeout"))
        return read_replica_timeout(url, value, error);
    if (is(name, "db") && url->transport == TAKT_REDIS_UNIX) {
        url->db = read_number(value, DB_MAX);
        return url->db >= 0 ? 0 : bad(error, "db= takes the number of a database");
    }
    return refuse_option(url, error);
}

static int read_options(takt_redis_url *url, part from, takt_error *error)
{
    while (from.size > 0) {
        part value, rest;
        part name = cut(cut(from, '&', &rest), '=', &value);
        int code = read_option(url, name, value, error);
        if (code < 0)
            return code;
        from = rest;
    }
    return 0;
}

int takt_redis_url_parse(takt_redis_url *url, takt_redis_transport transport, bool sentinels,
                         const char *rest, takt_error *error)
{
    part options;
    part server = cut((part){rest, strlen(rest)}, '?', &options);
    int code;

    memset(url, 0, sizeof *url);
    url->transport = transport;
    url->hints = url->cluster = true;
    if (memchr(rest, '#', strlen(rest)))
        return bad(error, "a store's URL has no \"#\"; " HOW_TO_ENCODE);
    code = transport == TAKT_REDIS_UNIX ? read_path(url, server, error)
                                        : read_server(url, sentinels, server, error);
    if (code == 0)
        code = read_options(url, options, error);
    if (code < 0)
        return code;
    if (url->authenticates && url->password_file[0] != '\0')
        return bad(error, "there is a password and a password_file: write one of them");
    if (url->replica_timeout_ms > 0 && url->replicas == 0)
        return bad(error, "replica_timeout= needs replicas=");
    if (url->replicas > 0 && url->replica_timeout_ms == 0)
        url->replica_timeout_ms = REPLICA_TIMEOUT_MS;
    if (url->sentinel_user[0] != '\0' && url->sentinel_password_file[0] == '\0')
        return bad(error, "sentinel_user= needs sentinel_password_file=");
    if (takt_redis_url_lists_nodes(url) && !url->cluster)
        return bad(error,
                   "several hosts are nodes of a cluster: with cluster=no write one of them");
    if (takt_redis_url_lists_nodes(url) && url->db != 0)
        return bad(error, "several hosts are nodes of a cluster, which has no numbered databases: "
                          "remove the number");
    if ((url->cert[0] != '\0') != (url->key[0] != '\0'))
        return bad(error, "cert= and key= go together");
    return 0;
}

int takt_redis_url_read(takt_redis_url *url, const char *text, takt_error *error)
{
    static const struct {
        const char *scheme;
        takt_redis_transport transport;
        bool sentinels;
    } schemes[] = {
        {"redis://", TAKT_REDIS_TCP, false},         {"rediss://", TAKT_REDIS_TLS, false},
        {"redis-sentinel://", TAKT_REDIS_TCP, true}, {"rediss-sentinel://", TAKT_REDIS_TLS, true},
        {"unix:", TAKT_REDIS_UNIX, false},
    };

    for (size_t i = 0; text != NULL && i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t size = strlen(schemes[i].scheme);
        if (strncmp(text, schemes[i].scheme, size) == 0)
            return takt_redis_url_parse(url, schemes[i].transport, schemes[i].sentinels,
                                        text + size, error);
    }
    return takt_fail(error, TAKT_E_STORE_URL,
                     "a Redis or Valkey server is needed: write redis://HOST:PORT, "
                     "rediss://HOST:PORT, redis-sentinel://HOST:PORT/NAME or unix:PATH");
}

/* HOST:PORT, an address in brackets */
static void write_host(char *text, size_t size, const char *host, int port)
{
    bool address = strchr(host, ':') != NULL;

    snprintf(text, size, "%s%s%s:%d", address ? "[" : "", host, address ? "]" : "", port);
}

void takt_redis_url_address(const takt_redis_url *url, char address[TAKT_REDIS_ADDRESS_SIZE])
{
    const char *scheme = url->transport == TAKT_REDIS_TLS ? "rediss" : "redis";
    char host[TAKT_REDIS_HOST_MAX + 10];

    if (url->transport == TAKT_REDIS_UNIX) {
        snprintf(address, TAKT_REDIS_ADDRESS_SIZE, "unix:%s", url->path);
    } else if (url->host[0] == '\0' && url->primary[0] != '\0') {
        write_host(host, sizeof host, url->seeds[0].host, url->seeds[0].port);
        snprintf(address, TAKT_REDIS_ADDRESS_SIZE, "%s-sentinel://%s/%s/%d", scheme, host,
                 url->primary, url->db);
    } else {
        write_host(host, sizeof host, url->host, url->port);
        snprintf(address, TAKT_REDIS_ADDRESS_SIZE, "%s://%s/%d", scheme, host, url->db);
    }
}

void takt_redis_url_close(takt_redis_url *url)
{
    explicit_bzero(url->user, sizeof url->user);
    explicit_bzero(url->password, sizeof url->password);
    explicit_bzero(url->sentinel_user, sizeof url->sentinel_user);
    explicit_bzero(url->sentinel_password, sizeof url->sentinel_password);
}
