/*
 * The three files that every program has.
 */
#ifndef TAKT_KIT_STANDARD_FILES_H
#define TAKT_KIT_STANDARD_FILES_H

#include <stdbool.h>

/* Called first in main(): takes the place of each standard file that this process was started
 * without, so that no file that is opened later is mistaken for it.  Its use fails as before.
 * False: the system refuses. */
bool takt_standard_files_hold(void);

#endif
