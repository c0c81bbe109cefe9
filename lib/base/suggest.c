/*
 * suggest.c: finds the nearest word by edit distance. An edit adds, removes or replaces a letter,
 * or swaps two neighbours; case is ignored. This file decides the greatest distance of a
 * suggestion. Callers supply the words.
 */
#include "base/suggest.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#define WORD_MAX 64

/* The greatest distance. Short words have many neighbours by chance, so their distance is lower. */
static unsigned tolerated(size_t length)
{
    return length <= 4 ? 1 : length <= 8 ? 2 : 3;
}

static unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static int lower(const char *word, size_t at)
{
    return tolower((unsigned char)word[at]);
}

static unsigned distance_of(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned rows[3][WORD_MAX + 1]; /* distances of the first i, i - 1, i - 2 letters of a */
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *above_that = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned exchanged = lower(a, i - 1) != lower(b, j - 1);
            row[j] = min(above[j - 1] + exchanged, min(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a, i - 1) == lower(b, j - 2) &&
                lower(a, i - 2) == lower(b, j - 1))
                row[j] = min(row[j], above_that[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

void takt_suggest_begin(takt_suggestion *suggestion, const char *written)
{
    *suggestion = (takt_suggestion){.written = written, .distance = tolerated(strlen(written)) + 1};
}

void takt_suggest_offer(takt_suggestion *suggestion, const char *word)
{
    size_t written_length = strlen(suggestion->written);
    size_t length = strlen(word);
    size_t apart = length > written_length ? length - written_length : written_length - length;
    if (written_length > WORD_MAX || length > WORD_MAX || apart >= suggestion->distance)
        return;
    unsigned distance = distance_of(suggestion->written, written_length, word, length);
    if (distance < suggestion->distance) {
        suggestion->distance = distance;
        suggestion->best = word;
    }
}
