/*
 * Lines of files and pipes: where they begin and end, which are skipped and which are too long.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "kit/lines.h"

#define SIZE_MAX_TESTED 8
#define MARK            "\xef\xbb\xbf"

typedef struct world {
    uv_loop_t loop;
    takt_lines lines;
    unsigned ready;
    bool closed;
} world;

static void on_ready(void *data)
{
    ((world *)data)->ready++;
}

static void on_closed(void *data)
{
    ((world *)data)->closed = true;
}

static void open_world(world *self, const char *path)
{
    takt_error error;

    *self = (world){.closed = false};
    uv_loop_init(&self->loop);
    cr_assert_eq(
        takt_lines_open(&self->lines, &self->loop, path, SIZE_MAX_TESTED, on_ready, self, &error),
        0, "%s", error.text);
}

static void close_world(world *self)
{
    takt_lines_close(&self->lines, on_closed);
    uv_run(&self->loop, UV_RUN_DEFAULT);
    cr_assert(self->closed);
    cr_assert_eq(uv_loop_close(&self->loop), 0);
}

/* A file with this text; the caller removes it. */
static void make_file(char *path, const char *text, size_t size)
{
    int fd = mkstemp(strcpy(path, "/tmp/takt-lines-XXXXXX"));

    cr_assert(fd >= 0 && write(fd, text, size) == (ssize_t)size);
    close(fd);
}

/* The next line, for which the loop runs as long as it takes. */
static takt_lines_state next(world *self, takt_text_line *line)
{
    takt_lines_state state;

    while ((state = takt_lines_next(&self->lines, line)) == TAKT_LINES_LATER)
        uv_run(&self->loop, UV_RUN_ONCE);
    return state;
}

/* All remaining lines as "number@offset:text" or "number:long", in order. */
static void read_all(world *self, char *text)
{
    takt_text_line line;

    *text = '\0';
    while (next(self, &line) == TAKT_LINES_LINE)
        text += line.text ? sprintf(text, "%d@%d:%.*s ", (int)line.number, (int)line.offset,
                                    (int)line.size, line.text)
                          : sprintf(text, "%d:long ", (int)line.number);
}

Test(lines, those_of_a_file)
{
    static const struct {
        const char *text, *lines;
        unsigned empty;
        unsigned total;
    } rows[] = {
        {"", "", 0, 0},
        {"a", "1@0:a ", 0, 1},
        {"a\n", "1@0:a ", 0, 1},
        {"a\nbc\nd", "1@0:a 2@2:bc 3@5:d ", 0, 3},
        {"\n\na\n\n", "3@2:a ", 3, 4},
        {"a\r\n", "1@0:a\r ", 0, 1},
        {"12345678\nb\n", "1@0:12345678 2@9:b ", 0, 2},
        {"123456789\nb\n", "1:long 2@10:b ", 0, 2},
        {"a\n1234567890123", "1@0:a 2:long ", 0, 2},
        {MARK, "", 0, 0},
        {MARK "\n" MARK "a", "2@4:" MARK "a ", 1, 2},
        {MARK "a\nb", "1@3:a 2@5:b ", 0, 2},
        {MARK "12345678\nb", "1@3:12345678 2@12:b ", 0, 2},
        {MARK "12345678", "1@3:12345678 ", 0, 1},
        {MARK MARK "a", "1@3:" MARK "a ", 0, 1},
        {"\xef\xbb", "1@0:\xef\xbb ", 0, 1},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[64], text[256];
        bool exact = false;
        world self;

        make_file(path, rows[i].text, strlen(rows[i].text));
        open_world(&self, path);
        cr_assert(self.lines.is_file && self.lines.is_regular);
        read_all(&self, text);
        cr_expect_str_eq(text, rows[i].lines, "row %zu: %s", i, text);
        cr_expect_eq(self.lines.empty, rows[i].empty, "row %zu", i);
        cr_expect_eq(takt_lines_total(&self.lines, &exact), rows[i].total, "row %zu", i);
        cr_expect(exact && self.lines.error == 0 && !takt_lines_has_more(&self.lines));
        close_world(&self);
        unlink(path);
    }
}

