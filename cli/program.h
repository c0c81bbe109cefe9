/*
 * program.h: `takt NAME` for a NAME that is no command of its own: the program takt-NAME.
 */
#ifndef TAKT_CLI_PROGRAM_H
#define TAKT_CLI_PROGRAM_H

#include <stdbool.h>

#include "common/options.h"

#define TAKT_CLI_PROGRAM_SIZE 80 /* bytes of the NAME of a program */

/* Becomes the program takt-NAME, argv[0] being NAME, with the settings as its first options.
 * Returns only if there is no such program; if it cannot be run, ends with a message. */
void takt_cli_become_program(int argc, char **argv, const takt_cli_settings *settings);

/* Finds a program with a similar NAME. */
bool takt_cli_find_like(const char *name, char like[TAKT_CLI_PROGRAM_SIZE]);

#endif
