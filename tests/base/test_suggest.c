/*
 * Which word is suggested for a misspelt one, and that none is suggested for an unrelated word.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/suggest.h"

Test(suggest, offers_the_nearest_or_none)
{
    static const char *const words[] = {"name",     "rules",  "rate",      "burst",
                                        "headroom", "within", "lookahead", "max_waiting"};
    static const struct {
        const char *written, *best;
    } rows[] = {
        {"name", "name"},
        {"Name", "name"},
        {"nam", "name"},
        {"nmae", "name"}, /* neighbours swapped are one mistake */
        {"mode", NULL},   /* as far from rate as from name: another word */
        {"lease", NULL},
        {"rat", "rate"},
        {"rates", "rate"}, /* the first of two that are as near */
        {"rule", "rules"},
        {"brust", "burst"},
        {"bursts", "burst"},
        {"head_room", "headroom"},
        {"wihtin", "within"},
        {"lookAhead", "lookahead"},
        {"look-ahead", "lookahead"},
        {"maxwaiting", "max_waiting"},
        {"max_wating", "max_waiting"},
        {"max_waiters", "max_waiting"},
        {"concurrency", NULL},
        {"algorithm", NULL},
        {"", NULL},
        {"x", NULL},
        {"0123456789012345678901234567890123456789012345678901234567890123456789", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_suggestion suggestion;
        takt_suggest_begin(&suggestion, rows[i].written);
        for (size_t word = 0; word < sizeof words / sizeof words[0]; word++)
            takt_suggest_offer(&suggestion, words[word]);
        if (rows[i].best == NULL)
            cr_assert_null(suggestion.best, "%s: %s", rows[i].written, suggestion.best);
        else
            cr_assert_str_eq(suggestion.best, rows[i].best, "%s: %s", rows[i].written,
                             suggestion.best);
    }
}

Test(suggest, a_longer_word_offered_is_no_trouble)
{
    takt_suggestion suggestion;
    char word[300];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    takt_suggest_begin(&suggestion, "aaaaaaaaaa");
    for (size_t length = sizeof word - 1; length > 11; length--) {
        word[length] = '\0';
        takt_suggest_offer(&suggestion, word);
    }
    cr_assert_eq(suggestion.best, word);
}