Test(lines, a_nul_is_a_byte_as_any_other)
{
    char path[64];
    takt_text_line line;
    world self;

    make_file(path, "a\0b\nc\n", 6);
    open_world(&self, path);
    cr_assert_eq(next(&self, &line), TAKT_LINES_LINE);
    cr_expect(line.size == 3 && memcmp(line.text, "a\0b", 3) == 0);
    close_world(&self);
    cr_expect(takt_lines_has_more(&self.lines), "c was not returned");
    unlink(path);
}

Test(lines, a_line_longer_than_a_read_is_one_line)
{
    size_t size = (size_t)300 * 1024;
    char path[64], text[64], *bytes = malloc(size);
    world self;

    memset(bytes, 'x', size);
    bytes[size - 3] = '\n';
    bytes[size - 1] = '\n';
    make_file(path, bytes, size);
    open_world(&self, path);
    read_all(&self, text);
    cr_expect_str_eq(text, "1:long 2@307198:x ");
    close_world(&self);
    unlink(path);
    free(bytes);
}

Test(lines, the_number_of_lines_is_estimated_from_the_first_read)
{
    char path[64];
    bool exact = true;
    takt_text_line line;
    world self;
    FILE *file;

    make_file(path, "", 0);
    file = fopen(path, "w");
    for (unsigned i = 0; i < 100000; i++)
        fputs("123\n", file);
    fclose(file);
    open_world(&self, path);
    cr_expect_eq(takt_lines_total(&self.lines, &exact), 0);
    cr_assert_eq(next(&self, &line), TAKT_LINES_LINE);
    cr_expect_eq(takt_lines_total(&self.lines, &exact), 100000);
    cr_expect_not(exact);
    close_world(&self);
    unlink(path);
}

Test(lines, those_of_a_pipe_come_when_they_are_written)
{
    int ends[2], input = dup(STDIN_FILENO);
    char text[64];
    takt_text_line line;
    world self;

    cr_assert_eq(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    open_world(&self, "-");
    cr_expect_not(self.lines.is_file);
    cr_assert(write(ends[1], "one\ntw", 6) == 6);
    cr_assert_eq(next(&self, &line), TAKT_LINES_LINE);
    cr_expect(line.size == 3 && memcmp(line.text, "one", 3) == 0);
    cr_expect_eq(takt_lines_next(&self.lines, &line), TAKT_LINES_LATER);
    cr_expect(takt_lines_has_more(&self.lines));
    cr_assert(write(ends[1], "o\nend", 5) == 5);
    close(ends[1]);
    read_all(&self, text);
    cr_expect_str_eq(text, "2@4:two 3@8:end ");
    cr_expect(self.ready > 0 && !takt_lines_has_more(&self.lines));
    close_world(&self);
    dup2(input, STDIN_FILENO);
    close(input);
}

Test(lines, closing_during_a_read_frees_after_it)
{
    char path[64];
    takt_text_line line;
    world self;

    make_file(path, "a\n", 2);
    open_world(&self, path);
    cr_assert_eq(takt_lines_next(&self.lines, &line), TAKT_LINES_LATER);
    takt_lines_close(&self.lines, on_closed);
    cr_expect_not(self.closed);
    uv_run(&self.loop, UV_RUN_DEFAULT);
    cr_expect(self.closed);
    cr_expect_eq(self.ready, 0);
    cr_assert_eq(uv_loop_close(&self.loop), 0);
    unlink(path);
}

Test(lines, what_cannot_be_read_is_a_message)
{
    static const struct {
        const char *path, *text;
    } rows[] = {
        {"/nowhere/at/all", "cannot read /nowhere/at/all: No such file or directory"},
        {"/", "cannot read /: illegal operation on a directory"},
    };
    takt_lines lines;
    uv_loop_t loop;

    uv_loop_init(&loop);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        takt_error error;
        cr_expect_eq(
            takt_lines_open(&lines, &loop, rows[i].path, SIZE_MAX_TESTED, on_ready, NULL, &error),
            TAKT_E_SYSTEM);
        cr_expect_str_eq(error.text, rows[i].text);
    }
    cr_assert_eq(uv_loop_close(&loop), 0);
}
