/*
 * encode.h: any text in lines that every mail server passes on unchanged: ASCII, at most 76
 * characters, CR LF.
 */
#ifndef TAKT_WORKERS_ENCODE_H
#define TAKT_WORKERS_ENCODE_H

#include "jobs/text/buffer.h"

#define ENCODE_LINE 76

/*
 * Encodes as quoted-printable. LF, CR LF and CR are line ends. No line begins with a dot or with
 * "From ", since mail servers change such lines. The output ends with a line end only if the text
 * does.
 */
void takt_mail_encode_quoted_printable(takt_buffer *out, const char *text, size_t size);

/* Encodes as base64 after turning line ends into CR LF. The last line has no line end. */
void takt_mail_encode_base64_text(takt_buffer *out, const char *text, size_t size);

/* Whether base64 is much shorter than quoted-printable, as for a Greek text. */
bool takt_mail_encode_prefers_base64(const char *text, size_t size);

#endif
