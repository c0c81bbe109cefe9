/*
 * Any lines as a mail server's replies, during the greeting or a mail (the first byte): the kept
 * text is one printable line that begins with its code, lines after a refusal do not count, and the
 * outcome is within the bounds.
 */
#include "fuzz.h"

#include "mail/reply.h"
#include "mail/smtp.h"

#define HOUR_US INT64_C(3600000000)

static void check_text(const takt_mail_smtp_delivery *delivery)
{
    const char *text = delivery->outcome.text;
    char code[8];

    require(strnlen(text, SMTP_TEXT_SIZE) < SMTP_TEXT_SIZE && strlen(text) == delivery->text_size);
    for (const char *at = text; *at; at++)
        require(*at >= ' ' && *at < 0x7f);
    require(delivery->outcome.code >= 0 && delivery->outcome.code <= 999);
    snprintf(code, sizeof code, "%03d ", delivery->outcome.code);
    require(delivery->outcome.code == 0 ? text[0] == '\0' : strncmp(text, code, 4) == 0);
}

static void check_meaning(int code, const char *text)
{
    takt_mail_reply_meaning meaning = takt_mail_reply_read(code, text);

    require(meaning.after_us >= 0 && meaning.after_us <= HOUR_US);
    require((meaning.verdict == REPLY_SENT) == (code >= 200 && code < 300));
    require((meaning.verdict == REPLY_DEAD || meaning.verdict == REPLY_UNUSABLE) ==
            (code >= 500 && code < 600));
    require(meaning.verdict == REPLY_RETRY || (meaning.after_us == 0 && !meaning.penalize));
    require(!meaning.penalize || (code >= 400 && code < 500));
}

/* What follows a refusal, or a line with another code, changes nothing. */
static void note(takt_mail_smtp_delivery *delivery, const char *line)
{
    bool is_over = delivery->refused || delivery->other_code;
    takt_mail_smtp_outcome before = delivery->outcome;
    bool goes_on = takt_mail_smtp_note_line(delivery, line, strlen(line));

    require(goes_on || !is_over);
    if (is_over)
        require(memcmp(&before, &delivery->outcome, sizeof before) == 0);
    require(!delivery->other_code || delivery->other_code != delivery->outcome.code);
    require(!delivery->refused || (delivery->in_mail && delivery->outcome.code >= 400));
    check_text(delivery);
    check_meaning(delivery->outcome.code, delivery->outcome.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    takt_mail_smtp_delivery delivery = {0};

    if (size == 0)
        return 0;
    delivery.in_mail = *data & 1;
    for (data++, size--; size > 0;) {
        char *text = fuzz_cut(&data, &size, '\n');
        char *line = malloc(strlen(text) + 2);
        require(line != NULL);
        sprintf(line, "%s\n", text); /* as libcurl reports it */
        note(&delivery, line);
        for (int code = 0; code <= 600; code += 50)
            check_meaning(code + 1, text);
        free(line);
        free(text);
    }
    return 0;
}
