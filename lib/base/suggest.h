/*
 * suggest.h: "did you mean": finds the word that is nearest to a misspelt one.
 */
#ifndef TAKT_BASE_SUGGEST_H
#define TAKT_BASE_SUGGEST_H

typedef struct takt_suggestion {
    const char *written;
    const char *best; /* the nearest word so far; NULL: no word is near */
    unsigned distance;
} takt_suggestion;

void takt_suggest_begin(takt_suggestion *suggestion, const char *written);
void takt_suggest_offer(takt_suggestion *suggestion, const char *word);

#endif
