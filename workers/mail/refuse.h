/*
 * refuse.h: errors that explain why a user's input cannot be used.
 */
#ifndef TAKT_WORKERS_REFUSE_H
#define TAKT_WORKERS_REFUSE_H

#include <takt/error.h>

/* Fills `error` (may be NULL); TAKT_E_INVALID. */
__attribute__((format(printf, 2, 3))) int takt_mail_refuse(takt_error *error, const char *format,
                                                           ...);

#endif
