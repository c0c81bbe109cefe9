/*
 * What a person reads: messages on standard error, and the small texts in them.
 */
#ifndef TAKT_CLI_MESSAGE_H
#define TAKT_CLI_MESSAGE_H

#include <stdint.h>

#include "kit/text.h"

#define TAKT_CLI_TIME_SIZE 64 /* a moment with its NUL */

/* How messages begin: "takt run".  The string is kept, not copied. */
void takt_cli_set_name(const char *name);
const char *takt_cli_name(void);

/* One line on standard error: "takt run: ..." */
__attribute__((format(printf, 1, 2))) void takt_cli_say(const char *format, ...);

/* A moment by the local clock: "14:32:07", with the date before it unless that is today.  Returns
 * `text`. */
const char *takt_cli_moment(int64_t at_us, char text[TAKT_CLI_TIME_SIZE]);

/* Ends what was written to standard output: 0, or EX_IOERR and a message where it did not arrive.
 */
int takt_cli_end_output(void);

#endif
