/*
 * Any text as an instant of RFC 3339: a valid one is after 1970, and reads back the same after it
 * was written. The start of a simulation, which has a single form, is the same instant.
 */
#include "fuzz.h"

#include <inttypes.h>
#include <time.h>

#include "jobs/text/instant.h"
#include "refusal.h"
#include "simulate/simulate.h"

#define SECOND    INT64_C(1000000)
#define YEAR_9999 INT64_C(253402300799) /* its last second */
#define DAY       INT64_C(86400)
#define YEAR_2069 (INT64_C(100) * 365 * DAY)

/* Microseconds as "2026-11-22T12:00:00.000250Z". */
static void write_instant(int64_t us, char text[64])
{
    time_t seconds = us / SECOND;
    struct tm at;
    size_t size;

    require(gmtime_r(&seconds, &at) != NULL);
    size = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &at);
    require(size == 19);
    snprintf(text + size, 32, ".%06" PRId64 "Z", us % SECOND);
}

/* In UTC the date and the time are those of the text, but for a leap second. */
static void check_utc(const char *text, int64_t us)
{
    char written[64];

    if (strpbrk(text, "Zz") == NULL || strncmp(text + 17, "60", 2) == 0)
        return;
    write_instant(us, written);
    require(strncmp(text, written, 10) == 0 && strncmp(text + 11, written + 11, 8) == 0);
}

static void check_again(int64_t us)
{
    char text[64];
    int64_t again = -7;

    write_instant(us, text);
    require(takt_instant_read(text, &again) && again == us);
    text[26] = '\0'; /* no "Z" */
    require(!takt_instant_read(text, &again) && again == us);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_copy(data, size);
    int64_t us = -7, start;
    bool is_instant = takt_instant_read(text, &us);

    require(is_instant || us == -7);
    if (is_instant) {
        require(us > 0 && us / SECOND <= YEAR_9999 + DAY + 1); /* an offset, a leap second */
        if (us / SECOND <= YEAR_9999)
            check_again(us);
        check_utc(text, us);
    }
    start = takt_cli_read_start(NULL, text);
    if (!fuzz_was_refused()) {
        require(start >= 0 && start <= (YEAR_2069 + 1) * SECOND);
        require(start < SECOND || (is_instant && start == us));
    }
    free(text);
    return 0;
}
