/*
 * Collects a text that is written in pieces.
 */
#ifndef TAKT_TESTS_SIM_TEXT_H
#define TAKT_TESTS_SIM_TEXT_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef struct test_text {
    char *text; /* with NUL */
    size_t size;
    int calls_left; /* 0: the next one fails with -7; below: any number */
} test_text;

static inline int keep_text(const char *text, size_t size, void *data)
{
    test_text *kept = data;

    if (kept->calls_left == 0)
        return -7;
    kept->calls_left--;
    kept->text = realloc(kept->text, kept->size + size + 1);
    cr_assert_not_null(kept->text);
    memcpy(kept->text + kept->size, text, size);
    kept->size += size;
    kept->text[kept->size] = '\0';
    return 0;
}

static inline int count_of(const test_text *kept, const char *word)
{
    int count = 0;

    for (const char *at = kept->text; (at = strstr(at, word)); at++)
        count++;
    return count;
}

#endif
