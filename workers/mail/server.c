/*
 * server.c: parses a server URL and refuses parts that do not belong there. A password on the
 * command line would show in the list of processes.
 */
#include "server.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "address.h"
#include "refuse.h"

#define WRITE "write smtp://HOST:PORT or smtps://HOST:PORT"

static int read_port(const char *text, unsigned otherwise, unsigned *port, takt_error *error)
{
    unsigned long number = otherwise;

    if (*text == ':') {
        size_t digits = strspn(text + 1, "0123456789");
        number = digits > 0 && digits < 6 ? strtoul(text + 1, NULL, 10) : 0;
        text += 1 + digits;
    }
    if (number < 1 || number > 65535)
        return takt_mail_refuse(error, "its port must be a number from 1 to 65535; " WRITE);
    if (*text == '/')
        text++;
    if (*text)
        return takt_mail_refuse(error, "it has text after its host and port; " WRITE);
    *port = (unsigned)number;
    return 0;
}

static bool is_loopback(const char *host)
{
    return strcasecmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (strncmp(host, "127.", 4) == 0 && !host[strspn(host, "0123456789.")]);
}

int takt_mail_server_parse(const char *url, takt_mail_server *server, takt_error *error)
{
    takt_mail_server made = {.tls = strncasecmp(url, "smtps://", 8) == 0};
    takt_error why;
    size_t size;
    int failed;

    if (!made.tls && strncasecmp(url, "smtp://", 7) != 0)
        return takt_mail_refuse(error, "it is not a mail server's URL; " WRITE);
    if (strchr(url, '@'))
        return takt_mail_refuse(
            error, "a URL must not contain user and password, because others can see it; put them "
                   "into $TAKT_SMTP_USER and $TAKT_SMTP_PASSWORD, or into a file for --login");
    const char *host = url + (made.tls ? 8 : 7);
    made.ipv6 = *host == '[';
    host += made.ipv6;
    size = strcspn(host, made.ipv6 ? "]" : ":/");
    if (size == 0 || size >= sizeof(made.host) || (made.ipv6 && host[size] != ']'))
        return takt_mail_refuse(error, "it has no host; " WRITE);
    if (made.ipv6 && strspn(host, "0123456789abcdefABCDEF:.") < size)
        return takt_mail_refuse(error, "the text in brackets is not an IPv6 address; " WRITE);
    if (!made.ipv6 && takt_mail_address_check_domain(host, size, &why) != 0)
        return takt_mail_refuse(error, "%s; " WRITE, why.text);
    memcpy(made.host, host, size);
    failed = read_port(host + size + made.ipv6, made.tls ? 465 : 25, &made.port, error);
    if (failed)
        return failed;
    made.loopback = is_loopback(made.host);
    *server = made;
    return 0;
}

bool takt_mail_server_read_starttls(const char *word, takt_mail_server_starttls *starttls)
{
    static const char *const words[] = {
        [SERVER_STARTTLS_OFF] = "off",
        [SERVER_STARTTLS_TRY] = "try",
        [SERVER_STARTTLS_REQUIRED] = "required",
    };

    for (int i = SERVER_STARTTLS_OFF; i <= SERVER_STARTTLS_REQUIRED; i++)
        if (strcmp(word, words[i]) == 0) {
            *starttls = (takt_mail_server_starttls)i;
            return true;
        }
    return false;
}

takt_mail_server_starttls takt_mail_server_default_starttls(const takt_mail_server *server)
{
    return server->tls || server->loopback ? SERVER_STARTTLS_OFF : SERVER_STARTTLS_REQUIRED;
}
