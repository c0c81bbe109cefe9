/*
 * Timezone files as bytes: the parts of a small one, and each way in which one can be wrong.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "zone/tzif.h"

#define HOUR_US  INT64_C(3600000000)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

typedef struct file {
    unsigned char bytes[512];
    size_t size;
} file;

static void put(file *f, uint64_t value, int bytes)
{
    while (bytes-- > 0)
        f->bytes[f->size++] = (unsigned char)(value >> 8 * bytes);
}

static void put_header(file *f, char version, unsigned leaps, unsigned changes, unsigned types)
{
    memcpy(f->bytes + f->size, "TZif", 4);
    f->bytes[f->size + 4] = (unsigned char)version;
    memset(f->bytes + f->size + 5, 0, 15);
    f->size += 20;
    put(f, 0, 4);
    put(f, 0, 4);
    put(f, leaps, 4);
    put(f, changes, 4);
    put(f, types, 4);
    put(f, 4, 4);
}

/* Three changes between two local times: +1 h, +2 h. */
static void put_block(file *f, char version, int time_size)
{
    put_header(f, version, 0, 3, 2);
    put(f, (uint64_t)-1000, time_size);
    put(f, 1000000, time_size);
    put(f, 2000000, time_size);
    put(f, 0x000100, 3);
    put(f, 3600, 4);
    put(f, 0, 2);
    put(f, 7200, 4);
    put(f, 0x0100, 2);
    memcpy(f->bytes + f->size, "ABC", 4);
    f->size += 4;
}

static file second_version(const char *end)
{
    file f = {.size = 0};

    put_block(&f, '2', 4);
    put_block(&f, '2', 8);
    memcpy(f.bytes + f.size, end, strlen(end));
    f.size += strlen(end);
    return f;
}

static int read_file(const file *f, takt_zone_change **changes, int *count, takt_error *error)
{
    unsigned char *exact = malloc(f->size > 0 ? f->size : 1); /* so that reading past it shows */
    int code;

    memcpy(exact, f->bytes, f->size);
    code = takt_tzif_read(exact, f->size, changes, count, error);
    free(exact);
    return code;
}

Test(tzif, reads_both_versions)
{
    file first = {.size = 0}, second = second_version("\n\n");
    const file *files[] = {&first, &second};

    put_block(&first, '\0', 4);
    for (int i = 0; i < 2; i++) {
        takt_zone_change *changes = NULL;
        takt_error error = {0};
        int count = 0;
        cr_assert_eq(read_file(files[i], &changes, &count, &error), 0, "%s", error.text);
        cr_assert_eq(count, 3);
        cr_expect_eq(changes[0].at_us, 0);
        cr_expect_eq(changes[0].offset_us, HOUR_US);
        cr_expect_eq(changes[1].at_us, INT64_C(1000000000000));
        cr_expect_eq(changes[1].offset_us, 2 * HOUR_US);
        cr_expect_eq(changes[2].at_us, INT64_C(2000000000000));
        cr_expect_eq(changes[2].offset_us, HOUR_US);
        free(changes);
    }
}

Test(tzif, the_last_line_goes_on)
{
    file f = second_version("\nABC-1DEF,M3.5.0,M10.5.0/3\n");
    takt_zone_change *changes = NULL;
    takt_error error = {0};
    int count = 0;

    cr_assert_eq(read_file(&f, &changes, &count, &error), 0, "%s", error.text);
    cr_expect_eq(count, 3 + 2 * 131, "%d", count); /* both of each year from 1970 to 2100 */
    cr_expect_eq(changes[3].at_us % HOUR_US, 0);
    free(changes);
}

/* One byte of a good file changed, or what follows a place cut off. */
Test(tzif, refuses)
{
    enum { FIRST = 44 + 3 * 5 + 12 + 4 }; /* the size of the first block */
    static const struct {
        size_t at;
        int value; /* -1: cut off here */
        const char *words;
    } rows[] = {
        {0, -1, "it does not begin as one"},
        {43, -1, "it does not begin as one"},
        {0, 'X', "it does not begin as one"},
        {50, -1, "it is cut off"},
        {FIRST + 20, -1, "it does not begin as one"},
        {FIRST, 'X', "it does not begin as one"},
        {FIRST + 60, -1, "it is cut off"},
        {FIRST + 32, 255, "its counts are too large"},
        {FIRST + 34, 200, "it is cut off"},
        {FIRST + 31, 1, "it is cut off"},
        {FIRST + 39, 0, "it names no local time"},
        {FIRST + 44 + 16, 255, "its changes are not in order"},
        {FIRST + 44 + 24, 2, "a change leads to a local time that it does not name"},
        {FIRST + 44 + 27, 127, "a local time is more than a day from UTC"},
        {FIRST + 44 + 27, 255, "a local time is more than a day from UTC"},
        {FIRST + 87, -1, "its last line is missing"},
        {FIRST + 88, -1, "its last line is missing"},
        {FIRST + 87, 'X', "its last line is missing"},
        {FIRST + 92, -1, "its last line is missing"},
        {FIRST + 88, '1', "its last line cannot be read"},
        {4, '\0', "something follows its end"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        file f = second_version("\nABC-1\n");
        takt_zone_change *changes = NULL;
        takt_error error = {0};
        int count = 7;
        if (rows[i].value >= 0)
            f.bytes[rows[i].at] = (unsigned char)rows[i].value;
        else
            f.size = rows[i].at;
        cr_expect_eq(read_file(&f, &changes, &count, &error), TAKT_E_POLICY, "row %zu", i);
        cr_expect(strstr(error.text, rows[i].words) != NULL, "row %zu: %s", i, error.text);
        cr_expect_null(changes);
        cr_expect_eq(count, 7);
    }
}

Test(tzif, refuses_leap_seconds)
{
    file f = {.size = 0};
    takt_zone_change *changes = NULL;
    takt_error error = {0};
    int count;

    put_header(&f, '\0', 1, 0, 1);
    put(&f, 0, 6);
    put(&f, 0, 4);
    put(&f, 0, 8);
    cr_assert_eq(read_file(&f, &changes, &count, &error), TAKT_E_POLICY);
    cr_assert(strstr(error.text, "leap seconds") != NULL, "%s", error.text);
}
