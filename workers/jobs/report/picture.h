/*
 * picture.h: how a worker stands, in a few lines for a terminal: what is done, and for each limit
 * its rate now beside its quota.  Made as plain lines first, so that what they say can be looked
 * at without a terminal.
 */
#ifndef TAKT_WORKERS_REPORT_PICTURE_H
#define TAKT_WORKERS_REPORT_PICTURE_H

#include "figures.h"

#define PICTURE_LINES_MAX   24
#define PICTURE_COLUMNS_MAX 200
#define PICTURE_LINE_SIZE   (4 * PICTURE_COLUMNS_MAX) /* bytes */
#define PICTURE_SIZE        (PICTURE_LINES_MAX * (PICTURE_LINE_SIZE + 8) + 64)

typedef struct picture {
    unsigned count;
    unsigned widths[PICTURE_LINES_MAX]; /* in letters */
    char lines[PICTURE_LINES_MAX][PICTURE_LINE_SIZE];
} picture;

/* Lines shorter than `columns` and fewer than `rows`.  `policy` (NULL: unknown) has the quotas. */
void picture_make(picture *picture, const figures *figures, const takt_policy *policy,
                  unsigned columns, unsigned rows);

/* Writes what wipes the `before` off a terminal that has so many columns by now, and leaves the
 * cursor where it began.  How many bytes; `text` has PICTURE_SIZE. */
size_t picture_wipe(const picture *before, unsigned columns, char *text);

/* The same, and the picture in its place. */
size_t picture_draw(const picture *before, const picture *picture, unsigned columns, char *text);

#endif
