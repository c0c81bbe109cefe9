/*
 * address.h: a mail address as people write it: "user@example.org" or "A Name <user@example.org>".
 *
 * The parser is strict, since addresses go into commands to the server and into headers: no control
 * characters, the local part a dot-atom or a quoted string, the domain letters, digits and hyphens.
 * SMTPUTF8 is not used, so a domain outside of ASCII must be written as A-labels ("xn--..."), and a
 * local part outside of ASCII is refused. The name may be any UTF-8.
 */
#ifndef TAKT_WORKERS_ADDRESS_H
#define TAKT_WORKERS_ADDRESS_H

#include <stddef.h>

#include <takt/error.h>

#define ADDRESS_LOCAL_MAX  64
#define ADDRESS_DOMAIN_MAX 253
/* local part, @ and domain: RFC 5321's path of 256 without its brackets */
#define ADDRESS_MAX      254
#define ADDRESS_NAME_MAX 200

typedef struct takt_mail_address {
    char name[ADDRESS_NAME_MAX + 1]; /* without quotes; "": none */
    char mailbox[ADDRESS_MAX + 1];   /* the domain in lower case */
    size_t local_size;               /* of the mailbox, before the @ */
} takt_mail_address;

/* Reads UTF-8. 0, or TAKT_E_INVALID and what is wrong. */
int takt_mail_address_parse(const char *text, size_t size, takt_mail_address *address,
                            takt_error *error);

static inline const char *takt_mail_address_domain(const takt_mail_address *address)
{
    return address->mailbox + address->local_size + 1;
}

/* Checks a host name: labels of 1 to 63 letters, digits and inner hyphens. 0, or TAKT_E_INVALID and
 * what is wrong. */
int takt_mail_address_check_domain(const char *text, size_t size, takt_error *error);

#endif
