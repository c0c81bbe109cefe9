/*
 * options.h: takt-call's own command line options.
 */
#ifndef TAKT_WORKERS_CALL_OPTIONS_H
#define TAKT_WORKERS_CALL_OPTIONS_H

#include <argp.h>

#include "call.h"

/* Sets the defaults. */
void takt_caller_options_begin(takt_caller_options *options);
void takt_caller_options_end(takt_caller_options *options);

/* Its input begins with the call_options. */
extern const struct argp takt_caller_options_argp;

#endif
