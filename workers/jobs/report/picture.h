/*
 * picture.h: how a worker stands, in a few lines for a terminal: what is done, and for each limit
 * its rate now beside its quota.  Made as plain lines first, so that what they say can be looked
 * at without a terminal.
 */
#ifndef TAKT_WORKERS_REPORT_PICTURE_H
#define TAKT_WORKERS_REPORT_PICTURE_H

#include "figures.h"

#define TAKT_REPORT_PICTURE_LINES_MAX   24
#define TAKT_REPORT_PICTURE_COLUMNS_MAX 200
#define TAKT_REPORT_PICTURE_LINE_SIZE   (4 * TAKT_REPORT_PICTURE_COLUMNS_MAX) /* bytes */
#define TAKT_REPORT_PICTURE_SIZE                                                                   \
    (TAKT_REPORT_PICTURE_LINES_MAX * (TAKT_REPORT_PICTURE_LINE_SIZE + 8) + 64)

typedef struct takt_report_picture {
    unsigned count;
    unsigned widths[TAKT_REPORT_PICTURE_LINES_MAX]; /* in letters */
    char lines[TAKT_REPORT_PICTURE_LINES_MAX][TAKT_REPORT_PICTURE_LINE_SIZE];
} takt_report_picture;

/* Lines shorter than `columns` and fewer than `rows`.  `policy` (NULL: unknown) has the quotas. */
void takt_report_picture_make(takt_report_picture *picture, const takt_figures *figures,
                              const takt_policy *policy, unsigned columns, unsigned rows);

/* Writes what wipes the `before` off a terminal that has so many columns by now, and leaves the
 * cursor where it began.  How many bytes; `text` has TAKT_REPORT_PICTURE_SIZE. */
size_t takt_report_picture_wipe(const takt_report_picture *before, unsigned columns, char *text);

/* The same, and the picture in its place. */
size_t takt_report_picture_draw(const takt_report_picture *before,
                                const takt_report_picture *picture, unsigned columns, char *text);

#endif
