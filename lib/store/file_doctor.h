/*
 * file_doctor.h: what can be said of a store's file before it is opened: where it lies, who may
 * touch it, and whether the disk below it is one that keeps it.
 */
#ifndef TAKT_STORE_FILE_DOCTOR_H
#define TAKT_STORE_FILE_DOCTOR_H

#include "store/doctor.h"

/* Examines what follows "file:".  Makes the default directory, as opening it would. */
void takt_file_examine(takt_checkup *checkup, const char *rest);

#endif
