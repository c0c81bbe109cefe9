/*
 * header.h: one header of a mail: its name, what it says, and the line's end.
 *
 * What it says is UTF-8.  Where it is not plain ASCII of one line it is written in RFC 2047's
 * encoded words; control characters cannot get in: they are an assertion here, and refused where
 * texts come from.
 */
#ifndef TAKT_WORKERS_HEADER_H
#define TAKT_WORKERS_HEADER_H

#include "address.h"
#include "jobs/text/buffer.h"

/* Free text, such as a subject. */
void takt_mail_header_put_text(takt_buffer *out, const char *name, const char *value, size_t size);

/* As it is and in one line: ASCII that must not be changed, such as an identifier or a URL. */
void takt_mail_header_put_plain(takt_buffer *out, const char *name, const char *value, size_t size);

/* Addresses with their names, one per line. */
void takt_mail_header_put_addresses(takt_buffer *out, const char *name,
                                    const takt_mail_address *addresses, size_t count);

#endif
