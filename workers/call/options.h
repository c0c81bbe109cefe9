/*
 * options.h: what takt-call's own part of the command line says.
 */
#ifndef TAKT_WORKERS_CALL_OPTIONS_H
#define TAKT_WORKERS_CALL_OPTIONS_H

#include <argp.h>

#include "call.h"

/* What is so where nothing is said. */
void takt_caller_options_begin(takt_caller_options *options);
void takt_caller_options_end(takt_caller_options *options);

/* Its input begins with the call_options. */
extern const struct argp takt_caller_options_argp;

#endif
