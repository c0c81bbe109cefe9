/*
 * base64.c: three bytes become four characters.
 */
#include "base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_group(takt_buffer *out, const unsigned char *bytes, size_t size)
{
    unsigned value = (unsigned)bytes[0] << 16 | (size > 1 ? (unsigned)bytes[1] << 8 : 0) |
                     (size > 2 ? bytes[2] : 0);
    char group[4] = {digits[value >> 18], digits[value >> 12 & 63],
                     size > 1 ? digits[value >> 6 & 63] : '=', size > 2 ? digits[value & 63] : '='};

    takt_buffer_put(out, group, sizeof(group));
}

void takt_base64_put(takt_buffer *out, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 3)
        put_group(out, (const unsigned char *)bytes + i, size - i < 3 ? size - i : 3);
}
