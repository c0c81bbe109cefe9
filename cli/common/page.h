/*
 * Lines of a bounded width, for a terminal that is redrawn, or for a file.
 */
#ifndef TAKT_CLI_COMMON_PAGE_H
#define TAKT_CLI_COMMON_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#define TAKT_CLI_PLAIN   ""
#define TAKT_CLI_BOLD    "\033[1m"
#define TAKT_CLI_REVERSE "\033[7m"

/* Where lines go, and the position in the present line. */
typedef struct takt_cli_page {
    FILE *file;
    bool terminal;
    int columns, lines_left;
    int used, blanks; /* columns; blanks are written only before further text */
    const char *style;
} takt_cli_page;

/* False: the terminal has no line left. */
bool takt_cli_page_begin(takt_cli_page *page, const char *style);
void takt_cli_page_end(takt_cli_page *page);

/* Appends a text without control characters, cut to the rest of the line. */
void takt_cli_page_text(takt_cli_page *page, const char *text);
__attribute__((format(printf, 2, 3))) void takt_cli_page_put(takt_cli_page *page,
                                                             const char *format, ...);

/* Appends a text in `columns` columns, and a gap. */
void takt_cli_page_cell(takt_cli_page *page, const char *text, int columns);

/* Writes a whole line. */
__attribute__((format(printf, 3, 4))) void
takt_cli_page_line(takt_cli_page *page, const char *style, const char *format, ...);

/* Writes a foreign text without control characters, in at most `columns` columns; a longer text
 * ends with "~". Returns the columns used. */
int takt_cli_fit(FILE *file, const char *text, int columns);

#endif
