/*
 * url.c: see url.h. Decides which URLs are well-formed. A malformed URL may have its password in
 * any part, so messages name the wrong part and its correct form, and quote nothing.
 */
#include "redis/url.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/time_text.h"

#define PASSWORD_VARIABLE "TAKT_REDIS_PASSWORD"
#define DEFAULT_PORT      6379
#define DB_MAX            99999

#define HOW_TO_WRITE "write redis://[USER[:PASSWORD]@]HOST[:PORT][/DB][?OPTIONS]"
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

/* HOST[:PORT] or [ADDRESS][:PORT] */
static int read_host(takt_redis_url *url, part from, takt_error *error)
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
    memcpy(url->host, host.at, host.size);
    url->host[host.size] = '\0';
    url->port = port.at ? read_number(port, 65535) : DEFAULT_PORT;
    if (url->port < 1)
        return bad(error, "a port is a number from 1 to 65535; " HOW_TO_ENCODE);
    return 0;
}

/* [USER[:PASSWORD]@]HOST[:PORT][/DB] */
static int read_server(takt_redis_url *url, part from, takt_error *error)
{
    part login = {from.at, 0}, password, server = from, db;

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
            return bad(error, "the password is empty: leave the \":\" out");
        if (memchr(login.at, '/', login.size) || memchr(login.at, '@', login.size))
            return bad(error, HOW_TO_ENCODE);
    }
    server = cut(server, '/', &db);
    if (db.size > 0 && (url->db = read_number(db, DB_MAX)) < 0)
        return bad(error,
                   "after the host there is the number of a database, as in /0; " HOW_TO_ENCODE);
    return read_host(url, server, error);
}

