/*
 * certificates.h: authorities and certificates of a test's own, as PEM files in a directory.
 */
#ifndef TAKT_TESTS_STORE_REDIS_CERTIFICATES_H
#define TAKT_TESTS_STORE_REDIS_CERTIFICATES_H

/* Writes NAME.crt and NAME.key: a certificate for `host` (a name or an address; NULL: an authority)
 * that the authority `issuer` has signed (NULL: itself), and that is valid from `from_days` to
 * `until_days` from now. */
void certificate_make(const char *directory, const char *name, const char *issuer, const char *host,
                      int from_days, int until_days);

#endif
