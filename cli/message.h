/*
 * What a person reads: messages on standard error, and the small texts in them.
 */
#ifndef TAKT_CLI_MESSAGE_H
#define TAKT_CLI_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#define TAKT_CLI_SHOWN_SIZE 260 /* a shown text with its NUL */
#define TAKT_CLI_TIME_SIZE  64  /* a span or an instant with its NUL */

/* How messages begin: "takt run".  The string is kept, not copied. */
void takt_cli_set_name(const char *name);
const char *takt_cli_name(void);

/* One line on standard error: "takt run: ..." */
__attribute__((format(printf, 1, 2))) void takt_cli_say(const char *format, ...);

/* A text of somebody else's in double quotes, harmless to a terminal: what is not printable becomes
 * \xNN, and a long one is cut.  Returns `shown`. */
const char *takt_cli_shown(const char *text, size_t size, char shown[TAKT_CLI_SHOWN_SIZE]);

/* Whether `name` looks like a slip of the finger for `other`. */
int takt_cli_resembles(const char *name, const char *other);

/* A span for a person ("0", "12 ms", "1.5 s", "3 min 20 s") and a moment by the local clock
 * ("14:32:07", with the date before it where that is not today).  Both return `text`. */
const char *takt_cli_span(int64_t span_us, char text[TAKT_CLI_TIME_SIZE]);
const char *takt_cli_moment(int64_t at_us, char text[TAKT_CLI_TIME_SIZE]);

/* The wall clock, in microseconds since the Unix epoch. */
int64_t takt_cli_now_us(void);

/* Ends what was written to standard output: 0, or EX_IOERR and a message where it did not arrive.
 */
int takt_cli_end_output(void);

#endif
