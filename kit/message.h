/*
 * Messages to a person: one line each on standard error, after the name of the program.
 */
#ifndef TAKT_KIT_MESSAGE_H
#define TAKT_KIT_MESSAGE_H

#include "kit/text.h"

/* The start of each message: "takt run". The string is kept, not copied. */
void takt_message_set_name(const char *name);
const char *takt_message_name(void);

/* One line: "takt run: ..." */
__attribute__((format(printf, 1, 2))) void takt_message(const char *format, ...);

/* Flushes standard output: 0, or EX_IOERR and a message if a write failed. */
int takt_message_end_output(void);

#endif
