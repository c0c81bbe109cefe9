/*
 * test_state_file.c: the file that records what became of lines: which records are read, and that
 * one which was not written so is refused.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jobs/sources/state_file.h"

#define HEADER "{\"takt\":\"state\",\"version\":1}\n"
#define DONE   "{\"line\":17,\"sum\":\"90b2d1\",\"status\":\"done\"}\n"

/* Opens a file of that text behind the header. */
static int open_text(takt_state_file *state, const char *text, size_t size, takt_error *error)
{
    char path[40];
    int file = memfd_create("state", MFD_CLOEXEC), code;

    cr_assert(file >= 0 && write(file, HEADER, strlen(HEADER)) == (ssize_t)strlen(HEADER));
    cr_assert_eq(write(file, text, size), (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    code = takt_state_file_open(state, path, "jobs", error);
    close(file);
    return code;
}

Test(state_file, records)
{
    static const struct {
        const char *text;
        takt_line_status status;
        unsigned attempts;
    } table[] = {
        {"", TAKT_LINE_NEW, 0},
        {DONE, TAKT_LINE_DONE, 0},
        {"{\"line\":17,\"sum\":\"90b2d1\",\"status\":\"begun\",\"attempts\":2}\n", TAKT_LINE_TRIED,
         2},
        {"{\"line\":17,\"sum\":\"90b2d1\",\"status\":\"tried\",\"attempts\":7}\n", TAKT_LINE_TRIED,
         7},
        {DONE "{\"line\":17,\"sum\":\"90b2d1\",\"status\":\"dead\"}\n", TAKT_LINE_DEAD, 0},
        {DONE "{\"line\":17,\"sum\":\"90b2", TAKT_LINE_DONE, 0},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_state_file state;
        takt_error error = {0};
        uint32_t sum;
        unsigned attempts;
        cr_assert_eq(open_text(&state, table[i].text, strlen(table[i].text), &error), 0, "%s: %s",
                     table[i].text, error.text);
        cr_expect_eq(takt_state_file_get(&state, 17, &sum, &attempts), table[i].status, "%s",
                     table[i].text);
        cr_expect_eq(attempts, table[i].attempts, "%s", table[i].text);
        cr_expect_eq(sum, table[i].status == TAKT_LINE_NEW ? 0 : 0x90b2d1, "%s", table[i].text);
        takt_state_file_close(&state);
    }
}

Test(state_file, refuses_what_was_not_written_so)
{
#define ROW(text)                                                                                  \
    {                                                                                              \
        text, sizeof text - 1                                                                      \
    }
    static const struct {
        const char *text;
        size_t size;
    } table[] = {
        ROW("\n"),
        ROW(" " DONE),
        ROW("{\"line\":17,\"sum\":\"90b2d1\",\"status\":\"done\"\n"),
        ROW("{\"line\":17,\"sum\":\"90b2d1\",\"status\":\"done\"}{\"line\":18}\n"),
        ROW("{\"line\":17,\"sum\":\"90b2d1\",\"status\":\"done\"}\0\n"),
        ROW("{\"line\":17,\"sum\":\"90b2d1\",\"status\":\"done\"}\r\n"),
        ROW("{\"line\":17,\"sum\":\"90b2d1\",\"status\":\"done\",\"attempts\":1}\n"),
        ROW("{\"line\":17,\"sum\":\"90b2d1\",\"status\":\"begun\"}\n"),
        ROW("{\"line\":17,\"sum\":\"-1\",\"status\":\"done\"}\n"),
        ROW("{\"line\":-17,\"sum\":\"90b2d1\",\"status\":\"done\"}\n"),
        ROW("{\"line\":0,\"sum\":\"90b2d1\",\"status\":\"done\"}\n"),
        ROW("{\"line\":017,\"sum\":\"90b2d1\",\"status\":\"done\"}\n"),
        ROW("{\"line\":99999999999999999999,\"sum\":\"90b2d1\",\"status\":\"done\"}\n"),
        ROW("{\"line\":17,\"sum\":\"90b2d1\",\"status\":\"tried\",\"attempts\":99999999999}\n"),
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_state_file state;
        takt_error error = {0};
        cr_expect_eq(open_text(&state, table[i].text, table[i].size, &error), TAKT_E_SYSTEM, "%s",
                     table[i].text);
        cr_expect_not_null(strstr(error.text, ":2: this is not a record"), "%s: %s", table[i].text,
                           error.text);
        cr_expect_null(state.lines);
    }
}
