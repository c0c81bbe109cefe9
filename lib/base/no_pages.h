/*
 * no_pages.h: pages for a reader that has a ledger's text but not its logs: no page is available.
 * They serve to read the numbers of a limit, which need no log.
 */
#ifndef TAKT_BASE_NO_PAGES_H
#define TAKT_BASE_NO_PAGES_H

#include "base/pages.h"

void takt_no_pages_init(takt_pages *pages);

#endif
