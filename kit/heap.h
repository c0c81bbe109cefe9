/*
 * The library's heap, whose nodes lie inside the objects.
 */
#ifndef TAKT_KIT_HEAP_H
#define TAKT_KIT_HEAP_H

#include "base/heap.h"

#endif
