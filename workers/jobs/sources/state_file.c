/*
 * state_file.c: the file gets a record for each change; memory keeps the last record of each line,
 * in the order of lines. So memory depends on the size of the file, whatever line numbers it
 * contains.
 */
#include "state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "jobs/text/digits.h"

#define HEADER       "{\"takt\":\"state\",\"version\":1}\n"
#define BYTE_DONE    254
#define BYTE_DEAD    255
#define ATTEMPTS_MAX 200
#define RECORD_SIZE  128

__attribute__((format(printf, 2, 3))) static int refuse(takt_error *error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return error->code = TAKT_E_SYSTEM;
}

uint32_t takt_state_file_sum(const char *text, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return (uint32_t)(hash ^ hash >> 24 ^ hash >> 48) & 0xffffff;
}

static bool add(takt_state_file *state, uint64_t line, uint32_t sum, unsigned byte)
{
    if (state->count == state->capacity) {
        size_t capacity = state->capacity ? state->capacity * 2 : 1024;
        takt_state_line *lines = capacity <= UINT32_MAX && capacity < SIZE_MAX / sizeof(*lines)
                                     ? realloc(state->lines, capacity * sizeof(*lines))
                                     : NULL;
        if (!lines)
            return false;
        state->lines = lines;
        state->capacity = capacity;
    }
    state->lines[state->count] =
        (takt_state_line){.line = line, .order = (uint32_t)state->count, .record = sum << 8 | byte};
    state->count++;
    return true;
}

static int compare(const void *one, const void *other)
{
    const takt_state_line *a = one, *b = other;

    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Sorts the records by line, and keeps the last one of each. */
static void keep_last(takt_state_file *state)
{
    size_t kept = 0;

    if (state->count > 0)
        qsort(state->lines, state->count, sizeof(*state->lines), compare);
    for (size_t i = 0; i < state->count; i++) {
        if (kept > 0 && state->lines[kept - 1].line == state->lines[i].line)
            kept--;
        state->lines[kept++] = state->lines[i];
    }
    state->count = kept;
}

static unsigned byte_of(const char *status, unsigned attempts)
{
    if (strcmp(status, "done") == 0)
        return BYTE_DONE;
    if (strcmp(status, "dead") == 0)
        return BYTE_DEAD;
    return attempts > ATTEMPTS_MAX ? ATTEMPTS_MAX : attempts;
}

/* Whether records of that status have a number of attempts. */
static bool has_attempts(const char *status)
{
    return strcmp(status, "begun") == 0 || strcmp(status, "tried") == 0;
}

/* Writes a record into `text`; returns its size. */
static size_t write_record(char text[RECORD_SIZE], uint64_t line, uint32_t sum, const char *status,
                           unsigned attempts)
{
    static const char hex[] = "0123456789abcdef";
    char *at = stpcpy(text, "{\"line\":"); /* two records per job, so no printf */

    at += takt_digits_put(at, line, 1);
    at = stpcpy(at, ",\"sum\":\"");
    for (int shift = 20; shift >= 0; shift -= 4)
        *at++ = hex[sum >> shift & 15];
    at = stpcpy(stpcpy(stpcpy(at, "\",\"status\":\""), status), "\"");
    if (has_attempts(status)) {
        at = stpcpy(at, ",\"attempts\":");
        at += takt_digits_put(at, attempts, 1);
    }
    return (size_t)(stpcpy(at, "}\n") - text);
}

/* Reads one record: 1; 0: not a record, or not in our form; -1: no memory. */
static int read_record(takt_state_file *state, const char *text, size_t size)
{
    uint64_t line;
    uint32_t sum;
    char status[8] = "", again[RECORD_SIZE];
    unsigned attempts = 0;
    int got = sscanf(text,
                     "{\"line\":%" SCNu64 ",\"sum\":\"%6" SCNx32
                     "\",\"status\":\"%7[a-z]\",\"attempts\":%u}",
                     &line, &sum, status, &attempts);
    bool counts = has_attempts(status);

    if (got != (counts ? 4 : 3) || line == 0 ||
        !(counts || strcmp(status, "done") == 0 || strcmp(status, "dead") == 0) ||
        write_record(again, line, sum, status, attempts) != size || memcmp(again, text, size) != 0)
        return 0;
    return add(state, line, sum, byte_of(status, attempts)) ? 1 : -1;
}

static int refuse_record(const char *path, uint64_t number, takt_error *error)
{
    return refuse(error,
                  "%s:%" PRIu64 ": this is not a record of finished jobs; remove the file to start "
                  "over, or use another one with --state",
                  path, number);
}

/* Reads all records; *size is the end of the last whole one, since a crash may have cut the last
 * one off. */
static int read_all(takt_state_file *state, const char *path, FILE *file, off_t *size,
                    takt_error *error)
{
    char *text = NULL;
    size_t capacity = 0;
    uint64_t number = 0;
    ssize_t length;
    int failed = 0;

    *size = 0;
    while (!failed && (length = getline(&text, &capacity, file)) > 0 && text[length - 1] == '\n') {
        int read =
            number++ == 0 ? strcmp(text, HEADER) == 0 : read_record(state, text, (size_t)length);
        if (read < 0)
            failed = refuse(error, "%s: no memory for the finished jobs", path);
        else if (read == 0)
            failed = refuse_record(path, number, error);
        *size += length;
    }
    if (!failed && number == 0 && length > 0 && strncmp(text, HEADER, (size_t)length) != 0)
        failed = refuse_record(path, 1, error); /* not our header: it may be a user's file */
    if (!failed && !feof(file) && (length < 0 || ferror(file))) /* also for lack of memory */
        failed = refuse(error, "cannot read %s: %s", path, strerror(errno));
    free(text);
    keep_last(state);
    return failed;
}

static int load(takt_state_file *state, const char *path, takt_error *error)
{
    int copy = dup(state->file.fd);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "r");
    off_t size;

    if (!file)
        return refuse(error, "cannot read %s: %s", path, strerror(errno));
    int failed = read_all(state, path, file, &size, error);
    fclose(file);
    if (failed)
        return failed;
    if (ftruncate(state->file.fd, size) != 0)
        return refuse(error, "cannot write %s: %s", path, strerror(errno));
    if (size == 0 && !takt_append_put(&state->file, HEADER, strlen(HEADER)))
        return refuse(error, "no memory");
    return 0;
}

