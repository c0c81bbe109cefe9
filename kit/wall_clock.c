/*
 * wall_clock.c: see wall_clock.h.
 */
#include "kit/wall_clock.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

int64_t takt_wall_clock_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

const char *takt_wall_clock_text(int64_t at_us, char text[TAKT_WALL_CLOCK_TEXT_SIZE])
{
    time_t at = (time_t)(at_us / 1000000), now = time(NULL);
    struct tm then, today;

    if (!localtime_r(&at, &then) || !localtime_r(&now, &today))
        return strcpy(text, "?");
    bool same_day = then.tm_year == today.tm_year && then.tm_yday == today.tm_yday;
    strftime(text, TAKT_WALL_CLOCK_TEXT_SIZE, same_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &then);
    return text;
}
