/*
 * hosts.h: where calls may go.  A job's author writes the URL; whoever starts the worker limits
 * with a list of hosts what jobs can reach, so that no job can call this host's own services, those
 * of its network, or a cloud's metadata.  Reads texts and addresses; what follows from a refusal is
 * left to others.
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
    TAKT_CALLER_HOSTS_LISTED,   /* whatever its address is */
    TAKT_CALLER_HOSTS_PUBLIC,   /* by "*": if its address is public */
    TAKT_CALLER_HOSTS_PRIVATE,  /* refused: it is this host, or an address that is not public */
    TAKT_CALLER_HOSTS_UNLISTED, /* refused */
} takt_caller_hosts_verdict;

/* What is wrong with a list like "api.example.com,*.example.com:8443"; NULL: nothing. */
const char *takt_caller_hosts_check(const char *list);

/* Whether "*" is in a list, for this port; 0: for any. */
bool takt_caller_hosts_has_any(const char *list, int port);

/* Whether a list has a host (without brackets) by its name or address, not by "*".  The case of
 * letters and one last dot do not matter. */
bool takt_caller_hosts_has(const char *list, const char *host, int port);

/* Whether a host may be called.  Without a list (NULL) it is as with "*". */
takt_caller_hosts_verdict takt_caller_hosts_judge(const char *list, const char *host, int port);

/* Whether "*" allows a connection to this address: it is public, or listed.  Not public are
 * loopback, private, link-local, shared, multicast and reserved addresses (RFC 6890), IPv6
 * addresses that contain such an IPv4 address, and other families. */
bool takt_caller_hosts_allow(const char *list, const struct sockaddr *address);

#endif