static int read_path(takt_redis_url *url, part from, takt_error *error)
{
    if (from.size >= 2 && memcmp(from.at, "//", 2) == 0) { /* unix:///PATH */
        from.at += 2;
        from.size -= 2;
        if (from.size == 0 || from.at[0] != '/')
            return bad(error, "a socket lies on this host: write unix:PATH or unix:///PATH");
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

static int read_option(takt_redis_url *url, part name, part value, takt_error *error)
{
    const struct {
        const char *name;
        takt_redis_transport transport;
        char *text;
        size_t size;
    } texts[] = {
        {"ca", TAKT_REDIS_TLS, url->ca, sizeof url->ca},
        {"cert", TAKT_REDIS_TLS, url->cert, sizeof url->cert},
        {"key", TAKT_REDIS_TLS, url->key, sizeof url->key},
        {"user", TAKT_REDIS_UNIX, url->user, sizeof url->user},
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (is(name, texts[i].name) && url->transport == texts[i].transport)
            return read_text(value, texts[i].text, texts[i].size, texts[i].name, error);
    if (is(name, "password_file"))
        return read_text(value, url->password_file, sizeof url->password_file, "password_file",
                         error);
    if (is(name, "scripts") && is(value, "preloaded")) {
        url->preloaded = true;
        return 0;
    }
    if (is(name, "hints") && is(value, "off")) {
        url->hints = false;
        return 0;
    }
    if (is(name, "db") && url->transport == TAKT_REDIS_UNIX) {
        url->db = read_number(value, DB_MAX);
        return url->db >= 0 ? 0 : bad(error, "db= takes the number of a database");
    }
    return bad(error, url->transport == TAKT_REDIS_TLS
                          ? "the options of rediss:// are ca=, cert=, key=, password_file=, "
                            "scripts=preloaded and hints=off; " HOW_TO_ENCODE
                      : url->transport == TAKT_REDIS_UNIX
                          ? "the options of unix: are user=, db=, password_file=, "
                            "scripts=preloaded and hints=off"
                          : "the options of redis:// are password_file=, scripts=preloaded and "
                            "hints=off (those of TLS belong to rediss://); " HOW_TO_ENCODE);
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

int takt_redis_url_parse(takt_redis_url *url, takt_redis_transport transport, const char *rest,
                         takt_error *error)
{
    part options;
    part server = cut((part){rest, strlen(rest)}, '?', &options);
    int code;

    memset(url, 0, sizeof *url);
    url->transport = transport;
    url->hints = true;
    if (memchr(rest, '#', strlen(rest)))
        return bad(error, "a store's URL has no \"#\"; " HOW_TO_ENCODE);
    code = transport == TAKT_REDIS_UNIX ? read_path(url, server, error)
                                        : read_server(url, server, error);
    if (code == 0)
        code = read_options(url, options, error);
    if (code < 0)
        return code;
    if (url->authenticates && url->password_file[0] != '\0')
        return bad(error, "there is a password and a password_file: write one of them");
    if ((url->cert[0] != '\0') != (url->key[0] != '\0'))
        return bad(error, "cert= and key= go together");
    return 0;
}

int takt_redis_url_read(takt_redis_url *url, const char *text, takt_error *error)
{
    static const struct {
        const char *scheme;
        takt_redis_transport transport;
    } schemes[] = {
        {"redis://", TAKT_REDIS_TCP}, {"rediss://", TAKT_REDIS_TLS}, {"unix:", TAKT_REDIS_UNIX}};

    for (size_t i = 0; text != NULL && i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t size = strlen(schemes[i].scheme);
        if (strncmp(text, schemes[i].scheme, size) == 0)
            return takt_redis_url_parse(url, schemes[i].transport, text + size, error);
    }
    return takt_fail(error, TAKT_E_STORE_URL,
                     "a Redis or Valkey server is needed: write redis://HOST:PORT, "
                     "rediss://HOST:PORT or unix:PATH");
}

/* ---- the password ---------------------------------------------------------------------------- */

static int read_password_file(takt_redis_url *url, takt_error *error)
{
    int fd = open(url->password_file, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, url->password, sizeof url->password);
    int number = errno;
    char *end;

    if (fd >= 0)
        close(fd);
    if (size < 0) {
        url->password[0] = '\0';
        return takt_fail(error, TAKT_E_STORE_ACCESS, "redis: cannot read the password_file: %s",
                         strerror(number));
    }
    end = memchr(url->password, '\n', (size_t)size);
    if (end)
        size = end - url->password;
    if (size > 0 && url->password[size - 1] == '\r')
        size--;
    if (size == 0 || size > TAKT_REDIS_SECRET_MAX)
        return takt_fail(
            error, TAKT_E_STORE_ACCESS,
            "redis: the first line of the password_file is the password, 1 to %d bytes",
            TAKT_REDIS_SECRET_MAX);
    url->password[size] = '\0';
    return 0;
}

int takt_redis_url_find_password(takt_redis_url *url, takt_error *error)
{
    const char *secret = getenv(PASSWORD_VARIABLE);

    if (url->authenticates)
        return 0;
    if (url->password_file[0] != '\0') {
        int code = read_password_file(url, error);
        if (code < 0)
            return code;
    } else if (secret != NULL && secret[0] != '\0') {
        if (strlen(secret) > TAKT_REDIS_SECRET_MAX)
            return takt_fail(error, TAKT_E_STORE_ACCESS,
                             "redis: the password in $" PASSWORD_VARIABLE
                             " is longer than %d bytes",
                             TAKT_REDIS_SECRET_MAX);
        memcpy(url->password, secret, strlen(secret) + 1);
    } else if (url->user[0] != '\0') {
        return takt_fail(error, TAKT_E_STORE_ACCESS,
                         "redis: there is a user but no password: set $" PASSWORD_VARIABLE
                         ", or name a file with ?password_file=FILE");
    } else {
        return 0;
    }
    url->authenticates = true;
    return 0;
}

void takt_redis_url_place(const takt_redis_url *url, char place[TAKT_REDIS_PLACE_SIZE])
{
    bool address = strchr(url->host, ':') != NULL;

    if (url->transport == TAKT_REDIS_UNIX)
        snprintf(place, TAKT_REDIS_PLACE_SIZE, "unix:%s", url->path);
    else
        snprintf(place, TAKT_REDIS_PLACE_SIZE, "%s://%s%s%s:%d/%d",
                 url->transport == TAKT_REDIS_TLS ? "rediss" : "redis", address ? "[" : "",
                 url->host, address ? "]" : "", url->port, url->db);
}

void takt_redis_url_close(takt_redis_url *url)
{
    explicit_bzero(url->user, sizeof url->user);
    explicit_bzero(url->password, sizeof url->password);
}
