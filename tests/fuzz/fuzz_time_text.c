/*
 * Any text as a duration, a rate and a whole number: a valid one is in range and reads back the
 * same after it was written; an invalid one leaves the outputs unchanged and has a message.
 */
#include "fuzz.h"

#include <takt/policy.h>

#include "base/time_text.h"

static void check_duration(const char *text)
{
    int64_t us = -7, again = -7;
    char written[64];
    takt_error error = {0};
    if (takt_parse_duration(text, &us, &error) != 0) {
        require(us == -7 && error.code == TAKT_E_INVALID && error.text[0] != '\0');
        return;
    }
    require(us >= 0 && us <= TAKT_DURATION_MAX_US);
    takt_format_duration(us, written, sizeof written);
    require(takt_parse_duration(written, &again, NULL) == 0 && again == us);
}

static void check_rate(const char *text)
{
    int64_t tokens = -7, period_us = -7, tokens_again = 0, period_again = 0;
    char written[64];
    takt_error error = {0};
    if (takt_parse_rate(text, &tokens, &period_us, &error) != 0) {
        require(tokens == -7 && period_us == -7 && error.code == TAKT_E_INVALID &&
                error.text[0] != '\0');
        return;
    }
    require(tokens >= 1 && tokens <= TAKT_TOKENS_MAX);
    require(period_us >= 1 && period_us <= TAKT_DURATION_MAX_US);
    takt_format_rate(tokens, period_us, written, sizeof written);
    require(takt_parse_rate(written, &tokens_again, &period_again, NULL) == 0);
    require(tokens_again == tokens && period_again == period_us);
}

static void check_whole(const char *text)
{
    int64_t value = -7, min = -7;
    if (takt_parse_whole(text, INT64_MAX, &value) != 0) {
        require(value == -7);
        return;
    }
    require(value >= 0);
    require(takt_parse_whole(text, value, &min) == 0 && min == value);
    require(value == 0 || takt_parse_whole(text, value - 1, &min) == -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_copy(data, size);

    check_duration(text);
    check_rate(text);
    check_whole(text);
    free(text);
    return 0;
}
