/*
 * ledger_text.c: see ledger_text.h.
 */
#include "core/ledger_text.h"

#include <string.h>

#include "base/text.h"
#include "core/brake.h"
#include "core/text_part.h"

#define NUMBER_SIZE 21 /* the longest int64 and its separator */
#define PLACE_SIZE  ((17 + 2 * TAKT_MORE_MAX) * NUMBER_SIZE)
#define HOLDER_SIZE (5 * NUMBER_SIZE)
#define TENANT_SIZE (4 * NUMBER_SIZE + TAKT_TENANT_TEXT_MAX + 1)

size_t takt_ledger_text_size(int line_count, int holder_count, int tenant_count)
{
    return (size_t)TAKT_RULES_MAX * (TAKT_RULE_TEXT_SIZE + 1) +
           (31 + 3 * TAKT_OFFERS_MAX + 3 * TAKT_GAPS_MAX) * NUMBER_SIZE + TAKT_REASON_TEXT_MAX +
           (size_t)line_count * PLACE_SIZE + (size_t)holder_count * HOLDER_SIZE +
           (size_t)tenant_count * TENANT_SIZE;
}

size_t takt_ledger_encode(const takt_ledger *ledger, char *text, size_t size)
{
    const takt_numbers *numbers = ledger->numbers;
    takt_writer writer = {text, text + size, false};

    for (int i = 0; i < numbers->rule_count; i++) {
        if (i > 0)
            takt_write_char(&writer, ';');
        takt_rule_write(&numbers->rules[i], &ledger->state.rules[i], &writer);
    }
    takt_text_write_states(&writer, text, ledger);
    takt_text_write_rows(&writer, text, ledger);
    return (size_t)(writer.at - text);
}

/* How many parts begin with the letter. */
static int count_letter(const char *text, size_t size, char letter)
{
    int count = 0;

    for (const char *at = text; (at = memchr(at, letter, size - (size_t)(at - text))); at++)
        count += at == text || at[-1] == ';';
    return count;
}

int takt_ledger_text_places(const char *text, size_t size)
{
    return count_letter(text, size, 'w');
}

int takt_ledger_text_holders(const char *text, size_t size)
{
    return count_letter(text, size, 'h');
}

int takt_ledger_text_tenants(const char *text, size_t size)
{
    return count_letter(text, size, 'p');
}

/* Reads the rules: all segments before the first one whose letter is not an algorithm's. True: more
 * segments follow. */
static bool read_rules(takt_reader *reader, takt_ledger *ledger, takt_numbers *kept)
{
    kept->rule_count = 0;
    do {
        if (reader->at < reader->end && !takt_algorithm_lettered(*reader->at))
            return true;
        if (kept->rule_count == TAKT_RULES_MAX) {
            reader->bad = true;
            return false;
        }
        takt_rule_read(&kept->rules[kept->rule_count], &ledger->state.rules[kept->rule_count],
                       reader);
        kept->rule_count++;
    } while (!reader->bad && takt_read_if(reader, ';'));
    return false;
}

static bool read_ledger(takt_ledger *ledger, const takt_numbers *numbers, takt_numbers *kept,
                        const char *text, size_t size)
{
    takt_reader reader = {text, text + size, false};

    takt_ledger_empty(ledger, kept);
    *kept = *numbers;
    kept->revision = 0;
    if (read_rules(&reader, ledger, kept) && takt_text_read_states(&reader, ledger, kept))
        (void)takt_text_read_rows(&reader, ledger, kept);
    if (ledger->leased_until_us == 0) /* the script reads only this */
        ledger->holder_count = 0;
    return takt_read_done(&reader);
}

int takt_ledger_decode(takt_ledger *ledger, const takt_numbers *numbers, takt_numbers *kept,
                       int64_t now_us, const char *text, size_t size)
{
    int64_t given_until_us;

    if (read_ledger(ledger, numbers, kept, text, size)) {
        takt_ledger_adopt(ledger, numbers, now_us);
        return 0;
    }
    given_until_us = now_us + numbers->lookahead_us;
    takt_ledger_init(ledger, numbers, now_us);
    takt_numbers_exhaust(numbers, &ledger->state, given_until_us); /* a bucket may be deeper */
    ledger->blocked_until_us = given_until_us + takt_numbers_span(numbers);
    takt_brake_pace(ledger, now_us);
    return -1;
}
