/*
 * Any text as the Retry-After and the Date of an answer, a line each: a whole number counts as it
 * is, a date is one of the calendar, and the result is from now to 50 years.
 */
#include "fuzz.h"

#include <time.h>

#include <takt/http.h>

#include "rules/rule.h"

#define SECOND      INT64_C(1000000)
#define SECONDS_MAX (TAKT_SPAN_MAX_US / SECOND)
#define EPOCH       "Thu, 01 Jan 1970 00:00:00 GMT"

static int64_t read_or_untouched(const char *value, const char *date)
{
    int64_t us = -7;
    int code = takt_http_retry_after(value, date, &us);

    if (code != 0) {
        require(code == TAKT_E_INVALID && us == -7);
        return -7;
    }
    require(us >= 0 && us <= TAKT_SPAN_MAX_US && us % SECOND == 0);
    return us;
}

/* What a number of seconds means; -7: it is none. */
static int64_t expected_of_number(const char *value)
{
    size_t first = strspn(value, " \t"), digits = strspn(value + first, "0123456789");
    const char *rest = value + first + digits;
    int64_t seconds = 0;
    bool more = false;

    if (digits > 0 && rest[0] == '.' && strspn(rest + 1, "0123456789") > 0) {
        more = strspn(rest + 1, "0") < strspn(rest + 1, "0123456789");
        rest += 1 + strspn(rest + 1, "0123456789");
    }
    if (digits == 0 || rest[strspn(rest, " \t")] != '\0')
        return -7;
    for (size_t i = 0; i < digits && seconds <= SECONDS_MAX; i++)
        seconds = 10 * seconds + (value[first + i] - '0');
    seconds += more;
    return (seconds < SECONDS_MAX ? seconds : SECONDS_MAX) * SECOND;
}

/* The two forms that have one way to write a date have the day of the week that the calendar has;
 * the other one may begin a day with a blank. */
static void check_form(const char *date, const struct tm *at)
{
    char imf[64], asctime_form[64];

    date += strspn(date, " \t");
    require(strftime(imf, sizeof imf, "%a, %d %b %Y %H:%M:%S GMT", at) == strlen(EPOCH));
    require(strftime(asctime_form, sizeof asctime_form, "%a %b %d %H:%M:%S %Y", at) == 24);
    if (date[3] == ',')
        require(strncmp(date, imf, strlen(imf)) == 0);
    if (date[3] == ' ')
        require(strncmp(date, asctime_form, 8) == 0 &&
                strncmp(date + 9, asctime_form + 9, 15) == 0);
}

/* A date is the same instant in the form that servers send. */
static void check_date(const char *date)
{
    int64_t us = read_or_untouched(date, EPOCH);
    time_t seconds = us / SECOND;
    char text[64];
    struct tm at;

    if (us < 0 || us == TAKT_SPAN_MAX_US || expected_of_number(date) >= 0)
        return;
    require(gmtime_r(&seconds, &at) != NULL);
    require(strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &at) == strlen(EPOCH));
    if (us > 0)
        check_form(date, &at);
    require(read_or_untouched(text, EPOCH) == us);
    if (us > 0) {
        require(read_or_untouched(EPOCH, date) == 0);
        require(read_or_untouched(date, text) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *value = fuzz_cut(&data, &size, '\n');
    char *date = fuzz_cut(&data, &size, '\n');
    char *padded = malloc(strlen(value) + 4);
    int64_t us = read_or_untouched(value, date), number = expected_of_number(value);

    require(padded != NULL);
    require(number < 0 || us == number);
    sprintf(padded, "\t %s ", value);
    require(read_or_untouched(padded, date) == us);
    require(read_or_untouched(value, NULL) == number);
    if (us > 0 && number < 0)
        require(read_or_untouched(date, value) == 0);
    check_date(value);
    check_date(date);
    free(padded);
    free(value);
    free(date);
    return 0;
}
