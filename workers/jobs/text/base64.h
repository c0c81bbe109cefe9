/*
 * base64.h: bytes as base64 (RFC 4648).
 */
#ifndef TAKT_WORKERS_TEXT_BASE64_H
#define TAKT_WORKERS_TEXT_BASE64_H

#include "buffer.h"

/* On one line, padded with =. */
void takt_base64_put(takt_buffer *out, const char *bytes, size_t size);

#endif