int takt_state_file_open(takt_state_file *state, const char *path, const char *input,
                         takt_error *error)
{
    int failed;

    *state = (takt_state_file){.file.fd = -1};
    if (!path)
        return 0;
    state->file.fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (state->file.fd < 0)
        return refuse(error, "cannot open the state file %s: %s; use another one with --state",
                      path, strerror(errno));
    if (flock(state->file.fd, LOCK_EX | LOCK_NB) != 0)
        failed = refuse(error,
                        "another worker runs the jobs of %s and has locked %s; wait until it ends, "
                        "or put the jobs into a stream, which several workers can share",
                        input, path);
    else
        failed = load(state, path, error);
    if (failed)
        takt_state_file_close(state);
    return failed;
}

void takt_state_file_close(takt_state_file *state)
{
    takt_append_close(&state->file);
    free(state->lines);
    state->lines = NULL;
    state->count = state->capacity = 0;
}

static int compare_line(const void *one, const void *other)
{
    const takt_state_line *a = one, *b = other;

    return a->line < b->line ? -1 : a->line > b->line;
}

takt_line_status takt_state_file_get(const takt_state_file *state, uint64_t line, uint32_t *sum,
                                     unsigned *attempts)
{
    const takt_state_line *found = state->count > 0
                                       ? bsearch(&(takt_state_line){.line = line}, state->lines,
                                                 state->count, sizeof(*state->lines), compare_line)
                                       : NULL;
    uint32_t record = found ? found->record : 0;
    unsigned byte = record & 0xff;

    *sum = record >> 8;
    *attempts = byte <= ATTEMPTS_MAX ? byte : 0;
    return byte == 0           ? TAKT_LINE_NEW
           : byte == BYTE_DONE ? TAKT_LINE_DONE
           : byte == BYTE_DEAD ? TAKT_LINE_DEAD
                               : TAKT_LINE_TRIED;
}

uint64_t takt_state_file_last(const takt_state_file *state)
{
    return state->count > 0 ? state->lines[state->count - 1].line : 0;
}

bool takt_state_file_put(takt_state_file *state, uint64_t line, uint32_t sum, const char *status,
                         unsigned attempts)
{
    char text[RECORD_SIZE];

    return takt_append_put(&state->file, text, write_record(text, line, sum, status, attempts));
}
