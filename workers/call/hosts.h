/*
 * hosts.h: which hosts calls may reach. The author of a job writes its URL; the operator of the
 * worker gives a list of hosts, so that no job can call this host's own services, the local network
 * or a cloud's metadata. This file reads texts and addresses; its callers decide what follows from
 * a refusal.
 *
 *     api.example.com    that name         *.example.com    every name below it, not itself
 *     10.0.0.7  ::1      that address      *                every host with a public address
 *     NAME:8443  10.0.0.7:8443  [::1]:8443                  the same, but only that port
 */
#ifndef TAKT_WORKERS_CALL_HOSTS_H
#define TAKT_WORKERS_CALL_HOSTS_H

#include <stdbool.h>

#include <sys/socket.h>

#define CALL_HOST_SIZE 256 /* a host and its NUL */

typedef enum takt_caller_hosts_verdict {
    TAKT_CALLER_HOSTS_LISTED,   /* allowed, whatever the address */
    TAKT_CALLER_HOSTS_PUBLIC,   /* "*" allows the host if its address is public */
    TAKT_CALLER_HOSTS_PRIVATE,  /* refused: this host, or an address that is not public */
    TAKT_CALLER_HOSTS_UNLISTED, /* refused */
} takt_caller_hosts_verdict;

/* What is wrong with a list like "api.example.com,*.example.com:8443". NULL: the list is good. */
const char *takt_caller_hosts_check(const char *list);

/* Whether the list contains "*" for this port; 0: for any port. */
bool takt_caller_hosts_has_any(const char *list, int port);

/* Whether the list contains a host (without brackets) by name or address; "*" does not count. Case
 * and one final dot are ignored. */
bool takt_caller_hosts_has(const char *list, const char *host, int port);

/* Whether a host may be called. No list (NULL) means "*". */
takt_caller_hosts_verdict takt_caller_hosts_judge(const char *list, const char *host, int port);

/* Whether "*" allows a connection to this address: the address is public or listed. Not public are
 * loopback, private, link-local, shared, multicast and reserved addresses (RFC 6890), IPv6
 * addresses that contain such an IPv4 address, and other families. */
bool takt_caller_hosts_allow(const char *list, const struct sockaddr *address);

#endif
