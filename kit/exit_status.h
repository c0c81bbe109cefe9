/*
 * The exit status of a program after an error of the library.
 */
#ifndef TAKT_KIT_EXIT_STATUS_H
#define TAKT_KIT_EXIT_STATUS_H

/* One of <sysexits.h>: EX_CONFIG for an unusable policy or store URL, EX_UNAVAILABLE for an
 * unavailable store, EX_TEMPFAIL for a conflict with another writer, EX_OSERR for anything else.
 * `code` is one of TAKT_E_... */
int takt_exit_status(int code);

#endif
