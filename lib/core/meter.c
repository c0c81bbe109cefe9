/*
 * meter.c: see meter.h.
 */
#include "core/meter.h"

void takt_meter_end(takt_ledger *ledger)
{
    ledger->meter = (takt_meter){.until_us = 0};
}

void takt_meter_tidy(takt_ledger *ledger, int64_t now_us)
{
    const takt_meter *meter = &ledger->meter;

    if (meter->until_us > 0 &&
        (meter->until_us <= now_us || meter->until_us > now_us + TAKT_WATCH_MAX_US ||
         meter->since_us > now_us))
        takt_meter_end(ledger);
}

void takt_meter_add(takt_ledger *ledger, int64_t tokens)
{
    takt_meter *meter = &ledger->meter;

    if (meter->until_us == 0)
        return;
    meter->taken += tokens;
    if (meter->taken > TAKT_EXACT_MAX)
        meter->taken = TAKT_EXACT_MAX;
    if (meter->taken < 0) /* the tokens were taken before anybody watched */
        meter->taken = 0;
}
