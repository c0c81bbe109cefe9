/*
 * options.h: what takt-call's own part of the command line says.
 */
#ifndef TAKT_WORKERS_CALL_OPTIONS_H
#define TAKT_WORKERS_CALL_OPTIONS_H

#include <argp.h>

#include "call.h"

/* What is so where nothing is said. */
void call_options_begin(call_options *options);
void call_options_end(call_options *options);

/* Its input begins with the call_options. */
extern const struct argp call_options_argp;

#endif
