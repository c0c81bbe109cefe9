/*
 * Any bytes as the input of `takt map`, as a file and through a pipe in pieces (the first byte has
 * their size): the lines, their numbers and offsets are those of a simple search for line ends, and
 * the same both ways.
 */
#include "fuzz.h"

#include <uv.h>

#include "kit/lines.h"

#define LINE_MAX_SIZE 8
#define MARK          "\xef\xbb\xbf"

/* An input being read, and the bytes that are still to come through a pipe. */
typedef struct reading {
    takt_lines lines;
    const uint8_t *left;
    size_t size, piece;
    int pipe; /* to write to; -1: a file */
} reading;

static uv_loop_t loop;

static void on_ready(void *data)
{
    (void)data;
}

/* The lines in `text` from `begin` to `end`, as the caller gets them. */
static void expect(const takt_text_line *line, const uint8_t *data, size_t begin, size_t end,
                   uint64_t number)
{
    require(line->number == number);
    if (end - begin > LINE_MAX_SIZE) {
        require(line->text == NULL);
        return;
    }
    require(line->text != NULL && line->size == end - begin && line->offset == begin);
    require(memcmp(line->text, data + begin, line->size) == 0);
}

static void feed(reading *self)
{
    size_t size = self->size < self->piece ? self->size : self->piece;

    if (self->pipe < 0)
        return;
    if (size == 0) {
        close(self->pipe);
        self->pipe = -1;
        return;
    }
    require(write(self->pipe, self->left, size) == (ssize_t)size);
    self->left += size;
    self->size -= size;
}

static takt_lines_state next(reading *self, takt_text_line *line)
{
    takt_lines_state state;

    while ((state = takt_lines_next(&self->lines, line)) == TAKT_LINES_LATER) {
        feed(self);
        uv_run(&loop, UV_RUN_ONCE);
    }
    return state;
}

static void check(reading *self, const uint8_t *data, size_t size)
{
    size_t begin = size >= strlen(MARK) && memcmp(data, MARK, strlen(MARK)) == 0 ? strlen(MARK) : 0;
    uint64_t number = 0;
    takt_text_line line;
    bool exact;

    while (begin < size) {
        const uint8_t *newline = memchr(data + begin, '\n', size - begin);
        size_t end = newline ? (size_t)(newline - data) : size;
        number++;
        if (end > begin) {
            require(next(self, &line) == TAKT_LINES_LINE);
            expect(&line, data, begin, end, number);
        }
        begin = end + 1;
    }
    require(next(self, &line) == TAKT_LINES_END && self->lines.error == 0);
    require(takt_lines_total(&self->lines, &exact) == number && exact);
    require(!takt_lines_has_more(&self->lines));
}

static void read_all(reading *self, const char *path, const uint8_t *data, size_t size)
{
    takt_error error;

    require(takt_lines_open(&self->lines, &loop, path, LINE_MAX_SIZE, on_ready, self, &error) == 0);
    check(self, data, size);
    if (self->pipe >= 0)
        close(self->pipe);
    takt_lines_close(&self->lines, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH_SIZE];
    reading self = {.pipe = -1};
    int ends[2], file;

    if (size == 0)
        return 0;
    if (loop.data == NULL) {
        require(uv_loop_init(&loop) == 0);
        loop.data = &loop;
    }
    size_t piece = 1 + data[0] % 32;
    data++;
    size--;
    file = fuzz_file(data, size, path);
    read_all(&self, path, data, size);
    close(file);

    require(pipe(ends) == 0);
    self = (reading){.left = data, .size = size, .piece = piece, .pipe = ends[1]};
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    read_all(&self, path, data, size);
    close(ends[0]);
    return 0;
}
