/*
 * log.h: formats one line per event, for people or for programs, with the same fields in the same
 * order:
 *
 *     2026-11-22T07:21:06.123456Z takt-mail done id="m-17" limit=sendgrid attempt=1 took_s=0.120000
 *     {"time":"2026-11-22T07:21:06.123456Z","program":"takt-mail","event":"done","id":"m-17",...}
 *
 * The caller writes the line.
 */
#ifndef TAKT_WORKERS_REPORT_LOG_H
#define TAKT_WORKERS_REPORT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for the longest line: an id and reasons whose every byte is escaped. */
#define TAKT_REPORT_LOG_LINE_SIZE 8192
#define TAKT_REPORT_LOG_TEXT_MAX  512 /* bytes of one text; the rest is cut */

typedef struct takt_report_line {
    bool json;
    size_t used;
    char text[TAKT_REPORT_LOG_LINE_SIZE];
} takt_report_line;

/* `at_us` is by the wall clock. */
void takt_report_log_begin(takt_report_line *line, bool json, int64_t at_us, const char *program,
                           const char *event);

/* Adds a field; a NULL text adds nothing. Bytes that are not UTF-8 become U+FFFD and two
 * hexadecimal digits. */
void takt_report_log_text(takt_report_line *line, const char *name, const char *text);
void takt_report_log_word(takt_report_line *line, const char *name,
                          const char *word); /* letters that need no quoting */
void takt_report_log_number(takt_report_line *line, const char *name, uint64_t number);
void takt_report_log_seconds(takt_report_line *line, const char *name, int64_t value_us);

/* Adds the newline; line->text then has `used` bytes. */
void takt_report_log_end(takt_report_line *line);

#endif
