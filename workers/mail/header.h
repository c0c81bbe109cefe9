/*
 * header.h: writes one header of a mail: name, value and line end.
 *
 * The value is UTF-8. A value that is not plain ASCII on one line is written in RFC 2047's encoded
 * words. Control characters are an assertion here: the code that reads a value refuses them.
 */
#ifndef TAKT_WORKERS_HEADER_H
#define TAKT_WORKERS_HEADER_H

#include "address.h"
#include "jobs/text/buffer.h"

/* Free text, such as a subject. */
void takt_mail_header_put_text(takt_buffer *out, const char *name, const char *value, size_t size);

/* A value written as it is on one line: ASCII that must not be changed, such as an identifier or a
 * URL. */
void takt_mail_header_put_plain(takt_buffer *out, const char *name, const char *value, size_t size);

/* Addresses with their names, one per line. */
void takt_mail_header_put_addresses(takt_buffer *out, const char *name,
                                    const takt_mail_address *addresses, size_t count);

#endif
