/*
 * reply.c: RFC 5321's codes, RFC 3463's enhanced codes, and the words that greylisting servers use.
 *
 * A server that asks for fewer mails sends 421, 450, 451, 452 or 454. When the enhanced code is
 * about the recipient's mailbox (4.2.x: the mailbox is full), or the text is about greylisting (the
 * first mail to a recipient must be sent twice), slowing the fleet down would not help.
 */
#include "reply.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SECOND_US     INT64_C(1000000)
#define GREYLISTED_US (300 * SECOND_US) /* the usual wait when a server names none */
#define AFTER_MAX_US  (3600 * SECOND_US)

static bool has(const char *text, const char *word)
{
    return strcasestr(text, word) != NULL;
}

static bool is_greylisting(const char *text)
{
    return has(text, "greylist") || has(text, "graylist") || has(text, "grey-list") ||
           has(text, "gray-list") || has(text, "grey list") || has(text, "gray list");
}

/* "4.2.2" in "452 4.2.2 ..." is about a mailbox. */
static bool is_about_mailbox(const char *text)
{
    return strlen(text) > 8 && strncmp(text + 4, "4.2.", 4) == 0;
}

static int64_t unit_us(const char *word)
{
    if (strncasecmp(word, "sec", 3) == 0 ||
        (tolower((unsigned char)*word) == 's' && !isalnum((unsigned char)word[1])))
        return SECOND_US;
    if (strncasecmp(word, "min", 3) == 0)
        return 60 * SECOND_US;
    if (strncasecmp(word, "hour", 4) == 0)
        return 3600 * SECOND_US;
    return 0;
}

/* "try again in 5 minutes", "greylisted for 300s": the first number with a unit of time. */
static int64_t told_us(const char *text)
{
    while (*text) {
        if (!isdigit((unsigned char)*text)) {
            text++;
            continue;
        }
        char *end;
        unsigned long long count = strtoull(text, &end, 10);
        text = end;
        int64_t unit = unit_us(text + strspn(text, " "));
        if (unit > 0)
            return count > (unsigned long long)(AFTER_MAX_US / unit) ? AFTER_MAX_US
                                                                     : (int64_t)count * unit;
    }
    return 0;
}

takt_mail_reply_meaning takt_mail_reply_read(int code, const char *text)
{
    takt_mail_reply_meaning meaning = {.verdict = REPLY_RETRY};

    if (code >= 200 && code < 300) {
        meaning.verdict = REPLY_SENT;
    } else if (code == 530 || code == 534 || code == 535 || code == 538) {
        meaning.verdict = REPLY_UNUSABLE;
    } else if (code >= 500 && code < 600) {
        meaning.verdict = REPLY_DEAD;
    } else if (code >= 400) {
        bool greylisted = is_greylisting(text);
        meaning.after_us = told_us(text);
        if (greylisted && meaning.after_us == 0)
            meaning.after_us = GREYLISTED_US;
        meaning.penalize =
            (code == 421 || code == 450 || code == 451 || code == 452 || code == 454) &&
            !greylisted && !is_about_mailbox(text);
    }
    return meaning;
}
