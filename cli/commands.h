/*
 * The commands. Each gets its words, from its own name on, and the settings given before them, and
 * returns the exit status.
 */
#ifndef TAKT_CLI_COMMANDS_H
#define TAKT_CLI_COMMANDS_H

#include "common/options.h"

int takt_cli_run(int argc, char **argv, takt_cli_settings *settings);
int takt_cli_map(int argc, char **argv, takt_cli_settings *settings);
int takt_cli_check(int argc, char **argv, takt_cli_settings *settings);
int takt_cli_apply(int argc, char **argv, takt_cli_settings *settings);
int takt_cli_policy(int argc, char **argv, takt_cli_settings *settings);
int takt_cli_top(int argc, char **argv, takt_cli_settings *settings);
int takt_cli_exporter(int argc, char **argv, takt_cli_settings *settings);
int takt_cli_peek(int argc, char **argv, takt_cli_settings *settings);
int takt_cli_block(int argc, char **argv, takt_cli_settings *settings);
int takt_cli_penalize(int argc, char **argv, takt_cli_settings *settings);
int takt_cli_unblock(int argc, char **argv, takt_cli_settings *settings);
int takt_cli_reset(int argc, char **argv, takt_cli_settings *settings);
int takt_cli_doctor(int argc, char **argv, takt_cli_settings *settings);
int takt_cli_simulate(int argc, char **argv, takt_cli_settings *settings);

#endif
