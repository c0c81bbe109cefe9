/*
 * watched.c: see watched.h.
 */
#include "core/watched.h"

void takt_watched_end(takt_ledger *ledger)
{
    ledger->watched = (takt_watched){.until_us = 0};
}

void takt_watched_tidy(takt_ledger *ledger, int64_t now_us)
{
    const takt_watched *watched = &ledger->watched;

    if (watched->until_us > 0 &&
        (watched->until_us <= now_us || watched->until_us > now_us + TAKT_WATCH_MAX_US ||
         watched->since_us > now_us))
        takt_watched_end(ledger);
}

void takt_watched_add(takt_ledger *ledger, int64_t tokens)
{
    takt_watched *watched = &ledger->watched;

    if (watched->until_us == 0)
        return;
    watched->taken += tokens;
    if (watched->taken > TAKT_EXACT_MAX)
        watched->taken = TAKT_EXACT_MAX;
    if (watched->taken < 0) /* it was taken before anybody looked */
        watched->taken = 0;
}

void takt_ledger_watch(takt_ledger *ledger, int64_t now_us, int64_t for_us)
{
    takt_watched *watched = &ledger->watched;

    takt_ledger_tidy(ledger, now_us);
    if (watched->until_us == 0)
        *watched = (takt_watched){.since_us = now_us};
    if (now_us + for_us > watched->until_us)
        watched->until_us = now_us + for_us;
}
