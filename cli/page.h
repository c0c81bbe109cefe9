/*
 * Lines of a bounded width, on a terminal that is written over or elsewhere.
 */
#ifndef TAKT_CLI_PAGE_H
#define TAKT_CLI_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#define TAKT_CLI_PLAIN   ""
#define TAKT_CLI_BOLD    "\033[1m"
#define TAKT_CLI_REVERSE "\033[7m"

/* Where lines go, and how far the present one has come. */
typedef struct takt_cli_page {
    FILE *file;
    bool terminal;
    int columns, lines_left;
    int used, blanks; /* columns; blanks are written before what follows them */
    const char *style;
} takt_cli_page;

/* False: a terminal has no line left. */
bool takt_cli_page_begin(takt_cli_page *page, const char *style);
void takt_cli_page_end(takt_cli_page *page);

/* More of the line, made harmless and cut to what is left of it. */
void takt_cli_page_text(takt_cli_page *page, const char *text);
__attribute__((format(printf, 2, 3))) void takt_cli_page_put(takt_cli_page *page,
                                                             const char *format, ...);

/* A text in so many columns, and a gap. */
void takt_cli_page_cell(takt_cli_page *page, const char *text, int columns);

/* A whole line. */
__attribute__((format(printf, 3, 4))) void
takt_cli_page_line(takt_cli_page *page, const char *style, const char *format, ...);

/* Writes a text of somebody else's, harmless to a terminal, in at most so many columns; what is
 * longer ends with "~".  Returns the columns that it took. */
int takt_cli_fit(FILE *file, const char *text, int columns);

#endif
