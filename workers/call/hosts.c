/*
 * hosts.c: see hosts.h.  An IPv4 address is compared as the IPv6 address that it is mapped to, so
 * that each address has one form.
 */
#include "hosts.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ADDRESS_SIZE 16

typedef struct pattern {
    char host[CALL_HOST_SIZE];
    int port; /* 0: every port */
} pattern;

static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

/* ---- addresses ------------------------------------------------------------------------------- */

static bool is_public_v4(uint32_t address)
{
    static const struct {
        uint32_t network;
        int bits;
    } rows[] = {
        {0x00000000, 8},  /* this network */
        {0x0a000000, 8},  /* private */
        {0x64400000, 10}, /* shared by a carrier's customers */
        {0x7f000000, 8},  /* loopback */
        {0xa9fe0000, 16}, /* link-local, with a cloud's metadata */
        {0xac100000, 12}, /* private */
        {0xc0000000, 24}, /* protocol assignments */
        {0xc0a80000, 16}, /* private */
        {0xc6120000, 15}, /* benchmarks */
        {0xe0000000, 3},  /* multicast, reserved, broadcast */
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (address >> (32 - rows[i].bits) == rows[i].network >> (32 - rows[i].bits))
            return false;
    return true;
}

static uint32_t number_of(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The public addresses are those of 2000::/3 except documentation and Teredo. An address that
 * contains an IPv4 address is public if the IPv4 address is: mapped (::ffff:0:0/96), translated
 * (64:ff9b::/96), 6to4 (2002::/16). */
static bool is_public(const unsigned char bytes[ADDRESS_SIZE])
{
    static const unsigned char translated[12] = {0x00, 0x64, 0xff, 0x9b};

    if (memcmp(bytes, mapped, sizeof(mapped)) == 0 ||
        memcmp(bytes, translated, sizeof(translated)) == 0)
        return is_public_v4(number_of(bytes + 12));
    if (bytes[0] == 0x20 && bytes[1] == 0x02)
        return is_public_v4(number_of(bytes + 2));
    if (number_of(bytes) == 0x20010db8 || number_of(bytes) == 0x20010000)
        return false;
    return bytes[0] >> 5 == 1;
}

/* False: the host is a name. */
static bool read_address(const char *host, unsigned char bytes[ADDRESS_SIZE])
{
    char text[INET6_ADDRSTRLEN];
    size_t size = strcspn(host, "%"); /* an interface may follow the % */

    if (inet_pton(AF_INET, host, bytes + sizeof(mapped)) == 1) {
        memcpy(bytes, mapped, sizeof(mapped));
        return true;
    }
    if (size >= sizeof(text))
        return false;
    memcpy(text, host, size);
    text[size] = '\0';
    return inet_pton(AF_INET6, text, bytes) == 1;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* The port after a host; -1: not a port. */
static int read_port(const char *text)
{
    size_t size = strspn(text, "0123456789");
    long port = size > 0 && size <= 5 && text[size] == '\0' ? strtol(text, NULL, 10) : 0;

    return port >= 1 && port <= 65535 ? (int)port : -1;
}

/* Cuts the port off.  A bare IPv6 address has several colons and no port. */
static bool split(pattern *one)
{
    char *colon = strchr(one->host, ':');

    if (one->host[0] == '[') {
        char *close = strchr(one->host, ']');
        if (!close || (close[1] != '\0' && close[1] != ':'))
            return false;
        colon = close[1] == ':' ? close + 1 : NULL;
        *close = '\0';
        memmove(one->host, one->host + 1, (size_t)(close - one->host));
    } else if (colon && strchr(colon + 1, ':')) {
        colon = NULL;
    }
    if (!colon)
        return true;
    one->port = read_port(colon + 1);
    *colon = '\0';
    return one->port > 0;
}

/* Reads the next pattern of a list. *list then points to the following pattern (NULL: none). False:
 * the pattern is wrong. */
static bool next_pattern(const char **list, pattern *one)
{
    const char *text = *list;
    size_t size = strcspn(text, ",");

    *one = (pattern){.port = 0};
    *list = text[size] == ',' ? text + size + 1 : NULL;
    if (size >= sizeof(one->host))
        return false;
    memcpy(one->host, text, size);
    return split(one);
}

static bool is_any(const pattern *one)
{
    return strcmp(one->host, "*") == 0;
}

const char *takt_caller_hosts_check(const char *list)
{
    unsigned char bytes[ADDRESS_SIZE];
    pattern one;

    while (list) {
        if (!next_pattern(&list, &one))
            return "has a host of more than 255 bytes or a wrong port; write HOST, HOST:PORT or "
                   "[IPV6]:PORT";
        const char *name = strncmp(one.host, "*.", 2) == 0 ? one.host + 2 : one.host;
        if (*name == '\0')
            return "has an empty host; write hosts like api.example.com,*.example.com";
        if (!is_any(&one) && strpbrk(name, "*/@[] \t"))
            return "takes hosts without a scheme, a user or a path; a * can only begin a host, "
                   "like *.example.com";
        if (strchr(name, ':') && !read_address(name, bytes))
            return "has a host with colons that is not an IPv6 address";
    }
    return NULL;
}

bool takt_caller_hosts_has_any(const char *list, int port)
{
    pattern one;

    while (list)
        if (next_pattern(&list, &one) && is_any(&one) &&
            (one.port == 0 || port == 0 || one.port == port))
            return true;
    return false;
}

/* The size of a name without its last dot: "example.com." is example.com. */
static size_t name_size(const char *name)
{
    size_t size = strlen(name);

    return size > 1 && name[size - 1] == '.' ? size - 1 : size;
}

static bool is_name(const char *pattern, const char *host)
{
    size_t size = name_size(host), length;
    bool is_below = strncmp(pattern, "*.", 2) == 0;

    pattern += is_below; /* the comparison includes the dot */
    length = name_size(pattern);
    if (is_below ? size <= length : size != length)
        return false;
    return strncasecmp(host + size - length, pattern, length) == 0;
}

static bool is_address(const char *pattern, const unsigned char bytes[ADDRESS_SIZE])
{
    unsigned char listed[ADDRESS_SIZE];

    return read_address(pattern, listed) && memcmp(listed, bytes, ADDRESS_SIZE) == 0;
}

bool takt_caller_hosts_has(const char *list, const char *host, int port)
{
    unsigned char bytes[ADDRESS_SIZE];
    bool has_address = read_address(host, bytes);
    pattern one;

    while (list)
        if (next_pattern(&list, &one) && !is_any(&one) && (one.port == 0 || one.port == port) &&
            (has_address ? is_address(one.host, bytes) : is_name(one.host, host)))
            return true;
    return false;
}

takt_caller_hosts_verdict takt_caller_hosts_judge(const char *list, const char *host, int port)
{
    unsigned char bytes[ADDRESS_SIZE];

    if (takt_caller_hosts_has(list, host, port))
        return TAKT_CALLER_HOSTS_LISTED;
    if (read_address(host, bytes) ? !is_public(bytes)
                                  : is_name("localhost", host) || is_name("*.localhost", host))
        return TAKT_CALLER_HOSTS_PRIVATE;
    return !list || takt_caller_hosts_has_any(list, port) ? TAKT_CALLER_HOSTS_PUBLIC
                                                          : TAKT_CALLER_HOSTS_UNLISTED;
}

bool takt_caller_hosts_allow(const char *list, const struct sockaddr *address)
{
    const void *bytes = NULL;
    char text[INET6_ADDRSTRLEN];
    in_port_t port = 0;

    if (address->sa_family == AF_INET) {
        bytes = &((const struct sockaddr_in *)address)->sin_addr;
        port = ((const struct sockaddr_in *)address)->sin_port;
    } else if (address->sa_family == AF_INET6) {
        bytes = &((const struct sockaddr_in6 *)address)->sin6_addr;
        port = ((const struct sockaddr_in6 *)address)->sin6_port;
    }
    if (!bytes || !inet_ntop(address->sa_family, bytes, text, sizeof(text)))
        return false;
    takt_caller_hosts_verdict verdict = takt_caller_hosts_judge(list, text, (int)ntohs(port));
    return verdict == TAKT_CALLER_HOSTS_LISTED || verdict == TAKT_CALLER_HOSTS_PUBLIC;
}
