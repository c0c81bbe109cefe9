/*
 * Replies of servers, and their meaning.
 */
#include <criterion/criterion.h>

#include "mail/reply.h"

#define S INT64_C(1000000)

Test(reply, table)
{
    static const struct {
        int code;
        const char *text;
        takt_mail_reply_verdict verdict;
        bool penalize;
        int64_t after_us;
    } rows[] = {
        {250, "250 2.0.0 Ok: queued as 4D2B", REPLY_SENT, false, 0},
        {251, "251 will forward", REPLY_SENT, false, 0},
        {421, "421 4.7.0 Too many messages, slow down", REPLY_RETRY, true, 0},
        {421, "421 4.3.2 try again in 2 minutes", REPLY_RETRY, true, 120 * S},
        {450, "450 4.7.1 rate limited", REPLY_RETRY, true, 0},
        {451, "451 4.7.1 retry in 30s", REPLY_RETRY, true, 30 * S},
        {451, "451 4.7.1 retry in 90 sec.", REPLY_RETRY, true, 90 * S},
        {451, "451 come back in 1 hour", REPLY_RETRY, true, 3600 * S},
        {451, "451 come back in 99999999999999999999 hours", REPLY_RETRY, true, 3600 * S},
        {452, "452 4.3.1 Insufficient system storage", REPLY_RETRY, true, 0},
        {452, "452 4.2.2 mailbox full", REPLY_RETRY, false, 0},
        {450, "450 4.2.0 Recipient address rejected: Greylisted", REPLY_RETRY, false, 300 * S},
        {451, "451 Graylisting in action, retry in 60 seconds", REPLY_RETRY, false, 60 * S},
        {451, "451 4.7.1 Grey-list: back in 5 min", REPLY_RETRY, false, 300 * S},
        {454, "454 4.7.0 Temporary authentication failure", REPLY_RETRY, true, 0},
        {455, "455 parameters", REPLY_RETRY, false, 0},
        {432, "432 4.7.12 password transition", REPLY_RETRY, false, 0},
        {530, "530 5.7.0 Authentication required", REPLY_UNUSABLE, false, 0},
        {535, "535 5.7.8 bad", REPLY_UNUSABLE, false, 0},
        {538, "538 5.7.11 encryption required", REPLY_UNUSABLE, false, 0},
        {534, "534 5.7.9 too weak", REPLY_UNUSABLE, false, 0},
        {550, "550 5.1.1 no such user", REPLY_DEAD, false, 0},
        {550, "550 greylisted, try again in 5 minutes", REPLY_DEAD, false, 0},
        {554, "554 5.7.1 spam", REPLY_DEAD, false, 0},
        {552, "552 5.3.4 too big", REPLY_DEAD, false, 0},
        {354, "354 go", REPLY_RETRY, false, 0}, /* nothing that ends a mail */
        {0, "", REPLY_RETRY, false, 0},
        {450, "450", REPLY_RETRY, true, 0},
        {450, "450 5 monkeys 3 m", REPLY_RETRY, true, 0}, /* no unit of time */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_mail_reply_meaning meaning = takt_mail_reply_read(rows[i].code, rows[i].text);
        cr_assert_eq(meaning.verdict, rows[i].verdict, "%s", rows[i].text);
        cr_assert_eq(meaning.penalize, rows[i].penalize, "%s", rows[i].text);
        cr_assert_eq(meaning.after_us, rows[i].after_us, "%s: %lld", rows[i].text,
                     (long long)meaning.after_us);
    }
}
