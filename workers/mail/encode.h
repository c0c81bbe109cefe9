/*
 * encode.h: any text in lines that every mail server passes on unchanged: ASCII, at most 76
 * characters, CR LF.
 */
#ifndef TAKT_WORKERS_ENCODE_H
#define TAKT_WORKERS_ENCODE_H

#include "jobs/text/buffer.h"

#define ENCODE_LINE 76

/*
 * As quoted-printable.  LF, CR LF and CR are line ends.  No line begins with a dot or with "From ",
 * so that nothing on the way has a reason to touch it.  Ends without a line's end if the text does.
 */
void takt_mail_encode_quoted_printable(takt_buffer *out, const char *text, size_t size);

/* As base64, its line ends turned to CR LF before; the last line has none. */
void takt_mail_encode_base64_text(takt_buffer *out, const char *text, size_t size);

/* Whether base64 would be shorter than quoted-printable, by much: a text in Greek is. */
bool takt_mail_encode_prefers_base64(const char *text, size_t size);

#endif
