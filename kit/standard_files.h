/*
 * The three standard files.
 */
#ifndef TAKT_KIT_STANDARD_FILES_H
#define TAKT_KIT_STANDARD_FILES_H

#include <stdbool.h>

/* Called first in main(): opens each standard file that this process was started without, so that
 * no file opened later gets its number. Using it fails as before. False: the system refuses. */
bool takt_standard_files_hold(void);

#endif
