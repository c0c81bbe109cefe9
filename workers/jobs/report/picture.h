/*
 * picture.h: the progress of a worker in a few lines for a terminal: the jobs done, and for each
 * limit its present rate beside its quota. The picture is made as plain lines first, so that tests
 * need no terminal.
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
    unsigned widths[TAKT_REPORT_PICTURE_LINES_MAX]; /* in characters */
    char lines[TAKT_REPORT_PICTURE_LINES_MAX][TAKT_REPORT_PICTURE_LINE_SIZE];
} takt_report_picture;

/* Makes lines shorter than `columns` and fewer than `rows`. `policy` (NULL: unknown) has the
 * quotas. */
void takt_report_picture_make(takt_report_picture *picture, const takt_figures *figures,
                              const takt_policy *policy, unsigned columns, unsigned rows);

/* Writes the bytes that wipe the picture `before` off a terminal that has `columns` columns now,
 * and leaves the cursor at its start. Returns their number; `text` has TAKT_REPORT_PICTURE_SIZE. */
size_t takt_report_picture_wipe(const takt_report_picture *before, unsigned columns, char *text);

/* The same, followed by the new picture. */
size_t takt_report_picture_draw(const takt_report_picture *before,
                                const takt_report_picture *picture, unsigned columns, char *text);

#endif
