/*
 * files.h: refuses options that use one file twice. Results appended to the input would be read as
 * jobs, and a metrics file would replace the input.
 */
#ifndef TAKT_WORKERS_FRAME_FILES_H
#define TAKT_WORKERS_FRAME_FILES_H

#include "worker.h"

/* 0, or TAKT_E_INVALID and which two of the files that the options name are the same. */
int takt_worker_files_check(const takt_worker_options *options, takt_error *error);

#endif
