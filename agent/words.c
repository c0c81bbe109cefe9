/*
 * words.c: see words.h.
 */
#include "words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "kit/text.h"
#include "reply.h"

void takt_agent_words_begin(takt_agent_words *words, takt_agent_connection *connection,
                            const takt_reply *first, int count)
{
    *words = (takt_agent_words){
        .connection = connection, .at = first + 1, .end = first + count, .command = first->text};
}

bool takt_agent_words_left(const takt_agent_words *words)
{
    return !words->wrong && words->at < words->end;
}

bool takt_agent_words_are(takt_agent_words *words, const char *option)
{
    if (!takt_agent_words_left(words) || strcasecmp(words->at->text, option) != 0 ||
        words->at->size != strlen(option))
        return false;
    words->at++;
    return true;
}

void takt_agent_words_refuse(takt_agent_words *words, const char *format, ...)
{
    char text[TAKT_ERROR_TEXT_SIZE], shown[TAKT_QUOTE_SIZE];
    va_list arguments;

    if (words->wrong)
        return;
    words->wrong = true;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    takt_agent_reply_error(words->connection, "ERR", "%s: %s", takt_quote(words->command, shown),
                           text);
}

const char *takt_agent_words_text(takt_agent_words *words, const char *what, size_t max)
{
    const takt_reply *word = words->at;

    if (words->wrong)
        return "";
    if (word == words->end)
        takt_agent_words_refuse(words, "%s is missing", what);
    else if (word->size > max || strlen(word->text) != word->size)
        takt_agent_words_refuse(words, "%s has at most %zu bytes and no NUL", what, max);
    if (words->wrong)
        return "";
    words->at++;
    return word->text;
}

/* Whether the word is a whole number. */
static bool is_number(const takt_reply *word, int64_t min, int64_t max, int64_t *number)
{
    takt_reader reader = {word->text, word->text + word->size, false};

    *number = takt_read_int(&reader, min, max);
    return takt_read_done(&reader);
}

int64_t takt_agent_words_number(takt_agent_words *words, const char *what, int64_t min, int64_t max)
{
    char shown[TAKT_QUOTE_SIZE];
    int64_t number = min;
    const char *text = takt_agent_words_text(words, what, SIZE_MAX);

    if (!words->wrong && !is_number(words->at - 1, min, max, &number))
        takt_agent_words_refuse(words, "%s is a whole number from %lld to %lld, not %s", what,
                                (long long)min, (long long)max, takt_quote(text, shown));
    return number;
}

int64_t takt_agent_words_duration(takt_agent_words *words, const char *what)
{
    char shown[TAKT_QUOTE_SIZE];
    int64_t value = 0;
    const char *text = takt_agent_words_text(words, what, SIZE_MAX);

    if (words->wrong)
        return 0;
    if (is_number(words->at - 1, 0, INT64_MAX / 1000000, &value))
        return value * 1000;
    if (takt_parse_duration(text, &value, NULL) != 0 || value < 0)
        takt_agent_words_refuse(words,
                                "%s is a number of milliseconds or a duration such as 30s, not %s",
                                what, takt_quote(text, shown));
    return value;
}

void takt_agent_words_target(takt_agent_words *words, char name[TAKT_NAME_SIZE_MAX + 1],
                             const char **key)
{
    const char *text =
        takt_agent_words_text(words, "LIMIT[:KEY]", TAKT_NAME_SIZE_MAX + 1 + TAKT_KEY_SIZE_MAX);
    size_t size = strcspn(text, ":");

    name[0] = '\0';
    *key = NULL;
    if (words->wrong)
        return;
    if (size == 0 || size > TAKT_NAME_SIZE_MAX) {
        takt_agent_words_refuse(
            words, "a limit's name has 1 to %d characters, and its key follows a colon",
            TAKT_NAME_SIZE_MAX);
        return;
    }
    memcpy(name, text, size);
    name[size] = '\0';
    *key = text[size] == ':' ? text + size + 1 : NULL;
    if (*key && (!**key || strlen(*key) > TAKT_KEY_SIZE_MAX))
        takt_agent_words_refuse(
            words, "a key has 1 to %d bytes; leave out the colon for the limit as a whole",
            TAKT_KEY_SIZE_MAX);
}

void takt_agent_words_amount(takt_agent_words *words, takt_amount *amount, int64_t min, int64_t max)
{
    bool is_unit =
        takt_agent_words_left(words) && strchr("+-.0123456789", words->at->text[0]) == NULL;

    amount->unit = NULL;
    if (is_unit)
        amount->unit = takt_agent_words_text(words, "the unit of COST", TAKT_UNIT_SIZE_MAX);
    amount->amount = takt_agent_words_number(
        words, is_unit ? "the number behind the unit of COST" : "COST", min, max);
}

bool takt_agent_words_end(takt_agent_words *words, const char *options)
{
    char shown[TAKT_QUOTE_SIZE];

    if (takt_agent_words_left(words))
        takt_agent_words_refuse(words, "%s is not an option here; there are: %s",
                                takt_quote(words->at->text, shown), *options ? options : "none");
    return !words->wrong;
}
