/*
 * forecast.h: the slots that those who wait would get if nobody else came.
 *
 * A copy of a ledger's rule states, in which the slots of all who wait are taken already.  It is
 * begun anew when somebody goes before others, and goes on in one step when somebody joins at the
 * end.
 */
#ifndef TAKT_SIMULATE_FORECAST_H
#define TAKT_SIMULATE_FORECAST_H

#include "base/memory_pages.h"
#include "core/ledger.h"

typedef struct takt_forecast {
    const takt_numbers *numbers;
    takt_memory_pages pages;
    takt_rules_state state;
    int64_t last_us;   /* the last slot that is taken */
    int last_priority; /* and for whom */
    bool valid;
    bool out_of_memory; /* since it was initialised: it is of no use any more */
    struct {            /* as it was before the last slot was taken */
        takt_rules_state state;
        int64_t last_us;
        int last_priority;
        unsigned taken;
        bool known;
    } before;
} takt_forecast;

void takt_forecast_init(takt_forecast *forecast, const takt_numbers *numbers);
void takt_forecast_close(takt_forecast *forecast);

/* As the ledger stands: nobody waits. */
void takt_forecast_begin(takt_forecast *forecast, const takt_ledger *ledger,
                         const takt_memory_pages *pages);

/* The slot that one more would get who comes after all others, not before now_us. */
int64_t takt_forecast_slot(takt_forecast *forecast, int64_t now_us, int64_t cost);

/* Takes that slot. */
void takt_forecast_take(takt_forecast *forecast, int64_t slot_us, int64_t cost, int priority);

/* Gives the last slot back.  False: it is not known what was before; then it is not valid any more.
 */
bool takt_forecast_undo(takt_forecast *forecast);

#endif
