/*
 * resp_bounds.c: see resp_bounds.h.
 */
#include "redis/resp_bounds.h"

#include <stdbool.h>
#include <string.h>

#include <takt/error.h>

#include "base/text.h"

#define INTEGER_DIGITS_MAX 20 /* including the sign */

const takt_resp_max takt_resp_of_scripts = {TAKT_RESP_DEPTH_MAX, TAKT_RESP_NODES_MAX,
                                            TAKT_RESP_BYTES_MAX, TAKT_E_STORE};

static const char not_resp[] = "it does not speak the protocol of Redis";
static const char too_large[] = "its reply is larger than any that takt requests";

static const takt_resp_max *max_of(const takt_resp_bounds *bounds)
{
    return bounds->max != NULL ? bounds->max : &takt_resp_of_scripts;
}

/* A value is complete, and perhaps the arrays around it. */
static void complete(takt_resp_bounds *bounds)
{
    bounds->state = TAKT_RESP_TYPE;
    while (bounds->depth > 0 && --bounds->left[bounds->depth - 1] == 0)
        bounds->depth--;
    if (bounds->depth == 0) {
        bounds->nodes = 0;
        bounds->bytes = 0;
    }
}

static const char *begin(takt_resp_bounds *bounds, char type)
{
    if (memchr("+-:$*", type, 5) == NULL)
        return not_resp;
    if (++bounds->nodes > max_of(bounds)->nodes)
        return too_large;
    bounds->type = type;
    bounds->line_size = 0;
    bounds->state = TAKT_RESP_LINE;
    return NULL;
}

/* Reads a whole number from min to max, without leading zeros. */
static bool read_number(const takt_resp_bounds *bounds, int64_t min, int64_t max, int64_t *value)
{
    takt_reader reader = {bounds->line, bounds->line + bounds->line_size, false};
    const char *digits = bounds->line + (bounds->line[0] == '-');

    if (bounds->line_size == 0 || bounds->line_size > INTEGER_DIGITS_MAX)
        return false;
    *value = takt_read_int(&reader, min, max);
    return takt_read_done(&reader) && (*digits != '0' || bounds->line_size == 1);
}

static const char *begin_bulk(takt_resp_bounds *bounds)
{
    int64_t size;

    if (!read_number(bounds, -1, INT64_MAX, &size))
        return not_resp;
    if (size < 0) {
        complete(bounds);
        return NULL;
    }
    if (size > max_of(bounds)->bytes - bounds->bytes)
        return too_large;
    bounds->bytes += size;
    bounds->bulk_left = size;
    bounds->state = size > 0 ? TAKT_RESP_BULK : TAKT_RESP_BULK_END;
    bounds->line_size = 0;
    return NULL;
}

static const char *begin_array(takt_resp_bounds *bounds)
{
    int64_t count;

    if (!read_number(bounds, -1, INT64_MAX, &count))
        return not_resp;
    if (count <= 0) {
        complete(bounds);
        return NULL;
    }
    if (count > max_of(bounds)->nodes || bounds->depth == max_of(bounds)->depth)
        return too_large;
    bounds->left[bounds->depth++] = (int)count;
    bounds->state = TAKT_RESP_TYPE;
    return NULL;
}

static const char *end_line(takt_resp_bounds *bounds)
{
    int64_t value;

    switch (bounds->type) {
    case '$':
        return begin_bulk(bounds);
    case '*':
        return begin_array(bounds);
    case ':':
        if (!read_number(bounds, INT64_MIN, INT64_MAX, &value))
            return not_resp;
        break;
    default:
        bounds->bytes += (int64_t)bounds->line_size;
        if (bounds->bytes > max_of(bounds)->bytes)
            return too_large;
    }
    complete(bounds);
    return NULL;
}

/* Reads one more byte of a line. */
static const char *pass_line(takt_resp_bounds *bounds, char c)
{
    bool number = bounds->type != '+' && bounds->type != '-';

    if (c == '\r') {
        bounds->state = TAKT_RESP_LF;
        return NULL;
    }
    if (c == '\n' || c == '\0' || (number && bounds->line_size >= INTEGER_DIGITS_MAX))
        return not_resp;
    if (bounds->line_size >= TAKT_RESP_LINE_MAX)
        return too_large;
    if (bounds->line_size < sizeof bounds->line)
        bounds->line[bounds->line_size] = c;
    bounds->line_size++;
    return NULL;
}

static const char *pass_byte(takt_resp_bounds *bounds, char c)
{
    switch (bounds->state) {
    case TAKT_RESP_TYPE:
        return begin(bounds, c);
    case TAKT_RESP_LINE:
        return pass_line(bounds, c);
    case TAKT_RESP_LF:
        return c == '\n' ? end_line(bounds) : not_resp;
    case TAKT_RESP_BULK: /* not byte by byte: see below */
        break;
    case TAKT_RESP_BULK_END:
        if (c != "\r\n"[bounds->line_size++])
            return not_resp;
        if (bounds->line_size == 2)
            complete(bounds);
        break;
    }
    return NULL;
}

int takt_resp_bounds_pass(takt_resp_bounds *bounds, const char *bytes, size_t size,
                          const char **why)
{
    const char *first = bytes, *end = bytes + size;

    bounds->whole = 0;
    while (bytes < end) {
        const char *wrong;
        if (bounds->state == TAKT_RESP_BULK) {
            int64_t n = end - bytes < bounds->bulk_left ? end - bytes : bounds->bulk_left;
            bytes += n;
            bounds->bulk_left -= n;
            if (bounds->bulk_left == 0)
                bounds->state = TAKT_RESP_BULK_END;
            continue;
        }
        wrong = pass_byte(bounds, *bytes++);
        if (wrong != NULL) {
            *why = wrong;
            return wrong == too_large ? max_of(bounds)->code : TAKT_E_STORE;
        }
        if (bounds->state == TAKT_RESP_TYPE && bounds->depth == 0)
            bounds->whole = (size_t)(bytes - first);
    }
    return 0;
}
