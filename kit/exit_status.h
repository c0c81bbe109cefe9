/*
 * The status that a program ends with after an error of the library.
 */
#ifndef TAKT_KIT_EXIT_STATUS_H
#define TAKT_KIT_EXIT_STATUS_H

/* One of <sysexits.h>: EX_CONFIG for a policy, or a store's URL in it, that cannot be used,
 * EX_UNAVAILABLE for a store that cannot be, EX_TEMPFAIL where somebody else was faster, EX_OSERR
 * for anything else.  `code` is one of TAKT_E_... */
int takt_exit_status(int code);

#endif
