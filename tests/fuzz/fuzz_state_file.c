/*
 * Any bytes as the file that records what became of lines: it is refused and left as it is, or each
 * of its records is one that is written so, the last one of a line holds, and memory goes by the
 * number of its records.
 */
#include "fuzz.h"

#include <sys/stat.h>

#include "jobs/sources/state_file.h"

#define HEADER    "{\"takt\":\"state\",\"version\":1}\n"
#define CHECKED   16  /* records of a file that are looked at one by one */
#define MANY      200 /* attempts that are no longer counted exactly */
#define LINE_DONE 7

typedef struct standing {
    uint64_t line;
    uint32_t sum;
    unsigned attempts;
    takt_line_status status;
} standing;

static standing standing_of(const takt_state_file *state, uint64_t line)
{
    standing found = {.line = line};

    found.status = takt_state_file_get(state, line, &found.sum, &found.attempts);
    return found;
}

static off_t size_of(int file)
{
    struct stat status;

    require(fstat(file, &status) == 0);
    return status.st_size;
}

/* The text of a record of that standing. */
static char *write_record(const standing *one)
{
    takt_state_file state = {.file.fd = STDERR_FILENO}; /* which is never flushed */
    char *text;

    require(takt_state_file_put(&state, one->line, one->sum,
                                one->status == TAKT_LINE_DONE   ? "done"
                                : one->status == TAKT_LINE_DEAD ? "dead"
                                                                : "begun",
                                one->attempts));
    text = fuzz_copy(state.file.text.at, state.file.text.size);
    takt_buffer_free(&state.file.text);
    return text;
}

/* The content of a file with one record. */
static standing read_record(const char *record, size_t size)
{
    char path[FUZZ_PATH_SIZE], *text = malloc(strlen(HEADER) + size);
    takt_state_file state;
    standing read;
    int file;

    require(text != NULL);
    memcpy(text, HEADER, strlen(HEADER));
    memcpy(text + strlen(HEADER), record, size);
    file = fuzz_file(text, strlen(HEADER) + size, path);
    require(takt_state_file_open(&state, path, "input", &(takt_error){0}) == 0);
    require(state.count == 1);
    read = standing_of(&state, takt_state_file_last(&state));
    takt_state_file_close(&state);
    close(file);
    free(text);
    return read;
}

/* Each record alone is one that takt writes; the last record of a line counts. */
static void check_records(const takt_state_file *state, const char *text, const char *end)
{
    standing read[CHECKED];
    int count = 0;

    for (const char *next; count < CHECKED && (next = memchr(text, '\n', (size_t)(end - text)));
         text = next + 1, count++) {
        char *again;
        read[count] = read_record(text, (size_t)(next + 1 - text));
        again = write_record(&read[count]);
        if (strncmp(again, text, strlen(again)) != 0)
            require(read[count].attempts >= MANY ||
                    memmem(text, (size_t)(next - text), "tried", 5));
        free(again);
    }
    if (memchr(text, '\n', (size_t)(end - text)) != NULL)
        return; /* there are more */
    for (int i = count - 1; i >= 0; i--) {
        standing now = standing_of(state, read[i].line);
        bool is_last = true;
        for (int j = i + 1; j < count; j++)
            is_last &= read[j].line != read[i].line;
        if (is_last)
            require(now.status == read[i].status && now.sum == read[i].sum &&
                    now.attempts == read[i].attempts);
    }
}

static void check_lines(const takt_state_file *state)
{
    for (size_t i = 0; i < state->count; i++) {
        standing one = standing_of(state, state->lines[i].line);
        require(one.line > 0 && (i == 0 || one.line > state->lines[i - 1].line));
        require(one.sum <= 0xffffff && one.attempts <= MANY);
        require(one.status == TAKT_LINE_NEW || one.status == TAKT_LINE_TRIED || one.attempts == 0);
    }
}

/* A noted state is there when the file is opened again. */
static void check_noted(takt_state_file *state, const char *path)
{
    size_t count = state->count;
    uint64_t last = takt_state_file_last(state);

    require(takt_state_file_put(state, LINE_DONE, 0xabcdef, "done", 0));
    require(takt_append_flush(&state->file) == 0);
    takt_state_file_close(state);
    require(takt_state_file_open(state, path, "input", &(takt_error){0}) == 0);
    require(state->count >= count && state->count <= count + 1);
    require(takt_state_file_last(state) == (last > LINE_DONE ? last : LINE_DONE));
    require(standing_of(state, LINE_DONE).status == TAKT_LINE_DONE);
    require(standing_of(state, LINE_DONE).sum == 0xabcdef);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH_SIZE], *text = fuzz_copy(data, size);
    int file = fuzz_file(data, size, path);
    const char *end = size > 0 ? memrchr(text, '\n', size) : NULL;
    size_t whole = end ? (size_t)(end + 1 - text) : 0, newlines = 0;
    takt_state_file state;
    takt_error error = {0};

    for (size_t i = 0; i < size; i++)
        newlines += text[i] == '\n';
    if (takt_state_file_open(&state, path, "input", &error) != 0) {
        require(error.code == TAKT_E_SYSTEM && error.text[0] != '\0');
        require(size_of(file) == (off_t)size && state.lines == NULL);
    } else {
        require(state.count <= newlines);
        require(size_of(file) == (off_t)whole);
        check_lines(&state);
        if (whole > 0)
            check_records(&state, text + strlen(HEADER), text + whole);
        check_noted(&state, path);
        takt_state_file_close(&state);
    }
    close(file);
    free(text);
    return 0;
}
