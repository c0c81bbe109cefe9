/*
 * A heap whose nodes lie inside the things it holds, from the library's base.
 */
#ifndef TAKT_KIT_HEAP_H
#define TAKT_KIT_HEAP_H

#include "base/heap.h"

#endif
