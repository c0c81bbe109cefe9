/*
 * files.h: no file may have two uses: results that were appended to the jobs that they come from
 * would be read as jobs, and figures would take the place of the file altogether.
 */
#ifndef TAKT_WORKERS_FRAME_FILES_H
#define TAKT_WORKERS_FRAME_FILES_H

#include "worker.h"

/* 0, or TAKT_E_INVALID and which two of the files that the options name are the same. */
int takt_worker_files_check(const takt_worker_options *options, takt_error *error);

#endif
