/*
 * Text as JSON, for --json and for log records.
 */
#ifndef TAKT_CLI_COMMON_JSON_H
#define TAKT_CLI_COMMON_JSON_H

#include <stddef.h>
#include <stdio.h>

/* Writes a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD and two
 * hexadecimal digits (kit/json.h), so that every reader accepts it. */
void takt_cli_json_string(FILE *file, const char *text, size_t size);

/* Writes "name":"text" to standard output; NULL is null. */
void takt_cli_json_field(const char *name, const char *text);

#endif
