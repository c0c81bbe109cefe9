/*
 * Any JSON as a job of takt-mail: the composed mail is ASCII in lines of at most 998 characters,
 * each ended by CR LF, none beginning with a dot; it has only known headers, each at most once.
 */
#include "fuzz.h"

#include <strings.h>

#include <takt/policy.h>

#include "mail/letter.h"

static const char *const known[] = {
    "Date",
    "Message-ID",
    "From",
    "Reply-To",
    "To",
    "Cc",
    "Subject",
    "List-ID",
    "Auto-Submitted",
    "MIME-Version",
    "Precedence",
    "List-Unsubscribe",
    "List-Unsubscribe-Post",
    "Feedback-ID",
    "Content-Type",
    "Content-Transfer-Encoding",
};
#define KNOWN (sizeof known / sizeof known[0])

static void check_header(const char *line, unsigned *seen)
{
    size_t size = strcspn(line, ":");

    if (*line == ' ' || strncasecmp(line, "X-", 2) == 0)
        return;
    for (size_t i = 0; i < KNOWN; i++)
        if (strlen(known[i]) == size && strncasecmp(line, known[i], size) == 0) {
            require(!(*seen & 1u << i));
            *seen |= 1u << i;
            return;
        }
    abort();
}

static void check_message(takt_buffer *out)
{
    const char *line = takt_buffer_end(out);
    unsigned seen = 0;
    int in_headers = 1;

    require(!out->failed && strlen(line) == out->size);
    for (const char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        require(end > line && end[-1] == '\r' && end - line <= 999 && *line != '.');
        for (const char *c = line; c < end - 1; c++)
            require((unsigned char)*c < 0x7f && (*c >= ' ' || *c == '\t'));
        if (end == line + 1)
            in_headers = 0;
        if (in_headers)
            check_header(line, &seen);
    }
    require(*line == '\0' && !in_headers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const takt_mail_letter_settings bare = {0};
    static const takt_mail_letter_settings full = {
        "Me <me@example.org>",
        "b@example.org",
        "S {id}",
        "T {id}",
        "<p>{id}",
        "https://e.org/{id}",
        true,
    };
    static takt_mail_letter letter;
    json_t *fields = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);

    for (int round = 0; round < 2 && json_is_object(fields); round++) {
        takt_error error = {0};
        takt_buffer out = {0};
        char id[MESSAGE_ID_SIZE], key[TAKT_KEY_SIZE_MAX + 1];
        if (takt_mail_letter_read(&letter, round ? &full : &bare, fields, &error) != 0) {
            require(error.code == TAKT_E_INVALID && error.text[0] != '\0');
            continue;
        }
        takt_mail_letter_key(&letter, "{domain}", key, &error);
        takt_mail_message_identify(&letter.message, "key", id);
        takt_mail_message_write(&letter.message, id, &out);
        check_message(&out);
        takt_buffer_free(&out);
    }
    json_decref(fields);
    return 0;
}
